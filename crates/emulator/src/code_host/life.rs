//! What happens to a pull request after it was opened, as a function of time.

use serde_json::{Value, json};

use super::Opened;
use crate::clock::Timestamp;
use crate::noise::Seed;

/// The unit of a life in milliseconds: of a new pull request, and of a sample.
const STEP: i64 = 20_000;
const STEP_OF_SAMPLE: i64 = 6 * 3_600_000;

const REVIEWERS: [&str; 4] = ["mira-ortega", "jonas-w", "priya-docs", "sam-lee"];

/// How a pull request goes on.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Course {
    /// Reviewed and merged.
    Smooth,
    /// A reviewer requests changes first.
    Changes,
    /// The checks fail first.
    Failing,
    /// Conflicts with another change.
    Conflict,
    /// Nobody reviews it.
    Waiting,
    /// A draft first.
    Draft,
    /// Closed without a merge.
    Closed,
}

/// How often each course is taken, of a hundred.
const COURSES: [(Course, u32); 7] = [
    (Course::Smooth, 50),
    (Course::Changes, 12),
    (Course::Failing, 10),
    (Course::Conflict, 8),
    (Course::Waiting, 8),
    (Course::Draft, 6),
    (Course::Closed, 6),
];

/// The life of one pull request.
#[derive(Debug)]
pub(super) struct Life {
    course: Course,
    opened_at: Timestamp,
    step: i64,
    reviewer: &'static str,
}

/// A pull request at an instant.
#[derive(Debug)]
pub(super) struct Moment {
    life: Life,
    /// How many steps have passed.
    steps: i64,
}

impl Life {
    pub(super) fn of(seed: Seed, opened: &Opened) -> Self {
        let mut left = (seed.nth(0).unit() * 100.0) as u32;
        let course = COURSES.into_iter().find(|(_, share)| {
            let is_here = left < *share;
            left = left.saturating_sub(*share);
            is_here
        });
        Self {
            course: course.map_or(Course::Smooth, |(course, _)| course),
            opened_at: opened.at,
            step: if opened.is_past { STEP_OF_SAMPLE } else { STEP },
            reviewer: REVIEWERS[(seed.nth(2).unit() * REVIEWERS.len() as f64) as usize % REVIEWERS.len()],
        }
    }

    pub(super) fn at(self, now: Timestamp) -> Moment {
        let steps = (now.as_millis() - self.opened_at.as_millis()).max(0) / self.step;
        Moment { life: self, steps }
    }

    /// The step of the merge or the close, if there is one.
    fn end(&self) -> Option<i64> {
        match self.course {
            Course::Smooth => Some(6),
            Course::Changes => Some(10),
            Course::Failing => Some(9),
            Course::Draft => Some(11),
            Course::Closed => Some(5),
            Course::Conflict | Course::Waiting => None,
        }
    }
}

impl Moment {
    fn is_over(&self) -> bool {
        self.life.end().is_some_and(|end| self.steps >= end)
    }

    fn is_draft(&self) -> bool {
        self.life.course == Course::Draft && self.steps < 4
    }

    /// The state of the checks.
    fn checks(&self) -> &'static str {
        match (self.life.course, self.steps) {
            (_, ..2) => "PENDING",
            (Course::Failing, 2..6) => "FAILURE",
            _ => "SUCCESS",
        }
    }

    fn decision(&self) -> &'static str {
        match (self.life.course, self.steps) {
            (Course::Smooth, 4..) | (Course::Changes | Course::Failing, 8..) | (Course::Draft, 9..) => {
                "APPROVED"
            }
            (Course::Changes, 3..) => "CHANGES_REQUESTED",
            _ => "REVIEW_REQUIRED",
        }
    }

    /// The fields of GitHub's `PullRequest` that clients may request.
    pub(super) fn object(&self, files: &[String]) -> Value {
        let Life { course, opened_at, step, reviewer } = self.life;
        let end = self.life.end().filter(|_| self.is_over());
        let end = end.map(|end| Timestamp::from_millis(opened_at.as_millis() + end * step).to_string());
        let is_merged = self.is_over() && course != Course::Closed;
        let state = match (self.is_over(), is_merged) {
            (true, true) => "MERGED",
            (true, false) => "CLOSED",
            _ => "OPEN",
        };
        let user = json!({ "__typename": "User", "login": reviewer });
        let decision = self.decision();
        let (requested, reviews) = match decision {
            "REVIEW_REQUIRED" => (vec![json!({ "requestedReviewer": user })], Vec::new()),
            decision => (Vec::new(), vec![json!({ "state": decision, "author": user })]),
        };
        let files: Vec<Value> = files.iter().map(|path| json!({ "path": path })).collect();
        json!({
            "__typename": "PullRequest",
            "state": state,
            "isDraft": self.is_draft(),
            "createdAt": opened_at.to_string(),
            "mergedAt": end.clone().filter(|_| is_merged),
            "closedAt": end,
            "mergeable": if course == Course::Conflict && self.steps >= 3 { "CONFLICTING" } else { "MERGEABLE" },
            "reviewDecision": decision,
            "changedFiles": files.len(),
            "files": { "nodes": files },
            "reviewRequests": { "nodes": requested },
            "latestOpinionatedReviews": { "nodes": reviews },
            "commits": { "nodes": [{ "commit": { "statusCheckRollup": { "state": self.checks() } } }] },
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn states(course: Course) -> Vec<String> {
        let moment = |steps| {
            let opened_at = Timestamp::from_millis(1_795_000_000_000);
            let life = Life { course, opened_at, step: STEP, reviewer: REVIEWERS[0] };
            let now = Timestamp::from_millis(opened_at.as_millis() + steps * STEP);
            let object = life.at(now).object(&["docs/a.mdx".to_owned()]);
            let text = |name: &str| object[name].as_str().unwrap_or_default().to_owned();
            [text("state"), text("reviewDecision"), text("mergeable")].join(" ")
        };
        let mut states: Vec<String> = (0..20).map(moment).collect();
        states.dedup();
        states
    }

    #[test]
    fn each_course_ends_as_described() {
        for (course, last) in [
            (Course::Smooth, "MERGED APPROVED MERGEABLE"),
            (Course::Changes, "MERGED APPROVED MERGEABLE"),
            (Course::Failing, "MERGED APPROVED MERGEABLE"),
            (Course::Draft, "MERGED APPROVED MERGEABLE"),
            (Course::Conflict, "OPEN REVIEW_REQUIRED CONFLICTING"),
            (Course::Waiting, "OPEN REVIEW_REQUIRED MERGEABLE"),
            (Course::Closed, "CLOSED REVIEW_REQUIRED MERGEABLE"),
        ] {
            let states = states(course);
            assert_eq!(states[0], "OPEN REVIEW_REQUIRED MERGEABLE", "{course:?}");
            assert_eq!(states.last().map(String::as_str), Some(last), "{course:?}");
        }
        assert!(states(Course::Changes).contains(&"OPEN CHANGES_REQUESTED MERGEABLE".to_owned()));
    }

    #[test]
    fn courses_have_their_shares() {
        assert_eq!(COURSES.iter().map(|(_, share)| share).sum::<u32>(), 100);
    }
}
