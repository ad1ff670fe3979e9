//! Failures lose no data and delay no other project, and the budget reserve for users is respected.

use std::time::Duration;

use base::settings::Settings as LiveSettings;
use clients::upstream::governor::Scope;
use model::day::{Day, DayRange};
use model::page_views::{PageViews, ViewCounts};
use service::history::{History, Step, Wanted};
use store::page_views::history::{DayDecision, EmptyFetches, FetchedDay, FetchedPage, NewFetch};
use store::{Store, StoreError};
use tokio_util::sync::CancellationToken;
use wiremock::{Request, ResponseTemplate};

use super::{HOUR, calls, keeping, later, requested, requested_days, rows, site, state, steps};
use crate::helpers::work::work;
use crate::helpers::{TestApp, json, until};

#[tokio::test]
async fn history_uses_the_budget_except_the_reserve() {
    let mut settings = keeping(90);
    (settings.budget.analytics_per_hour, settings.budget.analytics_reserve) = (10, 4);
    let app = TestApp::with(settings).await;
    app.upstream.on_views(site(|_, _| 1)).await;
    assert_eq!(steps(&app).await, 6);
    let viewer = app.sign_in("vera").await;
    let fetch = async |offset: &str| {
        let pairs = [
            ("project", "docs"),
            ("from", "2025-01-01"),
            ("to", "2025-01-01"),
            ("limit", "250"),
            ("offset", offset),
        ];
        viewer.post("/api/analytics/views", &pairs).await.status
    };
    for offset in ["0", "1", "2", "3"] {
        assert_eq!(fetch(offset).await, 200);
    }
    assert_eq!(fetch("4").await, 429);
    assert_eq!(later(&app, HOUR - 1).await, 0);
    assert_eq!(later(&app, 1).await, 6);
    // Eight calls by users leave none for the history.
    app.clock().advance(Duration::from_secs(HOUR));
    for offset in ["10", "11", "12", "13", "14", "15", "16", "17"] {
        assert_eq!(fetch(offset).await, 200);
    }
    assert_eq!(steps(&app).await, 0);
}

#[tokio::test]
async fn history_retry_does_not_use_the_reserve() {
    let mut settings = keeping(90);
    (settings.budget.analytics_per_hour, settings.budget.analytics_reserve) = (10, 9);
    let app = TestApp::with(settings).await;
    app.upstream.on_views(ResponseTemplate::new(503)).await;
    assert_eq!(app.state().history.step().await.unwrap(), Step::Failed);
    assert_eq!(app.upstream.requests().await.len(), 1);
    assert_eq!(app.state().governor.meter(&Scope::Analytics).await.unwrap().used, 1);
}

#[tokio::test]
async fn full_reserve_stops_the_history_with_a_reason() {
    let mut settings = keeping(90);
    settings.budget.analytics_reserve = settings.budget.analytics_per_hour;
    let app = TestApp::with(settings).await;
    assert_eq!(app.state().history.step().await.unwrap(), Step::Wait(None));
    let state = state(&app).await;
    assert_eq!((&state["calls_left"], &state["expected_end"]), (&json!(0), &json!(null)));
    assert!(state["waiting"].as_str().unwrap().contains("DOCKET_ANALYTICS_RESERVE"));
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn response_429_stops_calls_until_its_pause_ends() {
    let app = TestApp::with(keeping(2)).await;
    let busy = ResponseTemplate::new(429).insert_header("retry-after", "600");
    app.upstream.on_views(busy).await;
    steps(&app).await;
    assert_eq!(app.upstream.requests().await.len(), 1);
    let waiting = state(&app).await["waiting"].clone();
    assert_eq!(waiting, "The platform asked Docket to wait. The next try is at 10:10 UTC.");
    app.upstream.reset().await;
    app.upstream.on_views(site(|_, _| 1)).await;
    assert_eq!(later(&app, 599).await, 0);
    assert_eq!(later(&app, 1).await, 4);
    assert_eq!(state(&app).await["waiting"], json!(null));
}

#[tokio::test]
async fn failing_project_is_paused_without_delaying_others() {
    let app = TestApp::with(keeping(5)).await;
    let no_docs = |request: &Request| match requested(request).project.as_str() {
        "docs" => ResponseTemplate::new(404).set_body_json(json!({"error": "no such project"})),
        _ => site(|_, _| 1)(request),
    };
    app.upstream.on_views(no_docs).await;
    steps(&app).await;
    assert_eq!(calls(&app, "docs").await.len(), 1);
    assert_eq!(rows(&app, "api").await.len(), 5);
    let state_now = state(&app).await;
    assert_eq!(state_now["waiting"], "The platform refused the request. The next try is at 10:00 UTC.");
    for seconds in [29, 1, 59, 1] {
        later(&app, seconds).await;
    }
    assert_eq!(calls(&app, "docs").await.len(), 3, "after half a minute, then a minute");
    app.upstream.reset().await;
    app.upstream.on_views(site(|_, _| 1)).await;
    later(&app, HOUR).await;
    assert_eq!(state(&app).await["days_done"], 5);
}

#[tokio::test]
async fn failing_day_is_retried_after_the_others() {
    let app = TestApp::with(keeping(5)).await;
    let broken = |request: &Request| match requested(request) {
        requested if requested.project == "docs" && requested.day == "2025-03-09" && requested.offset > 0 => {
            ResponseTemplate::new(200).set_body_string("{")
        }
        requested if requested.day == "2025-03-09" => site(|_, _| 300)(request),
        _ => site(|_, _| 1)(request),
    };
    app.upstream.on_views(broken).await;
    steps(&app).await;
    for _ in 0..4 {
        later(&app, 300).await;
    }
    let done: Vec<String> = rows(&app, "docs").await.into_keys().collect();
    assert_eq!(done, ["2025-03-06", "2025-03-07", "2025-03-08", "2025-03-10"]);
    app.upstream.reset().await;
    app.upstream.on_views(site(|_, _| 300)).await;
    later(&app, HOUR).await;
    assert_eq!(rows(&app, "docs").await["2025-03-09"].len(), 300);
}

#[tokio::test]
async fn background_task_fills_the_history_and_stops_on_shutdown() {
    let app = TestApp::with(keeping(3)).await;
    app.upstream.on_views(site(|_, _| 1)).await;
    let stop = CancellationToken::new();
    let (history, until_then) = (app.state().history.clone(), stop.clone());
    let task = tokio::spawn(async move { history.run(until_then).await });
    until("both projects are here", async || {
        let done = rows(&app, "docs").await.len() == 3 && rows(&app, "api").await.len() == 3;
        done.then_some(())
    })
    .await;
    // It sleeps now; a request for days wakes it.
    let wish = [("project", "docs"), ("from", "2024-01-01"), ("to", "2024-01-02")];
    assert_eq!(app.operator().await.post("/api/history/fetch", &wish).await.status, 200);
    until("the wish is granted", async || (rows(&app, "docs").await.len() == 5).then_some(())).await;
    stop.cancel();
    task.await.unwrap();
    assert_eq!(requested_days(&app, "docs").await.len(), 5, "no day was fetched twice");
}

#[tokio::test]
async fn one_of_two_processes_syncs_until_it_ends() {
    let app = TestApp::with(keeping(3)).await;
    app.upstream.on_views(site(|_, _| 1)).await;
    let docs = app.state().projects()[0].id.clone();
    let here = async |days: usize| {
        until("the days are here", async || (rows(&app, "docs").await.len() == days).then_some(())).await;
    };
    let begin = |history: History| {
        let stop = CancellationToken::new();
        let until_then = stop.clone();
        (stop, tokio::spawn(async move { history.run(until_then).await }))
    };
    let (stop, first) = begin(app.state().history.clone());
    here(3).await;
    let other = app.idle_state(app.clock().clone(), Duration::from_secs(3)).await.history.clone();
    let (stop_other, second) = begin(other.clone());
    let days = |from: &str, to: &str| DayRange::parse(from, to).unwrap();
    // The other process wakes up, but does not have the lease.
    other
        .request_days((&work()).into(), &docs, days("2024-01-01", "2024-01-02"), Wanted::Missing)
        .await
        .unwrap();
    app.state()
        .history
        .request_days((&work()).into(), &docs, days("2024-01-03", "2024-01-04"), Wanted::Missing)
        .await
        .unwrap();
    here(7).await;
    stop.cancel();
    first.await.unwrap();
    other
        .request_days((&work()).into(), &docs, days("2024-01-05", "2024-01-05"), Wanted::Missing)
        .await
        .unwrap();
    here(8).await;
    stop_other.cancel();
    second.await.unwrap();
    assert_eq!(requested_days(&app, "docs").await.len(), 8, "no day was fetched twice");
}

/// One process has not read yet that there is another project.
#[tokio::test]
async fn process_with_nothing_to_fetch_leaves_other_projects_to_another() {
    let app = TestApp::with(keeping(3)).await;
    app.upstream.on_views(site(|_, _| 1)).await;
    let other = app.idle_state(app.clock().clone(), Duration::from_secs(3)).await;
    let state = app.state();
    let all = state.settings();
    let projects = all.projects.iter().filter(|project| project.id.as_str() == "api").cloned().collect();
    state.settings.replace(LiveSettings { projects, ..(*all).clone() }, app.clock().now());
    let (stop, mut running) = (CancellationToken::new(), Vec::new());
    for (history, project) in [(state.history.clone(), "api"), (other.history.clone(), "docs")] {
        let until_then = stop.clone();
        running.push(tokio::spawn(async move { history.run(until_then).await }));
        until("the days are here", async || (rows(&app, project).await.len() == 3).then_some(())).await;
    }
    stop.cancel();
    for task in running {
        task.await.unwrap();
    }
}

#[tokio::test]
async fn lease_of_a_dead_process_expires() {
    let app = TestApp::with(keeping(3)).await;
    let (a, b, now) = (&app.open_store().await, &app.open_store().await, app.clock().now());
    let lease = Duration::from_secs(120);
    let holds = async |store: &Store, at: i64| {
        store.acquire_history_lease(&work(), now.plus_seconds(at), lease).await.unwrap()
    };
    assert!(holds(a, 0).await && !holds(b, 0).await);
    assert!(holds(a, 100).await && !holds(b, 219).await);
    assert!(holds(b, 220).await && !holds(a, 220).await);
    a.release_history_lease(&work()).await.unwrap();
    assert!(!holds(a, 220).await);
    b.release_history_lease(&work()).await.unwrap();
    assert!(holds(a, 220).await);
    // No lease acquired at that time can last until 340.
    assert!(holds(b, 100).await);
}

#[tokio::test]
async fn process_without_the_lease_writes_nothing() {
    let app = TestApp::with(keeping(3)).await;
    let (stopped, other, now) = (app.open_store().await, app.open_store().await, app.clock().now());
    let (docs, day) = (&app.state().projects()[0].id, Day::of(now));
    let page = |views: u64| FetchedPage {
        totals: ViewCounts { human: views, ai: 0, total: views },
        views: vec![PageViews { path: "/".to_owned(), human: views, ai: 0, total: views }],
        has_more: false,
        corrected: false,
    };
    let replaces = |_: Option<&FetchedDay>, _: &NewFetch| DayDecision::Replace {
        equal_fetches: 1,
        final_at: None,
        mark: None,
        empty: EmptyFetches::default(),
    };
    let lease = Duration::from_secs(120);
    assert!(stopped.acquire_history_lease(&work(), now, lease).await.unwrap());
    stopped.store_page(&work(), docs, day, 0, &page(1), now).await.unwrap();

    let later = now.plus_seconds(121);
    assert!(other.acquire_history_lease(&work(), later, lease).await.unwrap());
    other.store_page(&work(), docs, day, 0, &page(2), later).await.unwrap();
    other.release_history_lease(&work()).await.unwrap();
    for refused in [
        stopped.store_page(&work(), docs, day, 0, &page(1), now).await,
        stopped.write_day(&work(), docs, day, replaces).await.map(drop),
        stopped.drop_partial_day(&work(), docs).await,
    ] {
        assert!(matches!(refused, Err(StoreError::Overtaken)), "{refused:?}");
    }
    let written = other.write_day(&work(), docs, day, replaces).await.unwrap().after.unwrap();
    assert_eq!(written.totals.human, 2);
}

#[tokio::test]
async fn two_failing_requested_days_do_not_stop_the_others() {
    let mut settings = keeping(5);
    settings.budget.analytics_per_hour = 10_000;
    let app = TestApp::with(settings).await;
    let bad = ["2025-01-01", "2025-01-02"];
    app.upstream
        .on_views(move |request: &Request| match requested(request).day.as_str() {
            day if bad.contains(&day) => ResponseTemplate::new(500),
            _ => site(|_, _| 1)(request),
        })
        .await;
    let wish = [("project", "docs"), ("from", "2025-01-01"), ("to", "2025-01-02")];
    let operator = app.operator().await;
    operator.post_json("/api/history/fetch", &wish).await;
    for _ in 0..30 {
        later(&app, 60).await;
    }
    assert_eq!(rows(&app, "docs").await.len(), 5, "the others were fetched");
    for _ in 0..24 {
        later(&app, HOUR / 4).await;
    }
    let requested = requested_days(&app, "docs").await;
    let attempts = |day: &str| requested.iter().filter(|requested| requested.as_str() == day).count();
    assert_eq!(bad.map(attempts), [5, 5], "a request ends");
    assert!(attempts("2025-03-10") >= 5, "today is fetched every hour: {requested:?}");
    let failing = &state(&app).await["failing"];
    let failing_on = |day: &str| json!({"day": day, "attempts": 5, "cause": "failed", "next_try_at": null});
    assert_eq!(*failing, json!([failing_on("2025-01-02"), failing_on("2025-01-01")]));
    app.upstream.reset().await;
    let nothing = json!({"totals": {"human": 0, "ai": 0, "total": 0}, "views": [], "hasMore": false});
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(nothing)).await;
    let page = operator.get("/p/docs/analytics?from=2025-01-01&to=2025-01-02").await.text;
    assert!(page.contains("The platform failed (5 attempts)"), "{page}");
    // Requested again, they are fetched at once.
    app.upstream.reset().await;
    app.upstream.on_views(site(|_, _| 1)).await;
    operator.post_json("/api/history/fetch", &wish).await;
    steps(&app).await;
    assert_eq!(rows(&app, "docs").await.len(), 7);
    assert_eq!(state(&app).await["failing"], json!([]));
}

#[tokio::test]
async fn day_that_cannot_be_stored_stops_no_other() {
    let app = TestApp::with(keeping(3)).await;
    app.upstream
        .on_views(|request: &Request| match requested(request) {
            requested if requested.project == "docs" && requested.day == "2025-03-09" => {
                site(|_, _| 7)(request)
            }
            _ => site(|_, _| 1)(request),
        })
        .await;
    app.ledger().refuse("INSERT ON page_views", "NEW.project = 'docs' AND NEW.day = '2025-03-09'").await;
    steps(&app).await;
    assert_eq!(rows(&app, "api").await.len(), 3);
    let done: Vec<String> = rows(&app, "docs").await.into_keys().collect();
    assert_eq!(done, ["2025-03-08", "2025-03-10"]);
    assert_eq!(calls(&app, "docs").await.len(), 3, "not again before an hour has passed");
    insta::assert_compact_json_snapshot!(state(&app).await["failing"], @r#"[{"attempts": 1, "cause": "not_stored", "day": "2025-03-09", "next_try_at": "2025-03-10T11:00:00Z"}]"#);
}

#[tokio::test]
async fn refused_requested_day_does_not_stop_the_others() {
    let app = TestApp::with(keeping(5)).await;
    app.upstream
        .on_views(|request: &Request| match requested(request).day.as_str() {
            "2025-01-01" => ResponseTemplate::new(404).set_body_json(json!({"error": "before your plan"})),
            _ => site(|_, _| 1)(request),
        })
        .await;
    let wish = [("project", "docs"), ("from", "2025-01-01"), ("to", "2025-01-01")];
    app.operator().await.post_json("/api/history/fetch", &wish).await;
    for _ in 0..30 {
        later(&app, HOUR / 4).await;
    }
    assert_eq!(rows(&app, "docs").await.len(), 5);
    let requested = requested_days(&app, "docs").await;
    assert_eq!(requested.iter().filter(|day| *day == "2025-01-01").count(), 5, "the request ends");
    assert_eq!(state(&app).await["failing"][0]["next_try_at"], json!(null));
}

#[tokio::test]
async fn request_for_a_large_day_that_cannot_be_stored_ends() {
    let mut settings = keeping(1);
    settings.budget.analytics_per_hour = 10_000;
    let app = TestApp::with(settings).await;
    app.upstream.on_views(site(|_, day| if day == "2025-01-01" { 600 } else { 1 })).await;
    app.ledger().refuse("INSERT ON page_views", "NEW.project = 'docs' AND NEW.day = '2025-01-01'").await;
    let wish = [("project", "docs"), ("from", "2025-01-01"), ("to", "2025-01-01")];
    app.operator().await.post_json("/api/history/fetch", &wish).await;
    for _ in 0..8 {
        later(&app, HOUR).await;
    }
    let failing = state(&app).await["failing"].clone();
    assert_eq!((&failing[0]["attempts"], &failing[0]["next_try_at"]), (&json!(5), &json!(null)), "{failing}");
}
