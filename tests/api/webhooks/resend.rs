//! Events of a receiver that was down, sent again all at once.

use super::*;

const STORED: &str = "SELECT COUNT(*) FROM webhook_deliveries WHERE outcome = 'given_up'";

async fn failed(admin: &Browser) -> Value {
    admin.post_json("/api/webhooks/list", &[]).await["webhooks"][0]["failed"].clone()
}

/// A receiver from which every event returns as given up at once, and later none.
async fn answer(receiver: &MockServer, status: u16) {
    receiver.reset().await;
    Mock::given(method("POST")).respond_with(ResponseTemplate::new(status)).mount(receiver).await;
}

/// The ids of the events that arrived, in order.
async fn ids(receiver: &MockServer) -> Vec<String> {
    let requests = heard(receiver).await;
    requests.iter().map(|request| request.headers["docket-delivery"].to_str().unwrap().to_owned()).collect()
}

/// Jobs that the platform rejects, each with an event that is not delivered.
async fn undelivered(app: &TestApp, jobs: usize) {
    let before = app.ledger().count(STORED).await;
    app.upstream.reset().await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    let olga = app.operator().await;
    for job in 0..jobs {
        olga.created(&format!("Job {job}")).await;
    }
    until("all are given up", async || {
        (app.ledger().count(STORED).await == before + jobs as i64).then_some(())
    })
    .await;
}

#[tokio::test]
async fn undelivered_events_are_all_sent_again_in_order() {
    let app = TestApp::with(frozen()).await;
    let admin = admin_of(&app).await;
    let receiver = MockServer::start().await;
    answer(&receiver, 410).await;
    let webhook = hooked(&admin, &receiver).await;
    undelivered(&app, 60).await;
    let first = ids(&receiver).await;
    assert_eq!((first.len(), failed(&admin).await), (60, json!(60)), "more than the log shows");
    let page = admin.page("/admin/webhooks").await;
    assert!(page.contains("60 events not delivered") && page.contains("Send all again"), "{page}");

    answer(&receiver, 200).await;
    let fields = [("webhook", id(&webhook))];
    let response = admin.submit("/api/webhooks/retry-all", &fields, Some("/admin/webhooks")).await;
    assert!([302, 303].contains(&response.status), "{}", response.status);
    assert!(admin.page("/admin/webhooks").await.contains("Docket sends 60 events again, the oldest first."));
    until("all arrive", async || (ids(&receiver).await.len() == 60).then_some(())).await;
    assert_eq!(ids(&receiver).await, first, "each under its id, in its order");
    until("all are recorded", async || (failed(&admin).await == json!(null)).then_some(())).await;
    let audit = "SELECT COUNT(*) FROM audit WHERE action = 'webhook_resend_all' AND detail = '60 events'";
    assert_eq!(app.ledger().count(audit).await, 1);
    assert_eq!(admin.post_json("/api/webhooks/retry-all", &fields).await, json!(0));
    assert!(!admin.page("/admin/webhooks").await.contains("not delivered</span>"));
    // Those that were delivered are limited as before.
    let stored = app.ledger().count("SELECT COUNT(*) FROM webhook_deliveries").await;
    assert!(stored <= 51, "{stored}");
}

#[tokio::test]
async fn undelivered_events_are_stored_for_thirty_days() {
    let app = TestApp::with(frozen()).await;
    let admin = admin_of(&app).await;
    let receiver = MockServer::start().await;
    answer(&receiver, 410).await;
    let webhook = hooked(&admin, &receiver).await;
    undelivered(&app, 2).await;
    app.clock().advance(Duration::from_secs(29 * 86_400));
    let admin = admin_of(&app).await;
    undelivered(&app, 1).await;
    assert_eq!(failed(&admin).await, json!(3));
    app.clock().advance(Duration::from_secs(86_400 + 1));
    let admin = admin_of(&app).await;
    assert_eq!(failed(&admin).await, json!(1));
    let fields = [("webhook", id(&webhook))];
    assert_eq!(admin.post_json("/api/webhooks/retry-all", &fields).await, json!(1));

    until("it is given up again", async || (failed(&admin).await == json!(1)).then_some(())).await;
    admin.post_json("/api/webhooks/disable", &fields).await;
    admin.post("/api/webhooks/retry-all", &fields).await.refused(409, "conflict");
    assert!(!admin.page("/admin/webhooks").await.contains(">Send all again<"));
    admin.post_json("/api/webhooks/remove", &fields).await;
    admin.post("/api/webhooks/retry-all", &fields).await.refused(404, "not_found");
}

/// Whether its receiver is up again or not, an event waits for the one before.
#[tokio::test]
async fn events_are_sent_again_one_at_a_time_and_delay_no_others() {
    let app = TestApp::with(frozen()).await;
    let admin = admin_of(&app).await;
    let silent = RawUpstream::start(|n| match n {
        0..=5 => Act::HangUp(b"HTTP/1.1 410 Gone\r\ncontent-length: 0\r\n\r\n".to_vec()),
        _ => Act::Stall(Vec::new()),
    });
    let webhook = add(&admin, "json", &silent.url()).await;
    undelivered(&app, 6).await;
    assert_eq!(admin.post_json("/api/webhooks/retry-all", &[("webhook", id(&webhook))]).await, json!(6));
    until("one is being sent", async || (silent.requests() == 7).then_some(())).await;
    let other = receiver(ResponseTemplate::new(204)).await;
    hooked(&admin, &other).await;
    rejected_job(&app).await;
    until("another webhook has its event", async || (heard(&other).await.len() == 1).then_some(())).await;
    // Each request ends after ten seconds.
    assert!(silent.requests() < 10, "{} requests", silent.requests());
}
