//! Stored databases of the schema of each release, with rows in every table (`scripts/keep-schema.sh`). The current version upgrades each of them, and
//! all data is still there. Older schemas are refused.

use std::collections::BTreeMap;
use std::io::Read;
use std::path::{Path, PathBuf};

use flate2::read::GzDecoder;
use sqlx::{AssertSqlSafe, Connection};
use store::Store;

use crate::databases::TestDatabase;
use crate::helpers::{Browser, Finished, Installation, Ledger, PASSWORD, is_private};

const FOLDER: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/schemas");
const NOWHERE: &str = "http://127.0.0.1:9";

/// The first release, the oldest one whose databases are upgraded.
pub(crate) const FIRST_RELEASE: &str = "0.1.0";

/// Tables that belong to running processes, or are created anew with each schema.
const LEFT_OUT: [&str; 3] = ["_sqlx_migrations", "instances", "history_lease"];

/// How many rows each table has.
pub(crate) async fn counts(url: &str) -> BTreeMap<String, i64> {
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
pub(crate) async fn run(url: &str, statements: &str) {
    let mut connection = Ledger::at(url).connection().await;
    sqlx::raw_sql(AssertSqlSafe(statements.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

/// A stored database, of both kinds.
pub(crate) async fn stored_databases(version: &str, folder: &tempfile::TempDir) -> [TestDatabase; 2] {
    let path = |end: &str| Path::new(FOLDER).join(format!("{version}{end}"));
    [
        of_file(&path(".sqlite.gz"), &folder.path().join(format!("{version}.db"))),
        of_dump(&path(".postgres.sql.gz")).await,
    ]
}

fn of_file(stored: &Path, file: &Path) -> TestDatabase {
    std::fs::write(file, unpacked(stored)).unwrap();
    TestDatabase::of_file(file)
}

async fn of_dump(stored: &Path) -> TestDatabase {
    let database = TestDatabase::of_server("").await;
    let dump = String::from_utf8(unpacked(stored)).unwrap();
    // Commands of psql.
    let dump: Vec<&str> = dump.lines().filter(|line| !line.starts_with('\\')).collect();
    run(database.url(), &dump.join("\n")).await;
    database
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
        let now = after.get(table).unwrap_or_else(|| panic!("{what}: {table} is missing"));
        assert!(now >= rows, "{what}: {table} had {rows} rows and has {now}");
    }
    Ledger::at(url).is_sound().await;
    let audit = installation.run(&["audit", "verify"]);
    assert_eq!(audit.code, Some(0), "{what}: {audit:?}");
    let again = installation.run(&["upgrade-check"]);
    assert!(again.code == Some(0) && again.stdout.contains("nothing is to be migrated"), "{what}: {again:?}");
}

/// The first stored file of a release, as the database of an installation, and the path of its copy before the upgrade.
async fn installed_release() -> (Installation, String, PathBuf) {
    let installation = Installation::in_file(NOWHERE);
    let file = installation.path("docket.db");
    let (_, stored) = stored(".sqlite.gz").into_iter().next().unwrap();
    let url = of_file(&stored, &file).url().to_owned();
    let installation = installation.set("DOCKET_DATABASE_URL", &url);
    let checked = installation.run(&["upgrade-check", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    let copy = installation.path(&format!("docket.db.before-{}", report["pending"][0]["step"]));
    (installation, url, copy)
}

#[tokio::test]
async fn file_is_copied_before_its_upgrade_and_only_then() {
    let (installation, url, copy) = installed_release().await;
    let before = counts(&url).await;
    std::fs::write(&copy, "of an upgrade that was undone").unwrap();
    assert_eq!(installation.run(&["user", "list"]).code, Some(0));
    assert!(is_private(&copy));
    let of_copy = installation.set("DOCKET_DATABASE_URL", &format!("sqlite://{}", copy.display()));
    assert_eq!(counts(&format!("sqlite://{}", copy.display())).await, before);
    let checked = of_copy.run(&["upgrade-check", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&checked.stdout).unwrap();
    assert!(!report["pending"].as_array().unwrap().is_empty(), "{report}");
    std::fs::remove_file(&copy).unwrap();
    assert_eq!(of_copy.set("DOCKET_DATABASE_URL", &url).run(&["user", "list"]).code, Some(0));
    assert!(!copy.exists(), "nothing was to be upgraded");
}

#[tokio::test]
async fn upgrade_without_a_copy_is_refused_unless_configured() {
    let (installation, url, copy) = installed_release().await;
    let before = counts(&url).await;
    std::fs::create_dir(&copy).unwrap();
    let refused = installation.run(&["user", "list"]);
    assert_eq!(refused.code, Some(1), "{refused:?}");
    assert!(refused.stderr.contains("DOCKET_UPGRADE_WITHOUT_COPY=true"), "{refused:?}");
    assert_eq!(counts(&url).await, before);
    let checked = installation.run(&["upgrade-check"]);
    assert!(!checked.stdout.contains("nothing is to be migrated"), "{checked:?}");
    let left = std::fs::read_dir(copy.parent().unwrap()).unwrap();
    let names = left.map(|file| file.unwrap().file_name().into_string().unwrap());
    assert_eq!(names.filter(|name| name.ends_with(".partial")).count(), 0);
    let configured = installation.set("DOCKET_UPGRADE_WITHOUT_COPY", "true");
    assert_eq!(configured.run(&["user", "list"]).code, Some(0));
    let checked = configured.run(&["upgrade-check"]);
    assert!(checked.stdout.contains("nothing is to be migrated"), "{checked:?}");
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
    assert!(files.contains_key(FIRST_RELEASE));
    let folder = tempfile::tempdir().unwrap();
    for (version, file) in files {
        let database = of_file(&file, &folder.path().join(format!("{version}.db")));
        let counts = counts(database.url()).await;
        assert!(counts.values().all(|rows| *rows > 0), "{version} has empty tables: {counts:?}");
        upgrade(database.url(), &version).await;
        is_shown(database.url(), &version).await;
    }
}

#[tokio::test]
async fn stored_postgres_dumps_upgrade_with_all_rows() {
    let files = stored(".postgres.sql.gz");
    assert!(files.contains_key(env!("CARGO_PKG_VERSION")) && files.contains_key(FIRST_RELEASE));
    for (version, file) in files {
        let database = of_dump(&file).await;
        upgrade(database.url(), &version).await;
        is_shown(database.url(), &version).await;
    }
}

/// What SQLite stores of a schema: without comments, quotes and spaces, and with the columns of tables in order of their names.
async fn sqlite_schema(url: &str) -> BTreeMap<String, String> {
    let schema = "SELECT type || ' ' || name, CASE WHEN type = 'table' AND sql NOT LIKE '% VIRTUAL %' THEN
            (SELECT GROUP_CONCAT(name || ' ' || type || ' ' || \"notnull\" || ' ' || COALESCE(dflt_value, '') || ' ' || pk, CHAR(10))
             FROM (SELECT * FROM PRAGMA_TABLE_INFO(m.name) ORDER BY name))
            || (SELECT COALESCE(GROUP_CONCAT(\"from\" || ' ' || \"table\" || ' ' || on_delete, CHAR(10)), '')
             FROM (SELECT * FROM PRAGMA_FOREIGN_KEY_LIST(m.name) ORDER BY \"from\"))
        ELSE COALESCE(sql, '') END FROM sqlite_master m WHERE name NOT LIKE '!_sqlx%' ESCAPE '!'";
    let mut connection = Ledger::at(url).connection().await;
    let rows: Vec<(String, String)> = sqlx::query_as(schema).fetch_all(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    let plain = |sql: &str| {
        let code = sql.lines().map(|line| line.split("--").next().unwrap_or_default());
        code.collect::<String>().replace(['"', ' '], "")
    };
    rows.iter().map(|(name, sql)| (name.clone(), plain(sql))).collect()
}

/// What PostgreSQL stores of a schema: columns, constraints, indexes, functions and triggers.
async fn postgres_schema(url: &str) -> BTreeMap<String, String> {
    let mut connection = Ledger::at(url).connection().await;
    let mut schema = BTreeMap::new();
    for query in [
        "SELECT 'column ' || table_name || ' ' || column_name,
             CONCAT_WS(' ', data_type, collation_name, is_nullable, column_default, is_identity)
         FROM information_schema.columns WHERE table_schema = 'public'",
        "SELECT 'constraint ' || conname, pg_get_constraintdef(oid) FROM pg_constraint
         WHERE connamespace = 'public'::regnamespace",
        "SELECT 'index ' || indexname::TEXT, indexdef FROM pg_indexes WHERE schemaname = 'public'",
        "SELECT 'function ' || proname || ' ' || pg_get_function_arguments(oid), REGEXP_REPLACE(prosrc, '--[^\n]*', '', 'g')
         FROM pg_proc p WHERE pronamespace = 'public'::regnamespace
         AND NOT EXISTS (SELECT 1 FROM pg_depend d WHERE d.objid = p.oid AND d.deptype = 'e')",
        // A dumped condition has other brackets.
        "SELECT 'trigger ' || tgname || ' ' || tgrelid::regclass::TEXT, TRANSLATE(pg_get_triggerdef(oid), '() ', '')
         FROM pg_trigger WHERE NOT tgisinternal",
    ] {
        let rows: Vec<(String, String)> = sqlx::query_as(query).fetch_all(&mut connection).await.unwrap();
        schema.extend(rows.into_iter().filter(|(name, _)| !name.contains("_sqlx_migrations")));
    }
    connection.close().await.unwrap();
    schema
        .into_iter()
        .map(|(name, sql)| (name, sql.split_whitespace().collect::<Vec<_>>().join(" ")))
        .collect()
}

#[tokio::test]
async fn upgraded_schema_equals_a_new_one() {
    let folder = tempfile::tempdir().unwrap();
    let [file, server] = stored_databases(FIRST_RELEASE, &folder).await;
    let new = [TestDatabase::of_file(&folder.path().join("new.db")), TestDatabase::of_server("").await];
    for database in [&file, &server, &new[0], &new[1]] {
        Store::open(database.url()).await.unwrap().close().await;
    }
    let schemas = (sqlite_schema(file.url()).await, sqlite_schema(new[0].url()).await);
    assert!(schemas.0.len() > 150, "{}", schemas.0.len());
    assert_equal(schemas);
    let schemas = (postgres_schema(server.url()).await, postgres_schema(new[1].url()).await);
    assert!(schemas.0.len() > 400, "{}", schemas.0.len());
    assert_equal(schemas);
}

fn assert_equal((upgraded, new): (BTreeMap<String, String>, BTreeMap<String, String>)) {
    assert!(
        upgraded.keys().eq(new.keys()),
        "{:?}",
        upgraded.keys().filter(|name| !new.contains_key(*name)).collect::<Vec<_>>()
    );
    for (name, sql) in &new {
        assert_eq!(&upgraded[name], sql, "{name}");
    }
}

/// Every command fails with a last line that contains all of `words`, and changes no table.
async fn is_refused_unchanged(url: &str, words: &[&str]) {
    let before = counts(url).await;
    let installation = Installation::in_file(NOWHERE).set("DOCKET_DATABASE_URL", url);
    for command in [&["serve"][..], &["user", "list"], &["upgrade-check"]] {
        let finished = installation.run(command);
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{finished:?}");
        let line = finished.stderr.trim_end().lines().last().unwrap();
        for words in words {
            assert!(line.contains(words), "no “{words}” in {finished:?}");
        }
    }
    assert_eq!(counts(url).await, before);
}

#[tokio::test]
async fn older_schema_is_refused_unchanged_with_advice() {
    let folder = tempfile::tempdir().unwrap();
    for database in stored_databases(FIRST_RELEASE, &folder).await {
        // The last schema before 0.1.0 had this number.
        run(database.url(), "UPDATE _sqlx_migrations SET version = 45").await;
        let advice =
            ["before 0.1.0", "step 45", "only databases of 0.1.0 or later", "start version 0.1.0 once"];
        is_refused_unchanged(database.url(), &advice).await;
    }
}

/// How versions before 0.1.0 stored texts and results. The database of 0.1.0 that it is written to was once theirs.
const ROWS_OF_BEFORE: &str = "
    UPDATE users SET name = 'cafe\u{301}' WHERE name = 'olga';
    UPDATE users SET name = 'u\u{308}' WHERE name = 'otto';
    UPDATE users SET name = '\u{fc}' WHERE name = 'vera';
    UPDATE messages SET prompt = 'cafe\u{301} ' || position;
    UPDATE batches SET template = 'cafe\u{301}', list = 'cafe\u{301}', name = 'cafe\u{301}';
    UPDATE templates SET name = 'cafe\u{301}', text = 'cafe\u{301}';
    DELETE FROM job_paths;
    INSERT INTO job_paths (job_id, path) SELECT id, '/cafe\u{301}' FROM jobs;
    INSERT INTO job_paths (job_id, path) SELECT id, '/caf\u{e9}' FROM jobs WHERE state = 'active';
    DELETE FROM job_tags;
    INSERT INTO job_tags (job_id, folded, tag) SELECT id, 'cafe\u{301}', 'Cafe\u{301}' FROM jobs;
    UPDATE jobs SET pr_link = NULL;
    UPDATE jobs SET pr_link = 'https://example.com/7' WHERE state = 'active';
    INSERT INTO job_events (id, job_id, position, at, state) SELECT 'of ' || id, id, 0, 1, 'completed' FROM jobs;
    INSERT INTO job_events (id, job_id, position, at, state) SELECT 'failed ' || id, id, 0, 1, 'failed' FROM jobs";

#[tokio::test]
async fn upgrade_completes_rows_from_before_0_1_0() {
    let folder = tempfile::tempdir().unwrap();
    for database in stored_databases(FIRST_RELEASE, &folder).await {
        let (url, ledger) = (database.url(), Ledger::at(database.url()));
        run(url, ROWS_OF_BEFORE).await;
        Store::open(url).await.unwrap().close().await;
        ledger.is_sound().await;
        for (rows, expected) in [
            ("SELECT COUNT(*) FROM users WHERE name = 'caf\u{e9}'", 1),
            // Another account has the normalized name.
            ("SELECT COUNT(*) FROM users WHERE name = 'u\u{308}'", 1),
            ("SELECT COUNT(*) FROM messages WHERE prompt <> 'caf\u{e9} ' || position", 0),
            (
                "SELECT COUNT(*) FROM batches WHERE template <> 'caf\u{e9}' OR list <> 'caf\u{e9}' OR name <> 'caf\u{e9}'",
                0,
            ),
            ("SELECT COUNT(*) FROM templates WHERE name <> 'caf\u{e9}' OR text <> 'caf\u{e9}'", 0),
            ("SELECT COUNT(*) FROM jobs", 6),
            ("SELECT COUNT(*) FROM job_paths WHERE path = '/caf\u{e9}'", 6),
            ("SELECT COUNT(*) FROM job_paths", 6),
            ("SELECT COUNT(*) FROM job_tags WHERE folded = 'caf\u{e9}' AND tag = 'Caf\u{e9}'", 6),
            ("SELECT COUNT(*) FROM listed_labels WHERE label IN ('/caf\u{e9}', 'caf\u{e9}')", 12),
            ("SELECT COUNT(*) FROM listed_labels", 12),
            // Results that are certain: those of the two jobs without follow-ups.
            ("SELECT COUNT(*) FROM job_events WHERE id LIKE 'of %' AND detail = 'https://example.com/7'", 1),
            ("SELECT COUNT(*) FROM job_events WHERE id LIKE 'of %' AND detail = 'no changes'", 1),
            ("SELECT COUNT(*) FROM job_events WHERE id LIKE 'of %' AND detail IS NULL", 4),
            ("SELECT COUNT(*) FROM job_events WHERE id LIKE 'failed %' AND detail IS NULL", 6),
        ] {
            assert_eq!(ledger.count(rows).await, expected, "{rows}");
        }
        let installation = Installation::in_file(NOWHERE).set("DOCKET_DATABASE_URL", url);
        installation.run_with_input(&["user", "passwd", "caf\u{e9}"], &format!("{PASSWORD}\n"));
        let server = installation.serve(&["serve"]);
        let browser = Browser::at(&server.address().await);
        for name in ["cafe\u{301}", "caf\u{e9}"] {
            assert_eq!(browser.sign_in(name, PASSWORD).await.status, 200, "{name:?}");
        }
        let listed = ledger.count("SELECT COUNT(*) FROM jobs WHERE archived_here_at IS NULL").await;
        for search in [("q", "caf\u{e9} 0"), ("tag", "caf\u{e9}"), ("tag", "/caf\u{e9}")] {
            let jobs = browser.post_json("/api/jobs/list", &[("project", "docs"), search]).await;
            assert_eq!(jobs["total"], listed, "{search:?}");
        }
        let jobs = browser.post_json("/api/jobs/list", &[("project", "docs"), ("q", "caf\u{e9} 1")]).await;
        assert_eq!(
            jobs["jobs"].as_array().unwrap().len(),
            3,
            "the follow-ups of two active jobs and of an old one"
        );
    }
}

#[tokio::test]
async fn newer_schema_is_refused_unchanged() {
    let folder = tempfile::tempdir().unwrap();
    for database in
        [TestDatabase::of_file(&folder.path().join("docket.db")), TestDatabase::of_server("").await]
    {
        Store::open(database.url()).await.unwrap().close().await;
        let ledger = Ledger::at(database.url());
        ledger.run("UPDATE _sqlx_migrations SET version = 9999 WHERE version = (SELECT MAX(version) FROM _sqlx_migrations)").await;
        is_refused_unchanged(database.url(), &["newer Docket", "9999"]).await;
    }
}
