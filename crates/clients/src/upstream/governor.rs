//! Decides which upstream calls are allowed and when: the budget of each scope, pauses requested by the upstream, and
//! the circuit breakers. Issues the permits that the client requires. Counts and pauses are in the database, so that
//! they survive a restart.

use std::collections::HashMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use crate::upstream::health::{Admission, Credits, Health, QueuePause, Read, Report, notice, refusals};
use crate::upstream::poll_pause::{PauseReason, PollPause};
use base::clock::Clock;
use base::config::Budget;
use base::settings::{Live, Settings};
use base::work::Work;
use model::budget::{AgentLimit, Budgets, Meter, PageBudgets};
use model::error::{AppError, ErrorCode};
use model::id::ProjectId;
use model::queue::{WaitReason, expected};
use model::time::Timestamp;
use model::upstream::{LimitStatus, Operation, PlatformNotice, PlatformNoticeKind, UpstreamStatus};
use model::user::Project;
use parking_lot::{Mutex, MutexGuard};
use store::jobs::intents::{Claim, Intent};
use store::jobs::seen::Reader;
use store::platform::budget::ScopeLimit;
use store::{Store, StoreError};

/// Permission for one upstream call. Only the governor creates it.
pub struct Permit {
    scope: Scope,
    /// The hourly limit it was checked against; lower for background work.
    limit: u32,
    /// The ids of the counts of its last call. Empty if it was counted with its prompt, or is not counted.
    calls: Vec<String>,
    /// Whether the platform refused the same prompt before.
    was_refused: bool,
}

/// The scope of a limit or a pause.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Scope {
    Creates(ProjectId),
    FollowUps(ProjectId),
    /// One limit for all projects of the key.
    Analytics,
    /// There is no published limit; only pauses apply.
    Polls(ProjectId),
}

/// Whether a queued message is sent now.
pub enum SendDecision {
    Send {
        intent: Box<Intent>,
        remote_id: Option<String>,
        permit: Permit,
    },
    /// The budget is spent, or the circuit breaker is open.
    Later(WaitReason),
    /// The circuit breaker is open, and this is the next probe: after a successful call that reads, it may be sent with
    /// [`Governor::acquire_after_read`].
    ReadFirst,
    NotClaimed,
}

/// The settings of the budgets.
#[derive(Clone)]
pub struct BudgetSettings {
    projects: Arc<[Project]>,
    budget: Budget,
    /// The maximum number of analytics requests an hour for one person.
    analytics_per_person: u32,
}

impl BudgetSettings {
    pub fn of(settings: &Settings) -> Self {
        let (projects, budget) = (settings.projects.clone(), settings.budget);
        Self { projects, budget, analytics_per_person: settings.access.analytics_per_person }
    }
}

#[derive(Clone)]
pub struct Governor {
    store: Store,
    clock: Clock,
    settings: Live<BudgetSettings>,
    health: Health,
    work: Work,
    /// Pauses that could not be recorded, by scope. Until they are recorded, nothing is sent.
    unrecorded: Arc<Mutex<HashMap<String, Timestamp>>>,
    /// Calls counted by this process, to delete old counts periodically.
    counted: Arc<AtomicU64>,
}

/// Calls between two deletions of old counts.
const BETWEEN_TIDYINGS: u64 = 100;

/// When to try again if a budget is spent and the next call may fit at once.
const MOMENT: Duration = Duration::from_secs(60);

/// Lookups per hour and project of job ids that people type.
const LOOKUPS_PER_HOUR: u32 = 60;

/// An hourly limit with its name in metrics.
pub struct NamedLimit {
    pub name: String,
    pub counted: ScopeLimit,
}

/// Whether a job may be polled now.
#[must_use]
pub enum PollPermit {
    Granted(Permit),
    Paused(PollPause),
}

impl Governor {
    pub fn new(
        store: Store,
        clock: Clock,
        settings: Live<BudgetSettings>,
        health: Health,
        work: Work,
    ) -> Self {
        Self { store, clock, settings, health, work, unrecorded: Arc::default(), counted: Arc::default() }
    }

    /// A permit for one call now, or an error with the time of the next one.
    pub async fn acquire(&self, scope: &Scope) -> Result<Permit, AppError> {
        self.acquire_within(scope, self.limit(scope)).await
    }

    /// A permit for an analytics request of `person` about `project`, counted in the budget and in their share of it.
    pub async fn acquire_share(&self, person: &str, project: &ProjectId) -> Result<Permit, AppError> {
        let scope = Scope::Analytics;
        let refusals = refusals(scope.operation(), project);
        let limit = self.limit(&scope);
        let (key, share) = (scope.key(), share_of(person));
        let counted = async |circuits| {
            let (whole, share) = (ScopeLimit::of(&key, limit), ScopeLimit::of(&share, self.share()));
            self.store.acquire_shared_call(&whole, &share, circuits, self.clock.now()).await
        };
        self.prepare_counts().await?;
        // One statement makes all checks at once, because the person is waiting. Only if it counts nothing, the checks
        // run one by one.
        if let Some(calls) = counted(Some([Read::Views.circuit(), &refusals])).await? {
            return Ok(Permit::new(scope, limit, calls.into()));
        }
        self.admit(&scope).await?;
        if let Some(until) = self.health.refused_until(scope.operation(), project).await? {
            return Err(self.again_at(views_refused(until), until));
        }
        if let Some(calls) = counted(None).await? {
            return Ok(Permit::new(scope, limit, calls.into()));
        }
        self.check(&scope).await?;
        Err(self.share_spent(person).await?)
    }

    async fn share_spent(&self, person: &str) -> Result<AppError, StoreError> {
        let share = ScopeLimit::of(share_of(person), self.share());
        let meter = self.store.meter(&share, self.clock.now()).await?;
        let why = format!("Your share of the hour's analytics requests ({}) is used", self.share());
        Ok(self.budget_spent(format!("{why}. {}.", next_fit(&meter)), &meter))
    }

    /// A permit for one background call, which never uses the calls reserved for people.
    pub async fn acquire_in_background(&self, scope: &Scope) -> Result<Permit, AppError> {
        self.acquire_within(scope, self.background_limit(scope)).await
    }

    async fn acquire_within(&self, scope: &Scope, limit: u32) -> Result<Permit, AppError> {
        self.admit(scope).await?;
        self.prepare_counts().await?;
        if let Some(call) = self.store.acquire_call(&scope.key(), limit, self.clock.now()).await? {
            return Ok(Permit::new(scope.clone(), limit, vec![call]));
        }
        Err(self.spent(scope).await?)
    }

    /// Fails while the circuit breaker of `scope` is open.
    async fn admit(&self, scope: &Scope) -> Result<(), AppError> {
        let read = match scope.operation() {
            Operation::Read => Read::Jobs,
            Operation::Views => Read::Views,
            // The claim of a prompt is admitted with its project.
            Operation::Create | Operation::FollowUp => return Ok(()),
        };
        match self.health.paused_until(read).await? {
            Some(until) => Err(self.again_at(circuit_open(until), until)),
            None => Ok(()),
        }
    }

    /// Before a call is counted: records all pauses, and periodically deletes old counts.
    async fn prepare_counts(&self) -> Result<(), StoreError> {
        self.record_pauses().await?;
        if self.counted.fetch_add(1, Ordering::Relaxed).is_multiple_of(BETWEEN_TIDYINGS) {
            self.store.forget_calls(&self.work, self.clock.now()).await?;
        }
        Ok(())
    }

    /// A permit to send a queued message, claimed and counted in one transaction.
    pub async fn acquire_for(&self, message_id: &str, scope: &Scope) -> Result<SendDecision, StoreError> {
        let Some(project) = scope.project() else { return Ok(SendDecision::NotClaimed) };
        match self.health.admit_prompt(project).await? {
            Admission::Paused => Ok(SendDecision::Later(WaitReason::CircuitOpen)),
            Admission::ReadFirst => Ok(SendDecision::ReadFirst),
            Admission::Admitted => self.acquire_after_read(message_id, scope).await,
        }
    }

    /// As [`Governor::acquire_for`], after the circuit breaker has admitted the prompt as a probe.
    pub async fn acquire_after_read(
        &self,
        message_id: &str,
        scope: &Scope,
    ) -> Result<SendDecision, StoreError> {
        let Some(project) = scope.project().filter(|project| self.is_configured(project)) else {
            return Ok(SendDecision::NotClaimed);
        };
        let probe = match self.health.credits(project).await? {
            Credits::Available => None,
            Credits::Unknown(probe) => Some(probe),
            Credits::UsedUp => return Ok(SendDecision::Later(WaitReason::NoCredits)),
        };
        self.record_pauses().await?;
        let (limited, now) = (self.limited(scope), self.clock.now());
        let claim = self.store.claim(&self.work, message_id, &limited, probe.as_ref(), now).await?;
        Ok(match claim {
            Claim::Sending { intent, remote_id } => {
                let was_refused = intent.refusals > 0;
                let permit = Permit { was_refused, ..Permit::new(scope.clone(), limited.limit, Vec::new()) };
                SendDecision::Send { intent, remote_id, permit }
            }
            Claim::Later => SendDecision::Later(WaitReason::Budget),
            Claim::NotClaimed => SendDecision::NotClaimed,
        })
    }

    /// Whether the next prompt of the scope's queue may be sent: the budget has room, the minimum gap has passed, and
    /// the circuit breaker is closed.
    pub async fn may_send_next(&self, scope: &Scope) -> Result<bool, StoreError> {
        let (limited, now) = (self.limited(scope), self.clock.now());
        if self.store.queue_paused_until(&limited, now).await?.is_some() {
            return Ok(false);
        }
        let paused = self.health.report().await?.queue_pause(scope.operation(), scope.project(), now);
        Ok(paused.is_none() && self.meter(scope).await?.left() > 0)
    }

    /// Whether reads of jobs keep failing.
    pub async fn are_reads_failing(&self) -> Result<bool, StoreError> {
        Ok(self.health.report().await?.are_reads_failing())
    }

    /// The projects whose prompts are paused because they keep failing.
    pub async fn failing_projects(&self, projects: &[Project]) -> Result<Vec<ProjectId>, StoreError> {
        let report = self.health.report().await?;
        let ids = projects.iter().map(|project| &project.id);
        Ok(ids.filter(|project| report.are_prompts_failing(project)).cloned().collect())
    }

    /// Whether the prompts of the project are paused because they keep failing. Those of batches are sent after the others then.
    pub async fn are_prompts_failing(&self, project: &ProjectId) -> Result<bool, StoreError> {
        Ok(self.health.report().await?.are_prompts_failing(project))
    }

    /// The reason why the first prompt of the scope's queue waits, and the expected times of its next `count` prompts.
    pub async fn queue_forecast(
        &self,
        scope: &Scope,
        count: usize,
    ) -> Result<(WaitReason, Vec<Timestamp>), StoreError> {
        let (limited, now) = (self.limited(scope), self.clock.now());
        let full = self.meter(scope).await?.next_fits_at;
        let paused = self.health.report().await?.queue_pause(scope.operation(), scope.project(), now);
        let why = match (full, paused) {
            (_, Some(QueuePause { why: WaitReason::NoCredits, .. })) => WaitReason::NoCredits,
            (Some(_), _) => WaitReason::Budget,
            (None, Some(pause)) => pause.why,
            (None, None) => WaitReason::EarlierPrompts,
        };
        let pace = self.store.pace(&limited, now).await?;
        let earliest =
            [full, paused.map(|pause| pause.until)].into_iter().flatten().fold(now, Timestamp::max);
        Ok((why, expected(earliest, self.store.call_times(&limited).await?, pace, count)))
    }

    /// A permit to fetch a job of `project` by a typed id. No poll interval bounds these calls, so they have their own
    /// limit. It is checked first: a lookup beyond it must not be the probe after a failure.
    pub async fn acquire_lookup(&self, project: &ProjectId) -> Result<Permit, AppError> {
        if let Some(pause) = self.poll_pause(project).await? {
            return Err(pause.into());
        }
        let scope = format!("asked-reads:{project}");
        if self.store.acquire_call(&scope, LOOKUPS_PER_HOUR, self.clock.now()).await?.is_none() {
            return Err(AppError::new(
                ErrorCode::BudgetSpent,
                format!(
                    "{LOOKUPS_PER_HOUR} ids were looked up in the last hour, which is the limit. Try again later."
                ),
            ));
        }
        match self.acquire_poll(project).await? {
            PollPermit::Granted(permit) => Ok(permit),
            PollPermit::Paused(pause) => Err(pause.into()),
        }
    }

    /// The pause of polls of `project`, if there is one. Takes no permit, so it may be followed by other checks.
    pub async fn poll_pause(&self, project: &ProjectId) -> Result<Option<PollPause>, StoreError> {
        self.record_pauses().await?;
        let now = self.clock.now();
        let limit = self.store.paused_until(&Scope::Polls(project.clone()).key(), now).await?;
        Ok(match limit {
            Some(until) => Some(PollPause::new(PauseReason::Limit, until)),
            None => self.health.report().await?.poll_pause(project, now),
        })
    }

    /// A permit to poll a job of `project` now. It may be the probe after a failure, so the call must be made.
    pub async fn acquire_poll(&self, project: &ProjectId) -> Result<PollPermit, StoreError> {
        if let Some(pause) = self.poll_pause(project).await? {
            return Ok(PollPermit::Paused(pause));
        }
        if let Some(until) = self.health.paused_until(Read::Jobs).await? {
            return Ok(PollPermit::Paused(PollPause::new(PauseReason::Failing, until)));
        }
        let scope = Scope::Polls(project.clone());
        if let Some(until) = self.health.refused_until(scope.operation(), project).await? {
            return Ok(PollPermit::Paused(PollPause::new(PauseReason::Refused, until)));
        }
        let limit = self.limit(&scope);
        Ok(PollPermit::Granted(Permit::new(scope, limit, Vec::new())))
    }

    /// Counts a retry under `permit` after the upstream responded. A try without a connection is not counted again.
    pub(super) async fn renew(&self, permit: &mut Permit) -> bool {
        if let Err(error) = self.record_pauses().await {
            tracing::error!(%error, "a retry is not made: a pause could not be recorded");
            return false;
        }
        let (key, now) = (permit.scope.key(), self.clock.now());
        let renewed = match &permit.scope {
            Scope::Polls(_) => self.store.paused_until(&key, now).await.map(|pause| pause.is_none()),
            _ => self.store.acquire_call(&key, permit.limit, now).await.map(|call| {
                permit.calls = call.into_iter().collect();
                !permit.calls.is_empty()
            }),
        };
        renewed.inspect_err(|error| tracing::error!(%error, "a retry could not be counted")).unwrap_or(false)
    }

    /// Removes the count of the last call of `permit`, for which no connection was made.
    pub(super) async fn uncount(&self, permit: &Permit) {
        if permit.calls.is_empty() {
            return;
        }
        if let Err(error) = self.store.uncount_calls(&permit.calls).await {
            tracing::warn!(%error, "a call that was not made stays counted");
        }
    }

    /// Blocks all calls in the permit's scope for `pause`.
    pub(super) async fn pause(&self, permit: &Permit, pause: Duration) {
        self.note_limit(permit).await;
        let scope = permit.scope.key();
        tracing::warn!(scope, seconds = pause.as_secs(), "the upstream requested a pause");
        let millis = i64::try_from(pause.as_millis()).unwrap_or(i64::MAX);
        let until = Timestamp::from_millis(self.clock.now().as_millis().saturating_add(millis));
        self.unrecorded().entry(scope).and_modify(|known| *known = until.max(*known)).or_insert(until);
        if let Err(error) = self.record_pauses().await {
            tracing::error!(%error, "a pause could not be recorded; nothing is sent before it is");
        }
    }

    /// Tells administrators if the platform's limit of follow-ups is reached although Docket's count had room: it may be one limit for job starts
    /// and follow-ups. The call of `permit` is counted already.
    async fn note_limit(&self, permit: &Permit) {
        let Scope::FollowUps(project) = &permit.scope else { return };
        if self.budget().agent_limit == AgentLimit::Shared {
            return;
        }
        let noted = async {
            // At the limit, the windows of both may differ by seconds.
            if self.meter(&permit.scope).await?.used >= permit.limit {
                return Ok(false);
            }
            self.store.add_platform_notice(project, PlatformNoticeKind::SharedLimit, self.clock.now()).await
        };
        match noted.await {
            Ok(true) => tracing::warn!(
                %project,
                "the platform’s limit was reached by a follow-up although Docket counted fewer: DOCKET_AGENT_LIMIT=shared may be right"
            ),
            Ok(false) => {}
            Err::<_, StoreError>(error) => tracing::warn!(%error, "a reached limit could not be noted"),
        }
    }

    /// Fails while a pause is not recorded, because a call without it could exceed the limit.
    async fn record_pauses(&self) -> Result<(), StoreError> {
        let unrecorded = self.unrecorded().clone();
        for (scope, until) in unrecorded {
            self.store.pause_calls(&self.work, &scope, until).await?;
            // A longer pause may have been added meanwhile.
            self.unrecorded().retain(|other, later| *other != scope || *later != until);
        }
        Ok(())
    }

    fn unrecorded(&self) -> MutexGuard<'_, HashMap<String, Timestamp>> {
        self.unrecorded.lock()
    }

    pub fn health(&self) -> &Health {
        &self.health
    }

    /// Fails, without counting, if no call fits now.
    pub async fn check(&self, scope: &Scope) -> Result<(), AppError> {
        self.record_pauses().await?;
        match self.meter(scope).await?.left() {
            0 => Err(self.spent(scope).await?),
            _ => Ok(()),
        }
    }

    /// Fails if a prompt would wait now for the circuit breaker or for AI credits. Takes no probe.
    pub async fn must_not_be_paused(&self, scope: &Scope) -> Result<(), AppError> {
        let Some(QueuePause { until, why }) = self.prompt_pause(scope).await? else { return Ok(()) };
        let error = if why == WaitReason::NoCredits { no_credits(until) } else { circuit_open(until) };
        Err(self.again_at(error, until))
    }

    /// An error whose cause ends at this time.
    fn again_at(&self, error: AppError, until: Timestamp) -> AppError {
        error.retry_in(until.since(self.clock.now()))
    }

    async fn prompt_pause(&self, scope: &Scope) -> Result<Option<QueuePause>, StoreError> {
        let Some(project) = scope.project() else { return Ok(None) };
        Ok(self.health.report().await?.prompt_pause(project, self.clock.now()))
    }

    pub async fn meter(&self, scope: &Scope) -> Result<Meter, StoreError> {
        self.store.meter(&self.limited(scope), self.clock.now()).await
    }

    /// The part of the hourly budget that is left for background work.
    pub async fn background_meter(&self, scope: &Scope) -> Result<Meter, StoreError> {
        let limited = ScopeLimit { limit: self.background_limit(scope), ..self.limited(scope) };
        self.store.meter(&limited, self.clock.now()).await
    }

    /// The budgets of a project, with the other data that every page shows: see [`Store::meters`].
    pub async fn budgets(&self, project: &ProjectId, reader: &Reader) -> Result<PageBudgets, AppError> {
        let scopes = [Scope::Creates(project.clone()), Scope::FollowUps(project.clone()), Scope::Analytics];
        let limits = scopes.each_ref().map(|scope| self.limited(scope));
        let meters = self.store.meters(project, &limits, reader, self.clock.now()).await?;
        let [creates, follow_ups, analytics] = meters.of_scopes;
        let (waiting, unread, notice) = (meters.waiting, meters.unread.total(), notice(&meters));
        let reviews = Some(meters.reviews);
        let agent_limit = self.budget().agent_limit;
        let budgets =
            Budgets { waiting, unread, reviews, creates, follow_ups, agent_limit, analytics, notice };
        Ok(PageBudgets { budgets, unread_jobs: meters.unread.jobs })
    }

    /// What administrators are told about the platform. `user`: for whom it may be new.
    pub async fn notices(&self, user: &str) -> Result<Vec<PlatformNotice>, StoreError> {
        self.store.platform_notices(user, self.clock.now()).await
    }

    /// Removes the notices that the settings have followed.
    pub async fn forget_followed_notices(&self) -> Result<(), StoreError> {
        match self.budget().agent_limit {
            AgentLimit::Shared => self.store.remove_platform_notices(PlatformNoticeKind::SharedLimit).await,
            AgentLimit::Separate => Ok(()),
        }
    }

    /// When a prompt of `project` is sent to find out whether there are AI credits again; `None` unless its prompts wait for them.
    pub async fn credits_tried_again_at(&self, project: &ProjectId) -> Result<Option<Timestamp>, StoreError> {
        Ok(self.health.report().await?.credits_tried_again_at(project, self.clock.now()))
    }

    /// The upstream's state for administrators. `user`: for whom notices may be new.
    pub async fn status(&self, projects: &[Project], user: &str) -> Result<UpstreamStatus, StoreError> {
        let report = self.health.report().await?;
        let mut limits = vec![self.limit_status(&report, &Scope::Analytics, None).await?];
        for project in projects {
            for scope in self.agent_scopes(project) {
                limits.push(self.limit_status(&report, &scope, Some(project)).await?);
            }
        }
        Ok(UpstreamStatus {
            notices: self.notices(user).await?,
            operations: self.health.operations().await?,
            limits,
            key_refused_at: report.key_refused_at(),
            refused: projects.iter().flat_map(|project| report.refused(project)).collect(),
            tasks: Vec::new(),
            unknown_proxy: None,
            configuration_refused_at: None,
            clock_jump: None,
            code_hosts: Vec::new(),
            working: 0,
        })
    }

    async fn limit_status(
        &self,
        report: &Report,
        scope: &Scope,
        project: Option<&Project>,
    ) -> Result<LimitStatus, StoreError> {
        let now = self.clock.now();
        let pause =
            scope.project().and_then(|project| report.queue_pause(scope.operation(), Some(project), now));
        let limited = self.limited(scope);
        let paused_until = self.store.paused_until(&limited.scope, now).await?;
        let other_paused_until = self.store.paused_until(&limited.other, now).await?;
        Ok(LimitStatus {
            next_try_at: pause.map(|pause| pause.until),
            operation: scope.operation(),
            is_shared: self.shares_a_limit(scope),
            project: project.map(|project| project.name.clone()),
            meter: self.meter(scope).await?,
            waiting: self.waiting(scope).await?,
            paused_until: paused_until.max(other_paused_until),
        })
    }

    /// The number of queued prompts that the limit of `scope` counts.
    pub async fn waiting(&self, scope: &Scope) -> Result<u32, StoreError> {
        let (Scope::Creates(project) | Scope::FollowUps(project)) = scope else { return Ok(0) };
        let [starts, follow_ups] = self.store.waiting_prompts(project).await?;
        Ok(match scope {
            _ if self.shares_a_limit(scope) => starts.saturating_add(follow_ups),
            Scope::Creates(_) => starts,
            _ => follow_ups,
        })
    }

    /// The scopes of the limits for prompts of a project.
    fn agent_scopes(&self, project: &Project) -> Vec<Scope> {
        let creates = Scope::Creates(project.id.clone());
        match self.budget().agent_limit {
            AgentLimit::Shared => vec![creates],
            AgentLimit::Separate => vec![creates, Scope::FollowUps(project.id.clone())],
        }
    }

    /// Every hourly limit: `analytics`, `creates:docs` and `follow-ups:docs` for the project `docs`, or `agent:docs` if both share a limit.
    pub fn limits(&self, projects: &[Project]) -> Vec<NamedLimit> {
        let scopes = projects.iter().flat_map(|project| self.agent_scopes(project)).chain([Scope::Analytics]);
        let named = scopes.map(|scope| {
            let name = match (&scope, self.shares_a_limit(&scope)) {
                (Scope::Creates(project), true) => format!("agent:{project}"),
                _ => scope.key(),
            };
            NamedLimit { name, counted: self.limited(&scope) }
        });
        named.collect()
    }

    async fn spent(&self, scope: &Scope) -> Result<AppError, StoreError> {
        let meter = self.meter(scope).await?;
        let when = next_fit(&meter);
        let why = if meter.used < meter.limit {
            format!("The platform asked Docket to wait with further {}", scope.noun())
        } else {
            let what = if self.shares_a_limit(scope) { "prompts" } else { scope.noun() };
            format!("All {} {what} of Docket's hourly budget are used", meter.limit)
        };
        Ok(self.budget_spent(format!("{why}, and nothing was sent. {when}."), &meter))
    }

    /// The error that a budget is spent, with the time until the next call fits.
    fn budget_spent(&self, message: String, meter: &Meter) -> AppError {
        let error = AppError::new(ErrorCode::BudgetSpent, message);
        match meter.next_fits_at {
            Some(at) => self.again_at(error, at),
            None => error.retry_in(MOMENT),
        }
    }

    /// Whether this process works for the project. Another process may have read another configuration.
    fn is_configured(&self, project: &ProjectId) -> bool {
        self.settings.current().projects.iter().any(|configured| configured.id == *project)
    }

    /// Whether job starts and follow-ups have one limit, and `scope` is one of them.
    pub fn shares_a_limit(&self, scope: &Scope) -> bool {
        scope.operation().is_prompt() && self.is_limit_shared()
    }

    /// Whether job starts and follow-ups have one limit.
    pub fn is_limit_shared(&self) -> bool {
        self.budget().agent_limit == AgentLimit::Shared
    }

    fn limited(&self, scope: &Scope) -> ScopeLimit {
        let own = ScopeLimit::of(scope.key(), self.limit(scope));
        let other = match scope {
            Scope::Creates(project) => Scope::FollowUps(project.clone()),
            Scope::FollowUps(project) => Scope::Creates(project.clone()),
            Scope::Analytics | Scope::Polls(_) => return own,
        };
        match self.shares_a_limit(scope) {
            true => ScopeLimit { other: other.key(), ..own },
            false => own,
        }
    }

    fn limit(&self, scope: &Scope) -> u32 {
        match scope {
            Scope::Creates(_) | Scope::FollowUps(_) => self.budget().agent_per_hour,
            Scope::Analytics => self.budget().analytics_per_hour,
            Scope::Polls(_) => u32::MAX,
        }
    }

    /// The maximum number of analytics requests an hour for one person.
    fn share(&self) -> u32 {
        let settings = self.settings.current();
        settings.analytics_per_person.min(settings.budget.analytics_per_hour)
    }

    fn budget(&self) -> Budget {
        self.settings.current().budget
    }

    fn background_limit(&self, scope: &Scope) -> u32 {
        let reserved = if *scope == Scope::Analytics { self.budget().analytics_reserve } else { 0 };
        self.limit(scope).saturating_sub(reserved)
    }
}

impl Scope {
    /// The budget of the message at `position` of a job.
    pub fn of_message(project: &ProjectId, position: i64) -> Self {
        if position == 0 { Self::Creates(project.clone()) } else { Self::FollowUps(project.clone()) }
    }

    fn operation(&self) -> Operation {
        match self {
            Self::Creates(_) => Operation::Create,
            Self::FollowUps(_) => Operation::FollowUp,
            Self::Analytics => Operation::Views,
            Self::Polls(_) => Operation::Read,
        }
    }

    pub fn project(&self) -> Option<&ProjectId> {
        match self {
            Self::Creates(project) | Self::FollowUps(project) | Self::Polls(project) => Some(project),
            Self::Analytics => None,
        }
    }

    fn key(&self) -> String {
        match self {
            Self::Creates(project) => format!("creates:{project}"),
            Self::FollowUps(project) => format!("follow-ups:{project}"),
            Self::Analytics => "analytics".to_owned(),
            Self::Polls(project) => format!("reads:{project}"),
        }
    }

    fn noun(&self) -> &'static str {
        match self {
            Self::Creates(_) => "job starts",
            Self::FollowUps(_) => "follow-ups",
            Self::Analytics => "analytics requests",
            Self::Polls(_) => "job checks",
        }
    }
}

impl Permit {
    const fn new(scope: Scope, limit: u32, calls: Vec<String>) -> Self {
        Self { scope, limit, calls, was_refused: false }
    }

    /// Whether the platform refused the same prompt before.
    pub(super) const fn was_refused(&self) -> bool {
        self.was_refused
    }

    pub(super) fn operation(&self) -> Operation {
        self.scope.operation()
    }
}

/// The scope that counts a person's calls.
fn share_of(person: &str) -> String {
    format!("analytics-of:{person}")
}

fn next_fit(meter: &Meter) -> String {
    match meter.next_fits_at {
        Some(at) => format!(
            "The next one fits at {:02}:{:02} UTC",
            at.to_datetime().hour(),
            at.to_datetime().minute()
        ),
        None => "Try again in a moment".to_owned(),
    }
}

fn views_refused(until: Timestamp) -> AppError {
    let at = until.to_datetime();
    AppError::new(
        ErrorCode::UpstreamFailed,
        format!(
            "The platform refuses to show page views of this project, so nothing was sent. Docket tries again at {:02}:{:02} UTC.",
            at.hour(),
            at.minute()
        ),
    )
}

fn no_credits(until: Timestamp) -> AppError {
    let at = until.to_datetime();
    AppError::new(
        ErrorCode::NoCredits,
        format!(
            "The platform has no AI credits, so nothing was sent. Docket tries a prompt again at {:02}:{:02} UTC.",
            at.hour(),
            at.minute()
        ),
    )
}

fn circuit_open(until: Timestamp) -> AppError {
    let at = until.to_datetime();
    AppError::new(
        ErrorCode::UpstreamFailed,
        format!(
            "The platform is failing, so nothing was sent; requests are paused until {:02}:{:02}:{:02} UTC.",
            at.hour(),
            at.minute(),
            at.second()
        ),
    )
}
