//! Writes to the database may fail, and several processes may use it: a prompt is sent only after it was recorded,
//! and never twice.

use std::collections::HashSet;
use std::time::Duration;

use crate::helpers::{Installation, New, PASSWORD, PausedUpstream, Served, intent, json, until};

#[tokio::test]
async fn full_disk_refuses_prompts_with_503_until_space_is_free() {
    let upstream = PausedUpstream::start().await;
    let installation = Installation::in_file(&upstream.url()).set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    let server = installation.serve_within_limits(&["serve"]);
    let browser = server.signed_in().await;
    let job = browser.created("The job before").await;

    server.may_write("0");
    let (create, follow_up) = (intent(), intent());
    for _ in 0..2 {
        browser.create("Fix typos", &create).await.refused(503, "database_unavailable");
        browser.follow_up(&job, "And more", &follow_up).await.refused(503, "database_unavailable");
    }
    assert_eq!(browser.job(&job).await["state"], "active", "stored data can be read");
    assert_eq!(upstream.prompts(), ["The job before"]);

    server.may_write("unlimited");
    let response = browser.create("Fix typos", &create).await;
    assert_eq!((response.status, &response.json()["state"]), (200, &json!("active")), "{}", response.text);
    let response = browser.follow_up(&job, "And more", &follow_up).await;
    assert_eq!(response.json()["follow_ups"][0]["state"], "accepted", "{}", response.text);
    assert_eq!(upstream.prompts(), ["The job before", "Fix typos", "And more"]);
    installation.ledger().is_sound().await;
}

#[tokio::test]
async fn response_during_a_full_disk_is_recorded_later() {
    let upstream = PausedUpstream::start().await;
    let installation = Installation::in_file(&upstream.url()).set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    let server = installation.serve_within_limits(&["serve"]);
    let browser = server.signed_in().await;
    upstream.pause();
    let seen = &upstream;
    let request = New::job("Fix typos").request(&browser);
    let (response, ()) = futures::join!(browser.try_send(request), async {
        until("the upstream has it", async || (seen.posts_of("Fix typos") == 1).then_some(())).await;
        server.may_write("0");
        seen.resume();
        until("the response has arrived", async || server.output().contains("remote=\"job_").then_some(()))
            .await;
        server.may_write("unlimited");
    });
    let response = response.unwrap();
    assert_eq!((response.status, &response.json()["state"]), (200, &json!("active")), "{}", response.text);
    assert_eq!(upstream.posts_of("Fix typos"), 1);
}

#[tokio::test]
async fn outcome_survives_a_disk_that_is_full_for_long() {
    let upstream = PausedUpstream::start().await;
    let installation = Installation::in_file(&upstream.url()).set("DOCKET_ADMIN_PASSWORD", PASSWORD);
    let server = installation.serve_within_limits(&["serve"]);
    let browser = server.signed_in().await;
    upstream.pause();
    let seen = &upstream;
    let request = New::job("Fix typos").request(&browser);
    let (response, ()) = futures::join!(browser.try_send(request), async {
        until("the upstream has it", async || (seen.posts_of("Fix typos") == 1).then_some(())).await;
        server.may_write("0");
        seen.resume();
        until("recording is tried again", async || {
            server.output().contains("could not be recorded; retrying").then_some(())
        })
        .await;
        // Many attempts have failed by then.
        until("writes are known to fail", async || {
            (browser.get("/readyz").await.status == 503).then_some(())
        })
        .await;
        server.may_write("unlimited");
    });
    assert_eq!(response.unwrap().json()["state"], "active");
    assert_eq!(upstream.posts_of("Fix typos"), 1);
}

#[tokio::test]
async fn starting_process_does_not_lose_the_outcome_of_another() {
    let upstream = PausedUpstream::start().await;
    let installation = Installation::with_administrator(&upstream.url());
    let first = installation.serve(&["serve"]);
    let browser = first.signed_in().await;
    upstream.pause();
    let sent = intent();
    let seen = &upstream;
    let request = New::job("Fix typos").with("intent", &sent).request(&browser);
    let (_answer, second) = futures::join!(browser.try_send(request), async {
        until("the upstream has it", async || (seen.posts_of("Fix typos") == 1).then_some(())).await;
        let second = installation.serve(&["serve"]);
        let ledger = installation.ledger();
        let unknown = "SELECT COUNT(*) FROM messages WHERE state = 'unknown'";
        // On a server the first process must have sent no heartbeat for a while.
        until("it is called unknown", async || {
            ledger.grace_is_over().await;
            (ledger.count(unknown).await == 1).then_some(())
        })
        .await;
        seen.resume();
        second
    });
    let other = second.signed_in().await;
    let job = until("the outcome is known", async || {
        let response = other.create("Fix typos", &sent).await.json();
        (response["state"] == "active").then_some(response)
    })
    .await;
    assert!(job["remote"]["id"].is_string(), "{job}");
    assert_eq!(upstream.posts_of("Fix typos"), 1);
}

#[tokio::test]
async fn waiting_process_learns_the_outcome_of_another_soon() {
    let upstream = PausedUpstream::start().await;
    // The maximum duration of an exchange. Without a notification, the other process waits that long.
    let installation =
        Installation::with_administrator(&upstream.url()).set("DOCKET_UPSTREAM_TIMEOUT_SECONDS", "100");
    let (first, second) = (installation.serve(&["serve"]), installation.serve(&["serve"]));
    let (one, other) = (first.signed_in().await, second.signed_in().await);
    upstream.pause();
    let sent = intent();
    let both =
        futures::future::join3(one.create("Fix typos", &sent), other.create("Fix typos", &sent), async {
            until("the upstream has it", async || (upstream.posts_of("Fix typos") == 1).then_some(())).await;
            upstream.resume();
        });
    let outcomes = tokio::time::timeout(Duration::from_secs(120), both).await;
    let (first, second, ()) = outcomes.expect("the outcome did not arrive");
    assert_eq!((&first.json()["state"], &second.json()["state"]), (&json!("active"), &json!("active")));
    assert_eq!(upstream.posts_of("Fix typos"), 1);
}

#[tokio::test]
async fn concurrent_starts_on_a_new_database_all_serve() {
    let installation = Installation::with_administrator("http://127.0.0.1:9");
    let servers: Vec<Served> = (0..4).map(|_| installation.serve(&["serve"])).collect();
    for server in &servers {
        server.signed_in().await;
    }
}

#[tokio::test]
async fn two_processes_on_one_database_send_each_prompt_once() {
    let upstream = PausedUpstream::start().await;
    let installation = Installation::with_administrator(&upstream.url());
    let first = installation.serve(&["serve"]);
    let one = first.signed_in().await;
    let second = installation.serve(&["serve"]);
    let other = second.signed_in().await;
    let intents: Vec<String> = (0..50).map(|_| intent()).collect();
    let posts = intents.iter().enumerate().map(|(n, sent)| {
        let (prompt, one, other) = (format!("Fix page {n:02}"), &one, &other);
        async move {
            let (first, second) = futures::join!(one.create(&prompt, sent), other.create(&prompt, sent));
            assert_eq!((first.status, second.status), (200, 200), "{} {}", first.text, second.text);
            assert_eq!(first.json()["id"], second.json()["id"]);
            first.json()["id"].to_string()
        }
    });
    let jobs: HashSet<String> = futures::future::join_all(posts).await.into_iter().collect();
    assert_eq!(jobs.len(), 50);
    let ledger = installation.ledger();
    until("all have ended", async || (ledger.without_outcome().await == 0).then_some(())).await;
    let mut prompts = upstream.prompts();
    prompts.sort();
    assert_eq!(prompts, (0..50).map(|n| format!("Fix page {n:02}")).collect::<Vec<_>>());
    let accepted = ledger.count("SELECT COUNT(*) FROM messages WHERE state = 'accepted'").await;
    assert_eq!(accepted, 50, "an outcome was lost between the two");
}
