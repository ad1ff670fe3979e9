//! Recent days are fetched until they are stable, final ones rarely.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use wiremock::ResponseTemplate;

use super::{HOUR, calls, keeping, later, of_day, requested, requested_days, rows, site, state, steps};
use crate::helpers::{TestApp, json, logged};

const DAY: u64 = 24 * HOUR;

#[tokio::test]
async fn current_day_is_fetched_hourly_then_twice_until_final() {
    let settings = keeping(2);
    settings.clock.advance(Duration::from_secs(12 * HOUR + 1_800));
    let app = TestApp::with(settings).await;
    app.upstream.on_views(site(|_, _| 3)).await;
    steps(&app).await;
    let mut seen = Vec::new();
    for half_hour in 1..=24 {
        app.upstream.reset().await;
        app.upstream.on_views(site(|_, _| 3)).await;
        later(&app, 1_800).await;
        let days = requested_days(&app, "docs").await;
        seen.extend(days.iter().filter(|day| *day == "2025-03-10").map(|_| half_hour));
    }
    assert_eq!(seen, [2, 3, 15], "23:30, midnight, and six hours after it");
    assert!(of_day::<Option<i64>>(&app, "final_at", "2025-03-10").await.is_some());
}

#[tokio::test]
async fn days_older_than_three_days_are_fetched_once() {
    let app = TestApp::with(keeping(10)).await;
    app.upstream.on_views(site(|_, _| 3)).await;
    steps(&app).await;
    assert_eq!(requested_days(&app, "docs").await.len(), 10);
    assert_eq!(state(&app).await["days_final"], 6);
    app.upstream.reset().await;
    app.upstream.on_views(site(|_, _| 3)).await;
    for _ in 0..24 {
        later(&app, HOUR / 4).await;
    }
    let again = requested_days(&app, "docs").await;
    assert!(again.iter().all(|day| day.as_str() > "2025-03-06"), "{again:?}");
    assert_eq!(again.iter().filter(|day| *day == "2025-03-09").count(), 1, "{again:?}");
    assert_eq!(state(&app).await["days_final"], 9);
}

#[tokio::test]
async fn clock_jump_ahead_does_not_refetch_final_days() {
    let app = TestApp::with(keeping(40)).await;
    app.upstream.on_views(site(|_, _| 3)).await;
    steps(&app).await;
    app.upstream.reset().await;
    app.upstream.on_views(site(|_, _| 3)).await;
    later(&app, 30 * DAY).await;
    let mut fetched = requested_days(&app, "docs").await;
    fetched.sort();
    fetched.retain(|day| day.as_str() < "2025-03-07");
    assert_eq!(fetched, ["2025-03-01"], "the weekly look at one old day");
    assert_eq!(state(&app).await["days_done"], 40);
}

#[tokio::test]
async fn old_day_is_refetched_weekly_and_marked_if_recounted() {
    let app = TestApp::with(keeping(30)).await;
    let pages = Arc::new(AtomicUsize::new(3));
    let now = pages.clone();
    // The upstream will recount the days before March.
    app.upstream
        .on_views(site(move |_, day| if day < "2025-03-01" { now.load(Ordering::SeqCst) } else { 3 }))
        .await;
    steps(&app).await;
    pages.store(5, Ordering::SeqCst);
    let old = async |app: &TestApp| {
        let mut days = requested_days(app, "docs").await;
        days.retain(|day| day.as_str() < "2025-03-01");
        days.split_off(20)
    };
    for _ in 0..6 {
        later(&app, DAY).await;
    }
    assert_eq!(old(&app).await, [""; 0], "not within a week");
    later(&app, DAY).await;
    assert_eq!(old(&app).await, ["2025-02-16"], "the oldest day within the refetch limit");
    assert_eq!(rows(&app, "docs").await["2025-02-16"].len(), 5);
    assert_eq!(state(&app).await["marked"], json!([{"day": "2025-02-16", "mark": "recounted"}]));
    assert!(!logged("the upstream changed the views of a final day").is_empty());
    later(&app, 6 * DAY).await;
    assert_eq!(old(&app).await.len(), 1);
    later(&app, DAY).await;
    assert_eq!(old(&app).await, ["2025-02-16", "2025-02-23"]);
}

#[tokio::test]
async fn day_removed_upstream_stays_stored() {
    let app = TestApp::with(keeping(30)).await;
    app.upstream.on_views(site(|_, _| 3)).await;
    steps(&app).await;
    app.upstream.reset().await;
    app.upstream.on_views(site(|_, day| if day < "2025-03-01" { 0 } else { 3 })).await;
    later(&app, 7 * DAY).await;
    assert!(requested_days(&app, "docs").await.contains(&"2025-02-16".to_owned()));
    assert_eq!(rows(&app, "docs").await["2025-02-16"].len(), 3);
    assert_eq!(of_day::<i64>(&app, "total", "2025-02-16").await, 9);
    assert_eq!(state(&app).await["marked"], json!([]));
}

#[tokio::test]
async fn day_with_inconsistent_totals_is_marked_and_shown() {
    let app = TestApp::with(keeping(10)).await;
    let uneven = |request: &wiremock::Request| {
        let more = if requested(request).day == "2025-03-05" { 1 } else { 0 };
        ResponseTemplate::new(200).set_body_json(json!({
            "totals": {"human": 5, "ai": 2 + more, "total": 7 + more},
            "views": [{"path": "/", "human": 5, "ai": 2, "total": 7}],
            "hasMore": false,
        }))
    };
    app.upstream.on_views(uneven).await;
    steps(&app).await;
    assert_eq!(state(&app).await["marked"], json!([{"day": "2025-03-05", "mark": "uneven"}]));
    assert_eq!(rows(&app, "docs").await["2025-03-05"]["/"], [5, 2, 7]);
    assert_eq!(of_day::<i64>(&app, "total", "2025-03-05").await, 8, "as the upstream gave it");
    later(&app, DAY).await;
    later(&app, DAY).await;
    let fetched = calls(&app, "docs").await;
    assert_eq!(fetched.iter().filter(|call| call.day == "2025-03-05").count(), 2, "once more, to be sure");
}

#[tokio::test]
async fn empty_responses_of_one_night_do_not_erase_yesterday() {
    let app = TestApp::with(keeping(2)).await;
    app.upstream.on_views(site(|_, _| 3)).await;
    steps(&app).await;
    app.upstream.reset().await;
    app.upstream.on_views(site(|_, _| 0)).await;
    for _ in 0..8 {
        later(&app, 6 * HOUR).await;
    }
    assert_eq!(of_day::<i64>(&app, "total", "2025-03-10").await, 9);
    assert_eq!(of_day::<Option<String>>(&app, "mark", "2025-03-10").await.as_deref(), Some("empty"));
    assert_eq!(rows(&app, "docs").await["2025-03-10"].len(), 3);
    let viewer = app.sign_in("vera").await;
    let page = viewer.get("/p/docs/analytics?from=2025-03-10&to=2025-03-10").await.text;
    assert!(page.contains("the platform returned no views at the last fetch"), "{page}");
}

#[tokio::test]
async fn stored_days_are_fetched_again_on_request() {
    let app = TestApp::with(keeping(10)).await;
    app.upstream.on_views(site(|_, _| 0)).await;
    for _ in 0..4 {
        later(&app, 24 * HOUR).await;
    }
    let days = [("project", "docs"), ("from", "2025-03-05"), ("to", "2025-03-06")];
    assert!(of_day::<Option<i64>>(&app, "final_at", "2025-03-05").await.is_some());
    let operator = app.operator().await;
    let stored = async || operator.post_json("/api/history/stored", &days).await;
    assert_eq!(stored().await, json!({"days": 2, "calls": 2, "requested": 0}));
    app.upstream.reset().await;
    app.upstream.on_views(site(|_, _| 3)).await;
    let link = "again=1\">Fetch these days again";
    let page = operator.get("/p/docs/analytics?from=2025-03-05&to=2025-03-06&path=%2Fx").await.text;
    assert!(page.contains(link) && !page.contains("Fetch 2 days again"), "{page}");
    let page = operator.get("/p/docs/analytics?from=2025-03-05&to=2025-03-06&path=%2Fx&again=1").await.text;
    assert!(page.contains("Fetch 2 days again (2 calls)"), "{page}");
    let reader = app.sign_in("vera").await;
    let page = reader.get("/p/docs/analytics?from=2025-03-05&to=2025-03-06&path=%2Fx&again=1").await.text;
    assert!(!page.contains("Fetch 2 days again") && !page.contains(link), "a viewer spends no calls");
    let again: Vec<(&str, &str)> = days.into_iter().chain([("again", "true")]).collect();
    reader.post("/api/history/fetch", &again).await.refused(403, "forbidden");
    operator.post_json("/api/history/fetch", &again).await;
    assert_eq!(stored().await["requested"], 2);
    steps(&app).await;
    let mut fetched = requested_days(&app, "docs").await;
    fetched.sort();
    assert_eq!(fetched[..2], ["2025-03-05", "2025-03-06"]);
    assert_eq!(of_day::<i64>(&app, "total", "2025-03-05").await, 9);
    assert_eq!(of_day::<Option<String>>(&app, "mark", "2025-03-05").await.as_deref(), Some("recounted"));
    assert_eq!(stored().await["requested"], 0);
    operator.post_json("/api/history/fetch", &days).await;
    assert_eq!(stored().await["requested"], 0, "without `again`, only missing days are requested");
}
