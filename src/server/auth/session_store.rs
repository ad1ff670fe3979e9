//! Sessions in the ledger, as tower-sessions wants them. Session ids are stored hashed.

use std::time::Duration;

use axum_login::tower_sessions::cookie::time::OffsetDateTime;
use axum_login::tower_sessions::session::{Id, Record};
use axum_login::tower_sessions::session_store::{Error, Result, SessionStore};

use super::token;
use crate::server::clock::Clock;
use crate::server::store::Store;

/// How long a session lives.
pub const SESSION_LIFETIME: Duration = Duration::from_secs(7 * 24 * 3600);

#[derive(Clone)]
pub struct Sessions {
    store: Store,
    clock: Clock,
}

impl Sessions {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock }
    }

    async fn put(&self, record: &Record, only_new: bool) -> Result<bool> {
        let data = serde_json::to_string(&record.data).map_err(|error| Error::Encode(error.to_string()))?;
        // The record's own expiry is by the system's clock, and expired is what is expired by ours.
        let expires_at = self.clock.now().plus_seconds(SESSION_LIFETIME.as_secs() as i64);
        let written = self.store.put_session(&hash(&record.id), &data, expires_at, only_new).await;
        written.map_err(backend)
    }
}

impl std::fmt::Debug for Sessions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Sessions")
    }
}

#[async_trait::async_trait]
impl SessionStore for Sessions {
    async fn create(&self, record: &mut Record) -> Result<()> {
        self.store.delete_expired_sessions(self.clock.now()).await.map_err(backend)?;
        while !self.put(record, true).await? {
            record.id = Id::default();
        }
        Ok(())
    }

    async fn save(&self, record: &Record) -> Result<()> {
        self.put(record, false).await.map(|_| ())
    }

    async fn load(&self, id: &Id) -> Result<Option<Record>> {
        let Some((data, expires_at)) =
            self.store.session(&hash(id), self.clock.now()).await.map_err(backend)?
        else {
            return Ok(None);
        };
        let data = serde_json::from_str(&data).map_err(|error| Error::Decode(error.to_string()))?;
        let expiry_date: OffsetDateTime = expires_at.to_datetime();
        Ok(Some(Record { id: *id, data, expiry_date }))
    }

    async fn delete(&self, id: &Id) -> Result<()> {
        self.store.delete_session(&hash(id)).await.map_err(backend)
    }
}

fn hash(id: &Id) -> String {
    token::hash(&id.to_string())
}

fn backend(error: crate::server::store::StoreError) -> Error {
    Error::Backend(error.to_string())
}
