//! Delivers events at least once. Each attempt is claimed first, and the pauses between attempts grow.

use std::time::Duration;

use futures::FutureExt;
use rand::Rng;
use reqwest::header::{HeaderMap, HeaderName, HeaderValue};
use tracing::Instrument;

use super::body::Signed;
use super::{Webhooks, body};
use base::traces;
use base::turns::Turn;
use clients::webhook::address;
use clients::webhook::client::{DEADLINE, WebhookResponse};
use model::id::WebhookId;
use model::time::Timestamp;
use model::webhook::{TEST_EVENT, WebhookKind, WebhookOutcome};
use store::StoreError;
use store::webhooks::events::{DueEvent, WebhookAttempt};

/// The pauses before further attempts, in seconds; after the last attempt an event is given up.
const PAUSES: [u64; 6] = [10, 60, 300, 1_800, 7_200, 21_600];

/// The maximum random extension of a pause, as a fraction of it.
const JITTER: f64 = 0.2;

/// After this time, the result of a claimed attempt is considered lost.
const LEASE: Duration = Duration::from_secs(DEADLINE.as_secs() * 3);

/// The log's message about a result that could not be stored. The event is sent again after its lease.
const NOT_RECORDED: &str = "the result of a webhook delivery could not be recorded";

/// Concurrent deliveries.
const AT_ONCE: usize = 16;

/// The status of a receiver that rejects further events.
const GONE: u16 = 410;

impl Webhooks {
    /// Starts the oldest due event of each webhook to which none is being sent. Returns how many it started. Events of a removed project
    /// wait until it returns.
    pub async fn deliver_due(&self) -> Result<usize, StoreError> {
        let now = self.clock.now();
        let longest = Duration::from_secs(PAUSES[PAUSES.len() - 1]).mul_f64(1.0 + JITTER);
        let projects = self.projects.current();
        let mut due = self.store.due_events(&projects, now, now.after(longest + LEASE)).await?;
        let turns = self.turns.begin(due.iter().map(|due| due.webhook.clone()), AT_ONCE);
        let (mut started, mut refused) = (0, None);
        for turn in turns {
            let Some(at) = due.iter().position(|due| due.webhook == *turn.receiver()) else { continue };
            let due = due.swap_remove(at);
            match self.store.claim_event(&self.work, &due, leased(now), now).await {
                Ok(true) => {
                    self.start(due, turn, now);
                    started += 1;
                }
                Ok(false) => {}
                // The others can be claimed.
                Err(error) if error.is_of_statement() => refused = Some(error),
                Err(error) => return Err(error),
            }
        }
        refused.map_or(Ok(started), Err)
    }

    /// Sends a claimed event in a task of its own.
    fn start(&self, due: DueEvent, turn: Turn<WebhookId>, now: Timestamp) {
        let webhooks = self.clone();
        let delivery = async move {
            let attempt = webhooks.attempt_claimed(&due, now);
            match attempt.instrument(traces::work("deliver webhook event", None, None)).await {
                Ok(()) => webhooks.tasks.failures().ended(NOT_RECORDED),
                Err(error) => webhooks.tasks.failures().failed(NOT_RECORDED, error),
            }
            drop(turn);
            webhooks.delivered.notify_one();
        };
        self.deliveries.spawn(delivery.boxed());
    }

    /// Tries one pending event now, whether it is due or not.
    pub(super) async fn deliver_now(&self, id: &WebhookId) -> anyhow::Result<()> {
        if let Some(due) = self.store.waiting_event(id).await? {
            let now = self.clock.now();
            if self.store.claim_event(&self.work, &due, leased(now), now).await? {
                let attempt = self.attempt_claimed(&due, now);
                attempt.instrument(traces::work("deliver webhook event", None, None)).await?;
            }
        }
        Ok(())
    }

    async fn attempt_claimed(&self, due: &DueEvent, now: Timestamp) -> Result<(), StoreError> {
        let response = self.send(due, now).await;
        let delivered = response.status.is_some_and(|status| (200..300).contains(&status));
        if !delivered {
            let shown = address::shown(&due.address, due.kind);
            tracing::warn!(
                event = %due.id, webhook = %due.webhook, address = shown, status = response.status, reason = response.note.as_deref().filter(|_| response.status.is_none()),
                "not delivered"
            );
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
        self.store.record_attempt(&self.work, due, &attempt).await
    }

    async fn send(&self, due: &DueEvent, now: Timestamp) -> WebhookResponse {
        // The rules may be stricter now than when the webhook was added.
        let url = match address::parse(&due.address, self.allowed) {
            Ok(url) => url,
            Err(problem) => return WebhookResponse { status: None, note: Some(problem.to_string()) },
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

/// The secrets that sign at `now`, the newest first.
fn secrets(due: &DueEvent, now: Timestamp) -> impl Iterator<Item = &str> {
    let old = due.old_secret.as_ref().filter(|(_, until)| now < *until);
    [due.secret.as_str()].into_iter().chain(old.map(|(secret, _)| secret.as_str()))
}

/// The headers of Docket's JSON; other formats have none. Those of Standard Webhooks have a signature of each secret. `Docket-Signature` is older, and
/// receivers compare it as a whole: it has that of the newest secret only.
fn headers(due: &DueEvent, now: Timestamp, body: &str) -> HeaderMap {
    let mut headers = HeaderMap::new();
    if due.kind == WebhookKind::Json {
        let (id, timestamp) = (due.id.to_string(), now.as_millis().div_euclid(1000));
        let signed = Signed { id: &id, timestamp, body };
        for (name, value) in [
            ("docket-event", due.event.clone()),
            ("docket-delivery", id.clone()),
            ("docket-timestamp", timestamp.to_string()),
            ("docket-signature", signed.signature(&due.secret)),
            ("webhook-id", id.clone()),
            ("webhook-timestamp", timestamp.to_string()),
            ("webhook-signature", signed.standard_signatures(secrets(due, now))),
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
