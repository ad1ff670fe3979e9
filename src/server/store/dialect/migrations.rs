//! The migrations of each database, embedded as files. `sqlx::migrate!` is not used: its macro crate compiles both drivers, SQLite included, a second
//! time.

use rust_embed::Embed;
use sqlx::migrate::{Migration, MigrationType, Migrator};
use sqlx::{AssertSqlSafe, SqlSafeStr};

#[derive(Embed)]
#[folder = "migrations/sqlite/"]
pub(crate) struct OfSqlite;

#[derive(Embed)]
#[folder = "migrations/postgres/"]
pub(super) struct OfPostgres;

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
