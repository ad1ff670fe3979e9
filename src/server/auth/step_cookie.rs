//! The cookies of a sign-in in progress: valid for minutes and for one purpose. They do not open a session.

use axum::http::{HeaderMap, HeaderValue, header};
use axum_login::tower_sessions::cookie::{Cookie, SameSite, time::Duration};

use crate::server::config::PublicUrl;

/// The purpose of a cookie.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    SecondFactor,
    SingleSignOn,
}

/// Sets the cookie for `seconds`; with 0, removes it.
pub fn set(purpose: Purpose, value: &str, seconds: i64, public_url: &PublicUrl) -> HeaderValue {
    let secure = public_url.is_https();
    let cookie = Cookie::build((name(purpose, secure), value))
        .path("/")
        .http_only(true)
        .secure(secure)
        // With `Strict`, the browser would not send it on the redirect from the provider.
        .same_site(SameSite::Lax)
        .max_age(Duration::seconds(seconds))
        .build();
    HeaderValue::from_str(&cookie.to_string()).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// The value of the cookie, if the browser sent it.
pub fn get(purpose: Purpose, headers: &HeaderMap, public_url: &PublicUrl) -> Option<String> {
    let name = name(purpose, public_url.is_https());
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(Cookie::split_parse).filter_map(Result::ok);
    cookies.find(|cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
}

fn name(purpose: Purpose, secure: bool) -> &'static str {
    // Browsers accept `__Host-` only over https.
    match (purpose, secure) {
        (Purpose::SecondFactor, true) => "__Host-docket-step",
        (Purpose::SecondFactor, false) => "docket-step",
        (Purpose::SingleSignOn, true) => "__Host-docket-sso",
        (Purpose::SingleSignOn, false) => "docket-sso",
    }
}
