//! The analytics page: paths and notes are escaped, and viewers see only actions that they may use.

use std::time::Duration;

use reqwest::Method;
use wiremock::ResponseTemplate;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{Archive, New, TestApp, Written, days, figures, rows, table_rows, views_answer};

const ODD: &str = "/\"><img src=x onerror=alert(1)>&amp;";

#[tokio::test]
async fn paths_and_notes_are_escaped() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-01", "2026-11-14") {
        archive.put("docs", Written::new(day, rows(&[(ODD, 30, 12), ("/a", 3, 1)]))).await;
    }
    let operator = app.sign_in("olga").await;
    New::note("2026-11-10", "<script>alert(1)</script>").made(&operator).await;
    let range = "from=2026-11-08&to=2026-11-14";
    for query in [range.to_owned(), format!("{range}&folder=/"), format!("{range}&q=%22%3E%3Cimg")] {
        let page = operator.get(&format!("/p/docs/analytics?{query}")).await;
        assert_eq!(page.status, 200, "{query}");
        let html = page.text;
        assert!(html.contains("&gt;&lt;img src=x onerror=alert(1)&gt;&amp;amp;"), "{html}");
        assert!(html.contains("&lt;script&gt;alert(1)"), "{html}");
        assert!(!html.contains("<img") && !html.contains("<script>alert"), "{html}");
    }
}

#[tokio::test]
async fn viewers_see_only_actions_that_they_may_use() {
    let app = TestApp::with(at(NOON)).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-08", "2026-11-14") {
        archive.put("docs", Written::new(day, rows(&[("/a", 3, 1)]))).await;
    }
    for (name, may_post) in [("vera", false), ("olga", true)] {
        let person = app.sign_in(name).await;
        let daily = person.get("/p/docs/analytics?from=2026-11-08&to=2026-11-14").await.text;
        let live = person.get("/p/docs/analytics?from=2026-10-01&to=2026-10-02").await.text;
        assert!(live.contains("Live from the platform"), "{live}");
        // Every user may save views.
        for post in ["/api/annotations/save", "/api/history/fetch", "/jobs/new?"] {
            assert_eq!((daily.clone() + &live).contains(post), may_post, "{name} {post}");
        }
    }
    assert_eq!(app.sign_in("vera").await.get("/p/nowhere/analytics").await.status, 404);
}

#[tokio::test]
async fn refreshing_an_open_page_makes_no_upstream_call() {
    let app = TestApp::with(at(NOON)).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let viewer = app.sign_in("vera").await;
    let calls = async || app.upstream.requests().await.len();
    let page = "/p/docs/analytics?from=2026-11-01&to=2026-11-21";
    assert_eq!((viewer.get(page).await.status, calls().await), (200, 1));
    app.clock().advance(Duration::from_secs(3_600));
    let again = viewer.request(Method::GET, page).header("docket-refresh", "1");
    assert!(viewer.send(again).await.text.contains("Live from the platform"));
    assert_eq!(calls().await, 1);
}

/// A page that was opened as live shows daily data once its days are fetched.
#[tokio::test]
async fn open_page_shows_days_once_they_are_fetched() {
    let app = TestApp::with(at(NOON)).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let viewer = app.sign_in("vera").await;
    let page = "/p/docs/analytics?from=2026-11-10&to=2026-11-10";
    let live = viewer.get(page).await.text;
    let region = |html: &str| {
        html.split("data-region=\"report\"").nth(1).unwrap().split('>').next().unwrap().to_owned()
    };
    assert!(region(&live).contains("data-every=\"5\""), "{live}");
    let mut archive = Archive::of(&app).await;
    archive.put("docs", Written::new(days("2026-11-10", "2026-11-10")[0], rows(&[("/a", 3, 1)]))).await;
    let again = viewer.request(Method::GET, page).header("docket-refresh", "1");
    let daily = viewer.send(again).await.text;
    assert!(daily.contains("From the daily history") && !region(&daily).contains("data-every"), "{daily}");
}

#[tokio::test]
async fn report_comes_from_the_history_or_live() {
    let app = TestApp::with(at(NOON)).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-11-01", "2026-11-14") {
        archive.put("docs", Written::new(day, rows(&[("/a", 3, 1), ("/b/c", 30, 12)]))).await;
    }
    let viewer = app.sign_in("vera").await;
    let page = async |query: &str| viewer.get(&format!("/p/docs/analytics?{query}")).await;
    let daily = page("from=2026-11-08&to=2026-11-14&sort=path&limit=1&page=2").await.text;
    assert!(daily.contains("From the daily history"), "{daily}");
    let [row] = &table_rows(&daily, "pages daily")[..] else { panic!("{daily}") };
    assert_eq!(row[..4], ["/b/c", "210", "84", "294"]);
    assert!(daily.contains("Rows 2 to 2 of 2"), "{daily}");
    assert_eq!(figures(&daily)[0], "322");

    let live = page("from=2026-10-01&to=2026-10-02&sort=path").await.text;
    assert!(live.contains("Live from the platform"), "{live}");
    let lacking = live.split("which lacks ").nth(1).unwrap().trim_start_matches("<!>");
    assert!(lacking.starts_with("<span data-number=\"2\">"), "{lacking}");
    assert_eq!(table_rows(&live, "pages live").len(), 2);
    for bad in ["limit=0", "sort=odd&from=2026-11-08&to=2026-11-14", "from=yesterday"] {
        assert_eq!(page(bad).await.status, 400, "{bad}");
    }
}
