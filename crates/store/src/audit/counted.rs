//! Events without a natural limit. The first ones of an hour get a row each; further ones are counted, and each count becomes one row per project and
//! client IP. This bounds the disk space, and still records every event.

use sqlx::{Any, Row, Transaction};

use super::{Observed, record};
use crate::{Authority, Change, Store, StoreError, parsed, word};
use base::work::Work;
use model::audit::{Action, Actor, AuditEvent, CountedEvents, Outcome, ROWS_OF_AN_HOUR};
use model::time::Timestamp;

/// Rows per hour for one person, action and outcome.
const ROWS_AN_HOUR: i64 = ROWS_OF_AN_HOUR as i64;

/// The maximum number of separate counts for one person, action and outcome: one per project and client IP. Further events share one count.
const COUNTS_MAX: i64 = 50;

const HOUR_MILLIS: i64 = 3_600_000;

/// Refused requests.
pub enum Refused {
    One {
        by: Actor,
        event: AuditEvent,
    },
    /// Several that were counted since a time.
    Many {
        by: Actor,
        action: Action,
        number: u64,
        since: Timestamp,
    },
}

impl Store {
    /// As [`Store::record`], for events without a natural limit.
    pub async fn record_often(&self, by: Authority<'_>, event: &AuditEvent) -> Result<(), StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        record_often(&mut tx, &by, event, now).await?;
        Ok(tx.commit().await?)
    }

    /// As [`Store::observe`], for events without a natural limit.
    pub async fn observe_often(
        &self,
        by: &Actor,
        event: &AuditEvent,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write_observed(Observed(())).begin().await?;
        record_often(&mut tx, by, event, now).await?;
        Ok(tx.commit().await?)
    }

    /// Records refused requests, in one transaction.
    pub async fn record_refused(&self, refused: &[Refused], now: Timestamp) -> Result<(), StoreError> {
        let mut tx = self.write_observed(Observed(())).begin().await?;
        for refused in refused {
            match refused {
                Refused::One { by, event } => record_often(&mut tx, by, event, now).await?,
                Refused::Many { by, action, number, since } => {
                    let event = AuditEvent::new(*action).refused();
                    let number = i64::try_from(*number).unwrap_or(i64::MAX);
                    count(&mut tx, by, &event, number, *since).await?;
                }
            }
        }
        Ok(tx.commit().await?)
    }

    /// Who tried to sign in: the person if the name exists. An unknown name is not stored: it may be a password typed into the wrong field.
    pub async fn actor_named(&self, typed: &str, client_ip: &str) -> Result<Actor, StoreError> {
        let row = sqlx::query("SELECT id, name FROM users WHERE name = $1")
            .bind(typed)
            .fetch_optional(&self.pool)
            .await?;
        Ok(match row {
            Some(row) => {
                Actor { id: row.try_get("id")?, name: row.try_get("name")?, client_ip: client_ip.to_owned() }
            }
            None => Actor::unknown(client_ip),
        })
    }

    /// Counts that have no row yet, the latest first.
    pub async fn audit_counts(&self) -> Result<Vec<CountedEvents>, StoreError> {
        let rows = sqlx::query(
            "SELECT actor, action, outcome, since, count FROM audit_counts ORDER BY since DESC LIMIT 50",
        )
        .fetch_all(&self.pool)
        .await?;
        rows.iter()
            .map(|row| {
                Ok(CountedEvents {
                    actor: row.try_get("actor")?,
                    action: row.try_get("action")?,
                    outcome: row.try_get("outcome")?,
                    since: Timestamp::from_millis(row.try_get("since")?),
                    count: row.try_get::<i64, _>("count")?.unsigned_abs(),
                })
            })
            .collect()
    }

    /// Replaces every count that is an hour old with a row.
    pub async fn record_counts(&self, work: &Work, now: Timestamp) -> Result<(), StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        // A count from the future started before a clock rollback.
        let rows = sqlx::query(
            "DELETE FROM audit_counts WHERE since <= $1 OR since > $2
             RETURNING actor_id, actor, action, outcome, project, client_ip, since, count",
        )
        .bind(now.as_millis() - HOUR_MILLIS)
        .bind(now.as_millis())
        .fetch_all(&mut *tx)
        .await?;
        for row in &rows {
            let (id, name) = (row.try_get("actor_id")?, row.try_get("actor")?);
            let by = Actor { id, name, client_ip: row.try_get("client_ip")? };
            let project: String = row.try_get("project")?;
            let project = if project.is_empty() { None } else { Some(parsed(&project, "project")?) };
            let since = Timestamp::from_millis(row.try_get("since")?);
            let count: i64 = row.try_get("count")?;
            let outcome: Outcome = word(row, "outcome")?;
            let event =
                AuditEvent::new(word(row, "action")?).with_detail(format!("{count} more since {since}"));
            record(&mut tx, &by, &AuditEvent { outcome, project, ..event }, now).await?;
        }
        Ok(tx.commit().await?)
    }
}

/// As [`Store::record_often`], in the transaction of the change.
pub(crate) async fn record_often(
    tx: &mut Transaction<'static, Any>,
    by: &Actor,
    event: &AuditEvent,
    now: Timestamp,
) -> Result<(), StoreError> {
    let (action, outcome) = (event.action.as_str(), event.outcome.as_str());
    let rows: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM audit WHERE action = $1 AND actor_id = $2 AND outcome = $3 AND at > $4 AND at <= $5",
        )
        .bind(action)
        .bind(&by.id)
        .bind(outcome)
        .bind(now.as_millis() - HOUR_MILLIS)
        .bind(now.as_millis())
        .fetch_one(&mut **tx)
        .await?;
    if rows < ROWS_AN_HOUR {
        record(tx, by, event, now).await?;
    } else {
        count(tx, by, event, 1, now).await?;
    }
    Ok(())
}

/// Adds events to a count. Each project and client IP has its own, up to the limit.
async fn count(
    tx: &mut Transaction<'static, Any>,
    by: &Actor,
    event: &AuditEvent,
    number: i64,
    since: Timestamp,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO audit_counts (actor_id, actor, action, outcome, project, client_ip, since, count)
         SELECT $1, $2, $3, $4, CASE WHEN c.places < $8 THEN $5 ELSE '' END,
             CASE WHEN c.places < $8 THEN $6 ELSE '' END, $7, $9
         FROM (SELECT COUNT(*) AS places FROM audit_counts WHERE actor_id = $1 AND action = $3 AND outcome = $4
             AND NOT (project = $5 AND client_ip = $6)) c
         WHERE true
         ON CONFLICT (actor_id, action, outcome, project, client_ip)
         DO UPDATE SET count = audit_counts.count + $9",
    )
    .bind(&by.id)
    .bind(&by.name)
    .bind(event.action.as_str())
    .bind(event.outcome.as_str())
    .bind(event.project.as_ref().map_or("", |project| project.as_str()))
    .bind(&by.client_ip)
    .bind(since.as_millis())
    .bind(COUNTS_MAX)
    .bind(number)
    .execute(&mut **tx)
    .await?;
    Ok(())
}
