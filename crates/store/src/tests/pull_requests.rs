//! Two checks of one pull request at the same time: whatever their order, its merge is recorded once, and an older result replaces no newer one.
//! Links get their host when it is connected.

use std::time::Duration;

use super::*;
use crate::pull_requests::{CheckResult, DueCheck, Window};
use model::pull_request::{Checks, PullRequestState, Reported, Review, WaitingFor};

const HOST: &str = "https://git.example";
const LEASE: Duration = Duration::from_secs(120);

impl Ledger {
    async fn claimed(&self, now: Timestamp) -> DueCheck {
        let window = Window { now, ahead: now, latest: now.plus_seconds(86_400), lease: now.after(LEASE) };
        self.store.claim_checks(&work(), &self.projects(), HOST, &window, 10).await.unwrap().remove(0)
    }

    async fn report(&self, due: &DueCheck, state: PullRequestState) {
        let merged_at = Some(NOON).filter(|_| state == PullRequestState::Merged);
        let reported = Reported {
            state,
            review: Some(Review::None),
            reviewers: Vec::new(),
            conflict: false,
            files: None,
            files_total: 0,
            opened_at: Some(NOON),
            merged_at,
            closed_at: merged_at,
        };
        let result = CheckResult::Reported {
            due: due.clone(),
            reported: Box::new(reported),
            checks: Checks::None,
            review: Review::None,
            waiting_for: WaitingFor::Nobody,
            next: Some(NOON.plus_seconds(300)),
        };
        self.store.record_checks(&work(), &[result], Duration::from_secs(86_400), NOON).await.unwrap();
    }

    /// The state, and how often the merge is in the timeline.
    async fn pull_request(&self) -> (String, i64) {
        let state = sqlx::query_scalar("SELECT state FROM pull_requests");
        let merges = sqlx::query_scalar("SELECT COUNT(*) FROM job_events WHERE state LIKE '%merged%'");
        (state.fetch_one(&self.store.pool).await.unwrap(), merges.fetch_one(&self.store.pool).await.unwrap())
    }
}

#[tokio::test]
async fn merge_is_recorded_once_although_checks_overlap() {
    use PullRequestState::{Merged, Open};
    // The results of the first and the second claim, and the order in which they are recorded.
    for (first, second, order) in [
        (Merged, Merged, [0, 1, 0]),
        (Merged, Merged, [1, 0, 1]),
        (Open, Merged, [1, 0, 1]),
        (Open, Merged, [0, 1, 0]),
    ] {
        let ledger = Ledger::new().await;
        let link = format!("{HOST}/acme/docs/pull/1");
        let job = ledger.ended("a", "completed", Some(&link)).await;
        ledger.store.assign_code_hosts(&work(), &[(&job, Some(HOST))]).await.unwrap();
        let known = ledger.claimed(NOON).await;
        ledger.report(&known, Open).await;

        let later = NOON.plus_seconds(600);
        let one = ledger.claimed(later).await;
        let lease = later.plus_seconds(1).after(LEASE);
        let looked = ledger.store.claim_check_of(&work(), &job, later, later, lease).await.unwrap();
        assert!(looked.is_none(), "it is being checked");
        // The first one takes longer than its lease.
        let two = ledger.claimed(later.after(LEASE)).await;
        let claims = [(&one, first), (&two, second)];
        for at in order {
            ledger.report(claims[at].0, claims[at].1).await;
        }
        assert_eq!(ledger.pull_request().await, ("merged".to_owned(), 1), "{first:?}, {second:?}, {order:?}");
    }
}

#[tokio::test]
async fn links_are_assigned_again_when_their_host_is_connected() {
    for (host, link, is_assigned) in [
        (HOST, "https://git.example/acme/docs/pull/1", true),
        (HOST, "https://GIT.example./acme/docs/pull/1", true),
        ("https://git.example.", "https://git.example/acme/docs/pull/1", true),
        (HOST, "https://git.example.org/acme/docs/pull/1", false),
        ("https://git.example/lab", "https://git.example./lab/acme/docs/pull/1", true),
        ("https://git.example/lab", "https://git.example/acme/docs/pull/1", false),
    ] {
        let ledger = Ledger::new().await;
        let job = ledger.ended("a", "completed", Some(link)).await;
        ledger.store.assign_code_hosts(&work(), &[(&job, None)]).await.unwrap();
        assert!(ledger.store.pull_requests_without_host(10).await.unwrap().is_empty());
        ledger.store.reassign_code_host(&work(), host).await.unwrap();
        let without = ledger.store.pull_requests_without_host(10).await.unwrap();
        assert_eq!(without.len(), usize::from(is_assigned), "{host} {link}");
    }
}
