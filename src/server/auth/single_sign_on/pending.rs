//! The state of a sign-in at the provider. It is stored in a cookie, so that it is bound to its
//! browser, and nobody can fill the database by beginning sign-ins.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;
use crate::server::auth::own_path::own_path;
use crate::server::auth::token;

/// How long a sign-in at the provider may take.
pub const PENDING_SIGN_IN_SECONDS: i64 = 10 * 60;
/// A longer return path is dropped: cookies are limited to 4 KiB.
const NEXT_MAX_BYTES: usize = 1024;

/// All values but `next` are random and valid for one sign-in.
#[derive(Serialize, Deserialize)]
pub(super) struct PendingSignIn {
    pub(super) state: String,
    pub(super) nonce: String,
    /// The PKCE verifier: the code alone cannot be redeemed.
    pub(super) verifier: String,
    pub(super) next: String,
    until: Timestamp,
}

impl PendingSignIn {
    pub(super) fn new(next: Option<&str>, now: Timestamp) -> Self {
        Self {
            state: token::new(),
            nonce: token::new(),
            verifier: token::new(),
            next: own_path(next.filter(|next| next.len() <= NEXT_MAX_BYTES)),
            until: now.plus_seconds(PENDING_SIGN_IN_SECONDS),
        }
    }

    pub(super) fn into_cookie(self) -> String {
        URL_SAFE_NO_PAD.encode(serde_json::to_vec(&self).unwrap_or_default())
    }

    /// Parses the cookie, unless it is too old. A browser that forges it can only mislead itself.
    pub(super) fn from_cookie(cookie: &str, now: Timestamp) -> Option<Self> {
        let json = URL_SAFE_NO_PAD.decode(cookie).ok()?;
        let kept: Self = serde_json::from_slice(&json).ok().filter(|kept: &Self| kept.until > now)?;
        Some(Self { next: own_path(Some(&kept.next)), ..kept })
    }

    pub(super) fn is_of(&self, state: &str) -> bool {
        token::hash(&self.state) == token::hash(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    #[test]
    fn a_cookie_holds_a_sign_in_for_ten_minutes() {
        let redirect = PendingSignIn::new(Some("/p/docs/jobs?q=x"), NOON);
        let state = redirect.state.clone();
        let cookie = redirect.into_cookie();
        let read = |seconds| PendingSignIn::from_cookie(&cookie, NOON.plus_seconds(seconds));
        assert!(read(599).is_some_and(|kept| kept.is_of(&state) && kept.next == "/p/docs/jobs?q=x"));
        assert!(read(600).is_none());
        assert!(PendingSignIn::from_cookie("e30", NOON).is_none());
        assert!(cookie.len() < 3000);
    }

    #[test]
    fn it_leads_to_own_paths_only() {
        for next in ["//evil.example", "https://evil.example", &format!("/{}", "x".repeat(2000))] {
            assert_eq!(PendingSignIn::new(Some(next), NOON).next, "/", "{next}");
        }
        let forged = PendingSignIn { next: "//evil.example".to_owned(), ..PendingSignIn::new(None, NOON) };
        let read = PendingSignIn::from_cookie(&forged.into_cookie(), NOON);
        assert!(read.is_some_and(|kept| kept.next == "/"));
    }
}
