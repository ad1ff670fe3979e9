//! The audit log: append-only rows, each with the hash of the previous one. A row is written in the transaction of the recorded change, so that
//! neither exists without the other.

pub mod chain;
mod counted;
mod listed;
mod retention;
pub mod verify;

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::QueryScalar;
use sqlx::{Any, Row, Transaction};

use super::{Authority, Change, Store, StoreError, instant};
use base::boxed::Boxed;
use model::audit::{Actor, AuditEvent, Record};
use model::time::Timestamp;

pub use counted::Refused;
pub(crate) use counted::record_often;
pub use listed::AuditFilter;

/// The number and the hash of a row.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ChainLink {
    pub number: i64,
    pub hash: String,
}

/// The names in `audit_ends`.
const LAST: &str = "last";
const REMOVED: &str = "removed";

/// Permits a row in the audit log about a request that was not admitted, or that does not need to be.
pub(crate) struct Observed(());

impl Store {
    /// Records an event that changes no other table, for a request whether it was admitted or not.
    pub async fn observe(&self, by: &Actor, event: &AuditEvent, now: Timestamp) -> Result<(), StoreError> {
        let tx = self.write_observed(Observed(())).begin().await?;
        commit(tx, by, event, now).await
    }

    /// Records an event that changes no other table.
    pub async fn record(&self, by: Authority<'_>, event: &AuditEvent) -> Result<(), StoreError> {
        let Change { tx, by, now } = self.write(by).begin().await?;
        commit(tx, &by, event, now).await
    }

    /// The last row.
    pub async fn audit_end(&self) -> Result<ChainLink, StoreError> {
        let mut tx = self.begin_to_read().await?;
        end(&mut tx, LAST).await?.ok_or_else(|| StoreError::Corrupt("no end of the audit log".to_owned()))
    }

    /// Whether this log contains the row, as the log of a later state of the same database does. A row before the last removed one cannot be compared,
    /// and is assumed to be contained.
    pub async fn audit_contains(&self, earlier: &ChainLink) -> Result<bool, StoreError> {
        let mut tx = self.begin_to_read().await?;
        let removed = end(&mut tx, REMOVED).await?.map_or(0, |removed| removed.number);
        if earlier.number < removed || earlier.number == 0 {
            return Ok(true);
        }
        let same = self.audit_link(earlier.number).await?;
        Ok(same.is_some_and(|same| same == *earlier))
    }

    /// Changes one row and records the change in the same transaction. The statement returns the subject; `false` if there is no such row.
    pub(crate) async fn audited(
        &self,
        by: Authority<'_>,
        change: QueryScalar<'_, Any, String, AnyArguments>,
        event: impl FnOnce(String) -> AuditEvent,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let Some(subject) = change.fetch_optional(&mut *tx).await? else { return Ok(false) };
        commit(tx, &by, &event(subject), now).await?;
        Ok(true)
    }
}

/// Commits a change together with its audit row.
pub(crate) async fn commit(
    mut tx: Transaction<'static, Any>,
    by: &Actor,
    event: &AuditEvent,
    now: Timestamp,
) -> Result<(), StoreError> {
    record(&mut tx, by, event, now).await?;
    Ok(tx.commit().await?)
}

/// Adds a row for `event`, in the transaction of the change.
pub(crate) fn record<'a>(
    tx: &'a mut Transaction<'static, Any>,
    by: &'a Actor,
    event: &'a AuditEvent,
    now: Timestamp,
) -> Boxed<'a, (), StoreError> {
    Box::pin(async move {
        // This changes nothing; it locks the row in databases where `begin` does not lock everything.
        let last =
            sqlx::query("UPDATE audit_ends SET number = number WHERE name = 'last' RETURNING number, hash")
                .fetch_one(&mut **tx)
                .await?;
        let last = link(&last)?;
        let record = Record {
            number: last.number + 1,
            at: now,
            actor_id: by.id.clone(),
            actor: by.name.clone(),
            client_ip: by.client_ip.clone(),
            action: event.action.as_str().to_owned(),
            outcome: event.outcome.as_str().to_owned(),
            project: event.project.as_ref().map(ToString::to_string).unwrap_or_default(),
            subject: event.subject.clone(),
            detail: event.detail.clone(),
        };
        let next = ChainLink { number: record.number, hash: chain::hash(&last.hash, &record) };
        sqlx::query(
        "INSERT INTO audit (number, at, actor_id, actor, client_ip, action, outcome, project, subject, detail, previous, hash)
         VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)",
    )
    .bind(record.number)
    .bind(record.at.as_millis())
    .bind(record.actor_id)
    .bind(record.actor)
    .bind(record.client_ip)
    .bind(record.action)
    .bind(record.outcome)
    .bind(record.project)
    .bind(record.subject)
    .bind(record.detail)
    .bind(last.hash)
    .bind(&next.hash)
    .execute(&mut **tx)
    .await?;
        move_end(tx, LAST, &next).await
    })
}

async fn move_end(tx: &mut Transaction<'static, Any>, name: &str, to: &ChainLink) -> Result<(), StoreError> {
    sqlx::query("UPDATE audit_ends SET number = $2, hash = $3 WHERE name = $1")
        .bind(name)
        .bind(to.number)
        .bind(&to.hash)
        .execute(&mut **tx)
        .await?;
    Ok(())
}

async fn end(tx: &mut Transaction<'static, Any>, name: &str) -> Result<Option<ChainLink>, StoreError> {
    let row = sqlx::query("SELECT number, hash FROM audit_ends WHERE name = $1")
        .bind(name)
        .fetch_optional(&mut **tx)
        .await?;
    row.as_ref().map(link).transpose()
}

fn link(row: &AnyRow) -> Result<ChainLink, StoreError> {
    Ok(ChainLink { number: row.try_get("number")?, hash: row.try_get("hash")? })
}

fn from_row(row: &AnyRow) -> Result<Record, StoreError> {
    Ok(Record {
        number: row.try_get("number")?,
        at: instant(row, "at")?,
        actor_id: row.try_get("actor_id")?,
        actor: row.try_get("actor")?,
        client_ip: row.try_get("client_ip")?,
        action: row.try_get("action")?,
        outcome: row.try_get("outcome")?,
        project: row.try_get("project")?,
        subject: row.try_get("subject")?,
        detail: row.try_get("detail")?,
    })
}

impl std::fmt::Display for ChainLink {
    /// `17:` and the hash: the format for storing links elsewhere.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}:{}", self.number, self.hash)
    }
}

impl std::str::FromStr for ChainLink {
    type Err = &'static str;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let parsed = text.split_once(':').and_then(|(number, hash)| Some((number.parse().ok()?, hash)));
        let is_hash = |hash: &str| hash.len() == 64 && hash.bytes().all(|byte| byte.is_ascii_hexdigit());
        parsed
            .filter(|(number, hash): &(i64, &str)| *number >= 0 && is_hash(hash))
            .map(|(number, hash)| Self { number, hash: hash.to_ascii_lowercase() })
            .ok_or(
                "a link is a number, a colon and 64 hexadecimal digits, as docket audit verify prints them",
            )
    }
}
