//! Removes old data in small steps, each of which locks a few rows. The transaction of a step counts its removals, so that the audit log includes
//! them even after a crash. `process::retention` decides what is old.

mod history;
mod jobs;

use std::collections::BTreeMap;

use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use crate::accounts::api_tokens;
use crate::dialect::Area;
use crate::{Store, StoreError, audit};
use base::work::Work;
use model::audit::{Action, AuditEvent};
use model::day::Day;
use model::time::Timestamp;

pub use self::history::BesideDays;

/// The number of rows by table.
pub type RowCounts = BTreeMap<String, u64>;

/// Rows of a table that are removed independently, at most `at_once` in a step.
struct Rule {
    table: &'static str,
    key: &'static str,
    /// The condition for old rows; `$1` is the first retained time or day.
    old: &'static str,
    at_once: u32,
    area: Area,
}

/// Tables whose rows are of no use some time after they last changed or expired.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Leftovers {
    Drafts,
    SetupLinks,
    PasswordLinks,
    ApiTokens,
    /// With the accounts that nobody used. An invitation on hold of a used account stays: only an administrator decides about it.
    Invitations,
    /// Those that were not delivered.
    WebhookEvents,
}

impl Leftovers {
    pub const ALL: [Self; 6] = [
        Self::Drafts,
        Self::SetupLinks,
        Self::PasswordLinks,
        Self::ApiTokens,
        Self::Invitations,
        Self::WebhookEvents,
    ];

    /// The name of the table.
    pub const fn table(self) -> &'static str {
        self.rule().table
    }

    const fn rule(self) -> Rule {
        let (table, key, old, at_once) = match self {
            Self::Drafts => ("drafts", "user_id, project, subject", "updated_at < $1", 20),
            Self::SetupLinks => ("setup_links", "token_hash", "expires_at < $1", 100),
            Self::PasswordLinks => ("password_links", "user_id", "expires_at < $1", 100),
            Self::ApiTokens => ("api_tokens", "id", "(expires_at < $1 OR revoked_at < $1)", 100),
            Self::Invitations => ("invitations", "user_id", "expires_at < $1", 20),
            // $1 is 90 days ago, and these are stored for 30 days.
            Self::WebhookEvents => (
                "webhook_deliveries",
                "id",
                "outcome = 'given_up' AND next_try_at IS NULL AND at < $1 + 5184000000",
                100,
            ),
        };
        Rule { table, key, old, at_once, area: Area::Ledger }
    }
}

/// The columns that refer to a person who used their account. A test compares them with the database.
pub(crate) const OF_PEOPLE: [(&str, &str); 11] = [
    ("identities", "user_id"),
    ("messages", "author_id"),
    ("batches", "author_id"),
    ("annotations", "author_id"),
    ("drafts", "user_id"),
    ("saved_views", "owner_id"),
    ("api_tokens", "user_id"),
    ("passkeys", "user_id"),
    ("second_factors", "user_id"),
    ("recovery_codes", "user_id"),
    ("sign_in_steps", "user_id"),
];

/// The condition that the account `u` was used: its person signed in, or a row of another table refers to it.
fn is_used() -> String {
    let of_people = OF_PEOPLE
        .map(|(table, column)| format!(" OR EXISTS (SELECT 1 FROM {table} r WHERE r.{column} = u.id)"))
        .concat();
    format!("(u.password_hash <> '' OR u.last_seen_at IS NOT NULL{of_people})")
}

/// The old rows that one step removes. After a failure the rows are removed one by one in the order of their keys, without those that
/// cannot be removed.
#[derive(Debug, Clone, Copy, Default)]
pub struct Slice {
    /// How many of the first rows are left out, because they could not be removed.
    pub skipped: u32,
    /// Whether only one row is removed.
    pub is_single: bool,
}

impl Slice {
    /// Whether no step failed so far. Then the order of the rows does not matter.
    fn is_first(self) -> bool {
        self.skipped == 0 && !self.is_single
    }

    /// The end of a query for the rows, of which a step removes at most `at_once`.
    fn limits(self, key: &str, at_once: u32) -> String {
        let at_once = if self.is_single { 1 } else { at_once };
        match self.is_first() {
            true => format!("LIMIT {at_once}"),
            false => format!("ORDER BY {key} LIMIT {at_once} OFFSET {}", self.skipped),
        }
    }
}

/// The old invitations `v`, with whether their account `is_used`.
fn old_invitations(limits: &str) -> String {
    let (is_used, old) = (is_used(), Leftovers::Invitations.rule().old);
    format!(
        "SELECT v.user_id, CAST(CASE WHEN {is_used} THEN 1 ELSE 0 END AS BIGINT) AS is_used
         FROM invitations v JOIN users u ON u.id = v.user_id
         WHERE v.{old} AND (v.on_hold_since IS NULL OR NOT {is_used}) {limits}"
    )
}

impl Store {
    /// Removes some leftovers from before `before`. Returns 0 when none are left.
    pub async fn remove_leftovers(
        &self,
        work: &Work,
        leftovers: Leftovers,
        before: Timestamp,
        now: Timestamp,
        slice: Slice,
    ) -> Result<u64, StoreError> {
        match leftovers {
            Leftovers::ApiTokens => self.remove_api_tokens(work, before, slice).await,
            Leftovers::Invitations => self.remove_invitations(work, before, now, slice).await,
            _ => self.remove(work, &leftovers.rule(), Cutoff::Time(before), slice).await,
        }
    }

    /// Counts the rows that [`Self::remove_leftovers`] would remove.
    pub async fn count_leftovers(
        &self,
        leftovers: Leftovers,
        before: Timestamp,
        counts: &mut RowCounts,
    ) -> Result<(), StoreError> {
        if leftovers != Leftovers::Invitations {
            let rows = self.count_old(&leftovers.rule(), Cutoff::Time(before)).await?;
            counts.insert(leftovers.table().to_owned(), rows);
            return Ok(());
        }
        let sql = format!(
            "SELECT COUNT(*) AS invitations, COUNT(CASE WHEN is_used = 0 THEN 1 END) AS users FROM ({}) old",
            old_invitations("")
        );
        let row = Cutoff::Time(before).bound_to(sql).fetch_one(&self.pool).await?;
        for table in ["invitations", "users"] {
            counts.insert(table.to_owned(), row.try_get::<i64, _>(table)?.unsigned_abs());
        }
        Ok(())
    }

    async fn remove_api_tokens(
        &self,
        work: &Work,
        before: Timestamp,
        slice: Slice,
    ) -> Result<u64, StoreError> {
        let Rule { table, key, old, at_once, area } = Leftovers::ApiTokens.rule();
        let mut tx = self.write_in(area, work.into()).begin().await?.tx;
        let sql = format!("SELECT {key} FROM {table} WHERE {old} {}", slice.limits(key, at_once));
        let ids: Vec<String> =
            sqlx::query_scalar(AssertSqlSafe(sql)).bind(before.as_millis()).fetch_all(&mut *tx).await?;
        api_tokens::delete(&mut tx, &ids).await?;
        count(&mut tx, table, ids.len() as u64).await?;
        tx.commit().await?;
        Ok(ids.len() as u64)
    }

    /// Also removes the accounts that nobody used.
    async fn remove_invitations(
        &self,
        work: &Work,
        before: Timestamp,
        now: Timestamp,
        slice: Slice,
    ) -> Result<u64, StoreError> {
        let Rule { table, at_once, area, .. } = Leftovers::Invitations.rule();
        let mut tx = self.write_in(area, work.into()).begin().await?.tx;
        let old = old_invitations(&slice.limits("v.user_id", at_once));
        let rows = Cutoff::Time(before).bound_to(old).fetch_all(&mut *tx).await?;
        for row in &rows {
            let person: String = row.try_get("user_id")?;
            sqlx::query("DELETE FROM invitations WHERE user_id = $1").bind(&person).execute(&mut *tx).await?;
            if row.try_get::<i64, _>("is_used")? == 0 {
                remove_account(&mut tx, work, &person, now).await?;
            }
        }
        count(&mut tx, table, rows.len() as u64).await?;
        tx.commit().await?;
        Ok(rows.len() as u64)
    }

    /// Records the removals since the last such record and returns them. Without removals it records nothing.
    pub async fn record_removed(&self, work: &Work, now: Timestamp) -> Result<RowCounts, StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        let rows = sqlx::query("DELETE FROM removed_rows RETURNING name, count").fetch_all(&mut *tx).await?;
        let mut removed = RowCounts::new();
        for row in rows {
            removed.insert(row.try_get("name")?, row.try_get::<i64, _>("count")?.unsigned_abs());
        }
        if removed.is_empty() {
            return Ok(removed);
        }
        let counts: Vec<String> = removed.iter().map(|(table, rows)| format!("{table} {rows}")).collect();
        let event = AuditEvent::new(Action::DataRemove).with_detail(counts.join(", "));
        audit::commit(tx, work.actor(), &event, now).await?;
        Ok(removed)
    }

    async fn remove(
        &self,
        work: &Work,
        rule: &Rule,
        before: Cutoff,
        slice: Slice,
    ) -> Result<u64, StoreError> {
        let Rule { table, key, old, at_once, area } = rule;
        // A read without a lock, so that an empty step locks nothing.
        let query = format!("SELECT 1 FROM {table} WHERE {old} LIMIT 1 OFFSET {}", slice.skipped);
        if before.bound_to(query).fetch_optional(&self.pool).await?.is_none() {
            return Ok(0);
        }
        let mut tx = self.write_in(*area, work.into()).begin().await?.tx;
        let sql = format!(
            "DELETE FROM {table} WHERE ({key}) IN (SELECT {key} FROM {table} WHERE {old} {})",
            slice.limits(key, *at_once)
        );
        let removed = before.bound_to(sql).execute(&mut *tx).await?.rows_affected();
        count(&mut tx, table, removed).await?;
        tx.commit().await?;
        Ok(removed)
    }

    async fn count_old(&self, Rule { table, old, .. }: &Rule, before: Cutoff) -> Result<u64, StoreError> {
        let sql = format!("SELECT COUNT(*) FROM {table} WHERE {old}");
        let row = before.bound_to(sql).fetch_one(&self.pool).await?;
        Ok(row.try_get::<i64, _>(0)?.unsigned_abs())
    }
}

/// Removes the account of an invited person who never used it.
async fn remove_account(
    tx: &mut Transaction<'static, Any>,
    work: &Work,
    person: &str,
    now: Timestamp,
) -> Result<(), StoreError> {
    let name: String = sqlx::query_scalar("DELETE FROM users WHERE id = $1 RETURNING name")
        .bind(person)
        .fetch_one(&mut **tx)
        .await?;
    count(tx, "users", 1).await?;
    audit::record(tx, work.actor(), &AuditEvent::new(Action::UserWithdraw).on(name), now).await
}

/// The first retained time or day.
#[derive(Clone, Copy)]
enum Cutoff {
    Time(Timestamp),
    Day(Day),
}

impl Cutoff {
    fn bound_to(self, sql: String) -> sqlx::query::Query<'static, Any, sqlx::any::AnyArguments> {
        let query = sqlx::query(AssertSqlSafe(sql));
        match self {
            Self::Time(at) => query.bind(at.as_millis()),
            Self::Day(day) => query.bind(day.to_string()),
        }
    }
}

/// Counts what the transaction removes.
async fn count(tx: &mut Transaction<'static, Any>, table: &str, rows: u64) -> Result<(), StoreError> {
    if rows == 0 {
        return Ok(());
    }
    sqlx::query(
        "INSERT INTO removed_rows (name, count) VALUES ($1, $2)
         ON CONFLICT (name) DO UPDATE SET count = removed_rows.count + excluded.count",
    )
    .bind(table)
    .bind(i64::try_from(rows).unwrap_or(i64::MAX))
    .execute(&mut **tx)
    .await?;
    Ok(())
}
