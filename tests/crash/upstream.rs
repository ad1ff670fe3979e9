//! An upstream that counts every prompt. At random it is slow, fails, rejects and closes connections.

use std::collections::HashMap;
use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use axum::Json;
use axum::body::to_bytes;
use axum::extract::Request;
use axum::http::header::AUTHORIZATION;
use axum::http::{Method, StatusCode};
use axum::response::{IntoResponse, Response};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::sync::CancellationToken;
use tower::service_fn;
use web::process::listen;

use super::random::Random;

/// How long users may take to send a prompt, including those that wait for a restart.
const PATIENCE: Duration = Duration::from_secs(60);

pub(crate) struct Upstream {
    address: SocketAddr,
    record: Arc<Mutex<Record>>,
    gate: Gate,
}

/// Delays responses.
#[derive(Clone)]
struct Gate {
    is_shut: watch::Sender<bool>,
    /// The key of the process whose prompt was delayed last.
    waiting: watch::Sender<Option<String>>,
}

struct Record {
    random: Random,
    /// Every received prompt by its text: how often it was received, and how often it was accepted.
    prompts: HashMap<String, Seen>,
    jobs: u64,
}

#[derive(Default, Clone, Copy)]
pub(crate) struct Seen {
    pub(crate) posts: u64,
    pub(crate) accepted: u64,
    /// Whether the last one was accepted and answered correctly.
    pub(crate) well: bool,
}

/// What happens to a prompt.
enum Chance {
    Accept,
    AcceptAndFail,
    AcceptAndHangUp,
    Fail,
    Refuse,
    HangUp,
}

/// The connection is closed without a response.
#[derive(Debug, thiserror::Error)]
#[error("hung up")]
struct HungUp;

impl Upstream {
    pub(crate) async fn start(random: Random) -> Self {
        let record = Record { random, prompts: HashMap::new(), jobs: 0 };
        let record = Arc::new(Mutex::new(record));
        let listener = listen::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.local_addr().unwrap();
        let gate = Gate { is_shut: watch::Sender::new(false), waiting: watch::Sender::new(None) };
        let (seen, door) = (record.clone(), gate.clone());
        let service = service_fn(move |request: hyper::Request<axum::body::Body>| {
            let (record, gate) = (seen.clone(), door.clone());
            async move { response(&record, &gate, request).await }
        });
        tokio::spawn(listen::serve(
            listener,
            service,
            listen::Connections::unlimited(),
            CancellationToken::new(),
        ));
        Self { address, record, gate }
    }

    /// Waits for a prompt, delays its response, and returns the key of the process that sent it.
    pub(crate) async fn pause_one(&self) -> String {
        self.gate.waiting.send_replace(None);
        let mut waiting = self.gate.waiting.subscribe();
        self.gate.is_shut.send_replace(true);
        let one = waiting.wait_for(Option::is_some);
        tokio::time::timeout(PATIENCE, one)
            .await
            .expect("no process sends a prompt")
            .unwrap()
            .clone()
            .unwrap()
    }

    /// Sends the delayed responses.
    pub(crate) fn resume(&self) {
        self.gate.is_shut.send_replace(false);
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// Every received prompt.
    pub(crate) fn prompts(&self) -> HashMap<String, Seen> {
        self.record.lock().unwrap().prompts.clone()
    }
}

impl Gate {
    /// Returns when the gate is open.
    async fn pass(&self, key: String) {
        self.waiting.send_replace(Some(key));
        _ = self.is_shut.subscribe().wait_for(|is_shut| !is_shut).await;
    }
}

async fn response(record: &Mutex<Record>, gate: &Gate, request: Request) -> Result<Response, HungUp> {
    let key = request.headers().get(AUTHORIZATION).map(|value| value.to_str().unwrap().to_owned());
    let path: Vec<String> = request.uri().path().split('/').map(str::to_owned).collect();
    let job = path.get(5).cloned();
    if request.method() == Method::GET {
        // Page views have no job in their path; nothing here depends on them.
        return Ok(match job {
            Some(job) => Json(shown(&job, "completed")).into_response(),
            None => StatusCode::NOT_FOUND.into_response(),
        });
    }
    let body = to_bytes(request.into_body(), usize::MAX).await.map_err(|_| HungUp)?;
    let body: Value = serde_json::from_slice(&body).unwrap();
    let prompt = body["prompt"].as_str().unwrap();
    let is_shut = *gate.is_shut.borrow();
    let (chance, pause, job) = record.lock().unwrap().record(prompt, job, is_shut);
    if is_shut {
        gate.pass(key.unwrap()).await;
    }
    tokio::time::sleep(pause).await;
    match chance {
        Chance::Accept => Ok((StatusCode::CREATED, Json(shown(&job, "active"))).into_response()),
        Chance::AcceptAndFail | Chance::Fail => Ok(StatusCode::INTERNAL_SERVER_ERROR.into_response()),
        Chance::Refuse => Ok((StatusCode::BAD_REQUEST, Json(json!({"error": "not today"}))).into_response()),
        Chance::AcceptAndHangUp | Chance::HangUp => Err(HungUp),
    }
}

impl Record {
    /// The outcome of a prompt, its delay, and its job. A prompt with a delayed response is accepted.
    fn record(&mut self, prompt: &str, job: Option<String>, is_held: bool) -> (Chance, Duration, String) {
        let chance = match self.random.below(100) {
            _ if is_held => Chance::Accept,
            0..80 => Chance::Accept,
            80..84 => Chance::AcceptAndFail,
            84..88 => Chance::AcceptAndHangUp,
            88..91 => Chance::Fail,
            91..97 => Chance::Refuse,
            _ => Chance::HangUp,
        };
        let slow = self.random.one_in(5);
        let pause = Duration::from_millis(self.random.below(if slow { 300 } else { 20 }));
        let seen = self.prompts.entry(prompt.to_owned()).or_default();
        seen.posts += 1;
        seen.accepted +=
            u64::from(matches!(chance, Chance::Accept | Chance::AcceptAndFail | Chance::AcceptAndHangUp));
        seen.well = matches!(chance, Chance::Accept);
        self.jobs += 1;
        (chance, pause, job.unwrap_or_else(|| format!("job_{}", self.jobs)))
    }
}

fn shown(id: &str, status: &str) -> Value {
    json!({
        "id": id,
        "status": status,
        "source": {"repository": "acme/docs", "ref": "main"},
        "model": "any",
        "prLink": null,
        "createdAt": "2026-11-21T09:30:00.000Z",
        "archivedAt": null,
    })
}
