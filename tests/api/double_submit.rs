//! Forms that are submitted more than once at the same time: by a double click, from two tabs, by a retried fetch, with
//! and without JavaScript. Each sends one prompt and creates one job.

use std::collections::HashSet;

use base::config::Budget;
use futures::StreamExt;
use model::budget::AgentLimit;
use serde_json::Value;

use crate::helpers::{Act, New, RawUpstream, Settings, TestApp, TestResponse, intent, json, remote_job};

const FORMS: usize = 1_000;

/// The job in a response: the second submission waits for the result of the first.
fn named(response: &TestResponse) -> String {
    match response.status {
        200 => response.json()["id"].as_str().unwrap().to_owned(),
        302 => response.location().strip_prefix("/p/docs/jobs/").unwrap().to_owned(),
        other => panic!("{other}: {}", response.text),
    }
}

#[tokio::test]
async fn thousand_double_submitted_forms_start_a_thousand_jobs() {
    let budget = Budget {
        agent_per_hour: 100_000,
        agent_limit: AgentLimit::Separate,
        analytics_per_hour: 1,
        analytics_reserve: 0,
        history_days: 90,
        history_before: 0,
    };
    let app = TestApp::with(Settings { budget, ..Settings::default() }).await;
    app.upstream.accepts_jobs().await;
    let (tab, other_tab) = (app.operator().await, app.operator().await);
    let page = format!("{}/p/docs/jobs/new", app.origin());
    let jobs: HashSet<String> = futures::stream::iter(0..FORMS)
        .map(|n| {
            let (tab, other_tab, page) = (&tab, &other_tab, page.as_str());
            async move {
                let (prompt, sent) = (format!("Fix page {n:04}"), intent());
                let pairs = [("project", "docs"), ("prompt", prompt.as_str()), ("intent", sent.as_str())];
                // With and without JavaScript, and from two tabs with it.
                let other = async || match n % 2 {
                    0 => other_tab.submit("/api/jobs/create", &pairs, Some(page)).await,
                    _ => other_tab.create(&prompt, &sent).await,
                };
                let (first, second) = futures::join!(tab.create(&prompt, &sent), other());
                let (first, second) = (named(&first), named(&second));
                assert_eq!(first, second, "{prompt} is more than one job");
                first
            }
        })
        .buffer_unordered(8)
        .collect()
        .await;
    assert_eq!(jobs.len(), FORMS);

    let posts = app.upstream.posts().await;
    let mut prompts: Vec<Value> = posts.iter().map(|post| post.body_json::<Value>().unwrap()).collect();
    prompts.sort_by_key(|body| body["prompt"].as_str().unwrap().to_owned());
    let once: Vec<Value> = (0..FORMS).map(|n| json!({"prompt": format!("Fix page {n:04}")})).collect();
    assert_eq!(prompts, once);
    let list = tab.post_json("/api/jobs/list", &[("project", "docs")]).await;
    let counted: u64 = list["counts"].as_object().unwrap().values().filter_map(Value::as_u64).sum();
    assert_eq!(counted, FORMS as u64);
}

#[tokio::test]
async fn same_intent_of_another_user_starts_a_separate_job() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let (olga, otto, sent) = (app.operator().await, app.sign_in("otto").await, intent());
    let hers = olga.create("Fix typos", &sent).await.json();
    let his = otto.create("Fix typos", &sent).await.json();
    assert_eq!((&his["author"], &hers["author"]), (&json!("otto"), &json!("olga")));
    assert_ne!((&his["id"], &his["remote"]["id"]), (&hers["id"], &hers["remote"]["id"]));
    // In another project, her intent does not give access to her job.
    let other = New::job("Fix typos").with("project", "api").with("intent", &sent).post(&otto).await;
    let message = other.refused(422, "intent_reused");
    assert!(!message.contains(hers["id"].as_str().unwrap()), "{message}");
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn broken_reused_connection_does_not_resend_a_prompt() {
    let upstream = RawUpstream::start(|n| {
        let job = remote_job(&format!("job_{n}"), "active").to_string();
        match n {
            0 => Act::Send(
                format!("HTTP/1.1 201 Created\r\ncontent-length: {}\r\n\r\n{job}", job.len()).into_bytes(),
            ),
            _ => Act::HangUp(Vec::new()),
        }
    });
    let app = TestApp::with(Settings { upstream_url: Some(upstream.url()), ..Settings::default() }).await;
    let operator = app.operator().await;
    assert_eq!(operator.created("one").await["state"], "active");
    let sent = intent();
    // The client still has the connection and cannot detect that it is broken.
    let job = operator.create("two", &sent).await.json();
    assert_eq!((&job["state"], upstream.requests()), (&json!("unknown"), 2), "{job}");
    assert_eq!(operator.create("two", &sent).await.json(), job);
    assert_eq!(upstream.requests(), 2);
}
