//! Views before and after a job about a page finished: from the merge of its pull request on, if that is known. The numbers do not prove a cause. Pure.

use std::collections::BTreeSet;

use crate::analytics::period;
use model::analytics::effect::JobEffect;
use model::day::{Day, DayRange};
use model::page_views::ViewCounts;
use model::pull_request::PullRequestState;
use model::title::title;
use store::page_views::queries::{FinishedJob, StoredDay};

/// The maximum number of jobs shown for a page, newest first.
pub(super) const JOBS_MAX: i64 = 20;

/// The maximum number of pages shown for a job.
pub(super) const PAGES_MAX: i64 = 10;

/// The maximum number of weeks on each side of a job. Sides are whole weeks, so that both have the same weekdays.
const WEEKS_MAX: i64 = 2;

/// The data for the effects of jobs.
pub(super) struct Effects {
    views: Vec<(Day, ViewCounts)>,
    /// Days that had ended when they were fetched.
    complete: BTreeSet<Day>,
    provisional: BTreeSet<Day>,
    stored: BTreeSet<Day>,
}

/// All days that the effects of these jobs may need; `None` without jobs.
pub(super) fn days_around(jobs: &[FinishedJob]) -> Option<DayRange> {
    let days = || jobs.iter().map(|job| Day::of(job.finished_at));
    let most = WEEKS_MAX * 7;
    DayRange::spanning(days().min()?.plus_days(-most), days().max()?.plus_days(most))
}

impl Effects {
    /// `days`: the stored ones; `views` by day, oldest first.
    pub(super) fn among(days: &[StoredDay], views: Vec<(Day, ViewCounts)>) -> Self {
        let (complete, provisional) = (period::complete(days), period::provisional(days));
        Self { views, complete, provisional, stored: days.iter().map(|day| day.day).collect() }
    }

    /// Views in the same number of complete weeks before and after the day the job finished. That day belongs to
    /// neither side.
    pub(super) fn of(&self, job: FinishedJob) -> JobEffect {
        let finished = Day::of(job.finished_at);
        let here = |days: i64| self.complete.contains(&finished.plus_days(days));
        let days = (1..=WEEKS_MAX * 7).take_while(|days| here(-days) && here(*days)).count() as i64 / 7 * 7;
        // Docket does not know the state of a pull request without a connection to its code host.
        let unmerged = job
            .pull_request
            .filter(|state| !matches!(state, PullRequestState::Merged | PullRequestState::Unknown));
        if unmerged.is_some() {
            let none = ViewCounts::default();
            let title = title(&job.prompt);
            return JobEffect {
                job: job.job,
                title,
                finished,
                unmerged,
                days: 0,
                before: none,
                after: none,
                provisional: false,
                missing: 0,
                requested: false,
            };
        }
        let mut effect = JobEffect {
            title: title(&job.prompt),
            job: job.job,
            finished,
            unmerged,
            days: days as u32,
            before: self.sum(finished.plus_days(-days), finished),
            after: self.sum(finished.plus_days(1), finished.plus_days(days + 1)),
            provisional: false,
            missing: 0,
            requested: false,
        };
        let (first, last) = effect.compared_days();
        effect.provisional = self.provisional.range(first..=last).any(|day| *day != finished);
        let weeks = effect.weeks();
        let week = (0..weeks.days()).map(|at| weeks.from().plus_days(at)).filter(|day| *day != finished);
        effect.missing = week.filter(|day| !self.stored.contains(day)).count() as u32;
        effect
    }

    /// The views from `from` (included) to `until` (excluded).
    fn sum(&self, from: Day, until: Day) -> ViewCounts {
        self.views.iter().filter(|(day, _)| from <= *day && *day < until).map(|(_, counts)| *counts).sum()
    }
}
