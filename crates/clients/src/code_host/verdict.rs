//! Whether a code host is paused after a request, for how long and why. A pull request that fails alone is no evidence against its host: two
//! different ones without a success between are.

use std::time::Duration;

use super::exchange::HostError;
use super::fetched::Batch;
use model::time::Timestamp;
use model::upstream::{PauseReason, RateLimit};
use store::pull_requests::{HostMemory, HostStatus};

/// The pause after the first failure of a host. It doubles up to the maximum.
const PAUSE: Duration = Duration::from_secs(30);
const PAUSE_MAX: Duration = Duration::from_secs(15 * 60);

/// What to record about a host. `before`: what is recorded.
pub fn verdict(batch: &Batch, before: &HostMemory, now: Timestamp) -> HostStatus {
    let suspect = batch.failed.last();
    let error = host_error(batch, before);
    let failures = match error {
        Some(_) => before.failures.saturating_add(1),
        None if batch.has_success => 0,
        None => before.failures,
    };
    let requested = batch.pause.map(|pause| (pause, PauseReason::Limit));
    let own = error.as_ref().map(|error| match error.is_refusal() {
        true => (pause_of(failures), PauseReason::NoAccess),
        false => (pause_of(failures), PauseReason::Failing),
    });
    let pause = requested.into_iter().chain(own).max_by_key(|(pause, _)| *pause);
    // Without a success, the failure of one pull request is shown too.
    let of_one = || suspect.filter(|_| !batch.has_success).map(|(name, error)| format!("{name}: {error}"));
    HostStatus {
        paused_until: pause.map(|(pause, _)| now.after(pause)),
        pause_reason: pause.map(|(_, reason)| reason),
        limit: batch.limit.filter(|limit| limit.limit > 0).map(|limit| RateLimit {
            limit: limit.limit,
            remaining: limit.remaining,
            resets_at: now.after(limit.resets_in),
        }),
        is_success: batch.has_success,
        failure: error.as_ref().map(HostError::to_string).or_else(of_one),
        failures,
        suspect: match batch.has_success {
            true => None,
            false => suspect.map(|(name, _)| name.clone()).or_else(|| before.suspect.clone()),
        },
    }
}

/// Why the host itself fails.
fn host_error(batch: &Batch, before: &HostMemory) -> Option<HostError> {
    if batch.error.is_some() {
        return batch.error.clone();
    }
    let (name, error) = batch.failed.last().filter(|_| !batch.has_success)?;
    let is_another = before.suspect.as_ref().is_some_and(|suspect| suspect != name);
    (batch.failed.len() > 1 || is_another).then(|| error.clone())
}

/// Half a minute, one minute, two, up to a quarter of an hour.
fn pause_of(failures: u32) -> Duration {
    PAUSE.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(PAUSE_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    fn batch(failed: &[&str], has_success: bool) -> Batch {
        let failed = failed.iter().map(|name| ((*name).to_owned(), HostError::Failed(500))).collect();
        Batch { failed, has_success, ..Batch::of(0) }
    }

    /// The reason of the pause after these batches.
    fn pause_after(batches: &[Batch]) -> Option<PauseReason> {
        let mut before = HostMemory::default();
        let mut reason = None;
        for batch in batches {
            let status = verdict(batch, &before, NOW);
            reason = status.pause_reason;
            before = HostMemory { failures: status.failures, suspect: status.suspect };
        }
        reason
    }

    #[test]
    fn two_different_failures_without_a_success_pause_the_host() {
        for (batches, expected) in [
            (vec![batch(&["a"], false)], None),
            (vec![batch(&["a"], false), batch(&["a"], false)], None),
            (vec![batch(&["a"], false), batch(&["b"], false)], Some(PauseReason::Failing)),
            (vec![batch(&["a"], false), batch(&[], true), batch(&["b"], false)], None),
            (vec![batch(&["a"], false), batch(&[], false), batch(&["b"], false)], Some(PauseReason::Failing)),
            (vec![batch(&["a", "b"], false)], Some(PauseReason::Failing)),
            (vec![batch(&["a", "b"], true)], None),
        ] {
            assert_eq!(pause_after(&batches), expected, "{batches:?}");
        }
    }

    #[test]
    fn pause_has_its_reason() {
        let of = |error: HostError| Batch { error: Some(error), ..batch(&[], false) };
        let limited = || Batch { pause: Some(Duration::from_secs(600)), ..batch(&[], true) };
        for (batch, expected) in [
            (of(HostError::Unauthorized), PauseReason::NoAccess),
            (of(HostError::Credentials(String::new())), PauseReason::NoAccess),
            (of(HostError::Unreachable("no connection")), PauseReason::Failing),
            (limited(), PauseReason::Limit),
            // The longer pause counts.
            (Batch { error: Some(HostError::Unauthorized), ..limited() }, PauseReason::Limit),
        ] {
            let status = verdict(&batch, &HostMemory::default(), NOW);
            assert_eq!(status.pause_reason, Some(expected), "{batch:?}");
            assert!(status.paused_until.is_some(), "{batch:?}");
        }
        let status = verdict(&batch(&["acme/docs#7"], false), &HostMemory::default(), NOW);
        assert_eq!(status.failure.as_deref(), Some("acme/docs#7: it failed (500)"));
        assert_eq!((status.paused_until, status.failures), (None, 0));
    }

    #[test]
    fn host_pauses_longer_after_each_failure() {
        let pauses = [1, 2, 3, 6, 7, u32::MAX].map(|failures| pause_of(failures).as_secs());
        assert_eq!(pauses, [30, 60, 120, 900, 900, 900]);
    }
}
