//! The audit log as it is displayed: filtered, newest first, in pages.

use super::from_row;
use crate::{Store, StoreError};
use model::audit::{Action, Outcome, Record};
use model::id::ProjectId;
use model::time::Timestamp;

/// The filter of the audit log; `None` does not filter.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AuditFilter {
    /// The name at the time of the event.
    pub person: Option<String>,
    pub action: Option<Action>,
    pub outcome: Option<Outcome>,
    pub project: Option<ProjectId>,
    /// Inclusive start, exclusive end.
    pub from: Option<Timestamp>,
    pub until: Option<Timestamp>,
    /// Only records older than this number.
    pub before: Option<i64>,
}

impl Store {
    /// At most `most` records, newest first.
    pub async fn audit_records(&self, filter: &AuditFilter, most: u32) -> Result<Vec<Record>, StoreError> {
        let rows = sqlx::query(
            "SELECT * FROM audit WHERE (CAST($1 AS TEXT) IS NULL OR actor = $1) AND (CAST($2 AS TEXT) IS NULL OR action = $2)
             AND (CAST($3 AS TEXT) IS NULL OR outcome = $3) AND (CAST($4 AS TEXT) IS NULL OR project = $4)
             AND at >= $5 AND at < $6 AND number < $7 ORDER BY number DESC LIMIT $8",
        )
        .bind(filter.person.clone())
        .bind(filter.action.map(|action| action.as_str().to_owned()))
        .bind(filter.outcome.map(|outcome| outcome.as_str().to_owned()))
        .bind(filter.project.as_ref().map(ToString::to_string))
        .bind(filter.from.map_or(i64::MIN, Timestamp::as_millis))
        .bind(filter.until.map_or(i64::MAX, Timestamp::as_millis))
        .bind(filter.before.unwrap_or(i64::MAX))
        .bind(i64::from(most))
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(from_row).collect()
    }

    /// The names of all people with a record, sorted.
    pub async fn audit_people(&self) -> Result<Vec<String>, StoreError> {
        // One index lookup per name, however many records each has.
        Ok(sqlx::query_scalar(
            "WITH RECURSIVE people (name) AS (
                 SELECT MIN(actor) FROM audit
                 UNION ALL
                 SELECT (SELECT MIN(a.actor) FROM audit a WHERE a.actor > p.name) FROM people p WHERE p.name IS NOT NULL)
             SELECT name FROM people WHERE name <> ''",
        )
        .fetch_all(&self.pool)
        .await?)
    }
}
