//! Setting, removing and reading cookies of this host that scripts cannot read.

use axum::http::{HeaderMap, HeaderValue, header};
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
}
