//! Outcomes that are recorded again, because the reply to their commit was lost: whatever happened since, they change nothing.

use super::*;
use crate::jobs::unresolved::UnresolvedDelivery;
use model::id::JobId;

/// How a claimed prompt returns to the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Return {
    Requeued,
    UnknownThenRequeued,
    /// A person sends it again.
    UnknownThenSentAgain,
}

const LIMITED: DeliveryOutcome<'_> = DeliveryOutcome::Requeued(ReasonCode::PlatformLimit.with("429"));
const STOPPED: DeliveryOutcome<'_> = DeliveryOutcome::Unknown(ReasonCode::DocketStopped.with("stopped"));
const FAILED: DeliveryOutcome<'_> = DeliveryOutcome::Unknown(ReasonCode::PlatformFailed.with("504"));

impl Return {
    const ALL: [Self; 3] = [Self::Requeued, Self::UnknownThenRequeued, Self::UnknownThenSentAgain];

    const fn outcomes(self) -> &'static [DeliveryOutcome<'static>] {
        match self {
            Self::Requeued => const { &[LIMITED] },
            Self::UnknownThenRequeued => const { &[STOPPED, LIMITED] },
            Self::UnknownThenSentAgain => const { &[FAILED] },
        }
    }
}

/// A prompt, and the outcomes that were recorded with their claims.
struct Prompt<'a> {
    ledger: &'a Ledger,
    message: String,
    recorded: Vec<(Intent, &'static DeliveryOutcome<'static>)>,
}

impl Prompt<'_> {
    /// Everything that is stored about it, but for its text.
    async fn stored(&self) -> (String, i64, i64, i64) {
        let row = sqlx::query(
            "SELECT m.state, m.attempt, j.revision,
                 (SELECT COUNT(*) FROM job_events e WHERE e.job_id = j.id) AS events
             FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.id = $1",
        )
        .bind(&self.message)
        .fetch_one(&self.ledger.store.pool)
        .await
        .unwrap();
        (row.get("state"), row.get("attempt"), row.get("revision"), row.get("events"))
    }

    async fn record(&mut self, claimed: &Intent, outcome: &'static DeliveryOutcome<'static>) {
        self.ledger.store.record_outcome(&work(), claimed, outcome, NOON).await.unwrap();
        self.recorded.push((claimed.clone(), outcome));
    }

    /// Records every outcome again.
    async fn repeat(&self, of: &[Return]) {
        let before = self.stored().await;
        for (claimed, outcome) in &self.recorded {
            self.ledger.store.record_outcome(&work(), claimed, outcome, NOON).await.unwrap();
            assert_eq!(self.stored().await, before, "{of:?}");
        }
    }

    async fn send_again(&self, job: &JobId, attempt: i64) {
        let delivery = UnresolvedDelivery { project: &self.ledger.project, job, position: 0, attempt };
        assert!(self.ledger.store.send_again((&work()).into(), &delivery, "again").await.unwrap().is_some());
    }
}

#[tokio::test]
async fn outcome_recorded_again_changes_nothing() {
    let ledger = Ledger::new().await;
    let mut number = 0;
    for first in Return::ALL {
        for second in Return::ALL {
            for third in Return::ALL {
                number += 1;
                let message = ledger.commit(&format!("prompt-{number}"), "Fix typos").await.unwrap();
                let mut prompt = Prompt { ledger: &ledger, message, recorded: Vec::new() };
                for (round, kind) in [first, second, third].into_iter().enumerate() {
                    let so_far = &[first, second, third][..=round];
                    let claimed = ledger.claim(&prompt.message).await.unwrap();
                    prompt.repeat(so_far).await;
                    for outcome in kind.outcomes() {
                        prompt.record(&claimed, outcome).await;
                        prompt.repeat(so_far).await;
                    }
                    if kind == Return::UnknownThenSentAgain {
                        prompt.send_again(&claimed.job, claimed.attempt).await;
                        prompt.repeat(so_far).await;
                    }
                }
            }
        }
    }
}
