//! The page of analytics as the server draws it: whatever a path or a note says, it is text, and viewers get nothing that they may not do.

use crate::analytics_pages::{NOON, at};
use crate::helpers::{Archive, TestApp, Written, days, rows};

const ODD: &str = "/\"><img src=x onerror=alert(1)>&amp;";

#[tokio::test]
async fn what_a_path_and_a_note_say_is_drawn_as_text() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-01", "2026-11-14") {
        archive.put("docs", Written::new(day, rows(&[(ODD, 30, 12), ("/a", 3, 1)]))).await;
    }
    let operator = app.sign_in("olga").await;
    let note = [("project", "docs"), ("day", "2026-11-10"), ("text", "<script>alert(1)</script>")];
    operator.ask("/api/annotations/save", &note).await;
    let range = "from=2026-11-08&to=2026-11-14";
    for query in [range.to_owned(), format!("{range}&folder=/"), format!("{range}&q=%22%3E%3Cimg")] {
        let asked = [("project", "docs"), ("query", query.as_str())];
        let drawn = operator.ask("/api/analytics/reading", &asked).await.to_string();
        assert!(
            drawn.contains("&quot;&gt;&lt;img src=x onerror=alert(1)&gt;&amp;amp;")
                || query.contains("folder"),
            "{drawn}"
        );
        assert!(drawn.contains("&lt;script&gt;"), "{drawn}");
        assert!(!drawn.contains("<img") && !drawn.contains("<script"), "{drawn}");
    }
}

#[tokio::test]
async fn a_viewer_is_drawn_nothing_that_writes_notes_spends_calls_or_starts_jobs() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-08", "2026-11-14") {
        archive.put("docs", Written::new(day, rows(&[("/a", 3, 1)]))).await;
    }
    let asked = [("project", "docs"), ("query", "from=2026-11-08&to=2026-11-14")];
    let missing = [("project", "docs"), ("query", "from=2026-10-01&to=2026-10-02")];
    for (name, may_post) in [("vera", false), ("olga", true)] {
        let person = app.sign_in(name).await;
        let drawn = person.ask("/api/analytics/reading", &asked).await.to_string();
        let notice = person.ask("/api/analytics/notice", &missing).await.to_string();
        // Their own views are everybody's to keep.
        for post in ["/api/annotations/save", "/api/history/fetch", "/jobs/new?"] {
            assert_eq!((drawn.clone() + &notice).contains(post), may_post, "{name} {post} {drawn} {notice}");
        }
    }
    let elsewhere = [("project", "nowhere"), ("query", "")];
    let viewer = app.sign_in("vera").await;
    viewer.post("/api/analytics/reading", &elsewhere).await.refused(404, "not_found");
    viewer.post("/api/analytics/notice", &elsewhere).await.refused(404, "not_found");
}
