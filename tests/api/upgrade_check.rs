//! `docket upgrade-check`: the effects of a new version on a database of an older one, and the obstacles.

use docket::server::store::Store;

use crate::databases::TestDatabase;
use crate::helpers::{Installation, Ledger, PASSWORD, json, until};

const NOWHERE: &str = "http://127.0.0.1:9";

async fn both(folder: &tempfile::TempDir) -> [(TestDatabase, Installation); 2] {
    let both = [TestDatabase::of_file(&folder.path().join("docket.db")), TestDatabase::of_server("").await];
    for database in &both {
        Store::open(database.url()).await.unwrap().close().await;
    }
    both.map(|database| {
        let installation = Installation::in_file(NOWHERE)
            .set("DOCKET_ADMIN_PASSWORD", PASSWORD)
            .set("DOCKET_DATABASE_URL", database.url());
        (database, installation)
    })
}

/// Makes two migrations pending. They must not run.
const FORGET_TWO: &str = "DELETE FROM _sqlx_migrations WHERE version IN (29, 32)";

#[tokio::test]
async fn upgrade_check_describes_migrations_without_changes() {
    let folder = tempfile::tempdir().unwrap();
    for (database, installation) in both(&folder).await {
        let ledger = Ledger::at(database.url());
        ledger
            .run(
                "INSERT INTO users (id, name, role, password_hash, created_at) VALUES ('u', 'ada', 'admin', '', 1);
                 INSERT INTO jobs (id, project, state, created_at, changed_at) VALUES ('j-1', 'docs', 'queued', 1, 1);
                 INSERT INTO jobs (id, project, state, created_at, changed_at) VALUES ('j-2', 'docs', 'sending', 1, 1);
                 INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
                     SELECT id, id, 0, 'u', id, 'Fix it', state, 1, 1 FROM jobs",
            )
            .await;
        let up_to_date = installation.run(&["upgrade-check"]);
        assert_eq!(up_to_date.code, Some(0), "{up_to_date:?}");
        assert!(up_to_date.stdout.contains("nothing is to be migrated"), "{up_to_date:?}");

        ledger.run(FORGET_TWO).await;
        let finished = installation.run(&["upgrade-check"]);
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{finished:?}");
        let backup = if database.url().starts_with("sqlite:") {
            "docket backup docket-before"
        } else {
            "pg_dump --format"
        };
        for words in [
            "step 29   The processes that share the database.",
            "step 32   Limits of sign-in attempts",
            "1 wait in the queue, 1 are being sent",
            "no `docket serve` uses it",
            "READY",
            backup,
        ] {
            assert!(finished.stdout.contains(words), "no “{words}” in {finished:?}");
        }
        let report: serde_json::Value =
            serde_json::from_str(&installation.run(&["upgrade-check", "--json"]).stdout).unwrap();
        let newest = ledger.count("SELECT MAX(version) FROM _sqlx_migrations").await;
        assert_eq!((&report["newest_step"], &report["ready"]), (&json!(newest), &json!(true)));
        let pending = [0, 1].map(|installation: usize| report["pending"][installation]["step"].as_i64());
        assert_eq!(pending, [Some(29), Some(32)]);
        assert_eq!(
            (&report["queued"], &report["sending"], &report["processes"]),
            (&json!(1), &json!(1), &json!(0))
        );
        assert_eq!(report["needed_bytes"].is_u64(), database.url().starts_with("sqlite:"));
        let migrated = "SELECT COUNT(*) FROM _sqlx_migrations WHERE version IN (29, 32)";
        assert_eq!(ledger.count(migrated).await, 0, "it was migrated");
    }
}

#[tokio::test]
async fn upgrade_check_counts_the_rows_of_a_migration() {
    let folder = tempfile::tempdir().unwrap();
    let [(database, installation), _] = both(&folder).await;
    let ledger = Ledger::at(database.url());
    ledger
        .run(
            "INSERT INTO users (id, name, role, password_hash, created_at) VALUES ('u', 'ada', 'admin', '', 1);
             WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 60000)
             INSERT INTO jobs (id, project, state, created_at, changed_at) SELECT 'j' || n, 'docs', 'queued', 1, 1 FROM n;
             DELETE FROM _sqlx_migrations WHERE version = 12",
        )
        .await;
    let report: serde_json::Value =
        serde_json::from_str(&installation.run(&["upgrade-check", "--json"]).stdout).unwrap();
    let pending = report["pending"].as_array().unwrap();
    assert_eq!((pending.len(), &pending[0]["tables"]), (1, &json!(["listed_jobs"])));
    assert_eq!((&pending[0]["rows"], &report["seconds"]), (&json!(60_000), &json!(2)));
}

#[tokio::test]
async fn upgrade_check_reports_obstacles() {
    let folder = tempfile::tempdir().unwrap();
    for (database, installation) in both(&folder).await {
        let ledger = Ledger::at(database.url());
        for (change, why) in [
            (
                "UPDATE _sqlx_migrations SET success = NOT success WHERE version = 30",
                "30 began and did not end",
            ),
            (
                "UPDATE _sqlx_migrations SET success = NOT success WHERE version = 30;
                 UPDATE _sqlx_migrations SET version = 9999 WHERE version = 32",
                "newer Docket",
            ),
            (
                "UPDATE _sqlx_migrations SET checksum = (SELECT checksum FROM _sqlx_migrations WHERE version = 29)
                 WHERE version = 30",
                "migration 30 is not the one of this version",
            ),
            ("DROP TABLE _sqlx_migrations", "no database of Docket"),
        ] {
            ledger.run(change).await;
            let finished = installation.run(&["upgrade-check"]);
            assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{finished:?}");
            assert!(finished.stderr.contains(why), "no “{why}” in {finished:?}");
            assert_eq!(finished.stderr.trim_end().lines().count(), 1, "{finished:?}");
        }
        assert_eq!(installation.run(&["upgrade-check", "--all"]).code, Some(2));
    }
    let nowhere = Installation::new().run(&["upgrade-check"]);
    assert!(nowhere.code == Some(1) && nowhere.stderr.contains("docket.db"), "{nowhere:?}");
}

#[tokio::test]
async fn upgrade_check_detects_a_running_server() {
    let folder = tempfile::tempdir().unwrap();
    for (database, installation) in both(&folder).await {
        let server = installation.serve(&["serve"]);
        server.address().await;
        let ledger = Ledger::at(database.url());
        let processes = "SELECT COUNT(*) FROM instances";
        until("it gives a sign of life", async || (ledger.count(processes).await == 1).then_some(())).await;
        ledger.run("DELETE FROM _sqlx_migrations WHERE version = 32").await;
        let finished = installation.run(&["upgrade-check"]);
        let words =
            if database.url().starts_with("sqlite:") { "stop it before" } else { "1 `docket serve` use it" };
        assert!(finished.code == Some(0) && finished.stdout.contains(words), "{finished:?}");
    }
}

#[tokio::test]
async fn backup_before_an_upgrade_has_the_old_schema() {
    let folder = tempfile::tempdir().unwrap();
    let [(database, installation), _] = both(&folder).await;
    Ledger::at(database.url()).run("DELETE FROM _sqlx_migrations WHERE version = 32").await;
    let made = installation.run(&["backup", "copy.db"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    for url in [database.url(), &format!("sqlite://{}", installation.path("copy.db").display())] {
        let there = "SELECT COUNT(*) FROM _sqlx_migrations WHERE version = 32";
        assert_eq!(Ledger::at(url).count(there).await, 0, "{url}");
    }
}
