//! Writes whole tables unchanged: exclusively, without triggers, and with the data that the database stores besides rows.

use sqlx::{Any, AnyConnection, AssertSqlSafe, Row, Transaction};

use super::{Area, Dialect, Pool, postgres, search};
use crate::StoreError;

/// Triggers that are dropped until [`Dialect::resume_triggers`].
#[must_use]
pub(crate) struct Suspended(Vec<String>);

impl Dialect {
    /// A transaction during which no other writer writes, and which may take hours.
    pub(crate) async fn begin_alone(self, pool: &Pool) -> Result<Transaction<'static, Any>, StoreError> {
        let mut tx = self.begin(pool, Area::Ledger).await?;
        if self == Self::Postgres {
            postgres::lock_area(&mut tx, Area::History).await?;
        }
        self.give_time(&mut tx).await?;
        Ok(tx)
    }

    /// Removes the limits on idle time between two statements, and adds memory for long ones.
    pub(crate) async fn give_time(self, connection: &mut AnyConnection) -> Result<(), StoreError> {
        let settings = match self {
            // In KiB.
            Self::Sqlite => "PRAGMA cache_size = -65536",
            Self::Postgres => {
                "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL work_mem = '32MB'"
            }
        };
        sqlx::raw_sql(settings).execute(connection).await?;
        Ok(())
    }

    /// Switches off all triggers of the schema. Foreign keys are still checked.
    pub(crate) async fn suspend_triggers(
        self,
        connection: &mut AnyConnection,
    ) -> Result<Suspended, StoreError> {
        let list = match self {
            // In the order of their creation.
            Self::Sqlite => "SELECT name, sql FROM sqlite_master WHERE type = 'trigger' ORDER BY rowid",
            Self::Postgres => {
                "SELECT CAST(c.relname AS TEXT), '' FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                 WHERE n.nspname = current_schema()
                     AND EXISTS (SELECT 1 FROM pg_trigger t WHERE t.tgrelid = c.oid AND NOT t.tgisinternal)"
            }
        };
        let mut back = Vec::new();
        for row in sqlx::query(list).fetch_all(&mut *connection).await? {
            let (name, sql): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let (off, on) = match self {
                Self::Sqlite => (format!("DROP TRIGGER \"{name}\""), sql),
                Self::Postgres => (
                    format!("ALTER TABLE \"{name}\" DISABLE TRIGGER USER"),
                    format!("ALTER TABLE \"{name}\" ENABLE TRIGGER USER"),
                ),
            };
            sqlx::raw_sql(AssertSqlSafe(off)).execute(&mut *connection).await?;
            back.push(on);
        }
        Ok(Suspended(back))
    }

    pub(crate) async fn resume_triggers(
        self,
        connection: &mut AnyConnection,
        Suspended(back): Suspended,
    ) -> Result<(), StoreError> {
        for statement in back {
            sqlx::raw_sql(AssertSqlSafe(statement)).execute(&mut *connection).await?;
        }
        Ok(())
    }

    /// Restores what the database would have updated while rows were inserted one by one: the next generated numbers, and the statistics of each of
    /// `tables`.
    pub(crate) async fn finish_copy(
        self,
        connection: &mut AnyConnection,
        tables: impl Iterator<Item = &str>,
    ) -> Result<(), StoreError> {
        if self == Self::Sqlite {
            return Ok(());
        }
        for row in sqlx::query(postgres::NUMBERED).fetch_all(&mut *connection).await? {
            let (table, column): (String, String) = (row.try_get(0)?, row.try_get(1)?);
            let number = format!(
                "SELECT setval(pg_get_serial_sequence('\"{table}\"', '{column}'), COALESCE(MAX(\"{column}\"), 1),
                     MAX(\"{column}\") IS NOT NULL) FROM \"{table}\""
            );
            sqlx::query(AssertSqlSafe(number)).execute(&mut *connection).await?;
        }
        let tables =
            tables.chain(search::TABLES).map(|table| format!("\"{table}\"")).collect::<Vec<_>>().join(", ");
        sqlx::raw_sql(AssertSqlSafe(format!("ANALYZE {tables}"))).execute(connection).await?;
        Ok(())
    }

    /// Whether the database can store this text.
    pub(crate) fn can_store(self, text: &str) -> bool {
        self == Self::Sqlite || !text.contains('\0')
    }
}
