//! One-time links and their tokens. A link has its token in the URL fragment, which browsers do not send.

use base::config::PublicUrl;
use model::links;

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
