//! The largest changes, ignoring pages with few views.

use serde_json::Value;

use crate::analytics_pages::{NOON, at};
use crate::helpers::{Archive, TestApp, Written, day, json, rows};

fn paths(list: &Value) -> Vec<&str> {
    list.as_array().unwrap().iter().map(|row| row["path"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn each_list_is_sorted_by_the_largest_change() {
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
    let pairs = [("project", "docs"), ("from", "2026-11-20"), ("to", "2026-11-20")];
    let movers = viewer.post_json("/api/analytics/movers", &pairs).await;
    assert_eq!(paths(&movers["risen"]), ["/up-more", "/few-then-many", "/up"]);
    assert_eq!(paths(&movers["fallen"]), ["/down"]);
    assert_eq!(paths(&movers["shifted"]), ["/shift", "/shift-little"]);
    assert_eq!(paths(&movers["new"]), ["/born"]);
    assert_eq!(paths(&movers["quiet"]), ["/gone", "/gone-too"]);
    let zero = json!({"human": 0, "ai": 0, "total": 0});
    assert_eq!(movers["new"][0]["previous"], zero);
    assert_eq!(movers["quiet"][0]["previous"], json!({"human": 25, "ai": 0, "total": 25}));
    assert_eq!(movers["quiet"][0]["total"], 0);
}

#[tokio::test]
async fn lists_have_ten_rows_and_ignore_the_current_day() {
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
    let viewer = app.sign_in("vera").await;
    let load = async |from: &str, to: &str| {
        viewer.post_json("/api/analytics/movers", &[("project", "docs"), ("from", from), ("to", to)]).await
    };
    assert_eq!(paths(&load("2026-11-19", "2026-11-19").await["risen"]), &names[..10]);
    // Yesterday's 40 against 30 two days earlier; today's single view does not count as a fall.
    let with_today = load("2026-11-20", "2026-11-21").await;
    assert_eq!((paths(&with_today["risen"]).len(), paths(&with_today["fallen"]).len()), (10, 0));
    assert_eq!(with_today["risen"][0]["compared"]["total"], 40);
}

#[tokio::test]
async fn missing_previous_period_gives_a_message_without_lists() {
    let app = TestApp::with(at(NOON)).await;
    let mut archive = Archive::of(&app).await;
    archive.write(day("2026-11-20"), rows(&[("/a", 100, 0)])).await;
    let today =
        Written { fetched_at: Some(NOON.parse().unwrap()), ..Written::new(day("2026-11-21"), rows(&[])) };
    archive.put("docs", today).await;
    let viewer = app.sign_in("vera").await;
    for (of, words) in [("2026-11-20", "Nov 19, 2026"), ("2026-11-21", "no complete day")] {
        let pairs = [("project", "docs"), ("from", of), ("to", of)];
        let message = viewer.post("/api/analytics/movers", &pairs).await.refused(409, "not_in_history");
        assert!(message.contains(words), "{message}");
    }
}
