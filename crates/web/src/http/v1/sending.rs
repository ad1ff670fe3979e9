//! What a long response is sent from. It ends before its end if the token of its request is no longer valid, or after [`SENDING_MAX`]. Then its permit is
//! free, also if the client does not read, and the client finds an incomplete body.

use std::io;
use std::sync::Arc;
use std::time::Duration;

use axum::body::Bytes;
use axum::http::StatusCode;
use futures::FutureExt;
use futures::stream::{self, BoxStream, Stream, TryStreamExt};
use parking_lot::Mutex;
use tokio_util::sync::{CancellationToken, DropGuard};

use crate::auth::bearer::TokenCaller;
use base::query_permits::QueryPermit;
use model::error::AppError;

/// The minimum size of a piece, in bytes. Little is written ahead of a slow reader.
const PIECE_BYTES: usize = 64 * 1024;
/// How long a response may take: 16 MiB at 30 kB a second.
const SENDING_MAX: Duration = Duration::from_secs(600);
/// The interval of checking the token.
const CHECK_INTERVAL: Duration = Duration::from_secs(1);

/// After so many failed checks in a row, a response ends: the database may be unavailable for a moment.
const FAILED_CHECKS_MAX: u32 = 10;

/// The JSON of a response, piece by piece.
pub(super) type Pieces = BoxStream<'static, Result<Vec<u8>, AppError>>;

struct Source {
    pieces: Pieces,
    _permit: Arc<QueryPermit>,
}

/// A response that is being sent.
struct Sending {
    /// `None` after its end, or while the next piece is produced.
    source: Arc<Mutex<Option<Source>>>,
    ended: CancellationToken,
    /// The body was sent, or its client left.
    _over: DropGuard,
}

/// The pieces as a body. They are produced while `caller` is valid, for at most [`SENDING_MAX`].
pub(super) fn body(
    pieces: Pieces,
    permit: Arc<QueryPermit>,
    caller: TokenCaller,
) -> impl Stream<Item = Result<Bytes, io::Error>> + Send + 'static {
    let sending = Sending::until(Source { pieces, _permit: permit }, invalid(caller));
    let pieces = stream::try_unfold(sending, async |sending| {
        let piece = sending.next().await?;
        Ok::<_, AppError>(piece.map(|piece| (piece, sending)))
    });
    pieces.map_err(|error| {
        tracing::warn!(%error, "a response could not be completed");
        io::Error::other(error)
    })
}

/// Completes when the token or the access of its owner changed, or cannot be checked for some time.
async fn invalid(caller: TokenCaller) {
    let mut failures = 0;
    while failures < FAILED_CHECKS_MAX {
        match caller.must_still_be_valid().await {
            Ok(()) => failures = 0,
            Err(problem) if problem.status() == StatusCode::UNAUTHORIZED => {
                return caller.note_refused().await;
            }
            Err(_) => failures += 1,
        }
        tokio::time::sleep(CHECK_INTERVAL).await;
    }
}

impl Sending {
    /// `end`: completes if it must end early.
    fn until(source: Source, end: impl Future<Output = ()> + Send + 'static) -> Self {
        let (source, ended, over) =
            (Arc::new(Mutex::new(Some(source))), CancellationToken::new(), CancellationToken::new());
        let (theirs, end_it, is_over) = (source.clone(), ended.clone(), over.clone());
        let watch = async move {
            let end = tokio::time::timeout(SENDING_MAX, end);
            if is_over.run_until_cancelled(end).await.is_some() {
                // In this order: see `next`.
                end_it.cancel();
                drop(theirs.lock().take());
            }
        };
        tokio::spawn(watch.boxed());
        Self { source, ended, _over: over.drop_guard() }
    }

    /// The next piece; `None` at the end.
    async fn next(&self) -> Result<Option<Bytes>, AppError> {
        let Some(mut source) = self.source.lock().take() else { return Err(ended_early()) };
        let mut piece = Vec::new();
        while piece.len() < PIECE_BYTES {
            match source.pieces.try_next().await? {
                Some(next) => piece.extend_from_slice(&next),
                None if piece.is_empty() => return Ok(None),
                None => break,
            }
        }
        let mut waiting = self.source.lock();
        if self.ended.is_cancelled() {
            return Err(ended_early());
        }
        *waiting = Some(source);
        Ok(Some(Bytes::from(piece)))
    }
}

fn ended_early() -> AppError {
    AppError::bad_input("The access changed while the response was sent, or the client read it too slowly.")
}

#[cfg(test)]
mod tests {
    use futures::StreamExt;

    use super::*;
    use base::query_permits::QueryPermits;

    #[tokio::test]
    async fn permit_is_free_at_the_end_although_nothing_is_read() {
        let permits = QueryPermits::default();
        let permit = permits.acquire("ada").await.unwrap_or_else(|error| panic!("{error}"));
        let _other = permits.acquire("ada").await.unwrap_or_else(|error| panic!("{error}"));
        let pieces = stream::iter(0..3).map(|_| Ok(vec![b'x'; PIECE_BYTES])).boxed();
        let end = CancellationToken::new();
        let source = Source { pieces, _permit: Arc::new(permit) };
        let sending = Sending::until(source, end.clone().cancelled_owned());
        assert!(sending.next().await.is_ok_and(|piece| piece.is_some()));
        end.cancel();
        assert!(permits.acquire("ada").await.is_ok());
        assert!(sending.next().await.is_err(), "an end without an error would be a complete body");
    }

    #[tokio::test]
    async fn complete_body_ends_without_an_error() {
        let permits = QueryPermits::default();
        let permit = permits.acquire("ada").await.unwrap_or_else(|error| panic!("{error}"));
        let source = Source { pieces: stream::iter([Ok(vec![b'x'])]).boxed(), _permit: Arc::new(permit) };
        let sending = Sending::until(source, std::future::pending());
        assert!(sending.next().await.is_ok_and(|piece| piece.is_some()));
        assert!(sending.next().await.is_ok_and(|piece| piece.is_none()));
    }
}
