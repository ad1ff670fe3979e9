//! Exports of all rows: content, access, and streaming.

use reqwest::Method;
use reqwest::header::{ACCEPT, COOKIE};
use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{
    Archive, Browser, Installation, Ledger, PASSWORD, TestApp, TestResponse, Written, counts, day, days,
    json, rows, until,
};

/// A file, without the byte order mark with which each CSV file begins.
async fn export(viewer: &Browser, file: &str, query: &str) -> TestResponse {
    let mut response = viewer.get(&format!("/p/docs/analytics/export.{file}?{query}")).await;
    if file == "csv" && response.status == 200 {
        response.text = response.text.strip_prefix('\u{feff}').unwrap().to_owned();
    }
    response
}

async fn with_two_days(app: &TestApp) {
    let mut archive = Archive::of(app).await;
    archive.write(day("2026-11-19"), rows(&[("/guides/a", 3, 1), ("/b", 1, 0)])).await;
    let odd = rows(&[("/guides/a", 5, 1), ("=1+1", 2, 2), ("/x,\"y\"\nz", 1, 0), ("-2", 0, 1), ("/é", 1, 1)]);
    archive.put("docs", Written { packed: false, ..Written::new(day("2026-11-20"), odd) }).await;
    archive.put("api", Written::new(day("2026-11-20"), rows(&[("/elsewhere", 1, 1)]))).await;
}

#[tokio::test]
async fn table_export_is_csv_with_a_safe_file_name() {
    let app = TestApp::with(at(NOON)).await;
    with_two_days(&app).await;
    let viewer = app.sign_in("vera").await;
    let response = export(&viewer, "csv", "from=2026-11-20&to=2026-11-20&sort=path&page=7&limit=1").await;
    assert_eq!(response.status, 200, "{}", response.text);
    assert_eq!(response.header("content-type"), "text/csv; charset=utf-8");
    assert_eq!(
        response.header("content-disposition"),
        "attachment; filename=\"docs-pages-2026-11-20-2026-11-20.csv\""
    );
    assert_eq!(response.header("cache-control"), "no-store");
    assert_eq!(response.header("cross-origin-resource-policy"), "same-origin");
    assert_eq!(
        response.text,
        "\"path\",\"pages\",\"human\",\"ai\",\"total\",\"ai_share\",\"compared_human\",\"compared_ai\",\"compared_total\",\"previous_human\",\"previous_ai\",\"previous_total\",\"human_change\",\"ai_change\",\"total_change\",\"readers\",\"change\",\"difference\",\"provisional_days\",\"previous_provisional_days\"\r\n\
         \"'-2\",\"\",\"0\",\"1\",\"1\",\"1\",\"0\",\"1\",\"1\",\"0\",\"0\",\"0\",\"\",\"\",\"\",\"people\",\"\",\"0\",\"0\",\"0\"\r\n\
         \"/b\",\"\",\"0\",\"0\",\"0\",\"\",\"0\",\"0\",\"0\",\"1\",\"0\",\"1\",\"-1\",\"\",\"-1\",\"people\",\"-1\",\"-1\",\"0\",\"0\"\r\n\
         \"/guides/a\",\"\",\"5\",\"1\",\"6\",\"0.1667\",\"5\",\"1\",\"6\",\"3\",\"1\",\"4\",\"0.6667\",\"0\",\"0.5\",\"people\",\"0.6667\",\"2\",\"0\",\"0\"\r\n\
         \"/x,\"\"y\"\"\nz\",\"\",\"1\",\"0\",\"1\",\"0\",\"1\",\"0\",\"1\",\"0\",\"0\",\"0\",\"\",\"\",\"\",\"people\",\"\",\"1\",\"0\",\"0\"\r\n\
         \"/é\",\"\",\"1\",\"1\",\"2\",\"0.5\",\"1\",\"1\",\"2\",\"0\",\"0\",\"0\",\"\",\"\",\"\",\"people\",\"\",\"1\",\"0\",\"0\"\r\n\
         \"'=1+1\",\"\",\"2\",\"2\",\"4\",\"0.5\",\"2\",\"2\",\"4\",\"0\",\"0\",\"0\",\"\",\"\",\"\",\"people\",\"\",\"2\",\"0\",\"0\"\r\n"
    );
}

#[tokio::test]
async fn day_and_row_exports_apply_the_search() {
    let app = TestApp::with(at(NOON)).await;
    with_two_days(&app).await;
    let viewer = app.sign_in("vera").await;
    let range = "from=2026-11-19&to=2026-11-20";
    for (query, text) in [
        (
            "of=daily&folder=/guides",
            "\"day\",\"path\",\"human\",\"ai\",\"total\",\"provisional\"\r\n\"2026-11-19\",\"/guides/a\",\"3\",\"1\",\"4\",\"false\"\r\n\"2026-11-20\",\"/guides/a\",\"5\",\"1\",\"6\",\"false\"\r\n",
        ),
        (
            "of=daily&q=B",
            "\"day\",\"path\",\"human\",\"ai\",\"total\",\"provisional\"\r\n\"2026-11-19\",\"/b\",\"1\",\"0\",\"1\",\"false\"\r\n",
        ),
        (
            "of=days",
            "\"day\",\"human\",\"ai\",\"total\",\"provisional\"\r\n\"2026-11-19\",\"4\",\"1\",\"5\",\"false\"\r\n\"2026-11-20\",\"9\",\"5\",\"14\",\"false\"\r\n",
        ),
        (
            "of=days&q=guides",
            "\"day\",\"human\",\"ai\",\"total\",\"provisional\"\r\n\"2026-11-19\",\"3\",\"1\",\"4\",\"false\"\r\n\"2026-11-20\",\"5\",\"1\",\"6\",\"false\"\r\n",
        ),
    ] {
        assert_eq!(export(&viewer, "csv", &format!("{range}&{query}")).await.text, text, "{query}");
    }
    let daily = export(&viewer, "csv", &format!("{range}&of=daily")).await;
    assert_eq!(
        daily.header("content-disposition"),
        "attachment; filename=\"docs-daily-2026-11-19-2026-11-20.csv\""
    );
    let lines: Vec<&str> = daily.text.split("\r\n").collect();
    assert_eq!(
        (lines.len(), lines[1], lines[3]),
        (
            9,
            "\"2026-11-19\",\"/b\",\"1\",\"0\",\"1\",\"false\"",
            "\"2026-11-20\",\"'-2\",\"0\",\"1\",\"1\",\"false\""
        )
    );
}

#[tokio::test]
async fn export_of_a_range_into_the_future_ends_today() {
    let app = TestApp::with(at("2026-11-20T12:00:00Z")).await;
    with_two_days(&app).await;
    let viewer = app.sign_in("vera").await;
    let response = export(&viewer, "csv", "from=2026-11-19&to=2026-12-24&of=days").await;
    assert_eq!(response.text.lines().count(), 3, "{}", response.text);
    assert!(response.header("content-disposition").contains("docs-days-2026-11-19-2026-11-20.csv"));
    let later = export(&viewer, "csv", "from=2026-11-21&to=2026-12-24").await;
    assert_eq!((later.status, later.text.contains("in the future")), (400, true), "{}", later.text);
}

#[tokio::test]
async fn json_export_has_the_same_rows() {
    let app = TestApp::with(at(NOON)).await;
    with_two_days(&app).await;
    let viewer = app.sign_in("vera").await;
    let pages = export(&viewer, "json", "from=2026-11-20&to=2026-11-20&folder=/&sort=path").await;
    assert_eq!(pages.header("content-type"), "application/json");
    let rows = pages.json();
    assert_eq!(rows.as_array().unwrap().len(), 6);
    assert_eq!((&rows[0]["path"], &rows[1]["path"]), (&json!("-2"), &json!("/b")));
    assert_eq!(
        rows[2],
        json!({"path": "/guides/*", "pages": 1, "human": 5, "ai": 1, "total": 6, "ai_share": 0.1667,
               "compared_human": 5, "compared_ai": 1, "compared_total": 6,
               "previous_human": 3, "previous_ai": 1, "previous_total": 4,
               "human_change": 0.6667, "ai_change": 0.0, "total_change": 0.5,
               "readers": "people", "change": 0.6667, "difference": 2,
               "provisional_days": 0, "previous_provisional_days": 0})
    );
    let days = export(&viewer, "json", "from=2026-11-19&to=2026-11-20&of=days").await.json();
    assert_eq!(days[1], json!({"day": "2026-11-20", "human": 9, "ai": 5, "total": 14, "provisional": false}));
    let none = export(&viewer, "json", "from=2026-11-20&to=2026-11-20&q=nowhere").await;
    assert_eq!(none.json(), json!([]));
}

#[tokio::test]
async fn export_needs_page_access_and_stored_days() {
    let app = TestApp::with(at(NOON)).await;
    with_two_days(&app).await;
    let anonymous = app.anonymous();
    let viewer = app.sign_in("vera").await;
    for file in ["csv", "json"] {
        let path = format!("/p/docs/analytics/export.{file}?from=2026-11-20&to=2026-11-20");
        let page = anonymous.get(&path).await;
        assert_eq!((page.status, page.location().starts_with("/login?next=%2Fp%2Fdocs")), (303, true));
        let script = anonymous.request(Method::GET, &path).header(ACCEPT, "application/json");
        anonymous.send(script).await.refused(401, "unauthenticated");
        for (query, status, code) in [
            ("from=2026-11-18&to=2026-11-20", 409, "not_in_history"),
            ("from=2026-11-18&to=2026-11-20&of=daily", 409, "not_in_history"),
            ("from=2026-11-18&to=2026-11-20&of=days", 409, "not_in_history"),
            ("", 409, "not_in_history"),
            ("from=2026-02-30", 400, "bad_input"),
            ("from=2026-11-20&to=2026-11-19", 400, "bad_input"),
            ("from=2026-11-20&from=2026-11-19", 400, "bad_input"),
            ("from=2026-11-20&to=2026-11-20&of=everything", 400, "bad_input"),
            ("from=2026-11-20&to=2026-11-20&sort=x", 400, "bad_input"),
            ("from=2026-11-20&to=2026-11-20&folder=x", 400, "bad_input"),
        ] {
            let path = format!("/p/docs/analytics/export.{file}?{query}");
            let script = viewer.request(Method::GET, &path).header(ACCEPT, "application/json");
            let message = viewer.send(script).await.refused(status, code);
            let person = viewer.get(&path).await;
            assert_eq!((person.status, person.text), (status, message), "{query}");
        }
        let elsewhere = viewer.get(&format!("/p/nowhere/analytics/export.{file}")).await;
        assert_eq!(elsewhere.status, 404);
        let path = format!("/p/docs/analytics/export.{file}");
        let post = viewer.call(&path, &[("from", "2026-11-20"), ("to", "2026-11-20")]);
        assert_eq!(viewer.send(post).await.status, 405);
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
}

const DAILY: &str = "/p/docs/analytics/export.csv?from=2026-11-01&to=2026-11-20&of=daily";

/// Larger than what sockets buffer.
async fn with_large_days(app: &TestApp) {
    let mut archive = Archive::of(app).await;
    for day in days("2026-11-01", "2026-11-20") {
        let rows = (0..2_000).map(|n| (format!("/{}/{n}", "long".repeat(40)), counts(1, 1)));
        archive.write(day, rows.collect()).await;
    }
}

/// An export whose response is read only at its beginning.
async fn unread(person: &Browser) -> reqwest::Response {
    let request = person.request(Method::GET, DAILY).header(COOKIE, person.cookie().unwrap());
    let mut response = request.send().await.unwrap();
    assert!(response.chunk().await.unwrap().is_some());
    response
}

#[tokio::test]
async fn day_that_is_read_again_meanwhile_does_not_end_the_file() {
    let app = TestApp::with(at(NOON)).await;
    with_large_days(&app).await;
    let viewer = app.sign_in("vera").await;
    let mut response = unread(&viewer).await;
    // The last day has new pages: one sorts first, one last.
    let mut archive = Archive::of(&app).await;
    archive.write(day("2026-11-20"), rows(&[("/zebra", 3, 4), ("/ant", 1, 2)])).await;
    let mut text = Vec::new();
    while let Some(piece) = response.chunk().await.expect("the file is complete") {
        text.extend_from_slice(&piece);
    }
    let text = String::from_utf8(text).unwrap();
    let last: Vec<&str> = text.lines().filter(|line| line.starts_with("\"2026-11-20\"")).collect();
    let expected = [
        "\"2026-11-20\",\"/ant\",\"1\",\"2\",\"3\",\"false\"",
        "\"2026-11-20\",\"/zebra\",\"3\",\"4\",\"7\",\"false\"",
    ];
    assert_eq!(last, expected);
}

#[tokio::test]
async fn stalled_download_releases_its_database_connection() {
    let app = TestApp::with(at(NOON)).await;
    with_large_days(&app).await;
    let mut stalled = Vec::new();
    // More than the number of database connections.
    app.ledger()
        .run(
            "INSERT INTO users (id, name, role, password_hash, created_at, session_stamp)
             WITH RECURSIVE n (i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 5)
             SELECT 'more-' || i, 'more-' || i, role, password_hash, created_at, session_stamp
             FROM n CROSS JOIN users WHERE name = 'vera'",
        )
        .await;
    for n in 0..6 {
        let person = app.sign_in(&format!("more-{n}")).await;
        for _ in 0..2 {
            stalled.push(unread(&person).await);
        }
    }
    let viewer = app.sign_in("vera").await;
    let pairs = [("project", "docs"), ("from", "2026-11-01"), ("to", "2026-11-20")];
    assert_eq!(viewer.post_json("/api/analytics/pages", &pairs).await["rows_total"], 2_000);
    drop(stalled);
}

#[tokio::test]
async fn unread_exports_use_the_permits_of_their_user() {
    let app = TestApp::with(at(NOON).with_real_turns()).await;
    with_large_days(&app).await;
    let (viewer, ada) = (app.sign_in("vera").await, app.sign_in("ada").await);
    let exports = [unread(&viewer).await, unread(&viewer).await];
    let third = viewer.request(Method::GET, DAILY).header(ACCEPT, "application/json");
    viewer.send(third).await.refused(503, "busy");
    let small = DAILY.replace("=daily", "=days");
    assert_eq!(ada.get(&small).await.status, 200);
    drop(exports);
    let again = async || (viewer.get(&small).await.status == 200).then_some(());
    until("the permits are returned", again).await;
}

/// The anonymous memory of a process, in bytes.
fn memory(process: u32) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{process}/status")).unwrap();
    let line = status.lines().find(|line| line.starts_with("RssAnon:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() * 1024
}

#[tokio::test]
async fn large_export_is_streamed_with_bounded_memory() {
    // The rows exist before the server starts, so that only the export is measured.
    let installation = Installation::configured("http://127.0.0.1:9").set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    let (pages, range) = (1_000, days("2025-09-01", "2026-10-05"));
    drop(installation.serve(&["serve"]).address().await);
    fill(&installation.ledger(), pages, &range).await;
    let state = installation.serve(&["serve"]);
    let viewer = Browser::at(&state.address().await);
    assert_eq!(viewer.sign_in("admin", PASSWORD).await.status, 200);
    let load = async |to: &str| {
        let path = format!("/p/docs/analytics/export.csv?from=2025-09-01&to={to}&of=daily");
        let request = viewer.request(Method::GET, &path).header(COOKIE, viewer.cookie().unwrap());
        let response = request.send().await.unwrap();
        assert_eq!(response.status().as_u16(), 200);
        response
    };
    // The first export warms up the database's memory and code.
    load("2025-09-20").await.bytes().await.unwrap();
    let before = memory(state.id());
    let mut response = load("2026-10-05").await;
    let (mut received, mut lines, mut first, mut most) = (0, 0, None, 0);
    while let Some(chunk) = response.chunk().await.unwrap() {
        first.get_or_insert_with(|| memory(state.id()));
        received += chunk.len() as u64;
        lines += chunk.iter().filter(|byte| **byte == b'\n').count();
        most = most.max(memory(state.id()));
    }
    assert_eq!(lines, pages * range.len() + 1);
    assert!(received > 22_000_000, "{received}");
    // Both limits are far above the usual values, which are the caches of the database connections (4 MiB each). They are far
    // below the memory for all rows, whether collected before the response begins or later.
    assert!(first.unwrap().saturating_sub(before) < 20_000_000, "{before} and then {first:?}");
    assert!(most.saturating_sub(before) < 30_000_000, "{before} and then {most} for {received}");
}

/// Writes many days with SQL inside the database, which is much faster than row by row.
async fn fill(ledger: &Ledger, pages: usize, range: &[model::day::Day]) {
    use sqlx::Connection;
    let mut database = ledger.connection().await;
    let mut tx = database.begin().await.unwrap();
    sqlx::query(
        "WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < $1)
         INSERT INTO page_paths (project, path) SELECT 'docs', '/guides/a-rather-long-name/page-' || i FROM n",
    )
    .bind(pages as i64)
    .execute(&mut *tx)
    .await
    .unwrap();
    for day in range {
        sqlx::query(
            "INSERT INTO page_views (project, day, path_id, human, ai, total)
             SELECT 'docs', $1, id, id % 97, id % 53, id % 97 + id % 53 FROM page_paths",
        )
        .bind(day.to_string())
        .execute(&mut *tx)
        .await
        .unwrap();
        sqlx::query(
            "INSERT INTO history_days (project, day, human, ai, total, pages, digest, fetched_at, equal_fetches)
             VALUES ('docs', $1, 1, 1, 2, $2, 'd', 1900000000000, 1)",
        )
        .bind(day.to_string())
        .bind(pages as i64)
        .execute(&mut *tx)
        .await
        .unwrap();
    }
    tx.commit().await.unwrap();
    database.close().await.unwrap();
}

#[tokio::test]
async fn export_contains_every_row_once() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-18", "2026-11-20") {
        let rows = (0..2_500u64).map(|n| (format!("/p/{n:04}"), counts(n, 1)));
        archive.write(day, rows.collect()).await;
    }
    let viewer = app.sign_in("vera").await;
    let range = "from=2026-11-18&to=2026-11-20";
    let daily: Value = export(&viewer, "json", &format!("{range}&of=daily")).await.json();
    assert_eq!(daily.as_array().unwrap().len(), 7_500);
    let table = export(&viewer, "csv", &format!("{range}&sort=-path")).await;
    let lines: Vec<&str> = table.text.trim_end().split("\r\n").skip(1).collect();
    let expected = (0..2_500u64).rev().map(|n| format!("\"/p/{n:04}\","));
    assert!(lines.iter().zip(expected).all(|(line, path)| line.starts_with(&path)));
    assert_eq!(lines.len(), 2_500);
}
