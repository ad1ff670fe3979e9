//! GitHub: reads the state of pull requests by GraphQL, [`BATCH`] at a time, and their checks by a second query. A query that fails is divided.

mod app;
mod decode;
mod pauses;
mod query;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use reqwest::header::HeaderValue;
use rustls::pki_types::CertificateDer;
use url::Url;

use self::app::App;
use self::decode::Response;
use self::query::Part;
use super::exchange::{Exchanges, HostError, authorization};
use super::halving::Halving;
use super::link::PullRequestLink;
use super::{Batch, Fetched, Wanted};
use crate::current_key::CurrentKey;
use base::clock::Clock;
#[cfg(test)]
use base::config::ApiKey;
use base::config::{GitHubAccess, GitHubConfig};
use model::pull_request::{Checks, Reported};
use model::upstream::PausedOwner;

pub(super) use decode::Decoded;
pub(super) use query::BATCH;

/// The pause if GitHub reports that its limit is reached, but not for how long.
const LIMIT_PAUSE: Duration = Duration::from_secs(60);
/// After this time, no further request for the same pull requests begins. With the deadline of a request it is shorter than their lease.
const TIME_MAX: Duration = Duration::from_secs(300);

/// Clones share their connections and tokens.
#[derive(Clone)]
pub(super) struct GitHub {
    graphql: Url,
    exchanges: Exchanges,
    access: Access,
}

#[derive(Clone)]
enum Access {
    Token(CurrentKey),
    App(App),
}

impl GitHub {
    pub(super) fn new(
        config: &GitHubConfig,
        authorities: &[CertificateDer<'static>],
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let exchanges = Exchanges::new(config.url.scheme() == "https", authorities, clock)?;
        let access = match &config.access {
            GitHubAccess::Token { token, file } => {
                Access::Token(CurrentKey::new("the token of GitHub", token.clone(), file.clone()))
            }
            GitHubAccess::App { id, key_file } => {
                Access::App(App::new(id.clone(), PathBuf::clone(key_file), config.api(), exchanges.clone()))
            }
        };
        Ok(Self { graphql: config.graphql(), exchanges, access })
    }

    #[cfg(test)]
    pub(super) fn with_token(graphql: Url, exchanges: Exchanges, token: ApiKey) -> Self {
        let access = Access::Token(CurrentKey::new("the token of GitHub", token, None));
        Self { graphql, exchanges, access }
    }

    /// Fetches at most [`BATCH`] pull requests. A token of an App is for one owner, so each owner has requests of its own.
    pub(super) async fn fetch(&self, wanted: &Wanted<'_>) -> Batch {
        let owners = match self.access {
            Access::Token(_) => vec![(String::new(), (0..wanted.links.len()).collect())],
            Access::App(_) => by_owner(wanted.links),
        };
        let mut fetching =
            Fetching { github: self, wanted, started: Instant::now(), batch: Batch::of(wanted.links.len()) };
        for (owner, indexes) in owners {
            fetching.of_owner(&owner, indexes).await;
        }
        fetching.batch
    }

    /// Owners whose installation of the App is refused, or at its limit.
    pub(super) fn paused_owners(&self) -> Vec<PausedOwner> {
        match &self.access {
            Access::Token(_) => Vec::new(),
            Access::App(app) => app.paused_owners(),
        }
    }

    /// `through`: what the authorization was found by. [`HostError::Missing`] means that it is found by this no more.
    async fn query(
        &self,
        part: Part,
        links: &[&PullRequestLink],
        through: &PullRequestLink,
        batch: &mut Batch,
    ) -> Result<Response, HostError> {
        let request = query::request(part, links);
        let send = async |authorization: HeaderValue| {
            self.exchanges.post(self.graphql.clone(), &authorization, &request).await
        };
        let mut response = send(self.authorization(through).await?).await;
        if let Access::App(app) = &self.access {
            // A suspended installation loses its token before the end. An App may lack the permission to read checks only.
            let is_refused = |response: &Result<_, HostError>| match response {
                Err(HostError::Unauthorized) => true,
                Err(HostError::Forbidden) => part == Part::State,
                _ => false,
            };
            if is_refused(&response) {
                app.forget(through).await;
                response = send(self.authorization(through).await?).await;
            }
            if is_refused(&response)
                && let Err(error) = &response
            {
                return Err(app.refuse(through, error));
            }
        }
        let response = response.map_err(|error| match error {
            // Every query has this address, so no pull request is missing.
            HostError::Missing(status) => HostError::Failed(status),
            error => self.limited(through, error),
        })?;
        match &self.access {
            Access::Token(_) => batch.note(response.limit),
            Access::App(app) => {
                batch.limit = response.limit.or(batch.limit);
                if let Some(pause) = response.limit.and_then(|limit| limit.pause()) {
                    app.limit(through, pause);
                }
            }
        }
        Response::parse(&response.body, links.len()).map_err(|error| self.limited(through, error))
    }

    /// A limit concerns all that the token may read: with an App, one owner.
    fn limited(&self, through: &PullRequestLink, error: HostError) -> HostError {
        match (&self.access, error) {
            (Access::App(app), HostError::LimitReached(pause)) => app.limit(through, pause),
            (_, error) => error,
        }
    }

    async fn authorization(&self, link: &PullRequestLink) -> Result<HeaderValue, HostError> {
        match &self.access {
            Access::App(app) => app.authorization(link).await,
            Access::Token(token) => authorization(&token.bearer().await),
        }
    }
}

/// The indexes of each owner's links. The owner of the first link is first, because it has waited longest.
pub fn by_owner(links: &[PullRequestLink]) -> Vec<(String, Vec<usize>)> {
    let mut owners: Vec<(String, Vec<usize>)> = Vec::new();
    for (index, link) in links.iter().enumerate() {
        let owner = link.owner_and_name().0.to_ascii_lowercase();
        match owners.iter_mut().find(|(known, _)| *known == owner) {
            Some((_, indexes)) => indexes.push(index),
            None => owners.push((owner, vec![index])),
        }
    }
    owners
}

/// Pull requests that are being fetched, and what was found.
struct Fetching<'a> {
    github: &'a GitHub,
    wanted: &'a Wanted<'a>,
    started: Instant,
    batch: Batch,
}

impl<'a> Fetching<'a> {
    /// Fetches the pull requests at `indexes`.
    async fn of_owner(&mut self, owner: &str, indexes: Vec<usize>) {
        let Some(through) = self.access(owner, &indexes).await else { return };
        let states = self.states(owner, through, indexes).await;
        let open = states
            .iter()
            .filter(|(_, state)| matches!(state, Decoded::Usable(reported) if reported.state.is_open()));
        let open = open.map(|(index, _)| *index).collect();
        let mut checks = self.checks(through, open).await;
        for (index, state) in states {
            self.batch.report(index, Fetched::of(state, checks.remove(&index)));
        }
    }

    /// A pull request whose repository leads to access to its owner. Another repository may be deleted: then the next one is tried. If none leads
    /// there, those that were tried failed.
    async fn access(&mut self, owner: &str, indexes: &[usize]) -> Option<&'a PullRequestLink> {
        let links = &self.wanted.links;
        let mut tried: BTreeMap<&str, HostError> = BTreeMap::new();
        // A repository that is missing is no evidence against the host, others are.
        let mut evidence = 0;
        for link in indexes.iter().map(|index| &links[*index]) {
            if tried.contains_key(link.repository.as_str()) {
                continue;
            }
            if !self.may_continue() || evidence > 1 {
                break;
            }
            match self.github.authorization(link).await {
                Ok(_) => return Some(link),
                Err(error) if error.is_of_host() || error.is_of_owner() => {
                    self.batch.fail_all(indexes, owner, error);
                    return None;
                }
                Err(error) => {
                    evidence += usize::from(!matches!(error, HostError::Missing(_)));
                    tried.insert(&link.repository, error);
                }
            }
        }
        for (repository, error) in tried {
            let all = indexes.iter().filter(|index| links[**index].repository == repository);
            self.batch.fail_repository(&all.copied().collect::<Vec<_>>(), repository, error);
        }
        None
    }

    /// The states of the pull requests at these indexes. One that makes its query fail is found by halving.
    async fn states(
        &mut self,
        owner: &str,
        through: &PullRequestLink,
        indexes: Vec<usize>,
    ) -> Vec<(usize, Decoded<Reported>)> {
        let mut states = Vec::new();
        let (fresh, failing) = indexes.into_iter().partition(|index| *index < self.wanted.fresh);
        let mut halving = Halving::of([failing, fresh]);
        while self.may_continue()
            && let Some(group) = halving.next()
        {
            match self.query(Part::State, through, &group).await {
                Ok(response) => {
                    halving.succeed();
                    self.batch.has_success = true;
                    states
                        .extend(group.into_iter().enumerate().map(|(at, index)| (index, response.state(at))));
                }
                Err(error) if error.is_of_owner() => {
                    let rest = [group, halving.into_rest()].concat();
                    self.batch.fail_all(&rest, owner, error);
                    break;
                }
                Err(error) if error.is_of_host() => self.batch.fail_all(&group, owner, error),
                // The repository was deleted meanwhile. The next batch finds access by another one.
                Err(HostError::Missing(_)) => break,
                Err(error) => {
                    if let Some(index) = halving.fail(group) {
                        self.batch.fail(index, &self.wanted.links[index], error);
                    }
                }
            }
        }
        states
    }

    /// The checks of the pull requests at these indexes, as far as they could be fetched.
    async fn checks(&mut self, through: &PullRequestLink, indexes: Vec<usize>) -> BTreeMap<usize, Checks> {
        let mut checks = BTreeMap::new();
        let mut halving = Halving::of([indexes]);
        while self.may_continue()
            && let Some(group) = halving.next()
        {
            match self.query(Part::Checks, through, &group).await {
                Ok(response) => {
                    halving.succeed();
                    checks.extend(
                        group.into_iter().enumerate().map(|(at, index)| (index, response.checks(at))),
                    );
                }
                Err(HostError::Forbidden) => {
                    checks.extend(group.into_iter().map(|index| (index, Checks::Unreadable)));
                }
                Err(HostError::LimitReached(pause) | HostError::SecondaryLimit(pause)) => {
                    self.batch.pause = self.batch.pause.max(Some(pause));
                }
                Err(error) => {
                    tracing::debug!(%error, "checks of pull requests could not be fetched");
                    if error.is_of_host() || error.is_of_owner() {
                        break;
                    }
                    halving.fail(group);
                }
            }
        }
        checks
    }

    async fn query(
        &mut self,
        part: Part,
        through: &PullRequestLink,
        group: &[usize],
    ) -> Result<Response, HostError> {
        let links: Vec<&PullRequestLink> = group.iter().map(|index| &self.wanted.links[*index]).collect();
        self.github.query(part, &links, through, &mut self.batch).await
    }

    fn may_continue(&self) -> bool {
        let is_failing = !self.batch.has_success && self.batch.failed.len() > 1;
        !self.batch.is_over()
            && !is_failing
            && !self.wanted.stop.is_cancelled()
            && self.started.elapsed() < TIME_MAX
    }
}
