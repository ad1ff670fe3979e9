//! The figures of the database, cached for a few seconds.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use base::clock::Clock;
use base::instruments::Instruments;
use model::day::DayRange;
use store::maintenance::figures::Figure;
use store::{Store, StoreError};

/// The lifetime of cached figures.
pub const FRESH: Duration = Duration::from_secs(5);

/// A handle, shared by clones.
#[derive(Clone, Default)]
pub struct LatestFigures(Arc<Mutex<Option<Read>>>);

/// The time of the last query, by the monotonic clock, and its figures.
type Read = (Duration, Arc<[Figure]>);

impl LatestFigures {
    /// The figures, at most [`FRESH`] old. Concurrent callers share one query.
    pub async fn read(
        &self,
        store: &Store,
        clock: &Clock,
        days: DayRange,
        instruments: &Instruments,
    ) -> Result<Arc<[Figure]>, StoreError> {
        let mut latest = self.0.lock().await;
        let now = clock.elapsed();
        if let Some((at, figures)) = &*latest
            && now.saturating_sub(*at) < FRESH
        {
            return Ok(figures.clone());
        }
        let counted = store.figures(days, clock.now()).await?;
        instruments.statement(counted.waited, counted.took);
        let figures: Arc<[Figure]> = counted.figures.into();
        *latest = Some((now, figures.clone()));
        Ok(figures)
    }
}
