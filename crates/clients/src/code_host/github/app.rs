//! Access as a GitHub App: a signed statement of the App is exchanged for a token of each installation, which is valid for an hour. An owner of
//! repositories installs the App once. The installation is found by one of its repositories: if GitHub does not find one, another may lead to it.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use data_encoding::BASE64URL_NOPAD;
use reqwest::header::HeaderValue;
use ring::rand::SystemRandom;
use ring::signature::RSA_PKCS1_SHA256;
use serde::Deserialize;
use serde_json::json;
use tokio::sync::Mutex;
use url::Url;

use super::pauses::{Pause, Pauses};
use crate::code_host::exchange::{Exchanges, HostError, bearer};
use crate::code_host::link::PullRequestLink;
use base::blocking;
use base::config::private_key;
use model::time::Timestamp;
use model::upstream::PausedOwner;

/// How long a statement of the App is valid. GitHub accepts at most ten minutes.
const STATEMENT_SECONDS: i64 = 540;
/// GitHub refuses a statement from the future.
const ISSUED_BEFORE_SECONDS: i64 = 60;
/// A token is renewed when less than this remains.
const RENEWED_SECONDS: i64 = 300;
/// The maximum number of owners whose tokens are in memory.
const OWNERS_MAX: usize = 100;
/// How long an owner gets no request after GitHub refused the App there, and how long the installation is not looked up by a repository where GitHub
/// did not find it.
const REFUSED_SECONDS: i64 = 300;
/// The maximum number of repositories in memory where GitHub did not find the installation.
const REPOSITORIES_MAX: usize = 1_000;

/// Clones share the tokens.
#[derive(Clone)]
pub(super) struct App {
    id: String,
    /// Read for each new token, so that it can be replaced.
    key_file: PathBuf,
    api: Url,
    exchanges: Exchanges,
    tokens: Arc<Mutex<HashMap<String, Token>>>,
    /// Owners where GitHub refused the App, because it is suspended, for example, or where its limit is reached.
    owners: Arc<Pauses>,
    /// Repositories where GitHub did not find the installation: deleted ones, or ones that the App may not read.
    repositories: Arc<Pauses>,
}

#[derive(Clone)]
struct Token {
    authorization: HeaderValue,
    expires_at: Timestamp,
}

#[derive(Deserialize)]
struct Installation {
    id: u64,
}

#[derive(Deserialize)]
struct NewToken {
    token: String,
    expires_at: String,
}

impl App {
    pub(super) fn new(id: String, key_file: PathBuf, api: Url, exchanges: Exchanges) -> Self {
        let (owners, repositories) = (Pauses::at_most(OWNERS_MAX), Pauses::at_most(REPOSITORIES_MAX));
        let (owners, repositories) = (Arc::new(owners), Arc::new(repositories));
        Self { id, key_file, api, exchanges, tokens: Arc::default(), owners, repositories }
    }

    /// The value of the `Authorization` header for all repositories of the owner of `link`. An error that concerns the whole owner is
    /// [`HostError::is_of_owner`] or [`HostError::is_of_host`]. Any other means that the repository of `link` does not lead to the installation.
    pub(super) async fn authorization(&self, link: &PullRequestLink) -> Result<HeaderValue, HostError> {
        let now = self.exchanges.now();
        match self.owners.get(&owner_of(link), now) {
            Some(Pause { error: HostError::OwnerLimit(_), until, .. }) => {
                Err(HostError::OwnerLimit(until.since(now)))
            }
            Some(pause) => Err(pause.error),
            None => self.token(link).await,
        }
    }

    /// Sends no request for the owner of `link` until its limit is reset. Each installation has a limit of its own.
    pub(super) fn limit(&self, link: &PullRequestLink, pause: Duration) -> HostError {
        let (now, error) = (self.exchanges.now(), HostError::OwnerLimit(pause));
        self.owners.add(owner_of(link), now, now.after(pause), error.clone());
        error
    }

    /// Sends no request for the owner of `link` for a time, because GitHub refused one.
    pub(super) fn refuse(&self, link: &PullRequestLink, error: &HostError) -> HostError {
        let error = HostError::Installation { reason: error.to_string(), is_refused: true };
        let now = self.exchanges.now();
        self.owners.add(owner_of(link), now, now.plus_seconds(REFUSED_SECONDS), error.clone());
        error
    }

    pub(super) fn paused_owners(&self) -> Vec<PausedOwner> {
        let all = self.owners.all(self.exchanges.now()).into_iter();
        let paused = all.map(|(owner, pause)| {
            let reason = match pause.error {
                HostError::Installation { reason, .. } => reason,
                HostError::OwnerLimit(_) => "its limit is reached".to_owned(),
                error => error.to_string(),
            };
            PausedOwner { owner, until: pause.until, reason }
        });
        paused.collect()
    }

    async fn token(&self, link: &PullRequestLink) -> Result<HeaderValue, HostError> {
        let owner = owner_of(link);
        // One request at a time: others wait for its token.
        let mut tokens = self.tokens.lock().await;
        let latest = self.exchanges.host_time().plus_seconds(RENEWED_SECONDS);
        if let Some(token) = tokens.get(&owner).filter(|token| token.expires_at > latest) {
            return Ok(token.authorization.clone());
        }
        tokens.remove(&owner);
        let token = self.new_token(link).await?;
        if tokens.len() >= OWNERS_MAX {
            tokens.clear();
        }
        tokens.insert(owner, token.clone());
        Ok(token.authorization)
    }

    /// Forgets the token of an owner, because GitHub refused it.
    pub(super) async fn forget(&self, link: &PullRequestLink) {
        self.tokens.lock().await.remove(&owner_of(link));
    }

    async fn new_token(&self, link: &PullRequestLink) -> Result<Token, HostError> {
        let installation = self.installation(link).await?;
        self.token_of(installation).await.map_err(|error| match error {
            error if error.is_of_host() => error,
            HostError::Forbidden | HostError::Missing(_) => self.refuse(link, &error),
            error => HostError::Installation { reason: error.to_string(), is_refused: false },
        })
    }

    /// The installation of the owner, found by the repository of `link`.
    async fn installation(&self, link: &PullRequestLink) -> Result<u64, HostError> {
        let repository = link.repository.to_ascii_lowercase();
        if let Some(pause) = self.repositories.get(&repository, self.exchanges.now()) {
            return Err(pause.error);
        }
        // GitHub blocks some repositories with 403.
        let found = self.look_up(link).await.map_err(|error| match error {
            HostError::Forbidden => HostError::Missing(403),
            error => error,
        });
        if let Err(error @ HostError::Missing(_)) = &found {
            tracing::info!(repository, %error, "no installation of the GitHub App was found by this repository");
            let now = self.exchanges.now();
            self.repositories.add(repository, now, now.plus_seconds(REFUSED_SECONDS), error.clone());
        }
        found
    }

    async fn look_up(&self, link: &PullRequestLink) -> Result<u64, HostError> {
        let (owner, name) = link.owner_and_name();
        let url = self.url(&["repos", owner, name, "installation"])?;
        let ahead = self.exchanges.seconds_ahead();
        let installation = match self.exchanges.get(url.clone(), &self.statement().await?).await {
            // The statement had the time of this machine, whose clock differs: the response has GitHub's.
            Err(HostError::Unauthorized)
                if (self.exchanges.seconds_ahead() - ahead).abs() > ISSUED_BEFORE_SECONDS / 2 =>
            {
                self.exchanges.get(url, &self.statement().await?).await?
            }
            response => response?,
        };
        let Installation { id } = parsed(&installation.body)?;
        Ok(id)
    }

    async fn token_of(&self, installation: u64) -> Result<Token, HostError> {
        let url = self.url(&["app", "installations", &installation.to_string(), "access_tokens"])?;
        let response = self.exchanges.post(url, &self.statement().await?, &json!({})).await?;
        let token: NewToken = parsed(&response.body)?;
        let expires_at =
            token.expires_at.parse().map_err(|_| HostError::BadResponse("its token has no end"))?;
        let authorization =
            bearer(&token.token).map_err(|_| HostError::BadResponse("its token is not valid in a header"))?;
        Ok(Token { authorization, expires_at })
    }

    /// The statement of the App about itself: a JSON Web Token.
    async fn statement(&self) -> Result<HeaderValue, HostError> {
        let (file, id) = (self.key_file.clone(), self.id.clone());
        let now = self.exchanges.host_time().as_millis() / 1_000;
        let statement = blocking::run(usize::MAX, move || signed(&file, &id, now)).await;
        bearer(&statement.map_err(HostError::Credentials)?)
    }

    fn url(&self, parts: &[&str]) -> Result<Url, HostError> {
        let mut url = self.api.clone();
        let mut path =
            url.path_segments_mut().map_err(|()| HostError::BadResponse("its address has no path"))?;
        path.pop_if_empty().extend(parts);
        drop(path);
        Ok(url)
    }
}

fn owner_of(link: &PullRequestLink) -> String {
    link.owner_and_name().0.to_ascii_lowercase()
}

fn parsed<T: for<'de> Deserialize<'de>>(body: &[u8]) -> Result<T, HostError> {
    serde_json::from_slice(body).map_err(|_| HostError::BadResponse("it is not the documented JSON"))
}

fn signed(file: &Path, id: &str, now: i64) -> Result<String, String> {
    let key = private_key(file)?;
    let claims = json!({ "iss": id, "iat": now - ISSUED_BEFORE_SECONDS, "exp": now + STATEMENT_SECONDS });
    let parts = [json!({ "alg": "RS256", "typ": "JWT" }), claims];
    let parts = parts.map(|part| BASE64URL_NOPAD.encode(part.to_string().as_bytes()));
    let text = parts.join(".");
    let mut signature = vec![0; key.public().modulus_len()];
    key.sign(&RSA_PKCS1_SHA256, &SystemRandom::new(), text.as_bytes(), &mut signature)
        .map_err(|_| format!("{} cannot sign", file.display()))?;
    Ok([text, BASE64URL_NOPAD.encode(&signature)].join("."))
}
