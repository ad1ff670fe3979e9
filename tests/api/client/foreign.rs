//! Responses of something else than Docket, such as the page of a proxy that restarts or that people sign in to. What is not JSON of Docket never
//! settles what became of a change, and it ends a read only if Docket did not respond to this run before.

use std::thread;
use std::time::{Duration, Instant};

use super::unreachable::{ID, START, client, job, json_response, response};
use crate::helpers::{Act, RawUpstream, json};

const PAGE: &str = "<h1>Sign in</h1>";

/// What comes instead of the response to a change: status and headers, and whether it may have been carried out.
const INSTEAD: [(&str, bool); 14] = [
    ("200 OK\r\ncontent-type: text/html", true),
    ("200 OK", true),
    ("201 Created\r\ncontent-type: text/plain", true),
    ("201 Created\r\ncontent-type: application/json", true),
    ("204 No Content", true),
    ("302 Found\r\nlocation: /login", true),
    ("307 Temporary Redirect\r\nlocation: /login", true),
    ("400 Bad Request\r\ncontent-type: text/html", false),
    ("401 Unauthorized\r\ncontent-type: text/html", false),
    ("403 Forbidden\r\ncontent-type: text/html", false),
    ("404 Not Found\r\ncontent-type: text/html", false),
    ("413 Content Too Large\r\ncontent-type: text/html", false),
    ("415 Unsupported Media Type\r\ncontent-type: text/html", false),
    ("422 Unprocessable Content\r\ncontent-type: text/html", false),
];

/// Each command that changes something.
const CHANGES: [&[&str]; 4] = [
    &["job", "start", "Fix typos"],
    &["job", "follow-up", ID, "And links"],
    &["job", "cancel", ID],
    &["job", "resolve", ID, "--attempt", "0", "--not-started"],
];

/// The body of a page. That which says JSON is JSON of another program.
fn instead(head: &str) -> Vec<u8> {
    response(head, if head.contains("json") { "{\"message\": \"sign in\"}" } else { PAGE })
}

fn projects() -> Vec<u8> {
    json_response(&json!({"projects": [{"id": "docs"}]}))
}

/// The first request of a run is this change, or it follows a successful one.
#[test]
fn foreign_response_ends_a_change_at_once() {
    thread::scope(|scope| {
        for (head, is_possible) in INSTEAD {
            scope.spawn(move || {
                for change in CHANGES {
                    for is_first in [true, false] {
                        let server = RawUpstream::start(move |request| match request {
                            0 if !is_first => Act::Send(projects()),
                            _ => Act::Send(instead(head)),
                        });
                        let project = if is_first { &["--project", "docs"][..] } else { &[] };
                        let finished = client(&server.url()).run(&[change, project].concat());
                        let (code, requests) =
                            (if is_possible { 4 } else { 1 }, if is_first { 1 } else { 2 });
                        let name = format!("{head} {change:?} {is_first}");
                        assert_eq!(
                            (finished.code, server.requests()),
                            (Some(code), requests),
                            "{name}: {finished:?}"
                        );
                        let advises = finished.stderr.contains("repeat the command");
                        assert_eq!(advises, is_possible, "{name}: {finished:?}");
                    }
                }
            });
        }
    });
}

/// The refusal of a proxy is about this attempt only.
#[test]
fn foreign_refusal_of_a_repeated_change_leaves_its_end_unknown() {
    thread::scope(|scope| {
        for (head, _) in INSTEAD {
            scope.spawn(move || {
                let server = RawUpstream::start(move |request| match request {
                    0 => Act::HangUp(Vec::new()),
                    _ => Act::Send(instead(head)),
                });
                let start = ["job", "start", "--project", "docs", "--key", "run-1", "Fix typos"];
                let finished = client(&server.url()).run(&start);
                assert_eq!((finished.code, server.requests()), (Some(4), 2), "{head}: {finished:?}");
                assert!(finished.stderr.contains("with the same --key"), "{head}: {finished:?}");
            });
        }
    });
}

#[test]
fn job_is_an_answer_whatever_its_type() {
    for head in [
        "201 Created\r\ncontent-type: text/plain",
        "201 Created\r\ncontent-type: text/html",
        "201 Created\r\ncontent-type: application/octet-stream",
        "200 OK",
    ] {
        let server = RawUpstream::start(move |_| Act::Send(response(head, &job("active").to_string())));
        let show = ["job", "show", ID];
        for command in CHANGES.into_iter().chain([&show[..]]) {
            let finished = client(&server.url()).run(&[command, &["--project", "docs"]].concat());
            assert_eq!(finished.code, Some(0), "{head} {command:?}: {finished:?}");
            assert!(finished.stdout.starts_with(&format!("{ID}  active\n")), "{head}: {finished:?}");
        }
    }
}

/// The first response of the run is one of Docket: of the change, or with its projects.
#[test]
fn wait_outlives_foreign_responses_once_docket_responded() {
    thread::scope(|scope| {
        for (head, _) in INSTEAD {
            for is_start in [true, false] {
                scope.spawn(move || {
                    let server = RawUpstream::start(move |request| match request {
                        0 if is_start => Act::Send(json_response(&job("active"))),
                        0 => Act::Send(projects()),
                        1 => Act::Send(instead(head)),
                        _ => Act::Send(json_response(&job("completed"))),
                    });
                    let show = ["job", "show", ID, "--wait"];
                    let finished = client(&server.url()).run(if is_start { &START } else { &show });
                    assert_eq!((finished.code, server.requests()), (Some(0), 3), "{head}: {finished:?}");
                    assert_eq!(finished.stderr.matches("next attempt in").count(), 1, "{head}: {finished:?}");
                });
            }
        }
    });
}

#[test]
fn foreign_responses_do_not_end_a_wait_before_its_time() {
    thread::scope(|scope| {
        for (head, _) in INSTEAD {
            scope.spawn(move || {
                let server = RawUpstream::start(move |request| match request {
                    0 => Act::Send(json_response(&job("active"))),
                    _ => Act::Send(instead(head)),
                });
                let finished = client(&server.url()).run(&[&START[..], &["--timeout", "3s"]].concat());
                assert_eq!(finished.code, Some(5), "{head}: {finished:?}");
                assert!(finished.stderr.contains("the job has not ended after 3s"), "{head}: {finished:?}");
            });
        }
    });
}

/// Each page of a list is a request of the same run.
#[test]
fn list_outlives_a_foreign_response_after_its_first_page() {
    let server = RawUpstream::start(|request| match request {
        0 => Act::Send(json_response(&json!({"jobs": [], "next_cursor": "a"}))),
        1 => Act::Send(instead("404 Not Found\r\ncontent-type: text/html")),
        _ => Act::Send(json_response(&json!({"jobs": [], "next_cursor": null}))),
    });
    let finished = client(&server.url()).run(&["job", "list", "--project", "docs", "--all"]);
    assert_eq!((finished.code, server.requests()), (Some(0), 3), "{finished:?}");
}

/// JSON of another program is no empty list.
#[test]
fn foreign_json_is_no_list() {
    for command in [
        &["job", "list", "--project", "docs"][..],
        &["job", "list", "--project", "docs", "--all", "--json"],
        &["job", "list"],
        &["views", "--project", "docs"],
        &["job", "show", "--project", "docs", ID],
    ] {
        let server = RawUpstream::start(|_| Act::Send(json_response(&json!({"message": "sign in"}))));
        let finished = client(&server.url()).run(command);
        assert_eq!((finished.code, finished.stdout.as_str()), (Some(1), ""), "{command:?}: {finished:?}");
        assert!(finished.stderr.contains("check DOCKET_SERVER"), "{command:?}: {finished:?}");
    }
}

/// A pause that the server names is not shorter than that of the client.
#[test]
fn retry_after_nothing_is_no_loop_without_a_pause() {
    thread::scope(|scope| {
        for head in ["503 Unavailable", "429 Too Many Requests", "500 Error"] {
            scope.spawn(move || {
                let head = format!("{head}\r\nretry-after: 0\r\ncontent-type: text/html");
                let server = RawUpstream::start(move |request| match request {
                    0 => Act::Send(json_response(&job("active"))),
                    _ => Act::Send(response(&head, PAGE)),
                });
                let finished = client(&server.url()).run(&[&START[..], &["--timeout", "4s"]].concat());
                assert_eq!(finished.code, Some(5), "{finished:?}");
                // The start, the first read, those after 1 and 3 s, and the last one.
                assert!((4..=5).contains(&server.requests()), "{} requests", server.requests());
            });
        }
    });
}

/// A job with very many follow-ups. A change of it is carried out, whatever happened to an earlier attempt.
#[test]
fn end_of_a_response_that_is_too_large_is_known() {
    let mut large = job("active");
    large["more"] = json!("x".repeat(16 * 1024 * 1024));
    let large = json_response(&large);
    let started = Instant::now();
    for (command, words) in [
        (&["job", "show", ID][..], "the response is larger than 16 MiB"),
        (
            &["job", "follow-up", ID, "And links"],
            "this is carried out, but the response is larger than 16 MiB",
        ),
        (&["job", "follow-up", ID, "--wait", "And links"], "this is carried out"),
        (&["job", "cancel", ID], "this is carried out"),
    ] {
        for is_first_lost in [false, true] {
            let large = large.clone();
            let server = RawUpstream::start(move |request| match request {
                0 if is_first_lost => Act::HangUp(Vec::new()),
                _ => Act::Stall(large.clone()),
            });
            let finished = client(&server.url()).run(&[command, &["--project", "docs"]].concat());
            assert_eq!(finished.code, Some(1), "{command:?}: {finished:?}");
            assert!(finished.stderr.contains(words), "{command:?}: {finished:?}");
        }
    }
    assert!(started.elapsed() < Duration::from_secs(60));
}
