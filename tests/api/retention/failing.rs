//! Rows that cannot be removed: they stay, and everything else goes.

use std::time::Duration;

use store::accounts::one_time_links::LinkToken;

use super::{job_with_everything, with_retention};
use crate::helpers::work::work_at;
use crate::helpers::{Archive, Installation, TestApp, days, rows};

/// A table, the key of its rows, and the row that cannot be removed.
const POISONED: [(&str, &str); 13] = [
    ("drafts", "OLD.subject = 'new'"),
    ("setup_links", "OLD.token_hash = 'b'"),
    ("password_links", "OLD.token_hash = 'b'"),
    ("api_tokens", "OLD.name = 'b'"),
    ("invitations", "OLD.token_hash = 'b'"),
    ("users", "OLD.name = 'ina'"),
    ("jobs", "OLD.dismissed_by = 'b'"),
    ("history_days", "OLD.day = '2026-11-02'"),
    ("page_views", "OLD.day = '2026-11-02'"),
    ("annotations", "OLD.day = '2026-11-02'"),
    ("requested_days", "OLD.day = '2026-11-02'"),
    ("failing_days", "OLD.day = '2026-11-02'"),
    ("page_paths", "OLD.path = '/b'"),
];

/// The tables whose rows the test counts.
const TABLES: [&str; 13] = [
    "drafts",
    "setup_links",
    "password_links",
    "api_tokens",
    "invitations",
    "users",
    "jobs",
    "history_days",
    "page_views",
    "annotations",
    "requested_days",
    "failing_days",
    "page_paths",
];

/// An app with at least two old rows in each table.
async fn old_app() -> TestApp {
    let app = TestApp::with(with_retention(30, 10)).await;
    let (admin, operator) = (app.sign_in("ada").await, app.operator().await);
    for _ in 0..2 {
        job_with_everything(&app, &operator).await;
    }
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-01", "2026-11-04") {
        archive.write(day, rows(&[("/a", 1, 2), ("/b", 3, 4)])).await;
    }
    drop(archive);
    for (name, hash) in [("ina", "a"), ("ivan", "b")] {
        admin.invite(name, "viewer", "").await;
        let rename = format!(
            "UPDATE invitations SET token_hash = '{hash}' WHERE user_id = '{}'",
            app.id_of(name).await
        );
        execute(&app, &rename).await;
        crate::api_tokens::create(&operator, &[("name", hash)]).await;
    }
    let now = app.clock().now();
    for (name, hash) in [("olga", "a"), ("otto", "b")] {
        let link = LinkToken { hash: hash.to_owned(), expires_at: now };
        let id = app.id_of(name).await;
        assert!(app.state().store.put_password_link((&work_at(now)).into(), &id, &link).await.unwrap());
    }
    app.ledger()
        .run(
            "INSERT INTO setup_links (token_hash, expires_at) VALUES ('a', 1), ('b', 1);
             INSERT INTO drafts (user_id, project, subject, text, updated_at)
             SELECT id, 'docs', 'new', 'Half a thought', 1 FROM users WHERE name IN ('olga', 'otto');
             INSERT INTO drafts (user_id, project, subject, text, updated_at)
             SELECT id, 'docs', 'old', 'Half a thought', 1 FROM users WHERE name IN ('olga', 'otto');
             INSERT INTO annotations (id, project, day, text, author_id, created_at, updated_at)
             SELECT name, 'docs', CASE name WHEN 'olga' THEN '2026-11-02' ELSE '2026-11-03' END, '', id, 1, 1 FROM users WHERE name IN ('olga', 'otto');
             INSERT INTO requested_days (project, day, requested_at) VALUES ('docs', '2026-11-02', 0), ('docs', '2026-11-03', 0);
             INSERT INTO failing_days (project, day, failures, cause, next_try_at) VALUES ('docs', '2026-11-02', 1, 'failed', 0), ('docs', '2026-11-03', 1, 'failed', 0);
             UPDATE page_paths SET seen_on = '2026-11-02';
             UPDATE jobs SET dismissed_by = 'b' WHERE id = (SELECT MIN(id) FROM jobs)",
        )
        .await;
    app.clock().advance(Duration::from_secs(200 * 86_400));
    app.ledger().trust_clock().await;
    app
}

async fn execute(app: &TestApp, sql: &str) {
    let mut connection = app.ledger().connection().await;
    sqlx::query(sqlx::AssertSqlSafe(sql.to_owned())).execute(&mut connection).await.unwrap();
}

async fn left(app: &TestApp) -> Vec<i64> {
    let mut connection = app.ledger().connection().await;
    let mut counts = Vec::new();
    for table in TABLES {
        let sql = format!("SELECT COUNT(*) FROM {table}");
        let count: i64 =
            sqlx::query_scalar(sqlx::AssertSqlSafe(sql)).fetch_one(&mut connection).await.unwrap();
        counts.push(count);
    }
    counts
}

#[tokio::test]
async fn row_that_cannot_be_removed_does_not_stop_retention() {
    let clean = {
        let app = old_app().await;
        app.state().retention.remove().await.unwrap();
        assert_eq!(app.state().retention.failures(), 0);
        left(&app).await
    };
    for (table, condition) in POISONED {
        let app = old_app().await;
        app.ledger().refuse(&format!("DELETE ON {table}"), condition).await;
        let retention = &app.state().retention;
        retention.remove().await.unwrap_or_else(|error| panic!("{table}: {error}"));
        assert!(retention.failures() >= 1, "{table}: nothing was counted");
        let left = left(&app).await;
        for (index, other) in TABLES.iter().enumerate() {
            // A row keeps those that belong to it.
            let depends = [
                ("users", "invitations"),
                ("invitations", "users"),
                ("history_days", "page_views"),
                ("history_days", "page_paths"),
                ("annotations", "page_paths"),
                ("requested_days", "page_paths"),
                ("failing_days", "page_paths"),
                ("page_views", "page_paths"),
            ];
            let is_kept = *other == table || depends.contains(&(table, other));
            let stays = left[index] - clean[index];
            match is_kept {
                true => assert!(stays <= 4, "{table}: {stays} rows of {other} stay"),
                false => assert_eq!(stays, 0, "{table}: rows of {other} stay"),
            }
            if *other == table {
                assert!(stays >= 1, "{table}: the refused row is gone");
            }
        }
        // Once it can be removed, the next run removes it.
        app.ledger().allow().await;
        retention.remove().await.unwrap();
        assert_eq!(self::left(&app).await, clean, "{table}");
    }
}

/// As left by a version in which the proxy let invited people in: the account has a job, and the invitation is long over.
#[tokio::test]
async fn invited_account_with_a_job_stays_and_retention_continues() {
    let app = TestApp::with(with_retention(0, 0)).await;
    let admin = app.sign_in("ada").await;
    for name in ["ida", "ina", "ivan"] {
        admin.invite(name, "operator", "").await;
    }
    app.ledger()
        .run(
            "INSERT INTO jobs (id, project, state, created_at, changed_at) VALUES ('j', 'docs', 'cancelled', 1, 1), ('k', 'docs', 'cancelled', 1, 1);
             INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
             SELECT 'm', 'j', 0, id, 'i', 'Old', 'cancelled', 1, 1 FROM users WHERE name = 'ida';
             INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
             SELECT 'n', 'k', 0, id, 'i', 'Old', 'cancelled', 1, 1 FROM users WHERE name = 'ivan';
             UPDATE invitations SET on_hold_since = 1 WHERE user_id = (SELECT id FROM users WHERE name = 'ivan')",
        )
        .await;
    app.clock().advance(Duration::from_secs(120 * 86_400));
    let removed = super::remove(&app).await;
    assert_eq!((removed["invitations"], removed["users"]), (2, 1), "{removed:?}");
    let people = app.state().store.people("").await.unwrap();
    let state = |name: &str| people.iter().find(|person| person.user.name == name);
    assert!(state("ina").is_none());
    assert!(state("ida").is_some_and(|person| person.until.is_none()));
    // Only an administrator decides about an invitation on hold.
    assert!(state("ivan").is_some_and(|person| person.is_on_hold));
}

#[tokio::test]
async fn purge_command_reports_rows_that_it_could_not_remove() {
    let installation = Installation::configured("http://127.0.0.1:9");
    let new = installation
        .run_with_input(&["user", "add", "olga", "--role", "operator"], "a few unrelated words\n");
    assert_eq!(new.code, Some(0), "{new:?}");
    let file = installation.ledger();
    file.run("INSERT INTO setup_links (token_hash, expires_at) VALUES ('a', 1), ('b', 1)").await;
    file.refuse("DELETE ON setup_links", "OLD.token_hash = 'a'").await;
    let purged = installation.run(&["purge"]);
    assert_eq!(purged.code, Some(1), "{purged:?}");
    assert!(purged.stdout.contains("1  setup_links"), "{purged:?}");
    assert!(purged.stderr.contains("1 rows could not be removed"), "{purged:?}");
    file.allow().await;
    assert_eq!(installation.run(&["purge"]).code, Some(0));
}
