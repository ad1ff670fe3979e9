//! Jobs that are never lost and never started twice. Contains no SQL, and sends only committed intents.

pub mod archive_and_tags;
pub mod batch;
mod cursor;
mod delivery;
pub mod drafts;
pub mod filter;
pub mod find;
mod follow_ups;
mod import;
pub mod intent;
mod notifications;
mod pages;
mod palette;
mod per_revision;
mod poller;
pub mod pull_requests;
pub mod queue;
pub mod replay;
pub mod resolve;
pub mod similar;
pub mod submitted;
pub mod templates;
mod unread;
pub mod waiting;

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use tokio::sync::watch;
use tokio::time::{Interval, MissedTickBehavior};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::jobs::delivery::RunningDeliveries;
use crate::jobs::per_revision::PerRevision;
use crate::jobs::pull_requests::OpenRequests;
use crate::jobs::waiting::WaitingJobs;
use base::clock::Clock;
use base::instruments::Instruments;
use base::settings::{Live, Settings};
use base::tasks::{Task, Tasks};
use base::work::Work;
use clients::upstream::Upstream;
use clients::upstream::governor::Governor;
use model::id::JobId;
use model::job_list::Facets;
use model::time::Timestamp;
use model::user::Project;
use store::Store;
use store::maintenance::clock_rollback::PlanningLimits;

/// The interval of checking for queued messages and due polls.
const TICK: Duration = Duration::from_millis(500);

/// The jobs of all projects: committing, delivering and tracking them. Clones share their state.
#[derive(Clone)]
pub struct Jobs {
    store: Store,
    upstream: Upstream,
    governor: Governor,
    clock: Clock,
    timing: Timing,
    tasks: Tasks,
    instruments: Instruments,
    settings: Live<JobSettings>,
    /// Changes whenever a delivery ends.
    outcomes: watch::Sender<u64>,
    /// Running deliveries; they outlive the requests that started them.
    deliveries: TaskTracker,
    running: RunningDeliveries,
    /// The values to filter by.
    facets: Arc<PerRevision<Facets>>,
    /// The usual times of the overview's running jobs, in milliseconds.
    usual_times: Arc<PerRevision<BTreeMap<JobId, i64>>>,
    /// The open pull requests by page.
    open_requests: Arc<PerRevision<OpenRequests>>,
    /// The jobs that requests wait for.
    waiting: WaitingJobs,
    /// For deliveries and polls. Requests write on their own authority.
    work: Work,
    /// Cancelled when the process receives a stop signal: no request waits any longer.
    leaving: CancellationToken,
}

#[derive(Debug, Clone, Copy)]
pub struct Timing {
    /// The shortest interval between two polls of one job.
    pub poll_interval: Duration,
    /// The deadline of one upstream exchange.
    pub exchange: Duration,
    /// The lifetime of a session.
    pub session: Duration,
}

/// The settings of jobs.
#[derive(Clone)]
pub struct JobSettings {
    projects: Arc<[Project]>,
    /// The maximum length of a prompt, in characters.
    prompt_max: u32,
    /// How many prompts one person may have in the queue.
    queued_per_person: u32,
    /// How long an open pull request may wait until it is stale.
    review_stale_after: Duration,
}

impl JobSettings {
    pub fn of(settings: &Settings) -> Self {
        Self {
            projects: settings.projects.clone(),
            prompt_max: settings.prompt_max,
            queued_per_person: settings.access.queued_per_person,
            review_stale_after: settings.review_stale_after,
        }
    }
}

/// The services that [`Jobs`] uses.
pub struct JobServices {
    pub store: Store,
    pub upstream: Upstream,
    pub governor: Governor,
    pub clock: Clock,
    pub tasks: Tasks,
    pub instruments: Instruments,
    pub settings: Live<JobSettings>,
    pub work: Work,
    /// Cancelled when the process receives a stop signal.
    pub leaving: CancellationToken,
}

impl Jobs {
    pub fn new(services: JobServices, timing: Timing) -> Self {
        let JobServices { store, upstream, governor, clock, tasks, instruments, settings, work, leaving } =
            services;
        let (outcomes, _) = watch::channel(0);
        let deliveries = TaskTracker::new();
        let (facets, usual_times, open_requests) = (Arc::default(), Arc::default(), Arc::default());
        Self {
            store,
            upstream,
            governor,
            clock,
            timing,
            tasks,
            instruments,
            settings,
            outcomes,
            deliveries,
            running: RunningDeliveries::default(),
            facets,
            usual_times,
            open_requests,
            waiting: WaitingJobs::default(),
            work,
            leaving,
        }
    }

    /// The maximum length of a prompt, in characters.
    pub fn prompt_max(&self) -> u32 {
        self.settings.current().prompt_max
    }

    /// How many prompts one person may have in the queue.
    fn queue_max(&self) -> u32 {
        self.settings.current().queued_per_person
    }

    /// Wakes all tasks that wait for the end of a delivery.
    fn announce_outcome(&self) {
        self.outcomes.send_modify(|count| *count += 1);
    }

    /// Delivers and polls until `stop`; then waits for running deliveries. The two run concurrently, so that slow polls
    /// delay no prompt.
    pub async fn run(&self, stop: CancellationToken) {
        tokio::join!(
            self.tasks.supervise(Task::Delivery, &stop, || self.send_queued(&stop)),
            self.tasks.supervise(Task::Polling, &stop, || self.poll_jobs(&stop)),
        );
        self.delivered().await;
    }

    async fn send_queued(&self, stop: &CancellationToken) {
        let mut tick = tick();
        // At the start, the clock may have been set back since the last run.
        let mut latest = Timestamp::from_millis(i64::MAX);
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            const ROLLBACK: &str = "a clock rollback could not be handled";
            match self.handle_clock_rollback(&mut latest).await {
                Ok(()) => self.tasks.failures().ended(ROLLBACK),
                Err(error) => self.tasks.failures().failed(ROLLBACK, error),
            }
            self.tasks.pass("delivery");
            match self.deliver_due().await {
                Ok(()) => self.tasks.succeeded(Task::Delivery),
                Err(error) => self.tasks.failed(Task::Delivery, error),
            }
        }
    }

    /// Polls may be cancelled at any point: the next one of each job is planned before the call.
    async fn poll_jobs(&self, stop: &CancellationToken) {
        let mut tick = tick();
        while stop.run_until_cancelled(tick.tick()).await.is_some() {
            self.tasks.pass("polling");
            match stop.run_until_cancelled(self.poll_due()).await {
                Some(Ok(_)) => self.tasks.succeeded(Task::Polling),
                Some(Err(error)) => self.tasks.failed(Task::Polling, error),
                None => {}
            }
        }
    }

    /// Waits for running deliveries; from now on, recording an outcome is retried only a limited number of times.
    pub async fn delivered(&self) {
        self.deliveries.close();
        self.deliveries.wait().await;
    }

    /// Detects a clock rollback, a time before `latest`, and clamps timestamps that were planned by the old clock.
    async fn handle_clock_rollback(&self, latest: &mut Timestamp) -> anyhow::Result<()> {
        let now = self.clock.now();
        if now < *latest {
            let limits = PlanningLimits { session: self.timing.session, poll: self.longest_pause() };
            self.store.clamp_future_timestamps(&self.work, limits, now).await?;
        }
        *latest = now;
        Ok(())
    }
}

fn tick() -> Interval {
    let mut tick = tokio::time::interval(TICK);
    tick.set_missed_tick_behavior(MissedTickBehavior::Delay);
    tick
}
