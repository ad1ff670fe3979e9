//! A cache of the figures of recently requested ranges. Each stored day has a digest of its rows. Cached figures are
//! valid while the digests of their days are unchanged, also when another process wrote the days.

use std::sync::Arc;

use quick_cache::Weighter;
use quick_cache::sync::Cache;

use super::figures;
use super::period::{Comparable, Period};
use super::table::Figures;
use model::analytics::choice::Compare;
use model::analytics::pages::Earlier;
use model::day::{Day, DayRange};
use model::error::AppError;
use model::id::ProjectId;
use model::page_views::ViewCounts;
use store::page_views::queries::{Paths, Snapshot, StoredDay, Sums};

/// The maximum number of pages and days in all cached ranges together (about 150 bytes each).
const ROWS_MAX: u64 = 50_000;
/// The expected number of ranges: so few that the cache has one shard, where also a project with many pages fits.
const RANGES: usize = 32;

/// The figures of a range, page by page.
pub(super) struct KnownFigures {
    /// The days of the range and of the compared period at the time of the query.
    days: Vec<StoredDay>,
    pub(super) period: Period,
    pub(super) comparable: Option<Comparable>,
    /// With the views of each page.
    pub(super) earlier: Option<(Earlier, Sums)>,
    pub(super) paths: Arc<Paths>,
    pub(super) figures: Figures,
}

/// Clones share one cache.
#[derive(Clone)]
pub(super) struct KnownFiguresCache(Arc<Cache<Range, Arc<KnownFigures>, ByRows>>);

type Range = (ProjectId, DayRange, Compare);

/// The weight of a range is the number of its pages and days.
#[derive(Clone)]
struct ByRows;

impl Weighter<Range, Arc<KnownFigures>> for ByRows {
    fn weight(&self, _: &Range, known: &Arc<KnownFigures>) -> u64 {
        weight(known.paths.len(), known.days.len())
    }
}

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
        let first = days.iter().map(|day| day.day).min().unwrap_or(range.from());
        let paths = snapshot.paths(first).await?;
        let figures = figures(snapshot, &period, comparable.as_ref(), &paths).await?;
        let earlier = match period.earlier(&before, compare) {
            Some(earlier) => {
                let sums = snapshot.sums(earlier.days, &[], &paths).await?;
                Some((earlier, sums))
            }
            None => None,
        };
        Ok(Self { days, period, comparable, earlier, paths, figures })
    }

    /// The totals of each stored day, also of the compared period.
    pub(super) fn by_day(&self) -> Vec<(Day, ViewCounts)> {
        self.days.iter().map(|day| (day.day, day.totals)).collect()
    }
}

impl KnownFiguresCache {
    pub(super) fn new() -> Self {
        Self(Arc::new(Cache::with_weighter(RANGES, ROWS_MAX, ByRows)))
    }

    /// The cached figures of the range, if they were computed from exactly these days.
    pub(super) fn get(
        &self,
        project: &ProjectId,
        range: DayRange,
        compare: Compare,
        days: &[StoredDay],
    ) -> Option<Arc<KnownFigures>> {
        self.0.get(&(project.clone(), range, compare)).filter(|known| known.days == days)
    }

    pub(super) fn put(
        &self,
        project: &ProjectId,
        range: DayRange,
        compare: Compare,
        known: KnownFigures,
    ) -> Arc<KnownFigures> {
        let known = Arc::new(known);
        self.0.insert((project.clone(), range, compare), known.clone());
        known
    }
}

/// The days are stored twice, here and in the period. Never 0: the cache would not remove it.
fn weight(pages: usize, days: usize) -> u64 {
    (pages + 2 * days + 1) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_without_pages_are_removed_too() {
        #[derive(Clone)]
        struct Weighed;
        impl Weighter<u64, (usize, usize)> for Weighed {
            fn weight(&self, _: &u64, (pages, days): &(usize, usize)) -> u64 {
                weight(*pages, *days)
            }
        }
        let cache: Cache<u64, (usize, usize), Weighed> = Cache::with_weighter(RANGES, ROWS_MAX, Weighed);
        for range in 0..10_000 {
            cache.insert(range, (0, 28));
        }
        assert!(cache.len() <= ROWS_MAX as usize / 57, "{}", cache.len());
        cache.insert(0, (ROWS_MAX as usize * 9 / 10, 28));
        assert!(cache.get(&0).is_some(), "a project with many pages is stored, too");
    }
}
