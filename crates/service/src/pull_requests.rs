//! The state of pull requests: which to check next at their code hosts. It is independent of the platform, its key and its budget. Processes
//! that share a database share the work.

mod refresh;
mod schedule;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use rustls::pki_types::CertificateDer;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::refresh::Opened;
use base::clock::Clock;
use base::config::CodeHostsConfig;
use base::settings::{Live, Settings};
use base::tasks::{Task, Tasks};
use base::turns::Turns;
use base::work::Work;
use clients::code_host::{Connection, connections};
use model::upstream::CodeHostStatus;
use model::user::Project;
use store::{Store, StoreError};

/// The interval of looking for due checks.
const TICK: Duration = Duration::from_millis(500);

/// The settings of checking pull requests.
#[derive(Clone)]
pub struct PullRequestSettings {
    projects: Arc<[Project]>,
    /// How long an open pull request may wait until it is stale.
    stale_after: Duration,
}

impl PullRequestSettings {
    pub fn of(settings: &Settings) -> Self {
        Self { projects: settings.projects.clone(), stale_after: settings.review_stale_after }
    }
}

/// All connections. Clones share their state.
#[derive(Clone)]
pub struct CodeHosts {
    connections: Arc<RwLock<Arc<[Connection]>>>,
    authorities: Arc<[CertificateDer<'static>]>,
    store: Store,
    clock: Clock,
    tasks: Tasks,
    settings: Live<PullRequestSettings>,
    opened: Opened,
    work: Work,
    /// The hosts whose pull requests are being checked.
    turns: Turns<String>,
    /// Running checks.
    checks: TaskTracker,
}

impl CodeHosts {
    pub fn new(
        config: &CodeHostsConfig,
        authorities: &[CertificateDer<'static>],
        store: Store,
        clock: Clock,
        tasks: Tasks,
        settings: Live<PullRequestSettings>,
        work: Work,
    ) -> anyhow::Result<Self> {
        let connections = connections(config, authorities, &clock)?;
        Ok(Self {
            connections: Arc::new(RwLock::new(connections)),
            authorities: authorities.into(),
            store,
            clock,
            tasks,
            settings,
            opened: Opened::default(),
            work,
            turns: Turns::default(),
            checks: TaskTracker::new(),
        })
    }

    /// Uses other connections from now on.
    pub async fn replace(&self, config: &CodeHostsConfig) -> anyhow::Result<()> {
        let connections = connections(config, &self.authorities, &self.clock)?;
        *self.connections.write() = connections;
        Ok(self.reassign().await?)
    }

    /// Determines again the hosts of pull requests that had no connection.
    async fn reassign(&self) -> Result<(), StoreError> {
        for connection in self.connections().iter() {
            self.store.reassign_code_host(&self.work, connection.host()).await?;
        }
        Ok(())
    }

    /// Whether the state of any pull request is tracked.
    pub fn are_connected(&self) -> bool {
        !self.connections.read().is_empty()
    }

    /// The web addresses of all connections.
    pub fn hosts(&self) -> Vec<String> {
        self.connections().iter().map(|connection| connection.host().to_owned()).collect()
    }

    /// The state of all connections.
    pub async fn status(&self) -> Result<Vec<CodeHostStatus>, StoreError> {
        let mut all = self.store.code_hosts(&self.hosts(), self.clock.now()).await?;
        for (status, connection) in all.iter_mut().zip(self.connections().iter()) {
            status.paused_owners = connection.paused_owners();
        }
        Ok(all)
    }

    /// Checks due pull requests until `stop`; then waits for requests that were already sent.
    pub async fn run(&self, stop: CancellationToken) {
        self.tasks.supervise(Task::PullRequests, &stop, || self.check_until(&stop)).await;
        self.checks.close();
        self.checks.wait().await;
    }

    async fn check_until(&self, stop: &CancellationToken) {
        // The connections may differ from those of an earlier run.
        if let Err(error) = self.reassign().await {
            self.tasks.failed(Task::PullRequests, error);
        }
        let mut tick = tokio::time::interval(TICK);
        tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            self.tasks.pass("pull requests");
            match self.check_due(stop).await {
                Ok(()) => self.tasks.succeeded(Task::PullRequests),
                Err(error) => self.tasks.failed(Task::PullRequests, error),
            }
        }
    }

    /// What each connection may read, for `docket check`. One result per connection: its web address, and what it may read or what is wrong.
    pub async fn examine(&self) -> Result<Vec<(String, Result<String, String>)>, StoreError> {
        let newest = self.store.newest_pull_requests().await?;
        let mut results = Vec::new();
        for connection in self.connections().iter() {
            results.push((connection.host().to_owned(), connection.examine(&newest).await));
        }
        Ok(results)
    }

    fn connections(&self) -> Arc<[Connection]> {
        self.connections.read().clone()
    }
}
