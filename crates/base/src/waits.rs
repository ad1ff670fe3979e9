//! How long requests wait before they fail, and their connections for the client.

use std::time::Duration;

/// The same for every installation.
#[derive(Debug, Clone, Copy)]
pub struct Waits {
    /// For a free connection to the database.
    pub connection: Duration,
    /// For a permit for a query, or the check of a password.
    pub turn: Duration,
    /// For another writer of the database.
    pub lock: Duration,
    /// For the response to the readiness check. The probe that requests it gives up after five seconds.
    pub ready: Duration,
    /// For the result of a query that can be long.
    pub query: Duration,
    /// For a client that stops reading its response. Until then its resources, such as a permit, remain reserved.
    pub unread: Duration,
}

impl Default for Waits {
    fn default() -> Self {
        Self {
            connection: Duration::from_secs(5),
            turn: Duration::from_secs(5),
            lock: Duration::from_secs(5),
            ready: Duration::from_secs(3),
            query: Duration::from_secs(2),
            unread: Duration::from_secs(30),
        }
    }
}
