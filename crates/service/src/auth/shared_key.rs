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
        Ok(self.mac(text).await?.finalize().into_bytes().to_vec())
    }

    /// Whether `hash` is that of `text`. Takes the same time for each wrong hash.
    pub async fn verifies(&self, text: &str, hash: &[u8]) -> Result<bool, StoreError> {
        Ok(self.mac(text).await?.verify_slice(hash).is_ok())
    }

    async fn mac(&self, text: &str) -> Result<Hmac<Sha256>, StoreError> {
        let created = || async { self.store.shared_secret(self.name, &token::new()).await };
        let key = self.key.get_or_try_init(created).await?;
        // HMAC accepts keys of any length.
        let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes());
        let mac = mac.map_err(|error| StoreError::Corrupt(format!("the key {}: {error}", self.name)))?;
        Ok(mac.chain_update(text))
    }
}
