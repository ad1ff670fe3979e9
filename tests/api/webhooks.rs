//! Outgoing webhooks: each end of a job is told, at least once, signed, to whom an administrator named, and to nobody else.

use std::time::Duration;

use docket::model::time::Timestamp;
use docket::server::clock::Clock;
use docket::server::config::WebhookConfig;
use serde_json::Value;
use sha2::{Digest, Sha256};
use wiremock::matchers::{method, path};
use wiremock::{Mock, MockServer, Request, ResponseTemplate};

use crate::helpers::{
    Act, Browser, RawUpstream, Settings, TestApp, detached_job, intent, job_with, json, logged,
    refusing_address, remote_job, until,
};

const ENDPOINTS: [&str; 9] =
    ["list", "add", "enable", "disable", "remove", "renew", "test", "deliveries", "retry"];

fn frozen() -> Settings {
    let clock = Clock::frozen("2025-03-10T10:00:00Z".parse::<Timestamp>().unwrap());
    Settings { clock, ..Settings::default() }
}

/// Somebody who is told, and always answers so.
async fn receiver(answer: ResponseTemplate) -> MockServer {
    let server = MockServer::start().await;
    Mock::given(method("POST")).and(path("/hook")).respond_with(answer).mount(&server).await;
    server
}

async fn heard(receiver: &MockServer) -> Vec<Request> {
    receiver.received_requests().await.unwrap()
}

async fn add(admin: &Browser, kind: &str, address: &str) -> Value {
    admin.ask("/api/webhooks/add", &[("project", "docs"), ("kind", kind), ("address", address)]).await
}

async fn hooked(admin: &Browser, receiver: &MockServer) -> Value {
    add(admin, "json", &format!("{}/hook", receiver.uri())).await
}

fn id(value: &Value) -> &str {
    value["id"].as_str().unwrap()
}

async fn log(admin: &Browser, webhook: &Value) -> Vec<Value> {
    let log = admin.ask("/api/webhooks/deliveries", &[("webhook", id(webhook))]).await;
    log.as_array().unwrap().clone()
}

/// The newest event of a webhook, once it fits.
async fn logged_once(admin: &Browser, webhook: &Value, fits: impl Fn(&Value) -> bool) -> Value {
    until("the log of the webhook", async || {
        log(admin, webhook).await.first().filter(|event| fits(event)).cloned()
    })
    .await
}

async fn test(admin: &Browser, webhook: &Value) -> Value {
    admin.ask("/api/webhooks/test", &[("webhook", id(webhook))]).await
}

/// A job that ends at once, because the upstream refuses it.
async fn rejected_job(app: &TestApp) -> Value {
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    app.operator().await.created("Fix typos").await
}

/// HMAC-SHA-256 as RFC 2104 has it, in hexadecimal digits.
fn hmac(key: &str, message: &str) -> String {
    let mut block = [0; 64];
    block[..key.len()].copy_from_slice(key.as_bytes());
    let pad = |with: u8| block.map(|byte| byte ^ with).to_vec();
    let inner = Sha256::digest([pad(0x36), message.as_bytes().to_vec()].concat());
    let outer = Sha256::digest([pad(0x5c), inner.to_vec()].concat());
    outer.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Checks a request as its receiver would, and gives the event.
fn verified(request: &Request, secret: &str) -> Value {
    let header = |name: &str| request.headers[name].to_str().unwrap().to_owned();
    let body = String::from_utf8(request.body.clone()).unwrap();
    let signed = hmac(secret, &format!("{}.{body}", header("docket-timestamp")));
    assert_eq!(header("docket-signature"), format!("v1={signed}"));
    assert_eq!(header("content-type"), "application/json");
    assert!(!request.headers.contains_key("authorization") && !request.headers.contains_key("cookie"));
    let event: Value = serde_json::from_str(&body).unwrap();
    assert_eq!(
        (header("docket-event"), header("docket-delivery")),
        (event["type"].as_str().unwrap().to_owned(), id(&event).to_owned())
    );
    event
}

#[tokio::test]
async fn the_end_of_a_job_is_told_signed_and_without_the_whole_prompt() {
    let app =
        TestApp::with(Settings { poll_interval: Duration::from_millis(1), ..Settings::default() }).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(204)).await;
    let webhook = hooked(&admin, &receiver).await;
    let remote = detached_job();
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job(&remote, "active"))).await;
    let title = "é".repeat(200);
    let job = app.operator().await.created(&format!("\n {title}\nand what nobody else needs to know")).await;
    let done = job_with(&remote, "completed", "prLink", json!("https://git.example/pull/7"));
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(done)).await;

    let delivery = logged_once(&admin, &webhook, |event| event["outcome"] == "delivered").await;
    let requests = heard(&receiver).await;
    assert_eq!(requests.len(), 1);
    let event = verified(&requests[0], webhook["secret"].as_str().unwrap());
    let changed_at = admin.job(&job).await["changed_at"].clone();
    assert_eq!(
        event,
        json!({
            "id": delivery["id"], "type": "job.completed", "at": changed_at,
            "job": {
                "id": job["id"], "project": "docs", "title": "é".repeat(140), "author": "olga", "state": "completed",
                "pr_link": "https://git.example/pull/7", "url": format!("{}/p/docs/jobs/{}", app.origin(), id(&job)),
            },
        })
    );
    assert_eq!(
        (&delivery["attempts"], &delivery["status"], &delivery["job"]),
        (&json!(1), &json!(204), &job["id"])
    );
}

#[tokio::test]
async fn every_way_to_rest_is_an_event_and_resting_again_is_another() {
    let app =
        TestApp::with(Settings { poll_interval: Duration::from_millis(1), ..Settings::default() }).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200)).await;
    let webhook = hooked(&admin, &receiver).await;
    let says = |status: u16, word: &str| {
        ResponseTemplate::new(status).set_body_json(remote_job(&detached_job(), word))
    };
    let mut told = Vec::new();
    for (answer, event) in [
        (ResponseTemplate::new(400), "job.rejected"),
        (ResponseTemplate::new(500), "job.unknown"),
        (says(201, "failed"), "job.failed"),
        (says(201, "archived"), "job.archived"),
        (says(201, "completed"), "job.completed"),
    ] {
        app.upstream.reset().await;
        app.upstream.on_create(answer).await;
        app.operator().await.created("Fix typos").await;
        told.insert(0, event);
        let events = until("an event", async || {
            Some(log(&admin, &webhook).await).filter(|log| log.len() == told.len())
        })
        .await;
        assert_eq!(events.iter().map(|event| event["event"].clone()).collect::<Vec<_>>(), told);
    }
    // Reads answer with the job they ask about.
    let read = |word: &'static str| {
        move |request: &Request| {
            let job = request.url.path_segments().unwrap().next_back().unwrap().to_owned();
            ResponseTemplate::new(200).set_body_json(remote_job(&job, word))
        }
    };
    app.upstream.reset().await;
    app.upstream.on_read(read("completed")).await;
    let remote = detached_job();
    let active = ResponseTemplate::new(200).set_body_json(remote_job(&remote, "active"));
    app.upstream.on_create(active.clone()).await;
    let job = app.operator().await.created("Fix typos").await;
    logged_once(&admin, &webhook, |event| event["job"] == job["id"]).await;
    app.upstream.reset().await;
    app.upstream.on_read(read("failed")).await;
    app.upstream.on_follow_up(active).await;
    app.operator().await.follow_up(&job, "And more", &intent()).await;
    let again =
        logged_once(&admin, &webhook, |event| event["job"] == job["id"] && event["event"] == "job.failed")
            .await;
    assert_eq!(again["job"], job["id"]);
    let told_of_it = log(&admin, &webhook).await.iter().filter(|event| event["job"] == job["id"]).count();
    assert_eq!(told_of_it, 2);
}

#[tokio::test]
async fn an_event_outlives_a_crash_while_it_is_being_told() {
    let mut app = TestApp::with(frozen()).await;
    let receiver = RawUpstream::start(|n| match n {
        0 => Act::Stall(Vec::new()),
        _ => Act::HangUp(b"HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n".to_vec()),
    });
    let webhook = add(&app.sign_in("ada").await, "json", &receiver.url()).await;
    rejected_job(&app).await;
    until("the event is on its way", async || (receiver.requests() == 1).then_some(())).await;
    app.crash();
    app.begin().await;
    let admin = app.sign_in("ada").await;
    assert_eq!(log(&admin, &webhook).await[0]["outcome"], "waiting");
    app.clock().advance(Duration::from_secs(31));
    let delivery = logged_once(&admin, &webhook, |event| event["outcome"] == "delivered").await;
    assert_eq!((&delivery["attempts"], receiver.requests()), (&json!(2), 2));
}

#[tokio::test]
async fn a_failing_receiver_is_tried_again_ever_more_slowly_and_then_given_up() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(500).set_body_string("out of\u{7} order")).await;
    let webhook = hooked(&admin, &receiver).await;
    rejected_job(&app).await;
    for (tries, pause) in [10, 60, 300, 1_800, 7_200, 21_600].into_iter().enumerate() {
        let event =
            logged_once(&admin, &webhook, |event| event["attempts"] == tries + 1 && event["status"] == 500)
                .await;
        assert_eq!((&event["outcome"], &event["note"]), (&json!("waiting"), &json!("out of order")));
        let next: Timestamp = event["next_try_at"].as_str().unwrap().parse().unwrap();
        let wait = next.as_millis() - app.clock().now().as_millis();
        assert!((pause * 1_000..=pause * 1_200).contains(&wait), "{wait} ms after try {}", tries + 1);
        app.clock().advance(Duration::from_millis(wait as u64 - 1));
        assert_eq!(app.panel().webhooks.deliver_due().await.unwrap(), 0, "tried too soon");
        app.clock().advance(Duration::from_millis(1));
    }
    let over = logged_once(&admin, &webhook, |event| event["outcome"] == "given_up").await;
    assert_eq!((&over["attempts"], &over["next_try_at"]), (&json!(7), &json!(null)));
    let ids: Vec<_> =
        heard(&receiver).await.iter().map(|request| request.headers["docket-delivery"].clone()).collect();
    assert!(ids.len() == 7 && ids.iter().all(|same| *same == ids[0]), "{ids:?}");

    let again = admin.ask("/api/webhooks/retry", &[("delivery", id(&over))]).await;
    assert_eq!(
        (&again["id"], &again["attempts"], &again["outcome"]),
        (&over["id"], &json!(1), &json!("waiting"))
    );
}

#[tokio::test]
async fn the_clock_set_back_does_not_silence_a_webhook() {
    let mut app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(500)).await;
    let webhook = hooked(&admin, &receiver).await;
    rejected_job(&app).await;
    logged_once(&admin, &webhook, |event| event["status"] == 500).await;
    let earlier = Clock::frozen("2025-03-01T10:00:00Z".parse::<Timestamp>().unwrap());
    app.restart_with(|settings| settings.clock = earlier).await;
    logged_once(&admin_of(&app).await, &webhook, |event| event["attempts"] == 2).await;
}

async fn admin_of(app: &TestApp) -> Browser {
    app.sign_in("ada").await
}

#[tokio::test]
async fn what_a_receiver_answers_decides_what_comes_next() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let elsewhere = receiver(ResponseTemplate::new(200)).await;
    let large = "x".repeat(1_000_000);
    let lead_away = ResponseTemplate::new(307).insert_header("location", format!("{}/hook", elsewhere.uri()));
    for (answer, outcome, note) in [
        (ResponseTemplate::new(200).set_body_string(large), "delivered", "x".repeat(300)),
        (ResponseTemplate::new(404).set_body_string(" no such\nhook "), "waiting", "no suchhook".to_owned()),
        (ResponseTemplate::new(410).set_body_string("gone"), "given_up", "gone".to_owned()),
        (lead_away, "waiting", "The receiver sends elsewhere, and webhooks follow no redirects.".to_owned()),
        (
            ResponseTemplate::new(503).set_body_bytes(b"\xff\xfe!".to_vec()),
            "waiting",
            "\u{fffd}\u{fffd}!".to_owned(),
        ),
    ] {
        let webhook = hooked(&admin, &receiver(answer).await).await;
        rejected_job(&app).await;
        let event = logged_once(&admin, &webhook, |event| event["status"] != json!(null)).await;
        assert_eq!((&event["outcome"], &event["note"]), (&json!(outcome), &json!(note)));
        admin.ask("/api/webhooks/disable", &[("webhook", id(&webhook))]).await;
    }
    assert_eq!(heard(&elsewhere).await.len(), 0);

    let (_kept, nobody) = refusing_address();
    let webhook = add(&admin, "json", &nobody).await;
    let tried = test(&admin, &webhook).await;
    assert_eq!(
        (&tried["status"], &tried["note"]),
        (&json!(null), &json!("The receiver could not be reached."))
    );
    assert_eq!(tried["outcome"], "given_up", "a test is tried once");
}

#[tokio::test]
async fn a_silent_receiver_costs_ten_seconds_and_holds_up_nobody_who_asks_later() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let silent = RawUpstream::start(|_| Act::Stall(Vec::new()));
    let dripping =
        RawUpstream::start(|_| Act::Stall(b"HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nthan".to_vec()));
    let (first, second) =
        (add(&admin, "json", &silent.url()).await, add(&admin, "json", &dripping.url()).await);
    rejected_job(&app).await;
    let event = logged_once(&admin, &first, |event| event["note"] != json!(null)).await;
    assert_eq!(event["note"], "The receiver did not answer in time.");
    let event = logged_once(&admin, &second, |event| event["outcome"] == "delivered").await;
    assert_eq!((&event["status"], &event["note"]), (&json!(200), &json!("than")));
}

#[tokio::test]
async fn only_enabled_webhooks_of_the_project_are_told_each_in_its_own_event() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200)).await;
    let (first, second) = (hooked(&admin, &receiver).await, hooked(&admin, &receiver).await);
    let disabled = hooked(&admin, &receiver).await;
    admin.ask("/api/webhooks/disable", &[("webhook", id(&disabled))]).await;
    let address = format!("{}/hook", receiver.uri());
    let other = [("project", "api"), ("kind", "json"), ("address", address.as_str())];
    let other = admin.ask("/api/webhooks/add", &other).await;
    rejected_job(&app).await;
    let one = logged_once(&admin, &first, |event| event["outcome"] == "delivered").await;
    let two = logged_once(&admin, &second, |event| event["outcome"] == "delivered").await;
    assert_ne!(one["id"], two["id"]);
    let requests = heard(&receiver).await;
    for (webhook, event) in [(&first, &one), (&second, &two)] {
        let request =
            requests.iter().find(|request| request.headers["docket-delivery"] == id(event)).unwrap();
        verified(request, webhook["secret"].as_str().unwrap());
    }
    assert_eq!(
        (requests.len(), log(&admin, &disabled).await.len(), log(&admin, &other).await.len()),
        (2, 0, 0)
    );

    admin.ask("/api/webhooks/enable", &[("webhook", id(&disabled))]).await;
    rejected_job(&app).await;
    logged_once(&admin, &disabled, |event| event["outcome"] == "delivered").await;
}

#[tokio::test]
async fn a_disabled_webhook_is_told_nothing_that_waited_and_a_removed_one_is_gone_with_its_log() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(500)).await;
    let webhook = hooked(&admin, &receiver).await;
    let fields = [("webhook", id(&webhook))];
    rejected_job(&app).await;
    logged_once(&admin, &webhook, |event| event["status"] == 500).await;
    admin.ask("/api/webhooks/disable", &fields).await;
    let event = log(&admin, &webhook).await.remove(0);
    assert_eq!((&event["outcome"], &event["next_try_at"]), (&json!("given_up"), &json!(null)));
    app.clock().advance(Duration::from_secs(24 * 3_600));
    assert_eq!(app.panel().webhooks.deliver_due().await.unwrap(), 0);
    // It can be tested all the same, once one has signed in again after a day without use.
    let admin = app.sign_in("ada").await;
    assert_eq!(test(&admin, &webhook).await["status"], 500);

    admin.ask("/api/webhooks/remove", &fields).await;
    assert_eq!(admin.ask("/api/webhooks/list", &[]).await, json!({"webhooks": [], "secret": null}));
    for endpoint in ["enable", "disable", "remove", "renew", "test"] {
        admin.post(&format!("/api/webhooks/{endpoint}"), &fields).await.refused(404, "not_found");
    }
    admin.post("/api/webhooks/retry", &[("delivery", id(&event))]).await.refused(404, "not_found");
    admin.post("/api/webhooks/test", &[("webhook", "../x")]).await.refused(400, "bad_input");
    assert_eq!(app.operator().await.job(&json!({"id": event["job"]})).await["state"], "rejected");
}

#[tokio::test]
async fn a_secret_is_told_once_and_a_new_one_takes_its_place() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200)).await;
    let webhook = hooked(&admin, &receiver).await;
    let secret = webhook["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 6 + 43, "{secret}");
    assert_eq!(admin.ask("/api/webhooks/list", &[]).await["secret"], webhook);
    assert_eq!(admin.ask("/api/webhooks/list", &[]).await["secret"], json!(null));
    test(&admin, &webhook).await;
    let told = verified(&heard(&receiver).await[0], secret);
    assert_eq!((&told["type"], &told["job"]), (&json!("webhook.test"), &json!(null)));

    let renewed = admin.ask("/api/webhooks/renew", &[("webhook", id(&webhook))]).await;
    assert_eq!(renewed["id"], webhook["id"]);
    assert_ne!(renewed["secret"], webhook["secret"]);
    test(&admin, &webhook).await;
    verified(&heard(&receiver).await[1], renewed["secret"].as_str().unwrap());
    assert!(logged(secret).is_empty(), "the secret is in the log");
}

#[tokio::test]
async fn slack_is_told_in_its_own_form_and_its_address_is_kept_secret() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = MockServer::start().await;
    let secret_path = "/services/T0001/B0002/verySecretPartWXYZ";
    let repeats = ResponseTemplate::new(500).set_body_string(format!("no handler for {secret_path}"));
    Mock::given(path(secret_path)).respond_with(repeats).mount(&receiver).await;
    let webhook = add(&admin, "slack", &format!("{}{secret_path}", receiver.uri())).await;
    assert_eq!(webhook["secret"], json!(null));
    let done = job_with(&detached_job(), "completed", "prLink", json!("https://git.example/pull/7?a=1&b=|x"));
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(done)).await;
    let job = app.operator().await.created("<!channel> & *bold* |\nmore").await;
    let event = logged_once(&admin, &webhook, |event| event["status"] == 500).await;
    assert_eq!(event["note"], "no handler for /…");
    let request = &heard(&receiver).await[0];
    let said: Value = serde_json::from_slice(&request.body).unwrap();
    let url = format!("{}/p/docs/jobs/{}", app.origin(), id(&job));
    let title = format!("<{url}|&lt;!channel&gt; &amp; *bold* |>");
    let link = "<https://git.example/pull/7?a=1&amp;b=%7Cx|pull request>";
    assert_eq!(said, json!({"text": format!("A pull request is ready: {title} ({link}), by olga")}));
    assert!(!request.headers.contains_key("docket-signature"));

    let listed = admin.ask("/api/webhooks/list", &[]).await;
    assert_eq!(listed["webhooks"][0]["address"], format!("{}/…WXYZ", receiver.uri()));
    let page = admin.get("/admin/webhooks").await;
    assert!(page.text.contains("/…WXYZ"));
    for (place, text) in [("the list", listed.to_string()), ("the page", page.text)] {
        assert!(!text.contains("verySecretPart"), "the address is in {place}");
    }
    assert_eq!(logged("verySecretPart"), [""; 0]);
    admin.post("/api/webhooks/renew", &[("webhook", id(&webhook))]).await.refused(404, "not_found");
}

#[tokio::test]
async fn only_administrators_reach_webhooks() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200)).await;
    let webhook = hooked(&admin, &receiver).await;
    test(&admin, &webhook).await;
    let event = log(&admin, &webhook).await.remove(0);
    let before = admin.ask("/api/webhooks/list", &[]).await["webhooks"].clone();
    let address = format!("{}/hook", receiver.uri());
    let fields = [
        ("webhook", id(&webhook)),
        ("delivery", id(&event)),
        ("project", "docs"),
        ("kind", "json"),
        ("address", address.as_str()),
    ];
    for name in ["vera", "olga"] {
        let person = app.sign_in(name).await;
        for endpoint in ENDPOINTS {
            person.post(&format!("/api/webhooks/{endpoint}"), &fields).await.refused(403, "forbidden");
        }
        let page = person.get("/admin/webhooks").await;
        assert!(page.status == 403 && !page.text.contains(&receiver.uri()), "{}", page.status);
    }
    assert_eq!(admin.ask("/api/webhooks/list", &[]).await["webhooks"], before);
    assert_eq!(heard(&receiver).await.len(), 1);
}

#[tokio::test]
async fn an_address_that_webhooks_must_not_lead_to_is_refused_with_a_sentence() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    for address in [
        "",
        "hooks.example/x",
        "http://hooks.example/x",
        "http://localhost:9/x",
        "https://me:secret-word@hooks.example/x",
        "https://127.0.0.1/x",
        "https://10.0.0.8/x",
        "https://169.254.169.254/latest",
        "https://[fd00::1]/x",
        "file:///etc/passwd",
    ] {
        let fields = [("project", "docs"), ("kind", "json"), ("address", address)];
        let said = admin.post("/api/webhooks/add", &fields).await.refused(400, "bad_input");
        assert!(!said.contains("secret-word"), "{said}");
    }
    for (project, kind) in [("docs", "email"), ("../x", "json")] {
        let fields = [("project", project), ("kind", kind), ("address", "https://hooks.example/x")];
        admin.post("/api/webhooks/add", &fields).await.refused(400, "bad_input");
    }
    let unknown = [("project", "nobodys"), ("kind", "json"), ("address", "https://hooks.example/x")];
    admin.post("/api/webhooks/add", &unknown).await.refused(404, "not_found");
    assert_eq!(admin.ask("/api/webhooks/list", &[]).await["webhooks"], json!([]));
}

#[tokio::test]
async fn a_name_that_leads_into_a_private_network_is_found_out_when_it_is_connected_to() {
    let mut app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let listens = RawUpstream::start(|_| Act::HangUp(Vec::new()));
    let address = listens.url().replace("http://127.0.0.1", "https://localhost");
    let webhook = add(&admin, "json", &address).await;
    let note = test(&admin, &webhook).await["note"].clone();
    assert!(note.as_str().unwrap().contains("DOCKET_WEBHOOK_PRIVATE"), "{note}");

    app.restart_with(|settings| settings.webhooks = WebhookConfig { private: true }).await;
    let note = test(&admin_of(&app).await, &webhook).await["note"].clone();
    assert!(!note.as_str().unwrap().contains("DOCKET_WEBHOOK_PRIVATE"), "{note}");
}

#[tokio::test]
async fn plain_http_is_for_a_panel_on_this_machine_only() {
    let settings = Settings { public_url: Some("https://docket.example".to_owned()), ..frozen() };
    let app = TestApp::with(settings).await;
    let admin = app.sign_in("ada").await;
    let fields = [("project", "docs"), ("kind", "json"), ("address", "http://127.0.0.1:9/x")];
    let said = admin.post("/api/webhooks/add", &fields).await.refused(400, "bad_input");
    assert!(said.contains("https"), "{said}");
}

#[tokio::test]
async fn forms_without_javascript_add_test_and_delete() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200).set_body_string("<b>thanks</b>")).await;
    let page = format!("{}/admin/webhooks", app.origin());
    let address = format!("{}/hook", receiver.uri());
    let fields = [("project", "docs"), ("kind", "json"), ("address", address.as_str())];
    let added = admin.submit("/api/webhooks/add", &fields, Some(&page)).await;
    assert_eq!((added.status, added.location()), (302, "/admin/webhooks"));
    let shown = admin.get("/admin/webhooks").await;
    assert!(shown.text.contains("whsec_") && shown.text.contains(&address));
    assert!(!admin.get("/admin/webhooks").await.text.contains("whsec_"), "shown twice");

    let webhook = admin.ask("/api/webhooks/list", &[]).await["webhooks"][0].clone();
    let tested = admin.submit("/api/webhooks/test", &[("webhook", id(&webhook))], Some(&page)).await;
    assert_eq!(tested.location(), format!("/admin/webhooks?webhook={}", id(&webhook)));
    let log = admin.get(tested.location()).await;
    assert!(
        log.text.contains("Delivered (200)") && log.text.contains("&lt;b&gt;thanks&lt;/b&gt;"),
        "{}",
        log.text
    );

    let refused = [("project", "docs"), ("kind", "json"), ("address", "http://hooks.example/")];
    let refused = admin.submit("/api/webhooks/add", &refused, Some(&page)).await;
    let path = refused.location().strip_prefix(&app.origin()).unwrap_or(refused.location()).to_owned();
    assert!(admin.get(&path).await.text.contains("The address must begin with https://"), "{path}");

    let removed = admin.submit("/api/webhooks/remove", &[("webhook", id(&webhook))], Some(&page)).await;
    assert_eq!(removed.location(), "/admin/webhooks");
    assert!(admin.get("/admin/webhooks").await.text.contains("Nobody is told yet"));
}
