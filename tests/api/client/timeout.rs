//! `--timeout`: it counts from the first request of a command, and bounds each one.

use std::thread;
use std::time::{Duration, Instant};

use super::Finished;
use super::unreachable::{ID, client, job, json_response, response};
use crate::helpers::{Act, RawUpstream, json};

/// What never becomes a response.
fn stalls() -> [Act; 3] {
    let head = "200 OK\r\ncontent-type: application/json";
    let mut half = response(head, "{\"id\": \"1\", \"state\": \"active\"}");
    half.truncate(half.len() - 3);
    [Act::Stall(Vec::new()), Act::Stall(b"HTTP/1.1 200".to_vec()), Act::Stall(half)]
}

/// Runs a command with `--wait` and a short time, whose request with this number stalls.
fn end(command: &[&str], stalls_at: usize, stall: Act) -> Finished {
    let server = RawUpstream::start(move |request| match request {
        request if request >= stalls_at => stall.clone(),
        0 => Act::Send(json_response(&json!({"projects": [{"id": "docs"}]}))),
        _ => Act::Send(json_response(&job("active"))),
    });
    let started = Instant::now();
    let finished = client(&server.url()).run(&[command, &["--wait", "--timeout", "1s"]].concat());
    let taken = started.elapsed();
    assert!(taken >= Duration::from_secs(1), "{command:?}: {taken:?}");
    assert!(taken < Duration::from_secs(40), "{command:?}: {taken:?}");
    finished
}

/// Each command that waits, and each of its requests: the projects, the request itself, and the waiting one.
#[test]
fn wait_bounds_each_request_that_stalls() {
    let commands = [
        (&["job", "show", ID][..], 5),
        (&["job", "start", "Fix typos"], 4),
        (&["job", "follow-up", ID, "And links"], 4),
        (&["job", "resolve", ID, "--attempt", "0", "--not-started"], 4),
    ];
    thread::scope(|scope| {
        for (command, code) in commands {
            for stall in stalls() {
                scope.spawn(move || {
                    for (stalls_at, code) in [(0, 5), (1, code), (2, 5)] {
                        let finished = end(command, stalls_at, stall.clone());
                        let name = format!("{command:?} {stalls_at}");
                        assert_eq!(finished.code, Some(code), "{name}: {finished:?}");
                        let is_printed = finished.stdout.contains(ID);
                        assert_eq!(is_printed, stalls_at == 2, "{name}: {finished:?}");
                        let advises = finished.stderr.contains("repeat the command");
                        assert_eq!(advises, code == 4, "{name}: {finished:?}");
                    }
                });
            }
        }
    });
}

/// Its next attempt would be later than the wait.
#[test]
fn change_is_not_repeated_beyond_the_wait() {
    for (status, code) in [(503, 4), (429, 1)] {
        let head = format!("{status} No\r\nretry-after: 20\r\ncontent-type: text/html");
        let server = RawUpstream::start(move |_| Act::Send(response(&head, "<h1>No.</h1>")));
        let start = ["job", "start", "--project", "docs", "Fix typos", "--wait", "--timeout", "10s"];
        let finished = client(&server.url()).run(&start);
        assert_eq!((finished.code, server.requests()), (Some(code), 1), "{status}: {finished:?}");
    }
}
