//! GitHub: reads the state of pull requests by GraphQL, [`BATCH`] at a time, and their checks by a second query.

mod app;
mod decode;
mod query;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use reqwest::header::HeaderValue;
use rustls::pki_types::CertificateDer;
use url::Url;

use self::app::App;
use self::decode::Response;
use self::query::Part;
use super::exchange::{Exchanges, HostError, authorization};
use super::link::PullRequestLink;
use super::{Batch, Fetched};
use crate::model::pull_request::Checks;
use crate::server::config::{GitHubAccess, GitHubConfig};
use crate::server::current_key::CurrentKey;
use crate::server::process::clock::Clock;

pub(super) use decode::Decoded;
pub(super) use query::BATCH;

/// The pause if GitHub reports that its limit is reached, but not for how long.
const LIMIT_PAUSE: Duration = Duration::from_secs(60);

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

    /// Fetches at most [`BATCH`] pull requests. A token of an App is for one owner, so each owner has a request of its own.
    pub(super) async fn fetch(&self, links: &[PullRequestLink]) -> Batch {
        let mut owners: BTreeMap<String, Vec<usize>> = BTreeMap::new();
        for (index, link) in links.iter().enumerate() {
            let owner = match self.access {
                Access::Token(_) => String::new(),
                Access::App(_) => link.owner_and_name().0.to_ascii_lowercase(),
            };
            owners.entry(owner).or_default().push(index);
        }
        let mut batch = Batch::of(links.len());
        for indexes in owners.into_values() {
            let of_owner: Vec<&PullRequestLink> = indexes.iter().map(|index| &links[*index]).collect();
            match self.of_owner(&of_owner, &mut batch).await {
                Ok(found) => {
                    indexes.into_iter().zip(found).for_each(|(index, found)| batch.found[index] = found)
                }
                Err(error) => {
                    let is_over = matches!(error, HostError::LimitReached(_));
                    batch.fail(&indexes, error);
                    if is_over {
                        break;
                    }
                }
            }
        }
        batch
    }

    async fn of_owner(
        &self,
        links: &[&PullRequestLink],
        batch: &mut Batch,
    ) -> Result<Vec<Fetched>, HostError> {
        let authorization = self.authorization(links).await?;
        let states = self.query(Part::State, links, &authorization, batch).await?;
        let states: Vec<_> = (0..links.len()).map(|index| states.state(index)).collect();
        let open: Vec<usize> = (0..links.len())
            .filter(|index| matches!(&states[*index], Decoded::Usable(reported) if reported.state.is_open()))
            .collect();
        let checks = self.checks(&open, links, &authorization, batch).await;
        Ok(states.into_iter().zip(checks).map(|(state, checks)| Fetched::of(state, checks)).collect())
    }

    /// The checks of the pull requests at the indexes `open`; `None` for the others, and if they could not be fetched now.
    async fn checks(
        &self,
        open: &[usize],
        links: &[&PullRequestLink],
        authorization: &HeaderValue,
        batch: &mut Batch,
    ) -> Vec<Option<Checks>> {
        let mut checks = vec![None; links.len()];
        if open.is_empty() || batch.pause.is_some() {
            return checks;
        }
        let of_open: Vec<&PullRequestLink> = open.iter().map(|index| links[*index]).collect();
        match self.query(Part::Checks, &of_open, authorization, batch).await {
            Ok(response) => {
                for (at, index) in open.iter().enumerate() {
                    checks[*index] = Some(response.checks(at));
                }
            }
            Err(HostError::Forbidden) => {
                open.iter().for_each(|index| checks[*index] = Some(Checks::Unreadable))
            }
            Err(HostError::LimitReached(pause)) => batch.pause = Some(pause),
            Err(error) => tracing::debug!(%error, "checks of pull requests could not be fetched"),
        }
        checks
    }

    async fn query(
        &self,
        part: Part,
        links: &[&PullRequestLink],
        authorization: &HeaderValue,
        batch: &mut Batch,
    ) -> Result<Response, HostError> {
        let request = query::request(part, links);
        let response = self.exchanges.post(self.graphql.clone(), authorization, &request).await;
        if let (Err(HostError::Unauthorized), Access::App(app), Some(link)) =
            (&response, &self.access, links.first())
        {
            app.forget(link).await;
        }
        let response = response.map_err(|error| match error {
            // Every query has this address, so no pull request is missing.
            HostError::Missing(status) => HostError::Failed(status),
            error => error,
        })?;
        batch.note(response.limit);
        Response::parse(&response.body)
    }

    async fn authorization(&self, links: &[&PullRequestLink]) -> Result<HeaderValue, HostError> {
        match (&self.access, links.first()) {
            (Access::App(app), Some(link)) => app.authorization(link).await,
            (Access::Token(token), _) => authorization(&token.bearer().await),
            (Access::App(_), None) => Err(HostError::BadResponse("there is nothing to fetch")),
        }
    }
}
