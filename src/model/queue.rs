//! The queue of prompts, and when each is expected to be sent. Pure.

use serde::{Deserialize, Serialize};
use strum::EnumString;

use crate::model::ParseError;
use crate::model::id::{BatchId, JobId, MessageId};
use crate::model::time::Timestamp;

const HOUR_MILLIS: i64 = 3_600_000;

/// The queued prompts of a project: first those of the queue in their order, then those that wait for an earlier prompt
/// of their job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    pub waiting: Vec<QueueEntry>,
}

/// A queued prompt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueEntry {
    pub message: MessageId,
    pub job: JobId,
    /// 0 for the first prompt of the job, n for its n-th follow-up.
    pub position: u32,
    /// Truncated to an excerpt.
    pub prompt: String,
    pub author: String,
    pub created_at: Timestamp,
    pub why: WaitReason,
    /// When it is sent if nothing else is submitted; `None` if that depends on another prompt.
    pub expected_at: Option<Timestamp>,
    /// The batch that created it.
    pub batch: Option<BatchId>,
}

/// Why a prompt waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The hourly budget is spent, or the upstream asked for a pause.
    Budget,
    /// Earlier prompts of the queue, or the minimum gap between two of them.
    Turn,
    /// An earlier prompt of its own job.
    JobBefore,
    /// The circuit breaker of the upstream is open.
    Rest,
    /// An administrator has to release it: its author was disabled, or may not start jobs in this project any more.
    Held,
    /// It is being sent.
    Sending,
}

/// Where to move a prompt in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString)]
#[strum(serialize_all = "lowercase", parse_err_ty = ParseError, parse_err_fn = not_a_move)]
pub enum Move {
    First,
    Up,
    Down,
}

fn not_a_move(_: &str) -> ParseError {
    "A prompt can be moved first, up or down."
}

/// The gap between two prompts of a queue in milliseconds, which spreads `per_hour` evenly over an hour.
pub fn gap_millis(per_hour: u32) -> i64 {
    let per_hour = i64::from(per_hour.max(1));
    (HOUR_MILLIS + per_hour - 1) / per_hour
}

/// When each of the next `count` prompts of a queue is sent: the first not before `earliest`, each one gap after the
/// previous one, never more than `per_hour` in a rolling hour. `calls`: when the calls so far were made, oldest first.
pub fn expected(earliest: Timestamp, mut calls: Vec<i64>, per_hour: u32, count: usize) -> Vec<Timestamp> {
    let limit = per_hour.max(1) as usize;
    let mut next = earliest.as_millis();
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        if let Some(oldest) = calls.len().checked_sub(limit).map(|at| calls[at]) {
            next = next.max(oldest + HOUR_MILLIS);
        }
        times.push(Timestamp::from_millis(next));
        calls.push(next);
        next += gap_millis(per_hour);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(times: &[Timestamp]) -> Vec<i64> {
        times.iter().map(|at| at.as_millis() / 60_000).collect()
    }

    #[test]
    fn a_queue_moves_evenly() {
        let at = Timestamp::from_millis(0);
        assert_eq!(minutes(&expected(at, vec![], 4, 6)), [0, 15, 30, 45, 60, 75]);
        assert_eq!(gap_millis(7) * 7 / HOUR_MILLIS, 1, "never more than the limit in an hour");
    }

    #[test]
    fn a_queue_waits_for_room_in_the_budget() {
        let at = Timestamp::from_millis(10 * 60_000);
        let calls = vec![0, 60_000, 120_000, 180_000];
        assert_eq!(minutes(&expected(at, calls, 4, 3)), [60, 75, 90]);
    }
}
