//! The lease that decides which of the processes on a database syncs the history.

use std::time::Duration;

use sqlx::{Any, Transaction};

use crate::{Store, StoreError};
use base::work::Work;
use model::time::Timestamp;

impl Store {
    /// Acquires the lease for `long` from now, unless another process has it. A lease that ends later than one acquired now was acquired before a
    /// clock rollback, and is ignored.
    pub async fn acquire_history_lease(
        &self,
        work: &Work,
        now: Timestamp,
        long: Duration,
    ) -> Result<bool, StoreError> {
        let ends_at = now.plus_seconds(i64::try_from(long.as_secs()).unwrap_or(i64::MAX));
        let mut tx = self.write_history(work).begin().await?.tx;
        let acquired = sqlx::query(
            "INSERT INTO history_lease (id, holder, ends_at) VALUES (1, $1, $2)
             ON CONFLICT (id) DO UPDATE SET holder = excluded.holder, ends_at = excluded.ends_at
             WHERE history_lease.holder = excluded.holder OR history_lease.ends_at <= $3
                 OR history_lease.ends_at > excluded.ends_at",
        )
        .bind(self.instance())
        .bind(ends_at.as_millis())
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(acquired.rows_affected() == 1)
    }

    /// Ends the lease if this process has it, so that another one can acquire it. The row still names its last holder: a process that wakes up
    /// late notices that another one had the lease since.
    pub async fn release_history_lease(&self, work: &Work) -> Result<(), StoreError> {
        let mut tx = self.write_history(work).begin().await?.tx;
        let query = sqlx::query("UPDATE history_lease SET ends_at = 0 WHERE holder = $1");
        query.bind(self.instance()).execute(&mut *tx).await?;
        Ok(tx.commit().await?)
    }
}

/// Fails if another process acquired the lease, so that this one writes nothing, however late it notices. The lease changes in a transaction of the
/// same kind, so no process can acquire it before this transaction ends.
pub(crate) async fn must_not_have_lost_the_lease(
    tx: &mut Transaction<'static, Any>,
    instance: &str,
) -> Result<(), StoreError> {
    let others: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM history_lease WHERE holder <> $1")
        .bind(instance)
        .fetch_one(&mut **tx)
        .await?;
    if others > 0 { Err(StoreError::Overtaken) } else { Ok(()) }
}
