//! A list that is cut says so, with the number of all, on pages and for programs.

use crate::analytics_pages::{NOON, at};
use crate::api_tokens::create;
use crate::helpers::{Archive, Rows, Settings, TestApp, counts, day, days, json, paragraphs, rows, tags};
use crate::long_ranges::mcp;

const JOBS: usize = 1_340;
/// More than one report shows.
const NOTES: u64 = 620;
const RANGE: &str = "from=2026-11-10&to=2026-11-20";

/// The text of the summary above the list of events.
fn events(page: &str) -> String {
    let found = tags(page).into_iter().find(|tag| tag.name == "summary" && tag.text.contains("jobs"));
    found.unwrap_or_else(|| panic!("no events in {page}")).text
}

/// 1,340 completed jobs about `/a`, the newest of which is about 50 pages, and 620 notes, the last ones on the last days.
async fn with_jobs_and_notes(app: &TestApp) -> String {
    let mut archive = Archive::of(app).await;
    for day in days("2026-10-30", "2026-11-20") {
        archive.write(day, rows(&[("/a", 50, 0)])).await;
    }
    for n in 1..JOBS {
        let finished = format!("2026-11-{:02}T08:{:02}:00Z", 11 + n / 200, n % 60);
        archive.job("docs", &format!("Job {n}"), &["/a"], "completed", &finished).await;
    }
    let pages: Vec<String> = (10..60).map(|n| format!("/many/{n}")).collect();
    let mut pages: Vec<&str> = pages.iter().map(String::as_str).collect();
    pages[0] = "/a";
    let newest = archive.job("docs", "The newest", &pages, "completed", "2026-11-20T08:00:00Z").await;
    drop(archive);
    let ledger = app.ledger();
    ledger
        .run("UPDATE jobs SET remote_id = id, remote_status = state, pr_link = 'https://x.example/1'")
        .await;
    let note = |n: u64| format!("('note {n:03}', '2026-11-{:02}', 'Note {n}')", 11 + n / 70);
    let notes: Vec<String> = (0..NOTES).map(note).collect();
    ledger
        .execute(format!(
            "INSERT INTO annotations (id, project, day, text, author_id, created_at, updated_at)
             SELECT n.id, 'docs', n.day, n.text, u.id, 0, 0 FROM users u, (SELECT column1 AS id, column2 AS day, column3 AS text FROM (VALUES {}) AS v) AS n
             WHERE u.name = 'olga'",
            notes.join(", ")
        ))
        .await;
    newest
}

#[tokio::test]
async fn jobs_and_notes_of_a_report_have_their_number() {
    let app = TestApp::with(Settings { direct_projects: vec!["docs"], ..at(NOON) }).await;
    let newest = with_jobs_and_notes(&app).await;
    let viewer = app.sign_in("vera").await;
    for part in ["", "&q=a", "&path=/a"] {
        let page = viewer.page(&format!("/p/docs/analytics?{RANGE}{part}")).await;
        assert_eq!(events(&page), "Newest 200 of 1,340 jobs, newest 500 of 620 notes", "{part}");
        assert!(page.contains("Note 619") && !page.contains("Note 119<"), "the newest notes: {page}");
    }
    let fields = [("project", "docs"), ("from", "2026-11-10"), ("to", "2026-11-20")];
    let trend = viewer.post_json("/api/analytics/trend", &fields).await;
    assert_eq!((&trend["markers_total"], &trend["annotations_total"]), (&json!(1_340), &json!(620)));
    let markers = trend["markers"].as_array().unwrap();
    assert_eq!((markers.len(), &markers[199]["job"]), (200, &json!(newest)));
    let notes = trend["annotations"].as_array().unwrap();
    assert_eq!(
        (notes.len(), &notes[0]["text"], &notes[499]["text"]),
        (500, &json!("Note 120"), &json!("Note 619"))
    );
    // The lists of jobs of a page's report.
    let report = viewer.page(&format!("/p/docs/analytics?{RANGE}&path=/a")).await;
    assert!(paragraphs(&report, "provenance").contains("Newest 20 of 1,340 jobs with figures."), "{report}");
    assert!(
        paragraphs(&report, "more").contains("Newest 50 of 1,340 jobs. All jobs about this page"),
        "{report}"
    );
    // Ten of fifty pages of a job.
    let effects = viewer.post_json("/api/analytics/job", &[("project", "docs"), ("job", &newest)]).await;
    assert_eq!((effects["pages"].as_array().unwrap().len(), &effects["pages_total"]), (10, &json!(50)));
    let page = viewer.page(&format!("/p/docs/jobs/{newest}")).await;
    assert!(paragraphs(&page, "provenance").contains("First 10 of 50 pages."), "{page}");

    // Lists that are not cut have their number only.
    let page = viewer.page("/p/docs/analytics?from=2026-11-11&to=2026-11-11").await;
    assert_eq!(events(&page), "199 jobs, 70 notes");
}

#[tokio::test]
async fn falling_pages_have_their_number() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let views =
        |views: u64| -> Rows { (0..53).map(|n| (format!("/{n:02}"), counts(views + n, 0))).collect() };
    archive.write(day("2026-11-19"), views(100)).await;
    archive.write(day("2026-11-20"), views(50)).await;
    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    let result = mcp(&app.anonymous(), &token, "falling_pages", ["2026-11-20"; 2]).await;
    let falling = &result["structuredContent"];
    assert_eq!((falling["pages"].as_array().unwrap().len(), &falling["pages_total"]), (10, &json!(53)));
}

#[tokio::test]
async fn merged_pull_requests_have_their_number() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for n in 0..61 {
        archive.job("docs", &format!("Job {n}"), &[], "completed", "2026-11-20T08:00:00Z").await;
    }
    drop(archive);
    app.ledger()
        .run("UPDATE jobs SET remote_id = id, remote_status = state, pr_link = 'https://x.example/1'")
        .await;
    // November 20, 2026.
    app.ledger().run("UPDATE pull_requests SET state = 'merged', merged_at = 1795161600000").await;
    let viewer = app.sign_in("vera").await;
    let reviews = viewer.post_json("/api/pull-requests/reviews", &[("project", "docs")]).await;
    assert_eq!((reviews["merged"].as_array().unwrap().len(), &reviews["merged_total"]), (50, &json!(61)));
}

#[tokio::test]
async fn filters_and_notifications_have_the_number_of_all() {
    let app = TestApp::start().await;
    let mut archive = Archive::of(&app).await;
    for n in 0..60 {
        let page = format!("/page/{}", n % 55);
        let finished = format!("2026-11-{:02}T08:00:00Z", 1 + n % 20);
        archive.job("docs", &format!("Job {n}"), &[&page], "completed", &finished).await;
    }
    drop(archive);
    let viewer = app.sign_in("vera").await;
    let list = viewer.page("/p/docs/jobs").await;
    assert_eq!(list.matches("The 50 most common of 55. Type any other.").count(), 1, "{list}");
    let page = viewer.page("/p/docs/notifications").await;
    let hint = paragraphs(&page, "hint");
    assert_eq!(hint, "From the 50 jobs that changed last, of 60. View all jobs by last change");
    let listed = viewer.post_json("/api/notifications/list", &[("project", "docs"), ("who", "all")]).await;
    assert_eq!((&listed["examined"], &listed["total"]), (&json!(50), &json!(60)));
}

#[tokio::test]
async fn marked_and_failing_days_have_their_number() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-10-20", "2026-11-20") {
        archive.write(day, rows(&[("/a", 50, 0)])).await;
    }
    drop(archive);
    app.ledger().run("UPDATE history_days SET mark = 'uneven'").await;
    let failing: Vec<String> = days("2026-09-01", "2026-09-25")
        .iter()
        .map(|day| format!("('docs', '{day}', 1, 'failed', 0)"))
        .collect();
    app.ledger()
        .execute(format!(
            "INSERT INTO failing_days (project, day, failures, cause, next_try_at) VALUES {}",
            failing.join(", ")
        ))
        .await;
    let viewer = app.sign_in("vera").await;
    let state = viewer.post("/api/history/state", &[("project", "docs")]).await.json();
    let listed = |field: &str| state[field].as_array().unwrap().len();
    assert_eq!((listed("marked"), &state["marked_total"]), (20, &json!(32)));
    assert_eq!((listed("failing"), &state["failing_total"]), (20, &json!(25)));
    let page = viewer.page("/p/docs/analytics?from=2026-09-01&to=2026-09-10&q=a").await;
    assert!(page.contains("25 days failed. Only the newest 20 are listed."), "{page}");
}
