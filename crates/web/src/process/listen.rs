//! Accepts connections, with TCP_NODELAY, deadlines for request headers and for writes, limits of their number, and
//! graceful shutdown. Raises the limit of file descriptors.

mod connections;
mod turn;
mod unread;

use std::net::SocketAddr;
use std::time::Duration;

use anyhow::Context;
use axum::BoxError;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::HeaderValue;
use axum::http::header::CONNECTION;
use axum::response::Response;
use futures::FutureExt;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};

pub use connections::Connections;
use turn::ServerTurn;

/// How long a client may take to send a request's headers.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The maximum size of request headers, in bytes.
const MAX_HEADER_BYTES: usize = 32 * 1024;

/// How long after `stop` open connections may begin a last request. A new client is about to send one, and a busy one
/// learns from `Connection: close` that it has to reconnect.
const LINGER: Duration = Duration::from_secs(1);

/// The interval of checking whether all connections have ended.
const CHECK_INTERVAL: Duration = Duration::from_millis(10);

/// How long running requests may take during shutdown.
const GRACE: Duration = Duration::from_secs(40);

/// How long a client may take during shutdown to send the rest of its request, or to read its response.
const CLIENT_GRACE: Duration = Duration::from_secs(5);

/// The maximum duration of [`serve`] after `stop`.
pub const SHUTDOWN_MAX: Duration = Duration::from_secs(LINGER.as_secs() + GRACE.as_secs());

/// The response to a connection above the limit.
const NO_ROOM: &[u8] =
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 10\r\ncontent-length: 0\r\nconnection: close\r\n\r\n";

/// Binds an address. If it is in use, the error explains what to do.
pub async fn bind(addr: SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(addr).await.with_context(|| {
        format!("cannot listen on {addr}; choose another address with --addr or DOCKET_ADDR")
    })
}

/// Serves `service` until `stop`, then finishes running requests. An error of the service closes the connection without
/// a response.
pub async fn serve<S>(listener: TcpListener, service: S, limits: Connections, stop: CancellationToken)
where
    S: Service<Request<Body>, Response = Response, Error: Into<BoxError>> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    allow_many_connections();
    let open = GracefulShutdown::new();
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        match accepted {
            Ok(accepted) => begin(accepted, service.clone(), &limits, &open, &stop),
            Err(error) => {
                // Probably out of file descriptors: other connections must end first.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
            }
        }
    }
    // Those who are already connected would lose their connection with the socket.
    while let Some(Ok(accepted)) = listener.accept().now_or_never() {
        begin(accepted, service.clone(), &limits, &open, &stop);
    }
    // From here on, the next process accepts connections of an inherited socket.
    drop(listener);
    _ = tokio::time::timeout(LINGER, all_closed(&open)).await;
    if tokio::time::timeout(GRACE, open.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end within the grace period");
    }
}

/// Serves one connection in a task of its own, if the limits permit it.
fn begin<S>(
    (stream, peer): (TcpStream, SocketAddr),
    service: S,
    limits: &Connections,
    open: &GracefulShutdown,
    stop: &CancellationToken,
) where
    S: Service<Request<Body>, Response = Response, Error: Into<BoxError>> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    let Some(slot) = limits.admit(peer.ip()) else {
        // A slow client may miss this response, which is acceptable.
        let _ = stream.try_write(NO_ROOM);
        return;
    };
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "TCP_NODELAY could not be set");
    }
    let turn = ServerTurn::default();
    let (begun, done, is_last, stop) = (turn.clone(), turn.clone(), stop.clone(), stop.clone());
    let service = service
        .map_request(move |request: Request<Incoming>| {
            let mut request = begun.received(request.map(Body::new));
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        })
        .map_response(move |mut response: Response| {
            done.responded();
            if is_last.is_cancelled() {
                response.headers_mut().insert(CONNECTION, HeaderValue::from_static("close"));
            }
            response
        });
    let stream = TokioIo::new(unread::closed_after(limits.unread, stream));
    let connection = open.watch(http1().serve_connection(stream, TowerToHyperService::new(service)));
    tokio::spawn(async move {
        let slow_client = async {
            stop.cancelled().await;
            turn.client_took(CLIENT_GRACE).await;
        };
        tokio::select! {
            ended = connection => if let Err(error) = ended {
                tracing::debug!(%error, "a connection failed");
            },
            () = slow_client => tracing::debug!("a connection was closed, because its client took too long"),
        }
        drop(slot);
    });
}

/// HTTP/1 only; a proxy can provide HTTP/2. Protocol detection would wait for silent connections without a deadline.
fn http1() -> http1::Builder {
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_header_size(MAX_HEADER_BYTES)
        .max_buf_size(2 * MAX_HEADER_BYTES);
    server
}

async fn all_closed(open: &GracefulShutdown) {
    while open.count() > 0 {
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
}

/// Each connection needs a file descriptor, and many systems have a soft limit of 1,024.
fn allow_many_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let granted = getrlimit(Resource::Nofile);
    let wanted = Rlimit { current: granted.maximum, maximum: granted.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, wanted) {
        tracing::warn!(%error, "the limit of file descriptors could not be raised");
    }
}
