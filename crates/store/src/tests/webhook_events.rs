//! Events of the outbox: a job never starts to need attention without one, whatever happens in which order.

use std::collections::{BTreeMap, BTreeSet};

use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};

use super::*;
use crate::jobs::unresolved::{AcceptedAs, UnresolvedDelivery};
use model::job::{NO_END, NOT_FOUND, Reason};
use model::webhook::EVENTS;

const STATUSES: [&str; 5] = ["active", "completed", "archived", "failed", "paused"];

const REASON: Reason<'_> = ReasonCode::PlatformFailed.with("it says so");

/// A project with a webhook, to whose jobs everything happens in a random order.
struct World {
    ledger: Ledger,
    random: StdRng,
    steps: u32,
    messages: Vec<String>,
    /// Every claim, also of prompts whose outcome is known: a sender may report late.
    claimed: Vec<Intent>,
}

/// Whether each job needs attention, and its number of events.
type Seen = BTreeMap<String, (bool, i64)>;

impl World {
    async fn new(seed: u64) -> Self {
        let ledger = Ledger::new().await;
        let by = Authority::Test(&ledger.author, NOON);
        let url = "https://a.example";
        let all = ChosenEvents::default();
        ledger.store.add_webhook(by, &ledger.project, WebhookKind::Json, url, "s", &all).await.unwrap();
        Self {
            ledger,
            random: StdRng::seed_from_u64(seed),
            steps: 0,
            messages: Vec::new(),
            claimed: Vec::new(),
        }
    }

    /// One of the last ones.
    fn recent<T: Clone>(&mut self, all: &[T]) -> Option<T> {
        all[all.len().saturating_sub(5)..].choose(&mut self.random).cloned()
    }

    fn by(&self) -> Authority<'_> {
        Authority::Test(&self.ledger.author, NOON)
    }

    fn remote(&mut self, job: &JobId) -> RemoteJob {
        let status = STATUSES.choose(&mut self.random).unwrap();
        let pr_link = self.random.random_bool(0.5).then(|| "https://git.example/1".to_owned());
        RemoteJob { pr_link, ..remote(&format!("r-{job}"), status) }
    }

    async fn seen(&self) -> Seen {
        let rows: Vec<(String, i64, i64)> = sqlx::query_as(
            "SELECT l.job_id, l.attention, (SELECT COUNT(*) FROM webhook_deliveries e WHERE e.job_id = l.job_id)
             FROM listed_jobs l",
        )
        .fetch_all(&self.ledger.store.pool)
        .await
        .unwrap();
        rows.into_iter().map(|(job, needs, events)| (job, (needs == 1, events))).collect()
    }

    /// A prompt of a new job, or of one that accepts follow-ups.
    async fn commit(&mut self) {
        let intent = format!("i-{}", self.steps);
        let job = self.recent(&self.claimed.clone()).map(|claimed| claimed.job);
        let new = match job.filter(|_| self.random.random_bool(0.7)) {
            Some(job) => self.ledger.new_follow_up(&job, &intent, "text"),
            None => self.ledger.new_job(&intent, "text"),
        };
        let new = NewIntent { may_queue: self.random.random_bool(0.5), ..new };
        if let Ok(Some(message)) = self.ledger.insert(&new).await {
            self.messages.push(message);
        }
    }

    async fn claim(&mut self) {
        let Some(message) = self.recent(&self.messages.clone()) else { return };
        let limit = ScopeLimit::of("creates", 10_000);
        let claim = self.ledger.store.claim(&work(), &message, &limit, None, NOON).await.unwrap();
        if let Claim::Sending { intent, .. } = claim {
            self.claimed.push(*intent);
        }
    }

    /// A sender reports, perhaps late, or another process assumes that it is dead.
    async fn report(&mut self) {
        let Some(claimed) = self.recent(&self.claimed.clone()) else { return };
        let remote = self.remote(&claimed.job);
        let outcome = match self.random.random_range(0..5) {
            0 => DeliveryOutcome::Rejected(REASON),
            1 => DeliveryOutcome::Requeued(REASON),
            2 => DeliveryOutcome::Unknown(REASON),
            3 => DeliveryOutcome::Unknown(ReasonCode::DocketStopped.with("stopped")),
            _ => DeliveryOutcome::Accepted(&remote, NOON),
        };
        self.ledger.store.record_outcome(&work(), &claimed, &outcome, NOON).await.unwrap();
    }

    async fn poll(&mut self) {
        let mut due = self.ledger.store.due_polls(&self.ledger.projects(), NOON, NOON).await.unwrap();
        if due.is_empty() {
            return;
        }
        let mut due = due.swap_remove(self.random.random_range(0..due.len()));
        let remote = self.remote(&due.job.clone());
        let store = &self.ledger.store;
        if self.random.random_bool(0.2) {
            let status = if self.random.random_bool(0.5) { NO_END } else { NOT_FOUND };
            store.record_lost(&work(), &due, status, "lost", NOON).await.unwrap();
        } else {
            // Docket polls ended jobs no longer, with a few exceptions.
            let next = self.random.random_bool(0.5).then_some(NOON);
            store.record_poll(&work(), &mut due, &remote, next, NOON).await.unwrap();
        }
    }

    /// A person cancels a prompt, or it may not be queued.
    async fn withdraw(&mut self) {
        let Some(message) = self.recent(&self.messages.clone()) else { return };
        let store = &self.ledger.store;
        if self.random.random_bool(0.5) {
            store.reject_unsent(&work(), &message, REASON, NOON).await.unwrap();
        } else {
            let chosen = [message.parse().unwrap()];
            store.cancel(self.by(), &self.ledger.project, &chosen, "cancelled").await.unwrap();
        }
    }

    /// A person decides about an unknown outcome.
    async fn decide(&mut self) {
        let Some(claimed) = self.recent(&self.claimed.clone()) else { return };
        let (project, remote) = (self.ledger.project.clone(), self.remote(&claimed.job));
        let Intent { job, position, attempt, .. } = &claimed;
        let unknown = UnresolvedDelivery { project: &project, job, position: *position, attempt: *attempt };
        let store = &self.ledger.store;
        if self.random.random_bool(0.3) {
            store.send_again(self.by(), &unknown, "again").await.unwrap();
            return;
        }
        let accepted_as = if *position == 0 { AcceptedAs::Job(&remote) } else { AcceptedAs::FollowUp };
        store.mark_accepted(self.by(), &unknown, accepted_as, "arrived", NOON).await.unwrap();
    }

    async fn step(&mut self) {
        self.steps += 1;
        match self.random.random_range(0..10) {
            0 | 1 => self.commit().await,
            2 | 3 => self.claim().await,
            4 | 5 => self.report().await,
            6 | 7 => self.poll().await,
            8 => self.withdraw().await,
            _ => self.decide().await,
        }
    }
}

#[tokio::test]
async fn no_job_starts_to_need_attention_without_an_event() {
    let (mut types, mut starts) = (BTreeSet::new(), 0);
    for seed in 0..4 {
        let mut world = World::new(seed).await;
        let mut before = world.seen().await;
        for step in 0..400 {
            world.step().await;
            let after = world.seen().await;
            for (job, (needs, events)) in &after {
                let (needed, earlier) = before.get(job).copied().unwrap_or_default();
                if *needs && !needed {
                    starts += 1;
                    assert!(*events > earlier, "seed {seed}, step {step}: {job}");
                }
            }
            before = after;
        }
        let rows: Vec<String> = sqlx::query_scalar("SELECT DISTINCT event FROM webhook_deliveries")
            .fetch_all(&world.ledger.store.pool)
            .await
            .unwrap();
        types.extend(rows);
    }
    assert!(starts > 50, "{starts}");
    let expected: BTreeSet<_> =
        EVENTS.into_iter().filter(|event| !event.starts_with("pull_request.")).collect();
    types.insert("webhook.test".to_owned());
    assert!(types.iter().map(String::as_str).eq(expected), "{types:?}");
}
