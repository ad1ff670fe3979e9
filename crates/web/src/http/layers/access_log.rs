//! One log line for each request, written when its response has been sent. It contains no query, no body, and no name
//! of a person.

use std::pin::Pin;
use std::task::{Context, Poll, ready};
use std::time::Instant;

use axum::body::{Body, Bytes, HttpBody};
use axum::http::StatusCode;
use axum::response::Response;
use hyper::body::{Frame, SizeHint};
use tracing::Span;

use crate::auth::gate::Passed;

/// Automatic requests: probes and scrapes. Parts of a page and polling pages cause others. They are logged at a finer level, so
/// that an open page adds few lines.
const ROUTINE: [&str; 3] = ["/healthz", "/readyz", "/metrics"];

/// Writes itself on drop.
pub(super) struct Line {
    /// The span with the id of the request, its method and path.
    span: Span,
    began: Instant,
    route: String,
    /// `None` if the client disconnected before the response.
    status: Option<StatusCode>,
    /// Sent bytes of the body.
    bytes: u64,
    /// The id of the person, if signed in.
    person: Option<String>,
    is_routine: bool,
}

impl Line {
    /// `polled`: the route that open pages poll.
    pub(super) fn begin(span: Span, route: &str, polled: &str) -> Self {
        Self {
            span,
            began: Instant::now(),
            route: route.to_owned(),
            status: None,
            bytes: 0,
            person: None,
            is_routine: ROUTINE.contains(&route) || route == polled || route.starts_with("/pkg/"),
        }
    }

    /// Ends the line with the body of `response`.
    pub(super) fn follow(mut self, response: Response) -> Response {
        let (mut parts, body) = response.into_parts();
        self.status = Some(parts.status);
        if let Some(Passed { person, is_refresh }) = parts.extensions.remove() {
            self.person = Some(person);
            self.is_routine |= is_refresh;
        }
        Response::from_parts(parts, Body::new(Followed { body, line: self }))
    }
}

/// A body whose bytes are counted. It has the size of the body that it follows, for `Content-Length`.
struct Followed {
    body: Body,
    line: Line,
}

impl HttpBody for Followed {
    type Data = Bytes;
    type Error = axum::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, axum::Error>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        let data = frame.as_ref().and_then(|frame| frame.as_ref().ok()?.data_ref());
        self.line.bytes += data.map_or(0, Bytes::len) as u64;
        Poll::Ready(frame)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        match self.line.status {
            // They never have a body, and the length in their headers would be that of another response.
            Some(StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) => SizeHint::default(),
            _ => self.body.size_hint(),
        }
    }
}

impl Drop for Line {
    fn drop(&mut self) {
        let milliseconds = self.began.elapsed().as_millis() as u64;
        let (route, bytes, person) = (self.route.as_str(), self.bytes, self.person.as_deref());
        let status = self.status.map(|status| status.as_u16());
        macro_rules! write {
            ($level:ident, $message:literal) => {
                tracing::$level!(target: "docket::access", route, status, milliseconds, bytes, person, $message)
            };
        }
        self.span.in_scope(|| match self.status {
            Some(status) if status.is_server_error() => write!(warn, "request failed"),
            Some(_) if self.is_routine => write!(debug, "request"),
            Some(_) => write!(info, "request"),
            None => write!(info, "request abandoned"),
        });
    }
}
