//! The pending faults, and the count of requests.

use std::collections::VecDeque;
use std::num::NonZeroU32;

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::fault::Fault;
use super::operation::{FaultTarget, Operation};

const UNTIL_CLEARED: &str = "until-cleared";

/// A requested fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Ordered {
    #[serde(default)]
    operation: FaultTarget,
    #[serde(default)]
    times: Times,
    fault: Fault,
}

/// How many more requests a fault applies to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "Value", into = "Value")]
enum Times {
    Remaining(NonZeroU32),
    UntilCleared,
}

/// Requests received since the emulator started, with any outcome.
#[derive(Debug, Default, Clone, Copy, Serialize)]
#[serde(rename_all = "kebab-case")]
struct Requests {
    create: u64,
    follow_up: u64,
    get: u64,
    views: u64,
    /// Requests for none of the four operations.
    other: u64,
}

#[derive(Debug, Default)]
pub(super) struct Pending {
    faults: VecDeque<Ordered>,
    requests: Requests,
}

/// The response to a `GET`.
#[derive(Debug, Serialize)]
pub(super) struct Shown {
    pending: Vec<Ordered>,
    requests: Requests,
}

impl Ordered {
    /// # Errors
    /// A sentence that describes the problem.
    pub(super) fn parse(body: &[u8]) -> Result<Self, String> {
        let ordered: Self =
            serde_json::from_slice(body).map_err(|error| format!("This is no fault: {error}."))?;
        match ordered.fault.problem() {
            Some(problem) => Err(problem),
            None => Ok(ordered),
        }
    }
}

impl Pending {
    pub(super) fn add(&mut self, ordered: Ordered) {
        self.faults.push_back(ordered);
    }

    pub(super) fn clear(&mut self) {
        self.faults.clear();
    }

    pub(super) fn shown(&self) -> Shown {
        Shown { pending: self.faults.iter().cloned().collect(), requests: self.requests }
    }

    /// Counts a request, and returns the oldest fault that applies to it.
    pub(super) fn next_fault(&mut self, operation: Option<Operation>) -> Option<Fault> {
        *self.requests.of(operation) += 1;
        let operation = operation?;
        let index = self.faults.iter().position(|ordered| ordered.operation.matches(operation))?;
        let ordered = &mut self.faults[index];
        match ordered.times {
            Times::UntilCleared => Some(ordered.fault.clone()),
            Times::Remaining(times) => match NonZeroU32::new(times.get() - 1) {
                Some(left) => {
                    ordered.times = Times::Remaining(left);
                    Some(ordered.fault.clone())
                }
                None => self.faults.remove(index).map(|ordered| ordered.fault),
            },
        }
    }
}

impl Requests {
    fn of(&mut self, operation: Option<Operation>) -> &mut u64 {
        match operation {
            Some(Operation::Create) => &mut self.create,
            Some(Operation::FollowUp) => &mut self.follow_up,
            Some(Operation::Get) => &mut self.get,
            Some(Operation::Views) => &mut self.views,
            None => &mut self.other,
        }
    }
}

impl Default for Times {
    fn default() -> Self {
        Self::Remaining(NonZeroU32::MIN)
    }
}

impl TryFrom<Value> for Times {
    type Error = String;

    fn try_from(value: Value) -> Result<Self, String> {
        if value == UNTIL_CLEARED {
            return Ok(Self::UntilCleared);
        }
        let times = value.as_u64().and_then(|times| u32::try_from(times).ok()).and_then(NonZeroU32::new);
        times
            .map(Self::Remaining)
            .ok_or_else(|| format!("times is a whole number from 1, or \"{UNTIL_CLEARED}\""))
    }
}

impl From<Times> for Value {
    fn from(times: Times) -> Self {
        match times {
            Times::Remaining(times) => Self::from(times.get()),
            Times::UntilCleared => Self::from(UNTIL_CLEARED),
        }
    }
}
