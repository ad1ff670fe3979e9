//! The points of a chart from days. Pure.

use std::collections::BTreeMap;

use super::period::{Comparable, Period, complete, provisional};
use model::analytics::trend::{Marker, Trend, TrendPoint};
use model::day::Day;
use model::page_views::ViewCounts;
use model::pull_request::PullRequestState;
use model::title::title;
use store::page_views::queries::{Annotations, FinishedJob, FinishedJobs};

/// Longer ranges are shown by week.
const DAYS_MAX: i64 = 120;

/// The maximum number of job markers; the newest are shown.
pub(super) const MARKERS_MAX: i64 = 200;

/// One point per day, or per week starting on Monday; the first and the last week may be shorter. `days` are those of the
/// range and of the compared period, if there is one.
pub(super) fn points(
    period: &Period,
    comparable: Option<&Comparable>,
    days: &[(Day, ViewCounts)],
) -> Vec<TrendPoint> {
    let by_week = period.range().days() > DAYS_MAX;
    let complete = complete(period.days());
    let provisional = provisional(period.days());
    let counted: BTreeMap<Day, ViewCounts> = days.iter().copied().collect();
    let before = |day: Day| {
        let comparable = comparable.filter(|comparable| comparable.contains(day))?;
        let partner = day.plus_days(-comparable.shift());
        let is_provisional = comparable.provisional.contains(&partner);
        Some((counted.get(&partner).copied().unwrap_or_default(), u32::from(is_provisional)))
    };
    let mut points: Vec<TrendPoint> = Vec::new();
    for (day, counts) in counted.range(period.range().from()..=period.range().to()) {
        let (unfinished, previous) = (u32::from(!complete.contains(day)), before(*day));
        let (previous, previous_provisional) = (previous.map(|it| it.0), previous.map_or(0, |it| it.1));
        let provisional = u32::from(provisional.contains(day));
        match points.last_mut().filter(|point| by_week && point.day.monday() == day.monday()) {
            Some(week) => {
                week.days += 1;
                week.counts += *counts;
                week.unfinished_days += unfinished;
                week.provisional_days += provisional;
                week.previous_provisional_days += previous_provisional;
                week.previous = week.previous.zip(previous).map(|(sum, more)| [sum, more].into_iter().sum());
            }
            None => {
                let (day, counts) = (*day, *counts);
                points.push(TrendPoint {
                    day,
                    days: 1,
                    counts,
                    unfinished_days: unfinished,
                    provisional_days: provisional,
                    previous,
                    previous_provisional_days: previous_provisional,
                });
            }
        }
    }
    // A week in which a day is not compared has no figures before.
    for point in points.iter_mut().filter(|point| point.previous.is_none()) {
        point.previous_provisional_days = 0;
    }
    points
}

/// The trend with its jobs and annotations.
pub(super) fn trend(points: Vec<TrendPoint>, finished: FinishedJobs, annotations: Annotations) -> Trend {
    Trend {
        points,
        markers: markers(finished.jobs),
        markers_total: finished.total,
        annotations: annotations.newest,
        annotations_total: annotations.total,
    }
}

/// Oldest first.
fn markers(jobs: Vec<FinishedJob>) -> Vec<Marker> {
    let marker = |job: FinishedJob| Marker {
        day: Day::of(job.finished_at),
        title: title(&job.prompt),
        merged: job.pull_request == Some(PullRequestState::Merged),
        job: job.job,
    };
    jobs.into_iter().rev().map(marker).collect()
}
