//! Sends finished spans to a collector by OTLP over HTTP. It never blocks or fails the traced code: spans above the
//! queue's limit are dropped and counted, and failed ones are not sent again.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::Context as _;
use async_trait::async_trait;
use opentelemetry::trace::TracerProvider;
use opentelemetry::{Context, Key};
use opentelemetry_http::{Bytes, HttpClient, HttpError, Request, Response};
use opentelemetry_otlp::WithHttpConfig;
use opentelemetry_sdk::Resource;
use opentelemetry_sdk::error::OTelSdkResult;
use opentelemetry_sdk::resource::{EnvResourceDetector, ResourceDetector};
use opentelemetry_sdk::trace::{
    BatchConfigBuilder, BatchSpanProcessor, SdkTracerProvider, Span, SpanData, SpanExporter, SpanProcessor,
};
use parking_lot::Mutex;
use rustls::pki_types::CertificateDer;
use tokio::runtime::Handle;
use tracing::subscriber::Interest;
use tracing::{Metadata, Subscriber};
use tracing_subscriber::filter::{LevelFilter, dynamic_filter_fn};
use tracing_subscriber::layer::{self, Layer};
use tracing_subscriber::registry::LookupSpan;

use super::trace_statements::{self as statements, Statements};
use base::config::TracesConfig;
use base::http_client;
use base::traces::{PART, ROOT, SPANS, is_recorded};

/// The timeout of sending the last spans at the end of the process.
const FLUSH: Duration = Duration::from_secs(3);

/// The interval of log messages about an unreachable collector.
const WARNING_EVERY: Duration = Duration::from_secs(600);

/// The maximum size of a collector's response, which normally has a few bytes.
const ANSWER_MAX: usize = 64 * 1024;

/// The export of spans to the collector, until [`Traces::stop`].
pub struct Traces {
    provider: SdkTracerProvider,
    system: &'static str,
}

impl Traces {
    /// Must be called within a runtime. `system`: the database's name in the semantic conventions.
    pub fn start(
        config: &TracesConfig,
        authorities: &[CertificateDer<'static>],
        system: &'static str,
    ) -> anyhow::Result<Self> {
        let is_https = config.endpoint.scheme() == "https";
        let client = http_client::build(http_client::builder(config.timeout), is_https, authorities)?;
        // The SDK reads endpoint, protocol, timeout, headers and compression from the environment.
        let exporter = opentelemetry_otlp::SpanExporter::builder()
            .with_http()
            .with_http_client(OnRuntime { client, runtime: Handle::current() })
            .build()
            .context("preparing the exporter of traces")?;
        let waiting = Arc::new(AtomicUsize::new(0));
        let exporter = Counted { inner: exporter, waiting: waiting.clone(), warned: Mutex::default() };
        let batches = BatchConfigBuilder::default().with_max_queue_size(config.queue).build();
        let inner = BatchSpanProcessor::builder(exporter).with_batch_config(batches).build();
        let processor = Bounded { inner, waiting, most: config.queue };
        let provider =
            SdkTracerProvider::builder().with_span_processor(processor).with_resource(resource()).build();
        Ok(Self { provider, system })
    }

    /// The layer that exports Docket's own spans, but no log events.
    pub fn layer<S>(&self) -> impl Layer<S> + use<S>
    where
        S: Subscriber + for<'span> LookupSpan<'span> + Send + Sync,
    {
        let tracer = self.provider.tracer("docket");
        let spans = tracing_opentelemetry::layer()
            .with_tracer(tracer.clone())
            .with_location(false)
            .with_threads(false)
            .with_target(false)
            .with_tracked_inactivity(false)
            // Libraries' spans lie between Docket's, and SQLite's thread enters only the innermost: the parent is
            // looked up.
            .with_context_activation(false);
        let statements = Statements { tracer, system: self.system };
        // Libraries' spans have confidential fields, such as ids of sessions.
        let only_ours = dynamic_filter_fn(|metadata: &Metadata<'_>, _: &layer::Context<'_, S>| {
            is_root(metadata) || (is_part(metadata) && is_recorded())
        })
        .with_callsite_filter(|metadata| sometimes(is_root(metadata) || is_part(metadata)))
        .with_max_level_hint(LevelFilter::DEBUG);
        let only_reports = dynamic_filter_fn(|metadata: &Metadata<'_>, _: &layer::Context<'_, S>| {
            is_report(metadata) && is_recorded()
        })
        .with_callsite_filter(|metadata| sometimes(is_report(metadata)))
        .with_max_level_hint(LevelFilter::DEBUG);
        spans.with_filter(only_ours).and_then(statements.with_filter(only_reports))
    }

    /// Sends the remaining spans, for [`FLUSH`] at most.
    pub async fn stop(self) {
        let ended = tokio::task::spawn_blocking(move || self.provider.shutdown_with_timeout(FLUSH)).await;
        if let Ok(Err(error)) = ended {
            tracing::warn!(%error, "the last traces were not sent");
        }
    }
}

fn is_root(metadata: &Metadata<'_>) -> bool {
    metadata.target() == ROOT
}

fn is_part(metadata: &Metadata<'_>) -> bool {
    metadata.target() == PART
}

fn is_report(metadata: &Metadata<'_>) -> bool {
    metadata.target() == statements::TARGET
}

fn sometimes(of_interest: bool) -> Interest {
    if of_interest { Interest::sometimes() } else { Interest::never() }
}

/// The service attributes from the environment, or the default name.
fn resource() -> Resource {
    const NAME: &str = "service.name";
    let named = std::env::var("OTEL_SERVICE_NAME").is_ok_and(|name| !name.is_empty())
        || EnvResourceDetector::new().detect().get(&Key::new(NAME)).is_some();
    let builder = Resource::builder()
        .with_attribute(opentelemetry::KeyValue::new("service.version", env!("CARGO_PKG_VERSION")));
    if named { builder.build() } else { builder.with_service_name("docket").build() }
}

/// The exporter runs on its own thread, which has no runtime for connections.
#[derive(Debug)]
struct OnRuntime {
    client: reqwest::Client,
    runtime: Handle,
}

#[async_trait]
impl HttpClient for OnRuntime {
    async fn send_bytes(&self, request: Request<Bytes>) -> Result<Response<Bytes>, HttpError> {
        let request = reqwest::Request::try_from(request)?;
        let client = self.client.clone();
        let exchange = async move {
            let mut response = client.execute(request).await?;
            let mut head = Response::builder().status(response.status());
            if let Some(headers) = head.headers_mut() {
                headers.clone_from(response.headers());
            }
            let mut body = Vec::new();
            while let Some(part) = response.chunk().await? {
                if body.len() + part.len() > ANSWER_MAX {
                    break;
                }
                body.extend_from_slice(&part);
            }
            Ok::<_, HttpError>(head.body(Bytes::from(body))?)
        };
        self.runtime.spawn(exchange).await?
    }
}

/// Counts sent and failed spans.
#[derive(Debug)]
struct Counted<E> {
    inner: E,
    /// Spans that were neither sent nor dropped.
    waiting: Arc<AtomicUsize>,
    /// When the log last reported that spans cannot be sent.
    warned: Mutex<Option<Instant>>,
}

impl<E: SpanExporter> SpanExporter for Counted<E> {
    async fn export(&self, batch: Vec<SpanData>) -> OTelSdkResult {
        let number = batch.len();
        let result = self.inner.export(batch).await;
        self.waiting.fetch_sub(number, Ordering::AcqRel);
        let counter = if result.is_ok() { &SPANS.sent } else { &SPANS.failed };
        counter.fetch_add(number as u64, Ordering::Relaxed);
        let mut warned = self.warned.lock();
        if let Err(error) = &result
            && warned.is_none_or(|at| at.elapsed() >= WARNING_EVERY)
        {
            *warned = Some(Instant::now());
            tracing::warn!(%error, spans = number, "traces could not be sent and are lost; is the collector of OTEL_EXPORTER_OTLP_ENDPOINT up?");
        }
        result
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn shutdown(&self) -> OTelSdkResult {
        self.inner.shutdown()
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}

/// Drops spans if `most` others are waiting. The inner processor would drop them too, but without a count.
#[derive(Debug)]
struct Bounded {
    inner: BatchSpanProcessor,
    waiting: Arc<AtomicUsize>,
    most: usize,
}

impl SpanProcessor for Bounded {
    fn on_start(&self, span: &mut Span, context: &Context) {
        self.inner.on_start(span, context);
    }

    fn on_end(&self, span: SpanData) {
        if !span.span_context.is_sampled() {
            return;
        }
        let one_more = |waiting: usize| (waiting < self.most).then_some(waiting + 1);
        match self.waiting.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more) {
            Ok(_) => self.inner.on_end(span),
            Err(_) => _ = SPANS.dropped.fetch_add(1, Ordering::Relaxed),
        }
    }

    fn force_flush(&self) -> OTelSdkResult {
        self.inner.force_flush()
    }

    fn shutdown_with_timeout(&self, timeout: Duration) -> OTelSdkResult {
        self.inner.shutdown_with_timeout(timeout)
    }

    fn set_resource(&mut self, resource: &Resource) {
        self.inner.set_resource(resource);
    }
}
