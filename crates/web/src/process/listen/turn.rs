//! Whose turn it is on a connection: the client's, which sends a request or reads a response, or the server's, which works on the response. During
//! a shutdown, only the server may take long: otherwise a client decides how long a restart takes.

use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use axum::body::{Body, Bytes, HttpBody};
use hyper::Request;
use hyper::body::{Frame, SizeHint};
use tokio::time::{Instant, sleep};

/// The interval of checking whose turn it is.
const CHECK_INTERVAL: Duration = Duration::from_millis(100);

/// Whether the server works on a response. Clones share it.
#[derive(Clone, Default)]
pub(super) struct ServerTurn(Arc<AtomicBool>);

/// The body of a request. The server's turn begins when it is complete.
struct Received {
    body: Body,
    turn: ServerTurn,
}

impl ServerTurn {
    fn set(&self, is_servers: bool) {
        self.0.store(is_servers, Ordering::Relaxed);
    }

    /// The headers of a request arrived.
    pub(super) fn received(&self, request: Request<Body>) -> Request<Body> {
        self.set(request.body().is_end_stream());
        request.map(|body| Body::new(Received { body, turn: self.clone() }))
    }

    /// The response begins.
    pub(super) fn responded(&self) {
        self.set(false);
    }

    /// Completes when it has been the client's turn for `most`, counted from now.
    pub(super) async fn client_took(&self, most: Duration) {
        let mut since = Instant::now();
        while since.elapsed() < most {
            sleep(CHECK_INTERVAL).await;
            if self.0.load(Ordering::Relaxed) {
                since = Instant::now();
            }
        }
    }
}

impl HttpBody for Received {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let polled = Pin::new(&mut self.body).poll_frame(context);
        if matches!(polled, Poll::Ready(None)) || self.body.is_end_stream() {
            self.turn.set(true);
        }
        polled
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
