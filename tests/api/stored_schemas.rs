//! Databases with earlier schemas: those stored at each release (`scripts/keep-schema.sh`), and those that migrations create from
//! the first one. The current version opens each of them, and all data is still there.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use sqlx::migrate::Migrator;
use sqlx::{AssertSqlSafe, Connection};

use crate::databases::TestDatabase;
use crate::helpers::{Browser, Finished, Installation, Ledger, PASSWORD};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas");
const NOWHERE: &str = "http://127.0.0.1:9";

const MIGRATIONS: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/migrations");

/// Rows that are written when the schema is at this step.
const ROWS: [(i64, &str); 2] =
    [(1, include_str!("../schemas/rows-0001.sql")), (10, include_str!("../schemas/rows-0010.sql"))];

/// Schema versions that were in use before the first release.
const STEPS: [i64; 6] = [1, 8, 12, 19, 26, 28];

/// Tables that belong to running processes, or are created anew with each schema.
const LEFT_OUT: [&str; 3] = ["_sqlx_migrations", "instances", "history_lease"];

/// How many rows each table has.
async fn counts(url: &str) -> BTreeMap<String, i64> {
    let tables = if url.starts_with("sqlite:") {
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE 'sqlite!_%' ESCAPE '!'
             AND name NOT LIKE '%!_words%' ESCAPE '!' AND name NOT LIKE '%!_characters%' ESCAPE '!'"
    } else {
        "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public'"
    };
    let mut connection = Ledger::at(url).connection().await;
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut connection).await.unwrap();
    let mut counts = BTreeMap::new();
    for table in tables.into_iter().filter(|table| !LEFT_OUT.contains(&table.as_str())) {
        let count = AssertSqlSafe(format!("SELECT COUNT(*) FROM {table}"));
        let count = sqlx::query_scalar(count).fetch_one(&mut connection).await.unwrap();
        counts.insert(table, count);
    }
    connection.close().await.unwrap();
    counts
}

fn unpacked(file: &Path) -> Vec<u8> {
    let mut bytes = Vec::new();
    GzDecoder::new(std::fs::File::open(file).unwrap()).read_to_end(&mut bytes).unwrap();
    bytes
}

/// The stored databases whose names end in this text, by version.
fn stored(end: &str) -> BTreeMap<String, PathBuf> {
    let files = std::fs::read_dir(FOLDER).unwrap().map(|file| file.unwrap().path());
    let version = |file: &PathBuf| Some(file.file_name()?.to_str()?.strip_suffix(end)?.to_owned());
    files.filter_map(|file| Some((version(&file)?, file))).collect()
}

/// Runs the statements of a file, each of which ends a line.
async fn run(url: &str, statements: &str) {
    let mut connection = Ledger::at(url).connection().await;
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// A database that was migrated up to `last`, with rows written on the way.
async fn migrated_to(database: &TestDatabase, last: i64) {
    let url = database.url();
    let kind = if url.starts_with("sqlite:") {
        std::fs::write(url.trim_start_matches("sqlite://"), "").unwrap();
        "sqlite"
    } else {
        run(url, "CREATE EXTENSION pg_trgm").await;
        "postgres"
    };
    let migrations = Migrator::new(Path::new(MIGRATIONS).join(kind)).await.unwrap();
    for (step, rows) in ROWS.into_iter().filter(|(step, _)| *step <= last) {
        let mut connection = Ledger::at(url).connection().await;
        let first = migrations.iter().next().unwrap().version;
        migrations.run_to(step.max(first), &mut connection).await.unwrap();
        connection.close().await.unwrap();
        run(url, rows).await;
    }
    let mut connection = Ledger::at(url).connection().await;
    migrations.run_to(last, &mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// Upgrades a database, and checks that all data is there and shown.
async fn upgrade(url: &str, what: &str) {
    let before = counts(url).await;
    let installation = Installation::in_file(NOWHERE).set("DOCKET_DATABASE_URL", url);
    let checked = installation.run(&["upgrade-check"]);
    assert_eq!(checked.code, Some(0), "{what}: {checked:?}");
    assert_eq!(counts(url).await, before, "{what}: a check changed something");
    let migrated: Finished = installation.run(&["user", "list"]);
    assert_eq!(migrated.code, Some(0), "{what}: {migrated:?}");
    let after = counts(url).await;
    for (table, rows) in &before {
        // Another table may replace a table.
        let Some(now) = after.get(table) else { continue };
        assert!(now >= rows, "{what}: {table} had {rows} rows and has {now}");
    }
    Ledger::at(url).is_sound().await;
    let audit = installation.run(&["audit", "verify"]);
    assert_eq!(audit.code, Some(0), "{what}: {audit:?}");
    let again = installation.run(&["upgrade-check"]);
    assert!(again.code == Some(0) && again.stdout.contains("nothing is to be migrated"), "{what}: {again:?}");
}

/// Serves an upgraded database, and requests its pages.
async fn is_shown(url: &str, what: &str) {
    let installation = Installation::in_file(NOWHERE).set("DOCKET_DATABASE_URL", url);
    let listed = "SELECT COUNT(*) FROM jobs WHERE project = 'docs' AND archived_here_at IS NULL";
    let listed = Ledger::at(url).count(listed).await;
    let password = installation.run_with_input(&["user", "passwd", "ada"], &format!("{PASSWORD}\n"));
    assert_eq!(password.code, Some(0), "{what}: {password:?}");
    let server = installation.serve(&["serve"]);
    let browser = Browser::at(&server.address().await);
    assert_eq!(browser.sign_in("ada", PASSWORD).await.status, 200, "{what}");
    let jobs = browser.post_json("/api/jobs/list", &[("project", "docs")]).await;
    let jobs = jobs["jobs"].as_array().unwrap();
    assert_eq!(jobs.len() as i64, listed, "{what}");
    for page in ["/p/docs", "/p/docs/jobs", "/p/docs/templates", "/admin/audit"] {
        assert_eq!(browser.get(page).await.status, 200, "{what}: {page}");
    }
    for job in jobs {
        let id = job["id"].as_str().unwrap();
        let page = browser.get(&format!("/p/docs/jobs/{id}")).await;
        assert_eq!(page.status, 200, "{what}: {id}");
    }
}

#[tokio::test]
async fn stored_sqlite_schemas_upgrade_with_all_rows() {
    let files = stored(".sqlite.gz");
    assert!(
        files.contains_key(env!("CARGO_PKG_VERSION")),
        "the schema of this version is not stored: scripts/keep-schema.sh {}",
        env!("CARGO_PKG_VERSION")
    );
    for (version, file) in files {
        let folder = tempfile::tempdir().unwrap();
        let database = TestDatabase::of_file(&folder.path().join("docket.db"));
        std::fs::write(folder.path().join("docket.db"), unpacked(&file)).unwrap();
        let counts = counts(database.url()).await;
        assert!(counts.values().all(|rows| *rows > 0), "{version} has empty tables: {counts:?}");
        upgrade(database.url(), &version).await;
        is_shown(database.url(), &version).await;
    }
}

#[tokio::test]
async fn stored_postgres_dumps_upgrade_with_all_rows() {
    let files = stored(".postgres.sql.gz");
    assert!(files.contains_key(env!("CARGO_PKG_VERSION")));
    for (version, file) in files {
        let database = TestDatabase::of_server("").await;
        let dump = String::from_utf8(unpacked(&file)).unwrap();
        // Commands of psql.
        let dump: Vec<&str> = dump.lines().filter(|line| !line.starts_with('\\')).collect();
        run(database.url(), &dump.join("\n")).await;
        upgrade(database.url(), &version).await;
        is_shown(database.url(), &version).await;
    }
}

#[tokio::test]
async fn every_schema_version_upgrades_with_all_rows() {
    let mut installations = Vec::new();
    for step in STEPS {
        let folder = tempfile::tempdir().unwrap();
        installations.push((step, TestDatabase::of_file(&folder.path().join("docket.db")), Some(folder)));
    }
    installations.push((28, TestDatabase::of_server("").await, None));
    for (step, database, _folder) in installations {
        migrated_to(&database, step).await;
        let what = format!("step {step} of {}", database.url());
        upgrade(database.url(), &what).await;
        let ledger = Ledger::at(database.url());
        for (rows, statement) in [
            (
                1,
                "SELECT COUNT(*) FROM messages WHERE prompt = 'Describe the amber lantern at /guide' AND state = 'accepted'",
            ),
            (
                1,
                "SELECT COUNT(*) FROM messages WHERE prompt = 'Describe the quiet fjord' AND state = 'queued' AND due_at > 1762000000000",
            ),
            (
                1,
                "SELECT COUNT(*) FROM jobs WHERE state = 'completed' AND pr_link = 'https://git.example.com/pull/1'",
            ),
            (3, "SELECT COUNT(*) FROM listed_jobs"),
        ] {
            assert_eq!(ledger.count(statement).await, rows, "{what}: {statement}");
        }
        if step >= 10 {
            for statement in [
                "SELECT COUNT(*) FROM job_tags WHERE tag = 'Lamps'",
                "SELECT COUNT(*) FROM templates WHERE text = 'Describe {{thing}}'",
                "SELECT COUNT(*) FROM webhooks WHERE secret = 'a kept secret'",
                "SELECT COUNT(*) FROM annotations WHERE text = 'A new lamp'",
            ] {
                assert_eq!(ledger.count(statement).await, 1, "{what}: {statement}");
            }
        }
        is_shown(database.url(), &what).await;
    }
}

#[tokio::test]
async fn newer_schema_is_refused_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    for database in
        [TestDatabase::of_file(&folder.path().join("docket.db")), TestDatabase::of_server("").await]
    {
        docket::server::store::Store::open(database.url()).await.unwrap().close().await;
        let ledger = Ledger::at(database.url());
        ledger.run("UPDATE _sqlx_migrations SET version = 9999 WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)").await;
        let before = counts(database.url()).await;
        let installation = Installation::in_file(NOWHERE).set("DOCKET_DATABASE_URL", database.url());
        for command in [&["serve"][..], &["user", "list"], &["upgrade-check"]] {
            let finished = installation.run(command);
            assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{finished:?}");
            let line = finished.stderr.trim_end().lines().last().unwrap();
            assert!(line.contains("newer Docket") && line.contains("9999"), "{finished:?}");
        }
        assert_eq!(counts(database.url()).await, before);
    }
}
