//! Following jobs: one upstream read per job per interval, slower as a job grows old, whoever looks.
//! Must not send anything to a job.

use std::time::Duration;

use futures::StreamExt;
use rand::Rng;

use crate::model::job::{DeliveryState, JobState, RemoteJob};
use crate::model::time::Timestamp;
use crate::server::jobs::Jobs;
use crate::server::store::reads::DueRead;
use crate::server::upstream::UpstreamError;

/// Reads under way at once.
const CONCURRENT_READS: usize = 4;

/// A pause may be longer by one part in so many.
const JITTER: i64 = 5;

/// How long a job that has ended is still read after a follow-up was accepted: the upstream does not say when
/// it starts to work again.
const SETTLING_SECONDS: i64 = 120;

/// What is shown as the status of a job that the upstream no longer knows.
const LOST_STATUS: &str = "not found";

impl Jobs {
    /// Reads every job whose time has come, once. Gives how many reads were made.
    pub async fn poll_due(&self) -> anyhow::Result<usize> {
        let due = self.store.due_reads(self.clock.now()).await?;
        let reads = futures::stream::iter(due)
            .map(|due| async move {
                let result = self.read(&due).await;
                result.inspect_err(
                    |error| tracing::error!(job = %due.job, error = format!("{error:#}"), "read"),
                )
            })
            .buffer_unordered(CONCURRENT_READS)
            .filter(|result| std::future::ready(matches!(result, Ok(true))))
            .count()
            .await;
        Ok(reads)
    }

    async fn read(&self, due: &DueRead) -> anyhow::Result<bool> {
        let now = self.clock.now();
        let next = self.next_read(due, now);
        let permit = match self.governor.acquire_read(&due.project).await? {
            Ok(permit) => permit,
            Err(until) => {
                self.store.claim_read(due, next.max(until)).await?;
                return Ok(false);
            }
        };
        if !self.store.claim_read(due, next).await? {
            return Ok(false);
        }
        match self.upstream.job(permit, &due.project, &due.remote_id).await {
            Ok(remote) => self.record_read(due, &remote).await?,
            Err(UpstreamError::Refused { status: 404, .. }) => {
                self.store.record_lost(due, LOST_STATUS, self.clock.now()).await?;
            }
            // The next read is planned already; the last known state stays.
            Err(error) => tracing::warn!(job = %due.job, %error, "job could not be read"),
        }
        Ok(true)
    }

    async fn record_read(&self, due: &DueRead, remote: &RemoteJob) -> anyhow::Result<()> {
        let now = self.clock.now();
        let state = JobState::of(DeliveryState::Accepted, Some(&remote.status));
        let settled = !due.after_follow_up || now.seconds_since(due.followed_since) >= SETTLING_SECONDS;
        let over = settled && !state.is_moving();
        let next = (!over).then(|| self.next_read(due, now));
        if self.store.record_read(due, remote, next, now).await? {
            tracing::info!(job = %due.job, status = remote.status, "job changed");
        }
        Ok(())
    }

    fn next_read(&self, due: &DueRead, now: Timestamp) -> Timestamp {
        let pause = pause(now.seconds_since(due.followed_since), self.timing.poll_interval);
        let jitter = rand::rng().random_range(0..=pause.as_millis() as i64 / JITTER);
        Timestamp::from_millis(now.as_millis() + pause.as_millis() as i64 + jitter)
    }
}

/// The pause before the next read of a job that has been followed for `age_seconds`.
fn pause(age_seconds: i64, shortest: Duration) -> Duration {
    let by_age = match age_seconds {
        ..120 => 0,
        120..600 => 10,
        600..3600 => 60,
        _ => 300,
    };
    shortest.max(Duration::from_secs(by_age))
}

/// The longest pause between two reads of a job, whatever its age.
pub(super) fn longest_pause(shortest: Duration) -> Duration {
    let pause = pause(i64::MAX, shortest);
    pause + pause / JITTER as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pause_grows_with_age_and_never_falls_below_the_shortest() {
        let seconds = |age, shortest| pause(age, Duration::from_secs(shortest)).as_secs();
        assert_eq!(
            [0, 119, 120, 600, 3_599, 3_600, 1_000_000].map(|age| seconds(age, 3)),
            [3, 3, 10, 60, 60, 300, 300]
        );
        assert_eq!([0, 120, 600, 3_600].map(|age| seconds(age, 90)), [90, 90, 90, 300]);
    }
}
