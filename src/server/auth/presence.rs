//! Records the use of sessions, which keeps them from ending, and from where. Written at most once a minute per session and address.

use std::net::IpAddr;

use moka::future::Cache;

use crate::model::time::Timestamp;
use crate::server::process::clock::Clock;
use crate::server::store::Store;

/// Seconds between two writes for one session from one address.
const BETWEEN: i64 = 60;

/// How many sessions are remembered as written; a forgotten one is written again at its next use.
const KNOWN: u64 = 10_000;

/// Cloning gives another handle.
#[derive(Clone)]
pub struct Presence {
    store: Store,
    clock: Clock,
    noted: Cache<String, Noted>,
}

/// What was last recorded for a session.
#[derive(Clone, Copy)]
struct Noted {
    address: IpAddr,
    at: Timestamp,
    is_use: bool,
}

impl Presence {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock, noted: Cache::new(KNOWN) }
    }

    /// Records that `user` sent a request in a session from `address`. A request that is no use of the session (`is_use`) records
    /// the address only, if it is another one. A changed address is recorded at once.
    pub async fn note(&self, session: &str, user: &str, address: IpAddr, is_use: bool) {
        let now = self.clock.now();
        let is_recorded = |noted: Noted| {
            noted.address == address
                && (noted.is_use || !is_use)
                && (0..BETWEEN).contains(&now.seconds_since(noted.at))
        };
        if self.noted.get(session).await.is_some_and(is_recorded) {
            return;
        }
        let written = match is_use {
            true => self.store.note_use(session, user, &address.to_string(), now).await,
            false => self.store.note_address(session, &address.to_string()).await,
        };
        // A failure to write must not fail the request.
        match written {
            Ok(()) => self.noted.insert(session.to_owned(), Noted { address, at: now, is_use }).await,
            Err(error) => tracing::warn!(%error, "the use of a session could not be recorded"),
        }
    }
}
