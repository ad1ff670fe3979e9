//! The work for one request is bounded, whatever its content. Without the limits, each of these takes many minutes, which is longer
//! than the client waits (`helpers::DEADLINE`).

use futures::future::join_all;

use crate::helpers::{New, Settings, TestApp};

#[tokio::test]
async fn request_with_more_than_50_pages_is_refused_early() {
    let app = TestApp::start().await;
    let (viewer, operator) = (app.sign_in("vera").await, app.operator().await);
    let mut paths: String = (0..30_000).map(|n| format!("p{n},")).collect();
    let pairs = [("project", "docs"), ("prompt", "x"), ("paths", paths.as_str())];
    assert_eq!(viewer.post("/api/jobs/similar", &pairs).await.status, 200);
    // The invalid page after the limit is not reached.
    paths.push_str("/a\u{7}b");
    let job = New::job("x").with("paths", &paths);
    let message = job.post(&operator).await.refused(400, "bad_input");
    assert!(message.contains("at most 50 pages"), "{message}");
}

#[tokio::test]
async fn template_of_braces_is_parsed_in_linear_time() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let text = format!("{{{{a}}}}{}", "{".repeat(32_700));
    let values: String = (0..200).map(|n| format!("{n}\n")).collect();
    for n in 0..5 {
        New::template(&format!("Braces {n}"), &text).made(&operator).await;
    }
    assert_eq!(app.sign_in("vera").await.get("/p/docs/templates").await.status, 200);
    let batch = New::batch(&text, &values).made(&operator).await;
    let mut preview = batch["preview"].as_array().unwrap().clone();
    let mut part = batch.clone();
    // The answer of a change is short; the rest has a cursor.
    while let Some(next) = part["next"].as_str() {
        let fields = [("project", "docs"), ("batch", batch["id"].as_str().unwrap()), ("cursor", next)];
        part = operator.post_json("/api/batches/get", &fields).await;
        preview.extend(part["preview"].as_array().unwrap().iter().cloned());
    }
    assert_eq!((batch["total"].as_u64(), preview.len()), (Some(200), 200));
    assert_eq!(preview[199].as_str().unwrap().chars().count(), 1_001);
}

#[tokio::test]
async fn batch_prompt_beyond_the_limit_is_not_rendered() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let (text, value) = ("{{a}}".repeat(6_500), "x".repeat(130_000));
    let message = New::batch(&text, &value).post(&operator).await.refused(400, "bad_input");
    assert!(message.contains("Line 1: The prompt has 845000000 characters"), "{message}");
}

#[tokio::test]
async fn list_of_unstarted_batches_has_only_the_beginning_of_their_texts() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let long = "x".repeat(20_000);
    for n in 0..25 {
        let text = format!("{n} {{{{a}}}} {long}");
        New::batch(&text, &long[..10_000]).made(&operator).await;
    }
    let response = operator.post("/api/batches/unstarted", &[("project", "docs")]).await;
    assert_eq!(response.json().as_array().unwrap().len(), 20);
    assert!(response.text.len() < 20 * 1_000, "{} bytes", response.text.len());
}

#[tokio::test]
async fn running_searches_limit_only_their_own_user() {
    let app = TestApp::with(Settings::default().with_real_turns()).await;
    let (viewer, other) = (app.sign_in("vera").await, app.operator().await);
    let vera = app.state().store.user_by_name("vera").await.unwrap().unwrap().id;
    let permits = &app.state().query_permits;
    let running = [permits.acquire(&vera).await.unwrap(), permits.acquire(&vera).await.unwrap()];
    let fields = [("project", "docs"), ("q", "-")];
    let message = viewer.post("/api/jobs/list", &fields).await.refused(503, "busy");
    assert!(message.contains("Your earlier searches"), "{message}");
    viewer.post_json("/api/jobs/statuses", &[("project", "docs"), ("jobs", "")]).await;
    other.post_json("/api/jobs/list", &fields).await;
    drop(running);
    viewer.post_json("/api/jobs/list", &fields).await;
}

#[tokio::test]
async fn every_query_over_the_list_waits_for_a_permit() {
    let app = TestApp::with(Settings::default().with_real_turns()).await;
    let operator = app.operator().await;
    let olga = app.state().store.user_by_name("olga").await.unwrap().unwrap().id;
    let permits = &app.state().query_permits;
    let running = [permits.acquire(&olga).await.unwrap(), permits.acquire(&olga).await.unwrap()];
    let project = ("project", "docs");
    let endpoints: [(&str, &[(&str, &str)]); 10] = [
        ("/api/palette/find", &[project, ("q", "a")]),
        ("/api/notifications/list", &[project]),
        ("/api/notifications/list", &[project, ("who", "all")]),
        ("/api/jobs/archive", &[project, ("matching", "?q=a")]),
        ("/api/jobs/unarchive", &[project, ("matching", "?q=a")]),
        ("/api/jobs/tag", &[project, ("matching", "?q=a"), ("tag", "sdk")]),
        ("/api/jobs/untag", &[project, ("matching", "?q=a"), ("tag", "sdk")]),
        ("/api/jobs/overview", &[project]),
        ("/api/jobs/similar", &[project, ("prompt", "a"), ("paths", "")]),
        ("/api/templates/list", &[project]),
    ];
    let responses = join_all(endpoints.iter().map(|(endpoint, pairs)| operator.post(endpoint, pairs))).await;
    for ((endpoint, pairs), response) in endpoints.iter().zip(responses) {
        assert_eq!(response.status, 503, "{endpoint} {pairs:?}: {}", response.text);
    }
    drop(running);
    operator.post_json("/api/palette/find", &[project, ("q", "a")]).await;
}
