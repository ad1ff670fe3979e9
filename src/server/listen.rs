//! Accepting connections: no Nagle delay, a deadline for request headers, as many as the system lets, and a graceful end.

use std::time::Duration;

use anyhow::Context;
use axum::BoxError;
use axum::extract::ConnectInfo;
use axum::response::Response;
use hyper::Request;
use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower::{Service, ServiceExt};

/// How long a client may take to send a request's headers.
const HEADER_READ_TIMEOUT: Duration = Duration::from_secs(30);

/// The largest block of request headers, in bytes.
const MAX_HEADER_BYTES: usize = 32 * 1024;

/// How long running requests may go on after a stop was asked for.
const GRACE: Duration = Duration::from_secs(40);

/// Binds an address, with an error that says what to do if it is taken.
pub async fn bind(addr: std::net::SocketAddr) -> anyhow::Result<TcpListener> {
    TcpListener::bind(addr).await.with_context(|| {
        format!("cannot listen on {addr}; choose another address with --addr or DOCKET_ADDR")
    })
}

/// Serves `service` until `stop`, then lets running requests end. An error of the service closes the connection
/// without an answer.
pub async fn serve<S>(listener: TcpListener, service: S, stop: CancellationToken)
where
    S: Service<Request<Incoming>, Response = Response, Error: Into<BoxError>> + Clone + Send + 'static,
    S::Future: Send + 'static,
{
    allow_many_connections();
    // HTTP/2 is a proxy's business: to learn which one is spoken, a connection that says nothing would be waited for
    // without an end.
    let mut server = http1::Builder::new();
    server
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_READ_TIMEOUT)
        .max_header_size(MAX_HEADER_BYTES)
        .max_buf_size(2 * MAX_HEADER_BYTES);
    let open = GracefulShutdown::new();
    while let Some(accepted) = stop.run_until_cancelled(listener.accept()).await {
        let (stream, peer) = match accepted {
            Ok(accepted) => accepted,
            Err(error) => {
                // Out of file descriptors, most likely: others must end first.
                tracing::warn!(%error, "a connection could not be accepted");
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(%error, "TCP_NODELAY");
        }
        let service = service.clone().map_request(move |mut request: Request<Incoming>| {
            request.extensions_mut().insert(ConnectInfo(peer));
            request
        });
        let service = TowerToHyperService::new(service);
        let connection = open.watch(server.serve_connection(TokioIo::new(stream), service));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(%error, "a connection broke off");
            }
        });
    }
    drop(listener);
    if tokio::time::timeout(GRACE, open.shutdown()).await.is_err() {
        tracing::warn!("some requests did not end in time");
    }
}

/// Each connection takes a file descriptor, and many systems grant 1,024 to a process that does not ask for more.
fn allow_many_connections() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let granted = getrlimit(Resource::Nofile);
    let asked = Rlimit { current: granted.maximum, maximum: granted.maximum };
    if let Err(error) = setrlimit(Resource::Nofile, asked) {
        tracing::warn!(%error, "connections may run out of file descriptors");
    }
}

/// Ends when the process is asked to stop, by SIGTERM or SIGINT.
pub async fn stop_signal() -> anyhow::Result<()> {
    use tokio::signal::unix::{SignalKind, signal};
    let (mut terminate, mut interrupt) = (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
    tokio::select! {
        _ = terminate.recv() => tracing::info!("stopping on SIGTERM"),
        _ = interrupt.recv() => tracing::info!("stopping on SIGINT"),
    }
    Ok(())
}
