//! People named by a proxy have no session. This module remembers recent ones, so that the audit log has each arrival
//! once.

use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use quick_cache::sync::Cache;

use model::audit::{Action, AuditEvent};
use model::time::Timestamp;
use store::accounts::users::User;
use store::{Store, StoreError};

/// The detail of these sign-ins in the audit log.
pub const BY: &str = "trusted header";

/// The maximum number of remembered pairs of a person and an IP.
const KNOWN: usize = 10_000;

/// People whom the proxy named recently. The audit log has their first request after a period without any.
#[derive(Clone)]
pub struct Arrivals {
    /// The last request of each pair.
    seen: Arc<Cache<(String, IpAddr), Timestamp>>,
    idle: Duration,
}

impl Arrivals {
    /// `idle`: the time without a request after which the next one is recorded.
    pub fn new(idle: Duration) -> Self {
        Self { seen: Arc::new(Cache::new(KNOWN)), idle }
    }

    pub async fn note(
        &self,
        store: &Store,
        user: &User,
        from: IpAddr,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let arrival = (user.id.clone(), from);
        let idle = i64::try_from(self.idle.as_secs()).unwrap_or(i64::MAX);
        // Not before now either: the clock may have been ahead.
        let is_recent = |seen| (0..idle).contains(&now.seconds_since(seen));
        if !self.seen.get(&arrival).is_some_and(is_recent) {
            let event = AuditEvent::new(Action::SignIn).with_detail(BY);
            store.observe_often(&user.actor(&from.to_string()), &event, now).await?;
        }
        self.seen.insert(arrival, now);
        Ok(())
    }
}
