//! Keys shared by all processes with the same database. They authenticate data that a browser stores for the server,
//! and make hashes secret.

use std::sync::Arc;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use tokio::sync::OnceCell;

use super::token;
use store::{Store, StoreError};

/// A named key. The first process that uses it creates it. Clones share their state.
#[derive(Clone)]
pub struct SharedKey {
    store: Store,
    name: &'static str,
    key: Arc<OnceCell<String>>,
}

impl SharedKey {
    pub fn new(store: Store, name: &'static str) -> Self {
        Self { store, name, key: Arc::default() }
    }

    /// The HMAC-SHA-256 of `text`.
    pub async fn hash(&self, text: &str) -> Result<Vec<u8>, StoreError> {
        let mac = self.mac(text).await?;
        Ok(mac.map(|mac| mac.finalize().into_bytes().to_vec()).unwrap_or_default())
    }

    /// Whether `hash` is that of `text`. Takes the same time for each wrong hash.
    pub async fn verifies(&self, text: &str, hash: &[u8]) -> Result<bool, StoreError> {
        let mac = self.mac(text).await?;
        Ok(mac.is_some_and(|mac| mac.verify_slice(hash).is_ok()))
    }

    /// Always `Some`, because HMAC accepts keys of any length.
    async fn mac(&self, text: &str) -> Result<Option<Hmac<Sha256>>, StoreError> {
        let created = || async { self.store.shared_secret(self.name, &token::new()).await };
        let key = self.key.get_or_try_init(created).await?;
        Ok(Hmac::<Sha256>::new_from_slice(key.as_bytes()).ok().map(|mac| mac.chain_update(text)))
    }
}
