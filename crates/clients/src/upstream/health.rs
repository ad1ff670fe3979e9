//! The results of the last upstream exchanges, for the administrators' page, and the circuit breakers. After repeated
//! failures they admit only probes, until one succeeds. Both are in the database, so that all processes pause together.

use std::borrow::Cow;
use std::time::Duration;

use strum::VariantArray;

use super::UpstreamError;
use super::poll_pause::{PauseReason, PollPause};
use base::clock::Clock;
use model::budget::Notice;
use model::id::ProjectId;
use model::queue::WaitReason;
use model::time::Timestamp;
use model::upstream::{Operation, OperationStatus, PlatformNoticeKind, RefusedOperation};
use model::user::Project;
use store::maintenance::figures::{Figure, FigureKind};
use store::platform::budget::Meters;
use store::platform::circuits::{CREDITS, CREDITS_PAUSE, KEY, OpenCircuit, Probe, REFUSED};
use store::{Authority, Store, StoreError};

/// The pause before the first probe of an open circuit breaker. It doubles with each probe.
const FIRST_PAUSE: Duration = Duration::from_secs(12);

/// The longest pause between two probes of prompts: each may become one more delivery with an unknown outcome.
const LONGEST_PAUSE: Duration = Duration::from_secs(15 * 60);

/// The longest pause between two probes that only read, so that pages are current soon after an outage.
const LONGEST_PAUSE_OF_READS: Duration = Duration::from_secs(60);

/// How long the queues wait after the key was refused, and an operation of a project after it was refused: every attempt costs a call, and an
/// administrator has to act first. Prompts that a person submits do not wait.
const REFUSAL_PAUSE: Duration = Duration::from_secs(300);

/// The number of refusals in a row that pauses an operation of a project. One refused prompt is no evidence against the others: after the first
/// refusal, another prompt is sent.
const fn refusals_limit(operation: Operation) -> u32 {
    match operation {
        Operation::Create | Operation::FollowUp => 2,
        Operation::Read | Operation::Views => 1,
    }
}

/// How long a refusal is shown that nothing has tried since.
pub(crate) const RECENT_SECONDS: i64 = 3_600;

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
        of: Refused,
    },
    Failed {
        message: String,
    },
}

/// What the platform refused.
#[derive(Clone, Copy)]
pub(super) enum Refused {
    Key,
    /// The operation of the project, with status 403.
    Operation,
    /// Because there are no AI credits: every prompt.
    Credits,
    Request,
}

/// Whether a prompt may be sent.
pub(super) enum Admission {
    Admitted,
    /// The circuit breaker is open, until the next probe.
    Paused,
    /// As the next probe, if a call that only reads succeeds first.
    ReadFirst,
}

/// Whether the platform has AI credits for a prompt.
pub(super) enum Credits {
    /// It accepted the last one, as far as Docket knows.
    Available,
    /// It had none. The prompt is sent as this probe.
    Unknown(Probe),
    /// It had none, and the next probe is not due.
    UsedUp,
}

/// Why and until when a queue waits.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct QueuePause {
    pub until: Timestamp,
    pub why: WaitReason,
}

/// The circuit breakers at one moment.
pub struct Report {
    open: Vec<OpenCircuit>,
    breaks_after: u32,
}

impl Health {
    pub fn new(store: Store, clock: Clock, breaks_after: u32) -> Self {
        Self { store, clock, breaks_after }
    }

    /// The time of the next probe, while no call that reads may be made.
    pub(super) async fn paused_until(&self, read: Read) -> Result<Option<Timestamp>, StoreError> {
        if self.passes(read.circuit()).await? {
            return Ok(None);
        }
        let open = self.store.open_circuit(read.circuit()).await?;
        Ok(open.map(|open| self.probed_at(&open)))
    }

    /// Whether a prompt of `project` may be sent now. While its prompts fail, one is sent only after a call that reads succeeded: its outcome may be
    /// unknown again.
    pub(super) async fn admit_prompt(&self, project: &ProjectId) -> Result<Admission, StoreError> {
        let circuit = prompts(project);
        let Some(open) = self.store.open_circuit(&circuit).await? else {
            return Ok(Admission::Admitted);
        };
        // Before a probe is taken, and a call is made that reads.
        if matches!(self.credits(project).await?, Credits::UsedUp) {
            return Ok(Admission::Paused);
        }
        let has_read = self.store.has_read_since(open.tried_at, self.clock.now()).await?;
        Ok(match (self.passes(&circuit).await?, has_read) {
            (false, _) => Admission::Paused,
            (true, true) => Admission::Admitted,
            (true, false) => Admission::ReadFirst,
        })
    }

    async fn passes(&self, circuit: &str) -> Result<bool, StoreError> {
        self.store.passes(circuit, |open| pause(open, self.breaks_after), self.clock.now()).await
    }

    fn probed_at(&self, open: &OpenCircuit) -> Timestamp {
        open.tried_at.after(pause(open, self.breaks_after))
    }

    /// Whether a prompt of `project` may be sent as far as AI credits are concerned. The probe is taken when the prompt is claimed.
    pub(super) async fn credits(&self, project: &ProjectId) -> Result<Credits, StoreError> {
        let Some(open) = self.store.open_circuit(&credits(project)).await? else {
            return Ok(Credits::Available);
        };
        let now = self.clock.now();
        let is_paused = open.tried_at <= now.after(CLOCKS_APART) && now < open.tried_at.after(CREDITS_PAUSE);
        Ok(match is_paused {
            true => Credits::UsedUp,
            false => Credits::Unknown(Probe { circuit: open.name, after: open.tried_at }),
        })
    }

    /// Makes the next prompt of `project` a probe at once; `false` if there are AI credits, or the last one was tried less than ten seconds ago.
    pub async fn try_credits_now(&self, by: Authority<'_>, project: &ProjectId) -> Result<bool, StoreError> {
        self.store.probe_credits_now(by, project).await
    }

    /// The time of the next probe, during the pause after the platform refused the operation for `project`. One call after each pause is a probe.
    pub(super) async fn refused_until(
        &self,
        operation: Operation,
        project: &ProjectId,
    ) -> Result<Option<Timestamp>, StoreError> {
        let now = self.clock.now();
        if self.store.passes(&refusals(operation, project), |_| REFUSAL_PAUSE, now).await? {
            return Ok(None);
        }
        let refused_at = self.report().await?.refused_at(operation, project);
        Ok(refused_at.map(|at| at.after(REFUSAL_PAUSE)))
    }

    /// Records the result of an exchange about `project`. A failure to write must not change the result.
    pub(super) async fn note(&self, operation: Operation, project: &ProjectId, exchange: Exchange) {
        if let Err(error) = self.record(operation, project, exchange).await {
            tracing::warn!(%error, "how a call upstream went could not be recorded");
        }
    }

    async fn record(
        &self,
        operation: Operation,
        project: &ProjectId,
        exchange: Exchange,
    ) -> Result<(), StoreError> {
        let (store, now) = (&self.store, self.clock.now());
        let (circuit, refusals) = (circuit(operation, project), refusals(operation, project));
        let credits = operation.is_prompt().then(|| credits(project));
        let all: Vec<&str> =
            [circuit.as_ref(), KEY, &refusals].into_iter().chain(credits.as_deref()).collect();
        // Most calls succeed, often many at once. One read replaces two writes that the call would wait for.
        if matches!(exchange, Exchange::Succeeded) && store.knows_success(name(operation), &all, now).await? {
            return Ok(());
        }
        match &exchange {
            Exchange::Succeeded => store.close_circuits(&all).await?,
            Exchange::Failed { .. } => store.count_failure(&circuit, self.breaks_after, now).await?,
            Exchange::Refused { of, .. } => {
                store.close_circuits(&[&circuit]).await?;
                match of {
                    Refused::Key => store.count_failure(KEY, 1, now).await?,
                    Refused::Operation => {
                        store.note_refusal(&refusals, refusals_limit(operation), REFUSAL_PAUSE, now).await?;
                    }
                    Refused::Credits if operation.is_prompt() => self.note_no_credits(project, now).await?,
                    Refused::Credits | Refused::Request => {}
                }
            }
        }
        store.record_outcome_of_call(name(operation), exchange.message(), now).await
    }

    async fn note_no_credits(&self, project: &ProjectId, now: Timestamp) -> Result<(), StoreError> {
        if self.store.add_platform_notice(project, PlatformNoticeKind::NoCredits, now).await? {
            tracing::warn!(%project, "the platform has no AI credits, or could not check them; the prompts of the project wait");
        }
        self.store.note_refusal(&credits(project), 1, CREDITS_PAUSE, now).await
    }

    /// Resets the state of the key after it was replaced, and the refusals of the former one.
    pub async fn forget_refused_key(&self) -> Result<(), StoreError> {
        self.store.forget_refusals().await
    }

    pub async fn report(&self) -> Result<Report, StoreError> {
        Ok(Report { open: self.store.open_circuits().await?, breaks_after: self.breaks_after })
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
                circuit_open_until: report.open_until(operation, self.clock.now()),
            });
        }
        Ok(operations)
    }
}

impl Report {
    /// Builds the report from the figures of the database, which do not have the pauses.
    pub fn of(figures: &[Figure]) -> Self {
        let open = figures.iter().filter(|figure| figure.kind == FigureKind::OpenCircuit);
        let circuit = |figure: &Figure| OpenCircuit {
            name: figure.of_whom.clone(),
            tried_at: Timestamp::from_millis(figure.number),
            failures: 0,
        };
        Self { open: open.map(circuit).collect(), breaks_after: 0 }
    }

    /// The time of the next probe, while the circuit breaker is open; for prompts, the last one of all projects in which one was tried recently.
    pub fn open_until(&self, operation: Operation, now: Timestamp) -> Option<Timestamp> {
        let is_of = |open: &&OpenCircuit| match operation {
            Operation::Create | Operation::FollowUp => {
                open.name.starts_with(PROMPTS) && open.tried_at > now.plus_seconds(-RECENT_SECONDS)
            }
            Operation::Read => open.name == Read::Jobs.circuit(),
            Operation::Views => open.name == Read::Views.circuit(),
        };
        self.open.iter().filter(is_of).map(|open| self.probed_at(open)).max()
    }

    /// Whether reads of jobs keep failing.
    pub fn are_reads_failing(&self) -> bool {
        self.find(Read::Jobs.circuit()).is_some()
    }

    /// Whether the prompts of `project` are paused because they keep failing.
    pub fn are_prompts_failing(&self, project: &ProjectId) -> bool {
        self.find(&prompts(project)).is_some()
    }

    fn probed_at(&self, open: &OpenCircuit) -> Timestamp {
        open.tried_at.after(pause(open, self.breaks_after))
    }

    /// Whether the queue of `project` waits because there are no AI credits, the circuit breaker is open, or the key or the operation was refused. A
    /// failure in the future was recorded before a clock rollback, and does not count.
    pub(super) fn queue_pause(
        &self,
        operation: Operation,
        project: Option<&ProjectId>,
        now: Timestamp,
    ) -> Option<QueuePause> {
        let tried_at = |name: &str| self.tried_at(name).filter(|at| *at <= now.after(CLOCKS_APART));
        let refused = project.and_then(|project| tried_at(&refusals(operation, project)));
        let refused = tried_at(KEY).max(refused).map(|at| at.after(REFUSAL_PAUSE));
        let refused = refused.filter(|until| *until > now);
        let refused = refused.map(|until| QueuePause { until, why: WaitReason::CircuitOpen });
        let paused = project.and_then(|project| self.prompt_pause(project, now));
        [refused, paused].into_iter().flatten().max_by_key(|pause| pause.until)
    }

    /// Why and until when every prompt of the project waits, also one that a person just submitted: for the circuit breaker or for AI credits.
    pub(super) fn prompt_pause(&self, project: &ProjectId, now: Timestamp) -> Option<QueuePause> {
        let open = self.find(&prompts(project)).filter(|open| open.tried_at <= now.after(CLOCKS_APART));
        let failing = open.map(|open| (self.probed_at(open), WaitReason::CircuitOpen));
        let no_credits = self.credits_tried_again_at(project, now).map(|at| (at, WaitReason::NoCredits));
        let pauses = [failing, no_credits].into_iter().flatten().filter(|(until, _)| *until > now);
        pauses.map(|(until, why)| QueuePause { until, why }).max_by_key(|pause| pause.until)
    }

    /// The time of the next probe, while the prompts of `project` wait for AI credits: `now` if it is due.
    pub(super) fn credits_tried_again_at(&self, project: &ProjectId, now: Timestamp) -> Option<Timestamp> {
        let tried_at = self.tried_at(&credits(project))?;
        let is_possible = tried_at <= now.after(CLOCKS_APART);
        Some(if is_possible { tried_at.after(CREDITS_PAUSE).max(now) } else { now })
    }

    /// Whether the prompts of `project` wait for AI credits: a prompt waits, or was tried within an hour.
    pub fn lacks_credits(&self, project: &ProjectId, has_prompts: bool, now: Timestamp) -> bool {
        let tried_at = self.tried_at(&credits(project));
        tried_at.is_some_and(|at| has_prompts || at > now.plus_seconds(-RECENT_SECONDS))
    }

    /// The pause of polls of `project` after failures or a refusal. A failure in the future was recorded before a clock rollback, and does not count.
    pub(super) fn poll_pause(&self, project: &ProjectId, now: Timestamp) -> Option<PollPause> {
        let pause = |name: &str, why, length: &dyn Fn(&OpenCircuit) -> Duration| {
            let open = self.find(name).filter(|open| open.tried_at <= now)?;
            let until = open.tried_at.after(length(open));
            (until > now).then(|| PollPause::new(why, until))
        };
        let failing =
            pause(Read::Jobs.circuit(), PauseReason::Failing, &|open| self::pause(open, self.breaks_after));
        failing
            .or_else(|| pause(&refusals(Operation::Read, project), PauseReason::Refused, &|_| REFUSAL_PAUSE))
    }

    /// When the operation of `project` was refused or probed last, unless it succeeded since.
    pub fn refused_at(&self, operation: Operation, project: &ProjectId) -> Option<Timestamp> {
        self.tried_at(&refusals(operation, project))
    }

    /// Whether the operation of `project` was refused recently. Later, nothing has tried it again, and the refusal says little.
    pub fn is_refused(&self, operation: Operation, project: &ProjectId, now: Timestamp) -> bool {
        self.refused_at(operation, project).is_some_and(|at| at > now.plus_seconds(-RECENT_SECONDS))
    }

    /// When the key was refused, unless it was accepted since.
    pub fn key_refused_at(&self) -> Option<Timestamp> {
        self.tried_at(KEY)
    }

    /// The operations of `project` that the platform refuses.
    pub fn refused(&self, project: &Project) -> Vec<RefusedOperation> {
        let refused = |operation: &Operation| {
            let at = self.refused_at(*operation, &project.id)?;
            Some(RefusedOperation { operation: *operation, project: project.name.clone(), at })
        };
        Operation::VARIANTS.iter().filter_map(refused).collect()
    }

    fn tried_at(&self, name: &str) -> Option<Timestamp> {
        self.find(name).map(|circuit| circuit.tried_at)
    }

    fn find(&self, name: &str) -> Option<&OpenCircuit> {
        self.open.iter().find(|circuit| circuit.name == name)
    }
}

/// The notice for people on top of pages.
pub(super) fn notice(meters: &Meters) -> Option<Notice> {
    match meters {
        Meters { key_is_refused: true, .. } => Some(Notice::KeyRefused),
        Meters { open_circuits: 1.., .. } => Some(Notice::Failing),
        Meters { lacks_credits: true, .. } => Some(Notice::NoCredits),
        Meters { refused_operations: 1.., .. } => Some(Notice::OperationRefused),
        _ => None,
    }
}

impl Exchange {
    /// `was_refused`: the platform refused the same prompt before, so that another refusal is no evidence against its operation.
    pub(super) fn of<T>(result: &Result<T, UpstreamError>, was_refused: bool) -> Self {
        match result {
            Ok(_) => Self::Succeeded,
            Err(error) if error.is_failure() => Self::Failed { message: error.to_string() },
            Err(error) => Self::Refused {
                message: error.to_string(),
                of: match error {
                    UpstreamError::Refused { status: 401, .. } => Refused::Key,
                    UpstreamError::NoCredits { .. } => Refused::Credits,
                    error if error.is_forbidden() && !was_refused => Refused::Operation,
                    _ => Refused::Request,
                },
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

/// The pause before the next probe of a circuit that `breaks_after` failures opened.
fn pause(open: &OpenCircuit, breaks_after: u32) -> Duration {
    let longest = if open.name.starts_with(PROMPTS) { LONGEST_PAUSE } else { LONGEST_PAUSE_OF_READS };
    let probes = open.failures.saturating_sub(breaks_after);
    (FIRST_PAUSE * 2_u32.pow(probes.min(16))).min(longest)
}

/// How the names of the circuits of job starts and follow-ups begin. Each project has one: its failures do not hold back the others.
const PROMPTS: &str = "prompts:";

/// Calls that only read. They share a circuit breaker for all projects.
#[derive(Clone, Copy)]
pub(super) enum Read {
    Jobs,
    Views,
}

impl Read {
    pub(super) const fn circuit(self) -> &'static str {
        match self {
            Self::Jobs => "reads",
            Self::Views => "analytics",
        }
    }
}

fn prompts(project: &ProjectId) -> String {
    format!("{PROMPTS}{project}")
}

/// The circuit of all prompts of a project, which opens when the platform has no AI credits.
fn credits(project: &ProjectId) -> String {
    format!("{CREDITS}{project}")
}

/// Operations that fail together share a circuit breaker.
fn circuit(operation: Operation, project: &ProjectId) -> Cow<'static, str> {
    match operation {
        Operation::Create | Operation::FollowUp => prompts(project).into(),
        Operation::Read => Read::Jobs.circuit().into(),
        Operation::Views => Read::Views.circuit().into(),
    }
}

/// The circuit of an operation of a project. It opens when the platform refuses the operation with status 403.
pub(super) fn refusals(operation: Operation, project: &ProjectId) -> String {
    format!("{REFUSED}{}:{project}", name(operation))
}

const fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "create",
        Operation::FollowUp => "follow_up",
        Operation::Read => "read",
        Operation::Views => "views",
    }
}
