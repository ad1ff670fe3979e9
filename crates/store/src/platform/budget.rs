//! Counts upstream calls over a rolling hour, per scope. The governor defines the scopes.

use sqlx::{Any, AnyConnection, AssertSqlSafe, Executor, Row};

use crate::accounts::token_notices::unseen_notices;
use crate::dialect::select::sql_placeholders;
use crate::jobs::seen::{self, Reader, Unread};
use crate::{Store, StoreError, new_id};
use base::work::Work;
use model::budget::Meter;
use model::id::ProjectId;
use model::time::Timestamp;

const HOUR_MILLIS: i64 = 3_600_000;

/// No pause is longer than an hour, plus a tolerance for clock differences between processes. A later end was written before a clock rollback, and is
/// ignored.
pub(crate) const LONGEST_PAUSE_MILLIS: i64 = HOUR_MILLIS + 60_000;

/// For three scopes: the calls of the last hour and the end of the pause. Then the other fields of [`Meters`].
const METERS: &str = "SELECT
    (SELECT COUNT(*) FROM upstream_calls WHERE scope = $1 AND at > $4),
    (SELECT COUNT(*) FROM upstream_calls WHERE scope = $2 AND at > $4),
    (SELECT COUNT(*) FROM upstream_calls WHERE scope = $3 AND at > $4),
    (SELECT COALESCE(MAX(ends_at), 0) FROM upstream_pauses WHERE scope = $1 AND ends_at > $5 AND ends_at <= $6),
    (SELECT COALESCE(MAX(ends_at), 0) FROM upstream_pauses WHERE scope = $2 AND ends_at > $5 AND ends_at <= $6),
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
    /// What the reader has not seen.
    pub unread: Unread,
    /// Pull requests that wait for a reviewer.
    pub reviews: u32,
}

/// How many calls of a scope an hour may have.
#[derive(Debug, Clone, Copy)]
pub struct ScopeLimit<'a> {
    pub scope: &'a str,
    pub limit: u32,
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
        Ok(acquire_in(self.counter(), &id, scope, limit, now).await?.then_some(id))
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
        scope: ScopeLimit<'_>,
        share: ScopeLimit<'_>,
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
        .bind(scope.scope)
        .bind(&ids[1])
        .bind(share.scope)
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

    /// The number of queued prompts of `project`: those that start a job, or follow-ups.
    pub async fn waiting_prompts(&self, project: &ProjectId, follow_ups: bool) -> Result<u32, StoreError> {
        let waiting: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM messages m JOIN jobs j ON j.id = m.job_id
             WHERE m.state = 'queued' AND j.project = $1 AND (m.position > 0) = ($2 > 0)",
        )
        .bind(project.as_str())
        .bind(i64::from(follow_ups))
        .fetch_one(&self.pool)
        .await?;
        Ok(u32::try_from(waiting).unwrap_or(u32::MAX))
    }

    /// The usage of `limit` over the last hour.
    pub async fn meter(&self, scope: &str, limit: u32, now: Timestamp) -> Result<Meter, StoreError> {
        let row = sqlx::query(
            "SELECT (SELECT COUNT(*) FROM upstream_calls WHERE scope = $1 AND at > $2),
                (SELECT COALESCE(MAX(ends_at), 0) FROM upstream_pauses WHERE scope = $1 AND ends_at > $3 AND ends_at <= $4)",
        )
        .bind(scope)
        .bind(now.as_millis() - HOUR_MILLIS)
        .bind(now.as_millis())
        .bind(now.as_millis() + LONGEST_PAUSE_MILLIS)
        .fetch_one(&self.pool)
        .await?;
        let used = u32::try_from(row.try_get::<i64, _>(0)?).unwrap_or(u32::MAX);
        let fits = if used < limit { None } else { self.next_fit(scope, limit, now).await? };
        // 0 without an active pause.
        let paused = Some(row.try_get::<i64, _>(1)?).filter(|ends_at| *ends_at > 0);
        let next_fits_at = fits.max(paused.map(Timestamp::from_millis));
        Ok(Meter { used, limit, next_fits_at })
    }

    /// The usage of three scopes over the last hour and the rest of [`Meters`], in one query.
    pub async fn meters(
        &self,
        project: &ProjectId,
        scopes: [(&str, u32); 3],
        reader: &Reader,
        now: Timestamp,
    ) -> Result<Meters, StoreError> {
        let unread = [seen::unread("$8", "$7", "$9"), unseen_notices("$8", "$5")].join(", ");
        let row = sqlx::query(AssertSqlSafe([METERS, &unread].concat()))
            .bind(scopes[0].0)
            .bind(scopes[1].0)
            .bind(scopes[2].0)
            .bind(now.as_millis() - HOUR_MILLIS)
            .bind(now.as_millis())
            .bind(now.as_millis() + LONGEST_PAUSE_MILLIS)
            .bind(project.as_str())
            .bind(reader.user_id.as_str())
            .bind(i64::from(reader.everyone))
            .fetch_one(&self.pool)
            .await?;
        let count = |column: usize| {
            Ok::<_, StoreError>(u32::try_from(row.try_get::<i64, _>(column)?).unwrap_or(u32::MAX))
        };
        let mut meters = [Meter { used: 0, limit: 0, next_fits_at: None }; 3];
        for (at, (meter, (scope, limit))) in meters.iter_mut().zip(scopes).enumerate() {
            let used = count(at)?;
            let fits = if used < limit { None } else { self.next_fit(scope, limit, now).await? };
            // 0 without an active pause.
            let paused = Some(row.try_get::<i64, _>(at + 3)?).filter(|ends_at| *ends_at > 0);
            *meter = Meter { used, limit, next_fits_at: fits.max(paused.map(Timestamp::from_millis)) };
        }
        Ok(Meters {
            of_scopes: meters,
            waiting: count(6)?,
            open_circuits: count(7)?,
            key_is_refused: count(8)? > 0,
            reviews: count(9)?,
            refused_operations: count(10)?,
            unread: Unread { jobs: count(11)?, token_notices: count(12)? },
        })
    }

    /// When the counted calls in `scope` were made, in Unix milliseconds, oldest first; old ones are deleted.
    pub async fn call_times(&self, scope: &str) -> Result<Vec<i64>, StoreError> {
        let times = sqlx::query_scalar("SELECT at FROM upstream_calls WHERE scope = $1 ORDER BY at");
        Ok(times.bind(scope).fetch_all(&self.pool).await?)
    }

    /// When the oldest of the last `limit` calls leaves the rolling hour.
    async fn next_fit(
        &self,
        scope: &str,
        limit: u32,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let row = sqlx::query(
            "SELECT at FROM upstream_calls WHERE scope = $1 AND at > $2 ORDER BY at DESC LIMIT 1 OFFSET $3",
        )
        .bind(scope)
        .bind(now.as_millis() - HOUR_MILLIS)
        .bind(i64::from(limit.saturating_sub(1)))
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| Ok(Timestamp::from_millis(row.try_get::<i64, _>("at")? + HOUR_MILLIS))).transpose()
    }
}

/// The calls of the last hour in `scope`.
pub(crate) async fn used_in(
    connection: &mut AnyConnection,
    scope: &str,
    now: i64,
) -> Result<usize, StoreError> {
    let used: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM upstream_calls WHERE scope = $1 AND at > $2")
        .bind(scope)
        .bind(now - HOUR_MILLIS)
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
    scope: &str,
    limit: u32,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let counted = sqlx::query(
        "INSERT INTO upstream_calls (id, scope, at) SELECT $1, $2, $3
         WHERE (SELECT COUNT(*) FROM upstream_calls WHERE scope = $2 AND at > $4) < $5
         AND NOT EXISTS (SELECT 1 FROM upstream_pauses WHERE scope = $2 AND ends_at > $3 AND ends_at <= $6)",
    )
    .bind(id)
    .bind(scope)
    .bind(now.as_millis())
    .bind(now.as_millis() - HOUR_MILLIS)
    .bind(i64::from(limit))
    .bind(now.as_millis() + LONGEST_PAUSE_MILLIS)
    .execute(connection)
    .await?;
    Ok(counted.rows_affected() == 1)
}
