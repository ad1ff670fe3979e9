//! Counts upstream calls over a rolling hour, per scope. The governor defines the scopes.

use sqlx::{Any, AnyConnection, AssertSqlSafe, Executor, Row};

use crate::dialect::select::sql_placeholders;
use crate::jobs::seen::{self, Reader, Unread};
use crate::platform::circuits::lacks_credits;
use crate::platform::notices::unseen_notices;
use crate::{Store, StoreError, new_id};
use base::work::Work;
use model::budget::Meter;
use model::id::ProjectId;
use model::time::Timestamp;

const HOUR_MILLIS: i64 = 3_600_000;

/// No pause is longer than an hour, plus a tolerance for clock differences between processes. A later end was written before a clock rollback, and is
/// ignored.
pub(crate) const LONGEST_PAUSE_MILLIS: i64 = HOUR_MILLIS + 60_000;

/// For the limits of job starts, follow-ups and analytics: the calls of the last hour and the end of the pause. Then the other fields of [`Meters`].
const METERS: &str = "SELECT
    (SELECT COUNT(*) FROM upstream_calls WHERE scope IN ($1, $10) AND at > $4),
    (SELECT COUNT(*) FROM upstream_calls WHERE scope IN ($2, $11) AND at > $4),
    (SELECT COUNT(*) FROM upstream_calls WHERE scope = $3 AND at > $4),
    (SELECT COALESCE(MAX(ends_at), 0) FROM upstream_pauses WHERE scope IN ($1, $10) AND ends_at > $5 AND ends_at <= $6),
    (SELECT COALESCE(MAX(ends_at), 0) FROM upstream_pauses WHERE scope IN ($2, $11) AND ends_at > $5 AND ends_at <= $6),
    (SELECT COALESCE(MAX(ends_at), 0) FROM upstream_pauses WHERE scope = $3 AND ends_at > $5 AND ends_at <= $6),
    (SELECT COUNT(*) FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.state = 'queued' AND j.project = $7),
    (SELECT COUNT(*) FROM upstream_circuits WHERE (tried_at IS NOT NULL AND circuit IN ('reads', 'analytics', 'key'))
        OR (tried_at > $4 AND circuit = 'prompts:' || $7)),
    (SELECT COUNT(*) FROM upstream_circuits WHERE tried_at IS NOT NULL AND circuit = 'key'),
    (SELECT COUNT(*) FROM pull_requests WHERE project = $7 AND waiting_for <> 'nobody' AND waiting_for = 'reviewer'),
    (SELECT COUNT(*) FROM upstream_circuits WHERE tried_at > $4 AND circuit IN
        ('refused:create:' || $7, 'refused:follow_up:' || $7, 'refused:read:' || $7, 'refused:views:' || $7)), ";

/// The numbers that every page shows.
pub struct Meters {
    pub of_scopes: [Meter; 3],
    /// Queued prompts of the project.
    pub waiting: u32,
    /// Open circuit breakers that concern the project, including that of the key, without those of refused operations. That of its prompts counts
    /// for an hour after it was tried.
    pub open_circuits: u32,
    /// The operations of the project that the platform refuses.
    pub refused_operations: u32,
    pub key_is_refused: bool,
    /// Whether the platform has no AI credits for the prompts of the project, and a prompt waits or was tried within an hour.
    pub lacks_credits: bool,
    /// What the reader has not seen.
    pub unread: Unread,
    /// Pull requests that wait for a reviewer.
    pub reviews: u32,
}

/// How many calls of a scope an hour may have.
#[derive(Debug, Clone)]
pub struct ScopeLimit {
    pub scope: String,
    /// The scope whose calls count as well, or the same one.
    pub other: String,
    pub limit: u32,
}

impl ScopeLimit {
    /// The limit of one scope.
    pub fn of(scope: impl Into<String>, limit: u32) -> Self {
        let scope = scope.into();
        Self { other: scope.clone(), scope, limit }
    }

    /// The scope whose queue has the pace: one for both scopes that share a limit.
    pub(crate) fn pace_scope(&self) -> &str {
        self.scope.as_str().min(&self.other)
    }
}

impl Store {
    /// Counts one call in `scope` if the last hour has room for it and no pause is active. Returns its id.
    ///
    /// The count survives the end of the process, but not a power cut: waiting for the disk would be most of what Docket adds to a call, and the
    /// upstream counts as well. The count of a prompt commits with the prompt, and waits for the disk.
    pub async fn acquire_call(
        &self,
        scope: &str,
        limit: u32,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        let id = new_id();
        Ok(acquire_in(self.counter(), &id, &ScopeLimit::of(scope, limit), now).await?.then_some(id))
    }

    /// Removes counted calls that were not made.
    pub async fn uncount_calls(&self, calls: &[String]) -> Result<(), StoreError> {
        let names = sql_placeholders(1, calls.len());
        let delete = sqlx::query(AssertSqlSafe(format!("DELETE FROM upstream_calls WHERE id IN ({names})")));
        calls.iter().fold(delete, |delete, call| delete.bind(call)).execute(self.counter()).await?;
        Ok(())
    }

    /// As [`Store::acquire_call`], in both `scope` and `share` or in neither; in neither while one of `circuits` is open.
    pub async fn acquire_shared_call(
        &self,
        scope: &ScopeLimit,
        share: &ScopeLimit,
        circuits: Option<[&str; 2]>,
        now: Timestamp,
    ) -> Result<Option<[String; 2]>, StoreError> {
        let ids = [new_id(), new_id()];
        let counted = sqlx::query(
            "INSERT INTO upstream_calls (id, scope, at)
             SELECT calls.id, calls.scope, $5
             FROM (SELECT $1 AS id, $2 AS scope UNION ALL SELECT $3, $4) calls
             WHERE (SELECT COUNT(*) FROM upstream_calls WHERE scope = $2 AND at > $6) < $7
             AND (SELECT COUNT(*) FROM upstream_calls WHERE scope = $4 AND at > $6) < $8
             AND NOT EXISTS (SELECT 1 FROM upstream_pauses WHERE scope = $2 AND ends_at > $5 AND ends_at <= $9)
             AND NOT EXISTS (SELECT 1 FROM upstream_circuits WHERE circuit IN ($10, $11) AND tried_at IS NOT NULL)",
        )
        .bind(&ids[0])
        .bind(&scope.scope)
        .bind(&ids[1])
        .bind(&share.scope)
        .bind(now.as_millis())
        .bind(now.as_millis() - HOUR_MILLIS)
        .bind(i64::from(scope.limit))
        .bind(i64::from(share.limit))
        .bind(now.as_millis() + LONGEST_PAUSE_MILLIS)
        // No circuit has an empty name.
        .bind(circuits.map_or("", |circuits| circuits[0]))
        .bind(circuits.map_or("", |circuits| circuits[1]))
        .execute(self.counter())
        .await?;
        Ok((counted.rows_affected() == 2).then_some(ids))
    }

    /// Deletes calls too old to count, even after a clock rollback by an hour.
    pub async fn forget_calls(&self, work: &Work, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM upstream_calls WHERE at <= $1")
            .bind(now.as_millis() - 2 * HOUR_MILLIS)
            .execute(self.write(work).statement())
            .await?;
        Ok(())
    }

    /// Blocks all calls in `scope` before `until`, at most for an hour. An active pause that ends later remains.
    pub async fn pause_calls(&self, work: &Work, scope: &str, until: Timestamp) -> Result<(), StoreError> {
        let latest = work.now().as_millis() + LONGEST_PAUSE_MILLIS;
        sqlx::query(
            "INSERT INTO upstream_pauses (scope, ends_at) VALUES ($1, $2)
             ON CONFLICT (scope) DO UPDATE SET ends_at = excluded.ends_at
             WHERE upstream_pauses.ends_at < excluded.ends_at OR upstream_pauses.ends_at > $3",
        )
        .bind(scope)
        .bind(until.as_millis().min(latest))
        .bind(latest)
        .execute(self.write(work).statement())
        .await?;
        Ok(())
    }

    /// When the pause of `scope` ends, if it is active.
    pub async fn paused_until(&self, scope: &str, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let ends_at: Option<i64> = sqlx::query_scalar(
            "SELECT ends_at FROM upstream_pauses WHERE scope = $1 AND ends_at > $2 AND ends_at <= $3",
        )
        .bind(scope)
        .bind(now.as_millis())
        .bind(now.as_millis() + LONGEST_PAUSE_MILLIS)
        .fetch_optional(&self.pool)
        .await?;
        Ok(ends_at.map(Timestamp::from_millis))
    }

    /// The numbers of queued prompts of `project`: those that start a job, and follow-ups.
    pub async fn waiting_prompts(&self, project: &ProjectId) -> Result<[u32; 2], StoreError> {
        let waiting: (i64, i64) = sqlx::query_as(
            "SELECT COUNT(*), COUNT(CASE WHEN m.position > 0 THEN 1 END)
             FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.state = 'queued' AND j.project = $1",
        )
        .bind(project.as_str())
        .fetch_one(&self.pool)
        .await?;
        Ok([waiting.0 - waiting.1, waiting.1].map(|count| u32::try_from(count).unwrap_or(u32::MAX)))
    }

    /// The usage of a limit over the last hour.
    pub async fn meter(&self, limited: &ScopeLimit, now: Timestamp) -> Result<Meter, StoreError> {
        let row = sqlx::query(
            "SELECT (SELECT COUNT(*) FROM upstream_calls WHERE scope IN ($1, $5) AND at > $2),
                (SELECT COALESCE(MAX(ends_at), 0) FROM upstream_pauses
                 WHERE scope IN ($1, $5) AND ends_at > $3 AND ends_at <= $4)",
        )
        .bind(&limited.scope)
        .bind(now.as_millis() - HOUR_MILLIS)
        .bind(now.as_millis())
        .bind(now.as_millis() + LONGEST_PAUSE_MILLIS)
        .bind(&limited.other)
        .fetch_one(&self.pool)
        .await?;
        self.meter_of(limited, row.try_get(0)?, row.try_get(1)?, now).await
    }

    /// `paused`: the end of the pause, or 0.
    async fn meter_of(
        &self,
        limited: &ScopeLimit,
        used: i64,
        paused: i64,
        now: Timestamp,
    ) -> Result<Meter, StoreError> {
        let used = u32::try_from(used).unwrap_or(u32::MAX);
        let fits = if used < limited.limit { None } else { self.next_fit(limited, now).await? };
        let paused = Some(paused).filter(|ends_at| *ends_at > 0).map(Timestamp::from_millis);
        Ok(Meter { used, limit: limited.limit, next_fits_at: fits.max(paused) })
    }

    /// The usage of three scopes over the last hour and the rest of [`Meters`], in one query.
    pub async fn meters(
        &self,
        project: &ProjectId,
        limits: &[ScopeLimit; 3],
        reader: &Reader,
        now: Timestamp,
    ) -> Result<Meters, StoreError> {
        let lacks_credits = lacks_credits("$7", "$4");
        let unread = [lacks_credits, seen::unread("$8", "$7", "$9"), unseen_notices("$8", "$5")].join(", ");
        let row = sqlx::query(AssertSqlSafe([METERS, &unread].concat()))
            .bind(&limits[0].scope)
            .bind(&limits[1].scope)
            .bind(&limits[2].scope)
            .bind(now.as_millis() - HOUR_MILLIS)
            .bind(now.as_millis())
            .bind(now.as_millis() + LONGEST_PAUSE_MILLIS)
            .bind(project.as_str())
            .bind(reader.user_id.as_str())
            .bind(i64::from(reader.everyone))
            .bind(&limits[0].other)
            .bind(&limits[1].other)
            .fetch_one(&self.pool)
            .await?;
        let count = |column: usize| {
            Ok::<_, StoreError>(u32::try_from(row.try_get::<i64, _>(column)?).unwrap_or(u32::MAX))
        };
        let mut meters = [Meter { used: 0, limit: 0, next_fits_at: None }; 3];
        for (at, (meter, limited)) in meters.iter_mut().zip(limits).enumerate() {
            *meter = self.meter_of(limited, row.try_get(at)?, row.try_get(at + 3)?, now).await?;
        }
        Ok(Meters {
            of_scopes: meters,
            waiting: count(6)?,
            open_circuits: count(7)?,
            key_is_refused: count(8)? > 0,
            reviews: count(9)?,
            refused_operations: count(10)?,
            lacks_credits: count(11)? > 0,
            unread: Unread { jobs: count(12)?, notices: count(13)? },
        })
    }

    /// When the calls of a limit were made, in Unix milliseconds, oldest first; old ones are deleted.
    pub async fn call_times(&self, limited: &ScopeLimit) -> Result<Vec<i64>, StoreError> {
        let times = sqlx::query_scalar("SELECT at FROM upstream_calls WHERE scope IN ($1, $2) ORDER BY at");
        Ok(times.bind(&limited.scope).bind(&limited.other).fetch_all(&self.pool).await?)
    }

    /// When the oldest of the last calls that fill the limit leaves the rolling hour.
    async fn next_fit(&self, limited: &ScopeLimit, now: Timestamp) -> Result<Option<Timestamp>, StoreError> {
        let row = sqlx::query(
            "SELECT at FROM upstream_calls WHERE scope IN ($1, $4) AND at > $2 ORDER BY at DESC LIMIT 1 OFFSET $3",
        )
        .bind(&limited.scope)
        .bind(now.as_millis() - HOUR_MILLIS)
        .bind(i64::from(limited.limit.saturating_sub(1)))
        .bind(&limited.other)
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| Ok(Timestamp::from_millis(row.try_get::<i64, _>("at")? + HOUR_MILLIS))).transpose()
    }
}

/// The calls of the last hour that a limit counts.
pub(crate) async fn used_in(
    connection: &mut AnyConnection,
    limited: &ScopeLimit,
    now: i64,
) -> Result<usize, StoreError> {
    let used: i64 =
        sqlx::query_scalar("SELECT COUNT(*) FROM upstream_calls WHERE scope IN ($1, $3) AND at > $2")
            .bind(&limited.scope)
            .bind(now - HOUR_MILLIS)
            .bind(&limited.other)
            .fetch_one(connection)
            .await?;
    Ok(usize::try_from(used).unwrap_or_default())
}

/// Removes a counted call in the transaction of the outcome that proves that it was not made.
pub(crate) async fn uncount(
    connection: impl Executor<'_, Database = Any>,
    call: &str,
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM upstream_calls WHERE id = $1").bind(call).execute(connection).await?;
    Ok(())
}

/// As [`Store::acquire_call`], in one statement: within a transaction, the count commits together with its reason.
pub(crate) async fn acquire_in(
    connection: impl Executor<'_, Database = Any>,
    id: &str,
    limited: &ScopeLimit,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let counted = sqlx::query(
        "INSERT INTO upstream_calls (id, scope, at) SELECT $1, $2, $3
         WHERE (SELECT COUNT(*) FROM upstream_calls WHERE scope IN ($2, $7) AND at > $4) < $5
         AND NOT EXISTS (SELECT 1 FROM upstream_pauses WHERE scope IN ($2, $7) AND ends_at > $3 AND ends_at <= $6)",
    )
    .bind(id)
    .bind(&limited.scope)
    .bind(now.as_millis())
    .bind(now.as_millis() - HOUR_MILLIS)
    .bind(i64::from(limited.limit))
    .bind(now.as_millis() + LONGEST_PAUSE_MILLIS)
    .bind(&limited.other)
    .execute(connection)
    .await?;
    Ok(counted.rows_affected() == 1)
}
