//! Circuit breakers and the outcomes of the last upstream calls, for all processes on the database. A circuit without a row is closed. Callers decide
//! what a failure is.

use std::time::Duration;

use sqlx::any::AnyRow;
use sqlx::{Any, AnyConnection, AssertSqlSafe, Executor, Row};

use crate::dialect::select::sql_placeholders;
use crate::{Authority, Change, Store, StoreError, audit, instant, optional_instant};
use model::audit::{Action, AuditEvent};
use model::id::ProjectId;
use model::time::Timestamp;
use model::upstream::Failure;

/// The circuit that opens when the platform refuses the key.
pub const KEY: &str = "key";

/// How the names of circuits begin that open when the platform refuses an operation of a project.
pub const REFUSED: &str = "refused:";

/// How the names of circuits begin that open when the platform has no AI credits for the prompts of a project.
pub const CREDITS: &str = "credits:";

/// How long the prompts of a project wait for AI credits, before one is sent as a probe. A person can ask for it earlier.
pub const CREDITS_PAUSE: Duration = Duration::from_secs(3_600);

/// After a probe that was never sent, the next one is due so soon.
const UNSENT_PROBE_PAUSE: Duration = Duration::from_secs(60);

/// An expression: 1 while the prompts of the project wait for AI credits: a prompt waits, or was tried within an hour. The arguments are a column or
/// placeholder, and a placeholder for the time an hour ago.
pub(crate) fn lacks_credits(project: &str, hour_ago: &str) -> String {
    format!(
        "(SELECT COUNT(*) FROM upstream_circuits c WHERE c.circuit = '{CREDITS}' || {project} AND c.tried_at IS NOT NULL
         AND (c.tried_at > {hour_ago} OR EXISTS (
             SELECT 1 FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.state = 'queued' AND j.project = {project})))"
    )
}

/// A circuit breaker that is open.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OpenCircuit {
    pub name: String,
    /// When it opened, or when the last probe was sent.
    pub tried_at: Timestamp,
    /// The failures that opened it, and the probes since.
    pub failures: u32,
}

/// The outcomes of the last calls of an operation.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LastOutcomes {
    pub succeeded_at: Option<Timestamp>,
    pub failure: Option<Failure>,
}

/// The call after the pause of an open circuit. Of several callers that found the circuit open, one makes it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Probe {
    pub circuit: String,
    /// When the circuit opened, or when the last probe was sent.
    pub after: Timestamp,
}

/// Takes a probe in the transaction of its claim. `true` also if the circuit has closed since; `false` if another caller took it.
pub(crate) async fn take_probe_or_pass(
    connection: &mut AnyConnection,
    probe: &Probe,
    now: Timestamp,
) -> Result<bool, StoreError> {
    if take_probe(&mut *connection, probe, now).await? {
        return Ok(true);
    }
    let open = sqlx::query("SELECT 1 FROM upstream_circuits WHERE circuit = $1 AND tried_at IS NOT NULL");
    Ok(open.bind(&probe.circuit).fetch_optional(connection).await?.is_none())
}

/// Makes the next probe for AI credits due soon: the claim of this message took one, and no request was sent.
pub(crate) async fn give_probe_back(
    connection: &mut AnyConnection,
    project: &ProjectId,
    message_id: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query(
        "UPDATE upstream_circuits SET tried_at = $2 WHERE circuit = $1 AND tried_at = (SELECT sent_at FROM messages WHERE id = $3)",
    )
    .bind(format!("{CREDITS}{project}"))
    .bind(now.before(CREDITS_PAUSE).after(UNSENT_PROBE_PAUSE).as_millis())
    .bind(message_id)
    .execute(connection)
    .await?;
    Ok(())
}

/// Takes a probe; `false` if another caller did, or the circuit has closed.
async fn take_probe(
    connection: impl Executor<'_, Database = Any>,
    probe: &Probe,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let taken = sqlx::query(
        "UPDATE upstream_circuits SET tried_at = $3, failures = failures + 1 WHERE circuit = $1 AND tried_at = $2",
    )
    .bind(&probe.circuit)
    .bind(probe.after.as_millis())
    .bind(now.as_millis())
    .execute(connection)
    .await?;
    Ok(taken.rows_affected() == 1)
}

impl Store {
    /// All open circuits.
    pub async fn open_circuits(&self) -> Result<Vec<OpenCircuit>, StoreError> {
        let rows = sqlx::query(
            "SELECT circuit, tried_at, failures FROM upstream_circuits WHERE tried_at IS NOT NULL",
        )
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(open_circuit).collect()
    }

    /// The circuit, if it is open.
    pub async fn open_circuit(&self, circuit: &str) -> Result<Option<OpenCircuit>, StoreError> {
        let row = sqlx::query(
            "SELECT circuit, tried_at, failures FROM upstream_circuits WHERE circuit = $1 AND tried_at IS NOT NULL",
        );
        row.bind(circuit).fetch_optional(&self.pool).await?.as_ref().map(open_circuit).transpose()
    }

    /// Whether a call may be made now. A closed circuit allows every call; an open one allows a probe after each pause, and counts it. After a
    /// clock rollback the next call is a probe.
    pub async fn passes(
        &self,
        circuit: &str,
        pause: impl Fn(&OpenCircuit) -> Duration,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let Some(open) = self.open_circuit(circuit).await? else { return Ok(true) };
        if open.tried_at <= now && now < open.tried_at.after(pause(&open)) {
            return Ok(false);
        }
        let probe = Probe { circuit: circuit.to_owned(), after: open.tried_at };
        Ok(take_probe(self.apart(), &probe, now).await? || self.open_circuit(circuit).await?.is_none())
    }

    /// Counts a failure; the `limit`-th in a row opens the circuit. While it is open, only probes are counted: many calls may fail at once.
    pub async fn count_failure(&self, circuit: &str, limit: u32, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO upstream_circuits (circuit, failures, tried_at)
             VALUES ($1, 1, CASE WHEN $2 <= 1 THEN $3 END)
             ON CONFLICT (circuit) DO UPDATE SET
                 failures = upstream_circuits.failures + CASE WHEN upstream_circuits.tried_at IS NULL THEN 1 ELSE 0 END,
                 tried_at = CASE WHEN upstream_circuits.tried_at IS NOT NULL OR upstream_circuits.failures + 1 >= $2
                     THEN $3 END",
        )
        .bind(circuit)
        .bind(i64::from(limit))
        .bind(now.as_millis())
        .execute(self.apart())
        .await?;
        Ok(())
    }

    /// Counts a refusal; the `limit`-th in a row opens the circuit, which then admits a probe after each `pause`. A further refusal does not
    /// prolong the pause: calls that need no permission of the circuit would postpone the probe for ever.
    pub async fn note_refusal(
        &self,
        circuit: &str,
        limit: u32,
        pause: Duration,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let pause = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        sqlx::query(
            "INSERT INTO upstream_circuits (circuit, failures, tried_at)
             VALUES ($1, 1, CASE WHEN $4 <= 1 THEN $2 END)
             ON CONFLICT (circuit) DO UPDATE SET
                 failures = upstream_circuits.failures + 1,
                 tried_at = CASE WHEN upstream_circuits.failures + 1 >= $4 THEN $2 END
             WHERE upstream_circuits.tried_at IS NULL OR upstream_circuits.tried_at <= $3 OR upstream_circuits.tried_at > $2",
        )
        .bind(circuit)
        .bind(now.as_millis())
        .bind(now.as_millis().saturating_sub(pause))
        .bind(i64::from(limit))
        .execute(self.apart())
        .await?;
        Ok(())
    }

    /// Whether a read of a job succeeded after `since`. A later success than `now` was recorded before a clock rollback.
    pub async fn has_read_since(&self, since: Timestamp, now: Timestamp) -> Result<bool, StoreError> {
        let read = sqlx::query(
            "SELECT 1 FROM upstream_outcomes WHERE operation = 'read' AND succeeded_at > $1 AND succeeded_at <= $2",
        );
        let read = read.bind(since.as_millis()).bind(now.as_millis());
        Ok(read.fetch_optional(&self.pool).await?.is_some())
    }

    /// Makes the next probe for AI credits of a project due at once. `false` if its prompts do not wait for them, or the last probe was sent less than
    /// ten seconds ago.
    pub async fn probe_credits_now(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let changed = sqlx::query(
            "UPDATE upstream_circuits SET tried_at = $2 WHERE circuit = $1 AND (tried_at <= $3 OR tried_at > $4)",
        )
        .bind(format!("{CREDITS}{project}"))
        .bind(now.before(CREDITS_PAUSE).as_millis())
        .bind(now.plus_seconds(-10).as_millis())
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() != 1 {
            return Ok(false);
        }
        audit::record_often(&mut tx, &by, &AuditEvent::new(Action::QueueTry).in_project(project), now)
            .await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Closes the circuits and resets their failures.
    pub async fn close_circuits(&self, circuits: &[&str]) -> Result<(), StoreError> {
        let names = sql_placeholders(1, circuits.len());
        let sql = format!("DELETE FROM upstream_circuits WHERE circuit IN ({names})");
        let delete = circuits.iter().fold(sqlx::query(AssertSqlSafe(sql)), |delete, name| delete.bind(*name));
        delete.execute(self.apart()).await?;
        Ok(())
    }

    /// Closes the circuit of the key, and those of refused operations and of credits: another key may be allowed more.
    pub async fn forget_refusals(&self) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM upstream_circuits WHERE circuit = $1 OR circuit LIKE $2 OR circuit LIKE $3")
            .bind(KEY)
            .bind(format!("{REFUSED}%"))
            .bind(format!("{CREDITS}%"))
            .execute(self.apart())
            .await?;
        Ok(())
    }

    /// The outcomes of the last calls of `operation`.
    pub async fn last_outcomes(&self, operation: &str) -> Result<LastOutcomes, StoreError> {
        let row = sqlx::query(
            "SELECT succeeded_at, failed_at, failure FROM upstream_outcomes WHERE operation = $1",
        )
        .bind(operation)
        .fetch_optional(&self.pool)
        .await?;
        let Some(row) = row else { return Ok(LastOutcomes::default()) };
        let (at, message) =
            (optional_instant(&row, "failed_at")?, row.try_get::<Option<String>, _>("failure")?);
        Ok(LastOutcomes {
            succeeded_at: optional_instant(&row, "succeeded_at")?,
            failure: at.zip(message).map(|(at, message)| Failure { at, message }),
        })
    }

    /// Whether a successful call of `operation` was recorded within the last second, and `circuits` count no failure since.
    pub async fn knows_success(
        &self,
        operation: &str,
        circuits: &[&str],
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let names = sql_placeholders(4, circuits.len());
        let known = sqlx::query(AssertSqlSafe(format!(
            "SELECT 1 FROM upstream_outcomes WHERE operation = $1 AND succeeded_at > $2 AND succeeded_at <= $3
             AND NOT EXISTS (SELECT 1 FROM upstream_circuits WHERE circuit IN ({names}))"
        )))
        .bind(operation)
        .bind(now.as_millis() - 1_000)
        .bind(now.as_millis());
        let known = circuits.iter().fold(known, |known, name| known.bind(*name));
        Ok(known.fetch_optional(&self.pool).await?.is_some())
    }

    /// Records the outcome of a call; `failure` is the error, if any.
    pub async fn record_outcome_of_call(
        &self,
        operation: &str,
        failure: Option<&str>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let at = Some(now.as_millis());
        sqlx::query(
            "INSERT INTO upstream_outcomes (operation, succeeded_at, failed_at, failure) VALUES ($1, $2, $3, $4)
             ON CONFLICT (operation) DO UPDATE SET
                 succeeded_at = COALESCE(excluded.succeeded_at, upstream_outcomes.succeeded_at),
                 failed_at = COALESCE(excluded.failed_at, upstream_outcomes.failed_at),
                 failure = COALESCE(excluded.failure, upstream_outcomes.failure)",
        )
        .bind(operation)
        .bind(at.filter(|_| failure.is_none()))
        .bind(at.filter(|_| failure.is_some()))
        .bind(failure)
        .execute(self.apart())
        .await?;
        Ok(())
    }
}

fn open_circuit(row: &AnyRow) -> Result<OpenCircuit, StoreError> {
    Ok(OpenCircuit {
        name: row.try_get("circuit")?,
        tried_at: instant(row, "tried_at")?,
        failures: u32::try_from(row.try_get::<i64, _>("failures")?).unwrap_or(u32::MAX),
    })
}
