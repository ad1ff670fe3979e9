//! A process may end at any moment. Afterwards prompts that were being sent are *unknown* and never sent again; queued ones are
//! sent.

use std::io::Write;
use std::net::TcpStream;
use std::time::Duration;

use model::user::Project;
use store::jobs::intents::Scheduling;
use wiremock::ResponseTemplate;

use crate::helpers::work::commit;
use crate::helpers::{
    Act, New, PausedUpstream, RawUpstream, Settings, TestApp, fields, intent, json, remote_job, until,
};

async fn app_on(upstream: &RawUpstream) -> TestApp {
    TestApp::with(Settings { upstream_url: Some(upstream.url()), ..Settings::default() }).await
}

fn created_response(job: &serde_json::Value) -> Act {
    let body = job.to_string();
    Act::Send(format!("HTTP/1.1 201 Created\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes())
}

#[tokio::test]
async fn crash_during_a_create_leaves_it_unknown() {
    let upstream = RawUpstream::start(|_| Act::Stall(Vec::new()));
    let mut app = app_on(&upstream).await;
    let operator = app.operator().await;
    let sent = intent();
    let request = New::job("Fix typos").with("intent", &sent).request(&operator);
    let waiting = tokio::spawn(async move { operator.try_send(request).await.is_ok() });
    until("the upstream has the request", async || (upstream.requests() == 1).then_some(())).await;
    app.crash();
    assert!(!waiting.await.unwrap(), "a response came from a dead process");

    app.begin().await;
    let operator = app.operator().await;
    let list = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    let job = &list["jobs"][0];
    assert_eq!((&job["state"], &job["prompt"]), (&json!("unknown"), &json!("Fix typos")));
    assert!(job["reason"].as_str().unwrap().contains("stopped"), "{job}");
    assert_eq!(operator.create("Fix typos", &sent).await.json()["id"], job["id"]);
    nothing_is_left_to_send(&app).await;
    assert_eq!(upstream.requests(), 1);
}

#[tokio::test]
async fn crash_during_a_follow_up_leaves_it_unknown() {
    let upstream = RawUpstream::start(|n| {
        if n == 0 { created_response(&remote_job("job_1", "active")) } else { Act::Stall(Vec::new()) }
    });
    let mut app = app_on(&upstream).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let sent = intent();
    let id = job["id"].as_str().unwrap();
    let pairs = [("project", "docs"), ("job", id), ("prompt", "And more"), ("intent", sent.as_str())];
    let request = operator.call("/api/jobs/message", &pairs);
    let waiting = tokio::spawn(async move { operator.try_send(request).await.is_ok() });
    until("the upstream has the request", async || (upstream.requests() == 2).then_some(())).await;
    app.crash();
    assert!(!waiting.await.unwrap(), "a response came from a dead process");

    app.begin().await;
    let operator = app.operator().await;
    let read = operator.job(&job).await;
    assert_eq!((&read["state"], &read["follow_ups"][0]["state"]), (&json!("active"), &json!("unknown")));
    assert_eq!(operator.follow_up(&job, "And more", &sent).await.json(), read);
    nothing_is_left_to_send(&app).await;
    assert_eq!(upstream.posts(), 2);
}

/// The projects of [`Settings::default`].
fn configured() -> Vec<Project> {
    ["docs", "api"]
        .map(|id| Project { id: id.parse().unwrap(), name: id.to_owned(), site: None, is_direct: false })
        .into()
}

/// No row is queued or being sent, so that a later process sends nothing.
async fn nothing_is_left_to_send(app: &TestApp) {
    let store = app.open_store().await;
    assert_eq!(
        store.due_messages(&configured(), app.clock().now().plus_seconds(1_000_000_000)).await.unwrap(),
        []
    );
    store.close().await;
    assert_eq!(app.ledger().without_outcome().await, 0);
}

#[tokio::test]
async fn queued_prompt_is_sent_after_a_restart() {
    let mut app = TestApp::prepared(Settings::default()).await;
    app.upstream.accepts_jobs().await;
    let store = app.open_store().await;
    let message = commit(&store, app.clock().now(), "Fix typos", &intent(), Scheduling::Immediate).await;
    let due = store.due_messages(&configured(), app.clock().now()).await.unwrap();
    assert!(due.iter().any(|due| due.id == message), "it is queued");
    store.close().await;

    app.begin().await;
    let operator = app.operator().await;
    let job = until("the job was sent", async || {
        let list = operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
        (list["jobs"][0]["state"] == "active").then(|| list["jobs"][0].clone())
    })
    .await;
    assert_eq!((&job["prompt"], &job["author"]), (&json!("Fix typos"), &json!("olga")));
    let posts = app.upstream.posts().await;
    assert_eq!(posts.len(), 1);
    assert_eq!(posts[0].body_json::<serde_json::Value>().unwrap(), json!({"prompt": "Fix typos"}));
}

#[tokio::test]
async fn shutdown_waits_for_deliveries_in_progress() {
    let upstream = PausedUpstream::start().await;
    upstream.pause();
    let settings = Settings { upstream_url: Some(upstream.url()), ..Settings::default() };
    let mut app = TestApp::with(settings).await;
    let operator = app.operator().await;
    let sent = intent();
    let request = New::job("Fix typos").with("intent", &sent).request(&operator);
    let waiting = tokio::spawn(async move { operator.try_send(request).await });
    until("the upstream has the request", async || (upstream.posts_of("Fix typos") == 1).then_some(())).await;
    // The request does not wait for the outcome; the process does.
    let ((), response) = tokio::join!(app.stop(), async {
        let response = waiting.await.unwrap().unwrap();
        upstream.resume();
        response
    });
    assert_eq!((response.status, &response.json()["state"]), (200, &json!("sending")));

    app.begin().await;
    let operator = app.operator().await;
    let again = operator.create("Fix typos", &sent).await.json();
    assert_eq!((&again["id"], &again["state"]), (&response.json()["id"], &json!("active")));
    assert_eq!(upstream.posts_of("Fix typos"), 1);
}

#[tokio::test]
async fn shutdown_waits_for_running_deliveries_and_begins_none() {
    let upstream = PausedUpstream::start().await;
    upstream.pause();
    let settings = Settings { upstream_url: Some(upstream.url()), ..Settings::default() };
    let mut app = TestApp::with(settings).await;
    let operator = app.operator().await;
    // Sends the beginning of a request, and returns its end.
    let begin = |prompt: &str, sent: &str| {
        let body = fields(&[("project", "docs"), ("prompt", prompt), ("intent", sent)]);
        let (begin, end) = body.split_at(body.len() / 2);
        let mut client = TcpStream::connect(app.address()).unwrap();
        write!(
            client,
            "POST /api/jobs/create HTTP/1.1\r\nhost: {}\r\ncookie: {}\r\nsec-fetch-site: same-origin\r\n\
             accept: application/json\r\ncontent-type: application/x-www-form-urlencoded\r\n\
             content-length: {}\r\n\r\n{begin}",
            app.address(),
            operator.cookie().unwrap(),
            body.len()
        )
        .unwrap();
        (client, end.to_owned())
    };
    let (in_time, sent_late) = (intent(), intent());
    let (mut client, end) = begin("Fix typos", &in_time);
    let (mut late, end_of_late) = begin("Fix links", &sent_late);
    client.write_all(end.as_bytes()).unwrap();
    until("the upstream has it", async || (upstream.posts_of("Fix typos") == 1).then_some(())).await;
    drop(client);
    // The response to a later request shows that the server has accepted the incomplete one.
    operator.post_json("/api/jobs/list", &[("project", "docs")]).await;
    let (address, ledger) = (app.address(), app.ledger());
    let mut stopped = Box::pin(app.stop());
    let late_one = async {
        until("no further connection is accepted", async || {
            TcpStream::connect(address).is_err().then_some(())
        })
        .await;
        late.write_all(end_of_late.as_bytes()).unwrap();
        let committed = "SELECT COUNT(*) FROM messages WHERE prompt = 'Fix links'";
        until("it is committed", async || (ledger.count(committed).await == 1).then_some(())).await;
        drop(late);
    };
    tokio::select! {
        () = late_one => {}
        () = &mut stopped => panic!("it did not wait for a request"),
    }
    let early = tokio::time::timeout(Duration::from_secs(1), &mut stopped).await;
    assert!(early.is_err(), "it did not wait for the prompt");
    upstream.resume();
    stopped.await;
    assert_eq!(upstream.posts_of("Fix links"), 0);

    app.begin().await;
    let operator = app.operator().await;
    assert_eq!(operator.create("Fix typos", &in_time).await.json()["state"], "active");
    until("the other one is sent", async || (upstream.posts_of("Fix links") == 1).then_some(())).await;
    assert_eq!(operator.create("Fix links", &sent_late).await.json()["state"], "active");
    assert_eq!((upstream.posts_of("Fix typos"), upstream.posts_of("Fix links")), (1, 1));
}

#[tokio::test]
async fn database_loss_during_a_delivery_is_not_reported_as_unsent() {
    let app = TestApp::start().await;
    let slow = ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"));
    app.upstream.on_create(slow.set_delay(Duration::from_secs(30))).await;
    let operator = app.operator().await;
    let sent = intent();
    let (response, ()) = futures::join!(operator.create("Fix typos", &sent), async {
        until("the upstream has it", async || (app.upstream.posts().await.len() == 1).then_some(())).await;
        app.state().store.close().await;
    });
    // The job as it was committed: an error would make people send the prompt again.
    assert_eq!(response.status, 200, "{}", response.text);
    let job = response.json();
    assert_eq!((&job["prompt"], &job["state"]), (&json!("Fix typos"), &json!("queued")));
}
