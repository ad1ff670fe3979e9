//! Webhooks notify other systems when a job finishes: events from the outbox, each sent until it is delivered or given
//! up. They are independent of the upstream and its key.

mod address;
mod body;
mod client;
mod deliver;
mod manage;
mod network;
mod reach;

use std::time::Duration;

use rustls::pki_types::CertificateDer;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;

use crate::server::config::{PublicUrl, WebhookConfig};
use crate::server::process::clock::Clock;
use crate::server::process::tasks::{Task, Tasks};
use crate::server::store::Store;
use crate::server::telemetry::instruments::Instruments;
use crate::server::work::Work;
use address::Allowed;
use client::Client;

pub use reach::reach;

/// The interval of checking for due events.
const TICK: Duration = Duration::from_millis(500);

/// The webhooks of all projects. Clones share their state.
#[derive(Clone)]
pub struct Webhooks {
    store: Store,
    clock: Clock,
    tasks: Tasks,
    public_url: PublicUrl,
    allowed: Allowed,
    client: Client,
    instruments: Instruments,
    work: Work,
}

/// The services that [`Webhooks`] uses.
pub struct WebhookServices {
    pub store: Store,
    pub clock: Clock,
    pub tasks: Tasks,
    pub instruments: Instruments,
    pub work: Work,
}

impl Webhooks {
    pub fn new(
        config: WebhookConfig,
        authorities: &[CertificateDer<'static>],
        public_url: PublicUrl,
        services: WebhookServices,
    ) -> Self {
        let WebhookServices { store, clock, tasks, instruments, work } = services;
        let allowed = Allowed { private: config.private };
        let client = Client::new(allowed, authorities);
        Self { store, clock, tasks, public_url, allowed, client, instruments, work }
    }

    /// Delivers until `stop`; then waits for running deliveries.
    pub async fn run(&self, stop: CancellationToken) {
        self.tasks.supervise(Task::Webhooks, &stop, || self.deliver_until(&stop)).await;
    }

    async fn deliver_until(&self, stop: &CancellationToken) {
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            self.tasks.pass("webhooks");
            // One event per webhook at a time, without a pause while there are more.
            while !stop.is_cancelled() {
                match self.deliver_due().await {
                    Ok(0) => {
                        self.tasks.succeeded(Task::Webhooks);
                        break;
                    }
                    Ok(_) => {}
                    Err(error) => {
                        self.tasks.failed(Task::Webhooks, error);
                        break;
                    }
                }
            }
        }
    }
}
