//! The lease that decides which process syncs the history, where several share a database.

use std::time::Duration;

use crate::model::time::Timestamp;
use crate::server::store::{Store, StoreError};

impl Store {
    /// Gives `holder` the lease for `long` from now, unless another process holds it. A lease that ends later than one
    /// given now was given before a clock rollback, and is ignored.
    pub async fn acquire_history_lease(
        &self,
        holder: &str,
        now: Timestamp,
        long: Duration,
    ) -> Result<bool, StoreError> {
        let ends_at = now.plus_seconds(i64::try_from(long.as_secs()).unwrap_or(i64::MAX));
        let held = sqlx::query(
            "INSERT INTO history_lease (id, holder, ends_at) VALUES (1, $1, $2)
             ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
             WHERE history_lease.holder = excluded.holder OR history_lease.ends_at <= $3
                 OR history_lease.ends_at > excluded.ends_at",
        )
        .bind(holder)
        .bind(ends_at.as_millis())
        .bind(now.as_millis())
        .execute(self.history_writer())
        .await?;
        Ok(held.rows_affected() == 1)
    }

    /// Releases the lease if `holder` has it.
    pub async fn release_history_lease(&self, holder: &str) -> Result<(), StoreError> {
        let query = sqlx::query("DELETE FROM history_lease WHERE holder = $1");
        query.bind(holder).execute(self.history_writer()).await?;
        Ok(())
    }
}
