//! The cookies of a sign-in that is under way: for minutes, and for one purpose. They open no session.

use axum::http::{HeaderMap, HeaderValue, header};
use axum_login::tower_sessions::cookie::{Cookie, SameSite, time::Duration};

use crate::server::config::PublicUrl;

/// What a cookie is for.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    SecondFactor,
    SingleSignOn,
}

/// Keeps `value` in the browser for `seconds`; with 0, forgets it.
pub fn set(purpose: Purpose, value: &str, seconds: i64, public_url: &PublicUrl) -> HeaderValue {
    let secure = public_url.is_https();
    let cookie = Cookie::build((name(purpose, secure), value))
        .path("/")
        .http_only(true)
        .secure(secure)
        // Strict would keep it back on the way from the provider.
        .same_site(SameSite::Lax)
        .max_age(Duration::seconds(seconds))
        .build();
    HeaderValue::from_str(&cookie.to_string()).unwrap_or_else(|_| HeaderValue::from_static(""))
}

/// What the browser brings along, if anything.
pub fn get(purpose: Purpose, headers: &HeaderMap, public_url: &PublicUrl) -> Option<String> {
    let name = name(purpose, public_url.is_https());
    let lines = headers.get_all(header::COOKIE).iter().filter_map(|line| line.to_str().ok());
    let mut cookies = lines.flat_map(Cookie::split_parse).filter_map(Result::ok);
    cookies.find(|cookie| cookie.name() == name).map(|cookie| cookie.value().to_owned())
}

fn name(purpose: Purpose, secure: bool) -> &'static str {
    // A browser takes `__Host-` only over https.
    match (purpose, secure) {
        (Purpose::SecondFactor, true) => "__Host-docket-step",
        (Purpose::SecondFactor, false) => "docket-step",
        (Purpose::SingleSignOn, true) => "__Host-docket-sso",
        (Purpose::SingleSignOn, false) => "docket-sso",
    }
}
