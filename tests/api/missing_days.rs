//! What the platform cannot answer is not shown as if it had: the figures of a part of the pages need every day in the daily history.

use base::config::RetentionConfig;
use wiremock::ResponseTemplate;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{
    Archive, Settings, TestApp, content_tags, day, days, figures, paragraphs, rows, table_rows, tags,
    views_answer,
};

/// What the platform answers for the whole project.
const OF_THE_PROJECT: &str = "42";

/// The last 28 days of twelve pages, without November 10 and 11.
async fn app() -> TestApp {
    app_with(at(NOON)).await
}

async fn app_with(settings: Settings) -> TestApp {
    let app = TestApp::with(settings).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let mut archive = Archive::of(&app).await;
    let lacking = days("2026-11-10", "2026-11-11");
    for day in days("2026-09-27", "2026-11-21").into_iter().filter(|day| !lacking.contains(day)) {
        archive.write(day, pages()).await;
    }
    drop(archive);
    app
}

/// Twelve pages of guides and the quickstart.
fn pages() -> crate::helpers::Rows {
    let guides: Vec<_> = (1..=12).map(|n| format!("/guides/{n:02}")).collect();
    let mut found = rows(&[("/quickstart", 30, 10)]);
    found.extend(guides.into_iter().flat_map(|path| rows(&[(&path, 1, 1)])));
    found
}

/// The values in the form of a new batch.
fn values(page: &str) -> String {
    let field =
        tags(page).into_iter().find(|tag| tag.name == "textarea" && tag.attribute("name") == "values");
    field.unwrap_or_else(|| panic!("no field in {page}")).text
}

#[tokio::test]
async fn part_of_the_pages_has_no_figures_while_days_are_missing() {
    let app = app().await;
    let (viewer, operator) = (app.sign_in("vera").await, app.operator().await);
    let parts =
        ["path=/quickstart", "path=/guides/*", "folder=/guides", "folder=/", "q=quick", "tab=falling"];
    for part in parts {
        let page = operator.page(&format!("/p/docs/analytics?{part}")).await;
        assert!(page.contains("2 days are missing") && page.contains("Fetch these days"), "{part}: {page}");
        let found = content_tags(&page);
        assert!(
            !found.is_empty()
                && found.iter().all(|tag| tag.name != "dl" && tag.attribute("class") != "pages live"),
            "{part}: {page}"
        );
        assert!(
            !viewer.page(&format!("/p/docs/analytics?{part}")).await.contains("Fetch these days"),
            "{part}"
        );
        let file = viewer.get(&format!("/p/docs/analytics/export.json?{part}")).await;
        assert_eq!(file.status, 409, "{part}");
        assert!(file.text.contains("Only 26 of the 28 days"), "{part}: {}", file.text);
    }
    assert_eq!(app.upstream.requests().await.len(), 0, "the platform is not called");
    // The whole project is what the platform counts.
    let page = viewer.page("/p/docs/analytics").await;
    assert_eq!(figures(&page)[0], OF_THE_PROJECT);
    assert_eq!(table_rows(&page, "pages live").len(), 2);
    // An invalid part is refused, also while days are missing.
    assert_eq!(viewer.get("/p/docs/analytics?folder=guides").await.status, 400);

    let range = [("project", "docs"), ("from", "2026-11-10"), ("to", "2026-11-11")];
    operator.post_json("/api/history/fetch", &range).await;
    let page = operator.page("/p/docs/analytics?q=quick").await;
    assert!(page.contains("data-every=\"5\"") && !page.contains("fetch-days-form"), "{page}");
    let mut archive = Archive::of(&app).await;
    for of in days("2026-11-10", "2026-11-11") {
        archive.write(of, pages()).await;
    }
    let page = viewer.page("/p/docs/analytics?path=/quickstart").await;
    assert_eq!(figures(&page)[0], "1,120");
    assert!(paragraphs(&page, "provenance").contains("From the daily history"), "{page}");
}

#[tokio::test]
async fn page_refreshes_only_while_missing_days_come_soon() {
    let every = |page: &str| {
        let region = tags(page).into_iter().find(|tag| tag.attribute("data-region") == "report").unwrap();
        region.attribute("data-every").to_owned()
    };
    let range = [("project", "docs"), ("from", "2026-11-10"), ("to", "2026-11-11")];
    // Without figures, with live ones, and, last, without the compared days.
    let urls = ["?q=quick", "?path=/quickstart", "", "?from=2026-11-12&to=2026-11-13"];
    let mut nobody_fetches = at(NOON);
    nobody_fetches.budget.history_days = 7;
    let mut no_calls = at(NOON);
    no_calls.budget.analytics_reserve = no_calls.budget.analytics_per_hour;
    for (at_first, settings) in [("", nobody_fetches), ("", no_calls), ("5", at(NOON))] {
        let app = app_with(settings).await;
        let viewer = app.sign_in("vera").await;
        for (url, at_first) in urls.into_iter().zip([at_first, at_first, at_first, ""]) {
            assert_eq!(every(&viewer.page(&format!("/p/docs/analytics{url}")).await), at_first, "{url}");
        }
        app.operator().await.post_json("/api/history/fetch", &range).await;
        for url in urls {
            assert_eq!(every(&viewer.page(&format!("/p/docs/analytics{url}")).await), "5", "{url}");
        }
    }
}

#[tokio::test]
async fn selection_for_a_batch_takes_daily_figures_only() {
    let app = app().await;
    let operator = app.operator().await;
    let selected = "/p/docs/jobs/batch?matching=q%3Dguides%26limit%3D5";
    for url in [selected, "/p/docs/jobs/batch?matching=limit%3D5"] {
        let page = operator.page(url).await;
        assert!(page.contains("2 days are missing") && page.contains("Fetch these days"), "{page}");
        assert_eq!(values(&page), "", "{url}");
    }
    assert_eq!(app.upstream.requests().await.len(), 0, "the platform is not called");
    let mut archive = Archive::of(&app).await;
    archive.write(day("2026-11-10"), pages()).await;
    assert!(operator.page(selected).await.contains("1 day is missing"));
    archive.write(day("2026-11-11"), pages()).await;
    let table = operator.page("/p/docs/analytics?q=guides&limit=5").await;
    assert!(table.contains("Select all 12 pages that match"), "{table}");
    let expected: Vec<_> = (1..=12).map(|n| format!("/guides/{n:02}")).collect();
    assert_eq!(values(&operator.page(selected).await).trim(), expected.join("\n"));
}

#[tokio::test]
async fn days_that_are_no_longer_stored_cannot_be_fetched() {
    let retention = RetentionConfig { history_days: 30, ..RetentionConfig::default() };
    let app = TestApp::with(Settings { retention, ..at(NOON) }).await;
    let mut archive = Archive::of(&app).await;
    for day in days("2026-10-23", "2026-11-21") {
        archive.write(day, pages()).await;
    }
    drop(archive);
    let operator = app.operator().await;
    let part = |from: &str| format!("/p/docs/analytics?from={from}&to=2026-11-01&q=quick");
    let page = operator.get(&part("2026-10-01")).await;
    assert_eq!(page.status, 409);
    let sentence = "Days before Oct 23, 2026 are no longer in the daily history.";
    assert!(page.text.contains(sentence) && !page.text.contains("fetch-days-form"), "{}", page.text);
    // The days before are not compared, for the same reason.
    let page = operator.page(&part("2026-10-23")).await;
    let not_compared = paragraphs(&page, "provenance");
    assert!(not_compared.contains("are not all in the daily history."), "{not_compared}");
    assert!(paragraphs(&page, "faint").contains(sentence) && !page.contains("fetch-days-form"), "{page}");
    assert!(!page.contains("data-every=\"5\""), "{page}");
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn folders_are_not_counted_as_pages_that_match() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let pages: Vec<_> = (1..=201).map(|n| format!("/page-{n:03}")).collect();
    let mut viewed = rows(&[("/guides/a", 900, 0), ("/guides/b", 900, 0), ("/api/a", 900, 0)]);
    viewed.extend(pages.iter().flat_map(|path| rows(&[(path, 1, 1)])));
    archive.write(day("2026-11-20"), viewed).await;
    let operator = app.operator().await;
    let query = "from%3D2026-11-20%26to%3D2026-11-20%26folder%3D/";
    let page = operator.page(&format!("/p/docs/jobs/batch?matching={query}")).await;
    assert!(page.contains("The first 200 of 201 pages that match are selected."), "{page}");
    assert_eq!(values(&page).trim(), pages[..200].join("\n"));
    let page = operator.page(&format!("/p/docs/jobs/batch?matching={query}%26q%3D-00")).await;
    assert!(!page.contains("pages that match are selected"), "{page}");
    assert_eq!(values(&page).trim(), pages[..9].join("\n"));
}
