//! What each connection may read, for `docket check`: the newest known pull request of some repositories is fetched.

use std::collections::BTreeMap;

use tokio_util::sync::CancellationToken;

use super::fetched::Fetched;
use super::link::PullRequestLink;
use super::{Connection, Wanted};
use model::pull_request::Checks;

/// The maximum number of repositories per connection.
const REPOSITORIES_MAX: usize = 5;

impl Connection {
    /// What the connection may read, or what is wrong. `newest`: the links of known pull requests, newest first.
    pub async fn examine(&self, newest: &[String]) -> Result<String, String> {
        let mut of_repositories: BTreeMap<String, PullRequestLink> = BTreeMap::new();
        for link in newest.iter().filter_map(|link| self.parse(link)) {
            if of_repositories.len() < REPOSITORIES_MAX {
                of_repositories.entry(link.repository.clone()).or_insert(link);
            }
        }
        let links: Vec<PullRequestLink> = of_repositories.into_values().collect();
        if links.is_empty() {
            return Ok("not used yet: no job has a pull request there".to_owned());
        }
        let wanted = Wanted { links: &links, fresh: links.len(), stop: &CancellationToken::new() };
        let batch = self.fetch(&wanted).await;
        if let Some(error) = batch.error {
            return Err(format!("{error}. See docs/connect."));
        }
        if let Some((name, error)) = batch.failed.first() {
            return Err(format!("{name}: {error}. See docs/connect."));
        }
        let readable: Vec<String> =
            links.iter().zip(batch.found).map(|(link, found)| describe(link, &found)).collect();
        match readable.iter().any(|text| text.ends_with(NOT_READABLE)) {
            true => Err(format!("{}. See docs/connect for the permissions.", readable.join("; "))),
            false => Ok(readable.join("; ")),
        }
    }
}

const NOT_READABLE: &str = "not readable";

fn describe(link: &PullRequestLink, found: &Fetched) -> String {
    let repository = &link.repository;
    match found {
        Fetched::Reported(_, Some(Checks::Unreadable)) => {
            format!("{repository}: pull requests, but no checks")
        }
        Fetched::Reported(..) => format!("{repository}: pull requests and checks"),
        Fetched::Failed(_) => format!("{repository}: {NOT_READABLE}"),
        Fetched::Skipped | Fetched::Later(_) => {
            format!("{repository}: not examined, because the limit of the host is reached")
        }
    }
}
