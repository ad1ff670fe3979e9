//! Everything that the platform has counted, and the presets of days.

use wiremock::ResponseTemplate;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{Archive, New, TestApp, day, days, figures, rows, table_rows, tags, views_answer};

const ALL_TIME: &str = "/p/docs/analytics?days=all";

async fn app() -> TestApp {
    let app = TestApp::with(at(NOON)).await;
    let mut more = views_answer();
    more["hasMore"] = true.into();
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(more)).await;
    app
}

/// The queries that the platform received.
async fn queries(app: &TestApp) -> Vec<String> {
    let requests = app.upstream.requests().await;
    requests.iter().map(|request| request.url.query().unwrap_or_default().to_owned()).collect()
}

/// The text of a page.
fn words(page: &str) -> String {
    page.split('<').map(|part| part.split_once('>').map_or(part, |(_, text)| text)).collect()
}

/// The link with this text.
fn link(page: &str, text: &str) -> String {
    let found = tags(page).into_iter().find(|tag| tag.name == "a" && tag.text == text);
    found.unwrap_or_else(|| panic!("no link {text} in {page}")).attribute("href").to_owned()
}

#[tokio::test]
async fn all_time_asks_the_platform_without_dates() {
    let app = app().await;
    let viewer = app.sign_in("vera").await;
    let page = viewer.page(ALL_TIME).await;
    assert_eq!(figures(&page)[0], "42");
    assert_eq!(table_rows(&page, "pages live").len(), 2);
    assert!(page.contains("The platform counted these figures"), "{page}");
    assert!(page.contains("The platform does not say since when"), "{page}");
    assert!(page.contains("What counts as AI changed meanwhile"), "{page}");
    assert!(!page.contains("data-every") && !page.contains("fetch-days-form"), "{page}");
    let next = link(&page, "Next");
    assert_eq!(next, "/p/docs/analytics?days=all&page=2");
    viewer.page(&next).await;
    viewer.page(ALL_TIME).await;
    assert_eq!(queries(&app).await, ["limit=50&offset=0", "limit=50&offset=50"], "a repeated page is cached");

    let operator = app.operator().await;
    let page = operator.page(ALL_TIME).await;
    assert!(page.contains("name=\"days\" value=\"all\""), "the form that refreshes the figures: {page}");
    assert!(!page.contains("name=\"from\" value=\"2"), "{page}");
    let fields = [("project", "docs"), ("days", "all"), ("refresh", "true")];
    assert_eq!(operator.post("/api/analytics/views", &fields).await.json()["totals"]["total"], 42);
    assert_eq!(queries(&app).await.len(), 3);
    assert!(page.contains("/quickstart%20had%2030%20views%20in%20all%3A"), "the prompt about a page: {page}");
}

#[tokio::test]
async fn all_time_says_since_when_the_daily_history_has_views() {
    let app = app().await;
    let viewer = app.sign_in("vera").await;
    let mut archive = Archive::of(&app).await;
    archive.write(day("2026-11-06"), rows(&[("/a", 1, 1)])).await;
    assert!(viewer.page(ALL_TIME).await.contains("does not say since when"), "no stored day before it");
    for empty in days("2026-11-01", "2026-11-05").into_iter().filter(|day| day.to_string() != "2026-11-03") {
        archive.write(empty, rows(&[])).await;
    }
    drop(archive);
    let page = viewer.page(ALL_TIME).await;
    let since = "The first day with views in the daily history is Nov 6, 2026; 2 stored days directly before it have none.";
    assert!(words(&page).contains(since), "{page}");
}

#[tokio::test]
async fn part_of_the_pages_has_no_figures_of_all_time() {
    let app = app().await;
    let viewer = app.sign_in("vera").await;
    for part in ["path=/quickstart", "folder=/guides", "q=quick", "tab=falling"] {
        let page = viewer.get(&format!("{ALL_TIME}&{part}")).await;
        assert_eq!(page.status, 400, "{part}");
        assert!(page.text.contains("All time has the figures of all pages together."), "{}", page.text);
        assert_eq!(link(&page.text, "All time"), ALL_TIME, "{part}");
        assert!(link(&page.text, "7 days").starts_with("/p/docs/analytics?days=7&"), "{part}");
    }
    let view = New::view("Part", "days=all&q=quick").with("of", "analytics").with("shared", "false");
    view.post(&app.operator().await).await.refused(400, "bad_input");
    let file = viewer.get("/p/docs/analytics/export.csv?days=all").await;
    assert_eq!(file.status, 400);
    assert!(file.text.contains("Only the platform knows the figures of all time."), "{}", file.text);
    assert_eq!(queries(&app).await.len(), 0);
}

#[tokio::test]
async fn unknown_name_of_days_is_refused_with_the_known_ones() {
    let app = app().await;
    let viewer = app.sign_in("vera").await;
    let page = viewer.get("/p/docs/analytics?days=week").await;
    assert_eq!(page.status, 400);
    assert!(
        page.text.contains("The days are today, 7, 28, 90, month, last-month, last-quarter or all."),
        "{}",
        page.text
    );
    assert_eq!(link(&page.text, "Month to date"), "/p/docs/analytics?days=month");
    let file = viewer.get("/p/docs/analytics/export.csv?days=week").await;
    assert_eq!(file.status, 400);
    viewer
        .post("/api/analytics/views", &[("project", "docs"), ("days", "week")])
        .await
        .refused(400, "bad_input");
    assert_eq!(queries(&app).await.len(), 0);
}

#[tokio::test]
async fn preset_stays_a_preset_in_the_url_the_export_and_the_saved_view() {
    // The month to date has 28 days, as the default has.
    let app = TestApp::with(at("2026-11-28T12:00:00Z")).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-10-01", "2026-12-03") {
        archive.write(day, rows(&[("/a", 1, 1)])).await;
    }
    drop(archive);
    let operator = app.operator().await;
    let page = operator.page("/p/docs/analytics").await;
    let month = link(&page, "Month to date");
    assert_eq!(month, "/p/docs/analytics?days=month");
    let page = operator.page(&month).await;
    assert!(page.contains("Remove filter: "), "not the default: {page}");
    assert_eq!(link(&page, "JSON"), "/p/docs/analytics/export.json?days=month");
    let view = New::view("This month", "days=month").with("of", "analytics").with("shared", "false");
    assert_eq!(view.post(&operator).await.status, 200);
    let of_analytics = [("project", "docs"), ("of", "analytics")];
    let saved = operator.post_json("/api/saved-views/list", &of_analytics).await;
    assert_eq!(saved[0]["query"], "days=month");

    app.clock().advance(std::time::Duration::from_secs(5 * 24 * 3_600));
    let later = app.sign_in("vera").await;
    let file = later.get("/p/docs/analytics/export.json?days=month&of=days").await.json();
    let shown: Vec<_> = file.as_array().unwrap().iter().map(|row| row["day"].as_str().unwrap()).collect();
    assert_eq!(shown, ["2026-12-01", "2026-12-02", "2026-12-03"]);
    assert_eq!(figures(&later.page(&month).await)[0], "6");
}
