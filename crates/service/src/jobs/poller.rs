//! Tracking jobs: one upstream poll per job per interval, slower as a job gets older, regardless of the number of
//! viewers.
//!
//! A job is tracked until it is finished. Tracking also stops after two 404s a minute apart, or after three days
//! without an end. A person can start it again.

use std::time::Duration;

use futures::StreamExt;
use rand::Rng;
use tracing::Instrument;

use crate::caller::Caller;
use crate::jobs::Jobs;
use base::tasks::Task;
use base::traces;
use clients::upstream::UpstreamError;
use clients::upstream::governor::{Permit, PollPermit};
use model::error::{AppError, ErrorCode};
use model::id::{JobId, ProjectId};
use model::job::{DeliveryState, Job, JobState, NO_END, NOT_FOUND, RemoteJob};
use model::time::Timestamp;
use store::jobs::polls::DuePoll;

/// Concurrent polls.
const CONCURRENT_READS: usize = 4;

/// How long a finished job is polled after a follow-up was accepted. The upstream does not report when the work
/// continues.
const FOLLOW_UP_POLL_SECONDS: i64 = 120;

/// The minimum time before a second 404: the upstream may be eventually consistent.
const CONFIRMING_SECONDS: i64 = 60;

/// How long a job that does not finish is tracked.
const NO_END_SECONDS: i64 = 3 * 24 * 3600;

/// The maximum random extension of a pause, so that polls of jobs started together spread.
const JITTER: f64 = 0.2;

/// The pause between two polls of an old job.
const SLOWEST: Duration = Duration::from_secs(300);

impl Jobs {
    /// Polls every due job once and returns the number of polls. A failed poll does not prevent the others.
    pub async fn poll_due(&self) -> anyhow::Result<usize> {
        let now = self.clock.now();
        let projects = self.settings.current().projects;
        let due = self.store.due_polls(&projects, now, now.after(self.longest_pause())).await?;
        let results: Vec<anyhow::Result<bool>> = futures::stream::iter(due)
            .map(|due| self.poll(due))
            .buffer_unordered(CONCURRENT_READS)
            .collect()
            .await;
        let polls: Vec<bool> = results.into_iter().collect::<anyhow::Result<_>>()?;
        Ok(polls.into_iter().filter(|is_made| *is_made).count())
    }

    /// Polls an untracked job on a person's request, at most once per interval. Tracks it again if it is still moving.
    /// Returns the current job.
    pub async fn check(&self, caller: &Caller, project: &ProjectId, job: &JobId) -> Result<Job, AppError> {
        let found = self.get(project, job).await?;
        if found.remote.is_none() {
            return Err(nothing_to_check(found.state));
        }
        if let Some(pause) = self.governor.poll_pause(project).await? {
            return Err(pause.into());
        }
        let now = self.clock.now();
        let interval = i64::try_from(self.timing.poll_interval.as_millis()).unwrap_or(i64::MAX);
        let not_since = Timestamp::from_millis(now.as_millis().saturating_sub(interval));
        let next = now.after(self.timing.poll_interval);
        if let Some(due) = self.store.claim_check(caller.authority(), project, job, not_since, next).await? {
            // Only now, because it may be the probe after a failure.
            let permit = match self.governor.acquire_poll(project).await? {
                PollPermit::Granted(permit) => permit,
                PollPermit::Paused(pause) => {
                    self.store.stop_tracking(&self.work, &due).await?;
                    return Err(pause.into());
                }
            };
            let response = self.upstream.job(permit, project, &due.remote_id).await;
            if let Some(error) = self.record_response(&due, response).await.map_err(|error| {
                tracing::error!(%job, error = format!("{error:#}"), "a check could not be recorded");
                AppError::database_unavailable()
            })? {
                self.store.stop_tracking(&self.work, &due).await?;
                return Err(error.into());
            }
        }
        self.get(project, job).await
    }

    async fn poll(&self, due: DuePoll) -> anyhow::Result<bool> {
        let now = self.clock.now();
        let due = self.adjusted_for_downtime(due, now);
        let next = self.planned_poll(&due, now);
        if let Some(pause) = self.governor.poll_pause(&due.project).await? {
            // No plan is later than the longest pause: see `adjusted_for_downtime`.
            let until = pause.until.min(now.after(self.longest_pause()));
            self.store.postpone_poll(&self.work, &due, next.max(until)).await?;
            return Ok(false);
        }
        if !self.store.claim_poll(&self.work, &due, next, now).await? {
            return Ok(false);
        }
        // Only now, because it may be the probe after a failure. The next poll is planned already.
        let PollPermit::Granted(permit) = self.governor.acquire_poll(&due.project).await? else {
            return Ok(false);
        };
        let span = traces::work("poll job", Some(due.project.as_str()), Some(due.job.as_str()));
        self.poll_claimed(due, permit, now).instrument(span).await
    }

    async fn poll_claimed(&self, due: DuePoll, permit: Permit, now: Timestamp) -> anyhow::Result<bool> {
        let awaited = self.tasks.awaits(Task::Polling);
        let response = self.upstream.job(permit, &due.project, &due.remote_id).await;
        drop(awaited);
        if let Some(error) = self.record_response(&due, response).await? {
            // The next poll is planned already; the last known state remains.
            tracing::warn!(job = %due.job, %error, "job could not be polled");
            if now.seconds_since(due.tracked_since) >= NO_END_SECONDS {
                self.record_no_end(&due, "Its last answers could not be used.").await?;
            }
        }
        Ok(true)
    }

    /// A poll much earlier or later than planned means that the clock was changed or Docket was not running. That time
    /// does not count as tracked: it does not age the job, and a 404 from before it does not confirm a new one.
    fn adjusted_for_downtime(&self, mut due: DuePoll, now: Timestamp) -> DuePoll {
        let late = now.as_millis() - due.planned_at.as_millis();
        if u128::from(late.unsigned_abs()) > self.longest_pause().as_millis() {
            due.tracked_since = Timestamp::from_millis(due.tracked_since.as_millis().saturating_add(late));
            due.missing_since = None;
        }
        due
    }

    /// Records the result of a poll. Returns an error that is unrelated to the job's state.
    async fn record_response(
        &self,
        due: &DuePoll,
        response: Result<RemoteJob, UpstreamError>,
    ) -> anyhow::Result<Option<UpstreamError>> {
        match response {
            // The response is about the requested job, whatever id it contains.
            Ok(remote) => self.record_poll(due, &RemoteJob { id: due.remote_id.clone(), ..remote }).await?,
            Err(UpstreamError::Refused { status: 404, .. }) => self.record_missing(due).await?,
            Err(error) => return Ok(Some(error)),
        }
        Ok(None)
    }

    async fn record_poll(&self, due: &DuePoll, remote: &RemoteJob) -> anyhow::Result<()> {
        let now = self.clock.now();
        let state = JobState::of(DeliveryState::Accepted, Some(&remote.status));
        let age = now.seconds_since(due.tracked_since);
        let is_confirmed = !due.after_follow_up || age >= FOLLOW_UP_POLL_SECONDS;
        let over = is_confirmed && !state.is_moving();
        let next = (!over).then(|| self.planned_poll(due, now));
        let mut due = due.clone();
        if self.store.record_poll(&self.work, &mut due, remote, next, now).await? {
            tracing::info!(job = %due.job, status = remote.status, "job changed");
        }
        if state.is_moving() && age >= NO_END_SECONDS {
            self.record_no_end(&due, &format!("Its last status was “{}”.", remote.status)).await?;
        }
        Ok(())
    }

    async fn record_no_end(&self, due: &DuePoll, last: &str) -> anyhow::Result<()> {
        tracing::warn!(job = %due.job, "job did not finish in time and is no longer tracked");
        let reason =
            format!("The job did not finish within three days, so Docket stopped tracking it. {last}");
        Ok(self.store.record_lost(&self.work, due, NO_END, &reason, self.clock.now()).await?)
    }

    async fn record_missing(&self, due: &DuePoll) -> anyhow::Result<()> {
        let now = self.clock.now();
        if due.status.as_deref() == Some(NOT_FOUND) {
            return Ok(self.store.stop_tracking(&self.work, due).await?);
        }
        let since = due.missing_since.filter(|since| *since <= now).unwrap_or(now);
        if now.seconds_since(since) >= CONFIRMING_SECONDS {
            tracing::warn!(job = %due.job, "the upstream does not know the job; it is no longer tracked");
            let reason =
                "The platform does not know this job. Docket checked twice, at least a minute apart.";
            return Ok(self.store.record_lost(&self.work, due, NOT_FOUND, reason, now).await?);
        }
        let next = self.planned_poll(due, now).max(since.plus_seconds(CONFIRMING_SECONDS));
        Ok(self.store.record_missing(&self.work, due, since, next).await?)
    }

    fn planned_poll(&self, due: &DuePoll, now: Timestamp) -> Timestamp {
        let pause = pause(now.seconds_since(due.tracked_since), self.timing.poll_interval);
        let jitter = pause.mul_f64(rand::rng().random_range(0.0..=JITTER));
        now.after(pause + jitter)
    }

    /// The longest interval between two polls of a job.
    pub(super) fn longest_pause(&self) -> Duration {
        let pause =
            self.timing.poll_interval.max(SLOWEST).max(Duration::from_secs(CONFIRMING_SECONDS as u64));
        pause.mul_f64(1.0 + JITTER) + Duration::from_secs(1)
    }
}

fn nothing_to_check(state: JobState) -> AppError {
    match state {
        JobState::Rejected | JobState::Cancelled => {
            AppError::conflict("This job was not started, so there is nothing to check.")
        }
        _ => AppError::new(
            ErrorCode::NotAccepted,
            "The platform has not accepted this job, so there is nothing to check yet.",
        ),
    }
}

/// The pause before the next poll of a job that has been tracked for `age_seconds`.
fn pause(age_seconds: i64, shortest: Duration) -> Duration {
    let by_age = match age_seconds {
        ..120 => Duration::ZERO,
        120..600 => Duration::from_secs(10),
        600..3600 => Duration::from_secs(60),
        _ => SLOWEST,
    };
    shortest.max(by_age)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn poll_pause_grows_with_age_from_the_shortest() {
        let seconds = |age, shortest| pause(age, Duration::from_secs(shortest)).as_secs();
        assert_eq!(
            [0, 119, 120, 600, 3_599, 3_600, 1_000_000].map(|age| seconds(age, 3)),
            [3, 3, 10, 60, 60, 300, 300]
        );
        assert_eq!([0, 120, 600, 3_600].map(|age| seconds(age, 90)), [90, 90, 90, 300]);
    }
}
