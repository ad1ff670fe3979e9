//! The pages with the largest changes, ignoring those with few views: the tabs of the table, and the MCP tool for falling pages.

use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::api_tokens::create;
use crate::helpers::{
    Archive, Browser, TestApp, Written, day, days, figures, json, paragraphs, rows, table_rows,
};
use crate::long_ranges::mcp;

fn paths(rows: &[Value]) -> Vec<&str> {
    rows.iter().map(|row| row["path"].as_str().unwrap()).collect()
}

/// The first ten rows of a tab.
async fn tab(person: &Browser, [from, to]: [&str; 2], tab: &str) -> Vec<Value> {
    let pairs = [("project", "docs"), ("from", from), ("to", to), ("tab", tab), ("limit", "10")];
    let mut table = person.post_json("/api/analytics/pages", &pairs).await;
    serde_json::from_value(table["rows"].take()).unwrap()
}

/// The falling pages as the MCP tool lists them.
async fn falling(client: &Browser, token: &str, days: [&str; 2]) -> Vec<Value> {
    let mut result = mcp(client, token, "falling_pages", days).await;
    serde_json::from_value(result["structuredContent"]["pages"].take())
        .unwrap_or_else(|error| panic!("{error}: {result}"))
}

#[tokio::test]
async fn each_tab_is_sorted_by_the_largest_change() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let before = [
        ("/up", 20, 20),
        ("/up-more", 100, 0),
        ("/down", 60, 0),
        ("/gone", 25, 0),
        ("/gone-too", 25, 0),
        ("/whisper", 19, 0),
        ("/shift", 50, 50),
        ("/shift-little", 55, 45),
        ("/few-then-many", 1, 0),
        ("/same", 30, 30),
    ];
    let now = [
        ("/up", 25, 25),
        ("/up-more", 180, 0),
        ("/down", 30, 0),
        ("/born", 20, 1),
        ("/stillborn", 19, 0),
        ("/whisper", 1, 0),
        ("/shift", 10, 90),
        ("/shift-little", 45, 55),
        ("/few-then-many", 0, 40),
        ("/same", 30, 30),
    ];
    archive.write(day("2026-11-19"), rows(&before)).await;
    archive.write(day("2026-11-20"), rows(&now)).await;
    archive.put("api", Written::new(day("2026-11-20"), rows(&[("/elsewhere", 999, 0)]))).await;
    let viewer = app.sign_in("vera").await;
    let on_day = ["2026-11-20"; 2];
    for (name, expected) in [
        ("rising", &["/up-more", "/few-then-many", "/up"][..]),
        ("falling", &["/down", "/gone", "/gone-too"]),
        ("share", &["/shift", "/shift-little"]),
        ("new", &["/born"]),
        ("gone", &["/gone", "/gone-too"]),
    ] {
        assert_eq!(paths(&tab(&viewer, on_day, name).await), expected, "{name}");
    }
    let zero = json!({"human": 0, "ai": 0, "total": 0});
    assert_eq!(tab(&viewer, on_day, "new").await[0]["previous"], zero);
    let gone = &tab(&viewer, on_day, "gone").await[0];
    assert_eq!(gone["previous"], json!({"human": 25, "ai": 0, "total": 25}));
    assert_eq!(gone["total"], 0);
    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    let falling = falling(&app.anonymous(), &token, on_day).await;
    assert_eq!(falling, tab(&viewer, on_day, "falling").await);
}

#[tokio::test]
async fn pages_that_lost_all_views_are_in_every_list_of_falls() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    // 100 views become 17, but the page that is still viewed has as many as before.
    archive.write(day("2026-11-18"), rows(&[("/same", 17, 0), ("/old/a", 50, 0), ("/old/b", 33, 0)])).await;
    archive.write(day("2026-11-19"), rows(&[("/same", 17, 0), ("/old/a", 50, 0), ("/old/b", 33, 0)])).await;
    archive.write(day("2026-11-20"), rows(&[("/same", 17, 0)])).await;
    // A view of today hides no page.
    let today = Written {
        fetched_at: Some(NOON.parse().unwrap()),
        ..Written::new(day("2026-11-21"), rows(&[("/old/a", 1, 0)]))
    };
    archive.put("docs", today).await;
    let viewer = app.sign_in("vera").await;
    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    let on_day = ["2026-11-20"; 2];
    for name in ["falling", "gone"] {
        assert_eq!(paths(&tab(&viewer, on_day, name).await), ["/old/a", "/old/b"], "{name}");
    }
    let falls = falling(&app.anonymous(), &token, on_day).await;
    assert_eq!(paths(&falls), ["/old/a", "/old/b"]);
    let with_today = tab(&viewer, ["2026-11-20", "2026-11-21"], "gone").await;
    assert_eq!(paths(&with_today), ["/old/a", "/old/b"]);
    assert_eq!((&with_today[0]["total"], &with_today[0]["compared"]["total"]), (&json!(1), &json!(0)));

    let query = format!("from={0}&to={0}", on_day[0]);
    let page = viewer.get(&format!("/p/docs/analytics?{query}&sort=-difference")).await.text;
    assert_eq!(figures(&page)[..2], ["17", "−83%"]);
    let shown: Vec<_> =
        table_rows(&page, "pages daily").into_iter().map(|row| [5, 6].map(|at| row[at].clone())).collect();
    // People alone read these pages.
    assert_eq!(shown, [["−50", "−100% · AI –"], ["−33", "−100% · AI –"], ["0", "0% · AI –"]]);
    let folders = viewer.get(&format!("/p/docs/analytics?{query}&folder=/&sort=path")).await.text;
    let shown: Vec<_> =
        table_rows(&folders, "pages daily").into_iter().map(|row| [5, 6].map(|at| row[at].clone())).collect();
    assert_eq!(shown, [["−83", "−100% · AI –"], ["0", "0% · AI –"]]);
    for (more, rows) in [("", 3), ("&folder=/", 2), ("&tab=falling", 2), ("&q=old", 2)] {
        let file =
            viewer.get(&format!("/p/docs/analytics/export.json?{query}{more}&sort=-difference")).await.json();
        let lost: i64 = file.as_array().unwrap().iter().map(|row| row["difference"].as_i64().unwrap()).sum();
        assert_eq!((file.as_array().unwrap().len(), lost), (rows, -83), "{more}");
        assert_eq!(file[0]["change"], json!(-1.0), "{more}");
    }
}

#[tokio::test]
async fn overview_lists_only_pages_with_views() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    for of in days("2026-11-08", "2026-11-21") {
        let path = if of < day("2026-11-15") { "/gone" } else { "/here" };
        let fetched_at = (of == day("2026-11-21")).then(|| NOON.parse().unwrap());
        archive.put("docs", Written { fetched_at, ..Written::new(of, rows(&[(path, 30, 0)])) }).await;
    }
    let overview = app.sign_in("vera").await.get("/p/docs").await.text;
    assert!(overview.contains("data-path=\"/here\"") && !overview.contains("/gone"), "{overview}");
    let compared =
        "Nov 15, 2026 to Nov 20, 2026 compared with Nov 8, 2026 to Nov 13, 2026; part of today is left out.";
    let text = paragraphs(&overview, "provenance");
    assert!(text.contains(compared), "{text}");
}

#[tokio::test]
async fn falling_pages_are_ten_and_ignore_the_current_day() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    let names: Vec<String> = (0..15).map(|n| format!("/{n:02}")).collect();
    let all = |views: u64| names.iter().map(|name| (name.as_str(), views, 0)).collect::<Vec<_>>();
    for (of, views) in [("2026-11-17", 40), ("2026-11-18", 30), ("2026-11-19", 50)] {
        archive.write(day(of), rows(&all(views))).await;
    }
    archive.write(day("2026-11-20"), rows(&all(40))).await;
    let today =
        Written { fetched_at: Some(NOON.parse().unwrap()), ..Written::new(day("2026-11-21"), rows(&all(1))) };
    archive.put("docs", today).await;
    let (viewer, client) = (app.sign_in("vera").await, app.anonymous());
    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    assert_eq!(paths(&falling(&client, &token, ["2026-11-18"; 2]).await), &names[..10]);
    assert_eq!(paths(&tab(&viewer, ["2026-11-19"; 2], "rising").await), &names[..10]);
    // Yesterday's 40 against 30 two days earlier; today's single view does not count as a fall.
    let with_today = ["2026-11-20", "2026-11-21"];
    let rising = tab(&viewer, with_today, "rising").await;
    assert_eq!((rising.len(), falling(&client, &token, with_today).await.len()), (10, 0));
    assert_eq!(rising[0]["compared"]["total"], 40);
}

#[tokio::test]
async fn missing_previous_period_gives_a_message_without_lists() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    archive.write(day("2026-11-20"), rows(&[("/a", 100, 0)])).await;
    let today =
        Written { fetched_at: Some(NOON.parse().unwrap()), ..Written::new(day("2026-11-21"), rows(&[])) };
    archive.put("docs", today).await;
    let (viewer, client) = (app.sign_in("vera").await, app.anonymous());
    let token = create(&app.operator().await, &[("scopes", "analytics:read")]).await;
    for (of, words) in [("2026-11-20", "Nov 19, 2026"), ("2026-11-21", "no complete day")] {
        let result = mcp(&client, &token, "falling_pages", [of; 2]).await;
        let message = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && message.contains(words), "{message}");
        assert!(tab(&viewer, [of; 2], "falling").await.is_empty());
    }
    // Days of the range itself are missing, or it is no range.
    for (days, words) in [
        (["2026-11-18", "2026-11-20"], "Nov 18, 2026"),
        (["2026-11-20", "2026-11-19"], "before"),
        (["2026-02-30", "2026-03-01"], "2026-02-30"),
    ] {
        let result = mcp(&client, &token, "falling_pages", days).await;
        let message = result["content"][0]["text"].as_str().unwrap();
        assert!(result["isError"] == true && message.contains(words), "{message}");
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
}
