//! The binary in operation: with the emulator, on one thread, as a demo, and shutdown on signals.

use std::time::Duration;

use wiremock::ResponseTemplate;

use crate::helpers::{
    Browser, Installation, KEY, New, PausedUpstream, Served, TestApp, http_client, intent, json, remote_job,
    until, views_answer,
};

/// A server with one administrator, and a browser that is signed in.
async fn serve_signed_in(installation: &Installation) -> (Served, Browser) {
    let server = installation.serve(&["serve"]);
    let browser = server.signed_in().await;
    (server, browser)
}

#[tokio::test]
async fn job_finishes_against_the_emulator() {
    let elsewhere = Installation::new().set("DOCKET_EMULATOR_KEY", KEY);
    let emulator = elsewhere.serve(&["emulator", "--addr", "127.0.0.1:0", "--pages", "40"]);
    let upstream = emulator.output_after("Base address").await;
    let installation = Installation::with_administrator(&upstream).set("DOCKET_POLL_SECONDS", "1");
    let check = installation.run(&["check"]);
    assert_eq!(check.code, Some(0), "{check:?}");

    let (_server, browser) = serve_signed_in(&installation).await;
    let job = browser.created("Fix typos in the quickstart").await;
    assert_eq!(job["state"], "active", "{job}");
    let done = until("the job ends", async || {
        let job = browser.job(&job).await;
        (job["state"] != "active").then_some(job)
    })
    .await;
    assert!(["completed", "failed"].contains(&done["state"].as_str().unwrap()), "{done}");
    let followed = browser.follow_up(&job, "Fix the guides too", &intent()).await.json();
    assert_eq!(
        (&followed["state"], &followed["follow_ups"][0]["state"]),
        (&"active".into(), &"accepted".into())
    );

    let views = browser.post_json("/api/analytics/views", &[("project", "docs"), ("limit", "40")]).await;
    let rows = views["views"].as_array().unwrap();
    assert!(!rows.is_empty() && views["totals"]["total"].as_u64() > Some(0), "{views}");
    for path in ["/p/docs", "/p/docs/jobs", "/p/docs/analytics"] {
        assert_eq!(browser.get(path).await.status, 200, "{path}");
    }
}

#[tokio::test]
async fn emulator_fails_on_command_for_a_given_time() {
    let elsewhere = Installation::new().set("DOCKET_EMULATOR_KEY", KEY);
    let emulator = elsewhere.serve(&["emulator", "--addr", "127.0.0.1:0", "--pages", "5"]);
    let upstream = emulator.output_after("Base address").await;
    let order = json!({ "operation": "create", "fault": { "kind": "accept-then-drop" } });
    let faults = http_client().build().unwrap().post(format!("{upstream}/__emulator/faults"));
    assert_eq!(faults.bearer_auth(KEY).json(&order).send().await.unwrap().status(), 200);

    let installation = Installation::with_administrator(&upstream);
    let (_server, browser) = serve_signed_in(&installation).await;
    assert_eq!(browser.created("Fix typos").await["state"], "unknown");
    assert_eq!(browser.created("Fix more typos").await["state"], "active");
}

/// Pages rendered concurrently share threads, and must share nothing else.
#[tokio::test]
async fn concurrently_rendered_pages_have_their_own_titles() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let installation = Installation::with_administrator(&app.upstream.url());
    let (_server, browser) = serve_signed_in(&installation).await;
    let mut pages = vec![
        ("/p/docs/jobs".to_owned(), "Jobs".to_owned()),
        ("/p/docs/jobs/new".to_owned(), "New job".to_owned()),
        ("/p/docs/analytics".to_owned(), "Analytics".to_owned()),
    ];
    for n in 0..5 {
        let prompt = format!("Prompt number {n}");
        let job = browser.created(&prompt).await;
        pages.push((format!("/p/docs/jobs/{}", job["id"].as_str().unwrap()), prompt));
    }
    let (browser, pages) = (&browser, &pages);
    futures::future::join_all((0..16).map(|person| async move {
        for round in 0..25 {
            let (path, title) = &pages[(person + round) % pages.len()];
            let page = browser.get(path).await;
            assert_eq!(page.status, 200, "{path}");
            assert!(page.text.contains(&format!("<title>{title} · Docket</title>")), "{path} is not {title}");
        }
    }))
    .await;
}

#[tokio::test]
async fn server_works_with_one_thread() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let installation = Installation::with_administrator(&app.upstream.url()).set("TOKIO_WORKER_THREADS", "1");
    let (_server, browser) = serve_signed_in(&installation).await;
    let pages = (0..8).map(|_| browser.get("/p/docs/jobs"));
    let pages = futures::future::join_all(pages).await;
    for page in pages {
        assert_eq!(page.status, 200, "{}", page.text);
    }
    assert_eq!(browser.created("Fix typos").await["state"], "active");
    let jobs = futures::future::join_all((0..8).map(|_| browser.created("Fix typos"))).await;
    for job in jobs {
        assert_eq!(job["state"], "active", "{job}");
    }
}

#[tokio::test]
async fn signal_ends_the_process_after_deliveries_in_progress() {
    for signal in ["TERM", "INT"] {
        let upstream = PausedUpstream::start().await;
        upstream.pause();
        let installation = Installation::with_administrator(&upstream.url());
        let (server, browser) = serve_signed_in(&installation).await;
        let request = New::job("Fix typos").request(&browser);
        let waiting = tokio::spawn(async move { browser.try_send(request).await });
        until("the request is upstream", async || (upstream.posts_of("Fix typos") == 1).then_some(())).await;
        server.signal(signal);
        let response = waiting.await.unwrap().unwrap();
        upstream.resume();
        // The request does not wait for the outcome; the process does.
        assert_eq!((response.status, &response.json()["state"]), (200, &"sending".into()), "SIG{signal}");
        let status = server.ended().await;
        assert_eq!(status.code(), Some(0), "SIG{signal}: {}", server.output());
        assert!(server.output().contains(&format!("SIG{signal}")), "{}", server.output());
    }
}

#[tokio::test]
async fn killed_process_leaves_its_create_unknown() {
    let app = TestApp::start().await;
    let slow = ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"));
    app.upstream.on_create(slow.set_delay(Duration::from_secs(30))).await;
    let installation = Installation::with_administrator(&app.upstream.url());
    let (server, browser) = serve_signed_in(&installation).await;
    let request = New::job("Fix typos").request(&browser);
    let waiting = tokio::spawn(async move { browser.try_send(request).await.is_ok() });
    until("the request is upstream", async || (app.upstream.posts().await.len() == 1).then_some(())).await;
    server.signal("KILL");
    assert_eq!(server.ended().await.code(), None);
    assert!(!waiting.await.unwrap());

    let (_server, browser) = serve_signed_in(&installation).await;
    installation.ledger().grace_is_over().await;
    until("its outcome is unknown", async || {
        let list = browser.post_json("/api/jobs/list", &[("project", "docs")]).await;
        assert_eq!(list["jobs"][0]["prompt"], "Fix typos");
        (list["jobs"][0]["state"] == "unknown").then_some(())
    })
    .await;
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn demo_needs_no_configuration_and_prints_its_credentials() {
    let installation = Installation::new();
    let demo = installation.serve(&["demo", "--addr", "127.0.0.1:0"]);
    let address = demo.output_after("Address").await;
    let (name, password) = (demo.output_after("Username").await, demo.output_after("Password").await);
    let browser = Browser::at(&address);
    assert_eq!(browser.sign_in(&name, &password).await.status, 200);
    let session = browser.post_json("/api/session/current", &[]).await;
    let project = session["projects"][0]["id"].as_str().unwrap();
    let list = browser.post_json("/api/jobs/list", &[("project", project)]).await;
    assert!(list["jobs"].as_array().unwrap().len() >= 5, "{list}");
    let job = New::job("Fix typos").with("project", project);
    assert_eq!(job.made(&browser).await["state"], "active");
    let output = demo.output();
    let (_, command) = output.split_once("Start a job from a script:").unwrap();
    let command = command.split("Stop it").next().unwrap().trim();
    let started = installation.run_by(command, &[]);
    let job: serde_json::Value =
        serde_json::from_str(&started.stdout).unwrap_or_else(|_| panic!("{started:?}"));
    assert_eq!((&job["prompt"], &job["state"]), (&json!("Fix typos in the quickstart"), &json!("active")));
    let views =
        browser.post_json("/api/analytics/views", &[("project", project), ("from", "2025-01-01")]).await;
    assert!(views["totals"]["total"].as_u64() > Some(0), "{views}");
    until("its history fills", async || {
        let history = browser.post_json("/api/history/state", &[("project", project)]).await;
        (history["days_done"].as_u64() >= Some(3)).then_some(())
    })
    .await;
    demo.signal("INT");
    assert_eq!(demo.ended().await.code(), Some(0), "{}", demo.output());
    assert_eq!(installation.files(), Vec::<String>::new());
}

#[tokio::test]
async fn json_logs_are_written_to_standard_error() {
    let installation = Installation::with_administrator("http://127.0.0.1:9")
        .set("DOCKET_LOG_FORMAT", "json")
        .set("DOCKET_LOG", "debug");
    let server = installation.serve(&[]);
    let line = until("it listens", async || {
        let output = server.output();
        output.lines().find(|line| line.contains("\"listening\"")).map(str::to_owned)
    })
    .await;
    let line: serde_json::Value = serde_json::from_str(&line).unwrap();
    assert_eq!(line["level"], "INFO");
    let address = line["fields"]["address"].as_str().unwrap().to_owned();
    Browser::at(&format!("http://{address}")).get("/login").await;
    server.signal("TERM");
    assert_eq!(server.ended().await.code(), Some(0));
    for line in server.output().lines() {
        assert!(serde_json::from_str::<serde_json::Value>(line).is_ok(), "{line}");
    }
}
