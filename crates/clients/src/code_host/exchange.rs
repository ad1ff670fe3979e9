//! One request to a code host: a deadline, a limited response, and redirects only within the same host. The token is in the `Authorization` header
//! only.

use std::sync::Arc;
use std::sync::atomic::{AtomicI64, Ordering};
use std::time::Duration;

use reqwest::header::{AUTHORIZATION, CONTENT_TYPE, DATE, HeaderMap, HeaderValue, LOCATION, RETRY_AFTER};
use reqwest::{Client, Method, Request, Response, StatusCode};
use rustls::pki_types::CertificateDer;
use thiserror::Error;
use url::Url;

use super::rate_limit::{self, RateLimit, bounded};
use base::clock::Clock;
use base::http_client;
use model::pull_request::CheckFailure;
use model::time::Timestamp;

/// The deadline of one exchange. GitHub itself ends a query after ten seconds.
const DEADLINE: Duration = Duration::from_secs(20);
/// The maximum size of a body after decompression, in bytes: that of a full batch is below one megabyte.
const MAX_BYTES: usize = 8 * 1024 * 1024;
/// A renamed repository redirects once.
const REDIRECTS_MAX: usize = 2;

/// Why a code host reported nothing.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum HostError {
    #[error("it could not be reached: {0}")]
    Unreachable(&'static str),
    /// It was reached, but did not send a whole response. One request that is too heavy for the host ends so, too.
    #[error("it did not respond: {0}")]
    Interrupted(&'static str),
    #[error("it refused the token (401)")]
    Unauthorized,
    #[error("the token lacks a permission (403)")]
    Forbidden,
    /// Nothing remains of the limit of this token, for this time.
    #[error("its limit is reached for {} seconds", .0.as_secs())]
    LimitReached(Duration),
    /// The host requests a pause for another reason, such as too many requests at once.
    #[error("it requests a pause of {} seconds", .0.as_secs())]
    SecondaryLimit(Duration),
    /// Nothing remains of the limit of the GitHub App at one owner, or only the part that is left to others.
    #[error("the limit of the App at this owner is reached for {} seconds", .0.as_secs())]
    OwnerLimit(Duration),
    #[error("there is nothing at this address ({0})")]
    Missing(u16),
    #[error("it failed ({0})")]
    Failed(u16),
    #[error("its response could not be used: {0}")]
    BadResponse(&'static str),
    #[error("the connection to it is not set up correctly: {0}")]
    Credentials(String),
    /// The GitHub App gets no token for the repositories of one owner. `is_refused`: GitHub refuses it, for example because the App is
    /// suspended there.
    #[error("the App has no access to this owner: {reason}")]
    Installation { reason: String, is_refused: bool },
}

impl HostError {
    /// Whether it concerns every request to the host, and not only the one that failed.
    pub(super) const fn is_of_host(&self) -> bool {
        matches!(
            self,
            Self::Unreachable(_)
                | Self::Unauthorized
                | Self::LimitReached(_)
                | Self::SecondaryLimit(_)
                | Self::Credentials(_)
        )
    }

    /// Whether it concerns every repository of one owner, and nothing else.
    pub(super) const fn is_of_owner(&self) -> bool {
        matches!(self, Self::Installation { .. } | Self::OwnerLimit(_))
    }

    /// Whether the host, or part of it, refuses these credentials.
    pub(super) const fn is_refusal(&self) -> bool {
        matches!(
            self,
            Self::Unauthorized
                | Self::Forbidden
                | Self::Credentials(_)
                | Self::Installation { is_refused: true, .. }
        )
    }

    /// What it means for the pull request that was requested.
    pub(super) const fn failure(&self) -> CheckFailure {
        match self {
            Self::Missing(_) | Self::Forbidden | Self::Installation { is_refused: true, .. } => {
                CheckFailure::Missing
            }
            _ => CheckFailure::Unusable,
        }
    }
}

/// The HTTP client of one code host. Clones share its connections.
#[derive(Clone)]
pub(super) struct Exchanges {
    http: Client,
    clock: Clock,
    /// How many seconds this machine's clock was ahead of the host's at the last response.
    ahead: Arc<AtomicI64>,
}

/// A successful response.
pub(super) struct Success {
    pub(super) body: Vec<u8>,
    pub(super) limit: Option<RateLimit>,
}

impl Exchanges {
    pub(super) fn new(
        is_https: bool,
        authorities: &[CertificateDer<'static>],
        clock: Clock,
    ) -> anyhow::Result<Self> {
        Self::with_deadline(DEADLINE, is_https, authorities, clock)
    }

    pub(super) fn with_deadline(
        deadline: Duration,
        is_https: bool,
        authorities: &[CertificateDer<'static>],
        clock: Clock,
    ) -> anyhow::Result<Self> {
        let http = http_client::build(http_client::builder(deadline), is_https, authorities)?;
        Ok(Self { http, clock, ahead: Arc::default() })
    }

    /// The time of this machine.
    pub(super) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// The time by the host's clock, which may differ from this machine's.
    pub(super) fn host_time(&self) -> Timestamp {
        self.clock.now().plus_seconds(-self.seconds_ahead())
    }

    /// How many seconds this machine's clock is ahead of the host's; 0 before the first response.
    pub(super) fn seconds_ahead(&self) -> i64 {
        self.ahead.load(Ordering::Relaxed)
    }

    pub(super) async fn get(&self, url: Url, authorization: &HeaderValue) -> Result<Success, HostError> {
        self.send(Request::new(Method::GET, url), authorization).await
    }

    /// Posts JSON.
    pub(super) async fn post(
        &self,
        url: Url,
        authorization: &HeaderValue,
        json: &serde_json::Value,
    ) -> Result<Success, HostError> {
        let mut request = Request::new(Method::POST, url);
        request.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
        *request.body_mut() = Some(json.to_string().into());
        self.send(request, authorization).await
    }

    async fn send(&self, mut request: Request, authorization: &HeaderValue) -> Result<Success, HostError> {
        request.headers_mut().insert(AUTHORIZATION, authorization.clone());
        let mut redirects = 0;
        loop {
            let next = request.try_clone();
            let here = request.url().clone();
            let response = self.http.execute(request).await.map_err(|error| failed(&error))?;
            let Some(target) = redirect(&response, &here) else {
                return self.decode_response(response).await;
            };
            redirects += 1;
            // The token must not reach another host.
            if redirects > REDIRECTS_MAX || target.origin() != here.origin() {
                return Err(HostError::Missing(response.status().as_u16()));
            }
            let Some(mut next) = next else { return Err(HostError::Missing(response.status().as_u16())) };
            *next.url_mut() = target;
            request = next;
        }
    }

    async fn decode_response(&self, response: Response) -> Result<Success, HostError> {
        let (status, headers) = (response.status(), response.headers().clone());
        if let Some(date) = date(&headers) {
            let ahead = (self.clock.now().as_millis() - date.as_millis()) / 1_000;
            self.ahead.store(ahead, Ordering::Relaxed);
        }
        let limit = RateLimit::of(&headers, self.host_time());
        if status.is_success() {
            let body = body(response).await?;
            return Ok(Success { body, limit });
        }
        let requested = headers.get(RETRY_AFTER).and_then(|value| value.to_str().ok());
        let requested = requested.and_then(|text| rate_limit::until(text, self.host_time()));
        let exhausted = limit.as_ref().filter(|limit| limit.remaining == 0).map(|limit| limit.resets_in);
        let reached = match exhausted {
            Some(_) => HostError::LimitReached(bounded(requested.or(exhausted))),
            None => HostError::SecondaryLimit(bounded(requested)),
        };
        Err(match status {
            StatusCode::UNAUTHORIZED => HostError::Unauthorized,
            // GitHub reports its limits with 403 too: those of an hour by the headers, secondary ones by `Retry-After`, or in the text only.
            StatusCode::TOO_MANY_REQUESTS => reached,
            StatusCode::FORBIDDEN => match requested.or(exhausted) {
                Some(_) => reached,
                None if is_secondary_limit(response).await => reached,
                None => HostError::Forbidden,
            },
            StatusCode::NOT_FOUND | StatusCode::GONE | StatusCode::UNAVAILABLE_FOR_LEGAL_REASONS => {
                HostError::Missing(status.as_u16())
            }
            status => HostError::Failed(status.as_u16()),
        })
    }
}

/// The `Authorization` header with a token.
pub(super) fn bearer(token: &str) -> Result<HeaderValue, HostError> {
    authorization(&["Bearer ", token].concat())
}

/// An `Authorization` header, which no log shows.
pub(super) fn authorization(value: &str) -> Result<HeaderValue, HostError> {
    let mut value = HeaderValue::from_str(value)
        .map_err(|_| HostError::Credentials("the token is not valid in a header".to_owned()))?;
    value.set_sensitive(true);
    Ok(value)
}

/// The target of a redirect.
fn redirect(response: &Response, from: &Url) -> Option<Url> {
    let is_redirect = matches!(response.status().as_u16(), 301 | 302 | 307 | 308);
    let target = response.headers().get(LOCATION).filter(|_| is_redirect)?.to_str().ok()?;
    from.join(target).ok()
}

/// The host's clock. Its times are compared with this, because the two clocks may differ.
fn date(headers: &HeaderMap) -> Option<Timestamp> {
    rate_limit::http_date(headers.get(DATE)?.to_str().ok()?)
}

async fn is_secondary_limit(response: Response) -> bool {
    let text = body(response).await.unwrap_or_default();
    String::from_utf8_lossy(&text).to_lowercase().contains("rate limit")
}

async fn body(mut response: Response) -> Result<Vec<u8>, HostError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        if body.len() + chunk.len() > MAX_BYTES {
            return Err(HostError::BadResponse("it is too large"));
        }
        body.extend_from_slice(&chunk);
    }
    Ok(body)
}

/// The libraries' messages would repeat the URL.
fn failed(error: &reqwest::Error) -> HostError {
    if error.is_connect() {
        HostError::Unreachable("no connection")
    } else if error.is_timeout() {
        HostError::Interrupted("no response in time")
    } else {
        HostError::Interrupted("the connection ended")
    }
}
