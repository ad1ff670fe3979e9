//! The secrets of the tests, and every encoding in which one could leak.

use std::collections::BTreeSet;
use std::sync::LazyLock;

use aho_corasick::AhoCorasick;
use base64::Engine;
use base64::engine::general_purpose::{STANDARD_NO_PAD, URL_SAFE_NO_PAD};
use data_encoding::HEXLOWER;
use memchr::memmem;
use service::auth::api_token::TokenText;

/// The upstream's admin key. Its characters make each encoding of it different.
pub(crate) const KEY: &str = "mint_q7/R+x9&Zk=w3?VbN~4";

/// The next key. It begins like the first, as keys of one issuer do.
pub(crate) const NEW_KEY: &str = "mint_q7/R+x9&Zk=w3?VbN~4_Nj8(u";

/// The password of all accounts.
pub(crate) const PASSWORD: &str = "correct horse/battery+staple";

/// Docket's client secret at the single sign-on provider.
pub(crate) const CLIENT_SECRET: &str = "the provider knows Docket by this";

/// The token for `/metrics`.
pub(crate) const METRICS_TOKEN: &str = "a-scraper/knows+Docket~by=this";

/// The token for code hosts.
pub(crate) const CODE_HOST_TOKEN: &str = "github_pat_of_the_tests_0123456789";

static FORMS: LazyLock<Vec<String>> = LazyLock::new(|| {
    let secrets = [KEY, NEW_KEY, PASSWORD, CLIENT_SECRET, METRICS_TOKEN, CODE_HOST_TOKEN];
    let mut forms: Vec<String> = secrets.into_iter().flat_map(forms).collect();
    forms.sort();
    forms.dedup();
    forms
});

/// Finds all of them at once: every line of the log and every response is searched.
static SEARCH: LazyLock<AhoCorasick> = LazyLock::new(|| AhoCorasick::new(&*FORMS).unwrap());

/// The secrets that `text` contains, in the encoding found.
pub(crate) fn secrets_in(text: &str) -> Vec<&'static str> {
    let found: BTreeSet<_> =
        SEARCH.find_overlapping_iter(text).map(|found| found.pattern().as_usize()).collect();
    found.into_iter().map(|form| FORMS[form].as_str()).collect()
}

/// The API tokens that `text` contains.
pub(crate) fn api_tokens_in(text: &str) -> Vec<&str> {
    let starts = memmem::find_iter(text.as_bytes(), "dkt_").map(|at| &text[at..]);
    starts.filter_map(|rest| rest.get(..42).filter(|token| token.parse::<TokenText>().is_ok())).collect()
}

/// Plain, as in JSON and Rust, URL-encoded, hexadecimal, and in base64 at any offset.
fn forms(secret: &str) -> Vec<String> {
    let hex = HEXLOWER.encode(secret.as_bytes());
    let encoded: String = url::form_urlencoded::byte_serialize(secret.as_bytes()).collect();
    let percent: String = secret
        .bytes()
        .map(|byte| {
            if byte.is_ascii_alphanumeric() || b"-._~".contains(&byte) {
                char::from(byte).to_string()
            } else {
                format!("%{byte:02X}")
            }
        })
        .collect();
    let html = secret.replace('&', "&amp;");
    let mut forms =
        vec![secret.to_owned(), secret.replace('/', "\\/"), encoded, percent, html, hex.to_uppercase(), hex];
    for shift in 0..3 {
        forms.push(base64_core(&STANDARD_NO_PAD, secret, shift));
        forms.push(base64_core(&URL_SAFE_NO_PAD, secret, shift));
    }
    forms
}

/// The base64 of `secret` after `shift` other bytes, without the characters that depend on its neighbors.
fn base64_core(engine: &impl Engine, secret: &str, shift: usize) -> String {
    let encoded = engine.encode([vec![0; shift], secret.as_bytes().to_vec()].concat());
    let first = [0, 2, 3][shift];
    let whole = (shift + secret.len()) / 3 * 4;
    encoded[first..whole].to_owned()
}
