//! Connections to the code hosts of pull requests, GitHub and GitLab: what to fetch next, and the requests. It is independent of the platform, its key
//! and its budget. Processes that share a database share the work.

mod examine;
mod exchange;
mod fetched;
mod github;
mod gitlab;
mod halving;
mod link;
mod rate_limit;
mod refresh;
mod schedule;
#[cfg(test)]
mod tests;
mod verdict;

use std::sync::Arc;
use std::time::Duration;

use parking_lot::RwLock;
use rustls::pki_types::CertificateDer;
use tokio::time::MissedTickBehavior;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use self::fetched::{Batch, Fetched};
use self::github::GitHub;
use self::gitlab::GitLab;
use self::link::{LinkForm, PullRequestLink};
use self::refresh::Opened;
use base::clock::Clock;
use base::config::CodeHostsConfig;
use base::settings::{Live, Settings};
use base::tasks::{Task, Tasks};
use base::turns::Turns;
use base::work::Work;
use model::upstream::{CodeHostStatus, PausedOwner};
use model::user::Project;
use store::{Store, StoreError};

pub use exchange::HostError;

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

/// A connection to one code host.
#[derive(Clone)]
struct Connection {
    /// The web address, which links begin with.
    url: url::Url,
    client: Client,
}

/// Pull requests to fetch.
#[derive(Debug, Clone, Copy)]
struct Wanted<'a> {
    links: &'a [PullRequestLink],
    /// How many of them, from the first, did not fail before. The others are requested apart from these.
    fresh: usize,
    /// Ends it before the next request.
    stop: &'a CancellationToken,
}

#[derive(Clone)]
enum Client {
    GitHub(GitHub),
    GitLab(GitLab),
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

    fn connections(&self) -> Arc<[Connection]> {
        self.connections.read().clone()
    }
}

impl Connection {
    /// The name of the connection in the database.
    fn host(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// The maximum number of pull requests that are fetched together.
    fn batch(&self) -> usize {
        match self.client {
            Client::GitHub(_) => github::BATCH,
            Client::GitLab(_) => gitlab::BATCH,
        }
    }

    /// `None` if the link leads elsewhere.
    fn parse(&self, link: &str) -> Option<PullRequestLink> {
        let form = match self.client {
            Client::GitHub(_) => LinkForm::GitHub,
            Client::GitLab(_) => LinkForm::GitLab,
        };
        PullRequestLink::parse(link, &self.url, form)
    }

    async fn fetch(&self, wanted: &Wanted<'_>) -> Batch {
        match &self.client {
            Client::GitHub(github) => github.fetch(wanted).await,
            Client::GitLab(gitlab) => gitlab.fetch(wanted).await,
        }
    }

    /// Owners of repositories that this process does not request for now.
    fn paused_owners(&self) -> Vec<PausedOwner> {
        match &self.client {
            Client::GitHub(github) => github.paused_owners(),
            Client::GitLab(_) => Vec::new(),
        }
    }
}

fn connections(
    config: &CodeHostsConfig,
    authorities: &[CertificateDer<'static>],
    clock: &Clock,
) -> anyhow::Result<Arc<[Connection]>> {
    let mut connections = Vec::new();
    if let Some(config) = &config.github {
        let client = Client::GitHub(GitHub::new(config, authorities, clock.clone())?);
        connections.push(Connection { url: config.url.clone(), client });
    }
    if let Some(config) = &config.gitlab {
        let client = Client::GitLab(GitLab::new(config, authorities, clock.clone())?);
        connections.push(Connection { url: config.url.clone(), client });
    }
    Ok(connections.into())
}
