//! Days are complete, fetched newest first, and equal to the upstream's. No page is fetched twice.

use std::collections::BTreeMap;
use std::time::Duration;

use base::clock::Clock;
use clients::upstream::governor::Scope;
use model::day::Day;
use service::history::Step;

use super::{HOUR, Rows, calls, keeping, later, of_day, requested_days, rows, site, state, steps};
use crate::helpers::{EmulatedUpstream, TestApp, json};

/// The pages of a site for which most days take three calls.
const PAGES: u32 = 700;

/// The upstream at a given time, with an unlimited budget.
async fn truth_at(instant: &str) -> EmulatedUpstream {
    EmulatedUpstream::with(Clock::frozen(instant.parse().unwrap()), PAGES, usize::MAX).await
}

/// Every row of a day.
async fn truth(emulator: &EmulatedUpstream, project: &str, day: Day) -> BTreeMap<String, [i64; 3]> {
    let mut rows = BTreeMap::new();
    for offset in (0..).step_by(250) {
        let query = format!("dateFrom={day}&dateTo={}&limit=250&offset={offset}", day.plus_days(1));
        let response = emulator.views(project, &query).await;
        for row in response["views"].as_array().unwrap() {
            let counts = ["human", "ai", "total"].map(|count| row[count].as_i64().unwrap());
            assert!(rows.insert(row["path"].as_str().unwrap().to_owned(), counts).is_none());
        }
        if response["hasMore"] == false {
            break;
        }
    }
    rows
}

#[tokio::test]
async fn sixty_days_match_the_upstream_despite_restarts_and_faults() {
    let mut settings = keeping(60);
    let emulator = EmulatedUpstream::with(settings.clock.clone(), PAGES, 100).await;
    settings.upstream_url = Some(emulator.url());
    settings.breaks_after = 3;
    (settings.budget.analytics_per_hour, settings.budget.analytics_reserve) = (100, 30);
    let mut app = TestApp::with(settings).await;
    let mut condition = BTreeMap::from([
        (5, (1, json!({"kind": "too-many", "retry-after": "90"}))),
        (17, (3, json!({"kind": "status", "code": 503}))),
        (40, (1, json!({"kind": "cut"}))),
        (41, (3, json!({"kind": "drop"}))),
        (80, (1, json!({"kind": "garbage"}))),
        (110, (1, json!({"kind": "wrong-types"}))),
        (111, (1, json!({"kind": "status", "code": 404}))),
        (150, (1, json!({"kind": "too-many", "retry-after": "tomorrow"}))),
        (200, (1, json!({"kind": "accept-then-drop"}))),
    ]);
    for made in 0.. {
        if let Some((times, fault)) = condition.remove(&made) {
            emulator.fail_next(&json!(times), &fault).await;
        }
        match made {
            31 | 100 => app.restart().await,
            62 => {
                app.crash();
                app.begin().await;
            }
            _ => {}
        }
        let step = app.state().history.step().await.unwrap();
        let meter = app.state().governor.meter(&Scope::Analytics).await.unwrap();
        assert!(meter.used <= 70, "the reserve of people was touched: {meter:?}");
        match step {
            Step::Wait(None) => break,
            Step::Wait(Some(until)) => {
                let wait = until.seconds_since(app.clock().now()) as u64 + 1;
                assert!(wait <= HOUR + 1, "a wait without end");
                app.clock().advance(Duration::from_secs(wait));
            }
            Step::Failed => app.clock().advance(Duration::from_secs(7)),
            Step::FetchedPage | Step::Wrote(_) => {}
        }
        assert!(made < 5_000);
    }
    assert!(condition.is_empty(), "there was no time for all faults");
    let today = Day::of(app.clock().now());
    let tomorrow = truth_at("2025-03-11T00:00:00Z").await;
    for project in ["docs", "api"] {
        let rows = rows(&app, project).await;
        assert_eq!(rows.len(), 60);
        for ago in 1..60 {
            let day = today.plus_days(-ago);
            assert_eq!(rows[&day.to_string()], truth(&tomorrow, project, day).await, "{project} {day}");
        }
    }
    let fetched_at: i64 = of_day(&app, "fetched_at", &today.to_string()).await;
    let fetched_at = model::time::Timestamp::from_millis(fetched_at).to_string();
    let then = truth_at(&fetched_at).await;
    assert_eq!(rows(&app, "docs").await[&today.to_string()], truth(&then, "docs", today).await);
    let state = state(&app).await;
    assert_eq!((&state["days_done"], &state["days_final"]), (&json!(60), &json!(56)));
    assert_eq!((&state["marked"], &state["expected_end"]), (&json!([]), &json!(null)));
}

#[tokio::test]
async fn restart_during_a_day_fetches_no_page_twice() {
    let mut app = TestApp::with(keeping(1)).await;
    app.upstream.on_views(site(|project, _| if project == "docs" { 1_000 } else { 0 })).await;
    for page in 0..4 {
        while calls(&app, "docs").await.len() == page {
            app.state().history.step().await.unwrap();
        }
        if page < 3 {
            assert!(rows(&app, "docs").await.is_empty(), "a part of a day is no day");
        }
        match page {
            1 => app.restart().await,
            _ => {
                app.crash();
                app.begin().await;
            }
        }
    }
    steps(&app).await;
    let offsets: Vec<usize> = calls(&app, "docs").await.iter().map(|call| call.offset).collect();
    assert_eq!(offsets, [0, 250, 500, 750]);
    assert_eq!(rows(&app, "docs").await["2025-03-10"].len(), 1_000);
}

#[tokio::test]
async fn partial_day_restarts_after_a_long_pause() {
    let app = TestApp::with(keeping(1)).await;
    app.upstream.on_views(site(|project, _| if project == "docs" { 600 } else { 0 })).await;
    while calls(&app, "docs").await.len() < 2 {
        app.state().history.step().await.unwrap();
    }
    later(&app, 3 * HOUR).await;
    let offsets: Vec<usize> = calls(&app, "docs").await.iter().map(|call| call.offset).collect();
    assert_eq!(offsets, [0, 250, 0, 250, 500]);
    assert_eq!(rows(&app, "docs").await["2025-03-10"].len(), 600);
}

#[tokio::test]
async fn day_takes_one_call_per_250_rows() {
    for (pages, expected) in [(0, 1), (1, 1), (250, 1), (251, 2), (20_000, 80)] {
        let mut settings = keeping(1);
        (settings.budget.analytics_per_hour, settings.budget.analytics_reserve) = (100, 30);
        let app = TestApp::with(settings).await;
        app.upstream.on_views(site(move |project, _| if project == "docs" { pages } else { 0 })).await;
        let mut made = steps(&app).await;
        if expected > 70 {
            assert_eq!(made, 70, "the reserve is for people");
            assert!(state(&app).await["waiting"].as_str().unwrap().contains("11:00 UTC"));
            made += later(&app, HOUR).await;
        }
        let offsets: Vec<usize> = calls(&app, "docs").await.iter().map(|call| call.offset).collect();
        let due: Vec<usize> = (0..expected).map(|page| page * 250).collect();
        assert_eq!(offsets, due, "{pages} pages");
        assert!(made >= expected);
        let rows: Rows = rows(&app, "docs").await;
        assert_eq!(rows.get("2025-03-10").map_or(0, BTreeMap::len), pages);
        assert_eq!(of_day::<i64>(&app, "pages", "2025-03-10").await, pages as i64);
        assert_eq!(of_day::<i64>(&app, "total", "2025-03-10").await, 3 * pages as i64);
        assert_eq!(of_day::<Option<String>>(&app, "mark", "2025-03-10").await, None);
    }
}

#[tokio::test]
async fn days_are_fetched_newest_first_alternating_between_projects() {
    let mut settings = keeping(90);
    (settings.budget.analytics_per_hour, settings.budget.analytics_reserve) = (40, 16);
    let app = TestApp::with(settings).await;
    app.upstream.on_views(site(|project, _| if project == "docs" { 900 } else { 10 })).await;
    assert_eq!(steps(&app).await, 24);
    assert_eq!(calls(&app, "docs").await.len(), 12);
    let newest_first: Vec<String> =
        (0..12).map(|ago| "2025-03-10".parse::<Day>().unwrap().plus_days(-ago).to_string()).collect();
    assert_eq!(requested_days(&app, "api").await, newest_first);
    assert_eq!(rows(&app, "docs").await.into_keys().rev().collect::<Vec<_>>(), newest_first[..3]);
}

#[tokio::test]
async fn smaller_window_keeps_days_that_are_already_stored() {
    let mut app = TestApp::with(keeping(3)).await;
    app.upstream.on_views(site(|_, _| 1)).await;
    steps(&app).await;
    assert_eq!(requested_days(&app, "docs").await, ["2025-03-10", "2025-03-09", "2025-03-08"]);
    app.restart_with(|settings| settings.budget.history_days = 5).await;
    app.upstream.reset().await;
    app.upstream.on_views(site(|_, _| 1)).await;
    steps(&app).await;
    assert_eq!(requested_days(&app, "docs").await, ["2025-03-07", "2025-03-06"]);
    app.restart_with(|settings| settings.budget.history_days = 1).await;
    steps(&app).await;
    assert_eq!(rows(&app, "docs").await.len(), 5);
}

#[tokio::test]
async fn days_before_the_window_are_fetched_once_and_last() {
    let mut settings = keeping(2);
    settings.budget.history_before = 2;
    let app = TestApp::with(settings).await;
    app.upstream.on_views(site(|_, _| 1)).await;
    steps(&app).await;
    assert_eq!(requested_days(&app, "docs").await, ["2025-03-10", "2025-03-09", "2025-03-08", "2025-03-07"]);
    assert_eq!(state(&app).await["days_wanted"], 2);
    later(&app, 7 * HOUR).await;
    let fetched = requested_days(&app, "docs").await;
    assert!(fetched.len() > 4 && fetched[4..].iter().all(|day| day.as_str() >= "2025-03-09"), "{fetched:?}");
}

#[tokio::test]
async fn midnight_during_a_fetch_does_not_change_its_day() {
    let settings = keeping(1);
    settings.clock.advance(Duration::from_secs(14 * HOUR - 1));
    let app = TestApp::with(settings).await;
    app.upstream.on_views(site(|project, _| if project == "docs" { 600 } else { 0 })).await;
    while calls(&app, "docs").await.is_empty() {
        app.state().history.step().await.unwrap();
    }
    later(&app, 2).await;
    let requests = calls(&app, "docs").await;
    assert!(requests[..3].iter().all(|call| call.day == "2025-03-10"), "{requests:?}");
    assert!(requests[3..].iter().all(|call| call.day == "2025-03-11"), "{requests:?}");
    assert_eq!(rows(&app, "docs").await["2025-03-10"].len(), 600);
    assert_eq!(
        of_day::<i64>(&app, "equal_fetches", "2025-03-10").await,
        0,
        "only part of the day was fetched"
    );
}

#[tokio::test]
async fn response_after_midnight_counts_from_its_request_time() {
    let settings = keeping(1);
    let clock = settings.clock.clone();
    clock.advance(Duration::from_secs(14 * HOUR - 1));
    let app = TestApp::with(settings).await;
    let response = site(|_, _| 1);
    let slow = move |request: &wiremock::Request| {
        clock.advance(Duration::from_secs(2));
        response(request)
    };
    app.upstream.on_views(slow).await;
    let monday: Day = "2025-03-10".parse().unwrap();
    assert_eq!(app.state().history.step().await.unwrap(), Step::Wrote(monday));
    assert_eq!(
        of_day::<i64>(&app, "equal_fetches", "2025-03-10").await,
        0,
        "the last second may be missing in it"
    );
}
