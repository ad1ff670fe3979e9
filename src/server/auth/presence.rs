//! Records the use of sessions, which keeps them from ending. Written at most once a minute per session.

use std::net::IpAddr;

use moka::future::Cache;

use crate::model::time::Timestamp;
use crate::server::clock::Clock;
use crate::server::store::Store;

/// Seconds between two writes for one session.
const BETWEEN: i64 = 60;

/// How many sessions are remembered as written; a forgotten one is written again at its next use.
const KNOWN: u64 = 10_000;

/// Endpoints that an open page calls in the background. They do not count as use: otherwise an abandoned browser would stay signed in.
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

    /// Records that `user` requested `path` in a session.
    pub async fn note(&self, session: String, user: &str, address: IpAddr, path: &str) {
        let now = self.clock.now();
        let lately = self.noted.get(&session).await;
        if ASKED_BY_PAGES.contains(&path)
            || lately.is_some_and(|at| (0..BETWEEN).contains(&now.seconds_since(at)))
        {
            return;
        }
        // A failure to write must not fail the request.
        match self.store.note_use(&session, user, &address.to_string(), now).await {
            Ok(()) => self.noted.insert(session, now).await,
            Err(error) => tracing::warn!(%error, "the use of a session could not be recorded"),
        }
    }
}
