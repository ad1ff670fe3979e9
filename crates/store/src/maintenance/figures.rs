//! The database's metrics: one statement, which reads only indexes and short tables. Must not read texts.

use std::sync::LazyLock;
use std::time::{Duration, Instant};

use sqlx::{AssertSqlSafe, Row};
use strum::{EnumString, IntoStaticStr, VariantArray};

use crate::{Store, StoreError, parsed};
use model::day::DayRange;
use model::time::Timestamp;

const HOUR_MILLIS: i64 = 3_600_000;

/// What a figure is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case", const_into_str)]
pub enum FigureKind {
    /// Calls of a scope in the last hour.
    Calls,
    /// Prompts in the queue of a project.
    Queued,
    /// When the oldest of them was created.
    QueueHead,
    /// Jobs of a project in a state.
    Jobs,
    /// Jobs of a project that are polled.
    Tracked,
    /// When the next of them is due.
    NextPoll,
    /// Stored days of a project.
    Days,
    /// The newest stored day of a project, as the state.
    NewestDay,
    /// When an open circuit breaker was last tried.
    OpenCircuit,
    /// Pull requests of a project in a state.
    PullRequests,
    /// What remains of the limit of a code host.
    CodeHostLeft,
    /// Failures in a row of a code host.
    CodeHostFailures,
    /// Events of a project that wait for a webhook.
    WebhookEvents,
}

impl FigureKind {
    /// Its query without `SELECT`: whom it concerns, its state, and the number.
    const fn query(self) -> &'static str {
        match self {
            Self::Calls => "scope, '', COUNT(*) FROM upstream_calls WHERE at > $1 GROUP BY scope",
            Self::Queued => {
                "j.project, '', COUNT(*)
                 FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.state = 'queued' GROUP BY j.project"
            }
            Self::QueueHead => {
                "j.project, '', MIN(m.created_at)
                 FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.state = 'queued' GROUP BY j.project"
            }
            Self::Jobs => "project, state, COUNT(*) FROM listed_jobs GROUP BY project, state",
            Self::Tracked => {
                "project, '', COUNT(*) FROM jobs WHERE next_poll_at IS NOT NULL GROUP BY project"
            }
            Self::NextPoll => {
                "project, '', MIN(next_poll_at) FROM jobs WHERE next_poll_at IS NOT NULL GROUP BY project"
            }
            Self::Days => {
                "project, '', COUNT(*) FROM history_days WHERE day >= $2 AND day <= $3 GROUP BY project"
            }
            Self::NewestDay => "project, MAX(day), 0 FROM history_days WHERE day <= $3 GROUP BY project",
            Self::OpenCircuit => "circuit, '', tried_at FROM upstream_circuits WHERE tried_at IS NOT NULL",
            Self::PullRequests => "project, state, COUNT(*) FROM pull_requests GROUP BY project, state",
            Self::CodeHostLeft => "host, '', remaining FROM code_hosts WHERE remaining IS NOT NULL",
            Self::CodeHostFailures => "host, '', failures FROM code_hosts",
            Self::WebhookEvents => {
                "w.project, '', COUNT(*)
                 FROM webhook_deliveries d JOIN webhooks w ON w.id = d.webhook_id
                 WHERE d.next_try_at IS NOT NULL GROUP BY w.project"
            }
        }
    }
}

/// The queries of all kinds.
static FIGURES: LazyLock<String> = LazyLock::new(|| {
    let query = |kind: &FigureKind| format!("SELECT '{}', {}", kind.into_str(), kind.query());
    FigureKind::VARIANTS.iter().map(query).collect::<Vec<_>>().join(" UNION ALL ")
});

/// A row of [`FIGURES`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Figure {
    pub kind: FigureKind,
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
        let rows = sqlx::query(AssertSqlSafe(FIGURES.as_str()))
            .bind(now.as_millis() - HOUR_MILLIS)
            .bind(days.from().to_string())
            .bind(days.to().to_string())
            .fetch_all(&mut *connection)
            .await?;
        let (waited, took) = (acquired - begun, acquired.elapsed());
        let figure = |row: &sqlx::any::AnyRow| {
            Ok(Figure {
                kind: parsed(row.try_get(0)?, "figure")?,
                of_whom: row.try_get(1)?,
                state: row.try_get(2)?,
                number: row.try_get(3)?,
            })
        };
        let figures = rows.iter().map(figure).collect::<Result<_, StoreError>>()?;
        Ok(Counted { figures, waited, took })
    }

    /// The pools that have connections.
    pub fn pool_sizes(&self) -> [PoolSize; 2] {
        [("main", &self.pool), ("counts", &self.counts)].map(|(name, pool)| {
            let (open, idle) = pool.size();
            PoolSize { name, open, idle: u32::try_from(idle).unwrap_or(u32::MAX) }
        })
    }
}
