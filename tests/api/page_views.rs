//! Page-view queries: the exact request, every shape of response, every failure.

use std::time::Duration;

use base::clock::Clock;
use futures::future::join_all;
use model::time::Timestamp;
use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{
    Act, Browser, KEY, RawUpstream, Settings, TestApp, TestResponse, json, refusing_address, views_answer,
};

fn on_a_monday() -> Settings {
    let clock = Clock::frozen("2025-03-10T23:59:59Z".parse::<Timestamp>().unwrap());
    Settings { clock, timeout: Duration::from_secs(1), ..Settings::default() }
}

async fn load(viewer: &Browser, pairs: &[(&str, &str)]) -> TestResponse {
    let pairs: Vec<_> = [("project", "docs")].iter().chain(pairs).copied().collect();
    viewer.post("/api/analytics/views", &pairs).await
}

fn query(request: &wiremock::Request) -> Vec<(String, String)> {
    request.url.query_pairs().into_owned().collect()
}

fn pairs(pairs: &[(&str, &str)]) -> Vec<(String, String)> {
    pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
}

#[tokio::test]
async fn page_view_query_sends_one_request_with_an_exclusive_end() {
    let app = TestApp::with(on_a_monday()).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let viewer = app.sign_in("vera").await;
    let fields = [("from", "2025-02-01"), ("to", "2025-02-28"), ("limit", "250"), ("offset", "500")];
    assert_eq!(load(&viewer, &fields).await.status, 200);
    let requests = app.upstream.requests().await;
    assert_eq!(requests.len(), 1);
    assert_eq!((requests[0].method.as_str(), requests[0].url.path()), ("GET", "/v1/analytics/docs/views"));
    assert_eq!(
        query(&requests[0]),
        pairs(&[("dateFrom", "2025-02-01"), ("dateTo", "2025-03-01"), ("limit", "250"), ("offset", "500")])
    );
    assert_eq!(requests[0].headers["authorization"], format!("Bearer {KEY}").as_str());
    assert!(requests[0].body.is_empty());
}

#[tokio::test]
async fn default_query_is_50_rows_of_28_utc_days() {
    let app = TestApp::with(on_a_monday()).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let viewer = app.sign_in("vera").await;
    load(&viewer, &[]).await;
    load(&viewer, &[("from", ""), ("to", "2024-02-28"), ("limit", "1")]).await;
    load(&viewer, &[("from", "2025-03-10")]).await;
    load(&viewer, &[("from", "2024-12-31"), ("to", "2024-12-31")]).await;
    let queries: Vec<_> = app.upstream.requests().await.iter().map(query).collect();
    assert_eq!(
        queries,
        [
            pairs(&[("dateFrom", "2025-02-11"), ("dateTo", "2025-03-11"), ("limit", "50"), ("offset", "0")]),
            pairs(&[("dateFrom", "2024-02-01"), ("dateTo", "2024-02-29"), ("limit", "1"), ("offset", "0")]),
            pairs(&[("dateFrom", "2025-03-10"), ("dateTo", "2025-03-11"), ("limit", "50"), ("offset", "0")]),
            pairs(&[("dateFrom", "2024-12-31"), ("dateTo", "2025-01-01"), ("limit", "50"), ("offset", "0")]),
        ]
    );
}

#[tokio::test]
async fn response_has_every_documented_field() {
    let app = TestApp::with(on_a_monday()).await;
    let mut response = views_answer();
    response["hasMore"] = json!(true);
    response["cursor"] = json!("of another version");
    response["views"][0]["bounce"] = json!(0.3);
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(response)).await;
    insta::assert_json_snapshot!(load(&app.sign_in("vera").await, &[]).await.json());
}

#[tokio::test]
async fn invalid_page_view_queries_are_refused_without_an_upstream_call() {
    let app = TestApp::with(on_a_monday()).await;
    let viewer = app.sign_in("vera").await;
    for bad in [
        &[("from", "2025-02-29")][..],
        &[("to", "tomorrow")],
        &[("from", "2025-03-02"), ("to", "2025-03-01")],
        &[("from", "2025-03-11")],
        &[("from", "2025-3-1")],
        &[("from", "0000-01-01"), ("to", "9999-12-31")],
        &[("from", "2025-03-01T00:00:00Z")],
        &[("limit", "0")],
        &[("limit", "251")],
        &[("limit", "-1")],
        &[("limit", "ten")],
        &[("limit", "9223372036854775807")],
        &[("limit", "99999999999999999999")],
        &[("offset", "-1")],
        &[("offset", "1.5")],
    ] {
        load(&viewer, bad).await.refused(400, "bad_input");
    }
    viewer.post("/api/analytics/views", &[("project", "nowhere")]).await.refused(404, "not_found");
    viewer.post("/api/analytics/views", &[]).await.refused(400, "bad_input");
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn extreme_dates_and_numbers_are_accepted() {
    let app = TestApp::with(on_a_monday()).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let viewer = app.sign_in("vera").await;
    let most = "9223372036854775807";
    for fields in [[("to", "0000-01-01")], [("offset", most)]] {
        let response = load(&viewer, &fields).await;
        assert_eq!(response.status, 200, "{fields:?}: {}", response.text);
    }
    let queries: Vec<_> = app.upstream.requests().await.iter().map(query).collect();
    assert_eq!(
        queries,
        [
            pairs(&[("dateFrom", "0000-01-01"), ("dateTo", "0000-01-02"), ("limit", "50"), ("offset", "0")]),
            pairs(&[("dateFrom", "2025-02-11"), ("dateTo", "2025-03-11"), ("limit", "50"), ("offset", most)]),
        ]
    );
}

/// The response with `field` changed; with `None`, without it.
fn changed(field: &str, value: Option<&Value>) -> Value {
    let mut response = views_answer();
    match value {
        Some(value) => response[field] = value.clone(),
        None => drop(response.as_object_mut().unwrap().remove(field)),
    }
    response
}

#[tokio::test]
async fn response_without_required_fields_is_invalid() {
    let app = TestApp::with(on_a_monday()).await;
    let viewer = app.sign_in("vera").await;
    let table = [
        ("totals", vec![json!(null), json!([]), json!(42), json!("42")]),
        ("views", vec![json!(null), json!({}), json!("none"), json!(0)]),
        ("hasMore", vec![json!(null), json!("no"), json!(0), json!({})]),
    ];
    for (field, values) in table {
        for value in std::iter::once(None).chain(values.iter().map(Some)) {
            app.upstream.reset().await;
            app.upstream.on_views(ResponseTemplate::new(200).set_body_json(changed(field, value))).await;
            load(&viewer, &[]).await.refused(502, "upstream_failed");
            assert_eq!(app.upstream.requests().await.len(), 1, "{field} = {value:?}");
        }
    }
}

#[tokio::test]
async fn counts_in_any_notation_are_parsed_and_invalid_rows_skipped() {
    let app = TestApp::with(on_a_monday()).await;
    let viewer = app.sign_in("vera").await;
    let rows = json!([
        {"path": "/float", "human": 12.0, "ai": 3e2, "total": 312.0},
        {"path": "/null", "human": null, "ai": null, "total": null},
        {"path": "/missing"},
        {"path": "/no-total", "human": 4, "ai": 5},
        {"path": "/text", "human": "12", "ai": [], "total": {}},
        {"path": "/negative", "human": -1, "ai": -2.5, "total": -3},
        {"path": "/huge", "human": 1e300, "ai": 18446744073709551615u64, "total": 1},
        {"path": null, "human": 1, "ai": 1, "total": 2},
        {"human": 1, "ai": 1, "total": 2},
        {"path": "", "human": 1, "ai": 1, "total": 2},
        null, "row", 7, [], {},
    ]);
    let response =
        json!({"totals": {"human": 12.0, "ai": null}, "views": rows, "hasMore": false, "more": null});
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(response)).await;
    let views = load(&viewer, &[]).await.json();
    assert_eq!(views["totals"], json!({"human": 12, "ai": 0, "total": 12}));
    let largest = 1u64 << 53;
    assert_eq!(
        views["views"],
        json!([
            {"path": "/float", "human": 12, "ai": 300, "total": 312},
            {"path": "/null", "human": 0, "ai": 0, "total": 0},
            {"path": "/missing", "human": 0, "ai": 0, "total": 0},
            {"path": "/no-total", "human": 4, "ai": 5, "total": 9},
            {"path": "/text", "human": 0, "ai": 0, "total": 0},
            {"path": "/negative", "human": 0, "ai": 0, "total": 0},
            {"path": "/huge", "human": largest, "ai": largest, "total": 1},
        ])
    );
    assert_eq!(views["corrected"], true);
}

#[tokio::test]
async fn only_corrected_figures_are_marked() {
    const NOTE: &str = "Some figures were invalid, and were corrected or left out.";
    let odd = json!([{"path": "/negative", "human": -1, "ai": 1, "total": 0}]);
    let no_path = json!([{"human": 1, "ai": 1, "total": 2}]);
    let floats = json!([{"path": "/", "human": 1.0, "ai": 1e0, "total": 2.0}]);
    for (rows, corrected) in [(odd, true), (no_path, true), (floats, false), (json!([]), false)] {
        let app = TestApp::with(on_a_monday()).await;
        app.upstream.on_views(ResponseTemplate::new(200).set_body_json(changed("views", Some(&rows)))).await;
        let viewer = app.sign_in("vera").await;
        let expected = if corrected { json!(true) } else { json!(null) };
        assert_eq!(load(&viewer, &[]).await.json()["corrected"], expected, "{rows}");
        assert_eq!(viewer.get("/p/docs/analytics").await.text.contains(NOTE), corrected, "{rows}");
    }
}

#[tokio::test]
async fn failures_give_messages_without_internal_details() {
    let app = TestApp::with(on_a_monday()).await;
    let viewer = app.sign_in("vera").await;
    let detailed = json!({"error": "bad range", "details": [{"message": "dateFrom is too early"}]});
    let good = ResponseTemplate::new(200).set_body_json(views_answer());
    let mut table = vec![
        ("detailed 400", ResponseTemplate::new(400).set_body_json(detailed), 502, "upstream_failed"),
        (
            "agent's 404",
            ResponseTemplate::new(404).set_body_json(json!({"error": "none"})),
            502,
            "upstream_failed",
        ),
        ("too slow", good.clone().set_delay(Duration::from_secs(5)), 504, "upstream_slow"),
        (
            "not JSON",
            ResponseTemplate::new(200).set_body_string("<html>Sign in</html>"),
            502,
            "upstream_failed",
        ),
        ("no body", ResponseTemplate::new(200), 502, "upstream_failed"),
        ("null", ResponseTemplate::new(200).set_body_string("null"), 502, "upstream_failed"),
        ("a list", ResponseTemplate::new(200).set_body_string("[]"), 502, "upstream_failed"),
        ("9 MiB", ResponseTemplate::new(200).set_body_string(" ".repeat(9 << 20)), 502, "upstream_failed"),
        ("429", ResponseTemplate::new(429).insert_header("retry-after", "60"), 429, "budget_spent"),
        ("plain 429", ResponseTemplate::new(429), 429, "budget_spent"),
    ];
    for status in [302, 307] {
        let elsewhere = ResponseTemplate::new(status).insert_header("location", "/elsewhere");
        table.push(("a redirect", elsewhere, 502, "upstream_failed"));
    }
    for status in [502, 503, 504] {
        let page = ResponseTemplate::new(status).set_body_raw("<html><b>oops</b></html>", "text/html");
        table.push(("try again later", page, 502, "upstream_failed"));
    }
    for status in [400, 401, 403, 404, 409, 422, 500, 501] {
        let page = ResponseTemplate::new(status).set_body_raw("<html><b>oops</b></html>", "text/html");
        table.push(("a page", page, 502, "upstream_failed"));
        table.push(("nothing", ResponseTemplate::new(status), 502, "upstream_failed"));
    }
    for (name, response, status, code) in table {
        app.upstream.reset().await;
        app.lift_pauses().await;
        app.upstream.on_views(response).await;
        let message = load(&viewer, &[]).await.refused(status, code);
        for inside in ["<", "127.0.0.1", "http", "reqwest", "serde", "SQL", "line 1"] {
            assert!(!message.contains(inside), "{name}: {message}");
        }
        let calls = app.upstream.requests().await.len();
        let tries = if name.ends_with("try again later") { 1..=3 } else { 1..=1 };
        assert!(tries.contains(&calls), "{name}: {calls}");
    }
    // Failures are not cached.
    app.upstream.reset().await;
    app.upstream.on_views(good).await;
    assert_eq!(load(&viewer, &[]).await.status, 200);
}

#[tokio::test]
async fn broken_connection_is_an_upstream_failure() {
    let head = b"HTTP/1.1 200 OK\r\ncontent-length: 500\r\n\r\n{\"totals\":".to_vec();
    for (act, status, code) in [
        (Act::HangUp(Vec::new()), 502, "upstream_failed"),
        (Act::HangUp(head.clone()), 502, "upstream_failed"),
        (Act::HangUp(b"\x00\x01\x02\r\n\r\n".to_vec()), 502, "upstream_failed"),
        (Act::Stall(head), 504, "upstream_slow"),
    ] {
        let upstream = RawUpstream::start(move |_| act.clone());
        let app = TestApp::with(Settings { upstream_url: Some(upstream.url()), ..on_a_monday() }).await;
        load(&app.sign_in("vera").await, &[]).await.refused(status, code);
    }
    let (_reserved, unreachable) = refusing_address();
    let app = TestApp::with(Settings { upstream_url: Some(unreachable), ..on_a_monday() }).await;
    load(&app.sign_in("vera").await, &[]).await.refused(502, "upstream_failed");
}

#[tokio::test]
async fn identical_queries_share_one_call() {
    let app = TestApp::with(on_a_monday()).await;
    let slow = ResponseTemplate::new(200).set_body_json(views_answer()).set_delay(Duration::from_millis(200));
    app.upstream.on_views(slow).await;
    let viewer = app.sign_in("vera").await;
    let responses = join_all((0..20).map(|_| load(&viewer, &[]))).await;
    assert!(
        responses.iter().all(|response| response.status == 200 && response.json() == responses[0].json())
    );
    // The same days, given explicitly.
    load(&viewer, &[("from", "2025-02-11"), ("to", "2025-03-10"), ("limit", "50"), ("offset", "0")]).await;
    load(&app.operator().await, &[]).await;
    assert_eq!(app.upstream.requests().await.len(), 1);
    load(&viewer, &[("offset", "50")]).await;
    viewer.post("/api/analytics/views", &[("project", "api")]).await;
    assert_eq!(app.upstream.requests().await.len(), 3);
}
