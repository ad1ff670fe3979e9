//! A request ends when its client disconnects, with all that it holds.

use std::time::Duration;

use base::clock::Clock;
use model::time::Timestamp;
use tokio::io::AsyncWriteExt;
use tokio::net::TcpStream;

use super::Script;
use crate::helpers::{Settings, TestApp, json, until};

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);

/// How many requests with one token fit at once.
const BURST: usize = 30;

/// Sends a request that waits for the end of the job, with raw sockets.
async fn wait(app: &TestApp, token: &str, job: &str, with_mcp: bool) -> TcpStream {
    let origin = app.origin();
    let (host, arguments) =
        (origin.trim_start_matches("http://"), json!({"project": "docs", "job": job, "wait": 45}));
    let call = json!({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": {"name": "get_job", "arguments": arguments}});
    let (line, body) = match with_mcp {
        true => ("POST /mcp".to_owned(), call.to_string()),
        false => (format!("GET /api/v1/projects/docs/jobs/{job}?wait=60"), String::new()),
    };
    let request = format!(
        "{line} HTTP/1.1\r\nhost: {host}\r\nauthorization: Bearer {token}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    let mut stream = TcpStream::connect(app.address()).await.unwrap();
    stream.write_all(request.as_bytes()).await.unwrap();
    stream
}

/// Opens requests that wait, and disconnects them while another one, which waited before them, is still waiting.
async fn ends_with_its_clients(with_mcp: bool) {
    let app = TestApp::with(Settings { clock: Clock::frozen(NOON), ..Settings::default() }).await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    let job = script.post("/projects/docs/jobs", "first", &json!({"prompt": "Fix typos"})).await.json();
    let id = job["id"].as_str().unwrap();
    let (jobs, before) = (&app.state().jobs, app.tasks());
    let waiting = async |number: usize| {
        until("the requests wait", async || (jobs.waiting_requests() == number).then_some(())).await;
    };
    let path = format!("/projects/docs/jobs/{id}?wait=60");
    let control = script.get(&path);
    let abandoned = async {
        waiting(1).await;
        for _ in 0..3 {
            app.clock().advance(Duration::from_secs(60));
            let mut clients = Vec::new();
            for _ in 0..BURST {
                clients.push(wait(&app, &script.token, id, with_mcp).await);
            }
            waiting(1 + clients.len()).await;
            drop(clients);
            waiting(1).await;
        }
    };
    tokio::select! {
        response = control => panic!("the abandoned requests last as long as this one: {}", response.text),
        () = abandoned => {}
    }
    waiting(0).await;
    // The connection of `script` may still be open.
    until("their tasks end", async || (app.tasks() <= before + 1).then_some(())).await;
}

#[tokio::test]
async fn abandoned_waits_over_mcp_end_at_once() {
    ends_with_its_clients(true).await;
}

#[tokio::test]
async fn abandoned_waits_of_the_json_api_end_at_once() {
    ends_with_its_clients(false).await;
}
