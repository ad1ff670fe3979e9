//! Records the use of sessions, which extends them, and the client IP, and the visits of people without a session. Writes
//! at most once a minute per session and IP, and per person without a session.

use std::net::IpAddr;
use std::sync::Arc;

use quick_cache::sync::Cache;

use base::clock::Clock;
use model::time::Timestamp;
use store::Store;

/// Seconds between two writes for one session from one IP.
const BETWEEN: i64 = 60;

/// The maximum number of sessions in the cache. A session outside of it is written again at its next use.
const KNOWN: usize = 10_000;

/// Clones share their state.
#[derive(Clone)]
pub struct Presence {
    store: Store,
    clock: Clock,
    noted: Arc<Cache<String, Noted>>,
    /// The last recorded visits of people without a session, by their id.
    visits: Arc<Cache<String, Timestamp>>,
}

/// The last record of a session.
#[derive(Clone, Copy)]
struct Noted {
    client_ip: IpAddr,
    at: Timestamp,
    is_use: bool,
}

impl Presence {
    pub fn new(store: Store, clock: Clock) -> Self {
        Self { store, clock, noted: Arc::new(Cache::new(KNOWN)), visits: Arc::new(Cache::new(KNOWN)) }
    }

    /// Records a request of `user` in a session from `client_ip`. A request that is no use of the session (`is_use`) only
    /// records a changed IP. A changed IP is recorded at once.
    pub async fn note(&self, session: &str, user: &str, client_ip: IpAddr, is_use: bool) {
        let now = self.clock.now();
        let is_recorded = |noted: Noted| {
            noted.client_ip == client_ip
                && (noted.is_use || !is_use)
                && (0..BETWEEN).contains(&now.seconds_since(noted.at))
        };
        if self.noted.get(session).is_some_and(is_recorded) {
            return;
        }
        let written = match is_use {
            true => self.store.note_use(session, user, &client_ip.to_string(), now).await,
            false => self.store.note_client_ip(session, &client_ip.to_string()).await,
        };
        // A failure to write must not fail the request.
        match written {
            Ok(()) => self.noted.insert(session.to_owned(), Noted { client_ip, at: now, is_use }),
            Err(error) => tracing::warn!(%error, "the use of a session could not be recorded"),
        }
    }

    /// Records a request of a person whom a proxy names.
    pub async fn note_visit(&self, user: &str) {
        let now = self.clock.now();
        let is_recorded = |at: Timestamp| (0..BETWEEN).contains(&now.seconds_since(at));
        if self.visits.get(user).is_some_and(is_recorded) {
            return;
        }
        // A failure to write must not fail the request.
        match self.store.note_visit(user, now).await {
            Ok(()) => self.visits.insert(user.to_owned(), now),
            Err(error) => tracing::warn!(%error, "the visit of a person could not be recorded"),
        }
    }
}
