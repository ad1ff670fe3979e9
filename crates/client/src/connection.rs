//! Requests to a Docket server with an API token. A request that fails for a passing reason is repeated; its idempotency key
//! stays the same, so that it has one effect.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, anyhow};
use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, RETRY_AFTER};
use reqwest::redirect::Policy;
use reqwest::{Certificate, Client, Response};
use rustls::pki_types::CertificateDer;
use serde::de::DeserializeOwned;
use serde_json::Value;
use url::Url;

use crate::config::{Config, Token};
use crate::failure::{Effect, Failure, Refusal, Retry, TimeIsOver, UnknownEnd};
use crate::output::inform;
use crate::request::ApiRequest;

/// The timeout of one attempt. The server responds to a prompt when the platform did.
const TIMEOUT: Duration = Duration::from_secs(90);
/// How long a request is repeated. One that reads is repeated until the end of a wait instead, and a change not beyond it.
const REPEATED_FOR: Duration = Duration::from_secs(180);
/// How long the last attempt of a request may take beyond the end of a wait.
const LAST_ATTEMPT: Duration = Duration::from_secs(5);
/// The first pause, which doubles each time, and the longest one.
const PAUSE_MIN: Duration = Duration::from_secs(1);
const PAUSE_MAX: Duration = Duration::from_secs(30);
/// The longest pause of a read, whatever the server names: it may be there again earlier.
const READ_PAUSE_MAX: Duration = Duration::from_secs(60);

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
    /// Whether a request of this run succeeded.
    is_reached: AtomicBool,
}

/// How long a request is repeated.
#[derive(Clone, Copy)]
struct Repeated {
    /// A change has no attempt after `until`; the last pause of a read is shorter, so that it has one then.
    is_change: bool,
    until: Instant,
    /// When the wait is over of which the request is a part. Then its last attempt ends, too.
    wait: Option<Instant>,
}

enum Body {
    Whole(Vec<u8>),
    TooLarge,
}

impl Connection {
    pub(super) fn new(config: Config) -> anyhow::Result<Self> {
        let Config { server, token, authorities } = config;
        let http = http_client(server.scheme() == "https", &authorities)?;
        Ok(Self {
            http,
            server,
            token,
            is_removal_known: AtomicBool::new(false),
            is_reached: AtomicBool::new(false),
        })
    }

    /// The address of a page of the server.
    pub(super) fn address(&self, path: &str) -> String {
        format!("{}{path}", self.server.as_str().trim_end_matches('/'))
    }

    /// The body of a successful response. `until`: when the wait is over of which the request is a part.
    ///
    /// # Errors
    /// [`Misconfigured`] if the request cannot be sent, [`UnknownEnd`] if it is a change that the server may have carried out, [`TimeIsOver`] if a read had no success until the end of the wait.
    pub(super) async fn send(
        &self,
        request: &ApiRequest<'_>,
        until: Option<Instant>,
    ) -> anyhow::Result<Value> {
        request.check()?;
        let failure = match self.repeat(request, Repeated::of(request, until)).await {
            Ok(body) => return Ok(body),
            Err(failure) => failure,
        };
        let end = match (request.is_change(), failure.effect, failure.retry) {
            (true, Effect::Possible, _) => UnknownEnd { how_to_repeat: request.how_to_repeat() }.into(),
            (false, _, Retry::Later(_)) if until.is_some() => TimeIsOver.into(),
            _ => return Err(failure.error),
        };
        inform(&format!("{:#}", failure.error));
        Err(end)
    }

    /// Repeats a request until it succeeds, fails for good, or its time is over.
    async fn repeat(&self, request: &ApiRequest<'_>, repeated: Repeated) -> Result<Value, Failure> {
        let (mut pause, mut effect) = (PAUSE_MIN, Effect::None);
        loop {
            let failure = match self.attempt(request, repeated.timeout()).await {
                Ok(body) => {
                    self.is_reached.store(true, Ordering::Relaxed);
                    return Ok(body);
                }
                Err(failure) => failure,
            };
            let is_reached = !request.is_change() && self.is_reached.load(Ordering::Relaxed);
            let failure = failure.repeatable_if(is_reached);
            effect = effect.after(failure.effect);
            let wait = match failure.retry {
                Retry::Later(named) => repeated.pause(named, pause),
                Retry::Never | Retry::IfReachedBefore => None,
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
        match response.status().is_success() {
            true => self.result(request, response).await,
            false => Err(self.refusal(request, response).await),
        }
    }

    /// What is in a successful response. JSON that answers the request is Docket's, whatever a proxy says about its type.
    async fn result(&self, request: &ApiRequest<'_>, response: Response) -> Result<Value, Failure> {
        let (status, other) = (response.status(), other_content(&response));
        let body = match body_of(response).await? {
            Body::Whole(body) => body,
            Body::TooLarge if other.is_none() => return Err(Failure::settled(too_large(request))),
            Body::TooLarge => Vec::new(),
        };
        let error = match (serde_json::from_slice(&body), other) {
            (Ok(body), _) if request.is_answered_by(&body) => return Ok(body),
            (Err(_), None) => return Err(Failure::lost(anyhow!("the response is incomplete, or no JSON"))),
            (_, Some(page)) => anyhow!(
                "{} responded with {page} instead of JSON, so it is not Docket, or a sign-in page is before it: check DOCKET_SERVER",
                self.server
            ),
            (Ok(_), None) => {
                anyhow!("{} responded with other JSON than Docket: check DOCKET_SERVER", self.server)
            }
        };
        Err(Failure::foreign(error, status, None))
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

    /// Why a request was refused, by Docket or something else.
    async fn refusal(&self, request: &ApiRequest<'_>, response: Response) -> Failure {
        let status = response.status();
        let wait = response.headers().get(RETRY_AFTER).and_then(|wait| wait.to_str().ok()?.parse().ok());
        let wait = wait.map(Duration::from_secs);
        let body = match body_of(response).await {
            Ok(Body::Whole(body)) => body,
            Ok(Body::TooLarge) | Err(_) => Vec::new(),
        };
        match serde_json::from_slice::<Refusal>(&body) {
            Ok(refusal) if request.refuses_the_queue() => {
                Failure::of_refusal(refusal.with_advice(), status, wait)
            }
            Ok(refusal) => Failure::of_refusal(refusal, status, wait),
            Err(_) => {
                let error =
                    anyhow!("{} responded {status}, not as Docket does: check DOCKET_SERVER", self.server);
                Failure::foreign(error, status, wait)
            }
        }
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
    fn of(request: &ApiRequest<'_>, wait: Option<Instant>) -> Self {
        let (is_change, usual) = (request.is_change(), Instant::now() + REPEATED_FOR);
        let until = match wait {
            Some(wait) if is_change => wait.min(usual),
            wait => wait.unwrap_or(usual),
        };
        Self { is_change, until, wait }
    }

    /// The pause before the next attempt, if there is one. `named`: that of the server. `usual`: the shortest one.
    fn pause(self, named: Option<Duration>, usual: Duration) -> Option<Duration> {
        let left = left(self.until);
        let wanted = named.map_or(usual, |named| named.max(usual));
        match self.is_change {
            true => (wanted <= left).then_some(wanted),
            false => (!left.is_zero()).then(|| wanted.min(READ_PAUSE_MAX).min(left)),
        }
    }

    /// The timeout of the next attempt.
    fn timeout(self) -> Duration {
        self.wait.map_or(TIMEOUT, |wait| TIMEOUT.min(left(wait) + LAST_ATTEMPT))
    }
}

fn left(until: Instant) -> Duration {
    until.saturating_duration_since(Instant::now())
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
async fn body_of(mut response: Response) -> Result<Body, Failure> {
    let mut body = Vec::new();
    loop {
        let chunk = response.chunk().await.map_err(|error| {
            Failure::lost(anyhow!(error.without_url()).context("the response was interrupted"))
        })?;
        let Some(chunk) = chunk else { return Ok(Body::Whole(body)) };
        if body.len() + chunk.len() > BODY_MAX {
            return Ok(Body::TooLarge);
        }
        body.extend_from_slice(&chunk);
    }
}

/// The error about a successful response that is not read to its end.
fn too_large(request: &ApiRequest<'_>) -> anyhow::Error {
    let limit = BODY_MAX / 1024 / 1024;
    match request.is_change() {
        true => anyhow!(
            "this is carried out, but the response is larger than {limit} MiB: look at the job in Docket"
        ),
        false => anyhow!("the response is larger than {limit} MiB: look at it in Docket, or ask for less"),
    }
}

/// Parses a typed result. The error names the job or the batch, which may have been started.
pub(super) fn parsed<T: DeserializeOwned>(body: &Value) -> anyhow::Result<T> {
    T::deserialize(body).with_context(|| {
        let of = body["id"].as_str().map(|id| format!(" about {id}")).unwrap_or_default();
        format!("the response{of} is not one of this version of Docket")
    })
}

#[cfg(test)]
mod tests;
