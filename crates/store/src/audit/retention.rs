//! Removes old rows, in slices. The others can still be verified: the link of the last removed row is stored, and a row names the one up to which
//! rows are removed. It is written before the first of them is removed, so an interrupted removal continues.

use std::num::NonZeroU32;

use sqlx::{Any, Row, Transaction};

use super::{ChainLink, LAST, REMOVED, end, link, move_end, record};
use crate::{Store, StoreError};
use base::work::Work;
use model::audit::{Action, AuditEvent};
use model::time::Timestamp;

/// The seconds between two removals, so that the rows about them stay few.
const BETWEEN_REMOVALS_SECONDS: i64 = 86_400;

/// A row that begins a removal.
struct Removal {
    at: Timestamp,
    /// The last row to remove.
    up_to: ChainLink,
}

impl Store {
    /// Records that the rows before `cutoff` are removed, up to the first newer one, unless a removal began within a day. Returns the last of them,
    /// if any. [`Self::remove_audit_slice`] removes them.
    pub async fn begin_audit_removal(
        &self,
        work: &Work,
        cutoff: Timestamp,
        now: Timestamp,
    ) -> Result<Option<ChainLink>, StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        let is_recent =
            |removal: &Removal| removal.at <= now && now.seconds_since(removal.at) < BETWEEN_REMOVALS_SECONDS;
        if newest_removal(&mut tx).await?.as_ref().is_some_and(is_recent) {
            return Ok(None);
        }
        let first_retained: Option<i64> = sqlx::query_scalar("SELECT MIN(number) FROM audit WHERE at >= $1")
            .bind(cutoff.as_millis())
            .fetch_one(&mut *tx)
            .await?;
        let last = end(&mut tx, LAST).await?.map_or(0, |last| last.number);
        let row = sqlx::query("SELECT number, hash FROM audit WHERE number = $1")
            .bind(first_retained.map_or(last, |first| first - 1))
            .fetch_optional(&mut *tx)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let up_to = link(&row)?;
        let event = AuditEvent::new(Action::AuditRemove).on(&up_to);
        record(&mut tx, work.actor(), &event, now).await?;
        tx.commit().await?;
        Ok(Some(up_to))
    }

    /// Removes at most `most` of the oldest rows that the newest removal names. Returns how many.
    pub async fn remove_audit_slice(&self, work: &Work, most: NonZeroU32) -> Result<u64, StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        let removed = end(&mut tx, REMOVED).await?.map_or(0, |removed| removed.number);
        let Some(removal) = newest_removal(&mut tx).await? else { return Ok(0) };
        let last = sqlx::query(
            "SELECT number, hash FROM (
                 SELECT number, hash FROM audit WHERE number > $1 AND number <= $2 ORDER BY number LIMIT $3
             ) slice ORDER BY number DESC LIMIT 1",
        )
        .bind(removed)
        .bind(removal.up_to.number)
        .bind(i64::from(most.get()))
        .fetch_optional(&mut *tx)
        .await?;
        let Some(last) = last else { return Ok(0) };
        let last = link(&last)?;
        move_end(&mut tx, REMOVED, &last).await?;
        let query = sqlx::query("DELETE FROM audit WHERE number <= $1").bind(last.number);
        let rows = query.execute(&mut *tx).await?.rows_affected();
        tx.commit().await?;
        Ok(rows)
    }
}

async fn newest_removal(tx: &mut Transaction<'static, Any>) -> Result<Option<Removal>, StoreError> {
    let row = sqlx::query("SELECT at, subject FROM audit WHERE action = $1 ORDER BY number DESC LIMIT 1")
        .bind(Action::AuditRemove.as_str())
        .fetch_optional(&mut **tx)
        .await?;
    let Some(row) = row else { return Ok(None) };
    let subject: String = row.try_get("subject")?;
    let up_to = subject.parse().map_err(|_| StoreError::Corrupt(format!("a removal up to “{subject}”")))?;
    Ok(Some(Removal { at: Timestamp::from_millis(row.try_get("at")?), up_to }))
}
