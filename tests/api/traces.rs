//! Traces as a collector receives and decodes them.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr};
use std::time::Duration;

use data_encoding::HEXLOWER;
use opentelemetry_proto::tonic::collector::trace::v1::ExportTraceServiceRequest;
use opentelemetry_proto::tonic::common::v1::{AnyValue, KeyValue, any_value::Value};
use prost::Message;
use reqwest::Method;
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, ResponseTemplate};

use crate::databases::is_postgres;
use crate::helpers::{
    Browser, Installation, PASSWORD, Served, api_tokens_in, detached_job, http_client, intent,
    refusing_address, remote_job, secrets_in, until,
};

const TRACE: &str = "0af7651916cd43dd8448eb211c80319c";
const CALLER: &str = "b7ad6b7169203331";

/// A collector that stores everything.
pub(crate) struct Collector(MockServer);

/// A span as it was received.
#[derive(Debug, Clone)]
pub(crate) struct Span {
    pub(crate) trace: String,
    id: String,
    /// Empty for the first span of a trace.
    parent: String,
    pub(crate) name: String,
    kind: i32,
    is_error: bool,
    attributes: BTreeMap<String, String>,
    /// The attributes of its resource, such as the service.
    service: BTreeMap<String, String>,
}

/// The attributes with numbers, as the semantic conventions require.
const NUMBERS: [&str; 4] =
    ["http.response.status_code", "http.request.resend_count", "server.port", "db.response.returned_rows"];

/// All attributes that Docket sends.
const ATTRIBUTES: [&str; 15] = [
    "db.collection.name",
    "db.operation.name",
    "db.query.summary",
    "db.response.returned_rows",
    "db.system.name",
    "docket.job.id",
    "docket.platform.operation",
    "docket.platform.outcome",
    "docket.project.id",
    "docket.request.id",
    "http.request.method",
    "http.response.status_code",
    "http.route",
    "server.address",
    "server.port",
];

const SERVER: i32 = 2;
const CLIENT: i32 = 3;

impl Collector {
    pub(crate) async fn start() -> Self {
        Self::answering(ResponseTemplate::new(200)).await
    }

    async fn answering(response: ResponseTemplate) -> Self {
        let server = MockServer::start().await;
        Mock::given(method("POST")).and(path("/v1/traces")).respond_with(response).mount(&server).await;
        Self(server)
    }

    /// The received bodies.
    pub(crate) async fn bodies(&self) -> Vec<Vec<u8>> {
        let requests = self.0.received_requests().await.unwrap();
        requests.into_iter().map(|request| request.body).collect()
    }

    pub(crate) fn uri(&self) -> String {
        self.0.uri()
    }

    pub(crate) async fn spans(&self) -> Vec<Span> {
        let mut spans = Vec::new();
        for body in self.bodies().await {
            for resource in ExportTraceServiceRequest::decode(body.as_slice()).unwrap().resource_spans {
                let service = attributes(resource.resource.unwrap().attributes);
                for span in resource.scope_spans.into_iter().flat_map(|scope| scope.spans) {
                    assert!(span.end_time_unix_nano >= span.start_time_unix_nano, "{span:?}");
                    spans.push(Span {
                        trace: HEXLOWER.encode(&span.trace_id),
                        id: HEXLOWER.encode(&span.span_id),
                        parent: HEXLOWER.encode(&span.parent_span_id),
                        name: span.name,
                        kind: span.kind,
                        is_error: span.status.is_some_and(|status| status.code == 2),
                        attributes: attributes(span.attributes),
                        service: service.clone(),
                    });
                }
            }
        }
        spans
    }

    /// Waits for a span and its ancestors, which end later.
    async fn whole_trace(&self, name: &str) -> (Span, Vec<Span>) {
        self.whole_trace_of(name, |span| span.name == name).await
    }

    async fn whole_trace_of(&self, what: &str, is_it: impl Fn(&Span) -> bool) -> (Span, Vec<Span>) {
        until(&format!("the trace of {what}"), async || {
            let spans = self.spans().await;
            let span = spans.iter().find(|span| is_it(span))?.clone();
            let of_trace: Vec<Span> = spans.into_iter().filter(|other| other.trace == span.trace).collect();
            let is_known = |id: &str| of_trace.iter().any(|span| span.id == id);
            let is_whole = of_trace.iter().all(|span| is_known(&span.parent) || is_begin(span));
            is_whole.then_some((span, of_trace))
        })
        .await
    }
}

/// Starts a job whose request delivers its prompt. The background task, which is for interrupted deliveries, may be faster.
async fn request_with_delivery(browser: &Browser, collector: &Collector) -> (Span, Vec<Span>) {
    for _ in 0..50 {
        let created = browser.create("Correct the zebra page", &intent()).await;
        assert_eq!(created.status, 200, "{}", created.text);
        let id = created.header("x-request-id");
        let is_request = |span: &Span| span.attributes.get("docket.request.id").is_some_and(|of| of == id);
        let (request, trace) = collector.whole_trace_of("a new job", is_request).await;
        if trace.iter().any(|span| span.name == "platform create") {
            return (request, trace);
        }
    }
    panic!("the background task delivers every prompt");
}

/// Whether no span of Docket is above it.
fn is_begin(span: &Span) -> bool {
    span.parent.is_empty() || span.parent == CALLER
}

impl Span {
    #[track_caller]
    fn attribute(&self, attribute: &str) -> &str {
        self.attributes.get(attribute).unwrap_or_else(|| panic!("no {attribute} in {self:?}"))
    }
}

fn attributes(attributes: Vec<KeyValue>) -> BTreeMap<String, String> {
    let text = |key: &str, value: Option<AnyValue>| match value.and_then(|value| value.value) {
        Some(Value::StringValue(text)) if !NUMBERS.contains(&key) => text,
        Some(Value::IntValue(number)) if NUMBERS.contains(&key) => number.to_string(),
        other => panic!("{key}: {other:?}"),
    };
    let of_map = |KeyValue { key, value, .. }: KeyValue| {
        let text = text(&key, value);
        (key, text)
    };
    attributes.into_iter().map(of_map).collect()
}

/// An upstream that accepts every job.
async fn platform() -> MockServer {
    let platform = MockServer::start().await;
    let fresh = |_: &wiremock::Request| {
        ResponseTemplate::new(201).set_body_json(remote_job(&detached_job(), "active"))
    };
    Mock::given(method("POST")).respond_with(fresh).mount(&platform).await;
    let read = |request: &wiremock::Request| {
        let id = request.url.path_segments().unwrap().next_back().unwrap();
        ResponseTemplate::new(200).set_body_json(remote_job(id, "active"))
    };
    Mock::given(method("GET")).respond_with(read).mount(&platform).await;
    platform
}

/// A server that sends its spans without delay.
fn traced(platform: &str, collector: &str) -> Installation {
    Installation::with_administrator(platform)
        .set("OTEL_EXPORTER_OTLP_ENDPOINT", collector)
        .set("OTEL_BSP_SCHEDULE_DELAY", "50")
        // Only requests of a test.
        .set("DOCKET_POLL_SECONDS", "3600")
}

async fn stopped(server: &Served) {
    server.signal("TERM");
    assert!(server.ended().await.success(), "{}", server.output());
}

#[tokio::test]
async fn trace_covers_request_statements_and_upstream_call() {
    let (platform, collector) = (platform().await, Collector::start().await);
    let installation = traced(&platform.uri(), &collector.uri())
        .set("OTEL_EXPORTER_OTLP_HEADERS", "authorization=Bearer%20of-the-collector")
        .set("OTEL_RESOURCE_ATTRIBUTES", "deployment.environment.name=test");
    let server = installation.serve(&["serve"]);
    let browser = server.signed_in().await;
    let (request, trace) = request_with_delivery(&browser, &collector).await;
    browser.get("/p/docs/jobs?q=quagga").await;
    for probe in ["/healthz", "/readyz"] {
        assert_eq!(browser.get(probe).await.status, 200);
    }
    stopped(&server).await;

    assert_eq!(request.name, "POST /api/jobs/create");
    assert_eq!((request.kind, request.parent.as_str(), request.is_error), (SERVER, "", false));
    assert_eq!(request.attribute("http.route"), "/api/jobs/create");
    assert_eq!(request.attribute("http.request.method"), "POST");
    assert_eq!(request.attribute("http.response.status_code"), "200");
    assert_eq!(request.attribute("docket.request.id").len(), 36);
    assert_eq!(request.service["service.name"], "docket");
    assert_eq!(request.service["service.version"], env!("CARGO_PKG_VERSION"));
    assert_eq!(request.service["deployment.environment.name"], "test");
    let below = |parent: &Span, name: &str| {
        let is_it = |span: &&Span| span.parent == parent.id && span.name == name;
        trace.iter().find(is_it).unwrap_or_else(|| panic!("no {name} below {parent:?} in {trace:#?}")).clone()
    };
    let delivery = below(&request, "deliver prompt");
    let exchange = below(&delivery, "platform create");
    assert_eq!(exchange.attribute("docket.platform.operation"), "create");
    assert_eq!(exchange.attribute("docket.platform.outcome"), "answered");
    let attempt = below(&exchange, "POST");
    assert_eq!((attempt.kind, attempt.attribute("http.response.status_code")), (CLIENT, "201"));
    assert_eq!(attempt.attribute("server.address"), "127.0.0.1");
    assert_eq!(attempt.attribute("server.port"), platform.address().port().to_string());
    for parent in [&request, &delivery] {
        let statement = trace
            .iter()
            .find(|span| span.parent == parent.id && span.attributes.contains_key("db.query.summary"));
        let statement = statement.unwrap_or_else(|| panic!("no statement below {parent:?} in {trace:#?}"));
        assert_eq!(statement.kind, CLIENT);
        let system = if is_postgres() { "postgresql" } else { "sqlite" };
        assert_eq!(statement.attribute("db.system.name"), system);
        assert!(statement.name.starts_with(statement.attribute("db.operation.name")), "{statement:?}");
    }
    assert!(trace.iter().any(|span| span.name.starts_with("INSERT")), "{trace:#?}");

    let spans = collector.spans().await;
    assert!(spans.iter().any(|span| span.name == "GET /p/{project}/jobs"));
    assert!(!spans.iter().any(|span| span.name.contains("/healthz") || span.name.contains("/readyz")));
    let known: BTreeSet<&str> = ATTRIBUTES.into_iter().collect();
    for span in &spans {
        let unknown = span.attributes.keys().find(|attribute| !known.contains(attribute.as_str()));
        assert_eq!(unknown, None, "{span:?}");
    }
    let cookie = browser.cookie().unwrap();
    let cookie = cookie.split_once('=').unwrap().1;
    for body in collector.bodies().await {
        let text = String::from_utf8_lossy(&body);
        assert_eq!(secrets_in(&text), Vec::<&str>::new());
        for private in ["zebra", "quagga", "admin", "of-the-collector", cookie] {
            assert!(!text.contains(private), "{private} in {text}");
        }
    }
    let sent = collector.0.received_requests().await.unwrap();
    assert!(sent.iter().all(|request| request.headers["authorization"] == "Bearer of-the-collector"));
    assert!(sent.iter().all(|request| request.headers["content-type"] == "application/x-protobuf"));
    assert!(!server.output().contains("of-the-collector"));
    // The upstream gets no trace context.
    let received = platform.received_requests().await.unwrap();
    assert!(!received.is_empty());
    assert!(received.iter().all(|request| {
        !request.headers.contains_key("traceparent") && !request.headers.contains_key("tracestate")
    }));
}

#[tokio::test]
async fn api_tokens_are_in_no_trace_log_or_row() {
    let (platform, collector) = (platform().await, Collector::start().await);
    let installation = traced(&platform.uri(), &collector.uri()).set("DOCKET_LOG", "trace");
    let server = installation.serve(&["serve"]);
    let browser = server.signed_in().await;
    let create = ["token", "create", "--user", "admin", "--name", "CI", "--scopes", "jobs:read"];
    let created = installation.run(&create);
    let token = created.stdout.trim_end();
    assert_eq!(api_tokens_in(&created.stdout), [token]);
    let request = browser.request(Method::GET, "/api/v1/projects").bearer_auth(token);
    assert_eq!(browser.send(request).await.status, 200);
    let request = browser.request(Method::GET, "/api/v1/nowhere").bearer_auth(token);
    assert_eq!(browser.send(request).await.status, 404);
    stopped(&server).await;
    collector.whole_trace("GET /api/v1/projects").await;
    for body in collector.bodies().await {
        assert!(!String::from_utf8_lossy(&body).contains(token), "in a trace");
    }
    assert_eq!(api_tokens_in(&server.output()), [] as [&str; 0]);
    assert!(!installation.ledger().dump().await.contains(token), "in the database");
}

#[tokio::test]
async fn trace_context_is_sent_upstream_if_configured() {
    let (platform, collector) = (platform().await, Collector::start().await);
    let installation = traced(&platform.uri(), &collector.uri()).set("DOCKET_TRACE_UPSTREAM", "true");
    let server = installation.serve(&["serve"]);
    server.signed_in().await.created("Fix typos").await;
    stopped(&server).await;
    let received = platform.received_requests().await.unwrap();
    let sent = received.iter().find(|request| request.method.as_str() == "POST").unwrap();
    let (_, trace) = collector.whole_trace("platform create").await;
    let attempt = trace.iter().find(|span| span.name == "POST").unwrap();
    assert_eq!(sent.headers["traceparent"], format!("00-{}-{}-01", attempt.trace, attempt.id));
}

/// Opens a page with a `traceparent`, from an IP address of this machine. Returns the status.
async fn open(address: &str, from: [u8; 4], page: &str, flags: &str) -> u16 {
    let client = http_client().local_address(IpAddr::V4(Ipv4Addr::from(from))).build().unwrap();
    let traceparent = format!("00-{TRACE}-{CALLER}-{flags}");
    let request = client.get(format!("{address}{page}")).header("traceparent", traceparent);
    request.header("tracestate", "zebra=1").send().await.unwrap().status().as_u16()
}

#[tokio::test]
async fn trace_context_is_accepted_only_from_trusted_proxies() {
    let collector = Collector::start().await;
    let installation =
        traced("http://127.0.0.1:9", &collector.uri()).set("DOCKET_TRUSTED_PROXIES", "127.0.0.2");
    let server = installation.serve(&["serve"]);
    let address = server.address().await;
    assert_eq!(open(&address, [127, 0, 0, 1], "/login", "01").await, 200);
    // The others need a session.
    assert_eq!(open(&address, [127, 0, 0, 1], "/forgotten-or-not", "00").await, 303);
    assert_eq!(open(&address, [127, 0, 0, 2], "/p/docs", "01").await, 303);
    assert_eq!(open(&address, [127, 0, 0, 2], "/p/docs/analytics", "00").await, 303);
    stopped(&server).await;
    let spans = collector.spans().await;
    let find = |name: &str| spans.iter().find(|span| span.name == name);
    // The proxy decides about sampling; an untrusted client does not.
    for name in ["GET /login", "GET none"] {
        let of_anonymous = find(name).unwrap_or_else(|| panic!("no {name} in {spans:#?}"));
        assert_eq!(of_anonymous.parent, "", "{name}");
        assert_ne!(of_anonymous.trace, TRACE, "{name}");
    }
    let of_proxy = find("GET /p/{project}").unwrap();
    assert_eq!((of_proxy.trace.as_str(), of_proxy.parent.as_str()), (TRACE, CALLER));
    assert!(find("GET /p/{project}/analytics").is_none(), "{spans:#?}");
    for body in collector.bodies().await {
        assert!(!String::from_utf8_lossy(&body).contains("zebra"));
    }
}

#[tokio::test]
async fn without_a_collector_no_exporter_runs() {
    let collector = Collector::start().await;
    for installation in [
        traced("http://127.0.0.1:9", &collector.uri()).set("OTEL_SDK_DISABLED", "true"),
        Installation::with_administrator("http://127.0.0.1:9").set("OTEL_SERVICE_NAME", "docket"),
    ] {
        let server = installation.serve(&["serve"]);
        assert_eq!(server.signed_in().await.get("/p/docs").await.status, 200);
        assert!(
            !threads(&server).iter().any(|name| name.contains("OpenTelemetry")),
            "{:?}",
            threads(&server)
        );
        assert!(!server.output().contains("sending traces"));
        stopped(&server).await;
    }
    assert_eq!(collector.bodies().await.len(), 0);
    // The same check finds the exporter if there is one.
    let installation = traced("http://127.0.0.1:9", &collector.uri());
    let server = installation.serve(&["serve"]);
    server.output_after("sending traces collector=").await;
    assert!(threads(&server).iter().any(|name| name.contains("OpenTelemetry")), "{:?}", threads(&server));
}

/// The names of a process's threads.
fn threads(server: &Served) -> Vec<String> {
    let tasks = std::fs::read_dir(format!("/proc/{}/task", server.id())).unwrap();
    let name = |task: std::io::Result<std::fs::DirEntry>| {
        std::fs::read_to_string(task.ok()?.path().join("comm")).ok()
    };
    tasks.filter_map(name).collect()
}

#[tokio::test]
async fn silent_collector_delays_no_request_and_no_shutdown() {
    let never = ResponseTemplate::new(200).set_delay(Duration::from_secs(3_600));
    let collector = Collector::answering(never).await;
    let installation = traced("http://127.0.0.1:9", &collector.uri())
        .set("OTEL_BSP_MAX_QUEUE_SIZE", "10")
        .set("OTEL_EXPORTER_OTLP_TIMEOUT", "60000")
        .set("DOCKET_METRICS_ADDR", "0");
    let server = installation.serve(&["serve"]);
    let metrics = Browser::at(&format!("http://{}", server.output_after("for metrics address=").await));
    let browser = server.signed_in().await;
    for _ in 0..20 {
        assert_eq!(browser.get("/p/docs/jobs").await.status, 200);
    }
    assert!(counted(&metrics, "dropped").await > 0);
    assert_eq!(counted(&metrics, "sent").await, 0);
    stopped(&server).await;
}

#[tokio::test]
async fn unreachable_collector_is_logged_once_and_counted() {
    let (_guard, unreachable) = refusing_address();
    let installation = traced("http://127.0.0.1:9", &unreachable).set("DOCKET_METRICS_ADDR", "0");
    let server = installation.serve(&["serve"]);
    let metrics = Browser::at(&format!("http://{}", server.output_after("for metrics address=").await));
    let browser = server.signed_in().await;
    for least in [1, 10, 20] {
        until("spans are given up", async || {
            assert_eq!(browser.get("/p/docs/jobs").await.status, 200);
            (counted(&metrics, "failed").await >= least).then_some(())
        })
        .await;
    }
    assert_eq!(server.output().matches("traces could not be sent").count(), 1, "{}", server.output());
    stopped(&server).await;
}

/// The number of spans with an outcome.
async fn counted(metrics: &Browser, outcome: &str) -> u64 {
    let response = metrics.get("/metrics").await;
    let series = format!("docket_trace_spans_total{{outcome=\"{outcome}\"}} ");
    let number = response.text.lines().find_map(|line| line.strip_prefix(&series)).unwrap();
    number.parse::<f64>().unwrap() as u64
}

#[tokio::test]
async fn background_work_has_separate_traces() {
    let (platform, collector) = (platform().await, Collector::start().await);
    let installation = traced(&platform.uri(), &collector.uri()).set("DOCKET_POLL_SECONDS", "1");
    let server = installation.serve(&["serve"]);
    let job = server.signed_in().await.created("Fix typos").await;
    let (poll, trace) = collector.whole_trace("poll job").await;
    assert_eq!(poll.parent, "");
    assert_eq!(poll.attribute("docket.job.id"), job["id"].as_str().unwrap());
    assert_eq!(poll.attribute("docket.project.id"), "docs");
    for part in ["platform read", "GET"] {
        assert!(trace.iter().any(|span| span.name == part), "no {part} in {trace:#?}");
    }
    stopped(&server).await;
    // The steps of a task that find nothing to do have no trace.
    let spans = collector.spans().await;
    let begins = ["GET ", "POST ", "poll job", "deliver prompt"];
    for span in spans.iter().filter(|span| span.parent.is_empty()) {
        assert!(begins.iter().any(|begin| span.name.starts_with(begin)), "{span:?}");
    }
}

#[tokio::test]
async fn sampler_is_applied_and_an_invalid_one_is_refused() {
    let collector = Collector::start().await;
    let installation = traced("http://127.0.0.1:9", &collector.uri())
        .set("OTEL_TRACES_SAMPLER", "traceidratio")
        .set("OTEL_TRACES_SAMPLER_ARG", "0");
    let server = installation.serve(&["serve"]);
    assert_eq!(server.signed_in().await.get("/p/docs").await.status, 200);
    stopped(&server).await;
    assert_eq!(collector.spans().await.len(), 0);

    let installation =
        traced("http://127.0.0.1:9", &collector.uri()).set("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc");
    let ended = installation.run(&["serve"]);
    assert_eq!(ended.code, Some(2), "{ended:?}");
    assert!(ended.stderr.contains("OTEL_EXPORTER_OTLP_PROTOCOL"), "{ended:?}");
    assert!(ended.stderr.contains("http/protobuf"), "{ended:?}");
    assert!(!ended.stderr.contains(PASSWORD));
}
