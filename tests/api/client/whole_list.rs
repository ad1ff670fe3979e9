//! `docket job list --all`: every page, printed as it arrives.

use std::collections::BTreeSet;

use serde_json::Value;

use super::{Installation, Machine};
use crate::helpers::{Act, New, RawUpstream, TestApp, json, until};
use crate::queue::per_hour;

const LIST: [&str; 5] = ["job", "list", "--project", "docs", "--all"];

#[tokio::test]
async fn whole_list_has_each_job_once() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let values: Vec<String> = (0..150).map(|number| format!("/page-{number}")).collect();
    for round in 0..2 {
        let prompt = format!("Check {{{{page}}}}, round {round}.");
        New::batch(&prompt, &values.join("\n")).started(&operator).await;
    }
    let machine = Machine::of(&app).await;
    let first = machine.run(&["job", "list", "--project", "docs", "--limit", "100"]).await;
    assert_eq!((first.code, first.stdout.lines().count()), (Some(0), 100));
    assert!(first.stderr.contains("--all"), "{first:?}");
    let whole = machine.run(&LIST).await;
    assert_eq!((whole.code, whole.stderr.as_str()), (Some(0), ""), "{whole:?}");
    let ids: BTreeSet<&str> = whole.stdout.lines().filter_map(|line| line.split("  ").next()).collect();
    assert_eq!((ids.len(), whole.stdout.lines().count()), (300, 300));
    assert!(whole.stdout.starts_with(&first.stdout), "the newest first");

    let listed = machine.json(&LIST).await;
    let listed_ids = listed["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap());
    assert_eq!(listed_ids.collect::<BTreeSet<_>>(), ids);
    assert_eq!(listed["next_cursor"], Value::Null);
    let filtered = machine.run(&[&LIST[..], &["--q", "/page-149"]].concat()).await;
    assert_eq!(filtered.stdout.lines().count(), 2, "{filtered:?}");
    assert_eq!(
        machine.json(&[&LIST[..], &["--status", "failed"]].concat()).await,
        json!({"jobs": [], "next_cursor": null})
    );
    let both = machine.run(&[&LIST[..], &["--limit", "3"]].concat()).await;
    assert_eq!(both.code, Some(2), "{both:?}");
}

/// The response with a page, whose only job has this number.
fn page(number: usize, next: Option<&str>) -> Vec<u8> {
    let job = json!({
        "id": format!("job-{number}"), "state": "active", "prompt": "Fix typos", "author": "olga", "created_at": "2026-11-21T12:00:00Z",
    });
    let body = json!({"jobs": [job], "next_cursor": next}).to_string();
    let head = "HTTP/1.1 200 OK\r\ncontent-type: application/json";
    format!("{head}\r\ncontent-length: {}\r\n\r\n{body}", body.len()).into_bytes()
}

#[tokio::test]
async fn page_is_printed_before_the_next_one_arrives() {
    let server = RawUpstream::start(|request| match request {
        0 => Act::Send(page(0, Some("a"))),
        1 => Act::Send(page(1, Some("b"))),
        _ => Act::Stall(Vec::new()),
    });
    let client = Installation::new().set("DOCKET_SERVER", &server.url()).set("DOCKET_TOKEN", "dkt_x");
    let running = client.serve(&LIST);
    until("two pages", async || {
        let output = running.output();
        (output.contains("job-0  active") && output.contains("job-1  active")).then_some(())
    })
    .await;
}

#[test]
fn cursor_that_leads_nowhere_ends_the_list() {
    let server = RawUpstream::start(|request| Act::Send(page(request, Some("a"))));
    let client = Installation::new().set("DOCKET_SERVER", &server.url()).set("DOCKET_TOKEN", "dkt_x");
    let finished = client.run(&LIST);
    assert_eq!((finished.code, server.requests()), (Some(1), 2), "{finished:?}");
    assert!(finished.stderr.contains("the same page twice"), "{finished:?}");
}
