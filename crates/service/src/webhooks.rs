//! Webhooks notify other systems when a job finishes: events from the outbox, each sent until it is delivered or given
//! up. They are independent of the upstream and its key.

mod body;
mod deliver;
mod manage;

use std::sync::Arc;
use std::time::Duration;

use rustls::pki_types::CertificateDer;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use base::clock::Clock;
use base::config::{PublicUrl, WebhookConfig};
use base::instruments::Instruments;
use base::settings::LiveProjects;
use base::tasks::{Task, Tasks};
use base::turns::Turns;
use base::work::Work;
use clients::webhook::address::Allowed;
use clients::webhook::client::Client;
use model::id::WebhookId;
use store::Store;

/// The interval of checking for due events.
const TICK: Duration = Duration::from_millis(500);

/// The webhooks of all projects. Clones share their state.
#[derive(Clone)]
pub struct Webhooks {
    store: Store,
    clock: Clock,
    tasks: Tasks,
    projects: LiveProjects,
    public_url: PublicUrl,
    allowed: Allowed,
    client: Client,
    instruments: Instruments,
    work: Work,
    /// The webhooks to which an event is being sent.
    turns: Turns<WebhookId>,
    /// Running deliveries.
    deliveries: TaskTracker,
    /// Notified when a delivery ends: the next event of its webhook may be due.
    delivered: Arc<Notify>,
}

/// The services that [`Webhooks`] uses.
pub struct WebhookServices {
    pub store: Store,
    pub clock: Clock,
    pub tasks: Tasks,
    pub projects: LiveProjects,
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
        let WebhookServices { store, clock, tasks, projects, instruments, work } = services;
        let allowed = Allowed { private: config.private };
        let client = Client::new(allowed, authorities);
        Self {
            store,
            clock,
            tasks,
            projects,
            public_url,
            allowed,
            client,
            instruments,
            work,
            turns: Turns::default(),
            deliveries: TaskTracker::new(),
            delivered: Arc::default(),
        }
    }

    /// Delivers until `stop`; then waits for running deliveries.
    pub async fn run(&self, stop: CancellationToken) {
        self.tasks.supervise(Task::Webhooks, &stop, || self.deliver_until(&stop)).await;
        self.deliveries.close();
        self.deliveries.wait().await;
    }

    /// Waits for the database only, never for a receiver.
    async fn deliver_until(&self, stop: &CancellationToken) {
        while !stop.is_cancelled() {
            self.tasks.pass("webhooks");
            let begun = self.deliver_due().await;
            let is_failing = begun.is_err();
            match begun {
                Ok(_) => self.tasks.succeeded(Task::Webhooks),
                Err(error) => self.tasks.failed(Task::Webhooks, error),
            }
            // A webhook with more events does not wait for the next check.
            let next = async {
                match is_failing {
                    false => self.delivered.notified().await,
                    true => std::future::pending().await,
                }
            };
            let paused = async { tokio::time::timeout(TICK, next).await };
            if stop.run_until_cancelled(paused).await.is_none() {
                return;
            }
        }
    }
}
