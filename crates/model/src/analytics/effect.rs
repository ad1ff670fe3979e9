//! The views of a page before and after a job about it.

use serde::{Deserialize, Serialize};

use super::choice::Readers;
use super::pages::VIEWS_MIN;
use crate::day::{Day, DayRange};
use crate::id::JobId;
use crate::page_views::ViewCounts;
use crate::pull_request::PullRequestState;

/// Views in the days before and after a job about a page finished: after its pull request was merged, if that is known. Does not claim that the job caused the change.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEffect {
    pub job: JobId,
    pub title: String,
    pub finished: Day,
    /// The state of its pull request, if that is known and it is not merged. Then nothing is compared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unmerged: Option<PullRequestState>,
    /// The number of days on each side: one or two whole weeks of complete, stored days; 0 without a whole week.
    pub days: u32,
    pub before: ViewCounts,
    pub after: ViewCounts,
    /// Whether one of the compared days may still change.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub provisional: bool,
    /// How many days of the week before and the week after are not stored.
    #[serde(default)]
    pub missing: u32,
    /// Whether some of those were requested and are therefore fetched before others.
    #[serde(default)]
    pub requested: bool,
}

/// What can be concluded from the views around a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Finding {
    /// Its pull request is not merged.
    NotMerged(PullRequestState),
    /// The week after the job has not passed.
    TooEarly,
    /// Days of the week before or after are not stored.
    DaysMissing,
    /// Fewer than [`VIEWS_MIN`] views by these readers on both sides.
    TooFewViews,
    Comparable,
}

/// A page that a finished job was about, with the views around it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageEffect {
    pub path: String,
    pub effect: JobEffect,
}

/// The pages of a job with the views around it.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct JobEffects {
    /// The first ones, by path.
    pub pages: Vec<PageEffect>,
    /// How many pages the job is about; 0 if nothing is compared.
    pub pages_total: u64,
}

impl JobEffect {
    /// The minimum range for a comparison: the week before the job finished, that day, and the week after.
    pub fn weeks(&self) -> DayRange {
        DayRange::ending(self.finished.plus_days(7), 15)
    }

    /// The first and the last of the compared days.
    pub fn compared_days(&self) -> (Day, Day) {
        let days = i64::from(self.days);
        (self.finished.plus_days(-days), self.finished.plus_days(days))
    }

    /// What the views by these readers show.
    pub fn finding(&self, today: Day, readers: Readers) -> Finding {
        if let Some(state) = self.unmerged {
            return Finding::NotMerged(state);
        }
        match self.days {
            0 if today.days_since(self.finished) <= 7 => Finding::TooEarly,
            0 => Finding::DaysMissing,
            _ if readers.of(self.before).max(readers.of(self.after)) < VIEWS_MIN => Finding::TooFewViews,
            _ => Finding::Comparable,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn effect_needs_a_whole_week_and_twenty_views() {
        let day = |text: &str| text.parse::<Day>().unwrap_or_else(|error| panic!("{error}"));
        let counts = |total| ViewCounts { human: total, ai: 0, total };
        let effect = |days, before, after| JobEffect {
            job: "01920000-0000-7000-8000-000000000000".parse().unwrap_or_else(|_| panic!("an id")),
            title: String::new(),
            finished: day("2026-11-10"),
            days,
            before: counts(before),
            after: counts(after),
            unmerged: None,
            provisional: false,
            missing: 0,
            requested: false,
        };
        let open = JobEffect { unmerged: Some(PullRequestState::Open), ..effect(7, 3, 20) };
        for readers in [Readers::People, Readers::All] {
            let finding = |effect: JobEffect, today| effect.finding(day(today), readers);
            assert_eq!(finding(open.clone(), "2026-11-18"), Finding::NotMerged(PullRequestState::Open));
            assert_eq!(finding(effect(0, 0, 0), "2026-11-17"), Finding::TooEarly);
            assert_eq!(finding(effect(0, 0, 0), "2026-11-18"), Finding::DaysMissing);
            assert_eq!(finding(effect(7, 19, 3), "2026-11-18"), Finding::TooFewViews);
            assert_eq!(finding(effect(7, 3, 20), "2026-11-18"), Finding::Comparable);
        }
        let by_ai = effect(7, 300, 20).finding(day("2026-11-18"), Readers::Ai);
        assert_eq!(by_ai, Finding::TooFewViews, "people alone read it");
    }
}
