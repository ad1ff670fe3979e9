//! The points of a chart from days. Pure.

use super::period::{Period, complete};
use crate::model::day::Day;
use crate::model::history::{Marker, TrendPoint};
use crate::model::job::title;
use crate::model::page_views::ViewCounts;
use crate::server::store::history_queries::FinishedJob;

/// Longer ranges are shown by week.
const DAYS_MAX: i64 = 120;

/// The maximum number of job markers; the newest are shown.
pub(super) const MARKERS_MAX: i64 = 200;

/// One point per day, or per week starting on Monday; the first and the last week may be shorter.
pub(super) fn points(period: &Period, days: &[(Day, ViewCounts)]) -> Vec<TrendPoint> {
    let by_week = period.range().days() > DAYS_MAX;
    let complete = complete(period.days());
    let mut points: Vec<TrendPoint> = Vec::new();
    for (day, counts) in days {
        let unfinished = !complete.contains(day);
        match points.last_mut().filter(|point| by_week && point.day.monday() == day.monday()) {
            Some(week) => {
                week.days += 1;
                week.counts += *counts;
                week.unfinished |= unfinished;
            }
            None => points.push(TrendPoint { day: *day, days: 1, counts: *counts, unfinished }),
        }
    }
    points
}

/// Oldest first.
pub(super) fn markers(jobs: Vec<FinishedJob>) -> Vec<Marker> {
    let marker = |job: FinishedJob| Marker {
        day: Day::of(job.finished_at),
        title: title(&job.prompt).to_owned(),
        job: job.job,
    };
    jobs.into_iter().rev().map(marker).collect()
}
