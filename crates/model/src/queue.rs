//! The queue of prompts, and when each is expected to be sent. Pure.

use serde::{Deserialize, Serialize};
use strum::{EnumString, IntoStaticStr};

use crate::ParseError;
use crate::id::{BatchId, JobId, MessageId};
use crate::time::Timestamp;

const HOUR_MILLIS: i64 = 3_600_000;

/// The queued prompts of a project: first those of the queue in their order, then those that wait for an earlier prompt of
/// their job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Queue {
    pub waiting: Vec<QueueEntry>,
    /// The batches with several prompts in `waiting`; empty after a change.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub batches: Vec<QueuedBatch>,
    /// While the prompts wait for AI credits: when Docket sends one to find out whether there are some.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub no_credits_until: Option<Timestamp>,
    /// The `cursor` of the rest; `None` if this is all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub next: Option<String>,
}

/// A batch, where the queue folds its prompts into one row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueuedBatch {
    pub id: BatchId,
    /// As [`Batch::name`](crate::batch::Batch::name).
    pub name: String,
    /// The number of its prompts in the queue.
    pub left: u64,
    /// The number of its jobs; a job and its retry count once.
    pub jobs: u64,
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
    /// When it is sent if no other prompt is submitted; `None` if that depends on another prompt.
    pub expected_at: Option<Timestamp>,
    /// The batch that created it.
    pub batch: Option<BatchId>,
}

/// Where a prompt is in its queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct QueuePlace {
    /// How many prompts are sent before it.
    pub before: usize,
    /// As [`QueueEntry::expected_at`].
    pub expected_at: Option<Timestamp>,
}

/// A queued prompt of a job, with its place.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct QueuedPrompt {
    pub message: MessageId,
    /// As [`QueueEntry::position`].
    pub position: u32,
    pub place: QueuePlace,
}

impl QueueEntry {
    /// Whether it waits for its turn only.
    pub fn is_next_in_turn(&self) -> bool {
        !matches!(self.why, WaitReason::OnHold | WaitReason::JobBefore | WaitReason::Sending)
    }
}

/// Why a prompt waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitReason {
    /// The hourly budget is spent, or the upstream requested a pause.
    Budget,
    /// Earlier prompts of the queue, or the minimum gap between two of them.
    EarlierPrompts,
    /// An earlier prompt of its own job.
    JobBefore,
    /// The circuit breaker of the upstream is open.
    CircuitOpen,
    /// The upstream has no AI credits.
    NoCredits,
    /// An administrator has to release it: its author was disabled, or may no longer start jobs in this project.
    OnHold,
    /// It is being sent.
    Sending,
}

/// Where to move a prompt in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, EnumString, IntoStaticStr)]
#[strum(serialize_all = "lowercase", const_into_str, parse_err_ty = ParseError, parse_err_fn = not_a_move)]
pub enum Move {
    First,
    Up,
    Down,
}

impl Move {
    pub const fn as_str(self) -> &'static str {
        self.into_str()
    }
}

fn not_a_move(_: &str) -> ParseError {
    "A prompt can be moved first, up or down.".into()
}

/// How many prompts may leave a queue at once while more than half of the budget is free.
const AT_ONCE: i64 = 10;

/// The gap between two prompts of a queue in milliseconds, which spreads `per_hour` evenly over an hour.
pub fn gap_millis(per_hour: u32) -> i64 {
    let per_hour = i64::from(per_hour.max(1));
    (HOUR_MILLIS + per_hour - 1) / per_hour
}

/// The pace of a queue: an instant that each prompt moves one gap further. The next prompt may leave when the instant is less
/// than [`AT_ONCE`] gaps ahead. After a pause, this many prompts leave at once, and then one per gap.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Pace {
    pub per_hour: u32,
    /// That instant, in milliseconds.
    pub full_at: i64,
}

impl Pace {
    /// The maximum distance of the instant from now, in milliseconds.
    pub fn longest_millis(per_hour: u32) -> i64 {
        AT_ONCE * gap_millis(per_hour)
    }

    /// When the next prompt may leave.
    pub fn leaves_at(self) -> i64 {
        self.full_at - (AT_ONCE - 1) * gap_millis(self.per_hour)
    }

    /// The pace after a prompt left at `now`; `used`: the calls of the last hour, including this one. Once half of the budget
    /// is used, the next prompt waits one gap.
    pub fn after(self, now: i64, used: usize) -> Self {
        let gap = gap_millis(self.per_hour);
        let more_than_half_is_free = 2 * used < self.per_hour as usize;
        let full_at = if more_than_half_is_free {
            self.full_at.max(now) + gap
        } else {
            now + Self::longest_millis(self.per_hour)
        };
        Self { full_at, ..self }
    }
}

/// When each of the next `count` prompts of a queue is sent. None is sent before `earliest`, faster than the queue's pace, or
/// above its limit in a rolling hour. `calls`: when the calls so far were made, oldest first.
pub fn expected(earliest: Timestamp, mut calls: Vec<i64>, mut pace: Pace, count: usize) -> Vec<Timestamp> {
    let limit = pace.per_hour.max(1) as usize;
    let mut next = earliest.as_millis();
    let mut times = Vec::with_capacity(count);
    for _ in 0..count {
        next = next.max(pace.leaves_at());
        if let Some(oldest) = calls.len().checked_sub(limit).map(|at| calls[at]) {
            next = next.max(oldest + HOUR_MILLIS);
        }
        times.push(Timestamp::from_millis(next));
        calls.push(next);
        let used = calls.iter().rev().take_while(|at| **at > next - HOUR_MILLIS).count();
        pace = pace.after(next, used);
    }
    times
}

#[cfg(test)]
mod tests {
    use super::*;

    fn minutes(times: &[Timestamp]) -> Vec<i64> {
        times.iter().map(|at| at.as_millis() / 60_000).collect()
    }

    fn pace(per_hour: u32) -> Pace {
        Pace { per_hour, full_at: 0 }
    }

    #[test]
    fn up_to_ten_prompts_leave_at_once_with_half_free() {
        let at = Timestamp::from_millis(0);
        let seconds = |calls: Vec<i64>, per_hour, count| -> Vec<i64> {
            expected(at, calls, pace(per_hour), count).iter().map(|at| at.as_millis() / 1000).collect()
        };
        assert_eq!(seconds(vec![], 100, 12), [0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 36, 72]);
        assert_eq!(seconds(vec![-1; 46], 100, 6), [0, 0, 0, 0, 36, 72], "half is used after four");
        assert_eq!(seconds(vec![-1; 80], 100, 3), [0, 36, 72]);
        assert_eq!(seconds(vec![], 2, 3), [0, 1800, 3600]);
    }

    #[test]
    fn ten_prompts_leave_at_once_after_a_pause() {
        let gap = gap_millis(100);
        let spent = (0..10).fold(pace(100), |pace, _| pace.after(0, 1));
        assert_eq!(spent.full_at, Pace::longest_millis(100));
        assert_eq!(spent.leaves_at(), gap);
        let resumed = expected(Timestamp::from_millis(20 * gap), vec![], spent, 11);
        assert_eq!(resumed[9].as_millis(), 20 * gap);
        assert_eq!(resumed[10].as_millis(), 21 * gap);
    }

    #[test]
    fn spent_budget_spreads_the_queue_evenly() {
        let at = Timestamp::from_millis(0);
        assert_eq!(minutes(&expected(at, vec![-1; 2], pace(4), 4)), [0, 15, 59, 74]);
        assert_eq!(gap_millis(7) * 7 / HOUR_MILLIS, 1, "never more than the limit in an hour");
    }

    #[test]
    fn long_queue_after_a_full_hour_leaves_at_its_pace() {
        // The hour is full for 46 minutes more: a hundred calls were made, one every 30 seconds.
        let calls = (0..100).map(|n| n * 30_000).collect();
        let (now, room) = (14 * 60_000, HOUR_MILLIS);
        let times = expected(Timestamp::from_millis(room), calls, pace(100), 99);
        let waits: Vec<i64> = times.iter().map(|at| (at.as_millis() - now) / 60_000).collect();
        assert_eq!((waits[0], waits[98]), (46, 104), "98 others, one every 36 seconds");
    }

    #[test]
    fn a_queue_waits_for_room_in_the_budget() {
        let at = Timestamp::from_millis(10 * 60_000);
        let calls = vec![0, 60_000, 120_000, 180_000];
        assert_eq!(minutes(&expected(at, calls, pace(4), 3)), [60, 75, 90]);
    }
}
