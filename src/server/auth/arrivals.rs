//! People whom a proxy names have no session: this remembers who came lately, so that the audit log has each arrival once. Must not
//! decide who comes in.

use std::net::IpAddr;
use std::time::Duration;

use moka::future::Cache;

use crate::model::audit::{Action, AuditEvent};
use crate::model::time::Timestamp;
use crate::server::store::accounts::users::User;
use crate::server::store::{Store, StoreError};

/// The detail of these sign-ins in the audit log.
pub(super) const BY: &str = "trusted header";

/// How many pairs of a person and an address are remembered as recorded.
const KNOWN: u64 = 10_000;

/// People whom the proxy named lately. They have no session, so the audit log has the first request after a while without any.
#[derive(Clone)]
pub struct Arrivals(Cache<(String, IpAddr), ()>);

impl Arrivals {
    /// `idle`: the time without a request after which the next one is recorded.
    pub fn new(idle: Duration) -> Self {
        Self(Cache::builder().max_capacity(KNOWN).time_to_idle(idle).build())
    }

    pub(super) async fn note(
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
        store.record_often(&user.actor(&from.to_string()), &event, now).await?;
        self.0.insert(arrival, ()).await;
        Ok(())
    }
}
