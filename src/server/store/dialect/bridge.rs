//! The bridge from the last schema before version 0.1.0: it renames tables and columns. The next release removes this module and
//! `migrations/bridge`.

use sqlx::migrate::{MigrateError, Migrator};
use sqlx::{Any, AssertSqlSafe, Transaction};

use super::Dialect;
use crate::server::store::StoreError;

/// The last migration before 0.1.0.
pub(crate) const FROM: i64 = 45;

/// A process without a heartbeat for so long has ended.
const GRACE_SECONDS: u64 = 45;

impl Dialect {
    /// The statements of the bridge.
    pub(crate) fn bridge(self) -> &'static str {
        match self {
            Self::Sqlite => include_str!("../../../../migrations/bridge/sqlite.sql"),
            Self::Postgres => include_str!("../../../../migrations/bridge/postgres.sql"),
        }
    }

    /// Upgrades a database with the last schema before 0.1.0. Does nothing with a new one, or with a later schema. Fails with an older schema, and
    /// while a process of the earlier version uses the database: its statements have the old names.
    pub(super) async fn cross_bridge(
        self,
        migrations: &Migrator,
        tx: &mut Transaction<'static, Any>,
    ) -> Result<(), StoreError> {
        match self.step(&mut *tx).await? {
            None => return Ok(()),
            Some(step) if step > FROM => return Ok(()),
            Some(FROM) => {}
            Some(step) => return Err(StoreError::Older(step)),
        }
        if let Some(unfinished) = sqlx::query_scalar("SELECT version FROM _sqlx_migrations WHERE NOT success")
            .fetch_optional(&mut **tx)
            .await?
        {
            return Err(MigrateError::Dirty(unfinished).into());
        }
        let processes: i64 = sqlx::query_scalar(AssertSqlSafe(self.processes())).fetch_one(&mut **tx).await?;
        if processes > 0 {
            return Err(StoreError::ServedByEarlier(GRACE_SECONDS));
        }
        sqlx::raw_sql(self.bridge()).execute(&mut **tx).await?;
        sqlx::query("DELETE FROM _sqlx_migrations").execute(&mut **tx).await?;
        let first = migrations.iter().next().ok_or(MigrateError::VersionNotPresent(FROM))?;
        sqlx::query(
            "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
             VALUES ($1, $2, TRUE, $3, 0)",
        )
        .bind(first.version)
        .bind(first.description.as_ref())
        .bind(first.checksum.as_ref())
        .execute(&mut **tx)
        .await?;
        Ok(())
    }

    /// Counts the processes with a heartbeat in the last [`GRACE_SECONDS`], by the clock of the database.
    fn processes(self) -> String {
        let now = match self {
            Self::Sqlite => "CAST(STRFTIME('%s', 'now') AS INTEGER)",
            Self::Postgres => "EXTRACT(EPOCH FROM clock_timestamp())",
        };
        format!("SELECT COUNT(*) FROM instances WHERE ABS(seen_at - {now} * 1000) <= {GRACE_SECONDS} * 1000")
    }
}
