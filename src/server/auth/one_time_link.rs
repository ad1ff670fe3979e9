//! One-time links: how they carry their token, and how a browser keeps it until its owner has chosen a password. A token stands in the
//! fragment of an address, which browsers do not send, and then in a cookie: so it is in no log of a proxy and in no `Referer`.

use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, header};
use leptos::prelude::use_context;
use leptos_axum::ResponseOptions;

use super::step_cookie::{self, Purpose};
use crate::model::links;
use crate::server::config::PublicUrl;
use crate::server::state::AppState;

/// How long a browser keeps a token, in seconds.
const KEPT_SECONDS: i64 = 30 * 60;

/// The longest token.
const MOST_BYTES: usize = 100;

/// The address of the link with this token.
pub fn address(public_url: &PublicUrl, token: &str) -> String {
    format!("{}{}#token={token}", public_url.origin(), links::SET_UP)
}

/// The token in what somebody pasted: a token, or a link of either form. `None` if it cannot be one.
pub fn token_in(pasted: &str) -> Option<&str> {
    let pasted = pasted.trim();
    let token = pasted.rsplit_once("token=").map_or(pasted, |(_, token)| token);
    let token = token.split('&').next().unwrap_or_default();
    let is_token = (1..=MOST_BYTES).contains(&token.len())
        && token.bytes().all(|byte| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_'));
    is_token.then_some(token)
}

/// The header with which a browser keeps the token.
pub fn kept(token: &str, public_url: &PublicUrl) -> HeaderValue {
    step_cookie::set(Purpose::OneTimeLink, token, KEPT_SECONDS, public_url)
}

/// The token that a browser keeps.
pub fn keeping(headers: &HeaderMap, public_url: &PublicUrl) -> Option<String> {
    step_cookie::get(Purpose::OneTimeLink, headers, public_url).filter(|token| !token.is_empty())
}

/// The token of the current request: the one that was sent, or else the one that the browser keeps.
pub(super) fn of_request(state: &AppState, sent: Option<&str>) -> String {
    if let Some(sent) = sent.filter(|sent| !sent.trim().is_empty()) {
        return token_in(sent).unwrap_or_default().to_owned();
    }
    let parts = use_context::<Parts>();
    parts.and_then(|parts| keeping(&parts.headers, &state.public_url)).unwrap_or_default()
}

/// Has the browser keep this token, in the answer to the current request; without one, forget it.
pub(super) fn keep(state: &AppState, token: &str) {
    let cookie = match token {
        "" => step_cookie::set(Purpose::OneTimeLink, "", 0, &state.public_url),
        token => kept(token, &state.public_url),
    };
    if let Some(response) = use_context::<ResponseOptions>() {
        response.append_header(header::SET_COOKIE, cookie);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_link_of_either_form_or_its_token_is_understood_and_nothing_else() {
        let url = PublicUrl::parse("https://docket.example").expect("an address");
        let link = address(&url, "a-B_1");
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
