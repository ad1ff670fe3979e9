//! A cache of the figures of recently requested ranges. Each stored day has a digest of its rows. Cached figures are
//! valid while the digests of their days are unchanged, also when another process wrote the days.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

use super::figures;
use super::period::{Comparable, Period};
use super::table::Figures;
use model::analytics::choice::Compare;
use model::analytics::pages::Earlier;
use model::day::{Day, DayRange};
use model::error::AppError;
use model::id::ProjectId;
use model::page_views::ViewCounts;
use store::page_views::queries::{Paths, Snapshot, StoredDay};

/// The maximum number of pages in all cached ranges together (about 150 bytes each), and the idle time after which a
/// range is evicted.
const PAGES_MAX: u64 = 50_000;
const IDLE_TTL: Duration = Duration::from_secs(600);

/// The figures of a range, page by page.
pub(super) struct KnownFigures {
    /// The days of the range and of the compared period at the time of the query.
    days: Vec<StoredDay>,
    pub(super) period: Period,
    pub(super) comparable: Option<Comparable>,
    pub(super) earlier: Option<Earlier>,
    pub(super) paths: Arc<Paths>,
    pub(super) figures: Figures,
}

/// Clones share one cache.
#[derive(Clone)]
pub(super) struct KnownFiguresCache(Cache<(ProjectId, DayRange, Compare), Arc<KnownFigures>>);

impl KnownFigures {
    /// Sums the range. `days`: the snapshot's days of the range and of the compared period.
    ///
    /// # Errors
    /// `NotInHistory` if a day of the range is missing.
    pub(super) async fn read(
        snapshot: &mut Snapshot,
        range: DayRange,
        compare: Compare,
        days: Vec<StoredDay>,
    ) -> Result<Self, AppError> {
        let (own, before): (Vec<_>, Vec<_>) = days.iter().cloned().partition(|day| range.contains(day.day));
        let period = Period::of(range, own)?;
        let comparable = period.comparable_with(&before, compare);
        let earlier = period.earlier(&before, compare);
        let first = days.iter().map(|day| day.day).min().unwrap_or(range.from());
        let paths = snapshot.paths(first).await?;
        let figures = figures(snapshot, &period, comparable.as_ref(), &paths).await?;
        Ok(Self { days, period, comparable, earlier, paths, figures })
    }

    /// The totals of each stored day, also of the compared period.
    pub(super) fn by_day(&self) -> Vec<(Day, ViewCounts)> {
        self.days.iter().map(|day| (day.day, day.totals)).collect()
    }
}

impl KnownFiguresCache {
    pub(super) fn new() -> Self {
        let weigh = |_: &_, known: &Arc<KnownFigures>| u32::try_from(known.paths.len()).unwrap_or(u32::MAX);
        Self(Cache::builder().weigher(weigh).max_capacity(PAGES_MAX).time_to_idle(IDLE_TTL).build())
    }

    /// The cached figures of the range, if they were computed from exactly these days.
    pub(super) async fn get(
        &self,
        project: &ProjectId,
        range: DayRange,
        compare: Compare,
        days: &[StoredDay],
    ) -> Option<Arc<KnownFigures>> {
        self.0.get(&(project.clone(), range, compare)).await.filter(|known| known.days == days)
    }

    pub(super) async fn put(
        &self,
        project: &ProjectId,
        range: DayRange,
        compare: Compare,
        known: KnownFigures,
    ) -> Arc<KnownFigures> {
        let known = Arc::new(known);
        self.0.insert((project.clone(), range, compare), known.clone()).await;
        known
    }
}
