//! When a pull request is checked next.

use std::time::Duration;

use rand::Rng;

use model::pull_request::PullRequestState;
use model::time::Timestamp;

/// The interval for an open pull request.
const OPEN: Duration = Duration::from_secs(5 * 60);
/// The interval for one that has been open for longer than [`OLD_SECONDS`].
const OLD: Duration = Duration::from_secs(3_600);
const OLD_SECONDS: i64 = 7 * 24 * 3_600;
/// When a finished pull request is checked a last time.
const FINISHED: Duration = Duration::from_secs(10 * 60);
/// The longest interval after failures.
const FAILING: Duration = Duration::from_secs(6 * 3_600);

/// How much earlier than planned a pull request may be checked, so that a request is full. Shorter than [`OPEN`] by the shortest time
/// between two checks.
pub(super) const AHEAD: Duration = Duration::from_secs(4 * 60);
/// No plan is later than this, unless the clock was set back.
pub(super) const LATEST: Duration = Duration::from_secs(7 * 3_600);

/// The maximum random part of a pause, so that processes and hosts do not act in step.
const JITTER: f64 = 0.1;

/// The next check after a successful one. `before`: the state before it. `None`: never again.
pub(super) fn after_success(
    before: PullRequestState,
    now_in: PullRequestState,
    opened_at: Option<Timestamp>,
    now: Timestamp,
) -> Option<Timestamp> {
    let age = opened_at.map_or(0, |opened_at| now.seconds_since(opened_at));
    let pause = match now_in {
        state if state.is_finished() && before == state => return None,
        state if state.is_finished() => FINISHED,
        _ if age >= OLD_SECONDS => OLD,
        _ => OPEN,
    };
    Some(now.after(jittered(pause)))
}

/// The next check after the `failures`-th failure in a row.
pub(super) fn after_failure(failures: u32, now: Timestamp) -> Timestamp {
    let pause = OPEN.saturating_mul(1 << failures.saturating_sub(1).min(10)).min(FAILING);
    now.after(jittered(pause))
}

fn jittered(pause: Duration) -> Duration {
    pause.mul_f64(1.0 + rand::rng().random_range(0.0..=JITTER))
}

#[cfg(test)]
mod tests {
    use super::*;
    use PullRequestState::{Closed, Draft, Merged, Open, Unknown};

    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    /// The planned pause in minutes, without its random part.
    fn minutes(next: Option<Timestamp>) -> Option<i64> {
        next.map(|next| {
            let seconds = next.seconds_since(NOW);
            [5, 10, 20, 40, 60, 80, 160, 320, 360]
                .into_iter()
                .find(|minutes| (minutes * 60..=minutes * 66).contains(&seconds))
                .expect("a pause")
        })
    }

    #[test]
    fn open_pull_requests_are_checked_often_and_finished_ones_once_more() {
        let new = Some(NOW.plus_seconds(-60));
        let old = Some(NOW.plus_seconds(-8 * 24 * 3_600));
        // Of a host whose clock is ahead.
        let future = Some(NOW.plus_seconds(300));
        for (before, now_in, opened_at, expected) in [
            (Unknown, Open, new, Some(5)),
            (Open, Draft, new, Some(5)),
            (Open, Open, future, Some(5)),
            (Open, Open, old, Some(60)),
            (Open, Merged, old, Some(10)),
            (Merged, Merged, new, None),
            (Unknown, Closed, new, Some(10)),
            (Closed, Closed, new, None),
            (Closed, Merged, new, Some(10)),
            (Closed, Open, new, Some(5)),
        ] {
            assert_eq!(
                minutes(after_success(before, now_in, opened_at, NOW)),
                expected,
                "{before:?} {now_in:?}"
            );
        }
    }

    #[test]
    fn pause_after_failures_doubles_up_to_six_hours() {
        let pauses = (1..=9).map(|failures| minutes(Some(after_failure(failures, NOW))).expect("a plan"));
        assert_eq!(pauses.collect::<Vec<_>>(), [5, 10, 20, 40, 80, 160, 320, 360, 360]);
        assert_eq!(minutes(Some(after_failure(u32::MAX, NOW))), Some(360));
    }
}
