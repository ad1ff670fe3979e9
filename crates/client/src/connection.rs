//! Requests to a Docket server with an API token. A request that fails for a passing reason is repeated; its idempotency key
//! stays the same, so that it has one effect.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Method, Response};
use rustls::pki_types::CertificateDer;
use serde::Deserialize;
use serde_json::Value;
use url::Url;

use crate::config::{Config, Token};
use crate::failure::{Effect, Failure, Retry, UnknownEnd};
use crate::idempotency_key::IdempotencyKey;
use crate::output::inform;

/// The timeout of one attempt. The server responds to a prompt when the platform did.
const TIMEOUT: Duration = Duration::from_secs(90);
/// How long a request is repeated, unless it waits for a job.
const REPEATED_FOR: Duration = Duration::from_secs(180);
/// How long the last attempt of a request that waits may take beyond its time.
const LAST_ATTEMPT: Duration = Duration::from_secs(5);
/// The first pause, which doubles each time, and the longest one.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);

/// How a server announces a removal (RFC 9745, RFC 8594).
const DEPRECATION: &str = "deprecation";
const SUNSET: &str = "sunset";

/// The maximum size of a response, in bytes.
const BODY_MAX: usize = 16 * 1024 * 1024;

/// A server, and how to call it.
pub(super) struct Connection {
    http: Client,
    server: Url,
    token: Token,
    is_removal_known: AtomicBool,
}

/// When a request is not repeated any more.
#[derive(Clone, Copy)]
enum Repeated {
    /// When the next attempt would be later than this.
    Before(Instant),
    /// At this time: the last pause is shorter.
    Until(Instant),
}

/// A request to `/api/v1`.
pub(super) struct ApiRequest<'a> {
    method: Method,
    /// The segments of the path after `/api/v1`.
    path: Vec<&'a str>,
    query: Vec<(&'a str, String)>,
    body: Option<Value>,
    idempotency_key: Option<&'a IdempotencyKey>,
}

#[derive(Deserialize)]
struct Problem {
    detail: String,
    code: String,
}

/// What the server answered to a request that it refused.
#[derive(Debug, thiserror::Error)]
#[error("{detail}")]
pub(super) struct Refusal {
    detail: String,
    code: String,
}

impl Refusal {
    /// Whether an error is a refusal with this code.
    pub(super) fn is(error: &anyhow::Error, code: &str) -> bool {
        error.downcast_ref::<Self>().is_some_and(|refusal| refusal.code == code)
    }

    #[cfg(test)]
    pub(super) fn new(code: &str) -> Self {
        Self { detail: code.to_owned(), code: code.to_owned() }
    }
}

impl Connection {
    pub(super) fn new(config: Config) -> anyhow::Result<Self> {
        let Config { server, token, authorities } = config;
        let http = http_client(server.scheme() == "https", &authorities)?;
        Ok(Self { http, server, token, is_removal_known: AtomicBool::new(false) })
    }

    /// The address of a page of the server.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.server.as_str().trim_end_matches('/'))
    }

    /// The body of a successful response.
    ///
    /// # Errors
    /// [`UnknownEnd`] if the request is a change that the server may have carried out.
    pub(super) async fn send(&self, request: &ApiRequest<'_>) -> anyhow::Result<Value> {
        let repeated = Repeated::Before(Instant::now() + REPEATED_FOR);
        let Failure { error, effect, .. } = match self.repeat(request, repeated).await {
            Ok(body) => return Ok(body),
            Err(failure) => failure,
        };
        if effect != Effect::Possible || !request.is_change() {
            return Err(error);
        }
        inform(&format!("{error:#}"));
        Err(UnknownEnd { how_to_repeat: request.how_to_repeat() }.into())
    }

    /// As [`Self::send`], for a request that reads. `None` if it has no success until this time.
    pub(super) async fn send_until(
        &self,
        request: &ApiRequest<'_>,
        until: Instant,
    ) -> anyhow::Result<Option<Value>> {
        match self.repeat(request, Repeated::Until(until)).await {
            Ok(body) => Ok(Some(body)),
            Err(Failure { error, retry: Retry::Never, .. }) => Err(error),
            Err(failure) => {
                inform(&format!("{:#}", failure.error));
                Ok(None)
            }
        }
    }

    /// Repeats a request until it succeeds, fails for good, or its time is over.
    async fn repeat(&self, request: &ApiRequest<'_>, repeated: Repeated) -> Result<Value, Failure> {
        let (mut pause, mut effect) = (PAUSE_MIN, Effect::None);
        loop {
            let failure = match self.attempt(request, repeated.timeout()).await {
                Ok(body) => return Ok(body),
                Err(failure) => failure,
            };
            effect = effect.after(failure.effect);
            let wait = match failure.retry {
                Retry::Later(wait) => repeated.pause(wait.unwrap_or(pause)),
                Retry::Never => None,
            };
            let Some(wait) = wait else { return Err(Failure { effect, ..failure }) };
            inform(&format!("{:#}; next attempt in {} s", failure.error, wait.as_secs()));
            tokio::time::sleep(wait).await;
            pause = (pause * 2).min(PAUSE_MAX);
        }
    }

    async fn attempt(&self, request: &ApiRequest<'_>, timeout: Duration) -> Result<Value, Failure> {
        let mut call = self
            .http
            .request(request.method.clone(), self.endpoint(request))
            .header(AUTHORIZATION, self.token.bearer())
            .timeout(timeout);
        if let Some(key) = request.idempotency_key {
            call = call.header("idempotency-key", key.sent());
        }
        if let Some(body) = &request.body {
            call = call.json(body);
        }
        let response = call.send().await.map_err(|error| Failure::of_sending(error, self.server.as_str()))?;
        self.warn_of_removal(&response);
        if !response.status().is_success() {
            return Err(self.refusal(response).await);
        }
        if let Some(page) = other_content(&response) {
            let error = anyhow!(
                "{} responded with {page} instead of JSON, so it is not Docket, or a sign-in page is before it: check DOCKET_SERVER",
                self.server
            );
            return Err(Failure::last(error));
        }
        let body = body_of(response).await?;
        let body: Value = serde_json::from_slice(&body)
            .map_err(|_| Failure::lost(anyhow!("the response is incomplete, or no JSON")))?;
        // Each change is one of a job or a batch.
        match request.is_change() && !body["id"].is_string() {
            true => Err(Failure {
                retry: Retry::Never,
                ..Failure::lost(anyhow!("the response names no job or batch"))
            }),
            false => Ok(body),
        }
    }

    /// Says once that the server will not have something for ever that this version uses.
    fn warn_of_removal(&self, response: &Response) {
        let headers = response.headers();
        let is_announced = [DEPRECATION, SUNSET].iter().any(|name| headers.contains_key(*name));
        if is_announced && !self.is_removal_known.swap(true, Ordering::Relaxed) {
            let end = headers.get(SUNSET).map(|end| String::from_utf8_lossy(end.as_bytes()));
            let end = end.map(|end| format!(" on {end}")).unwrap_or_default();
            inform(&format!(
                "{} will remove something{end} that this version of the client uses: update the client",
                self.server
            ));
        }
    }

    fn endpoint(&self, request: &ApiRequest<'_>) -> Url {
        let mut url = self.server.clone();
        if let Ok(mut segments) = url.path_segments_mut() {
            segments.pop_if_empty().extend(["api", "v1"]).extend(&request.path);
        }
        if !request.query.is_empty() {
            url.query_pairs_mut().extend_pairs(&request.query);
        }
        url
    }

    /// Why the server refused a request.
    async fn refusal(&self, response: Response) -> Failure {
        let status = response.status();
        let wait = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.parse().ok());
        let wait = wait.map(Duration::from_secs);
        let body = match body_of(response).await {
            Err(failure) if matches!(failure.retry, Retry::Never) => return failure,
            body => body.unwrap_or_default(),
        };
        let Ok(Problem { detail, code }) = serde_json::from_slice(&body) else {
            let error =
                anyhow!("{} responded {status}, not as Docket does: check DOCKET_SERVER", self.server);
            return Failure::of_status(error, status, wait);
        };
        // The next prompt may be possible only in an hour.
        if code == "budget_spent" {
            return Failure::last(anyhow!("{detail} With --queue, Docket sends it then."));
        }
        Failure::of_status(Refusal { detail, code }.into(), status, wait)
    }
}

/// For https, the client trusts the system's authorities and `authorities`. For plain http it uses no proxy, and needs no certificates.
fn http_client(is_https: bool, authorities: &[CertificateDer<'static>]) -> anyhow::Result<Client> {
    // Fails if a cryptography provider is already installed, which is fine.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let client = Client::builder()
        .timeout(TIMEOUT)
        .connect_timeout(TIMEOUT / 2)
        .redirect(Policy::none())
        // The released binary has no HTTP/2; builds for tests do.
        .http1_only()
        .retry(reqwest::retry::never())
        .user_agent(concat!("docket-client/", env!("CARGO_PKG_VERSION")));
    if !is_https {
        return Ok(client.no_proxy().tls_certs_only([]).build()?);
    }
    let authorities = authorities.iter().map(|certificate| Certificate::from_der(certificate));
    client
        .tls_certs_merge(authorities.collect::<Result<Vec<_>, _>>()?)
        .build()
        .context("no certificates to trust: install the system's (ca-certificates), or set DOCKET_CA_FILE")
}

impl Repeated {
    /// The pause before the next attempt, if there is one.
    fn pause(self, wanted: Duration) -> Option<Duration> {
        let left = self.end().saturating_duration_since(Instant::now());
        match self {
            Self::Before(_) => (wanted <= left).then_some(wanted),
            Self::Until(_) => (!left.is_zero()).then(|| wanted.min(left)),
        }
    }

    /// The timeout of the next attempt.
    fn timeout(self) -> Duration {
        match self {
            Self::Before(_) => TIMEOUT,
            Self::Until(end) => TIMEOUT.min(end.saturating_duration_since(Instant::now()) + LAST_ATTEMPT),
        }
    }

    const fn end(self) -> Instant {
        match self {
            Self::Before(end) | Self::Until(end) => end,
        }
    }
}

/// The type of a response that is not JSON.
fn other_content(response: &Response) -> Option<String> {
    let kind = response.headers().get(CONTENT_TYPE).map(|kind| String::from_utf8_lossy(kind.as_bytes()));
    match kind {
        Some(kind) if kind.contains("json") => None,
        Some(kind) => Some(kind.split(';').next().unwrap_or_default().to_owned()),
        None => Some("something".to_owned()),
    }
}

/// The body of a response, up to a limit.
async fn body_of(mut response: Response) -> Result<Vec<u8>, Failure> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|error| {
            Failure::lost(anyhow!(error.without_url()).context("the response was interrupted"))
        })?;
        let Some(chunk) = chunk else { return Ok(body) };
        if body.len() + chunk.len() > BODY_MAX {
            let limit = BODY_MAX / 1024 / 1024;
            let error =
                anyhow!("the response is larger than {limit} MiB: check DOCKET_SERVER, or ask for less");
            return Err(Failure { retry: Retry::Never, ..Failure::lost(error) });
        }
        body.extend_from_slice(&chunk);
    }
}

impl<'a> ApiRequest<'a> {
    pub(super) fn get(path: &[&'a str]) -> Self {
        Self {
            method: Method::GET,
            path: path.to_vec(),
            query: Vec::new(),
            body: None,
            idempotency_key: None,
        }
    }

    pub(super) fn post(path: &[&'a str]) -> Self {
        Self { method: Method::POST, ..Self::get(path) }
    }

    /// With a field of the query string, if it has a value.
    pub(super) fn with(mut self, name: &'a str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    /// With a body, whose effect happens once for each key.
    pub(super) fn with_body(self, body: Value, idempotency_key: &'a IdempotencyKey) -> Self {
        Self { body: Some(body), idempotency_key: Some(idempotency_key), ..self }
    }

    fn is_change(&self) -> bool {
        self.method != Method::GET
    }

    /// What to do if its end is unknown. It is safe: with the same key, nothing is sent twice, and what is cancelled stays cancelled.
    fn how_to_repeat(&self) -> String {
        self.idempotency_key.map_or_else(|| "repeat the command".to_owned(), IdempotencyKey::how_to_repeat)
    }
}

/// Parses a typed result. The error names the job or the batch, which may have been started.
pub(super) fn parsed<T: serde::de::DeserializeOwned>(body: &Value) -> anyhow::Result<T> {
    T::deserialize(body).with_context(|| {
        let of = body["id"].as_str().map(|id| format!(" about {id}")).unwrap_or_default();
        format!("the response{of} is not one of this version of Docket")
    })
}
