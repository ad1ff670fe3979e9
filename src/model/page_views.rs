//! Page views: what people and AI agents read.

use std::iter::Sum;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::model::time::Timestamp;

/// Views by kind of reader. `total` is what the upstream says, not a sum of ours.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ViewCounts {
    pub human: u64,
    pub ai: u64,
    pub total: u64,
}

/// The views of one page of the documentation in a range of days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PageViews {
    pub path: String,
    pub human: u64,
    pub ai: u64,
    pub total: u64,
}

/// One answer about page views.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedPageViews {
    /// For the whole range, whichever page of rows this is.
    pub totals: ViewCounts,
    pub views: Vec<PageViews>,
    /// Whether rows follow after these.
    pub has_more: bool,
    /// When the upstream gave these figures.
    pub fetched_at: Timestamp,
    /// Whether the figures are older than they should be because the upstream could not be asked.
    pub stale: bool,
    /// Whether some figures were no counts and were corrected, or rows were left out. Left out of the wire where not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub corrected: bool,
}

impl AddAssign for ViewCounts {
    fn add_assign(&mut self, other: Self) {
        self.human = self.human.saturating_add(other.human);
        self.ai = self.ai.saturating_add(other.ai);
        self.total = self.total.saturating_add(other.total);
    }
}

impl Sum for ViewCounts {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |mut sum, counts| {
            sum += counts;
            sum
        })
    }
}

impl PageViews {
    pub const fn counts(&self) -> ViewCounts {
        ViewCounts { human: self.human, ai: self.ai, total: self.total }
    }
}
