//! `docket upgrade-check`: the effects of a new version on a database of an older one, and the obstacles.

use store::Store;

use crate::databases::TestDatabase;
use crate::helpers::{Installation, Ledger, PASSWORD, json, until};
use crate::stored_schemas::{FIRST_RELEASE, counts, run, stored_databases};

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

/// Databases of the first release.
async fn both_of_first_release(folder: &tempfile::TempDir) -> [(TestDatabase, Installation); 2] {
    stored_databases(FIRST_RELEASE, folder).await.map(|database| {
        let installation = Installation::in_file(NOWHERE).set("DOCKET_DATABASE_URL", database.url());
        (database, installation)
    })
}

/// The numbers of the migrations after a step.
fn steps_after(step: i64) -> Vec<i64> {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/crates/store/migrations/sqlite");
    let files = std::fs::read_dir(folder).unwrap().map(|file| file.unwrap().file_name());
    let numbers = files.filter_map(|name| name.to_str()?.split('_').next()?.parse().ok());
    let mut newer: Vec<i64> = numbers.filter(|number| *number > step).collect();
    newer.sort_unstable();
    newer
}

#[tokio::test]
async fn upgrade_check_describes_migrations_without_changes() {
    let folder = tempfile::tempdir().unwrap();
    for (_database, installation) in both(&folder).await {
        let up_to_date = installation.run(&["upgrade-check"]);
        assert_eq!(up_to_date.code, Some(0), "{up_to_date:?}");
        assert!(up_to_date.stdout.contains("nothing is to be migrated"), "{up_to_date:?}");
    }
    for (database, installation) in both_of_first_release(&folder).await {
        let ledger = Ledger::at(database.url());
        let states = "UPDATE messages SET state = CASE WHEN position = 0 THEN 'queued' ELSE 'sending' END";
        ledger.run(states).await;
        let queued = ledger.count("SELECT COUNT(*) FROM messages WHERE state = 'queued'").await;
        let sending = ledger.count("SELECT COUNT(*) FROM messages WHERE state = 'sending'").await;
        assert!(queued > 0 && sending > 0 && queued != sending, "{queued} {sending}");
        let finished = installation.run(&["upgrade-check"]);
        assert_eq!((finished.code, finished.stderr.as_str()), (Some(0), ""), "{finished:?}");
        let newer = steps_after(100);
        let backup = if database.url().starts_with("sqlite:") {
            "docket backup docket-before"
        } else {
            "pg_dump --format"
        };
        for words in [
            &format!("step 100 of {}", newer[newer.len() - 1]),
            "step 101  The pull requests of jobs, as their code hosts last reported them.",
            &format!("{queued} wait in the queue, {sending} are being sent"),
            "no `docket serve` uses it",
            "READY",
            backup,
        ] {
            assert!(finished.stdout.contains(words), "no “{words}” in {finished:?}");
        }
        let report: serde_json::Value =
            serde_json::from_str(&installation.run(&["upgrade-check", "--json"]).stdout).unwrap();
        assert_eq!(
            (&report["step"], &report["newest_step"], &report["ready"]),
            (&json!(100), &json!(newer.last()), &json!(true))
        );
        let pending = report["pending"].as_array().unwrap();
        let steps: Vec<i64> = pending.iter().filter_map(|pending| pending["step"].as_i64()).collect();
        assert_eq!(steps, newer);
        assert_eq!(
            (&report["queued"], &report["sending"], &report["processes"]),
            (&json!(queued), &json!(sending), &json!(0))
        );
        assert_eq!(report["needed_bytes"].is_u64(), database.url().starts_with("sqlite:"));
        assert_eq!(ledger.count("SELECT MAX(version) FROM _sqlx_migrations").await, 100, "it was migrated");
    }
}

#[tokio::test]
async fn upgrade_check_counts_the_rows_of_a_migration() {
    let folder = tempfile::tempdir().unwrap();
    let [(database, installation), _] = both_of_first_release(&folder).await;
    let ledger = Ledger::at(database.url());
    ledger
        .run(
            "WITH RECURSIVE n(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM n WHERE n < 60000)
             INSERT INTO jobs (id, project, state, created_at, changed_at) SELECT 'j' || n, 'docs', 'queued', 1, 1 FROM n",
        )
        .await;
    let counts = counts(database.url()).await;
    let report: serde_json::Value =
        serde_json::from_str(&installation.run(&["upgrade-check", "--json"]).stdout).unwrap();
    for (step, tables) in [
        // Goes through the jobs and their list.
        (101, &["jobs", "listed_jobs"][..]),
        // Builds an index of the jobs.
        (102, &["jobs"]),
        (103, &[]),
        (121, &["batches", "job_events", "job_paths", "job_tags", "messages", "templates", "users"]),
        // Goes through the jobs.
        (125, &["jobs"]),
        (126, &["page_paths"]),
        (134, &["listed_jobs"]),
    ] {
        let expected: i64 = tables.iter().map(|table| counts[*table]).sum();
        let pending = report["pending"].as_array().unwrap().iter().find(|one| one["step"] == step).unwrap();
        assert_eq!((&pending["tables"], &pending["rows"]), (&json!(tables), &json!(expected)), "{step}");
    }
    assert_eq!(report["seconds"], json!(11));
}

#[tokio::test]
async fn upgrade_check_reports_obstacles() {
    let folder = tempfile::tempdir().unwrap();
    for (database, installation) in both(&folder).await {
        for (change, why) in [
            ("UPDATE _sqlx_migrations SET success = NOT success", "100 began and did not end"),
            (
                "UPDATE _sqlx_migrations SET success = NOT success;
                 DELETE FROM _sqlx_migrations WHERE version <> 100;
                 UPDATE _sqlx_migrations SET version = 9999",
                "newer Docket",
            ),
            (
                "UPDATE _sqlx_migrations SET version = 100, checksum = CAST('x' AS BLOB_TYPE)",
                "migration 100 is not the one of this version",
            ),
            ("DROP TABLE _sqlx_migrations", "no database of Docket"),
        ] {
            let bytes = if database.url().starts_with("sqlite:") { "BLOB" } else { "BYTEA" };
            run(database.url(), &change.replace("BLOB_TYPE", bytes)).await;
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
        until("its first heartbeat", async || (ledger.count(processes).await == 1).then_some(())).await;
        // The migrations are pending again.
        ledger.run("DELETE FROM _sqlx_migrations WHERE version <> 100").await;
        let finished = installation.run(&["upgrade-check"]);
        let next_step = match database.url().starts_with("sqlite:") {
            true => "stop them before",
            false => "restart one after another",
        };
        let running = format!("1 `docket serve` use it: {next_step}");
        assert!(finished.code == Some(0) && finished.stdout.contains(&running), "{finished:?}");
    }
}

#[tokio::test]
async fn backup_before_an_upgrade_has_the_old_schema() {
    let folder = tempfile::tempdir().unwrap();
    let [(database, installation), _] = both_of_first_release(&folder).await;
    let made = installation.run(&["backup", "copy.db"]);
    assert_eq!(made.code, Some(0), "{made:?}");
    for url in [database.url(), &format!("sqlite://{}", installation.path("copy.db").display())] {
        assert_eq!(Ledger::at(url).count("SELECT MAX(version) FROM _sqlx_migrations").await, 100, "{url}");
    }
}
