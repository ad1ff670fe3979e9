//! Traces: the spans of a request or of background work, including its statements and calls. Disabled unless the export
//! was started; then a span costs one comparison. Spans contain no text of people, the platform or the configuration,
//! except ids of projects, jobs and requests and the URL of the platform.
//!
//! The sender of a `traceparent` chooses the trace and decides whether it is recorded. Any client could fill the
//! collector, or write into the traces of others. So the header counts only if a trusted proxy sent it.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use http::{HeaderMap, HeaderName, HeaderValue};
use opentelemetry::propagation::TextMapPropagator;
use opentelemetry::trace::{SpanContext, TraceContextExt, TraceState};
use opentelemetry::{Context, trace};
use opentelemetry_http::HeaderExtractor;
use opentelemetry_sdk::propagation::TraceContextPropagator;
use parking_lot::Mutex;
use tracing::field::Empty;
use tracing::span::Id;
use tracing::{Level, Span, dispatcher};
use tracing_opentelemetry::{OpenTelemetrySpanExt, get_otel_context};
use tracing_subscriber::registry::{LookupSpan, Registry};

/// The target of spans that begin a trace, or continue that of a proxy.
pub const ROOT: &str = "docket::traces::root";

/// The target of spans that exist only within a recorded one.
pub const PART: &str = "docket::traces::part";

/// Keeps the spans out of the log, whose lines have spans of their own, and what a pool logs for each attempt to connect.
pub const NOT_LOGGED: &str = "docket::traces=off,sqlx_core::pool::inner=off";

pub const TRACEPARENT: HeaderName = HeaderName::from_static("traceparent");

/// The length of a `traceparent` of version 00. Later versions may only append fields.
const TRACEPARENT_MIN_BYTES: usize = 55;

// Numbers are recorded as i64, because the layer converts other types to text.

/// The maximum number of traces of background work a minute. An idle server costs little, and one with thousands of
/// jobs not much more.
const BACKGROUND_PER_MINUTE: u32 = 60;

/// A request to `route`, a template of the route table. The `headers` are those of a trusted proxy.
pub fn request(method: &'static str, route: &str, id: &str, headers: Option<&HeaderMap>) -> Span {
    let span = tracing::debug_span!(
        target: ROOT,
        "request",
        otel.name = format!("{method} {route}"),
        otel.kind = "server",
        otel.status_code = Empty,
        http.request.method = method,
        http.route = route,
        http.response.status_code = Empty,
        docket.request.id = id,
    );
    if let (false, Some(parent)) = (span.is_disabled(), headers.and_then(parent)) {
        // Fails only for a span that has begun.
        let _ = span.set_parent(Context::new().with_remote_span_context(parent));
    }
    span
}

/// The request of `span` got a response.
pub fn answered(span: &Span, status: u16) {
    span.record("http.response.status_code", i64::from(status));
    if status >= 500 {
        span.record("otel.status_code", "ERROR");
    }
}

/// Work that may have a trace of its own, such as a poll. If a request caused it, it is part of that trace.
pub fn work(name: &'static str, project: Option<&str>, job: Option<&str>) -> Span {
    macro_rules! span {
        ($target:ident) => {
            tracing::debug_span!(target: $target, parent: nearest_id(), "work", otel.name = name, docket.project.id = project, docket.job.id = job)
        };
    }
    // True if traces are enabled.
    if !tracing::enabled!(target: ROOT, Level::DEBUG) {
        Span::none()
    } else if is_recorded() {
        span!(PART)
    } else if BACKGROUND.allows_one_more() {
        span!(ROOT)
    } else {
        Span::none()
    }
}

/// An exchange with the platform, with its retries.
pub fn exchange(operation: &'static str) -> Span {
    tracing::debug_span!(
        target: PART,
        parent: nearest_id(),
        "exchange",
        otel.name = format!("platform {operation}"),
        otel.status_code = Empty,
        docket.platform.operation = operation,
        docket.platform.outcome = Empty,
    )
}

/// The exchange of `span` ended.
pub fn exchanged(span: &Span, outcome: &'static str, failed: bool) {
    span.record("docket.platform.outcome", outcome);
    if failed {
        span.record("otel.status_code", "ERROR");
    }
}

/// One request of an exchange, after `tries` earlier ones.
pub fn attempt(request: &reqwest::Request, tries: u32) -> Span {
    tracing::debug_span!(
        target: PART,
        parent: nearest_id(),
        "attempt",
        otel.name = request.method().as_str(),
        otel.kind = "client",
        http.request.method = request.method().as_str(),
        http.request.resend_count = (tries > 0).then_some(i64::from(tries)),
        http.response.status_code = Empty,
        server.address = request.url().host_str(),
        server.port = request.url().port_or_known_default().map(i64::from),
    )
}

/// The request of `span` got a response with `status`.
pub fn attempted(span: &Span, status: u16) {
    span.record("http.response.status_code", i64::from(status));
}

/// The header with the trace and this span for the next server, if the span is recorded.
pub fn traceparent(span: &Span) -> Option<HeaderValue> {
    let mut fields = HashMap::new();
    TraceContextPropagator::new().inject_context(&span.context(), &mut fields);
    HeaderValue::from_str(fields.get(TRACEPARENT.as_str())?).ok()
}

/// The number of spans since the start that were sent, failed, or were dropped because of a full queue.
pub fn spans() -> [(&'static str, u64); 3] {
    let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
    [("sent", number(&SPANS.sent)), ("failed", number(&SPANS.failed)), ("dropped", number(&SPANS.dropped))]
}

/// The nearest of Docket's own spans: the current one or an ancestor. Spans of libraries may lie in between and are not
/// part of a trace. SQLite's thread enters only the innermost span, so the ancestors are searched.
fn nearest_id() -> Option<Id> {
    dispatcher::get_default(|dispatch| {
        let current = dispatch.current_span();
        let span = dispatch.downcast_ref::<Registry>()?.span(current.id()?)?;
        let is_ours = |target: &str| target == ROOT || target == PART;
        span.scope().find(|span| is_ours(span.metadata().target())).map(|span| span.id())
    })
}

/// The OpenTelemetry context of that span.
pub fn nearest() -> Option<Context> {
    let id = nearest_id()?;
    dispatcher::get_default(|dispatch| get_otel_context(&id, dispatch))
}

/// Whether the nearest span is part of a recorded trace.
pub fn is_recorded() -> bool {
    nearest().is_some_and(|context| context.span().span_context().is_sampled())
}

/// The span in `headers`, if it is valid by W3C's Trace Context.
fn parent(headers: &HeaderMap) -> Option<SpanContext> {
    let mut values = headers.get_all(TRACEPARENT).iter();
    let (Some(value), None) = (values.next(), values.next()) else { return None };
    if value.len() < TRACEPARENT_MIN_BYTES {
        return None;
    }
    let context =
        TraceContextPropagator::new().extract_with_context(&Context::new(), &HeaderExtractor(headers));
    let parent = context.span().span_context().clone();
    // The `tracestate` is dropped, because it may contain anything.
    let state = TraceState::NONE;
    parent.is_valid().then(|| {
        SpanContext::new(parent.trace_id(), parent.span_id(), parent.trace_flags(), parent.is_remote(), state)
    })
}

/// The exporter is global to the process, and so are its counts.
pub static SPANS: SpanCounts =
    SpanCounts { sent: AtomicU64::new(0), failed: AtomicU64::new(0), dropped: AtomicU64::new(0) };

pub struct SpanCounts {
    pub sent: AtomicU64,
    pub failed: AtomicU64,
    pub dropped: AtomicU64,
}

static BACKGROUND: Allowance = Allowance(Mutex::new(None));

/// The start of a minute, and the number of traces allowed in it.
struct Allowance(Mutex<Option<(Instant, u32)>>);

impl Allowance {
    fn allows_one_more(&self) -> bool {
        self.allows(Instant::now())
    }

    fn allows(&self, now: Instant) -> bool {
        let mut minute = self.0.lock();
        match &mut *minute {
            Some((begun, used)) if now.saturating_duration_since(*begun) < Duration::from_secs(60) => {
                *used += 1;
                *used <= BACKGROUND_PER_MINUTE
            }
            over => {
                *over = Some((now, 1));
                true
            }
        }
    }
}

/// The kind of a span that calls another server.
pub const CLIENT: trace::SpanKind = trace::SpanKind::Client;

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    fn named(values: &[&str]) -> Option<SpanContext> {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(TRACEPARENT, value.parse().expect("a value"));
        }
        parent(&headers)
    }

    #[test]
    fn valid_traceparent_is_the_parent() {
        let context = named(&[GOOD]).expect("a parent");
        assert_eq!(context.trace_id().to_string(), "0af7651916cd43dd8448eb211c80319c");
        assert_eq!(context.span_id().to_string(), "b7ad6b7169203331");
        assert!(context.is_sampled() && context.is_remote());
        let unsampled = format!("{}00", &GOOD[..GOOD.len() - 2]);
        assert!(named(&[&unsampled]).is_some_and(|context| !context.is_sampled()));
        // A later version may have more fields.
        assert!(named(&[&format!("01{}-more", &GOOD[2..])]).is_some());
    }

    #[test]
    fn invalid_traceparent_is_ignored() {
        for bad in [
            "",
            "00",
            &format!("{GOOD}-more"),
            &format!("ff{}", &GOOD[2..]),
            &GOOD.to_uppercase(),
            "00-00000000000000000000000000000000-b7ad6b7169203331-01",
            "00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b716920333-01",
            "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-0x",
        ] {
            assert_eq!(named(&[bad]), None, "{bad}");
        }
        assert_eq!(named(&[GOOD, GOOD]), None);
        assert_eq!(named(&[]), None);
    }

    #[test]
    fn background_work_begins_at_most_sixty_traces_a_minute() {
        let (allowance, begun) = (Allowance(Mutex::new(None)), Instant::now());
        let allowed =
            |at: u64| (0..1_000).filter(|_| allowance.allows(begun + Duration::from_secs(at))).count();
        assert_eq!((allowed(0), allowed(59), allowed(60)), (60, 0, 60));
    }
}
