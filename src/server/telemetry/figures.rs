//! The figures of the database, read at most every few seconds however often they are asked for.

use std::sync::Arc;
use std::time::Duration;

use tokio::sync::Mutex;

use crate::model::day::DayRange;
use crate::server::process::clock::Clock;
use crate::server::store::maintenance::figures::Figure;
use crate::server::store::{Store, StoreError};
use crate::server::telemetry::instruments::Instruments;

/// How long figures are good.
pub const FRESH: Duration = Duration::from_secs(5);

/// A handle, shared by clones.
#[derive(Clone, Default)]
pub struct LatestFigures(Arc<Mutex<Option<Read>>>);

/// When figures were read, by the monotonic clock, and what they were.
type Read = (Duration, Arc<[Figure]>);

impl LatestFigures {
    /// The figures of now or of [`FRESH`] before. Who asks while they are being read waits for those.
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
