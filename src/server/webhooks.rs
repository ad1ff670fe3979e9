//! Telling others that a job finished: events from the outbox, each sent until it is delivered or given up.
//! Must not know the upstream or its key, and must not contain SQL.

mod address;
mod body;
mod client;
mod deliver;
mod manage;
mod network;

use std::time::Duration;

use rustls::pki_types::CertificateDer;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::server::clock::Clock;
use crate::server::config::{PublicUrl, WebhookConfig};
use crate::server::store::Store;
use address::Allowed;
use client::Client;

/// How often due events are looked for.
const TICK: Duration = Duration::from_millis(500);

/// The webhooks of the panel. Cloning gives another handle.
#[derive(Clone)]
pub struct Webhooks {
    store: Store,
    clock: Clock,
    public_url: PublicUrl,
    allowed: Allowed,
    client: Client,
}

impl Webhooks {
    pub fn new(
        config: WebhookConfig,
        authorities: &[CertificateDer<'static>],
        public_url: PublicUrl,
        store: Store,
        clock: Clock,
    ) -> Self {
        let allowed = Allowed { private: config.private, plain_loopback: public_url.is_loopback() };
        Self { store, clock, public_url, allowed, client: Client::new(allowed, authorities) }
    }

    /// Delivers until `stop`; then waits for what is being sent to end.
    pub async fn run(&self, stop: CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            // One event of each webhook at a time; while there are more, without a pause.
            while !stop.is_cancelled() {
                match self.deliver_due().await {
                    Ok(0) => break,
                    Ok(_) => {}
                    Err(error) => {
                        tracing::error!(error = format!("{error:#}"), "webhooks could not be delivered");
                        break;
                    }
                }
            }
        }
    }
}
