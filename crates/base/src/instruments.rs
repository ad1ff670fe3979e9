//! Counters of events that no table stores: requests, exchanges with the platform, deliveries, webhook attempts,
//! sign-ins. Each process counts its own, from 0. Labels come from fixed lists and from the route table, never from
//! client input.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use prometheus_client::metrics::counter::Counter;
use prometheus_client::metrics::family::Family;
use prometheus_client::metrics::histogram::Histogram;
use prometheus_client::registry::Registry;
use strum::{IntoStaticStr, VariantArray};

use model::error::{AppError, ErrorCode};
use model::upstream::Operation;
use model::webhook::WebhookOutcome;

/// The labels of a time series.
pub type Labels = Vec<(&'static str, Cow<'static, str>)>;

type Counts = Family<Labels, Counter>;
type Durations = Family<Labels, Histogram, fn() -> Histogram>;

/// Seconds: from a cached response to one that waited for a prompt's delivery.
const REQUEST_SECONDS: [f64; 10] = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];
/// Seconds: an exchange has a deadline of at most 100.
const EXCHANGE_SECONDS: [f64; 10] = [0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0, 30.0, 100.0];
/// Seconds.
const STATEMENT_SECONDS: [f64; 8] = [0.0005, 0.001, 0.005, 0.01, 0.05, 0.1, 0.5, 2.0];

/// The tables from which retention removes old rows.
const REMOVED_FROM: [&str; 13] = [
    "annotations",
    "api_tokens",
    "batches",
    "drafts",
    "failing_days",
    "history_days",
    "invitations",
    "jobs",
    "page_paths",
    "page_views",
    "password_links",
    "requested_days",
    "setup_links",
];

/// A handle, shared by clones.
#[derive(Clone)]
pub struct Instruments(Arc<Recorded>);

struct Recorded {
    registry: Registry,
    requests: Counts,
    request_seconds: Durations,
    exchanges: Counts,
    exchange_seconds: Durations,
    deliveries: Counts,
    webhook_attempts: Counts,
    sign_ins: Counts,
    retention_failures: Counts,
    acquire_seconds: Histogram,
    statement_seconds: Histogram,
}

/// The outcome of an exchange with the platform.
#[derive(Debug, Clone, Copy, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum UpstreamOutcome {
    Answered,
    NotConnected,
    LimitReached,
    NoCredits,
    Refused,
    TimedOut,
    BrokenOff,
    Failed,
    BadAnswer,
}

/// The outcome of sending a prompt.
#[derive(Debug, Clone, Copy, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum DeliveryCount {
    Accepted,
    Rejected,
    QueuedAgain,
    Unknown,
}

/// The means of a sign-in.
#[derive(Debug, Clone, Copy, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
pub enum SignInMeans {
    Password,
    /// The second step after a password.
    Code,
    Passkey,
    SingleSignOn,
}

#[derive(Debug, Clone, Copy, IntoStaticStr, VariantArray)]
#[strum(serialize_all = "snake_case")]
enum SignInOutcome {
    Succeeded,
    Refused,
    /// Nothing was checked, because of too many attempts or too many people at once.
    TurnedAway,
    /// Docket could not check it.
    Failed,
}

impl Default for Instruments {
    fn default() -> Self {
        let recorded = Recorded {
            registry: Registry::default(),
            requests: Family::default(),
            request_seconds: durations(|| Histogram::new(REQUEST_SECONDS)),
            exchanges: Family::default(),
            exchange_seconds: durations(|| Histogram::new(EXCHANGE_SECONDS)),
            deliveries: Family::default(),
            webhook_attempts: Family::default(),
            sign_ins: Family::default(),
            retention_failures: Family::default(),
            acquire_seconds: Histogram::new(STATEMENT_SECONDS),
            statement_seconds: Histogram::new(STATEMENT_SECONDS),
        };
        recorded.begin_at_zero();
        Self(Arc::new(recorded.registered()))
    }
}

impl Instruments {
    /// A request to `route`, a template of the route table, got a response with `status`. The body may still be in
    /// transit.
    pub fn request(&self, route: &str, method: &'static str, status: u16, took: Duration) {
        let class = match status {
            100..200 => "1xx",
            200..300 => "2xx",
            300..400 => "3xx",
            400..500 => "4xx",
            _ => "5xx",
        };
        let mut labels = labels([("route", route.to_owned().into()), ("method", method.into())]);
        self.0.request_seconds.get_or_create(&labels).observe(took.as_secs_f64());
        labels.push(("status", class.into()));
        self.0.requests.get_or_create(&labels).inc();
    }

    pub fn upstream_exchange(&self, operation: Operation, outcome: UpstreamOutcome, took: Duration) {
        self.0.exchanges.get_or_create(&exchange(operation, outcome)).inc();
        self.0.exchange_seconds.get_or_create(&of_operation(operation)).observe(took.as_secs_f64());
    }

    pub fn delivery(&self, outcome: DeliveryCount) {
        self.0.deliveries.get_or_create(&labelled("outcome", outcome.into())).inc();
    }

    pub fn webhook_attempt(&self, outcome: WebhookOutcome) {
        self.0.webhook_attempts.get_or_create(&labelled("outcome", attempt(outcome))).inc();
    }

    /// A person signed in, or failed to with `error`.
    pub fn sign_in(&self, means: SignInMeans, error: Option<&AppError>) {
        let outcome = match error.map(|error| error.code) {
            None => SignInOutcome::Succeeded,
            Some(ErrorCode::TooManyAttempts | ErrorCode::Busy) => SignInOutcome::TurnedAway,
            Some(ErrorCode::Internal | ErrorCode::DatabaseUnavailable | ErrorCode::UpstreamFailed) => {
                SignInOutcome::Failed
            }
            Some(_) => SignInOutcome::Refused,
        };
        self.0.sign_ins.get_or_create(&sign_in(means, outcome)).inc();
    }

    /// An old row of `table` could not be removed.
    pub fn retention_failure(&self, table: &'static str) {
        self.0.retention_failures.get_or_create(&labelled("table", table)).inc();
    }

    /// A statement waited `waited` for its connection, and then took `took`.
    pub fn statement(&self, waited: Duration, took: Duration) {
        self.0.acquire_seconds.observe(waited.as_secs_f64());
        self.0.statement_seconds.observe(took.as_secs_f64());
    }

    pub fn registry(&self) -> &Registry {
        &self.0.registry
    }
}

impl Recorded {
    /// A series that begins at 0 shows its first event as an increase; one that begins with that event does not.
    fn begin_at_zero(&self) {
        for operation in Operation::VARIANTS {
            for outcome in UpstreamOutcome::VARIANTS {
                drop(self.exchanges.get_or_create(&exchange(*operation, *outcome)));
            }
            drop(self.exchange_seconds.get_or_create(&of_operation(*operation)));
        }
        for outcome in DeliveryCount::VARIANTS {
            drop(self.deliveries.get_or_create(&labelled("outcome", outcome.into())));
        }
        for outcome in [WebhookOutcome::Delivered, WebhookOutcome::Waiting, WebhookOutcome::GivenUp] {
            drop(self.webhook_attempts.get_or_create(&labelled("outcome", attempt(outcome))));
        }
        for table in REMOVED_FROM {
            drop(self.retention_failures.get_or_create(&labelled("table", table)));
        }
        for means in SignInMeans::VARIANTS {
            for outcome in SignInOutcome::VARIANTS {
                drop(self.sign_ins.get_or_create(&sign_in(*means, *outcome)));
            }
        }
    }

    fn registered(mut self) -> Self {
        let registry = &mut self.registry;
        registry.register(
            "docket_http_requests",
            "Requests answered, by route, method and class of status",
            self.requests.clone(),
        );
        registry.register(
            "docket_http_request_duration_seconds",
            "Time from a request's headers to those of its response",
            self.request_seconds.clone(),
        );
        registry.register(
            "docket_upstream_requests",
            "Exchanges with the platform, retries included, by operation and outcome",
            self.exchanges.clone(),
        );
        registry.register(
            "docket_upstream_request_duration_seconds",
            "Time of an exchange with the platform, with its retries",
            self.exchange_seconds.clone(),
        );
        registry.register(
            "docket_deliveries",
            "Prompts sent to the platform, by outcome",
            self.deliveries.clone(),
        );
        registry.register(
            "docket_webhook_attempts",
            "Attempts to deliver an event to a webhook, by what follows",
            self.webhook_attempts.clone(),
        );
        registry.register(
            "docket_sign_ins",
            "Attempts to sign in, by means and outcome",
            self.sign_ins.clone(),
        );
        registry.register(
            "docket_retention_failures",
            "Old rows that could not be removed, by table",
            self.retention_failures.clone(),
        );
        registry.register(
            "docket_database_acquire_duration_seconds",
            "Time that the statement behind these figures waited for a connection",
            self.acquire_seconds.clone(),
        );
        registry.register(
            "docket_database_statement_duration_seconds",
            "Time that the statement behind these figures took",
            self.statement_seconds.clone(),
        );
        self
    }
}

fn durations(new: fn() -> Histogram) -> Durations {
    Family::new_with_constructor(new)
}

fn exchange(operation: Operation, outcome: UpstreamOutcome) -> Labels {
    let mut labels = of_operation(operation);
    labels.push(("outcome", <&'static str>::from(outcome).into()));
    labels
}

fn of_operation(operation: Operation) -> Labels {
    labelled("operation", operation_label(operation))
}

/// An operation as a label.
pub fn operation_label(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "create",
        Operation::FollowUp => "follow_up",
        Operation::Read => "read",
        Operation::Views => "views",
    }
}

fn attempt(outcome: WebhookOutcome) -> &'static str {
    match outcome {
        WebhookOutcome::Delivered => "delivered",
        WebhookOutcome::Waiting => "tried_again",
        WebhookOutcome::GivenUp => "given_up",
    }
}

fn sign_in(means: SignInMeans, outcome: SignInOutcome) -> Labels {
    let (means, outcome): (&'static str, &'static str) = (means.into(), outcome.into());
    labels([("means", means.into()), ("outcome", outcome.into())])
}

fn labelled(name: &'static str, value: &'static str) -> Labels {
    labels([(name, value.into())])
}

fn labels<const N: usize>(labels: [(&'static str, Cow<'static, str>); N]) -> Labels {
    labels.into()
}
