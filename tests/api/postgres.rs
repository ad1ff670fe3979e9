//! Errors with PostgreSQL: one clear line, an exit code, and nothing changed. These tests use a server whatever database
//! the others use.

use model::user::{GivenProjects, Role};
use sqlx::{AssertSqlSafe, Connection, PgConnection};
use store::Store;

use crate::databases::{TestDatabase, start};
use crate::helpers::work::work;
use crate::helpers::{Finished, Installation, Served, certificate, until};

const NOWHERE: &str = "http://127.0.0.1:9";

/// The password of the role `guarded`, the only role that needs one.
pub(crate) const OF_GUARDED: &str = "amber lantern fjord";

/// An empty database to which `guarded` may connect, with these further grants.
pub(crate) async fn guarded(grants: &str) -> TestDatabase {
    let database = TestDatabase::of_server("").await;
    let role = format!(
        "DO $$ BEGIN CREATE ROLE guarded LOGIN PASSWORD '{OF_GUARDED}';
         EXCEPTION WHEN duplicate_object OR unique_violation THEN NULL; END $$; {grants}"
    );
    run(&database, &role).await;
    database
}

async fn run(database: &TestDatabase, sql: &str) {
    let mut connection = PgConnection::connect(database.url()).await.unwrap();
    sqlx::raw_sql(AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
}

async fn count(database: &TestDatabase, sql: &'static str) -> i64 {
    let mut connection = PgConnection::connect(database.url()).await.unwrap();
    sqlx::query_scalar(sql).fetch_one(&mut connection).await.unwrap()
}

/// The URL of the database for `guarded`.
pub(crate) fn url(database: &TestDatabase, password: &str) -> String {
    let user = format!("postgres://guarded:{}@", password.replace(' ', "%20"));
    database.url().replace("postgres://docket@", &user)
}

fn installation(url: &str) -> Installation {
    Installation::in_file(NOWHERE).set("DOCKET_DATABASE_URL", url).set("DOCKET_DATABASE_WAIT_SECONDS", "1")
}

/// Checks that a command failed with one line that has all of `words`, and created no tables.
async fn refused(database: &TestDatabase, finished: &Finished, code: i32, words: &[&str]) {
    assert_eq!(finished.code, Some(code), "{finished:?}");
    assert_eq!(finished.stderr.trim_end().lines().count(), 1, "{finished:?}");
    for word in words {
        assert!(finished.stderr.contains(word), "no {word} in {}", finished.stderr);
    }
    assert!(!finished.stderr.contains("lantern"), "{finished:?}");
    let tables = "SELECT COUNT(*) FROM pg_tables WHERE schemaname = 'public'";
    assert_eq!(count(database, tables).await, 0, "tables were created");
}

#[tokio::test]
async fn wrong_password_or_database_is_a_configuration_error() {
    let database = guarded("").await;
    let wrong = installation(&url(&database, "amber lantern"));
    let advice = ["guarded", "DOCKET_DATABASE_PASSWORD_FILE"];
    refused(&database, &wrong.run(&["user", "list"]), 2, &advice).await;
    refused(&database, &wrong.run(&["serve"]), 2, &advice).await;
    let missing = installation(&format!("{}_missing", url(&database, OF_GUARDED)));
    refused(&database, &missing.run(&["user", "list"]), 2, &["does not exist", "CREATE DATABASE"]).await;
    let half = installation("postgres://guarded:amber%20lantern@db.example.com");
    refused(&database, &half.run(&["user", "list"]), 2, &["DOCKET_DATABASE_URL", "names no database"]).await;
}

#[tokio::test]
async fn missing_privileges_are_named_with_their_grant_statement() {
    let database = guarded("REVOKE CREATE ON SCHEMA public FROM PUBLIC").await;
    let user = installation(&url(&database, OF_GUARDED));
    let grant = "GRANT CREATE ON SCHEMA public TO \"guarded\";";
    refused(&database, &user.run(&["user", "list"]), 1, &[grant]).await;
    run(&database, "GRANT CREATE ON SCHEMA public TO guarded").await;
    let extension = ["pg_trgm", "permission denied", "CREATE EXTENSION pg_trgm;"];
    refused(&database, &user.run(&["user", "list"]), 1, &extension).await;
    run(&database, "CREATE EXTENSION pg_trgm").await;
    assert_eq!(user.run(&["user", "list"]).code, Some(0));
}

#[tokio::test]
async fn extension_in_another_schema_is_used_or_named() {
    let database = guarded(
        "GRANT CREATE ON SCHEMA public TO guarded; CREATE SCHEMA extensions; CREATE EXTENSION pg_trgm SCHEMA extensions",
    )
    .await;
    let user = installation(&url(&database, OF_GUARDED));
    let words = ["pg_trgm", "schema extensions", "GRANT USAGE ON SCHEMA extensions TO guarded;"];
    refused(&database, &user.run(&["user", "list"]), 1, &words).await;
    run(&database, "GRANT USAGE ON SCHEMA extensions TO guarded").await;
    for _ in 0..2 {
        let finished = user.run(&["user", "list"]);
        assert_eq!(finished.code, Some(0), "{finished:?}");
    }
    let indexes =
        "SELECT COUNT(*) FROM pg_indexes WHERE schemaname = 'public' AND indexdef LIKE '%gin_trgm_ops%'";
    assert_eq!(count(&database, indexes).await, 2);
    let store = Store::open(&url(&database, OF_GUARDED)).await.unwrap();
    assert!(store.add_user((&work()).into(), "ada", Role::Admin, "hash").await.unwrap());
    store.close().await;
}

#[tokio::test]
async fn database_password_file_is_read_and_never_logged() {
    let database = guarded("GRANT CREATE ON SCHEMA public TO guarded; CREATE EXTENSION pg_trgm").await;
    let installation = Installation::with_administrator(NOWHERE)
        .set("DOCKET_DATABASE_URL", &database.url().replace("docket@", "guarded@"))
        .set("DOCKET_DATABASE_PASSWORD_FILE", "password")
        .set("DOCKET_LOG", "trace");
    std::fs::write(installation.path("password"), format!("{OF_GUARDED}\n")).unwrap();
    let server = installation.serve(&["serve"]);
    server.signed_in().await;
    server.signal("TERM");
    assert_eq!(server.ended().await.code(), Some(0));
    assert!(!server.output().contains("lantern"), "{}", server.output());
    std::fs::write(installation.path("password"), "another\n").unwrap();
    assert_eq!(installation.run(&["user", "list"]).code, Some(2));
}

#[test]
fn tls_connection_verifies_the_server_certificate() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, text: &str| {
        let file = folder.path().join(name);
        std::fs::write(&file, text).unwrap();
        file.display().to_string()
    };
    let server = certificate("localhost");
    file("server.pem", &server.certificate);
    file("server.key", &server.key);
    let (authority, other) =
        (file("ca.pem", &server.authority), file("other.pem", &certificate("x").authority));
    let url = format!("{}postgres", start(&["tls", &folder.path().display().to_string()]));
    let numbered = url.replace("@localhost", "@127.0.0.1");
    for (url, options, code) in [
        (&url, format!("sslmode=verify-full&sslrootcert={authority}"), 0),
        (&url, "sslmode=require".to_owned(), 0),
        (&url, "sslmode=disable".to_owned(), 2),
        (&url, format!("sslmode=verify-full&sslrootcert={other}"), 2),
        (&numbered, format!("sslmode=verify-full&sslrootcert={authority}"), 2),
        (&numbered, format!("sslmode=verify-ca&sslrootcert={authority}"), 0),
    ] {
        let finished = installation(&format!("{url}?{options}")).run(&["user", "list"]);
        assert_eq!(finished.code, Some(code), "{options}: {finished:?}");
        assert!(code == 0 || finished.stderr.trim_end().lines().count() == 1, "{finished:?}");
    }
}

#[tokio::test]
async fn unreachable_server_is_an_error_after_a_wait() {
    let installation = installation("postgres://docket@%2Ftmp%2Fno-such-folder/docket");
    let finished = installation.run(&["serve"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    let lines: Vec<&str> = finished.stderr.trim_end().lines().collect();
    let [waits, ends] = lines[..] else { panic!("{finished:?}") };
    assert!(waits.contains("Waiting for it, at most 1 s."), "{waits}");
    assert!(ends.contains("did not answer within 1 s"), "{ends}");
}

#[tokio::test]
async fn database_of_a_newer_version_stays_unchanged() {
    let database = TestDatabase::of_server("").await;
    let installation = installation(database.url());
    assert_eq!(installation.run(&["user", "list"]).code, Some(0));
    run(
        &database,
        "INSERT INTO _sqlx_migrations (version, description, success, checksum, execution_time)
         VALUES (9999, 'later', true, '', 0)",
    )
    .await;
    let finished = installation.run(&["user", "list"]);
    assert_eq!((finished.code, finished.stderr.trim_end().lines().count()), (Some(1), 1), "{finished:?}");
    assert!(finished.stderr.contains("newer Docket") && finished.stderr.contains("9999"), "{finished:?}");
}

#[tokio::test]
async fn concurrent_starts_migrate_an_empty_database_once() {
    let database = TestDatabase::of_server("").await;
    let installation = Installation::with_administrator(NOWHERE).set("DOCKET_DATABASE_URL", database.url());
    let servers: Vec<Served> = (0..3).map(|_| installation.serve(&["serve"])).collect();
    for server in &servers {
        server.signed_in().await;
    }
    let people = "SELECT COUNT(*) FROM users WHERE password_hash <> ''";
    assert_eq!(count(&database, people).await, 1);
}

#[tokio::test]
async fn backup_command_refuses_postgres() {
    let database = TestDatabase::of_server("").await;
    let installation = installation(database.url());
    let finished = installation.run(&["backup", "copy.db"]);
    assert_eq!(finished.code, Some(1), "{finished:?}");
    assert!(finished.stderr.contains("pg_dump"), "{finished:?}");
    assert!(installation.files().is_empty(), "{:?}", installation.files());
}

/// The lock that every write to the ledger takes.
const LEDGER_LOCK: i64 = 0x64_6f63_6b65_7401;

#[tokio::test]
async fn default_isolation_of_the_database_does_not_weaken_writes() {
    for level in ["repeatable read", "serializable"] {
        let database = TestDatabase::of_server("").await;
        let alter = format!(
            "DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET default_transaction_isolation = %L', current_database(), '{level}');
             END $$"
        );
        run(&database, &alter).await;
        let store = Store::open(database.url()).await.unwrap();
        for name in ["ada", "adele"] {
            assert!(store.add_user((&work()).into(), name, Role::Admin, "hash").await.unwrap());
        }
        let mut holder = PgConnection::connect(database.url()).await.unwrap();
        sqlx::query("SELECT pg_advisory_lock($1)").bind(LEDGER_LOCK).execute(&mut holder).await.unwrap();
        // Each takes the role of administrator from one of them, and waits for the lock.
        let demotions = ["ada", "adele"].map(|name| {
            let store = store.clone();
            tokio::spawn(async move {
                let id = store.user_by_name(name).await.unwrap().unwrap().id;
                store.set_access((&work()).into(), &id, Role::Viewer, &GivenProjects::All).await.unwrap()
            })
        });
        let waiting = "SELECT COUNT(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted
            AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
        until("both wait", async || (count(&database, waiting).await == 2).then_some(())).await;
        sqlx::query("SELECT pg_advisory_unlock($1)").bind(LEDGER_LOCK).execute(&mut holder).await.unwrap();
        let mut demoted = 0;
        for demotion in demotions {
            demoted += i32::from(demotion.await.unwrap());
        }
        assert_eq!(demoted, 1, "{level}");
        let administrators = "SELECT COUNT(*) FROM users WHERE role = 'admin'";
        assert_eq!(count(&database, administrators).await, 1, "{level}");
        store.close().await;
    }
}
