//! How much was read before and after a job about it finished. Says what was counted, not why. Pure.

use std::collections::BTreeSet;

use crate::model::day::{Day, DayRange};
use crate::model::history::JobEffect;
use crate::model::job::title;
use crate::model::page_views::ViewCounts;
use crate::server::store::history_queries::FinishedJob;

/// Jobs of a page that are shown, the newest.
pub(super) const JOBS_MAX: i64 = 20;

/// The most days on each side of a job.
const DAYS_MAX: i64 = 14;

/// What the effects of jobs are counted from.
pub(super) struct Effects {
    /// Views by day, oldest first.
    pub(super) views: Vec<(Day, ViewCounts)>,
    /// Days that were over when they were read.
    pub(super) complete: BTreeSet<Day>,
}

/// Every day that the effects of these jobs may need; nothing without jobs.
pub(super) fn days_around(jobs: &[FinishedJob]) -> Option<DayRange> {
    let days = || jobs.iter().map(|job| Day::of(job.finished_at));
    DayRange::new(days().min()?.plus_days(-DAYS_MAX), days().max()?.plus_days(DAYS_MAX)).ok()
}

impl Effects {
    /// Views on as many complete days before the day the job finished as after it; that day belongs to neither side.
    pub(super) fn of(&self, job: FinishedJob) -> JobEffect {
        let finished = Day::of(job.finished_at);
        let here = |days: i64| self.complete.contains(&finished.plus_days(days));
        let days = (1..=DAYS_MAX).take_while(|days| here(-days) && here(*days)).count() as i64;
        JobEffect {
            title: title(&job.prompt).to_owned(),
            job: job.job,
            finished,
            days: days as u32,
            before: self.sum(finished.plus_days(-days), finished),
            after: self.sum(finished.plus_days(1), finished.plus_days(days + 1)),
        }
    }

    /// From the first day up to, but without, the second.
    fn sum(&self, from: Day, until: Day) -> ViewCounts {
        self.views.iter().filter(|(day, _)| from <= *day && *day < until).map(|(_, counts)| *counts).sum()
    }
}
