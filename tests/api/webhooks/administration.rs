//! Administration of webhooks: permissions, allowed URLs, and secrets.

use super::*;

#[tokio::test]
async fn disabled_webhook_receives_no_waiting_events() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(500)).await;
    let webhook = hooked(&admin, &receiver).await;
    let fields = [("webhook", id(&webhook))];
    rejected_job(&app).await;
    logged_once(&admin, &webhook, |event| event["status"] == 500).await;
    admin.post_json("/api/webhooks/disable", &fields).await;
    let event = log(&admin, &webhook).await.remove(0);
    assert_eq!((&event["outcome"], &event["next_try_at"]), (&json!("given_up"), &json!(null)));
    app.clock().advance(Duration::from_secs(24 * 3_600));
    assert_eq!(app.state().webhooks.deliver_due().await.unwrap(), 0);
    // It can still be tested; the session had expired after a day.
    let admin = app.sign_in("ada").await;
    assert_eq!(test(&admin, &webhook).await["status"], 500);

    admin.post_json("/api/webhooks/remove", &fields).await;
    assert_eq!(admin.post_json("/api/webhooks/list", &[]).await, json!({"webhooks": []}));
    for endpoint in ["events", "enable", "disable", "remove", "renew", "test"] {
        admin.post(&format!("/api/webhooks/{endpoint}"), &fields).await.refused(404, "not_found");
    }
    admin.post("/api/webhooks/retry", &[("delivery", id(&event))]).await.refused(404, "not_found");
    admin.post("/api/webhooks/test", &[("webhook", "../x")]).await.refused(400, "bad_input");
    assert_eq!(app.operator().await.job(&json!({"id": event["job"]})).await["state"], "rejected");
}

#[tokio::test]
async fn webhook_gets_only_the_chosen_events() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200)).await;
    let address = format!("{}/hook", receiver.uri());
    let chosen = New::webhook(&address).with("events", "job.failed,job.archived").made(&admin).await;
    let every = hooked(&admin, &receiver).await;
    rejected_job(&app).await;
    logged_once(&admin, &every, |event| event["event"] == "job.rejected").await;
    assert!(log(&admin, &chosen).await.is_empty(), "an event that was not chosen");

    let listed = admin.post_json("/api/webhooks/list", &[]).await;
    assert_eq!(listed["webhooks"][0]["events"], json!(["job.failed", "job.archived"]));
    assert_eq!(listed["webhooks"][1]["events"], json!(null), "all");
    let events = [("webhook", id(&chosen)), ("events", "job.rejected")];
    admin.post_json("/api/webhooks/events", &events).await;
    rejected_job(&app).await;
    logged_once(&admin, &chosen, |event| event["event"] == "job.rejected").await;
    test(&admin, &chosen).await;
    logged_once(&admin, &chosen, |event| event["event"] == "webhook.test").await;

    for wrong in ["job.done", "webhook.test"] {
        let events = [("webhook", id(&chosen)), ("events", wrong)];
        admin.post("/api/webhooks/events", &events).await.refused(400, "bad_input");
    }
    admin.post_json("/api/webhooks/events", &[("webhook", id(&chosen))]).await;
    let listed = admin.post_json("/api/webhooks/list", &[]).await;
    assert_eq!(listed["webhooks"][0]["events"], json!(null), "all again");
}

#[tokio::test]
async fn webhook_secret_is_shown_once_and_can_be_replaced() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200)).await;
    let webhook = hooked(&admin, &receiver).await;
    let secret = webhook["secret"].as_str().unwrap();
    assert!(secret.starts_with("whsec_") && secret.len() == 6 + 44, "{secret}");
    let listed = admin.post_json("/api/webhooks/list", &[]).await.to_string();
    assert!(listed.contains(id(&webhook)) && !listed.contains("whsec_"), "{listed}");
    test(&admin, &webhook).await;
    let event = verified(&heard(&receiver).await[0], secret);
    assert_eq!((&event["type"], &event["job"]), (&json!("webhook.test"), &json!(null)));

    let renewed = admin.post_json("/api/webhooks/renew", &[("webhook", id(&webhook))]).await;
    assert_eq!(renewed["id"], webhook["id"]);
    assert_ne!(renewed["secret"], webhook["secret"]);
    test(&admin, &webhook).await;
    verified(&heard(&receiver).await[1], renewed["secret"].as_str().unwrap());
    let request = heard(&receiver).await.remove(1);
    assert_eq!(signatures(&request)[1], signed(&request, secret));
    assert!(logged(secret).is_empty(), "the secret is in the log");
}

/// A receiver changes its secret within a day, and accepts every request before and after it.
#[tokio::test]
async fn old_secret_signs_beside_the_new_one_for_a_day() {
    let app = TestApp::with(frozen()).await;
    let receiver = receiver(ResponseTemplate::new(200)).await;
    let webhook = hooked(&admin_of(&app).await, &receiver).await;
    let mut secrets = vec![webhook["secret"].as_str().unwrap().to_owned()];
    let (hour, day) = (3_600, 24 * 3_600);
    // Two new secrets within a day: only the last old one signs, a day from then on.
    for (renews, pause, expected) in
        [(true, 0, 2), (true, hour, 2), (false, day - 1, 2), (false, 1, 1), (true, day, 2)]
    {
        app.clock().advance(Duration::from_secs(pause));
        let admin = admin_of(&app).await;
        if renews {
            let renewed = admin.post_json("/api/webhooks/renew", &[("webhook", id(&webhook))]).await;
            secrets.insert(0, renewed["secret"].as_str().unwrap().to_owned());
        }
        test(&admin, &webhook).await;
        let requests = heard(&receiver).await;
        let request = requests.last().unwrap();
        let all: Vec<String> = secrets.iter().take(expected).map(|secret| signed(request, secret)).collect();
        assert_eq!(signatures(request), all, "after {pause} s");
        verified(request, &secrets[0]);
    }
    let stored = "SELECT COUNT(*) FROM webhooks WHERE old_secret IS NOT NULL";
    app.clock().advance(Duration::from_secs(day));
    app.ledger().trust_clock().await;
    assert_eq!(app.ledger().count(stored).await, 1);
    app.state().retention.remove().await.unwrap();
    assert_eq!(app.ledger().count(stored).await, 0, "an old secret is not stored for ever");
}

#[tokio::test]
async fn slack_webhook_uses_its_format_and_hides_its_url() {
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
    let message: Value = serde_json::from_slice(&request.body).unwrap();
    let url = format!("{}/p/docs/jobs/{}", app.origin(), id(&job));
    let title = format!("<{url}|&lt;!channel&gt; &amp; *bold* |>");
    let link = "<https://git.example/pull/7?a=1&amp;b=%7Cx|pull request>";
    assert_eq!(message, json!({"text": format!("A pull request is ready: {title} ({link}), by olga")}));
    assert!(!request.headers.contains_key("docket-signature"));

    let listed = admin.post_json("/api/webhooks/list", &[]).await;
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
async fn only_administrators_manage_webhooks() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200)).await;
    let webhook = hooked(&admin, &receiver).await;
    test(&admin, &webhook).await;
    let event = log(&admin, &webhook).await.remove(0);
    let before = admin.post_json("/api/webhooks/list", &[]).await["webhooks"].clone();
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
    assert_eq!(admin.post_json("/api/webhooks/list", &[]).await["webhooks"], before);
    assert_eq!(heard(&receiver).await.len(), 1);
}

#[tokio::test]
async fn forbidden_webhook_url_is_refused_with_a_message() {
    let app = TestApp::with(public_only()).await;
    let admin = app.sign_in("ada").await;
    for address in [
        "",
        "hooks.example/x",
        "http://hooks.example/x",
        "http://localhost:9/x",
        "http://127.0.0.1:9/x",
        "http://[::1]:9/x",
        "https://me:secret-word@hooks.example/x",
        "https://127.0.0.1/x",
        "https://10.0.0.8/x",
        "https://169.254.169.254/latest",
        "https://[fd00::1]/x",
        "file:///etc/passwd",
    ] {
        let message = New::webhook(address).post(&admin).await.refused(400, "bad_input");
        assert!(!message.contains("secret-word"), "{message}");
    }
    for (project, kind) in [("docs", "email"), ("../x", "json")] {
        let webhook = New::webhook("https://hooks.example/x").with("project", project).with("kind", kind);
        webhook.post(&admin).await.refused(400, "bad_input");
    }
    let unknown = New::webhook("https://hooks.example/x").with("project", "nobodys");
    unknown.post(&admin).await.refused(404, "not_found");
    assert_eq!(admin.post_json("/api/webhooks/list", &[]).await["webhooks"], json!([]));
}

#[tokio::test]
async fn webhook_host_resolving_to_a_private_ip_is_refused() {
    let mut app = TestApp::with(public_only()).await;
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
async fn plain_http_webhook_is_allowed_only_for_configured_localhost() {
    let mut app = TestApp::with(public_only()).await;
    let webhook = New::webhook("http://127.0.0.1:9/x");
    let message = webhook.post(&admin_of(&app).await).await.refused(400, "bad_input");
    assert!(message.contains("https"), "{message}");
    app.restart_with(|settings| settings.webhooks = WebhookConfig { private: true }).await;
    webhook.made(&admin_of(&app).await).await;
}

/// As a server is configured by default.
fn public_only() -> Settings {
    Settings { webhooks: WebhookConfig { private: false }, ..frozen() }
}

#[tokio::test]
async fn webhook_forms_work_without_javascript() {
    let app = TestApp::with(frozen()).await;
    let admin = app.sign_in("ada").await;
    let receiver = receiver(ResponseTemplate::new(200).set_body_string("<b>thanks</b>")).await;
    let page = format!("{}/admin/webhooks", app.origin());
    let address = format!("{}/hook", receiver.uri());
    let added = New::webhook(&address).submit(&admin, &page).await;
    assert_eq!((added.status, added.location()), (302, "/admin/webhooks"));
    let shown = admin.get("/admin/webhooks").await;
    assert!(shown.text.contains("whsec_") && shown.text.contains(&address));
    assert!(!admin.page("/admin/webhooks").await.contains("whsec_"), "shown twice");

    let webhook = admin.post_json("/api/webhooks/list", &[]).await["webhooks"][0].clone();
    let tested = admin.submit("/api/webhooks/test", &[("webhook", id(&webhook))], Some(&page)).await;
    assert_eq!(tested.location(), format!("/admin/webhooks?webhook={}", id(&webhook)));
    let log = admin.get(tested.location()).await;
    assert!(
        log.text.contains("Delivered (200)") && log.text.contains("&lt;b&gt;thanks&lt;/b&gt;"),
        "{}",
        log.text
    );

    let refused = New::webhook("http://hooks.example/").submit(&admin, &page).await;
    let path = refused.location().strip_prefix(&app.origin()).unwrap_or(refused.location()).to_owned();
    assert!(admin.get(&path).await.text.contains("Use https"), "{path}");

    let removed = admin.submit("/api/webhooks/remove", &[("webhook", id(&webhook))], Some(&page)).await;
    assert_eq!(removed.location(), "/admin/webhooks");
    assert!(admin.get("/admin/webhooks").await.text.contains("No webhooks yet"));
}
