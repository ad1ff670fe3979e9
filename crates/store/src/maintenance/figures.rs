//! The database's metrics: one statement, which reads only indexes and short tables. Must not read texts.

use std::time::{Duration, Instant};

use sqlx::Row;

use crate::{Store, StoreError};
use model::day::DayRange;
use model::time::Timestamp;

const HOUR_MILLIS: i64 = 3_600_000;

/// Rows of one shape: the metric, its scope or project, its state, and the number.
const FIGURES: &str = "
    SELECT 'calls' AS what, scope AS of_whom, '' AS state, COUNT(*) AS number
    FROM upstream_calls WHERE at > $1 GROUP BY scope
    UNION ALL
    SELECT 'queued', j.project, '', COUNT(*)
    FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.state = 'queued' GROUP BY j.project
    UNION ALL
    SELECT 'queue head', j.project, '', MIN(m.created_at)
    FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.state = 'queued' GROUP BY j.project
    UNION ALL
    SELECT 'jobs', project, state, COUNT(*) FROM listed_jobs GROUP BY project, state
    UNION ALL
    SELECT 'tracked', project, '', COUNT(*) FROM jobs WHERE next_poll_at IS NOT NULL GROUP BY project
    UNION ALL
    SELECT 'next poll', project, '', MIN(next_poll_at) FROM jobs WHERE next_poll_at IS NOT NULL GROUP BY project
    UNION ALL
    SELECT 'days', project, '', COUNT(*) FROM history_days WHERE day >= $2 AND day <= $3 GROUP BY project
    UNION ALL
    SELECT 'newest day', project, MAX(day), 0 FROM history_days WHERE day <= $3 GROUP BY project
    UNION ALL
    SELECT 'open circuit', circuit, '', tried_at FROM upstream_circuits WHERE tried_at IS NOT NULL
    UNION ALL
    SELECT 'pull requests', project, state, COUNT(*) FROM pull_requests GROUP BY project, state
    UNION ALL
    SELECT 'code host left', host, '', remaining FROM code_hosts WHERE remaining IS NOT NULL
    UNION ALL
    SELECT 'code host failures', host, '', failures FROM code_hosts
    UNION ALL
    SELECT 'events', w.project, '', COUNT(*)
    FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id WHERE d.next_try_at IS NOT NULL GROUP BY w.project";

/// A row of [`FIGURES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    pub what: String,
    pub of_whom: String,
    pub state: String,
    pub number: i64,
}

/// Connections of a pool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSize {
    pub name: &'static str,
    pub open: u32,
    pub idle: u32,
}

/// The figures, and how long their statement waited for a connection and ran.
#[derive(Debug, Clone)]
pub struct Counted {
    pub figures: Vec<Figure>,
    pub waited: Duration,
    pub took: Duration,
}

impl Store {
    /// All metrics from tables. `days` are the days that the background sync covers.
    pub async fn figures(&self, days: DayRange, now: Timestamp) -> Result<Counted, StoreError> {
        let begun = Instant::now();
        let mut connection = self.pool.acquire().await?;
        let acquired = Instant::now();
        let rows = sqlx::query(FIGURES)
            .bind(now.as_millis() - HOUR_MILLIS)
            .bind(days.from().to_string())
            .bind(days.to().to_string())
            .fetch_all(&mut *connection)
            .await?;
        let (waited, took) = (acquired - begun, acquired.elapsed());
        let figure = |row: &sqlx::any::AnyRow| {
            Ok(Figure {
                what: row.try_get(0)?,
                of_whom: row.try_get(1)?,
                state: row.try_get(2)?,
                number: row.try_get(3)?,
            })
        };
        let figures = rows.iter().map(figure).collect::<Result<_, sqlx::Error>>()?;
        Ok(Counted { figures, waited, took })
    }

    /// The pools that have connections.
    pub fn pool_sizes(&self) -> [PoolSize; 2] {
        [("main", &self.pool), ("counts", &self.counts)].map(|(name, pool)| PoolSize {
            name,
            open: pool.size(),
            idle: u32::try_from(pool.num_idle()).unwrap_or(u32::MAX),
        })
    }
}
