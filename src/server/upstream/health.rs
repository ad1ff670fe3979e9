//! The results of the last upstream exchanges, for the administrators' page and for the circuit breakers. In memory
//! only. Must not call the upstream.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use strum::VariantArray;

use super::UpstreamError;
use super::breaker::Breaker;
use crate::model::budget::Notice;
use crate::model::time::Timestamp;
use crate::model::upstream::{Failure, Operation, OperationStatus};
use crate::server::clock::Clock;

/// How long the queues wait after the key was refused: every attempt costs a call, and an administrator has to act
/// first.
const KEY_REST_SECONDS: i64 = 300;

/// A handle on one record, shared by clones.
#[derive(Clone)]
pub struct Health {
    clock: Clock,
    /// The number of failures in a row that opens a breaker.
    breaks_after: u32,
    record: Arc<Mutex<Record>>,
}

#[derive(Default)]
struct Record {
    operations: BTreeMap<Operation, Outcomes>,
    breakers: BTreeMap<Group, Breaker>,
    key_refused_at: Option<Timestamp>,
}

#[derive(Default)]
struct Outcomes {
    last_success_at: Option<Timestamp>,
    last_error: Option<Failure>,
}

/// Operations that share a circuit breaker.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Prompts,
    Reads,
    Analytics,
}

impl Health {
    pub fn new(clock: Clock, breaks_after: u32) -> Self {
        Self { clock, breaks_after, record: Arc::default() }
    }

    /// Whether a call may be made; otherwise, when the next probe is let through.
    pub(super) fn admit(&self, operation: Operation) -> Result<(), Timestamp> {
        let now = self.clock.now();
        self.record().breakers.entry(group(operation)).or_default().admit(now)
    }

    /// When the next probe is let through, while the circuit breaker is open.
    pub(super) fn open_until(&self, operation: Operation) -> Option<Timestamp> {
        self.record().breakers.get(&group(operation)).and_then(Breaker::open_until)
    }

    /// Until when queues wait because the circuit breaker is open or the key was refused.
    pub(super) fn queue_paused_until(&self, operation: Operation) -> Option<Timestamp> {
        let key = self.key_refused_at().map(|at| at.plus_seconds(KEY_REST_SECONDS));
        self.open_until(operation).max(key).filter(|until| *until > self.clock.now())
    }

    /// Records the result of an exchange.
    pub(super) fn note<T>(&self, operation: Operation, result: &Result<T, UpstreamError>) {
        let now = self.clock.now();
        let mut record = self.record();
        let breaker = record.breakers.entry(group(operation)).or_default();
        match result {
            Err(error) if error.is_failure() => breaker.failed(now, self.breaks_after),
            _ => breaker.succeeded(),
        }
        match result {
            Err(UpstreamError::Refused { status: 401 | 403, .. }) => record.key_refused_at = Some(now),
            Ok(_) => record.key_refused_at = None,
            Err(_) => {}
        }
        let outcomes = record.operations.entry(operation).or_default();
        match result {
            Ok(_) => outcomes.last_success_at = Some(now),
            Err(error) => outcomes.last_error = Some(Failure { at: now, message: error.to_string() }),
        }
    }

    pub fn key_refused_at(&self) -> Option<Timestamp> {
        self.record().key_refused_at
    }

    /// The notice for people on top of pages.
    pub fn notice(&self) -> Option<Notice> {
        let record = self.record();
        let failing = record.breakers.values().any(|breaker| breaker.open_until().is_some());
        match (record.key_refused_at, failing) {
            (Some(_), _) => Some(Notice::KeyRefused),
            (None, true) => Some(Notice::Failing),
            (None, false) => None,
        }
    }

    pub fn operations(&self) -> Vec<OperationStatus> {
        let record = self.record();
        let status = |operation| {
            let outcomes = record.operations.get(&operation);
            OperationStatus {
                operation,
                last_success_at: outcomes.and_then(|outcomes| outcomes.last_success_at),
                last_error: outcomes.and_then(|outcomes| outcomes.last_error.clone()),
                rests_until: record.breakers.get(&group(operation)).and_then(Breaker::open_until),
            }
        };
        Operation::VARIANTS.iter().copied().map(status).collect()
    }

    fn record(&self) -> MutexGuard<'_, Record> {
        self.record.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn group(operation: Operation) -> Group {
    match operation {
        Operation::Create | Operation::FollowUp => Group::Prompts,
        Operation::Read => Group::Reads,
        Operation::Views => Group::Analytics,
    }
}
