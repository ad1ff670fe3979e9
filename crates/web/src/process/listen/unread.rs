//! Closes connections whose client does not read its response, so that the response and its resources are dropped.

use std::pin::Pin;
use std::time::Duration;

use tokio::io::AsyncWrite;
use tokio_io_timeout::TimeoutWriter;

/// `stream`, whose writes fail after `timeout` without progress.
pub(super) fn closed_after<S: AsyncWrite>(timeout: Duration, stream: S) -> Pin<Box<TimeoutWriter<S>>> {
    let mut stream = TimeoutWriter::new(stream);
    stream.set_timeout(Some(timeout));
    Box::pin(stream)
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use std::convert::Infallible;
    use std::sync::Arc;
    use std::sync::atomic::{AtomicUsize, Ordering};

    use axum::body::{Body, Bytes};
    use axum::response::Response;
    use futures::{StreamExt, stream};
    use hyper::Request;
    use hyper::body::Incoming;
    use hyper_util::rt::TokioIo;
    use hyper_util::service::TowerToHyperService;
    use rand::RngCore;
    use tokio::io::{AsyncReadExt, AsyncWriteExt, DuplexStream};
    use tokio::task::JoinHandle;
    use tower::Layer;

    use super::*;
    use crate::http::layers::compression;
    use crate::process::listen::http1;

    const TIMEOUT: Duration = Duration::from_millis(100);
    const PIECE: usize = 64 * 1024;
    /// The maximum duration of a test.
    const DEADLINE: Duration = Duration::from_secs(60);
    /// The maximum amount that the server may produce before the client reads it, in bytes.
    const AHEAD: usize = 256 * 1024;

    /// Serves a response of `pieces` pieces on a connection, compressed on request, and counts the produced pieces.
    fn serve(server: DuplexStream, pieces: usize) -> (JoinHandle<hyper::Result<()>>, Arc<AtomicUsize>) {
        let produced = Arc::new(AtomicUsize::new(0));
        let count = produced.clone();
        let service = tower::service_fn(move |_: Request<Incoming>| {
            let count = count.clone();
            let pieces = stream::iter(0..pieces).map(move |_| {
                count.fetch_add(1, Ordering::SeqCst);
                // Random data cannot be compressed.
                let mut piece = vec![0; PIECE];
                rand::rng().fill_bytes(&mut piece);
                Ok::<_, Infallible>(Bytes::from(piece))
            });
            async move { Ok::<_, Infallible>(Response::new(Body::from_stream(pieces))) }
        });
        let service = TowerToHyperService::new(compression::layer().layer(service));
        let stream = TokioIo::new(closed_after(TIMEOUT, server));
        let connection = http1().serve_connection(stream, service);
        (tokio::spawn(connection), produced)
    }

    #[tokio::test]
    async fn unread_response_ends_its_connection_and_is_not_produced_ahead() {
        for encoding in ["identity", "gzip"] {
            let (mut client, server) = tokio::io::duplex(1024);
            let (connection, produced) = serve(server, usize::MAX);
            let request = format!("GET / HTTP/1.1\r\nhost: x\r\naccept-encoding: {encoding}\r\n\r\n");
            client.write_all(request.as_bytes()).await.unwrap();
            let ended = tokio::time::timeout(DEADLINE, connection).await.expect("the connection ends");
            ended.unwrap().unwrap_err();
            let ahead = produced.load(Ordering::SeqCst) * PIECE;
            assert!((1..=AHEAD).contains(&ahead), "{encoding}: {ahead} bytes");
            assert_eq!(Arc::strong_count(&produced), 1, "{encoding}: the response still exists");
        }
    }

    #[tokio::test]
    async fn response_that_is_read_ends_after_its_last_byte() {
        let (mut client, server) = tokio::io::duplex(1024);
        let (connection, produced) = serve(server, 20);
        client.write_all(b"GET / HTTP/1.1\r\nhost: x\r\nconnection: close\r\n\r\n").await.unwrap();
        let mut response = Vec::new();
        let read = tokio::time::timeout(DEADLINE, client.read_to_end(&mut response)).await;
        read.expect("the response ends").unwrap();
        let ended = tokio::time::timeout(DEADLINE, connection).await.expect("the connection ends");
        ended.unwrap().unwrap();
        assert_eq!(produced.load(Ordering::SeqCst), 20);
        assert!(response.len() > 20 * PIECE && response.ends_with(b"0\r\n\r\n"));
    }
}
