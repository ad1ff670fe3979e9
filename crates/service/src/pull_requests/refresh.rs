//! Fetches pull requests: those that are due, and one whose page is opened.

use std::collections::{HashSet, VecDeque};
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::Mutex;
use tokio_util::sync::CancellationToken;

use super::{CodeHosts, schedule};
use base::turns::Turn;
use clients::code_host::{Batch, Connection, Fetched, PullRequestLink, Wanted, verdict};
use model::id::JobId;
use model::pull_request::{CheckFailure, Checks};
use model::time::Timestamp;
use model::upstream::PauseReason;
use store::StoreError;
use store::pull_requests::{CheckResult, DueCheck, Window};

/// If the result of a check is never recorded, the pull request is due again after this time. Longer than [`schedule::AHEAD`], so that a claimed one
/// is not checked ahead of time by another process.
const LEASE: Duration = Duration::from_secs(600);
/// How old the state may be when the page of a job is opened, in seconds.
const FRESH_SECONDS: i64 = 60;
/// How many pull requests get their code host in one step.
const NEW: usize = 200;
/// The log's message about results that could not be stored. The pull requests are due again after their lease.
const NOT_RECORDED: &str = "the results of checks of pull requests could not be recorded";

/// How many pull requests are fetched per minute because somebody opened their pages: the limit of the code host is for everybody.
const OPENED_PER_MINUTE: usize = 30;

/// The pull requests that are fetched because somebody opened their pages. Clones share them.
#[derive(Clone, Default)]
pub(super) struct Opened(Arc<Mutex<OpenedPages>>);

#[derive(Default)]
struct OpenedPages {
    /// Being fetched.
    jobs: HashSet<JobId>,
    /// When the last ones were fetched, by the monotonic clock.
    last_minute: VecDeque<Duration>,
}

impl Opened {
    /// Whether the caller may fetch the pull request of this job; then it must call [`Self::end`].
    fn begin(&self, job: &JobId, now: Duration) -> bool {
        let mut pages = self.0.lock();
        while pages.last_minute.front().is_some_and(|at| now.saturating_sub(*at) >= MINUTE) {
            pages.last_minute.pop_front();
        }
        let may = pages.last_minute.len() < OPENED_PER_MINUTE && pages.jobs.insert(job.clone());
        if may {
            pages.last_minute.push_back(now);
        }
        may
    }

    fn end(&self, job: &JobId) {
        self.0.lock().jobs.remove(job);
    }
}

const MINUTE: Duration = Duration::from_secs(60);

impl CodeHosts {
    /// Starts the next check of each host that has none in progress. Waits for the database only, never for a host. Pull requests of a
    /// removed project wait until it returns.
    pub async fn check_due(&self, stop: &CancellationToken) -> Result<(), StoreError> {
        let connections = self.connections();
        if connections.is_empty() {
            return Ok(());
        }
        self.assign_hosts(&connections).await?;
        for turn in self.turns.begin(self.hosts(), usize::MAX) {
            let connection = connections.iter().find(|connection| connection.host() == turn.receiver());
            let Some(connection) = connection.filter(|_| !stop.is_cancelled()) else { continue };
            let due = self.claim_batch(connection).await?;
            if !due.is_empty() {
                self.start(connection.clone(), due, turn, stop.clone());
            }
        }
        let settings = self.settings.current();
        let (projects, stale_after) = (&settings.projects, settings.stale_after);
        self.store.report_stale_pull_requests(&self.work, projects, stale_after, self.clock.now()).await
    }

    /// Checks claimed pull requests in a task of its own.
    fn start(&self, connection: Connection, due: Vec<DueCheck>, turn: Turn<String>, stop: CancellationToken) {
        let hosts = self.clone();
        let checks = async move {
            match hosts.check(&connection, due, &stop).await {
                Ok(()) => hosts.tasks.failures().ended(NOT_RECORDED),
                Err(error) => hosts.tasks.failures().failed(NOT_RECORDED, error),
            }
            drop(turn);
        };
        self.checks.spawn(checks.boxed());
    }

    /// Determines the code hosts of new pull requests.
    async fn assign_hosts(&self, connections: &[Connection]) -> Result<(), StoreError> {
        loop {
            let new = self.store.pull_requests_without_host(NEW).await?;
            let assigned = new.iter().map(|(job, url)| {
                let connection = connections.iter().find(|connection| connection.parse(url).is_some());
                (job, connection.map(Connection::host))
            });
            self.store.assign_code_hosts(&self.work, &assigned.collect::<Vec<_>>()).await?;
            if new.len() < NEW {
                return Ok(());
            }
        }
    }

    /// Claims the next due pull requests of a host: none if it is paused.
    async fn claim_batch(&self, connection: &Connection) -> Result<Vec<DueCheck>, StoreError> {
        let now = self.clock.now();
        let window = Window {
            now,
            ahead: now.after(schedule::AHEAD),
            latest: now.after(schedule::LATEST),
            lease: now.after(LEASE),
        };
        let projects = self.settings.current().projects;
        self.store.claim_checks(&self.work, &projects, connection.host(), &window, connection.batch()).await
    }

    /// Checks the pull request of a job whose page is opened, unless its state is fresh.
    pub async fn refresh(&self, job: &JobId) -> Result<(), StoreError> {
        let connections = self.connections();
        if connections.is_empty() || !self.opened.begin(job, self.clock.elapsed()) {
            return Ok(());
        }
        let result = self.refresh_one(&connections, job).await;
        self.opened.end(job);
        result
    }

    async fn refresh_one(&self, connections: &[Connection], job: &JobId) -> Result<(), StoreError> {
        let now = self.clock.now();
        let fresh = now.plus_seconds(-FRESH_SECONDS);
        let Some((host, due)) =
            self.store.claim_check_of(&self.work, job, fresh, now, now.after(LEASE)).await?
        else {
            return Ok(());
        };
        if let Some(connection) = connections.iter().find(|connection| connection.host() == host) {
            self.check(connection, vec![due], &CancellationToken::new()).await?;
        }
        Ok(())
    }

    /// Fetches and records the claimed pull requests.
    async fn check(
        &self,
        connection: &Connection,
        due: Vec<DueCheck>,
        stop: &CancellationToken,
    ) -> Result<(), StoreError> {
        let links: Vec<_> = due.iter().map(|due| connection.parse(&due.url)).collect();
        let known = due.iter().zip(&links).filter_map(|(due, link)| Some((link.clone()?, due.failures > 0)));
        let (distinct, fresh) = distinct(known);
        let batch = connection.fetch(&Wanted { links: &distinct, fresh, stop }).await;
        let now = self.clock.now();
        let results = due.into_iter().zip(links).map(|(due, link)| {
            let at = link.map(|link| distinct.iter().position(|one| *one == link));
            let found = match at {
                Some(at) => at.map_or(Fetched::Skipped, |at| batch.found[at].clone()),
                // The address of the connection changed.
                None => Fetched::Failed(CheckFailure::Missing),
            };
            result(due, found, now)
        });
        self.record_results(&results.collect::<Vec<_>>(), now).await?;
        self.record_host(connection, &batch, now).await
    }

    /// Records the results. If the database refuses the values of one, the others are recorded, and the check of that one failed.
    async fn record_results(&self, results: &[CheckResult], now: Timestamp) -> Result<(), StoreError> {
        let refused =
            |recorded: &Result<(), StoreError>| matches!(recorded, Err(error) if error.concerns_values());
        let together = self.record(results, now).await;
        if !refused(&together) {
            return together;
        }
        for one in results {
            let alone = self.record(std::slice::from_ref(one), now).await;
            if !refused(&alone) {
                alone?;
                continue;
            }
            let due = one.due().clone();
            tracing::error!(job = %due.job, "the result of a check was refused by the database");
            let next = schedule::after_failure(due.failures + 1, now);
            let failed = CheckResult::Failed { due, failure: CheckFailure::Unusable, next };
            let failed = self.record(&[failed], now).await;
            // If that is refused too, it is due again after its lease.
            if !refused(&failed) {
                failed?;
            }
        }
        Ok(())
    }

    async fn record(&self, results: &[CheckResult], now: Timestamp) -> Result<(), StoreError> {
        let stale_after = self.settings.current().stale_after;
        self.store.record_checks(&self.work, results, stale_after, now).await
    }

    /// Records how the host responded.
    async fn record_host(
        &self,
        connection: &Connection,
        batch: &Batch,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let host = connection.host();
        for (name, error) in &batch.failed {
            tracing::info!(host, name, %error, "a pull request could not be checked");
        }
        let status = verdict(batch, &self.store.code_host_memory(host).await?, now);
        if status.pause_reason.is_some_and(|reason| reason != PauseReason::Limit) {
            tracing::warn!(host, error = status.failure, "a code host failed");
        }
        self.store.record_code_host(&self.work, host, &status, now).await
    }
}

/// The pull requests to fetch, in the order in which they are due, and how many of them did not fail before. Those that failed are last. Several
/// jobs may have one pull request. If a host responds to few requests only, each pull request has its turn.
fn distinct(due: impl Iterator<Item = (PullRequestLink, bool)>) -> (Vec<PullRequestLink>, usize) {
    let mut all: Vec<(PullRequestLink, bool)> = Vec::new();
    for (link, has_failed) in due {
        match all.iter_mut().find(|(known, _)| *known == link) {
            Some((_, known)) => *known |= has_failed,
            None => all.push((link, has_failed)),
        }
    }
    all.sort_by_key(|(_, has_failed)| *has_failed);
    let fresh = all.iter().filter(|(_, has_failed)| !has_failed).count();
    (all.into_iter().map(|(link, _)| link).collect(), fresh)
}

/// What to record about one pull request.
fn result(due: DueCheck, found: Fetched, now: Timestamp) -> CheckResult {
    match found {
        Fetched::Reported(reported, checks) => {
            // The checks of a finished pull request are not fetched, and others may fail: the last known ones remain.
            let checks = checks.unwrap_or(due.checks);
            let review = reported.review.unwrap_or(due.review);
            let relevant = if reported.state.is_open() { checks } else { Checks::None };
            let waiting_for = reported.waiting_for(review, relevant);
            let next = schedule::after_success(due.state, reported.state, reported.opened_at, now);
            CheckResult::Reported { due, reported, checks, review, waiting_for, next }
        }
        Fetched::Failed(failure) => {
            let next = schedule::after_failure(due.failures + 1, now);
            CheckResult::Failed { due, failure, next }
        }
        Fetched::Skipped => CheckResult::Skipped { next: due.plan_again(now), due },
        Fetched::Later(pause) => CheckResult::Skipped { due, next: now.after(pause) },
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    use clients::code_host::by_owner;

    fn link(number: u64) -> PullRequestLink {
        PullRequestLink { repository: format!("owner-{number:02}/docs"), number }
    }

    proptest! {
        /// A host responds to `responses` requests of each batch only. The rest keeps its plan, as in the store.
        #[test]
        fn every_pull_request_has_its_turn_at_a_host_with_few_responses(
            links in 1_u64..60,
            most in 1_usize..50,
            responses in 1_usize..10,
        ) {
            let mut plans: Vec<(i64, u64)> = (0..links).map(|number| (0, number)).collect();
            let mut turns = vec![0; links as usize];
            let rounds = links as usize * 2;
            for round in 0..rounds as i64 {
                plans.sort();
                let claimed: Vec<(i64, u64)> = plans.drain(..most.min(plans.len())).collect();
                let (order, fresh) = distinct(claimed.iter().map(|(_, number)| (link(*number), false)));
                prop_assert_eq!(fresh, claimed.len());
                let owners = by_owner(&order);
                let plan_of = |number: u64| claimed.iter().find(|(_, one)| *one == number).map(|(at, _)| *at);
                let fetched = owners.iter().flat_map(|(_, indexes)| indexes).map(|index| order[*index].number);
                for (at, number) in fetched.enumerate() {
                    let is_fetched = at < responses;
                    turns[number as usize] += usize::from(is_fetched);
                    // Rounds are an hour apart.
                    let next = if is_fetched { Some(round * 60 + 5) } else { plan_of(number) };
                    plans.extend(next.map(|next| (next, number)));
                }
            }
            prop_assert!(turns.iter().all(|turns| *turns > 0), "{:?}", turns);
        }
    }

    #[test]
    fn failed_pull_requests_are_last_and_none_is_twice() {
        let due = [(3, false), (1, true), (2, false), (3, true), (0, false)];
        let (order, fresh) = distinct(due.into_iter().map(|(number, failed)| (link(number), failed)));
        assert_eq!((order, fresh), ([2, 0, 3, 1].map(link).to_vec(), 2));
    }

    #[test]
    fn opened_pages_cause_a_limited_number_of_requests() {
        let (opened, second) = (Opened::default(), Duration::from_secs);
        let job = |number: usize| -> JobId {
            format!("01920000-0000-7000-8000-{number:012}").parse().unwrap_or_else(|error| panic!("{error}"))
        };
        assert!(opened.begin(&job(0), second(0)));
        assert!(!opened.begin(&job(0), second(1)), "it is being fetched");
        opened.end(&job(0));
        assert_eq!(
            (1..100).filter(|number| opened.begin(&job(*number), second(2))).count(),
            OPENED_PER_MINUTE - 1
        );
        assert!(!opened.begin(&job(200), second(59)));
        assert!(opened.begin(&job(200), second(62)));
    }
}
