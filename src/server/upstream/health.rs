//! The results of the last upstream exchanges, for the administrators' page, and the circuit breakers. After repeated
//! failures they admit only probes, until one succeeds. Both are in the database, so that all processes pause together.

use std::time::Duration;

use strum::VariantArray;

use super::UpstreamError;
use crate::model::budget::Notice;
use crate::model::time::Timestamp;
use crate::model::upstream::{Operation, OperationStatus};
use crate::server::process::clock::Clock;
use crate::server::store::maintenance::figures::Figure;
use crate::server::store::platform::budget::Meters;
use crate::server::store::platform::circuits::{KEY, OpenCircuit};
use crate::server::store::{Store, StoreError};

/// At most five probes per minute.
const BETWEEN_PROBES: Duration = Duration::from_secs(12);

/// How long the queues wait after the key was refused: every attempt costs a call, and an administrator has to act
/// first. Other calls do not wait.
const KEY_PAUSE_SECONDS: i64 = 300;

/// The tolerated difference between the clocks of two processes.
const CLOCKS_APART: Duration = Duration::from_secs(60);

#[derive(Clone)]
pub struct Health {
    store: Store,
    clock: Clock,
    /// The number of failures in a row that opens a breaker.
    breaks_after: u32,
}

/// The result of an exchange, as far as it concerns the platform's health.
pub(super) enum Exchange {
    Succeeded,
    /// It responded with a refusal.
    Refused {
        message: String,
        of_key: bool,
    },
    Failed {
        message: String,
    },
}

/// The circuit breakers at one moment.
pub struct Report {
    open: Vec<OpenCircuit>,
}

impl Health {
    pub fn new(store: Store, clock: Clock, breaks_after: u32) -> Self {
        Self { store, clock, breaks_after }
    }

    /// Whether a call may be made; otherwise, the time of the next probe.
    pub(super) async fn admit(&self, operation: Operation) -> Result<Result<(), Timestamp>, StoreError> {
        let now = self.clock.now();
        if self.store.passes(circuit(operation), BETWEEN_PROBES, now).await? {
            return Ok(Ok(()));
        }
        Ok(self.report().await?.open_until(operation).map_or(Ok(()), Err))
    }

    /// Records the result of an exchange. A failure to write must not change the result.
    pub(super) async fn note(&self, operation: Operation, exchange: Exchange) {
        if let Err(error) = self.record(operation, exchange).await {
            tracing::warn!(%error, "how a call upstream went could not be recorded");
        }
    }

    async fn record(&self, operation: Operation, exchange: Exchange) -> Result<(), StoreError> {
        let (store, now) = (&self.store, self.clock.now());
        // Most calls succeed, often many at once. One read replaces three writes that the call would wait for.
        if matches!(exchange, Exchange::Succeeded)
            && store.knows_success(name(operation), [circuit(operation), KEY], now).await?
        {
            return Ok(());
        }
        match &exchange {
            Exchange::Failed { .. } => {
                store.count_failure(circuit(operation), self.breaks_after, now).await?
            }
            _ => store.close_circuit(circuit(operation)).await?,
        }
        match &exchange {
            Exchange::Succeeded => store.close_circuit(KEY).await?,
            Exchange::Refused { of_key: true, .. } => store.count_failure(KEY, 1, now).await?,
            _ => {}
        }
        store.record_outcome_of_call(name(operation), exchange.message(), now).await
    }

    /// Resets the state of the key after it was replaced.
    pub async fn forget_refused_key(&self) -> Result<(), StoreError> {
        self.store.close_circuit(KEY).await
    }

    pub async fn report(&self) -> Result<Report, StoreError> {
        Ok(Report { open: self.store.open_circuits().await? })
    }

    pub async fn operations(&self) -> Result<Vec<OperationStatus>, StoreError> {
        let report = self.report().await?;
        let mut operations = Vec::new();
        for operation in Operation::VARIANTS.iter().copied() {
            let last = self.store.last_outcomes(name(operation)).await?;
            operations.push(OperationStatus {
                operation,
                last_success_at: last.succeeded_at,
                last_error: last.failure,
                circuit_open_until: report.open_until(operation),
            });
        }
        Ok(operations)
    }
}

impl Report {
    /// Builds the report from the figures of the database.
    pub fn of(figures: &[Figure]) -> Self {
        let open = figures.iter().filter(|figure| figure.what == "open circuit");
        let circuit = |figure: &Figure| OpenCircuit {
            name: figure.of_whom.clone(),
            tried_at: Timestamp::from_millis(figure.number),
        };
        Self { open: open.map(circuit).collect() }
    }

    /// The time of the next probe, while the circuit breaker is open.
    pub fn open_until(&self, operation: Operation) -> Option<Timestamp> {
        self.tried_at(circuit(operation)).map(|at| at.after(BETWEEN_PROBES))
    }

    /// The time until which queues wait because the circuit breaker is open or the key was refused. A failure in the future was recorded before a clock
    /// rollback, and does not count.
    pub(super) fn queue_paused_until(&self, operation: Operation, now: Timestamp) -> Option<Timestamp> {
        let tried_at = |name| self.tried_at(name).filter(|at| *at <= now.after(CLOCKS_APART));
        let open = tried_at(circuit(operation)).map(|at| at.after(BETWEEN_PROBES));
        let key = tried_at(KEY).map(|at| at.plus_seconds(KEY_PAUSE_SECONDS));
        open.max(key).filter(|until| *until > now)
    }

    /// When the key was refused, unless it was accepted since.
    pub fn key_refused_at(&self) -> Option<Timestamp> {
        self.tried_at(KEY)
    }

    fn tried_at(&self, name: &str) -> Option<Timestamp> {
        self.open.iter().find(|circuit| circuit.name == name).map(|circuit| circuit.tried_at)
    }
}

/// The notice for people on top of pages.
pub(super) fn notice(meters: &Meters) -> Option<Notice> {
    match meters {
        Meters { key_is_refused: true, .. } => Some(Notice::KeyRefused),
        Meters { open_circuits: 1.., .. } => Some(Notice::Failing),
        _ => None,
    }
}

impl Exchange {
    pub(super) fn of<T>(result: &Result<T, UpstreamError>) -> Self {
        match result {
            Ok(_) => Self::Succeeded,
            Err(error) if error.is_failure() => Self::Failed { message: error.to_string() },
            Err(error) => Self::Refused {
                message: error.to_string(),
                of_key: matches!(error, UpstreamError::Refused { status: 401 | 403, .. }),
            },
        }
    }

    fn message(&self) -> Option<&str> {
        match self {
            Self::Succeeded => None,
            Self::Refused { message, .. } | Self::Failed { message } => Some(message),
        }
    }
}

/// Operations that fail together share a circuit breaker.
pub(super) const fn circuit(operation: Operation) -> &'static str {
    match operation {
        Operation::Create | Operation::FollowUp => "prompts",
        Operation::Read => "reads",
        Operation::Views => "analytics",
    }
}

const fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "create",
        Operation::FollowUp => "follow_up",
        Operation::Read => "read",
        Operation::Views => "views",
    }
}
