//! Deliveries: content, receivers, timing and retries.

use super::*;

#[tokio::test]
async fn finished_job_sends_a_signed_event_with_an_excerpt() {
    let app =
        TestApp::with(Settings { poll_interval: Duration::from_millis(1), ..Settings::default() }).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(204)).await;
    let webhook = hooked(&admin, &receiver).await;
    let remote = detached_job();
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job(&remote, "active"))).await;
    let done = job_with(&remote, "completed", "prLink", json!("https://git.example/pull/7"));
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(done)).await;
    let title = "é".repeat(200);
    let job = app.operator().await.created(&format!("\n {title}\nand what nobody else needs to know")).await;

    let delivery = logged_once(&admin, &webhook, |event| event["outcome"] == "delivered").await;
    let requests = heard(&receiver).await;
    assert_eq!(requests.len(), 1);
    let event = verified(&requests[0], webhook["secret"].as_str().unwrap());
    assert_eq!(event["at"], admin.job(&job).await["changed_at"]);
    assert_eq!(event["job"]["title"], "é".repeat(140));
    assert_eq!(event["job"]["url"], format!("{}/p/docs/jobs/{}", app.origin(), id(&job)));
    let delivery = picked(&delivery, ["id", "job", "attempts", "status"]);
    insta::assert_json_snapshot!(steady(&json!([event, delivery, job["id"]])));
}

#[tokio::test]
async fn every_outcome_sends_an_event_each_time() {
    let app =
        TestApp::with(Settings { poll_interval: Duration::from_millis(1), ..Settings::default() }).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200)).await;
    let webhook = hooked(&admin, &receiver).await;
    let responds = |status: u16, word: &str| {
        ResponseTemplate::new(status).set_body_json(remote_job(&detached_job(), word))
    };
    let mut expected = Vec::new();
    for (response, event) in [
        (ResponseTemplate::new(400), "job.rejected"),
        (ResponseTemplate::new(500), "job.unknown"),
        (responds(201, "failed"), "job.failed"),
        (responds(201, "archived"), "job.archived"),
        (responds(201, "completed"), "job.completed"),
    ] {
        app.upstream.reset().await;
        app.upstream.on_create(response).await;
        app.operator().await.created("Fix typos").await;
        expected.insert(0, event);
        let events = until("an event", async || {
            Some(log(&admin, &webhook).await).filter(|log| log.len() == expected.len())
        })
        .await;
        assert_eq!(events.iter().map(|event| event["event"].clone()).collect::<Vec<_>>(), expected);
    }
    // Polls return the requested job.
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
    // The earlier jobs are completed now, too.
    let logged = async |kind: &str| {
        until(kind, async || {
            let log = log(&admin, &webhook).await;
            log.iter().any(|event| event["job"] == job["id"] && event["event"] == kind).then_some(())
        })
        .await;
    };
    logged("job.completed").await;
    app.upstream.reset().await;
    app.upstream.on_read(read("failed")).await;
    app.upstream.on_follow_up(active).await;
    app.operator().await.follow_up(&job, "And more", &intent()).await;
    logged("job.failed").await;
    let told_of_it = log(&admin, &webhook).await.iter().filter(|event| event["job"] == job["id"]).count();
    assert_eq!(told_of_it, 2);
}

#[tokio::test]
async fn events_of_a_removed_project_wait_until_it_returns() {
    let mut app = TestApp::with(frozen()).await;
    let (of_docs, of_api) =
        (receiver(ResponseTemplate::new(500)).await, receiver(ResponseTemplate::new(500)).await);
    let admin = admin_of(&app).await;
    hooked(&admin, &of_docs).await;
    let address = format!("{}/hook", of_api.uri());
    New::webhook(&address).with("project", "api").made(&admin).await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    for project in ["docs", "api"] {
        New::job("Fix typos").with("project", project).made(&app.operator().await).await;
    }
    let tried = "SELECT COUNT(*) FROM webhook_deliveries WHERE attempts = 1 AND status = 500";
    until("both events are tried", async || (app.ledger().count(tried).await == 2).then_some(())).await;

    app.restart_with(|settings| settings.projects = "api=API reference".to_owned()).await;
    app.clock().advance(Duration::from_secs(60));
    until("the other project's event is tried", async || (heard(&of_api).await.len() == 2).then_some(()))
        .await;
    assert_eq!(heard(&of_docs).await.len(), 1, "an event of a removed project is sent");

    app.restart_with(|settings| settings.projects = "docs=Docs,api=API reference".to_owned()).await;
    until("the event is tried", async || (heard(&of_docs).await.len() == 2).then_some(())).await;
}

#[tokio::test]
async fn event_survives_a_crash_during_its_delivery() {
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
async fn failing_receiver_is_retried_with_backoff_and_then_given_up() {
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
        assert_eq!(app.state().webhooks.deliver_due().await.unwrap(), 0, "tried too soon");
        app.clock().advance(Duration::from_millis(1));
    }
    let over = logged_once(&admin, &webhook, |event| event["outcome"] == "given_up").await;
    assert_eq!((&over["attempts"], &over["next_try_at"]), (&json!(7), &json!(null)));
    let ids: Vec<_> =
        heard(&receiver).await.iter().map(|request| request.headers["docket-delivery"].clone()).collect();
    assert!(ids.len() == 7 && ids.iter().all(|same| *same == ids[0]), "{ids:?}");

    let again = admin.post_json("/api/webhooks/retry", &[("delivery", id(&over))]).await;
    assert_eq!(
        picked(&again, ["id", "attempts", "outcome"]),
        json!({"id": over["id"], "attempts": 1, "outcome": "waiting"})
    );
}

#[tokio::test]
async fn clock_rollback_does_not_stop_a_webhook() {
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

#[tokio::test]
async fn receiver_status_determines_retry_or_failure() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let elsewhere = receiver(ResponseTemplate::new(200)).await;
    let large = "x".repeat(1_000_000);
    let lead_away = ResponseTemplate::new(307).insert_header("location", format!("{}/hook", elsewhere.uri()));
    for (response, outcome, note) in [
        (ResponseTemplate::new(200).set_body_string(large), "delivered", "x".repeat(300)),
        (ResponseTemplate::new(404).set_body_string(" no such\nhook "), "waiting", "no suchhook".to_owned()),
        (ResponseTemplate::new(410).set_body_string("gone"), "given_up", "gone".to_owned()),
        (lead_away, "waiting", "The receiver sent a redirect, which webhooks do not follow.".to_owned()),
        (
            ResponseTemplate::new(503).set_body_bytes(b"\xff\xfe!".to_vec()),
            "waiting",
            "\u{fffd}\u{fffd}!".to_owned(),
        ),
    ] {
        let receiver = receiver(response).await;
        let webhook = hooked(&admin, &receiver).await;
        rejected_job(&app).await;
        let event = logged_once(&admin, &webhook, |event| event["status"] != json!(null)).await;
        assert_eq!((&event["outcome"], &event["note"]), (&json!(outcome), &json!(note)));
        admin.post_json("/api/webhooks/disable", &[("webhook", id(&webhook))]).await;
    }
    assert_eq!(heard(&elsewhere).await.len(), 0);

    let (_reserved, unreachable) = refusing_address();
    let webhook = add(&admin, "json", &unreachable).await;
    let tried = test(&admin, &webhook).await;
    insta::assert_compact_json_snapshot!(picked(&tried, ["status", "note"]), @r#"{"note": "The receiver could not be reached.", "status": null}"#);
    assert_eq!(tried["outcome"], "given_up", "a test is tried once");
}

#[tokio::test]
async fn silent_receiver_times_out_without_delaying_others() {
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

/// A webhook whose receiver never responds, and `jobs` events for each webhook.
async fn silent_receiver(app: &TestApp, admin: &Browser, jobs: usize) -> RawUpstream {
    let silent = RawUpstream::start(|_| Act::Stall(Vec::new()));
    add(admin, "json", &silent.url()).await;
    app.upstream.on_create(ResponseTemplate::new(400)).await;
    let operator = app.operator().await;
    for _ in 0..jobs {
        operator.created("Fix typos").await;
    }
    silent
}

#[tokio::test]
async fn silent_receiver_delays_no_other_receiver() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(204)).await;
    hooked(&admin, &receiver).await;
    let silent = silent_receiver(&app, &admin, 6).await;
    until("the other one has all events", async || (heard(&receiver).await.len() == 6).then_some(())).await;
    until("the silent one has an event", async || (silent.requests() > 0).then_some(())).await;
    // Each request ends after ten seconds.
    assert!(silent.requests() < 4, "{} requests", silent.requests());
}

#[tokio::test]
async fn silent_receiver_does_not_make_the_process_unready() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let silent = silent_receiver(&app, &admin, 6).await;
    until("one is being sent", async || (silent.requests() > 0).then_some(())).await;
    app.clock().advance(Duration::from_secs(301));
    until("the task is healthy", async || {
        app.anonymous().get("/readyz").await.text.contains("Sending webhooks: running").then_some(())
    })
    .await;
    assert!(silent.requests() < 4, "{} requests", silent.requests());
}

#[tokio::test]
async fn enabled_webhooks_of_the_project_get_separate_events() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200)).await;
    let (first, second) = (hooked(&admin, &receiver).await, hooked(&admin, &receiver).await);
    let disabled = hooked(&admin, &receiver).await;
    admin.post_json("/api/webhooks/disable", &[("webhook", id(&disabled))]).await;
    let address = format!("{}/hook", receiver.uri());
    let other = New::webhook(&address).with("project", "api").made(&admin).await;
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

    admin.post_json("/api/webhooks/enable", &[("webhook", id(&disabled))]).await;
    rejected_job(&app).await;
    logged_once(&admin, &disabled, |event| event["outcome"] == "delivered").await;
}
