//! The state of a sign-in at the provider, stored in a signed cookie. That binds it to its browser. Beginning sign-ins
//! cannot fill the database, and the provider receives requests only for sign-ins that a process with this database
//! began.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde::{Deserialize, Serialize};

use crate::auth::own_path::own_path;
use crate::auth::shared_key::SharedKey;
use crate::auth::token;
use clients::provider::Handshake;
use model::time::Timestamp;
use store::StoreError;

/// How long a sign-in at the provider may take.
pub const PENDING_SIGN_IN_SECONDS: i64 = 10 * 60;
/// A longer return path is dropped: cookies are limited to 4 KiB.
const NEXT_MAX_BYTES: usize = 1024;

#[derive(Serialize, Deserialize)]
pub(super) struct PendingSignIn {
    #[serde(flatten)]
    pub(super) handshake: Handshake,
    pub(super) next: String,
    until: Timestamp,
}

impl PendingSignIn {
    pub(super) fn new(next: Option<&str>, now: Timestamp) -> Self {
        Self {
            handshake: Handshake { state: token::new(), nonce: token::new(), verifier: token::new() },
            next: own_path(next.filter(|next| next.len() <= NEXT_MAX_BYTES)),
            until: now.plus_seconds(PENDING_SIGN_IN_SECONDS),
        }
    }

    /// The state as Base64 of JSON, a dot, and its signature.
    pub(super) async fn into_cookie(self, key: &SharedKey) -> Result<String, StoreError> {
        let json = serde_json::to_vec(&self);
        let json = json.map_err(|error| StoreError::Corrupt(format!("a sign-in: {error}")))?;
        let text = URL_SAFE_NO_PAD.encode(json);
        let signature = URL_SAFE_NO_PAD.encode(key.hash(&text).await?);
        Ok(format!("{text}.{signature}"))
    }

    /// Parses the cookie, unless it is too old or has an invalid signature.
    pub(super) async fn from_cookie(
        cookie: &str,
        key: &SharedKey,
        now: Timestamp,
    ) -> Result<Option<Self>, StoreError> {
        let Some((text, signature)) = cookie.split_once('.') else { return Ok(None) };
        let Ok(signature) = URL_SAFE_NO_PAD.decode(signature) else { return Ok(None) };
        if !key.verifies(text, &signature).await? {
            return Ok(None);
        }
        let json = URL_SAFE_NO_PAD.decode(text).unwrap_or_default();
        let pending = serde_json::from_slice(&json).ok().filter(|pending: &Self| pending.until > now);
        Ok(pending.map(|pending: Self| Self { next: own_path(Some(&pending.next)), ..pending }))
    }

    pub(super) fn is_of(&self, state: &str) -> bool {
        token::hash(&self.handshake.state) == token::hash(state)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use store::Store;

    const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

    async fn keys() -> (tempfile::TempDir, [SharedKey; 2]) {
        let folder = tempfile::tempdir().expect("a folder");
        let url = format!("sqlite://{}", folder.path().join("docket.db").display());
        let store = Store::open(&url).await.expect("a database");
        (folder, ["single sign-on", "another"].map(|name| SharedKey::new(store.clone(), name)))
    }

    /// The key as another process with the same database loads it.
    async fn key_in_another_process(folder: &tempfile::TempDir) -> SharedKey {
        let url = format!("sqlite://{}", folder.path().join("docket.db").display());
        SharedKey::new(Store::open(&url).await.expect("a database"), "single sign-on")
    }

    #[tokio::test]
    async fn cookie_is_valid_for_ten_minutes() {
        let (folder, [key, _]) = keys().await;
        let redirect = PendingSignIn::new(Some("/p/docs/jobs?q=x"), NOON);
        let state = redirect.handshake.state.clone();
        let cookie = redirect.into_cookie(&key).await.expect("a cookie");
        let key = key_in_another_process(&folder).await;
        let read = async |seconds| {
            PendingSignIn::from_cookie(&cookie, &key, NOON.plus_seconds(seconds)).await.expect("a key")
        };
        assert!(
            read(599)
                .await
                .is_some_and(|pending| pending.is_of(&state) && pending.next == "/p/docs/jobs?q=x")
        );
        assert!(read(600).await.is_none());
        assert!(cookie.len() < 3000);
    }

    #[tokio::test]
    async fn cookie_with_invalid_signature_is_refused() {
        let (_folder, [key, another]) = keys().await;
        let cookie = PendingSignIn::new(None, NOON).into_cookie(&key).await.expect("a cookie");
        let (text, signature) = cookie.split_once('.').expect("a signature");
        let forged = PendingSignIn::new(None, NOON).into_cookie(&another).await.expect("a cookie");
        let other = forged.split_once('.').expect("a signature").0;
        for cookie in
            [text, &format!("{text}."), &format!("{other}.{signature}"), &forged, "e30", "e30.e30", "."]
        {
            let read = PendingSignIn::from_cookie(cookie, &key, NOON).await.expect("a key");
            assert!(read.is_none(), "{cookie}");
        }
    }

    #[tokio::test]
    async fn cookie_redirects_to_own_paths_only() {
        for next in ["//evil.example", "https://evil.example", &format!("/{}", "x".repeat(2000))] {
            assert_eq!(PendingSignIn::new(Some(next), NOON).next, "/", "{next}");
        }
        let (_folder, [key, _]) = keys().await;
        let foreign = PendingSignIn { next: "//evil.example".to_owned(), ..PendingSignIn::new(None, NOON) };
        let cookie = foreign.into_cookie(&key).await.expect("a cookie");
        let read = PendingSignIn::from_cookie(&cookie, &key, NOON).await.expect("a key");
        assert!(read.is_some_and(|pending| pending.next == "/"));
    }
}
