//! Backoff after failures: how long a project pauses, and when a day that fails repeatedly is skipped. In memory only.

use std::collections::HashMap;

use crate::model::day::Day;
use crate::model::id::ProjectId;
use crate::model::time::Timestamp;
use crate::server::upstream::UpstreamError;

const FIRST_PAUSE_SECONDS: i64 = 30;
const LONGEST_PAUSE_SECONDS: i64 = 15 * 60;
/// Failures in a row after which a day is skipped for an hour.
const FAILURES_OF_A_DAY: u32 = 3;
const ASIDE_SECONDS: i64 = 3_600;

#[derive(Debug, Default)]
pub(super) struct Backoff {
    projects: HashMap<ProjectId, ProjectBackoff>,
    aside: HashMap<(ProjectId, Day), Timestamp>,
}

#[derive(Debug, Clone)]
pub(super) struct ProjectBackoff {
    /// The project fetches nothing before this time.
    pub(super) until: Timestamp,
    /// The error, as the beginning of a sentence.
    pub(super) why: &'static str,
    failures: u32,
    day: Day,
    failures_of_day: u32,
}

impl Backoff {
    /// Records a failure; returns whether the day is skipped.
    pub(super) fn failed(
        &mut self,
        project: &ProjectId,
        day: Day,
        error: &UpstreamError,
        now: Timestamp,
    ) -> bool {
        let before = self.projects.get(project);
        let failures = before.map_or(0, |before| before.failures).saturating_add(1);
        let of_day = before.filter(|before| before.day == day).map_or(0, |before| before.failures_of_day) + 1;
        let aside = of_day >= FAILURES_OF_A_DAY;
        if aside {
            self.aside.retain(|_, until| *until > now);
            self.aside.insert((project.clone(), day), now.plus_seconds(ASIDE_SECONDS));
        }
        let until = now.plus_seconds(pause_seconds(failures));
        let failures_of_day = if aside { 0 } else { of_day };
        let backoff = ProjectBackoff { until, why: why(error), failures, day, failures_of_day };
        self.projects.insert(project.clone(), backoff);
        aside
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

    pub(super) fn is_set_aside(&self, project: &ProjectId, day: Day, now: Timestamp) -> bool {
        let longest = now.plus_seconds(ASIDE_SECONDS);
        let until = self.aside.get(&(project.clone(), day));
        until.is_some_and(|until| *until > now && *until <= longest)
    }
}

/// Half a minute, one minute, two, up to a quarter of an hour.
fn pause_seconds(failures: u32) -> i64 {
    let doubled = FIRST_PAUSE_SECONDS << failures.saturating_sub(1).min(16);
    doubled.min(LONGEST_PAUSE_SECONDS)
}

fn why(error: &UpstreamError) -> &'static str {
    match error {
        UpstreamError::NotConnected(_) => "The platform could not be reached",
        UpstreamError::TimedOut => "The platform did not answer in time",
        UpstreamError::Refused { .. } => "The platform refused the request",
        UpstreamError::LimitReached { .. } => "The platform’s own limit is reached",
        UpstreamError::BrokenOff | UpstreamError::Status(_) | UpstreamError::BadAnswer(_) => {
            "The platform failed"
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

    #[test]
    fn pause_doubles_up_to_fifteen_minutes_until_a_success() {
        let (mut backoff, project) = (Backoff::default(), "docs".parse().unwrap());
        let pauses: Vec<i64> = (1..=8)
            .map(|day_of_month| {
                let day = day(&format!("2026-11-0{day_of_month}"));
                backoff.failed(&project, day, &UpstreamError::TimedOut, NOW);
                backoff.of(&project, NOW).unwrap().until.seconds_since(NOW)
            })
            .collect();
        assert_eq!(pauses, [30, 60, 120, 240, 480, 900, 900, 900]);
        assert!(backoff.of(&project, NOW.plus_seconds(900)).is_none());
        assert!(backoff.of(&project, NOW.plus_seconds(-86_400)).is_none(), "the clock was set back");
        backoff.succeeded(&project);
        assert!(backoff.of(&project, NOW).is_none());
    }

    #[test]
    fn day_with_three_failures_is_skipped_for_an_hour() {
        let (mut backoff, project) = (Backoff::default(), "docs".parse().unwrap());
        let error = UpstreamError::BadAnswer("not JSON".to_owned());
        let (bad, good) = (day("2026-11-02"), day("2026-11-01"));
        let aside = [bad, good, bad, bad, bad].map(|day| backoff.failed(&project, day, &error, NOW));
        assert_eq!(aside, [false, false, false, false, true]);
        assert!(backoff.is_set_aside(&project, bad, NOW.plus_seconds(3_599)));
        assert!(!backoff.is_set_aside(&project, bad, NOW.plus_seconds(3_600)));
        assert!(!backoff.is_set_aside(&project, good, NOW));
        assert!(!backoff.is_set_aside(&"api".parse().unwrap(), bad, NOW));
    }
}
