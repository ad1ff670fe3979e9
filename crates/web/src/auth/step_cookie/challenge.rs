//! The token of a challenge, in a cookie of the browser.

use axum::http::request::Parts;
use leptos::prelude::use_context;

use crate::auth::step_cookie::{self, Purpose};
use crate::request::cookie;
use base::config::PublicUrl;
use service::auth::passkeys::{CHALLENGE_SECONDS, IssuedChallenge};
use service::auth::second_factor::ProofFields;

/// Sets the cookie and returns the options for the browser.
pub fn store_challenge(challenge: IssuedChallenge, public_url: &PublicUrl) -> String {
    cookie::send(step_cookie::set(Purpose::Passkey, &challenge.token, CHALLENGE_SECONDS, public_url));
    challenge.options
}

/// The fields of a form that adds or removes a second factor, with the token of the challenge if a passkey is among them.
pub fn proof_fields(
    password: String,
    code: Option<String>,
    passkey: Option<String>,
    public_url: &PublicUrl,
) -> ProofFields {
    let (code, passkey) = (code.unwrap_or_default(), passkey.unwrap_or_default());
    let challenge = if passkey.is_empty() { String::new() } else { take_token(public_url) };
    ProofFields { password, code, passkey, challenge }
}

/// Returns the token and removes its cookie, because a challenge is used once. Empty without one.
pub fn take_token(public_url: &PublicUrl) -> String {
    cookie::send(step_cookie::set(Purpose::Passkey, "", 0, public_url));
    let parts = use_context::<Parts>();
    let token = parts.and_then(|parts| step_cookie::get(Purpose::Passkey, &parts.headers, public_url));
    token.unwrap_or_default()
}
