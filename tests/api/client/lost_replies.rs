//! The network loses a request or its reply at any point. Whatever the first run of a command ends with, the second one finds its effect, and the
//! effect happens once.

use std::io::{Read, Write};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

use futures::stream::{self, StreamExt};

use super::{Finished, Installation, Machine};
use crate::helpers::{TestApp, read_request, until};
use crate::queue::per_hour;

/// What happens to an attempt.
#[derive(Debug, Clone, Copy)]
enum Fault {
    /// The connection is closed at once.
    NotRead,
    /// The request is read, and goes no further.
    NotForwarded,
    /// The request goes no further, and the proxy responds with this status.
    Refused(u16),
    /// Docket responds, and the client gets these percent of the response.
    Cut(usize),
    /// Docket responds, and the client gets half of the body as if it were whole.
    HalfBody,
    /// Docket responds, and the client gets this status of the proxy instead.
    Replaced(u16),
    /// Docket responds, and the proxy leaves out the type of the response.
    Untyped,
    /// Docket responds, and the client waits for ever.
    Stalled,
}

/// How a run ends that had a fault.
#[derive(Debug, Clone, Copy)]
enum Then {
    Passes,
    /// The proxy refuses it with this status.
    IsRefused(u16),
    /// Docket is down for longer than the client repeats a request.
    IsDown,
}

const FAULTS: [Fault; 14] = [
    Fault::NotRead,
    Fault::NotForwarded,
    Fault::Refused(500),
    Fault::Refused(502),
    Fault::Refused(503),
    Fault::Refused(504),
    Fault::Cut(0),
    Fault::Cut(3),
    Fault::Cut(40),
    Fault::Cut(99),
    Fault::HalfBody,
    Fault::Replaced(500),
    Fault::Replaced(502),
    Fault::Replaced(504),
];
const THEN: [Then; 3] = [Then::Passes, Then::IsRefused(401), Then::IsDown];

/// Those after which there is no second attempt: the page of a proxy, and a usable response.
const FINAL: [Fault; 4] = [Fault::Replaced(200), Fault::Replaced(201), Fault::Replaced(302), Fault::Untyped];

/// A proxy between client and Docket. Each connection has one request.
struct Proxy(SocketAddr);

impl Proxy {
    /// The first requests get `faults`, one each, and the others get `then`.
    fn start(app: &TestApp, faults: &[Fault], then: Then) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let proxy = Self(listener.local_addr().unwrap());
        let (app, faults, number) = (app.address(), faults.to_vec(), Arc::new(AtomicUsize::new(0)));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let fault = faults.get(number.fetch_add(1, Ordering::SeqCst)).copied();
                thread::spawn(move || serve(stream.unwrap(), app, fault, then));
            }
        });
        proxy
    }

    /// The machine, which reaches Docket through this proxy.
    fn of(&self, machine: &Machine) -> Machine {
        let installation = Installation::new()
            .set("DOCKET_SERVER", &format!("http://{}", self.0))
            .set("DOCKET_TOKEN", &machine.token);
        Machine { installation, token: machine.token.clone() }
    }
}

fn serve(mut near: TcpStream, app: SocketAddr, fault: Option<Fault>, then: Then) {
    if matches!(fault, Some(Fault::NotRead)) {
        return;
    }
    let Some(request) = read_request(&mut near) else { return };
    let reply = match (fault, then) {
        (Some(Fault::NotRead | Fault::NotForwarded), _) => Vec::new(),
        (Some(Fault::Refused(status)), _) => gateway(status, ""),
        (Some(fault), _) => fault.spoil(forward(&request, app)),
        (None, Then::Passes) => forward(&request, app),
        (None, Then::IsRefused(status)) => gateway(status, ""),
        (None, Then::IsDown) => gateway(503, "retry-after: 600\r\n"),
    };
    // The client may have left.
    let _ = near.write_all(&reply);
    if matches!(fault, Some(Fault::Stalled)) {
        let _ = near.read(&mut [0]);
    }
}

impl Fault {
    /// What the client gets of a response of Docket.
    fn spoil(self, reply: Vec<u8>) -> Vec<u8> {
        match self {
            Self::Cut(percent) => reply[..reply.len() * percent / 100].to_vec(),
            Self::HalfBody => {
                let body = reply.windows(4).position(|four| four == b"\r\n\r\n").unwrap() + 4;
                let half = &reply[body..body + (reply.len() - body) / 2];
                let head = "HTTP/1.1 201 Created\r\ncontent-type: application/json\r\nconnection: close\r\n";
                [format!("{head}content-length: {}\r\n\r\n", half.len()).as_bytes(), half].concat()
            }
            Self::Replaced(status) => gateway(status, ""),
            Self::Untyped => without_type(reply),
            Self::NotRead | Self::NotForwarded | Self::Refused(_) | Self::Stalled => Vec::new(),
        }
    }
}

/// A response whose header with its type has another name.
fn without_type(mut reply: Vec<u8>) -> Vec<u8> {
    let name = b"content-type:";
    let at = reply.windows(name.len()).position(|bytes| bytes == name).unwrap();
    reply[at..at + name.len()].copy_from_slice(b"x-other-type:");
    reply
}

/// The whole response of Docket, which knows itself by its own address only.
fn forward(request: &[u8], app: SocketAddr) -> Vec<u8> {
    let request = String::from_utf8(request.to_vec()).unwrap();
    let (head, body) = request.split_once("\r\n\r\n").unwrap();
    let headers = head.split("\r\n").filter(|line| !line.starts_with("host:"));
    let head = headers.collect::<Vec<_>>().join("\r\n");
    let request = format!("{head}\r\nhost: {app}\r\nconnection: close\r\n\r\n{body}");
    let mut far = TcpStream::connect(app).unwrap();
    far.write_all(request.as_bytes()).unwrap();
    let mut reply = Vec::new();
    far.read_to_end(&mut reply).unwrap();
    reply
}

fn gateway(status: u16, header: &str) -> Vec<u8> {
    let head = format!("HTTP/1.1 {status} No\r\ncontent-type: text/html\r\nconnection: close\r\n{header}");
    format!("{head}content-length: 13\r\n\r\n<h1>No.</h1>\n").into_bytes()
}

/// The key that a run without one printed before it sent anything.
fn printed_key(finished: &Finished) -> &str {
    let (_, rest) = finished.stderr.split_once("--key ").unwrap_or_else(|| panic!("{finished:?}"));
    rest.split_whitespace().next().unwrap()
}

async fn app() -> TestApp {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app
}

/// How often the platform received a prompt, which it did at least once.
async fn sent(app: &TestApp, prompt: &str) -> usize {
    until("the prompt is sent", async || {
        let posts = app.upstream.posts().await;
        let sent = posts.iter().filter(|post| String::from_utf8_lossy(&post.body).contains(prompt)).count();
        (sent > 0).then_some(sent)
    })
    .await
}

/// Runs the cases, a few at a time.
async fn in_parallel<T>(cases: &[T], run: impl AsyncFn(usize, &T)) {
    let run = &run;
    stream::iter(cases.iter().enumerate())
        .for_each_concurrent(6, |(at, case)| async move { run(at, case).await })
        .await;
}

/// Each fault with each end.
fn cases() -> Vec<(Fault, Then)> {
    let cases = FAULTS.into_iter().flat_map(|fault| THEN.map(|then| (fault, then)));
    cases.chain(FINAL.map(|fault| (fault, Then::Passes))).collect()
}

/// Checks the end of a run whose request met a fault.
fn check_end(finished: &Finished, case: (Fault, Then)) {
    let expected = match case {
        (Fault::Replaced(200..=399), _) => 4,
        (_, Then::Passes) => 0,
        _ => 4,
    };
    assert_eq!(finished.code, Some(expected), "{case:?}: {finished:?}");
    let explains = finished.stderr.contains("unknown whether Docket carried this out: repeat the command");
    assert_eq!(explains, expected == 4, "{case:?}: {finished:?}");
}

/// Machines with a token each: a token may send 60 requests a minute.
async fn machines(app: &TestApp, count: usize) -> Vec<Machine> {
    let mut machines = Vec::new();
    for _ in 0..count {
        machines.push(Machine::of(app).await);
    }
    machines
}

#[tokio::test]
async fn job_is_started_once_wherever_the_reply_is_lost() {
    let app = app().await;
    let machines = machines(&app, 6).await;
    let cases = cases();
    in_parallel(&cases, async |at, case| {
        let machine = &machines[at % machines.len()];
        let (prompt, given) = (format!("Fix typos, case {at}."), format!("run/{at}"));
        let mut start = vec!["job", "start", "--project", "docs", &prompt];
        let is_key_given = at % 2 == 0;
        if is_key_given {
            start.extend(["--key", &given]);
        }
        let faults = [case.0, FAULTS[at * 5 % FAULTS.len()]];
        let proxy = Proxy::start(&app, &faults[..1 + usize::from(at % 4 == 0)], case.1).of(machine);
        let first = proxy.run(&[&start[..], &["--json"]].concat()).await;
        check_end(&first, *case);
        if !is_key_given {
            let key = printed_key(&first);
            assert!(first.code == Some(0) || first.stderr.ends_with(&format!("--key {key}\n")), "{first:?}");
            start.extend(["--key", key]);
        }
        let second = machine.json(&start).await;
        if first.code == Some(0) {
            let first: serde_json::Value = serde_json::from_str(&first.stdout).unwrap();
            assert_eq!(first["id"], second["id"], "{case:?}");
        }
    })
    .await;
    for (at, case) in cases.iter().enumerate() {
        assert_eq!(sent(&app, &format!("Fix typos, case {at}.")).await, 1, "{case:?}");
    }
}

/// A proxy that refuses the second attempt, whatever its reason, did not see what became of the first one.
#[tokio::test]
async fn refusal_of_a_proxy_leaves_the_end_of_a_started_job_unknown() {
    let app = app().await;
    let machines = machines(&app, 6).await;
    let refusals = [400, 403, 404, 405, 409, 413, 415, 422];
    let faults = [Fault::Cut(40), Fault::HalfBody, Fault::Replaced(502)];
    let cases: Vec<_> = faults
        .into_iter()
        .flat_map(|fault| refusals.map(|status| (fault, Then::IsRefused(status))))
        .collect();
    in_parallel(&cases, async |at, case| {
        let machine = &machines[at % machines.len()];
        let (prompt, key) = (format!("Fix typos, case {at}."), format!("run/{at}"));
        let start = ["job", "start", "--project", "docs", &prompt, "--key", &key];
        check_end(&Proxy::start(&app, &[case.0], case.1).of(machine).run(&start).await, *case);
        assert_eq!(machine.run(&start).await.code, Some(0), "{case:?}");
    })
    .await;
    assert_eq!(app.upstream.posts().await.len(), cases.len(), "each prompt is sent once");
}

#[tokio::test]
async fn follow_up_is_sent_once_wherever_the_reply_is_lost() {
    let app = app().await;
    app.upstream.accepts_follow_ups().await;
    let machines = machines(&app, 6).await;
    let job = machines[0].json(&["job", "start", "--project", "docs", "Fix typos"]).await;
    let job = job["id"].as_str().unwrap();
    let cases = cases();
    in_parallel(&cases, async |at, case| {
        let machine = &machines[at % machines.len()];
        let (prompt, key) = (format!("And links, case {at}."), format!("run/{at}"));
        let send = ["job", "follow-up", "--project", "docs", job, &prompt, "--key", &key];
        check_end(&Proxy::start(&app, &[case.0], case.1).of(machine).run(&send).await, *case);
        let second = machine.run(&send).await;
        assert_eq!(second.code, Some(0), "{case:?}: {second:?}");
    })
    .await;
    for (at, case) in cases.iter().enumerate() {
        assert_eq!(sent(&app, &format!("And links, case {at}.")).await, 1, "{case:?}");
    }
}

#[tokio::test]
async fn batch_is_started_once_wherever_the_reply_is_lost() {
    let app = app().await;
    let machines = machines(&app, 6).await;
    let cases = cases();
    in_parallel(&cases, async |at, case| {
        let machine = &machines[at % machines.len()];
        let (prompt, key) = (format!("Batch, case {at}, part {{{{n}}}}."), format!("run/{at}"));
        let start = ["batch", "start", "--project", "docs", &prompt, "--values", "1", "--key", &key];
        check_end(&Proxy::start(&app, &[case.0], case.1).of(machine).run(&start).await, *case);
        let second = machine.run(&start).await;
        assert_eq!(second.code, Some(0), "{case:?}: {second:?}");
    })
    .await;
    let count = cases.len() as i64;
    for (table, statement) in
        [("batches", "SELECT COUNT(*) FROM batches"), ("jobs", "SELECT COUNT(*) FROM jobs")]
    {
        assert_eq!(app.ledger().count(statement).await, count, "{table}");
    }
}

#[tokio::test]
async fn job_stays_cancelled_wherever_the_reply_is_lost() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    // The clock of this app stands still, so no token gets further requests.
    let machines = machines(&app, cases().len()).await;
    machines[0].json(&["job", "start", "--project", "docs", "First"]).await;
    in_parallel(&cases(), async |at, case| {
        let machine = &machines[at % machines.len()];
        let job =
            machine.json(&["job", "start", "--project", "docs", "--queue", &format!("Case {at}")]).await;
        let cancel = ["job", "cancel", "--project", "docs", job["id"].as_str().unwrap()];
        check_end(&Proxy::start(&app, &[case.0], case.1).of(machine).run(&cancel).await, *case);
        for _ in 0..2 {
            assert_eq!(machine.json(&cancel).await["state"], "cancelled", "{case:?}");
        }
    })
    .await;
    assert_eq!(app.upstream.posts().await.len(), 1, "what was cancelled is not sent");
}

#[tokio::test]
async fn key_of_a_killed_run_repeats_it() {
    let app = app().await;
    let machine = Machine::of(&app).await;
    let proxy = Proxy::start(&app, &[Fault::Stalled], Then::Passes).of(&machine);
    let start = ["job", "start", "--project", "docs", "Fix typos"];
    let run = proxy.installation.serve(&start);
    let key = run.output_after("idempotency key: --key ").await;
    until("the prompt is sent", async || (app.upstream.posts().await.len() == 1).then_some(())).await;
    drop(run);
    let job = machine.json(&[&start[..], &["--key", &key]].concat()).await;
    assert_eq!((&job["prompt"], app.upstream.posts().await.len()), (&"Fix typos".into(), 1));
}
