//! Delivers events at least once. Each attempt is claimed first, and the pauses between attempts grow.

use std::time::Duration;

use futures::StreamExt;
use rand::Rng;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tracing::Instrument;

use super::client::{DEADLINE, WebhookResponse};
use super::{Webhooks, address, body};
use crate::model::id::WebhookId;
use crate::model::time::Timestamp;
use crate::model::webhook::{TEST_EVENT, WebhookKind, WebhookOutcome};
use crate::server::store::webhooks::events::{DueEvent, WebhookAttempt};
use crate::server::telemetry::traces;

/// The pauses before further attempts, in seconds; after the last attempt an event is given up.
const PAUSES: [u64; 6] = [10, 60, 300, 1_800, 7_200, 21_600];

/// The maximum random extension of a pause, as a fraction of it.
const JITTER: f64 = 0.2;

/// After this time, the result of a claimed attempt is considered lost.
const LEASE: Duration = Duration::from_secs(DEADLINE.as_secs() * 3);

/// Concurrent deliveries.
const AT_ONCE: usize = 16;

/// The status of a receiver that rejects further events.
const GONE: u16 = 410;

impl Webhooks {
    /// Tries the oldest due event of each webhook. Returns the number of attempts.
    pub async fn deliver_due(&self) -> anyhow::Result<usize> {
        let now = self.clock.now();
        let longest = Duration::from_secs(PAUSES[PAUSES.len() - 1]).mul_f64(1.0 + JITTER);
        let due = self.store.due_events(now, now.after(longest + LEASE)).await?;
        let tries = futures::stream::iter(due)
            .map(|due| async move {
                let attempt = self.attempt_event(&due).await;
                attempt.inspect_err(|error| {
                    tracing::error!(event = %due.id, error = format!("{error:#}"), "a webhook delivery failed");
                })
            })
            .buffer_unordered(AT_ONCE)
            .filter(|attempt| std::future::ready(matches!(attempt, Ok(true))))
            .count()
            .await;
        Ok(tries)
    }

    /// Tries one pending event now, whether it is due or not.
    pub(super) async fn deliver_now(&self, id: &WebhookId) -> anyhow::Result<()> {
        if let Some(due) = self.store.waiting_event(id).await? {
            self.attempt_event(&due).await?;
        }
        Ok(())
    }

    async fn attempt_event(&self, due: &DueEvent) -> anyhow::Result<bool> {
        let now = self.clock.now();
        if !self.store.claim_event(&self.work, due, leased(now), now).await? {
            return Ok(false);
        }
        self.attempt_claimed(due, now).instrument(traces::work("deliver webhook event", None, None)).await
    }

    async fn attempt_claimed(&self, due: &DueEvent, now: Timestamp) -> anyhow::Result<bool> {
        let response = self.send(due, now).await;
        let delivered = response.status.is_some_and(|status| (200..300).contains(&status));
        if !delivered {
            let shown = address::shown(&due.address, due.kind);
            tracing::warn!(event = %due.id, webhook = %due.webhook, address = shown, status = response.status, "not delivered");
        }
        let pause = match (delivered, response.status, due.event.as_str()) {
            (true, ..) | (_, Some(GONE), _) | (_, _, TEST_EVENT) => None,
            _ => usize::try_from(due.attempts).ok().and_then(|tries| PAUSES.get(tries)),
        };
        let next_try_at = pause.map(|seconds| {
            let pause = Duration::from_secs(*seconds);
            self.clock.now().after(pause.mul_f64(1.0 + rand::rng().random_range(0.0..=JITTER)))
        });
        let outcome = match (delivered, next_try_at) {
            (true, _) => WebhookOutcome::Delivered,
            (false, Some(_)) => WebhookOutcome::Waiting,
            (false, None) => WebhookOutcome::GivenUp,
        };
        self.instruments.webhook_attempt(outcome);
        let attempt = WebhookAttempt { outcome, status: response.status, note: response.note, next_try_at };
        self.store.record_attempt(&self.work, due, &attempt).await?;
        Ok(true)
    }

    async fn send(&self, due: &DueEvent, now: Timestamp) -> WebhookResponse {
        // The rules may be stricter now than when the webhook was added.
        let url = match address::parse(&due.address, self.allowed) {
            Ok(url) => url,
            Err(problem) => return WebhookResponse { status: None, note: Some(problem) },
        };
        let path = url.path().to_owned();
        let body = body::body(due, &self.public_url);
        let mut response = self.client.post(url, headers(due, now, &body), body).await;
        if due.kind == WebhookKind::Slack && path.len() > 1 {
            // The receiver may repeat the path, which is a secret.
            response.note = response.note.map(|note| note.replace(&path, "/…"));
        }
        response
    }
}

/// The headers of Docket's JSON; other formats have none.
fn headers(due: &DueEvent, now: Timestamp, body: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if due.kind == WebhookKind::Json {
        let seconds = now.as_millis().div_euclid(1000);
        for (name, value) in [
            ("docket-event", due.event.clone()),
            ("docket-delivery", due.id.to_string()),
            ("docket-timestamp", seconds.to_string()),
            ("docket-signature", body::signature(&due.secret, seconds, body)),
        ] {
            if let Ok(value) = HeaderValue::from_str(&value) {
                headers.insert(HeaderName::from_static(name), value);
            }
        }
    }
    headers
}

/// When a claim made now ends.
pub(super) fn leased(now: Timestamp) -> Timestamp {
    now.after(LEASE)
}
