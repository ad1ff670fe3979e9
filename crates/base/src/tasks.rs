//! Background tasks: started, monitored, and restarted after a panic.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures::FutureExt;
use parking_lot::{Mutex, MutexGuard};
use tokio_util::sync::CancellationToken;

use crate::clock::Clock;
use crate::failures::Failures;
use model::time::Timestamp;
use model::upstream::TaskStatus;

/// The pause before a task is restarted. It doubles with each failure up to the maximum.
const PAUSE: Duration = Duration::from_secs(1);
const LONGEST_PAUSE: Duration = Duration::from_secs(60);

/// The interval in which a task shows that the runtime schedules it, and the maximum time between two of these signs.
const SIGN: Duration = Duration::from_secs(5);
const SIGN_MAX: Duration = Duration::from_secs(60);

/// The tolerated clock rollback of a small correction.
const CLOCKS_APART: Duration = Duration::from_secs(60);

/// A background task.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Task {
    Heartbeat,
    Delivery,
    Polling,
    History,
    Webhooks,
    PullRequests,
    Audit,
    Refusals,
    Retention,
    Backups,
}

/// The state of all background tasks. Clones share it.
#[derive(Clone)]
pub struct Tasks {
    clock: Clock,
    failures: Failures,
    states: Arc<Mutex<BTreeMap<Task, State>>>,
    breaks: Arc<Mutex<BTreeSet<&'static str>>>,
}

#[derive(Default)]
struct State {
    is_running: bool,
    /// The last success or start, by the monotonic clock. Moved by the time in which responses were awaited since.
    seen: Duration,
    last_success_at: Option<Timestamp>,
    failures: u32,
    last_failure_at: Option<Timestamp>,
    /// How many responses from outside are awaited, and since when at least one is.
    awaited: usize,
    awaited_since: Duration,
    /// When the runtime last scheduled the task, by the monotonic clock; `None` before its start and after its end.
    scheduled: Option<Duration>,
}

impl State {
    fn see(&mut self, elapsed: Duration) {
        (self.seen, self.awaited_since) = (elapsed, elapsed);
    }

    /// How long the task has had no success, without the time in which it awaited responses.
    fn silence(&self, elapsed: Duration) -> Duration {
        let until = if self.awaited > 0 { self.awaited_since } else { elapsed };
        until.saturating_sub(self.seen)
    }
}

/// A response from outside that a task awaits, until this is dropped.
pub struct Awaited {
    tasks: Tasks,
    task: Task,
}

impl Task {
    pub const fn name(self) -> &'static str {
        match self {
            Self::Heartbeat => "Heartbeat",
            Self::Delivery => "Sending prompts",
            Self::Polling => "Checking jobs",
            Self::History => "Fetching page views",
            Self::Webhooks => "Sending webhooks",
            Self::PullRequests => "Checking pull requests",
            Self::Audit => "Maintaining the audit log",
            Self::Refusals => "Recording refused requests",
            Self::Retention => "Removing old data",
            Self::Backups => "Writing backups",
        }
    }

    /// The log's message about a step that failed.
    const fn failure(self) -> &'static str {
        match self {
            Self::Heartbeat => "the heartbeat could not be stored",
            Self::Delivery => "queued messages could not be delivered",
            Self::Polling => "jobs could not be polled",
            Self::History => "the history could not be synced",
            Self::Webhooks => "webhooks could not be delivered",
            Self::PullRequests => "pull requests could not be checked",
            Self::Audit => "the maintenance of the audit log failed",
            Self::Refusals => "refused requests could not be recorded",
            Self::Retention => "old data could not be removed",
            Self::Backups => "no backup was written",
        }
    }

    /// The maximum time without a success of a healthy task.
    const fn silence_max(self) -> Duration {
        match self {
            Self::Audit => Duration::from_secs(25 * 60),
            Self::Retention => Duration::from_secs(25 * 3_600),
            // Failing backups, for example on a full disk, do not affect people. An alert covers their age.
            Self::Backups => Duration::MAX,
            _ => Duration::from_secs(5 * 60),
        }
    }
}

impl Tasks {
    pub fn new(clock: Clock) -> Self {
        Self { clock, failures: Failures::default(), states: Arc::default(), breaks: Arc::default() }
    }

    /// Runs a task until `stop`, and restarts it if it panics or ends too early. Notes how long the runtime has not scheduled it.
    pub async fn supervise<F: Future<Output = ()>>(
        &self,
        task: Task,
        stop: &CancellationToken,
        run: impl Fn() -> F,
    ) {
        // Both are one task of the runtime: if `run` blocks its thread, the signs end.
        tokio::select! {
            biased;
            () = self.give_signs(task) => {}
            () = self.run_again(task, stop, run) => {}
        }
        self.change(task, |state| state.scheduled = None);
    }

    /// Never ends.
    async fn give_signs(&self, task: Task) {
        loop {
            let elapsed = self.clock.elapsed();
            self.change(task, |state| state.scheduled = Some(elapsed));
            tokio::time::sleep(SIGN).await;
        }
    }

    async fn run_again<F: Future<Output = ()>>(
        &self,
        task: Task,
        stop: &CancellationToken,
        run: impl Fn() -> F,
    ) {
        let mut pause = PAUSE;
        loop {
            let begun = self.clock.elapsed();
            self.change(task, |state| {
                state.is_running = true;
                state.see(begun);
            });
            // Unfinished work of the task is in the database or will be done again.
            let ended = AssertUnwindSafe(run()).catch_unwind().await;
            if stop.is_cancelled() && ended.is_ok() {
                return;
            }
            let (now, panicked) = (self.clock.now(), ended.is_err());
            self.change(task, |state| {
                state.is_running = false;
                state.failures += 1;
                state.last_failure_at = Some(now);
            });
            if self.clock.elapsed().saturating_sub(begun) > 5 * LONGEST_PAUSE {
                pause = PAUSE;
            }
            let (task_name, seconds) = (task.name(), pause.as_secs());
            tracing::error!(task = task_name, panicked, seconds, "a background task failed and starts again");
            if stop.run_until_cancelled(tokio::time::sleep(pause)).await.is_none() {
                return;
            }
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// A step of a task failed. It will be tried again. The failure is logged once.
    pub fn failed(&self, task: Task, error: impl Display) {
        self.failures.failed(task.failure(), error);
    }

    /// A task is healthy and has nothing to do.
    pub fn idles(&self, task: Task) {
        let elapsed = self.clock.elapsed();
        self.change(task, |state| state.see(elapsed));
    }

    /// Lasting failures of single steps.
    pub fn failures(&self) -> &Failures {
        &self.failures
    }

    /// A step of a task was successful.
    pub fn succeeded(&self, task: Task) {
        self.failures.ended(task.failure());
        let (now, elapsed) = (self.clock.now(), self.clock.elapsed());
        self.change(task, |state| {
            state.last_success_at = Some(now);
            state.see(elapsed);
        });
    }

    /// A task awaits a response from outside, with a timeout. The time does not count as silence: a slow platform is no fault of this process.
    pub fn awaits(&self, task: Task) -> Awaited {
        let elapsed = self.clock.elapsed();
        self.change(task, |state| {
            if state.awaited == 0 {
                state.awaited_since = elapsed;
            }
            state.awaited += 1;
        });
        Awaited { tasks: self.clone(), task }
    }

    /// A task last succeeded at `at`, perhaps before this process began.
    pub fn succeeded_at(&self, task: Task, at: Timestamp) {
        self.change(task, |state| state.last_success_at = Some(at));
    }

    /// A task that the runtime has not scheduled for a minute, because it blocks its thread. One that waits, or fails and tries again, is not blocked.
    pub fn blocked(&self) -> Option<Task> {
        let elapsed = self.clock.elapsed();
        let is_blocked =
            |state: &State| state.scheduled.is_some_and(|at| elapsed.saturating_sub(at) > SIGN_MAX);
        lock(&self.states).iter().find(|(_, state)| is_blocked(state)).map(|(task, _)| *task)
    }

    /// Every task that was started.
    pub fn all(&self) -> Vec<TaskStatus> {
        let (now, elapsed) = (self.clock.now(), self.clock.elapsed());
        // A time in the future comes from a wrong clock.
        let past = |at: &Timestamp| *at <= now.after(CLOCKS_APART);
        let status = |(task, state): (&Task, &State)| TaskStatus {
            name: task.name().to_owned(),
            is_well: state.is_running && state.silence(elapsed) <= task.silence_max(),
            last_success_at: state.last_success_at.filter(past),
            failures: state.failures,
            last_failure_at: state.last_failure_at.filter(past),
        };
        lock(&self.states).iter().map(status).collect()
    }

    /// Makes the code panic that next passes the point with this name. For tests.
    pub fn break_at(&self, point: &'static str) {
        lock(&self.breaks).insert(point);
    }

    /// A point of a task at which tests can make it panic.
    pub fn pass(&self, point: &'static str) {
        let breaks = lock(&self.breaks).remove(point);
        assert!(!breaks, "a test broke {point}");
    }

    fn change(&self, task: Task, change: impl FnOnce(&mut State)) {
        change(lock(&self.states).entry(task).or_default());
    }
}

impl Drop for Awaited {
    fn drop(&mut self) {
        let elapsed = self.tasks.clock.elapsed();
        self.tasks.change(self.task, |state| {
            state.awaited -= 1;
            if state.awaited == 0 {
                state.seen += elapsed.saturating_sub(state.awaited_since);
            }
        });
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock()
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[tokio::test]
    async fn panicked_or_ended_task_is_restarted_until_stopped() {
        let clock = Clock::frozen(Timestamp::from_millis(1_795_000_000_000));
        let (tasks, stop, runs) = (Tasks::new(clock.clone()), CancellationToken::new(), AtomicU32::new(0));
        let run = async || match runs.fetch_add(1, Ordering::SeqCst) {
            0 => panic!("of the test"),
            1 => tasks.succeeded(Task::Webhooks),
            _ => stop.cancelled().await,
        };
        let watch = async {
            while runs.load(Ordering::SeqCst) < 3 {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
            let [status] = &tasks.all()[..] else { panic!("one task") };
            assert_eq!((status.failures, status.is_well), (2, true));
            assert_eq!(
                (status.last_success_at, status.last_failure_at),
                (Some(clock.now()), Some(clock.now()))
            );
            clock.advance(Duration::from_secs(301));
            assert!(!tasks.all()[0].is_well, "it is silent");
            tasks.idles(Task::Webhooks);
            assert!(tasks.all()[0].is_well, "it has nothing to do");
            clock.set(Timestamp::from_millis(1_790_000_000_000));
            let [status] = &tasks.all()[..] else { panic!("one task") };
            assert_eq!((status.last_success_at, status.last_failure_at), (None, None), "of a wrong clock");
            stop.cancel();
        };
        futures::join!(tasks.supervise(Task::Webhooks, &stop, run), watch);
        assert_eq!(runs.load(Ordering::SeqCst), 3);
    }

    #[tokio::test]
    async fn time_of_awaited_responses_is_no_silence() {
        let clock = Clock::frozen(Timestamp::from_millis(1_795_000_000_000));
        let (tasks, stop) = (Tasks::new(clock.clone()), CancellationToken::new());
        let minutes = |minutes: u64| clock.advance(Duration::from_secs(60 * minutes));
        let is_well = || tasks.all()[0].is_well;
        let watch = async {
            let first = tasks.awaits(Task::Polling);
            minutes(9);
            let second = tasks.awaits(Task::Polling);
            drop(first);
            minutes(9);
            assert!(is_well());
            drop(second);
            minutes(4);
            assert!(is_well());
            // A response is no success.
            drop(tasks.awaits(Task::Polling));
            minutes(2);
            assert!(!is_well());
            tasks.succeeded(Task::Polling);
            assert!(is_well());
            stop.cancel();
        };
        futures::join!(tasks.supervise(Task::Polling, &stop, || stop.cancelled()), watch);
    }
}
