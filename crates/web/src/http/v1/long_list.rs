//! Responses with a list that may be long, such as the follow-ups of a job. Its items are loaded and written while they are sent. A response
//! of more than 256 KiB uses a permit of its person until it was sent, as exports do, and ends early when its token is revoked.

use std::sync::Arc;

use axum::body::{Body, Bytes};
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use futures::stream::{self, BoxStream, StreamExt, TryStreamExt};
use serde::Serialize;

use super::sending::{self, Pieces};
use crate::auth::bearer::TokenCaller;
use crate::request::problem::Problem;
use base::query_permits::QueryPermit;
use model::error::AppError;
use service::response_size::FREE_MAX_BYTES;

/// The JSON of a response, piece by piece.
pub(super) struct LongBody {
    pieces: Pieces,
    /// The permit of the query that loads the items, if it needs one.
    permit: Option<Arc<QueryPermit>>,
}

/// Items, as they are loaded.
pub(super) type Items<T> = BoxStream<'static, Result<Vec<T>, AppError>>;

/// Items that are loaded already.
pub(super) fn loaded<T: Send + 'static>(items: Vec<T>) -> Items<T> {
    // One item at a time: each is written when it is requested.
    stream::iter(items.into_iter().map(|item| Ok(vec![item]))).boxed()
}

impl LongBody {
    /// The fields of `object`, and after them the list `name`.
    pub(super) fn object<T>(
        object: &impl Serialize,
        name: &'static str,
        items: Items<T>,
    ) -> Result<Self, Problem>
    where
        T: Serialize + Send + 'static,
    {
        let mut start = written(object)?;
        // The list belongs to the same object.
        start.pop();
        if start.last() != Some(&b'{') {
            start.push(b',');
        }
        start.extend_from_slice(format!("\"{name}\":[").as_bytes());
        let mut is_first = true;
        let items = items.map(move |items| {
            let mut piece = Vec::new();
            for item in items? {
                if !std::mem::take(&mut is_first) {
                    piece.push(b',');
                }
                serde_json::to_writer(&mut piece, &item).map_err(unwritten)?;
            }
            Ok::<_, AppError>(piece)
        });
        let pieces = stream::iter([Ok(start)]).chain(items).chain(stream::iter([Ok(b"]}".to_vec())]));
        Ok(Self { pieces: pieces.boxed(), permit: None })
    }

    /// The JSON in these pieces.
    pub(super) fn of(pieces: impl Iterator<Item = Result<Vec<u8>, AppError>> + Send + 'static) -> Self {
        Self { pieces: stream::iter(pieces).boxed(), permit: None }
    }

    /// A body whose items are loaded under this permit.
    pub(super) fn under(self, permit: Arc<QueryPermit>) -> Self {
        Self { permit: Some(permit), ..self }
    }

    /// The response. An error before its first 256 KiB is a `Problem`; a later one ends the connection.
    pub(super) async fn respond(
        mut self,
        status: StatusCode,
        caller: &TokenCaller,
    ) -> Result<Response, Problem> {
        let mut start = Vec::new();
        while start.len() <= FREE_MAX_BYTES {
            match self.pieces.try_next().await? {
                Some(piece) => start.extend_from_slice(&piece),
                None => return Ok((status, json(), start).into_response()),
            }
        }
        let permit = match self.permit {
            Some(permit) => permit,
            None => Arc::new(caller.caller().query_permit().await?),
        };
        let rest = sending::body(self.pieces, permit, caller.clone());
        let body = Body::from_stream(stream::iter([Ok(Bytes::from(start))]).chain(rest));
        Ok((status, json(), body).into_response())
    }
}

fn json() -> HeaderMap {
    HeaderMap::from_iter([(header::CONTENT_TYPE, HeaderValue::from_static("application/json"))])
}

/// The JSON of a value.
pub(super) fn written(value: &impl Serialize) -> Result<Vec<u8>, AppError> {
    serde_json::to_vec(value).map_err(unwritten)
}

fn unwritten(error: serde_json::Error) -> AppError {
    tracing::error!(%error, "a response could not be written as JSON");
    AppError::internal()
}
