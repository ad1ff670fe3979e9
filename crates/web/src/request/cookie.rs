//! Setting, removing and reading cookies of this host that scripts cannot read.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use axum_login::tower_sessions::cookie::{Cookie, SameSite, time::Duration};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

use base::config::PublicUrl;

/// The names of a cookie.
#[derive(Debug, Clone, Copy)]
pub struct CookieName {
    /// Over https, with the prefix `__Host-`, which browsers accept only there.
    pub https: &'static str,
    pub http: &'static str,
}

impl CookieName {
    pub fn at(self, public_url: &PublicUrl) -> &'static str {
        if public_url.is_https() { self.https } else { self.http }
    }
}

/// The header that sets the cookie for `seconds`; with 0, removes it.
pub fn set(name: CookieName, value: &str, seconds: i64, public_url: &PublicUrl) -> HeaderValue {
    let cookie = Cookie::build((name.at(public_url), value))
        .path("/")
        .http_only(true)
        .secure(public_url.is_https())
        // With `Strict`, the browser would not send it on a redirect from another site, such as the provider's.
        .same_site(SameSite::Lax)
        .max_age(Duration::seconds(seconds));
    HeaderValue::from_str(&cookie.to_string()).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// Sends the cookie of [`set`] with the response to the current request.
pub fn send(cookie: HeaderValue) {
    if let Some(response) = use_context::<ResponseOptions>() {
        response.append_header(header::SET_COOKIE, cookie);
    }
}

/// A layer that removes the cookies whose bytes are not all ASCII. Other applications on the same domain may set them, and one of them would hide
/// all others of its line: a header with such a byte cannot be read as text.
pub async fn ascii_only(mut request: Request, next: Next) -> Response {
    keep_ascii(request.headers_mut());
    next.run(request).await
}

fn keep_ascii(headers: &mut HeaderMap) {
    if headers.get_all(header::COOKIE).iter().all(|line| line.to_str().is_ok()) {
        return;
    }
    let lines = headers.get_all(header::COOKIE).iter();
    let pairs = lines.flat_map(|line| line.as_bytes().split(|byte| *byte == b';').map(<[u8]>::trim_ascii));
    let kept = pairs.filter(|pair| pair.is_ascii()).collect::<Vec<_>>().join(&b"; "[..]);
    // A part of a valid value is valid.
    if let Ok(line) = HeaderValue::from_bytes(&kept) {
        headers.insert(header::COOKIE, line);
    }
}

/// The value of the cookie of this name, if the browser sent one.
pub fn get(headers: &HeaderMap, name: &str) -> Option<String> {
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(Cookie::split_parse).filter_map(Result::ok);
    cookies.find(|cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cookie_is_found_in_any_header_line() {
        let mut headers = HeaderMap::new();
        headers.append(header::COOKIE, HeaderValue::from_static("a=1; broken; theme=dark"));
        headers.append(header::COOKIE, HeaderValue::from_static("docket-step=x=y"));
        assert_eq!(get(&headers, "theme").as_deref(), Some("dark"));
        assert_eq!(get(&headers, "docket-step").as_deref(), Some("x=y"));
        assert_eq!(get(&headers, "heme"), None);
    }

    #[test]
    fn cookies_of_other_bytes_are_removed_and_the_rest_is_kept() {
        for foreign in ["user=Zoë".as_bytes(), b"user=Zo\xEB", b"\xFF", b"caf\xE9=1; x=\xA0;"] {
            for position in 0..=2 {
                let mut pairs = vec![&b"docket=s"[..], b"theme=dark"];
                pairs.insert(position, foreign);
                let mut headers = HeaderMap::new();
                let line = HeaderValue::from_bytes(&pairs.join(&b"; "[..])).expect("a header");
                headers.append(header::COOKIE, line);
                headers.append(header::COOKIE, HeaderValue::from_static("docket-step=x"));
                keep_ascii(&mut headers);
                for (name, value) in [("docket", "s"), ("theme", "dark"), ("docket-step", "x")] {
                    assert_eq!(get(&headers, name).as_deref(), Some(value), "{foreign:?} at {position}");
                }
                assert!(headers.get_all(header::COOKIE).iter().all(|line| line.to_str().is_ok()));
            }
        }
    }
}
