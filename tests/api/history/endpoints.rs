//! The state of the history as users see it, and their requests for days.

use super::{HOUR, keeping, later, requested_days, rows, site, state, steps};
use crate::helpers::{TestApp, json};

fn range<'a>(from: &'a str, to: &'a str) -> [(&'a str, &'a str); 3] {
    [("project", "docs"), ("from", from), ("to", to)]
}

#[tokio::test]
async fn history_state_has_progress_and_an_estimate() {
    let mut settings = keeping(30);
    (settings.budget.analytics_per_hour, settings.budget.analytics_reserve) = (26, 6);
    let app = TestApp::with(settings).await;
    app.upstream.on_views(site(|_, _| 300)).await;
    // No day is fetched yet, so each day of either project counts as one call.
    insta::assert_json_snapshot!(state(&app).await);
    assert_eq!(steps(&app).await, 20);
    // 25 days of two calls for each project, 20 calls an hour from eleven on.
    insta::assert_json_snapshot!(state(&app).await);
    for _ in 0..12 {
        later(&app, HOUR).await;
    }
    let done = state(&app).await;
    assert_eq!((&done["days_done"], &done["expected_end"]), (&json!(30), &json!(null)));
}

#[tokio::test]
async fn missing_days_of_a_range_have_a_cost_in_calls() {
    let app = TestApp::with(keeping(5)).await;
    let viewer = app.sign_in("vera").await;
    let missing =
        async |from: &str, to: &str| viewer.post_json("/api/history/missing", &range(from, to)).await;
    assert_eq!(
        missing("2025-03-01", "2025-03-10").await,
        json!({"days": 10, "calls": 10, "requested": 0, "scheduled": 5})
    );
    app.upstream.on_views(site(|_, _| 600)).await;
    steps(&app).await;
    let none = json!({"days": 0, "calls": 0, "requested": 0, "scheduled": 0});
    let five = json!({"days": 5, "calls": 15, "requested": 0, "scheduled": 0});
    assert_eq!(missing("2025-03-06", "2025-03-10").await, none);
    assert_eq!(missing("2025-03-01", "2025-03-10").await, five);
    assert_eq!(missing("2025-03-01", "2025-03-20").await, five, "not the future");
    assert_eq!(missing("2026-03-01", "2026-03-20").await, none);
    assert_eq!(missing("2022-03-07", "2025-03-10").await["days"], 1_095);
    let state =
        app.operator().await.post_json("/api/history/fetch", &range("2025-03-01", "2025-03-10")).await;
    assert_eq!(
        missing("2025-02-27", "2025-03-10").await,
        json!({"days": 7, "calls": 21, "requested": 5, "scheduled": 0}),
        "what was requested is on its way"
    );
    assert_eq!(state["expected_end"], "2025-03-10T10:00:07Z", "15 calls of half a second");
}

#[tokio::test]
async fn requested_days_are_fetched_newest_first_and_alternate_with_due_ones() {
    let app = TestApp::with(keeping(4)).await;
    app.upstream.on_views(site(|_, _| 1)).await;
    let operator = app.operator().await;
    let state = operator.post_json("/api/history/fetch", &range("2024-12-30", "2025-01-02")).await;
    assert_eq!((&state["days_done"], &state["days_wanted"]), (&json!(0), &json!(4)));
    operator.post_json("/api/history/fetch", &range("2025-03-07", "2025-03-08")).await;
    operator.post_json("/api/history/fetch", &range("2024-12-30", "2025-01-02")).await;
    steps(&app).await;
    let expected = [
        "2025-03-08",
        "2025-03-10",
        "2025-03-07",
        "2025-03-09",
        "2025-01-02",
        "2025-01-01",
        "2024-12-31",
        "2024-12-30",
    ];
    assert_eq!(requested_days(&app, "docs").await, expected);
    assert_eq!(rows(&app, "docs").await.len(), 8);
    let state = operator.post_json("/api/history/fetch", &range("2024-12-30", "2025-03-20")).await;
    assert_eq!((&state["first"], &state["last"]), (&json!("2024-12-30"), &json!("2025-03-10")));
}

#[tokio::test]
async fn fetch_requires_an_operator_and_a_valid_range() {
    let app = TestApp::with(keeping(4)).await;
    app.upstream.on_views(site(|_, _| 1)).await;
    let (viewer, operator) = (app.sign_in("vera").await, app.operator().await);
    viewer.post("/api/history/fetch", &range("2025-03-01", "2025-03-02")).await.refused(403, "forbidden");
    app.anonymous()
        .post("/api/history/fetch", &range("2025-03-01", "2025-03-02"))
        .await
        .refused(401, "unauthenticated");
    app.anonymous().post("/api/history/state", &[("project", "docs")]).await.refused(401, "unauthenticated");
    for endpoint in ["/api/history/fetch", "/api/history/missing"] {
        for (from, to) in
            [("2025-02-30", "2025-03-01"), ("2025-03-02", "2025-03-01"), ("", ""), ("yesterday", "today")]
        {
            operator.post(endpoint, &range(from, to)).await.refused(400, "bad_input");
        }
        let nowhere = [("project", "nowhere"), ("from", "2025-03-01"), ("to", "2025-03-01")];
        operator.post(endpoint, &nowhere).await.refused(404, "not_found");
    }
    let message = operator.post("/api/history/fetch", &range("2023-01-01", "2025-03-10")).await;
    assert!(message.refused(400, "bad_input").contains("400 days"));
    // 400 days can be requested, but not 401.
    operator.post_json("/api/history/fetch", &range("2024-01-01", "2025-02-03")).await;
    operator.post("/api/history/fetch", &range("2023-12-31", "2023-12-31")).await.refused(400, "bad_input");
    operator.post_json("/api/history/fetch", &range("2024-05-01", "2024-05-31")).await;
    assert_eq!(app.upstream.requests().await.len(), 0, "a fetch request makes no call yet");
}

#[tokio::test]
async fn fetch_form_returns_to_its_range_without_javascript() {
    let app = TestApp::with(keeping(4)).await;
    let operator = app.operator().await;
    let response = operator.submit("/api/history/fetch", &range("2025-03-01", "2025-03-02"), None).await;
    assert_eq!(response.status, 302);
    assert_eq!(response.location(), "/p/docs/analytics?from=2025-03-01&to=2025-03-02");
}

#[tokio::test]
async fn fetch_form_redirects_only_to_own_pages() {
    let app = TestApp::with(keeping(4)).await;
    let operator = app.operator().await;
    let fetch = async |back: &str| {
        let fields = [&range("2025-03-01", "2025-03-02")[..], &[("back", back)]].concat();
        operator.submit("/api/history/fetch", &fields, None).await.location().to_owned()
    };
    let own = "/p/docs/analytics?from=2025-03-08&to=2025-03-09&compare=weekdays";
    assert_eq!(fetch(own).await, own);
    for foreign in ["//evil.example", "https://evil.example", "/\\evil.example", "/api/session/logout", ""] {
        assert_eq!(fetch(foreign).await, "/p/docs/analytics?from=2025-03-01&to=2025-03-02", "{foreign}");
    }
    let fields = [&range("2025-03-01", "2025-03-02")[..], &[("back", own)]].concat();
    let response = operator.post("/api/history/fetch", &fields).await;
    assert_eq!((response.status, response.headers.get("location")), (200, None), "a page with scripts stays");
}

/// Two days are stored, and the two before them are not.
#[tokio::test]
async fn missing_comparison_days_can_be_fetched() {
    let mut settings = keeping(2);
    (settings.budget.history_before, settings.budget.analytics_per_hour) = (0, 12);
    settings.budget.analytics_reserve = 2;
    let app = TestApp::with(settings).await;
    app.upstream.on_views(site(|_, _| 1)).await;
    later(&app, 24 * HOUR).await;
    let (viewer, operator) = (app.sign_in("vera").await, app.operator().await);
    let page = "/p/docs/analytics?from=2025-03-10&to=2025-03-10";
    let region = |html: &str| {
        html.split("data-region=\"report\"").nth(1).unwrap().split('>').next().unwrap().to_owned()
    };

    let before = operator.get(page).await.text;
    assert!(before.contains("/api/history/fetch") && before.contains("Not compared"), "{before}");
    assert!(before.contains("Fetching the others takes at least 1 call, and this hour has"), "{before}");
    assert!(!region(&before).contains("data-every"), "nothing is on its way: {before}");
    let read_only = viewer.get(page).await.text;
    assert!(read_only.contains("Not compared") && !read_only.contains("/api/history/fetch"), "{read_only}");

    // The hourly budget is used up by other days, which are fetched first.
    operator.post_json("/api/history/fetch", &range("2025-01-01", "2025-01-20")).await;
    steps(&app).await;
    let spent = operator.get(page).await.text;
    assert!(spent.contains("This hour has no calls left for them"), "{spent}");
    assert!(spent.contains("The hourly calls for the history are used up. The next try is at"), "{spent}");

    operator.post_json("/api/history/fetch", &range("2025-03-09", "2025-03-09")).await;
    let waiting = operator.get(page).await.text;
    assert!(waiting.contains("0 of 1 day here, the others are being fetched"), "{waiting}");
    assert!(
        waiting.contains("The next try is at") && region(&waiting).contains("data-every=\"5\""),
        "{waiting}"
    );

    later(&app, HOUR).await;
    let there = operator.get(page).await.text;
    assert!(there.contains("Compared with") && !there.contains("fetch-days-form"), "{there}");
    assert!(!region(&there).contains("data-every"), "{there}");
}
