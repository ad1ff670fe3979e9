//! The figures of ranges that were asked for lately. Those of a range hold as long as its days do: each day has a digest of its rows,
//! so a reader of the days knows whether the figures are still theirs, whichever process wrote them.

use std::sync::Arc;
use std::time::Duration;

use moka::future::Cache;

use super::figures;
use super::period::{Comparable, Period};
use super::table::Figures;
use crate::error::AppError;
use crate::model::day::DayRange;
use crate::model::id::ProjectId;
use crate::server::store::history_queries::{Paths, Snapshot, StoredDay};

/// How many pages all ranges together may have (about 150 bytes each), and for how long a range is kept after its last use.
const PAGES_MAX: u64 = 50_000;
const KEPT_FOR: Duration = Duration::from_secs(600);

/// What a range comes to, page by page.
pub(super) struct KnownFigures {
    /// The days it was read from, and those directly before it.
    days: Vec<StoredDay>,
    pub(super) period: Period,
    pub(super) comparable: Option<Comparable>,
    pub(super) paths: Paths,
    pub(super) figures: Figures,
}

/// Cloning gives another handle.
#[derive(Clone)]
pub(super) struct KnownFiguresCache(Cache<(ProjectId, DayRange), Arc<KnownFigures>>);

impl KnownFigures {
    /// Adds the range up. `days` are those of the snapshot, from as many days before the range on.
    ///
    /// # Errors
    /// `NotInHistory` where a day of the range is missing.
    pub(super) async fn read(
        snapshot: &mut Snapshot,
        range: DayRange,
        days: Vec<StoredDay>,
    ) -> Result<Self, AppError> {
        let (own, earlier): (Vec<_>, Vec<_>) = days.iter().cloned().partition(|day| range.contains(day.day));
        let period = Period::of(range, own)?;
        let comparable = period.comparable_with(&earlier);
        let paths = snapshot.paths().await?;
        let figures = figures(snapshot, &period, comparable.as_ref(), &paths).await?;
        Ok(Self { days, period, comparable, paths, figures })
    }
}

impl KnownFiguresCache {
    pub(super) fn new() -> Self {
        let weigh = |_: &_, known: &Arc<KnownFigures>| u32::try_from(known.paths.len()).unwrap_or(u32::MAX);
        Self(Cache::builder().weigher(weigh).max_capacity(PAGES_MAX).time_to_idle(KEPT_FOR).build())
    }

    /// The figures of the range, if they are of these days.
    pub(super) async fn get(
        &self,
        project: &ProjectId,
        range: DayRange,
        days: &[StoredDay],
    ) -> Option<Arc<KnownFigures>> {
        self.0.get(&(project.clone(), range)).await.filter(|known| known.days == days)
    }

    pub(super) async fn put(
        &self,
        project: &ProjectId,
        range: DayRange,
        known: KnownFigures,
    ) -> Arc<KnownFigures> {
        let known = Arc::new(known);
        self.0.insert((project.clone(), range), known.clone()).await;
        known
    }
}
