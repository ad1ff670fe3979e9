//! Page views: how often people and AI agents read documentation pages.

use std::iter::Sum;
use std::ops::AddAssign;

use serde::{Deserialize, Serialize};

use crate::time::Timestamp;

/// Views by people and by AI agents. `total` is the upstream's number, not the sum of the others.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub struct ViewCounts {
    pub human: u64,
    pub ai: u64,
    pub total: u64,
}

/// The views of one documentation page in a range of days.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
pub struct PageViews {
    pub path: String,
    pub human: u64,
    pub ai: u64,
    pub total: u64,
}

/// One response with page views.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct FetchedPageViews {
    /// Of the whole range, on every page of rows.
    pub totals: ViewCounts,
    pub views: Vec<PageViews>,
    /// Whether there are rows after these.
    pub has_more: bool,
    /// When the upstream sent these figures.
    pub fetched_at: Timestamp,
    /// Whether the figures are outdated because the upstream could not be called.
    pub stale: bool,
    /// Whether invalid figures were corrected or rows were left out. Omitted on the wire if not.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub corrected: bool,
}

impl ViewCounts {
    /// The views by people and by AI together, of which the AI share is a part. `total` may differ from it.
    pub const fn readers(self) -> u64 {
        self.human.saturating_add(self.ai)
    }
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
