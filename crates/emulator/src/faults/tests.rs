//! Fault injection over a real port, as in `docket emulator`.

#![expect(clippy::unwrap_used, reason = "a test may panic")]

use std::time::Duration;

use axum::body::Body;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::TokioIo;
use hyper_util::service::TowerToHyperService;
use reqwest::{Client, Response, StatusCode};
use serde_json::{Value, json};
use tokio::net::TcpListener;
use tokio::task::JoinSet;
use tower::ServiceExt;

use crate::Emulator;
use crate::testing::{Bench, FrozenClock, KEY, LONGEST_SECONDS};

/// An emulator on its own port.
struct Served {
    http: Client,
    base_url: String,
    clock: FrozenClock,
    /// Aborted when this is dropped.
    _connections: JoinSet<()>,
}

impl Served {
    async fn start() -> Self {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let base_url = format!("http://{}", listener.local_addr().unwrap());
        let Bench { emulator, clock } = Bench::new();
        let mut connections = JoinSet::new();
        connections.spawn(listen(listener, emulator));
        let http = Client::builder().redirect(reqwest::redirect::Policy::none()).no_proxy().build().unwrap();
        Self { http, base_url, clock, _connections: connections }
    }

    async fn add_fault(&self, body: Value) {
        let response = self.post("/__emulator/faults", &body).await.unwrap();
        assert_eq!(response.status(), StatusCode::OK, "{body}");
    }

    async fn shown(&self) -> Value {
        self.get("/__emulator/faults").await.unwrap().json().await.unwrap()
    }

    async fn requests(&self, operation: &str) -> u64 {
        self.shown().await["requests"][operation].as_u64().unwrap()
    }

    async fn create(&self) -> reqwest::Result<Response> {
        self.post("/v2/agent/docs/job", &json!({ "prompt": "Fix typos" })).await
    }

    async fn views(&self) -> reqwest::Result<Response> {
        self.get("/v1/analytics/docs/views").await
    }

    async fn get(&self, path: &str) -> reqwest::Result<Response> {
        self.http.get(format!("{}{path}", self.base_url)).bearer_auth(KEY).send().await
    }

    async fn post(&self, path: &str, body: &Value) -> reqwest::Result<Response> {
        self.http.post(format!("{}{path}", self.base_url)).bearer_auth(KEY).json(body).send().await
    }
}

/// Serves HTTP/1; an error of the service closes its connection.
async fn listen(listener: TcpListener, emulator: Emulator) {
    loop {
        let (stream, _) = listener.accept().await.unwrap();
        stream.set_nodelay(true).unwrap();
        let service = emulator.service().map_request(|request: Request<Incoming>| request.map(Body::new));
        let service = TowerToHyperService::new(service);
        tokio::spawn(http1::Builder::new().serve_connection(TokioIo::new(stream), service));
    }
}

#[tokio::test]
async fn fault_applies_the_requested_number_of_times() {
    let served = Served::start().await;
    served
        .add_fault(json!({ "operation": "create", "times": 2, "fault": { "kind": "status", "code": 503 } }))
        .await;
    assert_eq!(served.views().await.unwrap().status(), StatusCode::OK, "another operation");
    assert_eq!(served.create().await.unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(served.shown().await["pending"][0]["times"], 1);
    assert_eq!(served.create().await.unwrap().status(), StatusCode::SERVICE_UNAVAILABLE);
    assert_eq!(served.create().await.unwrap().status(), StatusCode::CREATED);
    assert_eq!(served.shown().await["pending"], json!([]));
}

#[tokio::test]
async fn fault_until_cleared_applies_until_it_is_cleared() {
    let served = Served::start().await;
    served
        .add_fault(
            json!({ "times": "until-cleared", "fault": { "kind": "status", "code": 500, "body": "x" } }),
        )
        .await;
    for _ in 0..5 {
        let response = served.views().await.unwrap();
        assert_eq!((response.status().as_u16(), response.text().await.unwrap().as_str()), (500, "x"));
    }
    let cleared = served.http.delete(format!("{}/__emulator/faults", served.base_url));
    assert_eq!(cleared.bearer_auth(KEY).send().await.unwrap().status(), StatusCode::OK);
    assert_eq!(served.views().await.unwrap().status(), StatusCode::OK);
    assert_eq!(served.requests("views").await, 6);
}

#[tokio::test]
async fn faults_apply_in_the_order_of_their_requests() {
    let served = Served::start().await;
    for code in [501, 502] {
        served.add_fault(json!({ "fault": { "kind": "status", "code": code } })).await;
    }
    assert_eq!(served.create().await.unwrap().status().as_u16(), 501);
    assert_eq!(served.views().await.unwrap().status().as_u16(), 502);
}

#[tokio::test]
async fn dropped_connection_returns_no_response() {
    let served = Served::start().await;
    for kind in ["drop", "accept-then-drop"] {
        served.add_fault(json!({ "fault": { "kind": kind } })).await;
        let error = served.create().await.expect_err(kind);
        assert!(error.is_request() && !error.is_connect() && !error.is_timeout(), "{kind}: {error:?}");
    }
    assert_eq!(served.requests("create").await, 2);
}

#[tokio::test]
async fn only_accept_then_drop_executes_the_operation() {
    let served = Served::start().await;
    let id = served.create().await.unwrap().json::<Value>().await.unwrap()["id"].as_str().unwrap().to_owned();
    let job = format!("/v2/agent/docs/job/{id}");
    let status = async || served.get(&job).await.unwrap().json::<Value>().await.unwrap()["status"].clone();
    served.clock.advance(Duration::from_secs(LONGEST_SECONDS));
    let ended = status().await;
    for (kind, expected) in [("drop", &ended), ("accept-then-drop", &json!("active"))] {
        served.add_fault(json!({ "operation": "follow-up", "fault": { "kind": kind } })).await;
        let follow_up = served.post(&format!("{job}/message"), &json!({ "prompt": "And more" })).await;
        assert!(follow_up.is_err(), "{kind}");
        assert_eq!(&status().await, expected, "{kind}");
    }
}

#[tokio::test]
async fn cut_response_ends_before_its_content_length() {
    let served = Served::start().await;
    served.add_fault(json!({ "fault": { "kind": "cut" } })).await;
    let mut response = served.views().await.unwrap();
    assert_eq!(response.status(), StatusCode::OK);
    let promised = response.content_length().unwrap();
    let mut read = 0;
    let error = loop {
        match response.chunk().await {
            Ok(Some(chunk)) => read += chunk.len() as u64,
            Ok(None) => panic!("a whole body of {read} bytes"),
            Err(error) => break error,
        }
    };
    assert!(read > 0 && read < promised, "{read} of {promised}: {error}");
}

#[tokio::test]
async fn trickled_response_is_complete() {
    let served = Served::start().await;
    served.add_fault(json!({ "fault": { "kind": "trickle", "millis": 2 } })).await;
    let body = served.create().await.unwrap().bytes().await.unwrap();
    assert_eq!(serde_json::from_slice::<Value>(&body).unwrap()["status"], "active");
}

#[tokio::test]
async fn faulty_responses_have_the_requested_fault() {
    let served = Served::start().await;
    served.add_fault(json!({ "fault": { "kind": "garbage" } })).await;
    let garbage = served.views().await.unwrap();
    assert_eq!(garbage.status(), StatusCode::OK);
    assert!(garbage.json::<Value>().await.is_err());

    served.add_fault(json!({ "fault": { "kind": "wrong-types" } })).await;
    let odd: Value = served.views().await.unwrap().json().await.unwrap();
    assert_eq!(odd, json!({ "totals": [], "views": {}, "hasMore": "no" }));

    served.add_fault(json!({ "fault": { "kind": "redirect", "code": 307, "location": "/away" } })).await;
    let redirect = served.create().await.unwrap();
    assert_eq!(
        (redirect.status().as_u16(), &redirect.headers()["location"]),
        (307, &"/away".parse().unwrap())
    );

    served.add_fault(json!({ "fault": { "kind": "too-many", "retry-after": "soon" } })).await;
    let refused = served.create().await.unwrap();
    assert_eq!(
        (refused.status().as_u16(), &refused.headers()["retry-after"]),
        (429, &"soon".parse().unwrap())
    );

    served.add_fault(json!({ "fault": { "kind": "delay", "millis": 1 } })).await;
    assert_eq!(served.views().await.unwrap().status(), StatusCode::OK);
}

#[tokio::test]
async fn response_is_compressed_for_a_client_that_accepts_it() {
    let served = Served::start().await;
    let url = format!("{}/v1/analytics/docs/views", served.base_url);
    let plain = Client::builder().no_gzip().no_proxy().build().unwrap();
    let plain = async |accepted: &str| {
        let request = plain.get(&url).bearer_auth(KEY).header("accept-encoding", accepted);
        let response = request.send().await.unwrap();
        let coding = response.headers().get("content-encoding").cloned();
        (coding.is_some_and(|coding| coding == "gzip"), response.bytes().await.unwrap())
    };
    let ((is_packed, packed), (other, whole)) = (plain("br, gzip").await, plain("identity").await);
    assert!(is_packed && !other && packed.len() < whole.len());
    assert_eq!(served.views().await.unwrap().bytes().await.unwrap(), whole, "decompressed");
}

#[tokio::test]
async fn delayed_answer_arrives_after_later_ones() {
    let served = Served::start().await;
    served.add_fault(json!({ "fault": { "kind": "delay", "millis": 60_000 } })).await;
    let others = async {
        while served.requests("views").await == 0 {
            tokio::task::yield_now().await;
        }
        assert_eq!(served.views().await.unwrap().status(), StatusCode::OK);
    };
    tokio::select! {
        _ = served.views() => panic!("the response was not delayed"),
        () = others => {}
    }
}

#[tokio::test]
async fn oversize_response_is_valid_json_and_small_with_gzip() {
    let served = Served::start().await;
    for gzip in [false, true] {
        served.add_fault(json!({ "fault": { "kind": "oversize", "gzip": gzip } })).await;
        let response = served.views().await.unwrap();
        // The client removes the content length of a response that it decompresses.
        assert_eq!(response.content_length().is_none(), gzip);
        let body = response.bytes().await.unwrap();
        assert!(body.len() > 8 << 20);
        assert!(serde_json::from_slice::<Value>(&body).unwrap()["totals"].is_object());
    }
}

#[tokio::test]
async fn invalid_fault_returns_400_with_a_sentence() {
    let served = Served::start().await;
    for body in [
        json!({}),
        json!([]),
        json!({ "fault": "drop" }),
        json!({ "fault": { "kind": "rain" } }),
        json!({ "fault": { "kind": "drop", "code": 500 } }),
        json!({ "fault": { "kind": "status" } }),
        json!({ "fault": { "kind": "status", "code": 199 } }),
        json!({ "fault": { "kind": "status", "code": 600 } }),
        json!({ "fault": { "kind": "redirect", "code": 200 } }),
        json!({ "fault": { "kind": "redirect", "location": "a\nb" } }),
        json!({ "fault": { "kind": "too-many", "retry-after": "a\r\nb" } }),
        json!({ "fault": { "kind": "delay" } }),
        json!({ "fault": { "kind": "delay", "millis": 600_001 } }),
        json!({ "fault": { "kind": "drop" }, "times": 0 }),
        json!({ "fault": { "kind": "drop" }, "times": "often" }),
        json!({ "fault": { "kind": "drop" }, "operation": "list" }),
        json!({ "fault": { "kind": "drop" }, "when": "now" }),
    ] {
        let response = served.post("/__emulator/faults", &body).await.unwrap();
        assert_eq!(response.status(), StatusCode::BAD_REQUEST, "{body}");
        let error = response.json::<Value>().await.unwrap()["error"].as_str().unwrap().to_owned();
        assert!(error.ends_with('.') && error.len() > 20, "{body}: {error}");
    }
    assert_eq!(served.shown().await["pending"], json!([]));
}

#[tokio::test]
async fn faults_cannot_be_added_or_listed_without_the_key() {
    let served = Served::start().await;
    let url = format!("{}/__emulator/faults", served.base_url);
    for request in [served.http.get(&url), served.http.post(&url).body("{}"), served.http.delete(&url)] {
        assert_eq!(request.send().await.unwrap().status(), StatusCode::UNAUTHORIZED);
    }
}
