//! Connections to the code hosts of pull requests, GitHub and GitLab, and the requests.

mod examine;
mod exchange;
mod fetched;
mod github;
mod gitlab;
mod halving;
mod link;
mod rate_limit;
#[cfg(test)]
mod tests;
mod verdict;

use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use tokio_util::sync::CancellationToken;

use self::github::GitHub;
use self::gitlab::GitLab;
use self::link::LinkForm;
use base::clock::Clock;
use base::config::CodeHostsConfig;
use model::upstream::PausedOwner;

pub use exchange::HostError;
pub use fetched::{Batch, Fetched};
pub use github::by_owner;
pub use link::PullRequestLink;
pub use verdict::verdict;

/// A connection to one code host.
#[derive(Clone)]
pub struct Connection {
    /// The web address, which links begin with.
    url: url::Url,
    client: Client,
}

/// Pull requests to fetch.
#[derive(Debug, Clone, Copy)]
pub struct Wanted<'a> {
    pub links: &'a [PullRequestLink],
    /// How many of them, from the first, did not fail before. The others are requested apart from these.
    pub fresh: usize,
    /// Ends it before the next request.
    pub stop: &'a CancellationToken,
}

#[derive(Clone)]
enum Client {
    GitHub(GitHub),
    GitLab(GitLab),
}

impl Connection {
    /// The name of the connection in the database.
    pub fn host(&self) -> &str {
        self.url.as_str().trim_end_matches('/')
    }

    /// The maximum number of pull requests that are fetched together.
    pub fn batch(&self) -> usize {
        match self.client {
            Client::GitHub(_) => github::BATCH,
            Client::GitLab(_) => gitlab::BATCH,
        }
    }

    /// `None` if the link leads elsewhere.
    pub fn parse(&self, link: &str) -> Option<PullRequestLink> {
        let form = match self.client {
            Client::GitHub(_) => LinkForm::GitHub,
            Client::GitLab(_) => LinkForm::GitLab,
        };
        PullRequestLink::parse(link, &self.url, form)
    }

    pub async fn fetch(&self, wanted: &Wanted<'_>) -> Batch {
        match &self.client {
            Client::GitHub(github) => github.fetch(wanted).await,
            Client::GitLab(gitlab) => gitlab.fetch(wanted).await,
        }
    }

    /// Owners of repositories that this process does not request for now.
    pub fn paused_owners(&self) -> Vec<PausedOwner> {
        match &self.client {
            Client::GitHub(github) => github.paused_owners(),
            Client::GitLab(_) => Vec::new(),
        }
    }
}

/// The configured connections.
pub fn connections(
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
