//! What Docket refuses. Its code says whether the attempt had an effect, and whether waiting in the queue helps.

use std::thread;

use serde_json::Value;
use wiremock::ResponseTemplate;

use super::unreachable::{ID, START, client, job, json_response, response};
use super::{Finished, Installation, Machine};
use crate::api_tokens::create;
use crate::helpers::{Act, RawUpstream, TestApp, json, remote_job};
use crate::queue::per_hour;

/// What a change ends with that Docket refuses.
#[derive(Clone, Copy)]
struct Refused {
    status: u16,
    code: &'static str,
    /// If it is the first attempt, and if the response to the first one was lost.
    ends: (i32, i32),
    /// Whether `--queue` is proposed.
    may_wait: bool,
}

const fn refused(status: u16, code: &'static str, ends: (i32, i32)) -> Refused {
    Refused { status, code, ends, may_wait: false }
}

const fn waits(status: u16, code: &'static str) -> Refused {
    Refused { may_wait: true, ..refused(status, code, NOW) }
}

/// As such, however often it is sent.
const AS_SUCH: (i32, i32) = (1, 1);
/// This attempt.
const NOW: (i32, i32) = (1, 4);
/// It may have been carried out.
const UNKNOWN: (i32, i32) = (4, 4);

const REFUSALS: [Refused; 18] = [
    refused(400, "bad_input", AS_SUCH),
    refused(400, "idempotency_key_required", AS_SUCH),
    refused(413, "too_large", AS_SUCH),
    refused(415, "unsupported_media_type", AS_SUCH),
    refused(422, "intent_reused", AS_SUCH),
    refused(401, "invalid_token", NOW),
    refused(403, "insufficient_scope", NOW),
    refused(404, "not_found", NOW),
    refused(409, "conflict", NOW),
    refused(418, "of_a_later_version", NOW),
    refused(503, "busy", NOW),
    waits(429, "budget_spent"),
    waits(502, "upstream_failed"),
    waits(503, "no_credits"),
    refused(422, "query_too_slow", UNKNOWN),
    refused(500, "internal", UNKNOWN),
    refused(503, "database_unavailable", UNKNOWN),
    refused(504, "upstream_slow", UNKNOWN),
];

/// A refusal after which the client does not try again: the next attempt would be too late.
fn problem(status: u16, code: &str) -> Vec<u8> {
    let head = format!("{status} No\r\ncontent-type: application/problem+json\r\nretry-after: 600");
    response(&head, &json!({"status": status, "code": code, "detail": "It is refused."}).to_string())
}

fn end(refused: Refused, command: &[&str], is_first_lost: bool) -> Finished {
    let server = RawUpstream::start(move |request| match request {
        0 if is_first_lost => Act::HangUp(Vec::new()),
        _ => Act::Send(problem(refused.status, refused.code)),
    });
    client(&server.url()).run(&[command, &["--project", "docs"]].concat())
}

#[test]
fn change_ends_as_the_code_of_its_refusal_says() {
    let commands = [
        &["job", "start", "Fix typos"][..],
        &["job", "follow-up", ID, "And links"],
        &["job", "start", "Fix typos", "--wait"],
        &["job", "start", "Fix typos", "--queue"],
        &["job", "cancel", ID],
        &["job", "resolve", ID, "--attempt", "0", "--not-started"],
    ];
    thread::scope(|scope| {
        for refused in REFUSALS {
            scope.spawn(move || {
                for (number, command) in commands.into_iter().enumerate() {
                    for is_first_lost in [false, true] {
                        let finished = end(refused, command, is_first_lost);
                        let code = if is_first_lost { refused.ends.1 } else { refused.ends.0 };
                        let name = format!("{} {command:?} {is_first_lost}", refused.code);
                        assert_eq!(finished.code, Some(code), "{name}: {finished:?}");
                        assert!(finished.stderr.contains("It is refused."), "{name}: {finished:?}");
                        let proposes = finished.stderr.contains("With --queue, Docket sends it later.");
                        assert_eq!(proposes, refused.may_wait && number < 3, "{name}: {finished:?}");
                        let advises = finished.stderr.contains("repeat the command with");
                        assert_eq!(advises, code == 4 && number < 4, "{name}: {finished:?}");
                    }
                }
            });
        }
    });
}

/// Only Docket itself ends a wait before its time.
#[test]
fn refusal_of_a_read_ends_a_wait_at_once() {
    for (status, code) in [(401, "invalid_token"), (403, "forbidden"), (404, "not_found"), (410, "later")] {
        let server = RawUpstream::start(move |request| match request {
            0 => Act::Send(json_response(&job("active"))),
            _ => Act::Send(problem(status, code)),
        });
        let finished = client(&server.url()).run(&START);
        assert_eq!((finished.code, server.requests()), (Some(1), 2), "{code}: {finished:?}");
        assert!(finished.stderr.contains("It is refused."), "{code}: {finished:?}");
    }
}

#[tokio::test]
async fn platform_without_credits_refuses_now_and_may_get_it_later() {
    let app = TestApp::with(per_hour(10)).await;
    app.upstream.accepts_jobs().await;
    let machine = Machine::of(&app).await;
    let now = app.clock().now().as_millis();
    let circuit = format!(
        "INSERT INTO upstream_circuits (circuit, failures, tried_at) VALUES ('credits:docs', 5, {now})"
    );
    app.ledger().execute(circuit).await;
    let start = ["job", "start", "--project", "docs", "--key", "run-1", "Fix typos"];
    let refused = machine.run(&start).await;
    assert_eq!(refused.code, Some(1), "{refused:?}");
    for words in ["no AI credits", "nothing was sent", "With --queue"] {
        assert!(refused.stderr.contains(words), "{words}: {refused:?}");
    }
    let queued = machine.run(&[&start[..], &["--queue"]].concat()).await;
    assert_eq!(queued.code, Some(0), "{queued:?}");
    assert!(queued.stdout.contains("  queued\n"), "{queued:?}");
    assert_eq!(app.upstream.posts().await.len(), 0);
}

/// The state of the job says nothing about a follow-up.
#[tokio::test]
async fn refused_follow_up_is_named_with_its_reason() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    let machine = Machine::of(&app).await;
    let job = machine.json(&["job", "start", "--project", "docs", "Fix typos"]).await;
    let id = job["id"].as_str().unwrap();
    app.upstream.on_follow_up(ResponseTemplate::new(422).set_body_json(remote_job("job_1", "active"))).await;
    let rejected = ["job", "follow-up", "--project", "docs", "--key", "run-1", id, "And links"];
    assert_eq!(machine.run(&rejected).await.code, Some(3));
    let cancelled = ["job", "follow-up", "--project", "docs", "--key", "run-2", "--queue", id, "And words"];
    assert_eq!(machine.run(&cancelled).await.code, Some(0), "it is queued");
    assert_eq!(machine.run(&["job", "cancel", "--project", "docs", id]).await.code, Some(0));
    for (follow_up, state) in [(&rejected[..], "rejected"), (&cancelled, "cancelled")] {
        for waits in [&[][..], &["--wait"]] {
            let text = machine.run(&[follow_up, waits].concat()).await;
            assert_eq!(text.code, Some(3), "{text:?}");
            let line = text.stdout.lines().find(|line| line.starts_with("follow-up ")).unwrap();
            assert!(line.contains(&format!("  {state}: ")), "{text:?}");
            let as_json = machine.run(&[follow_up, waits, &["--json"]].concat()).await;
            assert!(as_json.stderr.contains(line), "{line}: {as_json:?}");
            let body: Value = serde_json::from_str(&as_json.stdout).unwrap();
            assert_eq!(body["follow_up_state"], state);
        }
    }
}

#[tokio::test]
async fn state_of_a_follow_up_is_printed_without_the_scope_to_read() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.upstream.accepts_follow_ups().await;
    let token = create(&app.operator().await, &[("scopes", "jobs:write")]).await;
    let installation = Installation::new().set("DOCKET_SERVER", &app.origin()).set("DOCKET_TOKEN", &token);
    let machine = Machine { installation, token };
    let job = machine.json(&["job", "start", "--project", "docs", "Fix typos"]).await;
    let id = job["id"].as_str().unwrap();
    let sent = machine.run(&["job", "follow-up", "--project", "docs", id, "And links"]).await;
    let line = sent.stdout.lines().last().unwrap();
    assert!(line.starts_with("follow-up ") && line.ends_with("  accepted"), "{sent:?}");
}
