//! An upstream that identifies prompts by their text, counts them, and responds when a test allows it.

use std::net::SocketAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use axum::extract::{Path, State};
use axum::http::StatusCode;
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use axum::{Json, Router};
use serde_json::Value;
use tokio::sync::watch;
use tokio_util::sync::{CancellationToken, DropGuard};
use web::process::listen;

use super::upstream::{detached_job, remote_job};

pub(crate) struct PausedUpstream {
    address: SocketAddr,
    seen: Arc<Seen>,
    _stop: DropGuard,
}

struct Seen {
    prompts: Mutex<Vec<String>>,
    reads: AtomicUsize,
    open: watch::Sender<bool>,
    /// The error that responses to prompts have instead of a job.
    error: Mutex<Option<StatusCode>>,
}

impl PausedUpstream {
    /// An upstream that responds at once until [`hold`](Self::hold) is called.
    pub(crate) async fn start() -> Self {
        let (open, _) = watch::channel(true);
        let seen = Arc::new(Seen {
            prompts: Mutex::default(),
            reads: AtomicUsize::new(0),
            open,
            error: Mutex::default(),
        });
        let routes = Router::new()
            .route("/v2/agent/{project}/job", post(create))
            .route("/v2/agent/{project}/job/{job}/message", post(follow_up))
            .route("/v2/agent/{project}/job/{job}", get(read))
            .with_state(seen.clone());
        let listener = listen::bind(SocketAddr::from(([127, 0, 0, 1], 0))).await.unwrap();
        let address = listener.local_addr().unwrap();
        let stop = CancellationToken::new();
        tokio::spawn(listen::serve(listener, routes, listen::Connections::unlimited(), stop.clone()));
        Self { address, seen, _stop: stop.drop_guard() }
    }

    pub(crate) fn url(&self) -> String {
        format!("http://{}", self.address)
    }

    /// From now on prompts are accepted, but their responses are delayed.
    pub(crate) fn pause(&self) {
        self.seen.open.send_replace(false);
    }

    pub(crate) fn resume(&self) {
        self.seen.open.send_replace(true);
    }

    /// From now on prompts get this error, or a job without one.
    pub(crate) fn respond_with(&self, error: Option<StatusCode>) {
        *self.seen.error.lock().unwrap() = error;
    }

    /// How often this prompt was received.
    pub(crate) fn posts_of(&self, prompt: &str) -> usize {
        self.seen.prompts.lock().unwrap().iter().filter(|seen| *seen == prompt).count()
    }

    /// Every received prompt, in order.
    pub(crate) fn prompts(&self) -> Vec<String> {
        self.seen.prompts.lock().unwrap().clone()
    }

    pub(crate) fn reads(&self) -> usize {
        self.seen.reads.load(Ordering::SeqCst)
    }
}

impl Seen {
    /// Takes a prompt, and responds with `status` and a job when the test allows it.
    async fn take(&self, body: &Value, status: StatusCode, job: &str) -> Response {
        self.prompts.lock().unwrap().push(body["prompt"].as_str().unwrap().to_owned());
        let mut open = self.open.subscribe();
        open.wait_for(|open| *open).await.unwrap();
        match *self.error.lock().unwrap() {
            Some(error) => error.into_response(),
            None => (status, Json(remote_job(job, "active"))).into_response(),
        }
    }
}

async fn create(State(seen): State<Arc<Seen>>, Json(body): Json<Value>) -> Response {
    seen.take(&body, StatusCode::CREATED, &detached_job()).await
}

async fn follow_up(
    State(seen): State<Arc<Seen>>,
    Path((_, job)): Path<(String, String)>,
    Json(body): Json<Value>,
) -> Response {
    seen.take(&body, StatusCode::OK, &job).await
}

async fn read(State(seen): State<Arc<Seen>>, Path((_, job)): Path<(String, String)>) -> Json<Value> {
    seen.reads.fetch_add(1, Ordering::SeqCst);
    Json(remote_job(&job, "active"))
}
