//! When people were here: what keeps a session from ending for want of use. Written at most once a minute for each session.

use std::net::IpAddr;

use moka::future::Cache;

use crate::model::time::Timestamp;
use crate::server::clock::Clock;
use crate::server::store::Store;

/// Seconds between two notes of one session.
const BETWEEN: i64 = 60;

/// How many sessions are known to have been noted; of one that is forgotten, the next use is noted again.
const KNOWN: u64 = 10_000;

/// What an open page asks by itself. It is no use: a browser that was left alone would stay signed in.
const ASKED_BY_PAGES: [&str; 4] =
    ["/api/batches/get", "/api/jobs/statuses", "/api/queue/list", "/api/upstream/budgets"];

/// Cloning gives another handle.
#[derive(Clone)]
pub struct Presence {
    store: Store,
    clock: Clock,
    noted: Cache<String, Timestamp>,
}

impl Presence {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock, noted: Cache::new(KNOWN) }
    }

    /// Keeps that the person `user` asked for `path` in a session.
    pub async fn note(&self, session: String, user: &str, address: IpAddr, path: &str) {
        let now = self.clock.now();
        let lately = self.noted.get(&session).await;
        if ASKED_BY_PAGES.contains(&path)
            || lately.is_some_and(|at| (0..BETWEEN).contains(&now.seconds_since(at)))
        {
            return;
        }
        // An answer is not refused because this could not be written.
        match self.store.note_use(&session, user, &address.to_string(), now).await {
            Ok(()) => self.noted.insert(session, now).await,
            Err(error) => tracing::warn!(%error, "the use of a session could not be noted"),
        }
    }
}
