//! The switch *People · AI · All*: it drives changes, tabs, effects of jobs and exports, and removes no row. Also the comparison of a month, and
//! the tab of the AI share.

use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::api_tokens::create;
use crate::helpers::{
    Archive, Browser, TestApp, Written, day, days, figures, json, paragraphs, rows, table_rows, tags,
};
use crate::long_ranges::mcp_with;

const DAY: &str = "from=2026-11-20&to=2026-11-20";

/// Two days: people and AI changed in different directions.
async fn with_changes(app: &TestApp) {
    let mut archive = Archive::of(app).await;
    let before = [("/ai", 40, 100), ("/falls", 100, 20), ("/old", 30, 0), ("/quickstart", 200, 100)];
    let now = [("/ai", 40, 50), ("/falls", 50, 90), ("/new", 0, 30), ("/quickstart", 202, 138)];
    archive.write(day("2026-11-19"), rows(&before)).await;
    archive.write(day("2026-11-20"), rows(&now)).await;
}

/// The paths and some cells of the rows of the table.
async fn table(viewer: &Browser, query: &str) -> Vec<Vec<String>> {
    let page = viewer.page(&format!("/p/docs/analytics?{DAY}{query}")).await;
    match page.contains("No page matches") {
        true => Vec::new(),
        false => table_rows(&page, "pages daily"),
    }
}

async fn paths(viewer: &Browser, query: &str) -> Vec<String> {
    table(viewer, query).await.into_iter().map(|row| row[0].clone()).collect()
}

async fn exported(viewer: &Browser, query: &str) -> Vec<Value> {
    let file = viewer.get(&format!("/p/docs/analytics/export.json?{DAY}{query}")).await;
    serde_json::from_value(file.json()).unwrap()
}

#[tokio::test]
async fn changes_are_those_of_people_unless_others_are_chosen() {
    let app = TestApp::with(at(NOON)).await;
    with_changes(&app).await;
    let viewer = app.sign_in("vera").await;
    for (readers, expected) in [
        (
            "",
            [
                ["/ai", "40", "50", "90", "0", "0% · AI −50%"],
                ["/falls", "50", "90", "140", "−50", "−50% · AI +350%"],
                ["/new", "0", "30", "30", "0", "0% · AI new"],
                ["/old", "0", "0", "0", "−30", "−100% · AI –"],
                ["/quickstart", "202", "138", "340", "+2", "+1% · AI +38%"],
            ],
        ),
        (
            "&readers=ai",
            [
                ["/ai", "40", "50", "90", "−50", "−50% · People 0%"],
                ["/falls", "50", "90", "140", "+70", "+350% · People −50%"],
                ["/new", "0", "30", "30", "+30", "new · People –"],
                ["/old", "0", "0", "0", "0", "0% · People −100%"],
                ["/quickstart", "202", "138", "340", "+38", "+38% · People +1%"],
            ],
        ),
        (
            "&readers=all",
            [
                ["/ai", "40", "50", "90", "−50", "−36% · People 0% · AI −50%"],
                ["/falls", "50", "90", "140", "+20", "+17% · People −50% · AI +350%"],
                ["/new", "0", "30", "30", "+30", "new · People – · AI new"],
                ["/old", "0", "0", "0", "−30", "−100% · People −100% · AI –"],
                ["/quickstart", "202", "138", "340", "+40", "+13% · People +1% · AI +38%"],
            ],
        ),
    ] {
        let found = table(&viewer, &format!("{readers}&sort=path")).await;
        let shown: Vec<_> = found.iter().map(|row| [0, 1, 2, 3, 5, 6].map(|at| row[at].as_str())).collect();
        assert_eq!(shown, expected, "{readers}");
        // The figures have all changes.
        let page = viewer.page(&format!("/p/docs/analytics?{DAY}{readers}")).await;
        assert_eq!(figures(&page)[1..6], ["+2%", "292", "−21%", "308", "+40%"], "{readers}");
        let chosen = tags(&page).into_iter().filter(|tag| tag.attribute("aria-current") == "true");
        let name = match readers {
            "" => "People",
            "&readers=ai" => "AI",
            _ => "All",
        };
        assert!(chosen.map(|tag| tag.text).any(|text| text == name), "{readers}");
    }
    // The switch keeps the other filters.
    let page = viewer.page(&format!("/p/docs/analytics?{DAY}&tab=falling&q=a")).await;
    let by_ai = tags(&page).into_iter().find(|tag| tag.name == "a" && tag.text == "AI").unwrap();
    assert_eq!(by_ai.attribute("href"), format!("/p/docs/analytics?{DAY}&readers=ai&tab=falling&q=a"));
}

#[tokio::test]
async fn rising_and_falling_pages_are_those_of_the_chosen_readers() {
    let app = TestApp::with(at(NOON)).await;
    with_changes(&app).await;
    let viewer = app.sign_in("vera").await;
    for (readers, rising, falling) in [
        ("", &["/quickstart"][..], &["/falls", "/old"][..]),
        ("&readers=ai", &["/falls", "/quickstart"], &["/ai"]),
        ("&readers=all", &["/quickstart", "/falls"], &["/ai", "/old"]),
    ] {
        assert_eq!(paths(&viewer, &format!("&tab=rising{readers}")).await, rising, "{readers}");
        assert_eq!(paths(&viewer, &format!("&tab=falling{readers}")).await, falling, "{readers}");
        // New and gone are pages of all readers together.
        assert_eq!(paths(&viewer, &format!("&tab=new{readers}")).await, ["/new"], "{readers}");
        assert_eq!(paths(&viewer, &format!("&tab=gone{readers}")).await, ["/old"], "{readers}");
        let listed = exported(&viewer, &format!("&tab=falling{readers}")).await;
        assert_eq!(listed.iter().map(|row| row["path"].as_str().unwrap()).collect::<Vec<_>>(), falling);
    }
    let page = viewer.page(&format!("/p/docs/analytics?{DAY}&tab=rising&q=old")).await;
    assert!(page.contains("No page with at least 20 views by people changed in this way"), "{page}");

    // Endpoints and tools are about all readers, unless they name others.
    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    let client = app.anonymous();
    for (readers, expected) in [
        (None, &["/ai", "/old"][..]),
        (Some("all"), &["/ai", "/old"]),
        (Some("people"), &["/falls", "/old"]),
        (Some("ai"), &["/ai"]),
    ] {
        let days = [("project", "docs"), ("from", "2026-11-20"), ("to", "2026-11-20"), ("tab", "falling")];
        let fields: Vec<_> = days.into_iter().chain(readers.map(|readers| ("readers", readers))).collect();
        let table = viewer.post_json("/api/analytics/pages", &fields).await;
        let arguments =
            json!({"project": "docs", "from": "2026-11-20", "to": "2026-11-20", "readers": readers});
        let tool = mcp_with(&client, &token, "falling_pages", arguments).await;
        for list in [&table["rows"], &tool["structuredContent"]["pages"]] {
            let paths: Vec<_> =
                list.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect();
            assert_eq!(paths, expected, "{readers:?}");
        }
    }
    let bad = [("project", "docs"), ("from", "2026-11-20"), ("to", "2026-11-20"), ("readers", "humans")];
    viewer.post("/api/analytics/pages", &bad).await.refused(400, "bad_input");
}

#[tokio::test]
async fn export_has_both_periods_of_people_and_ai() {
    let app = TestApp::with(at(NOON)).await;
    with_changes(&app).await;
    let viewer = app.sign_in("vera").await;
    for (readers, name, change, difference) in
        [("", "people", 0.01, 2), ("&readers=ai", "ai", 0.38, 38), ("&readers=all", "all", 0.1333, 40)]
    {
        let file = exported(&viewer, &format!("{readers}&sort=-path")).await;
        assert_eq!(file.len(), 5, "no row is missing");
        let expected = json!({
            "path": "/quickstart", "pages": null, "human": 202, "ai": 138, "total": 340, "ai_share": 0.4059,
            "compared_human": 202, "compared_ai": 138, "compared_total": 340,
            "previous_human": 200, "previous_ai": 100, "previous_total": 300,
            "human_change": 0.01, "ai_change": 0.38, "total_change": 0.1333,
            "readers": name, "change": change, "difference": difference,
            "provisional_days": 0, "previous_provisional_days": 0,
        });
        assert_eq!(file[0], expected, "{readers}");
    }
    // Without a compared period, there is nothing of it.
    let alone = exported(&viewer, "&compare=none&sort=-path").await;
    for name in
        ["compared_human", "previous_ai", "human_change", "ai_change", "total_change", "change", "difference"]
    {
        assert_eq!(alone[0][name], Value::Null, "{name}");
    }
}

#[tokio::test]
async fn ai_share_needs_100_views_in_both_periods_and_rises_or_falls() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let before = [("/few", 60, 39), ("/less", 20, 80), ("/more", 60, 40), ("/same", 50, 50)];
    let now = [("/few", 10, 290), ("/less", 70, 30), ("/more", 20, 80), ("/same", 500, 500)];
    archive.write(day("2026-11-19"), rows(&before)).await;
    archive.write(day("2026-11-20"), rows(&now)).await;
    let viewer = app.sign_in("vera").await;
    for (tab, expected) in
        [("share", &["/less", "/more"][..]), ("share-rising", &["/more"]), ("share-falling", &["/less"])]
    {
        for readers in ["", "&readers=ai", "&readers=all"] {
            assert_eq!(paths(&viewer, &format!("&tab={tab}{readers}")).await, expected, "{tab}{readers}");
        }
        let page = viewer.page(&format!("/p/docs/analytics?{DAY}&tab={tab}")).await;
        let links: Vec<_> =
            tags(&page).into_iter().filter(|tag| tag.attribute("aria-current") == "true").collect();
        assert!(links.iter().any(|link| link.attribute("id") == "tab-share"), "{tab}");
        let name = tab.strip_prefix("share-").unwrap_or("all");
        assert!(links.iter().any(|link| link.attribute("id") == format!("share-{name}")), "{tab}");
    }
    let none = viewer.page(&format!("/p/docs/analytics?{DAY}&tab=share-rising&q=few")).await;
    assert!(none.contains("No page with at least 100 views in both periods changed in this way"), "{none}");
}

#[tokio::test]
async fn month_to_date_is_compared_with_the_same_weekdays() {
    let now = "2026-11-17T12:00:00Z";
    let app = TestApp::with(at(now)).await;
    let mut archive = Archive::of(&app).await;
    for of in days("2026-08-20", "2026-11-17") {
        let is_weekend = ["Sat", "Sun"].contains(&of.weekday());
        let fetched_at = (of == day("2026-11-17")).then(|| now.parse().unwrap());
        let views = if is_weekend { 2 } else { 10 };
        archive.put("docs", Written { fetched_at, ..Written::new(of, rows(&[("/a", views, 0)])) }).await;
    }
    let viewer = app.sign_in("vera").await;
    for (query, compared, change) in [
        (
            "days=month",
            "Nov 1, 2026 to Nov 16, 2026 compared with Oct 4, 2026 to Oct 19, 2026; part of today is left out.",
            "0%",
        ),
        (
            "days=month&compare=previous",
            "Nov 1, 2026 to Nov 16, 2026 compared with Oct 15, 2026 to Oct 30, 2026; part of today is left out.",
            "−6%",
        ),
        ("days=last-month", "Compared with Aug 27, 2026 to Sep 26, 2026.", "0%"),
    ] {
        let page = viewer.page(&format!("/p/docs/analytics?{query}")).await;
        let text = paragraphs(&page, "provenance");
        assert!(text.contains(compared), "{query}: {text}");
        assert_eq!(figures(&page)[1], change, "{query}");
        let file = viewer.get(&format!("/p/docs/analytics/export.json?{query}")).await.json();
        let previous = file[0]["previous_total"].as_u64().unwrap();
        let now = file[0]["compared_total"].as_u64().unwrap();
        assert_eq!(previous == now, change == "0%", "{query}: {file}");
    }
    // The days of a month by their dates are no month to date, here and for the endpoint.
    let page = viewer.page("/p/docs/analytics?from=2026-11-01&to=2026-11-16").await;
    let text = paragraphs(&page, "provenance");
    assert!(text.contains("Compared with Oct 16, 2026 to Oct 31, 2026."), "{text}");
    let fields = [("project", "docs"), ("from", "2026-11-01"), ("to", "2026-11-16")];
    let table = viewer.post_json("/api/analytics/pages", &fields).await;
    assert_eq!(table["comparison"]["from"], "2026-10-16");
}
