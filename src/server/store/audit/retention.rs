//! Removes old rows. The others can still be verified: the link of the last removed row is stored, and the removal itself is a row that names it.

use super::{ChainLink, LAST, REMOVED, end, link, move_end, record};
use crate::model::audit::{Action, AuditEvent};
use crate::model::time::Timestamp;
use crate::server::store::{Store, StoreError};
use crate::server::work::Work;

impl Store {
    /// Removes the rows before `cutoff`, up to the first newer one. Returns the last removed one, if any.
    pub async fn remove_audit_before(
        &self,
        work: &Work,
        cutoff: Timestamp,
        now: Timestamp,
    ) -> Result<Option<ChainLink>, StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
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
        let removed = link(&row)?;
        move_end(&mut tx, REMOVED, &removed).await?;
        sqlx::query("DELETE FROM audit WHERE number <= $1").bind(removed.number).execute(&mut *tx).await?;
        let event = AuditEvent::new(Action::AuditRemove).on(&removed);
        record(&mut tx, work.actor(), &event, now).await?;
        tx.commit().await?;
        Ok(Some(removed))
    }
}
