//! The pauses after failures. A failure of one day pauses that day; `failing_days` in the database has its pause. Failures that
//! concern the whole project pause the project, in memory.

use std::collections::HashMap;

use clients::upstream::UpstreamError;
use model::day::Day;
use model::history::FetchFailure;
use model::id::ProjectId;
use model::time::Timestamp;
use store::page_views::history::FailedDay;

const FIRST_PAUSE_SECONDS: i64 = 30;
const LONGEST_PAUSE_SECONDS: i64 = 15 * 60;
const LONGEST_PAUSE_OF_A_DAY_SECONDS: i64 = 3_600;
/// The failures in a row of a day, until which the pages fetched before are retained and no other day is fetched.
const FAILURES_WITH_PAGES: u32 = 3;

#[derive(Debug, Default)]
pub(super) struct Backoff {
    projects: HashMap<ProjectId, ProjectBackoff>,
}

#[derive(Debug, Clone)]
pub(super) struct ProjectBackoff {
    /// The project fetches nothing before this time.
    pub(super) until: Timestamp,
    pub(super) cause: FetchFailure,
    /// Failures that concern the project since its last success.
    failures: u32,
    /// The day that failed last.
    day: Option<Day>,
}

impl Backoff {
    /// Records a failed call for a day. The project is paused if the day fails for the first time, another one failed before and none succeeded since, or if
    /// pages of the day are stored.
    pub(super) fn day_failed(
        &mut self,
        project: &ProjectId,
        failed: &FailedDay,
        has_pages: bool,
        now: Timestamp,
    ) {
        let before = self.projects.get(project);
        // A day that failed before is no new evidence against the project.
        let is_new = failed.failures == 1;
        let is_other = is_new && before.and_then(|before| before.day).is_some_and(|day| day != failed.day);
        if has_pages && !is_other {
            let failures = before.map_or(0, |before| before.failures);
            let until = failed.next_try_at;
            let backoff = ProjectBackoff { until, cause: failed.cause, failures, day: Some(failed.day) };
            self.projects.insert(project.clone(), backoff);
        } else {
            self.pause(project, failed.cause, is_other, Some(failed.day), now);
        }
    }

    /// Records a failure that concerns all days of the project.
    pub(super) fn project_failed(&mut self, project: &ProjectId, cause: FetchFailure, now: Timestamp) {
        self.pause(project, cause, true, None, now);
    }

    fn pause(
        &mut self,
        project: &ProjectId,
        cause: FetchFailure,
        is_paused: bool,
        day: Option<Day>,
        now: Timestamp,
    ) {
        let before = self.projects.get(project).map_or(0, |before| before.failures);
        let failures = if is_paused { before.saturating_add(1) } else { before };
        let until = if is_paused { now.plus_seconds(pause_seconds(failures)) } else { now };
        self.projects.insert(project.clone(), ProjectBackoff { until, cause, failures, day });
    }

    pub(super) fn succeeded(&mut self, project: &ProjectId) {
        self.projects.remove(project);
    }

    /// The active backoff of `project`. An end beyond the maximum pause was recorded before a clock rollback, and is
    /// ignored.
    pub(super) fn of(&self, project: &ProjectId, now: Timestamp) -> Option<&ProjectBackoff> {
        let longest = now.plus_seconds(LONGEST_PAUSE_SECONDS);
        self.projects.get(project).filter(|backoff| backoff.until > now && backoff.until <= longest)
    }
}

/// The next failure of a day that failed `before`.
pub(super) fn next_failure(
    before: Option<&FailedDay>,
    day: Day,
    cause: FetchFailure,
    now: Timestamp,
) -> FailedDay {
    let failures = before.map_or(0, |before| before.failures).saturating_add(1);
    // To fetch the pages again costs as many calls as the first time.
    let pause = match cause {
        FetchFailure::NotStored => LONGEST_PAUSE_OF_A_DAY_SECONDS,
        _ => pause_of_a_day_seconds(failures),
    };
    FailedDay { day, failures, cause, next_try_at: now.plus_seconds(pause) }
}

/// Whether the day is not to be fetched yet. An end beyond the maximum pause was recorded before a clock rollback.
pub(super) fn is_paused(failed: &FailedDay, now: Timestamp) -> bool {
    let longest = now.plus_seconds(LONGEST_PAUSE_OF_A_DAY_SECONDS);
    failed.next_try_at > now && failed.next_try_at <= longest
}

/// Whether the fetched pages of a day are retained after this failure.
pub(super) fn retains_pages(failed: &FailedDay) -> bool {
    failed.failures < FAILURES_WITH_PAGES
}

/// Whether an error concerns all days of a project, rather than the day of the call.
pub(super) fn concerns_project(error: &UpstreamError) -> bool {
    match error {
        UpstreamError::NotConnected(_)
        | UpstreamError::LimitReached { .. }
        | UpstreamError::NoCredits { .. } => true,
        UpstreamError::Refused { status, .. } => [401, 403, 404].contains(status),
        UpstreamError::TimedOut
        | UpstreamError::BrokenOff
        | UpstreamError::Status { .. }
        | UpstreamError::BadAnswer(_) => false,
    }
}

/// Half a minute, one minute, two, up to a quarter of an hour.
fn pause_seconds(failures: u32) -> i64 {
    let doubled = FIRST_PAUSE_SECONDS << failures.saturating_sub(1).min(16);
    doubled.min(LONGEST_PAUSE_SECONDS)
}

/// Half a minute, two, eight, 32, then an hour.
fn pause_of_a_day_seconds(failures: u32) -> i64 {
    let longer = FIRST_PAUSE_SECONDS << (2 * failures.saturating_sub(1).min(8));
    longer.min(LONGEST_PAUSE_OF_A_DAY_SECONDS)
}

pub(super) fn cause(error: &UpstreamError) -> FetchFailure {
    match error {
        UpstreamError::NotConnected(_) => FetchFailure::NotConnected,
        UpstreamError::TimedOut => FetchFailure::TimedOut,
        UpstreamError::Refused { .. } | UpstreamError::NoCredits { .. } => FetchFailure::Refused,
        UpstreamError::LimitReached { .. } => FetchFailure::LimitReached,
        UpstreamError::BrokenOff | UpstreamError::Status { .. } | UpstreamError::BadAnswer(_) => {
            FetchFailure::Failed
        }
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    fn day(text: &str) -> Day {
        text.parse().unwrap()
    }

    fn project() -> ProjectId {
        "docs".parse().unwrap()
    }

    fn of_day(day: Day) -> FailedDay {
        next_failure(None, day, FetchFailure::Failed, NOW)
    }

    #[test]
    fn pause_of_a_project_doubles_up_to_fifteen_minutes_until_a_success() {
        let mut backoff = Backoff::default();
        let pauses: Vec<i64> = (1..=9)
            .map(|day_of_month| {
                let failed = of_day(day(&format!("2026-11-0{day_of_month}")));
                backoff.day_failed(&project(), &failed, false, NOW);
                backoff.of(&project(), NOW).map_or(0, |backoff| backoff.until.seconds_since(NOW))
            })
            .collect();
        assert_eq!(pauses, [0, 30, 60, 120, 240, 480, 900, 900, 900], "the first failure is of its day");
        assert!(backoff.of(&project(), NOW.plus_seconds(900)).is_none());
        assert!(backoff.of(&project(), NOW.plus_seconds(-86_400)).is_none(), "the clock was set back");
        backoff.succeeded(&project());
        assert!(backoff.of(&project(), NOW).is_none());
    }

    #[test]
    fn failures_of_one_day_pause_the_day_and_not_the_project() {
        let mut backoff = Backoff::default();
        let (mut failed, mut pauses): (Option<FailedDay>, _) = (None, Vec::new());
        for _ in 0..6 {
            let next = next_failure(failed.as_ref(), day("2026-11-02"), FetchFailure::Failed, NOW);
            backoff.day_failed(&project(), &next, false, NOW);
            assert!(backoff.of(&project(), NOW).is_none());
            pauses.push(next.next_try_at.seconds_since(NOW));
            failed = Some(next);
        }
        assert_eq!(pauses, [30, 120, 480, 1_920, 3_600, 3_600]);
        let failed = failed.unwrap();
        assert!(is_paused(&failed, NOW.plus_seconds(3_599)) && !is_paused(&failed, NOW.plus_seconds(3_600)));
        assert!(!is_paused(&failed, NOW.plus_seconds(-86_400)), "the clock was set back");
    }

    #[test]
    fn days_that_failed_before_do_not_pause_the_project_again() {
        let mut backoff = Backoff::default();
        let mut bad = ["2026-11-20", "2026-09-01", "2026-09-02"].map(|text| of_day(day(text)));
        for failed in &bad {
            backoff.day_failed(&project(), failed, false, NOW);
        }
        assert!(backoff.of(&project(), NOW).is_some(), "the platform may be failing");
        backoff.succeeded(&project());
        for _ in 0..5 {
            for failed in &mut bad {
                *failed = next_failure(Some(failed), failed.day, FetchFailure::Failed, NOW);
                backoff.day_failed(&project(), failed, false, NOW);
                assert!(backoff.of(&project(), NOW).is_none(), "{failed:?}");
            }
        }
    }

    #[test]
    fn failures_of_all_days_concern_the_project() {
        let mut backoff = Backoff::default();
        backoff.project_failed(&project(), FetchFailure::NotConnected, NOW);
        assert_eq!(backoff.of(&project(), NOW).unwrap().until, NOW.plus_seconds(30));
        for (status, expected) in [(400, false), (422, false), (401, true), (403, true), (404, true)] {
            let error = UpstreamError::Refused { status, words: String::new() };
            assert_eq!(concerns_project(&error), expected, "{status}");
        }
        assert!(concerns_project(&UpstreamError::NotConnected(String::new())));
        assert!(
            !concerns_project(&UpstreamError::Status { status: 500, words: String::new() })
                && !concerns_project(&UpstreamError::TimedOut)
        );
    }

    #[test]
    fn project_waits_for_a_day_with_stored_pages() {
        let mut backoff = Backoff::default();
        let failed = of_day(day("2026-11-02"));
        assert!(retains_pages(&failed));
        backoff.day_failed(&project(), &failed, true, NOW);
        assert_eq!(backoff.of(&project(), NOW).unwrap().until, failed.next_try_at);
    }
}
