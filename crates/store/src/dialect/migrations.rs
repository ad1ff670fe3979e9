//! The migrations of each database, embedded as files. `sqlx::migrate!` is not used: its macro crate compiles both drivers, SQLite included, a second
//! time.

pub(crate) mod normalized_texts;

use rust_embed::Embed;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{Any, AssertSqlSafe, SqlSafeStr, Transaction};

use super::Dialect;
use crate::StoreError;

/// The first migration: the schema of version 0.1.0. Older schemas are not upgraded.
pub(crate) const FIRST: i64 = 100;

#[derive(Embed)]
#[folder = "migrations/sqlite/"]
pub(crate) struct OfSqlite;

#[derive(Embed)]
#[folder = "migrations/postgres/"]
pub(super) struct OfPostgres;

impl Dialect {
    /// As [`Dialect::step`]. Fails with a schema before [`FIRST`].
    pub(super) async fn upgradable_step(
        self,
        tx: &mut Transaction<'static, Any>,
    ) -> Result<Option<i64>, StoreError> {
        match self.step(&mut *tx).await? {
            Some(step) if step < FIRST => Err(StoreError::Older(step)),
            step => Ok(step),
        }
    }
}

/// Applies all pending migrations. `last`: the last one that ran; `None` for a new database.
pub(super) async fn run(
    migrations: &Migrator,
    last: Option<i64>,
    tx: &mut Transaction<'static, Any>,
) -> Result<(), StoreError> {
    migrations.run_direct(None, &mut **tx, false).await?;
    if last.is_some_and(|last| last < normalized_texts::STEP) {
        normalized_texts::normalize(tx).await?;
    }
    Ok(())
}

/// The files of the form `0001_what_it_does.sql`.
pub(crate) fn migrator<Files: Embed>() -> Migrator {
    Migrator::with_migrations(Files::iter().filter_map(|name| migration::<Files>(&name)).collect())
}

fn migration<Files: Embed>(name: &str) -> Option<Migration> {
    let (version, description) = name.strip_suffix(".sql")?.split_once('_')?;
    let sql = String::from_utf8(Files::get(name)?.data.into_owned()).ok()?;
    // The form in which sqlx stores it in existing databases.
    let description = description.replace('_', " ");
    let has_no_transaction = sql.starts_with("-- no-transaction");
    Some(Migration::new(
        version.parse().ok()?,
        description.into(),
        MigrationType::Simple,
        AssertSqlSafe(sql).into_sql_str(),
        has_no_transaction,
    ))
}

#[cfg(test)]
mod tests {
    #![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn every_migration_file_is_embedded() {
        for (migrator, folder) in [(migrator::<OfSqlite>(), "sqlite"), (migrator::<OfPostgres>(), "postgres")]
        {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations").join(folder);
            let files = std::fs::read_dir(path).unwrap().count();
            let versions: Vec<i64> = migrator.iter().map(|migration| migration.version).collect();
            assert_eq!(versions.len(), files, "{folder}");
            assert!(versions.is_sorted_by(|one, other| one < other), "{versions:?}");
            assert_eq!(versions.first(), Some(&FIRST), "{folder}");
            assert!(versions.contains(&normalized_texts::STEP), "{folder}");
        }
    }

    // An existing database stores sqlx's versions, descriptions and checksums.
    #[tokio::test]
    async fn embedded_migrations_match_those_of_the_sqlx_macro() {
        let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("migrations/sqlite");
        let expected = Migrator::new(path).await.unwrap();
        let ours = migrator::<OfSqlite>();
        for (ours, expected) in ours.iter().zip(expected.iter()) {
            assert_eq!((ours.version, &ours.description), (expected.version, &expected.description));
            assert_eq!((&ours.checksum, ours.no_tx), (&expected.checksum, expected.no_tx));
        }
    }
}
