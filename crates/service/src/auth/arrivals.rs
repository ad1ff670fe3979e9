//! People named by a proxy have no session. This module remembers recent ones, so that the audit log has each arrival
//! once.

use std::net::IpAddr;
use std::time::Duration;

use moka::future::Cache;

use model::audit::{Action, AuditEvent};
use model::time::Timestamp;
use store::accounts::users::User;
use store::{Store, StoreError};

/// The detail of these sign-ins in the audit log.
pub const BY: &str = "trusted header";

/// The maximum number of remembered pairs of a person and an IP.
const KNOWN: u64 = 10_000;

/// People whom the proxy named recently. The audit log has their first request after a period without any.
#[derive(Clone)]
pub struct Arrivals(Cache<(String, IpAddr), ()>);

impl Arrivals {
    /// `idle`: the time without a request after which the next one is recorded.
    pub fn new(idle: Duration) -> Self {
        Self(Cache::builder().max_capacity(KNOWN).time_to_idle(idle).build())
    }

    pub async fn note(
        &self,
        store: &Store,
        user: &User,
        from: IpAddr,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let arrival = (user.id.clone(), from);
        if self.0.get(&arrival).await.is_some() {
            return Ok(());
        }
        let event = AuditEvent::new(Action::SignIn).with_detail(BY);
        store.observe_often(&user.actor(&from.to_string()), &event, now).await?;
        self.0.insert(arrival, ()).await;
        Ok(())
    }
}
