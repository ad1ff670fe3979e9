//! Cookies of an unfinished sign-in, new passkey or one-time link: valid for minutes and for one purpose. They do not
//! open a session.

pub mod challenge;
pub mod link;

use axum::http::{HeaderMap, HeaderValue};

use crate::request::cookie::{self, CookieName};
use base::config::PublicUrl;

/// The purpose of a cookie.
#[derive(Debug, Clone, Copy)]
pub enum Purpose {
    SecondFactor,
    SingleSignOn,
    Passkey,
    OneTimeLink,
}

/// Sets the cookie for `seconds`; with 0, removes it.
pub fn set(purpose: Purpose, value: &str, seconds: i64, public_url: &PublicUrl) -> HeaderValue {
    cookie::set(name(purpose), value, seconds, public_url)
}

/// The value of the cookie, if the browser sent it.
pub fn get(purpose: Purpose, headers: &HeaderMap, public_url: &PublicUrl) -> Option<String> {
    cookie::get(headers, name(purpose).at(public_url))
}

fn name(purpose: Purpose) -> CookieName {
    match purpose {
        Purpose::SecondFactor => CookieName { https: "__Host-docket-step", http: "docket-step" },
        Purpose::Passkey => CookieName { https: "__Host-docket-passkey", http: "docket-passkey" },
        Purpose::SingleSignOn => CookieName { https: "__Host-docket-sso", http: "docket-sso" },
        Purpose::OneTimeLink => CookieName { https: "__Host-docket-link", http: "docket-link" },
    }
}
