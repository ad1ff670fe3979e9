//! One-time links and their tokens. A link has its token in the URL fragment, which browsers do not send. A cookie then
//! stores it until its owner has chosen a password. So the token is in no proxy log and in no `Referer`.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

use super::step_cookie::{self, Purpose};
use crate::server::state::AppState;
use base::config::PublicUrl;
use model::links;

/// How long a browser stores a token, in seconds.
const LIFETIME_SECONDS: i64 = 30 * 60;

/// The maximum length of a token.
const MOST_BYTES: usize = 100;

/// The URL of the link with this token.
pub fn url(public_url: &PublicUrl, token: &str) -> String {
    format!("{}{}#token={token}", public_url.origin(), links::SET_UP)
}

/// The token in a pasted text: a token, or a link of either form. `None` if it cannot be one.
pub fn token_in(pasted: &str) -> Option<&str> {
    let pasted = pasted.trim();
    let token = pasted.rsplit_once("token=").map_or(pasted, |(_, token)| token);
    let token = token.split('&').next().unwrap_or_default();
    let is_token = (1..=MOST_BYTES).contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_token.then_some(token)
}

/// The header that stores the token in the browser.
pub fn cookie(token: &str, public_url: &PublicUrl) -> HeaderValue {
    step_cookie::set(Purpose::OneTimeLink, token, LIFETIME_SECONDS, public_url)
}

/// The token that the browser has stored.
pub fn stored_token(headers: &HeaderMap, public_url: &PublicUrl) -> Option<String> {
    step_cookie::get(Purpose::OneTimeLink, headers, public_url).filter(|token| !token.is_empty())
}

/// The token of the current request: the submitted one, or else the stored one.
pub(super) fn of_request(state: &AppState, sent: Option<&str>) -> String {
    if let Some(sent) = sent.filter(|sent| !sent.trim().is_empty()) {
        return token_in(sent).unwrap_or_default().to_owned();
    }
    let parts = use_context::<Parts>();
    parts.and_then(|parts| stored_token(&parts.headers, &state.public_url)).unwrap_or_default()
}

/// Stores this token in the browser with the response to the current request. An empty token removes the stored one.
pub(super) fn store(state: &AppState, token: &str) {
    let cookie = match token {
        "" => step_cookie::set(Purpose::OneTimeLink, "", 0, &state.public_url),
        token => cookie(token, &state.public_url),
    };
    if let Some(response) = use_context::<ResponseOptions>() {
        response.append_header(header::SET_COOKIE, cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_is_found_only_in_links_and_bare_tokens() {
        let url = PublicUrl::parse("https://docket.example").expect("an address");
        let link = super::url(&url, "a-B_1");
        assert_eq!(link, "https://docket.example/setup#token=a-B_1");
        for pasted in
            [&link, "a-B_1", " a-B_1\n", "https://docket.example/setup?token=a-B_1&name=x", "token=a-B_1"]
        {
            assert_eq!(token_in(pasted), Some("a-B_1"), "{pasted:?}");
        }
        for odd in [
            "",
            " ",
            "token=",
            "x; Domain=evil.example",
            "a b",
            "é",
            "https://docket.example/setup",
            &"x".repeat(101),
        ] {
            assert_eq!(token_in(odd), None, "{odd:?}");
        }
    }
}
