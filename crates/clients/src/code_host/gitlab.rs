//! GitLab: reads the state of merge requests by REST, one at a time. The host may hide approvals, pipelines or changed files from a token; then
//! those are missing.

mod decode;

use futures::StreamExt;
use reqwest::header::HeaderValue;
use rustls::pki_types::CertificateDer;
use url::Url;

use self::decode::Approvals;
use super::exchange::{Exchanges, HostError, Success, authorization};
use super::link::PullRequestLink;
use super::rate_limit::RateLimit;
use super::{Batch, Fetched, Wanted};
use crate::current_key::CurrentKey;
use base::clock::Clock;
#[cfg(test)]
use base::config::ApiKey;
use base::config::GitLabConfig;
use model::pull_request::CheckFailure;

/// The maximum number of merge requests that are fetched together. Each needs three requests.
pub(super) const BATCH: usize = 10;
/// Concurrent merge requests.
const CONCURRENT: usize = 4;

/// Clones share their connections and token.
#[derive(Clone)]
pub(super) struct GitLab {
    api: Url,
    exchanges: Exchanges,
    token: CurrentKey,
}

/// A part of a merge request that has a request of its own.
enum Part {
    Read(Success),
    /// The host does not show it to this token.
    Hidden,
    Failed,
}

impl Part {
    const fn response(&self) -> Option<&Success> {
        match self {
            Self::Read(response) => Some(response),
            Self::Hidden | Self::Failed => None,
        }
    }
}

impl GitLab {
    pub(super) fn new(
        config: &GitLabConfig,
        authorities: &[CertificateDer<'static>],
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let exchanges = Exchanges::new(config.url.scheme() == "https", authorities, clock)?;
        let token = CurrentKey::new("the token of GitLab", config.token.clone(), Some(config.file.clone()));
        Ok(Self { api: config.api(), exchanges, token })
    }

    #[cfg(test)]
    pub(super) fn with_token(api: Url, exchanges: Exchanges, token: ApiKey) -> Self {
        Self { api, exchanges, token: CurrentKey::new("the token of GitLab", token, None) }
    }

    /// Fetches at most [`BATCH`] merge requests. One that fails affects no other.
    pub(super) async fn fetch(&self, wanted: &Wanted<'_>) -> Batch {
        let links = wanted.links;
        let mut batch = Batch::of(links.len());
        let authorization = match authorization(&self.token.bearer().await) {
            Ok(authorization) => authorization,
            Err(error) => {
                batch.fail_all(&(0..links.len()).collect::<Vec<_>>(), "", error);
                return batch;
            }
        };
        let requests = links.iter().enumerate().map(|(index, link)| {
            let authorization = &authorization;
            async move { (index, self.merge_request(link, authorization).await) }
        });
        let requests: Vec<_> = requests.collect();
        let mut results = futures::stream::iter(requests).buffer_unordered(CONCURRENT);
        while let Some((index, result)) = results.next().await {
            match result {
                Ok((fetched, limit)) => {
                    batch.note(limit);
                    batch.report(index, fetched);
                }
                // Only this merge request, or its project.
                Err(HostError::Forbidden) => batch.found[index] = Fetched::Failed(CheckFailure::Missing),
                Err(error) => batch.fail(index, &links[index], error),
            }
            // All that began together failed.
            let is_failing = !batch.has_success && batch.failed.len() >= CONCURRENT;
            if batch.is_over() || is_failing || wanted.stop.is_cancelled() {
                break;
            }
        }
        drop(results);
        batch
    }

    async fn merge_request(
        &self,
        link: &PullRequestLink,
        authorization: &HeaderValue,
    ) -> Result<(Fetched, Option<RateLimit>), HostError> {
        let of = |part: &[&str], query: Option<&str>| self.url(link, part, query);
        let response = self.exchanges.get(of(&[], None)?, authorization).await?;
        let Some(merge_request) = decode::merge_request(&response.body)? else {
            return Ok((Fetched::Failed(CheckFailure::Unusable), response.limit));
        };
        let approvals = self.part(of(&["approvals"], None)?, authorization).await?;
        let diffs = self.part(of(&["diffs"], Some("per_page=100"))?, authorization).await?;
        let read = [&diffs, &approvals].into_iter().find_map(Part::response);
        let limit = read.unwrap_or(&response).limit;
        let approvals = match approvals {
            Part::Read(response) => decode::approvals(&response.body),
            Part::Hidden => Approvals::Hidden,
            Part::Failed => Approvals::Unknown,
        };
        let files = diffs.response().and_then(|response| decode::files(&response.body));
        let checks = merge_request.checks();
        Ok((Fetched::reported(merge_request.reported(approvals, files), Some(checks)), limit))
    }

    /// As [`Exchanges::get`], for a part without which the state is known. Fails only if no request to the host can succeed for now.
    async fn part(&self, url: Url, authorization: &HeaderValue) -> Result<Part, HostError> {
        match self.exchanges.get(url, authorization).await {
            Ok(response) => Ok(Part::Read(response)),
            Err(HostError::Forbidden | HostError::Missing(_)) => Ok(Part::Hidden),
            Err(error) if error.is_of_host() => Err(error),
            Err(error) => {
                tracing::debug!(%error, "part of a merge request could not be fetched");
                Ok(Part::Failed)
            }
        }
    }

    fn url(&self, link: &PullRequestLink, parts: &[&str], query: Option<&str>) -> Result<Url, HostError> {
        let mut url = self.api.clone();
        let number = link.number.to_string();
        let mut path =
            url.path_segments_mut().map_err(|()| HostError::BadResponse("its address has no path"))?;
        // The slashes of the project's path are encoded: it is one segment.
        path.pop_if_empty().extend(["projects", &link.repository, "merge_requests", &number]).extend(parts);
        drop(path);
        url.set_query(query);
        Ok(url)
    }
}
