//! The HTTP client for the upstream's four operations: one deadline for a whole exchange with its retries, no
//! redirects, a body size limit. Only this module writes the `Authorization` header. Every call requires a [`Permit`],
//! and a request that may have been accepted is never resent.

use std::path::PathBuf;
use std::sync::Arc;
use std::time::{Duration, Instant, UNIX_EPOCH};

use parking_lot::Mutex;
use reqwest::header::{ACCEPT, AUTHORIZATION, DATE, HeaderMap, HeaderValue, RETRY_AFTER};
use reqwest::{Method, Request, RequestBuilder, StatusCode};
use serde_json::json;
use tracing::{Instrument, Span};
use url::Url;

use super::governor::{Governor, Permit};
use super::health::Exchange;
use super::page_views::PageViewsQuery;
use super::retry::{self, Retries};
use super::{UpstreamError, body, connection, decode};
use crate::current_key::CurrentKey;
use base::clock::Clock;
use base::config::{ApiKey, UpstreamConfig};
use base::instruments::{Instruments, UpstreamOutcome, operation_label};
use base::traces;
use model::id::ProjectId;
use model::job::RemoteJob;
use model::name::is_plain_letter;

/// A handle on the upstream; clones share its connections.
#[derive(Clone)]
pub struct Upstream {
    http: reqwest::Client,
    base_url: Arc<Url>,
    key: CurrentKey,
    /// The deadline of a whole exchange.
    deadline: Duration,
    governor: Governor,
    clock: Clock,
    retries: Retries,
    instruments: Instruments,
    /// Whether requests carry their trace.
    pass_trace: bool,
    /// How many seconds this machine's clock was ahead of the upstream's at the last response.
    clock_ahead: Arc<Mutex<Option<i64>>>,
}

impl Upstream {
    pub fn new(
        config: &UpstreamConfig,
        governor: Governor,
        clock: Clock,
        instruments: Instruments,
    ) -> anyhow::Result<Self> {
        Ok(Self {
            http: connection::client(config)?,
            base_url: Arc::new(config.base_url.clone()),
            key: CurrentKey::of_admin(config.api_key.clone(), config.api_key_file.clone()),
            deadline: config.timeout,
            governor,
            clock,
            retries: Retries::default(),
            instruments,
            pass_trace: config.pass_trace,
            clock_ahead: Arc::default(),
        })
    }

    /// Uses `key` from now on, and watches `file` for later keys.
    pub fn use_key(&self, key: ApiKey, file: Option<PathBuf>) {
        self.key.replace(key, file);
    }

    /// How many seconds this machine's clock is ahead of the upstream's, by its last response; `None` if that had no
    /// date.
    pub fn clock_ahead_seconds(&self) -> Option<i64> {
        *self.clock_ahead.lock()
    }

    fn compare_clocks(&self, headers: &HeaderMap) {
        let date = headers.get(DATE).and_then(|date| httpdate::parse_http_date(date.to_str().ok()?).ok());
        let Some(since) = date.and_then(|date| date.duration_since(UNIX_EPOCH).ok()) else { return };
        let theirs = i64::try_from(since.as_secs()).unwrap_or(i64::MAX);
        let ahead = (self.clock.now().as_millis() / 1_000).saturating_sub(theirs);
        *self.clock_ahead.lock() = Some(ahead);
    }

    pub async fn create(
        &self,
        permit: Permit,
        project: &ProjectId,
        prompt: &str,
    ) -> Result<RemoteJob, UpstreamError> {
        let url = self.url(&["v2", "agent", project.as_str(), "job"]);
        let request = self.http.request(Method::POST, url).json(&json!({ "prompt": prompt }));
        self.exchange(permit, project, request, |response_body| self.job_in(response_body)).await
    }

    /// Sends a follow-up to the upstream's job `remote_id`.
    pub async fn follow_up(
        &self,
        permit: Permit,
        project: &ProjectId,
        remote_id: &str,
        prompt: &str,
    ) -> Result<RemoteJob, UpstreamError> {
        let url = self.url(&["v2", "agent", project.as_str(), "job", remote_id, "message"]);
        let request = self.http.request(Method::POST, url).json(&json!({ "prompt": prompt }));
        self.exchange(permit, project, request, |response_body| self.job_in(response_body)).await
    }

    /// Fetches a job. There is no published limit: the poller bounds the rate.
    pub async fn job(
        &self,
        permit: Permit,
        project: &ProjectId,
        remote_id: &str,
    ) -> Result<RemoteJob, UpstreamError> {
        let url = self.url(&["v2", "agent", project.as_str(), "job", remote_id]);
        let request = self.http.request(Method::GET, url);
        self.exchange(permit, project, request, |response_body| self.job_in(response_body)).await
    }

    pub async fn page_views(
        &self,
        permit: Permit,
        query: &PageViewsQuery,
    ) -> Result<decode::PageViewsResponse, UpstreamError> {
        let mut url = self.url(&["v1", "analytics", query.project.as_str(), "views"]);
        if let Some(range) = query.range {
            url.query_pairs_mut()
                .append_pair("dateFrom", &range.from().to_string())
                .append_pair("dateTo", &range.to().plus_days(1).to_string());
        }
        url.query_pairs_mut()
            .append_pair("limit", &query.limit.get().to_string())
            .append_pair("offset", &query.offset.to_string());
        let request = self.http.request(Method::GET, url);
        let mut response = self.exchange(permit, &query.project, request, decode::page_views).await?;
        for row in &mut response.views {
            row.path = self.key.mask(&row.path);
        }
        Ok(response)
    }

    /// Decodes the body of a 2xx response with `read`.
    async fn exchange<T>(
        &self,
        mut permit: Permit,
        project: &ProjectId,
        request: RequestBuilder,
        read: impl Fn(&[u8]) -> Result<T, UpstreamError>,
    ) -> Result<T, UpstreamError> {
        let begun = Instant::now();
        let span = traces::exchange(operation_label(permit.operation()));
        let tries = self.tries(&mut permit, request).instrument(span.clone());
        let result = tries.await.and_then(|response_body| read(&response_body));
        if matches!(result, Err(UpstreamError::NotConnected(_))) {
            self.governor.uncount(&permit).await;
        }
        let exchange = Exchange::of(&result, permit.was_refused());
        self.governor.health().note(permit.operation(), project, exchange).await;
        let outcome = result.as_ref().err().map_or(UpstreamOutcome::Answered, UpstreamError::outcome);
        self.instruments.upstream_exchange(permit.operation(), outcome, begun.elapsed());
        traces::exchanged(&span, outcome.into(), result.is_err());
        result
    }

    async fn tries(&self, permit: &mut Permit, request: RequestBuilder) -> Result<Vec<u8>, UpstreamError> {
        let deadline = Instant::now() + self.deadline;
        self.retries.count(Instant::now());
        let mut tries = 0;
        loop {
            let Some(request) = request.try_clone() else {
                return Err(UpstreamError::NotConnected("the request cannot be sent".to_owned()));
            };
            let outcome = self.one_try(request, tries, deadline).await;
            tries += 1;
            let Err(error) = &outcome else { return outcome };
            if let UpstreamError::LimitReached { pause, .. } = error {
                self.governor.pause(permit, *pause).await;
            }
            let now = Instant::now();
            // A later try would have too little time to distinguish a failed connection from a missing response.
            let latest = deadline - self.deadline / 2;
            let Some(pause) = self.retries.pause(permit.operation(), error, tries, now, latest) else {
                return outcome;
            };
            tokio::time::sleep(pause).await;
            let never_sent = matches!(error, UpstreamError::NotConnected(_));
            if !never_sent && !self.governor.renew(permit).await {
                return outcome;
            }
        }
    }

    /// One try, after `tries` earlier ones.
    async fn one_try(
        &self,
        request: RequestBuilder,
        tries: u32,
        deadline: Instant,
    ) -> Result<Vec<u8>, UpstreamError> {
        let left = deadline.saturating_duration_since(Instant::now());
        let request = request.timeout(left).header(ACCEPT, "application/json");
        let request = request.header(AUTHORIZATION, self.authorization().await?);
        let request = request.build().map_err(no_response)?;
        let span = traces::attempt(&request, tries);
        self.body_of_success(request, &span).instrument(span.clone()).await
    }

    async fn body_of_success(&self, mut request: Request, span: &Span) -> Result<Vec<u8>, UpstreamError> {
        if let Some(traceparent) = traces::traceparent(span).filter(|_| self.pass_trace) {
            request.headers_mut().insert(traces::TRACEPARENT, traceparent);
        }
        let response = self.http.execute(request).await.map_err(no_response)?;
        self.compare_clocks(response.headers());
        let status = response.status();
        traces::attempted(span, status.as_u16());
        if status == StatusCode::TOO_MANY_REQUESTS {
            let pause = retry::after(response.headers().get(RETRY_AFTER), self.clock.now());
            let words = self.quoted(&body::explanation(response).await);
            return Err(UpstreamError::LimitReached { pause, words });
        }
        if status == StatusCode::PAYMENT_REQUIRED {
            let words = self.quoted(&body::explanation(response).await);
            return Err(UpstreamError::NoCredits { status: status.as_u16(), words });
        }
        // A proxy may send 408 although the platform has the request.
        if status.is_client_error() && status != StatusCode::REQUEST_TIMEOUT {
            let words = self.quoted(&body::explanation(response).await);
            return Err(UpstreamError::Refused { status: status.as_u16(), words });
        }
        if !status.is_success() {
            let explanation = body::explanation(response).await;
            let (status, words) = (status.as_u16(), self.quoted(&explanation));
            return Err(match status {
                503 if says_no_credits(&explanation) => UpstreamError::NoCredits { status, words },
                _ => UpstreamError::Status { status, words },
            });
        }
        body::read(response).await
    }

    /// The job in a response, with the key masked in case the upstream repeats it. Id and status decide what Docket does, so they are never changed:
    /// a job with the key in one of them is refused.
    fn job_in(&self, response_body: &[u8]) -> Result<RemoteJob, UpstreamError> {
        let job = decode::job(response_body)?;
        if self.key.is_in(&job.id) || self.key.is_in(&job.status) {
            return Err(UpstreamError::BadAnswer("a job whose id or status contains the key".to_owned()));
        }
        let mask = |text: String| self.key.mask(&text);
        let is_truncated = job.status.chars().count() >= decode::TEXT_MAX_CHARS;
        Ok(RemoteJob {
            id: job.id,
            // A truncated one may end with a part of the key.
            status: if is_truncated { mask(job.status) } else { job.status },
            model: job.model.map(mask),
            repository: job.repository.map(mask),
            git_ref: job.git_ref.map(mask),
            pr_link: job.pr_link.map(mask),
            pr_link_is_earlier: false,
            created_at: job.created_at,
            archived_at: job.archived_at,
            error: job.error.map(mask),
        })
    }

    async fn authorization(&self) -> Result<HeaderValue, UpstreamError> {
        let mut value = HeaderValue::from_str(&self.key.bearer().await)
            .map_err(|_| UpstreamError::NotConnected("the key cannot be sent in a header".to_owned()))?;
        value.set_sensitive(true);
        Ok(value)
    }

    /// A colon and the platform's own words, or nothing.
    fn quoted(&self, body: &[u8]) -> String {
        self.words(body).map(|words| format!(": “{words}”")).unwrap_or_default()
    }

    /// The platform's own words in the body of an error, on one line of limited length, in which no character changes the direction of other text.
    fn words(&self, body: &[u8]) -> Option<String> {
        // Before the key is masked: without such a character between its letters, a text can become the key.
        let plain: String = decode::error_message(body)?.chars().filter(|c| is_plain_letter(*c)).collect();
        let words: String = self.key.mask(&plain).chars().take(300).collect();
        (!words.trim().is_empty()).then_some(words)
    }

    fn url(&self, segments: &[&str]) -> Url {
        below(&self.base_url, segments)
    }
}

/// Whether the body of an error says that the platform could not check the AI credits, which it does before it starts anything.
fn says_no_credits(body: &[u8]) -> bool {
    decode::error_message(body)
        .is_some_and(|message| message.trim().eq_ignore_ascii_case("credit check failed"))
}

/// The base URL with path segments appended, each percent-encoded.
pub fn below(base_url: &Url, segments: &[&str]) -> Url {
    let mut url = base_url.clone();
    if let Ok(mut path) = url.path_segments_mut() {
        path.pop_if_empty().extend(segments);
    }
    url
}

fn no_response(error: reqwest::Error) -> UpstreamError {
    if error.is_connect() || error.is_builder() {
        UpstreamError::NotConnected(if error.is_timeout() {
            "timed out".to_owned()
        } else {
            connection::cause(&error)
        })
    } else if error.is_timeout() {
        UpstreamError::TimedOut
    } else {
        UpstreamError::BrokenOff
    }
}
