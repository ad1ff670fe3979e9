//! The token of a one-time link, in a cookie of the browser until the link's owner has chosen a password. So the token is in no proxy log and in
//! no `Referer`.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue};
use leptos::prelude::use_context;

use crate::auth::step_cookie::{self, Purpose};
use crate::request;
use crate::state::AppState;
use base::config::PublicUrl;
use service::auth::one_time_link::token_in;

/// How long a browser stores a token, in seconds.
const LIFETIME_SECONDS: i64 = 30 * 60;

/// The header that stores the token in the browser.
pub fn cookie(token: &str, public_url: &PublicUrl) -> HeaderValue {
    step_cookie::set(Purpose::OneTimeLink, token, LIFETIME_SECONDS, public_url)
}

/// The token that the browser has stored.
pub fn stored_token(headers: &HeaderMap, public_url: &PublicUrl) -> Option<String> {
    step_cookie::get(Purpose::OneTimeLink, headers, public_url).filter(|token| !token.is_empty())
}

/// The token of the current request: the submitted one, or else the stored one.
pub fn of_request(state: &AppState, sent: Option<&str>) -> String {
    if let Some(sent) = sent.filter(|sent| !sent.trim().is_empty()) {
        return token_in(sent).unwrap_or_default().to_owned();
    }
    let parts = use_context::<Parts>();
    parts.and_then(|parts| stored_token(&parts.headers, &state.public_url)).unwrap_or_default()
}

/// Stores this token in the browser with the response to the current request. An empty token removes the stored one.
pub fn store(state: &AppState, token: &str) {
    request::cookie::send(match token {
        "" => step_cookie::set(Purpose::OneTimeLink, "", 0, &state.public_url),
        token => cookie(token, &state.public_url),
    });
}
