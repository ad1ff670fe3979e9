//! Sends a committed message once and records the outcome. Sends only messages that this process claimed, and never
//! resends a message that may have been accepted.

mod running;

use std::panic::AssertUnwindSafe;
use std::time::{Duration, Instant};

use anyhow::Context;
use futures::FutureExt;
use tracing::Instrument;

use crate::jobs::Jobs;
use base::instruments::DeliveryCount;
use base::traces;
use clients::upstream::UpstreamError;
use clients::upstream::governor::{Permit, PollPermit, Scope, SendDecision};
use clients::upstream::page_views::PageViewsQuery;
use model::day::{Day, DayRange};
use model::error::ErrorCode;
use model::id::ProjectId;
use model::job::{Reason, ReasonCode, RemoteJob};
use model::paging::PageLimit;
use model::queue::WaitReason;
use model::time::Timestamp;
use store::StoreError;
use store::jobs::intents::{DeliveryOutcome, Intent};

/// How often recording an outcome is retried during shutdown. After that, the next start marks the outcome unknown.
/// Without shutdown it is retried forever, because no other process has the outcome.
const LAST_RECORD_TRIES: u32 = 8;

pub(super) use running::RunningDeliveries;

/// Why the outcome of a panicked delivery is unknown.
const PANICKED: Reason<'_> = ReasonCode::DocketFailed
    .with("Docket met an error while this was being sent. The platform may or may not have accepted it.");

/// Why a prompt is queued again that was claimed, but not sent.
const NOT_SENT: Reason<'_> = ReasonCode::DocketFailed.with(
    "Docket could not store that it was about to send this, and did not send it. It was put back in the queue.",
);

/// How long a prompt that may not be queued waits until it is sent: Docket may be stopped, or an earlier prompt of its job may wait.
const AT_ONCE: Duration = Duration::from_secs(300);

/// Why a prompt is rejected that was not sent within [`AT_ONCE`].
const NOT_SENT_AT_ONCE: Reason<'_> = ReasonCode::NotSentAtOnce
    .with("Docket could not send this within five minutes. It was not to be queued, so nothing was started.");

/// The log's message about a claim that could not be ended.
const CLAIM_NOT_ENDED: &str = "the outcome of a delivery could not be recorded";

/// The log's message about a prompt that could not be rejected.
const NOT_REJECTED: &str = "a prompt that may not be queued could not be rejected";

/// As [`NOT_SENT`], of a prompt that may not be queued.
const NOT_SENT_NOR_QUEUED: Reason<'_> = ReasonCode::DocketFailed
    .with("Docket could not store that it was about to send this, and did not send it: nothing was started.");

/// The log's message about a delivery that is tried again.
const DELIVERY_FAILED: &str = "delivery failed";

/// The maximum age of a claim at which its message is sent. Well below the heartbeat limit after which other processes
/// treat this one as ended.
const CLAIM_TTL: Duration = Duration::from_secs(20);

/// How long one attempt to record an outcome may take. The reply of a database whose connection was lost may never arrive, and recording an
/// outcome again changes nothing.
const RECORD_TIMEOUT: Duration = Duration::from_secs(15);

/// How long a prompt waits that the platform refused with status 403, before it is sent once more.
const REFUSED_PROMPT: Duration = Duration::from_secs(300);

/// The retry pause doubles this many times, starting at 50 ms.
const PAUSE_DOUBLINGS: u32 = 5;

impl Jobs {
    /// Marks messages as *unknown* whose process ended during the delivery.
    pub async fn mark_unknown(&self, abandoned: Vec<Intent>) -> anyhow::Result<()> {
        let reason =
            "Docket was stopped while this was being sent. The platform may or may not have accepted it.";
        for intent in abandoned {
            tracing::warn!(job = %intent.job, "a delivery was interrupted; its outcome is unknown");
            match self.store.lose_outcome(&self.work, &intent, reason, self.clock.now()).await {
                // The others can be marked.
                Err(error) if error.is_of_statement() => {
                    self.tasks.failures().failed(CLAIM_NOT_ENDED, error);
                }
                done => done?,
            }
        }
        Ok(())
    }

    /// Records the outcome of claims of this process without a running delivery: the reply to the commit of a claim was lost, or the
    /// outcome could not be recorded.
    pub async fn end_own_claims(&self) -> anyhow::Result<()> {
        for claimed in self.store.sent_here().await? {
            if self.running.is_running(&claimed.message_id) {
                continue;
            }
            let outcome = match self.running.may_have_been_sent(&claimed) {
                true => DeliveryOutcome::Unknown(PANICKED),
                false if claimed.may_queue => DeliveryOutcome::Unsent { reason: NOT_SENT, is_queued: true },
                false => DeliveryOutcome::Unsent { reason: NOT_SENT_NOR_QUEUED, is_queued: false },
            };
            match self.store.end_claim(&self.work, &claimed, &outcome, self.clock.now()).await {
                Ok(true) => {
                    tracing::warn!(job = %claimed.job, outcome = ?counted(&outcome), "a delivery ended without an outcome");
                    self.instruments.delivery(counted(&outcome));
                }
                Ok(false) => {}
                // The others can be ended.
                Err(error) if error.is_of_statement() => {
                    self.tasks.failures().failed(CLAIM_NOT_ENDED, error);
                    continue;
                }
                Err(error) => return Err(error.into()),
            }
            self.running.is_recorded(&claimed);
            self.announce_outcome();
        }
        Ok(())
    }

    /// Starts the delivery of every due message, and of the next one of each queue that may move.
    pub(super) async fn deliver_due(&self) -> anyhow::Result<()> {
        // Each process sends for the projects of its own configuration: prompts of a removed project wait until it returns.
        let projects = self.settings.current().projects;
        for message in self.store.unsent_since(&projects, self.clock.now().before(AT_ONCE)).await? {
            match self.reject_unsent(&message, NOT_SENT_AT_ONCE).await {
                // The others can be rejected.
                Err(error) if error.is_of_statement() => self.tasks.failures().failed(NOT_REJECTED, error),
                done => done?,
            }
        }
        for message in self.store.due_messages(&projects, self.clock.now()).await? {
            self.start_delivery(message.id, Scope::of_message(&message.project, message.position));
        }
        // While the prompts of a project keep failing, a single prompt is the probe if there is one: the prompts of batches wait.
        let failing = self.governor.failing_projects(&projects).await?;
        for head in self.store.queue_heads(&projects, &failing, self.clock.now()).await? {
            let scope = Scope::of_message(&head.project, head.position);
            if self.governor.may_send_next(&scope).await? {
                self.start_delivery(head.id, scope);
            }
        }
        Ok(())
    }

    /// Stores what the database has to know of the settings: which projects are published directly, and that a notice has been followed.
    pub async fn store_settings(&self) -> Result<(), StoreError> {
        self.store.set_direct_projects(&self.work, &self.settings.current().projects).await?;
        self.governor.forget_followed_notices().await
    }

    /// Logs how many prompts wait because their projects are not configured.
    pub async fn log_prompts_of_removed_projects(&self) {
        let projects = self.settings.current().projects;
        let waiting = match self.store.queued_outside(&projects).await {
            Ok(waiting) => waiting,
            Err(error) => {
                tracing::warn!(%error, "the prompts of removed projects could not be counted");
                return;
            }
        };
        for (project, count) in waiting {
            match count {
                1 => tracing::warn!("1 prompt of {project} waits until DOCKET_PROJECTS names this project"),
                _ => tracing::warn!(
                    "{count} prompts of {project} wait until DOCKET_PROJECTS names this project"
                ),
            }
        }
    }

    /// Delivers a message of `scope` in the background, so that it continues if the caller is cancelled. After a stop signal the message stays
    /// queued for the next process.
    pub(super) fn start_delivery(&self, message_id: String, scope: Scope) {
        if self.leaving.is_cancelled() {
            return;
        }
        let jobs = self.clone();
        let running = self.running.begin(&message_id);
        let delivery = async move {
            match AssertUnwindSafe(jobs.deliver(&message_id, &scope)).catch_unwind().await {
                Ok(Ok(())) => jobs.tasks.failures().ended(DELIVERY_FAILED),
                Ok(Err(error)) => jobs.tasks.failures().failed(DELIVERY_FAILED, error),
                Err(_) => {
                    if let Err(error) = jobs.mark_panicked_unknown(&message_id).await {
                        tracing::error!(message_id, error = format!("{error:#}"), "delivery failed");
                    }
                }
            }
            drop(running);
            jobs.announce_outcome();
        };
        let traced = delivery.instrument(traces::work("deliver prompt", None, None));
        self.deliveries.spawn(traced.in_current_span());
    }

    /// Marks a message as *unknown* if its delivery panicked while it was being sent.
    async fn mark_panicked_unknown(&self, message_id: &str) -> anyhow::Result<()> {
        let Some(intent) = self.store.being_sent(message_id).await? else { return Ok(()) };
        tracing::error!(job = %intent.job, "a delivery panicked; its outcome is unknown");
        let unknown = DeliveryOutcome::Unknown(PANICKED);
        self.store.record_outcome(&self.work, &intent, &unknown, self.clock.now()).await?;
        self.instruments.delivery(DeliveryCount::Unknown);
        self.running.is_recorded(&intent);
        Ok(())
    }

    async fn deliver(&self, message_id: &str, scope: &Scope) -> anyhow::Result<()> {
        let mut begun = Instant::now();
        let mut acquired = in_time(self.governor.acquire_for(message_id, scope)).await?;
        if matches!(acquired, SendDecision::ReadFirst) {
            let answers = self.leaving.run_until_cancelled(self.platform_answers(scope)).await;
            // After a stop signal, the prompt stays queued for the next process.
            if answers.transpose()? == Some(true) && !self.leaving.is_cancelled() {
                begun = Instant::now();
                acquired = in_time(self.governor.acquire_after_read(message_id, scope)).await?;
            }
        }
        match acquired {
            SendDecision::NotClaimed => Ok(()),
            SendDecision::Later(why) => self.enqueue_or_reject(message_id, why).await,
            SendDecision::ReadFirst => self.enqueue_or_reject(message_id, WaitReason::CircuitOpen).await,
            // Other processes may treat this one as ended by now.
            SendDecision::Send { intent, .. } if begun.elapsed() > CLAIM_TTL => {
                let is_queued = intent.may_queue;
                let then = if is_queued { "It was put back in the queue." } else { "Nothing was started." };
                let text = format!("Docket was stopped for a while before it could send this. {then}");
                let reason = ReasonCode::DocketStopped.with(&text);
                self.record_until_stored(&intent, DeliveryOutcome::Unsent { reason, is_queued }).await
            }
            SendDecision::Send { intent, remote_id, permit } => {
                self.running.will_be_sent(&intent);
                let outcome = self.send(permit, &intent, remote_id.as_deref()).await;
                self.tasks.pass("one delivery");
                self.record(&intent, outcome).await?;
                self.running.is_recorded(&intent);
                Ok(())
            }
        }
    }

    /// Queues a prompt that cannot be sent now, or rejects it if it may not be queued.
    async fn enqueue_or_reject(&self, message_id: &str, why: WaitReason) -> anyhow::Result<()> {
        if self.store.enqueue(&self.work, message_id).await? {
            return Ok(());
        }
        let (code, why) = match why {
            WaitReason::NoCredits => (ReasonCode::NoCredits, "the platform has no AI credits"),
            WaitReason::CircuitOpen => {
                (ReasonCode::RequestsPaused, "the platform is failing, and requests are paused")
            }
            _ => (ReasonCode::BudgetSpent, "the hourly budget was used up meanwhile"),
        };
        let text = format!(
            "This could not be sent at once: {why}. It was not to be queued, so nothing was started."
        );
        Ok(self.reject_unsent(message_id, code.with(&text)).await?)
    }

    /// Rejects a prompt that may not be queued; others stay.
    async fn reject_unsent(&self, message_id: &str, reason: Reason<'_>) -> Result<(), StoreError> {
        if self.store.reject_unsent(&self.work, message_id, reason, self.clock.now()).await? {
            tracing::info!(message_id, reason = reason.text, "prompt rejected");
            self.instruments.delivery(DeliveryCount::Rejected);
            self.announce_outcome();
        }
        Ok(())
    }

    /// Whether the platform answers a call that only reads, made because the prompts of the project keep failing: a poll, or else page views.
    async fn platform_answers(&self, scope: &Scope) -> anyhow::Result<bool> {
        let Some(project) = scope.project() else { return Ok(false) };
        Ok(match self.poll_answers(project).await? {
            Some(answers) => answers,
            None => self.views_answer(project).await?,
        })
    }

    /// Whether the platform answers a poll, which has no published limit; `None` if polls of the project cannot tell: it has no job, one job
    /// cannot be read while others can, or the platform refuses polls, which is an answer.
    async fn poll_answers(&self, project: &ProjectId) -> anyhow::Result<Option<bool>> {
        let Some(remote_id) = self.store.any_remote_job(project).await? else { return Ok(None) };
        if let PollPermit::Granted(permit) = self.governor.acquire_poll(project).await?
            && answers(project, self.upstream.job(permit, project, &remote_id).await)
        {
            return Ok(Some(true));
        }
        Ok(self.governor.are_reads_failing().await?.then_some(false))
    }

    /// The call is counted. It uses one that is reserved for people only if the background has none: people wait for their prompts.
    async fn views_answer(&self, project: &ProjectId) -> anyhow::Result<bool> {
        let acquired = match self.governor.acquire_in_background(&Scope::Analytics).await {
            Err(error) if error.code == ErrorCode::BudgetSpent => {
                self.governor.acquire(&Scope::Analytics).await
            }
            acquired => acquired,
        };
        let permit = match acquired {
            Ok(permit) => permit,
            Err(error) if error.code == ErrorCode::DatabaseUnavailable => return Err(error.into()),
            Err(_) => return Ok(false),
        };
        let query = PageViewsQuery {
            project: project.clone(),
            range: Some(DayRange::ending(Day::of(self.clock.now()), 1)),
            limit: PageLimit::SMALLEST,
            offset: 0,
        };
        Ok(answers(project, self.upstream.page_views(permit, &query).await))
    }

    async fn send(
        &self,
        permit: Permit,
        intent: &Intent,
        remote_id: Option<&str>,
    ) -> Result<RemoteJob, UpstreamError> {
        match remote_id.filter(|_| intent.position > 0) {
            Some(remote_id) => {
                let response =
                    self.upstream.follow_up(permit, &intent.project, remote_id, &intent.prompt).await;
                // The response is about the requested job, whatever id it contains.
                response.map(|remote| RemoteJob { id: remote_id.to_owned(), ..remote })
            }
            None => self.upstream.create(permit, &intent.project, &intent.prompt).await,
        }
    }

    /// The time of a job's next poll after an update.
    pub(super) fn next_poll(&self) -> Timestamp {
        self.clock.now().plus_seconds(self.timing.poll_interval.as_secs() as i64)
    }

    async fn record(&self, intent: &Intent, outcome: Result<RemoteJob, UpstreamError>) -> anyhow::Result<()> {
        let text;
        let delivery_outcome = match &outcome {
            Ok(remote) => {
                tracing::info!(job = %intent.job, remote = remote.id, position = intent.position, "accepted");
                DeliveryOutcome::Accepted(remote, self.next_poll())
            }
            Err(error @ UpstreamError::NotConnected(_)) => {
                tracing::warn!(job = %intent.job, position = intent.position, %error, "prompt not sent");
                let again = if intent.in_queue { " It was put back in the queue." } else { "" };
                text = format!("{}{again}", error.delivery_reason());
                let reason = error.reason_code().with(&text);
                DeliveryOutcome::Unsent { reason, is_queued: intent.in_queue }
            }
            Err(error) if intent.in_queue && error.is_temporary() => {
                tracing::warn!(job = %intent.job, position = intent.position, %error, "prompt queued again");
                text = format!("{} It was put back in the queue.", error.delivery_reason());
                DeliveryOutcome::Requeued(error.reason_code().with(&text))
            }
            Err(error @ UpstreamError::NoCredits { .. }) if !intent.may_queue => {
                tracing::warn!(job = %intent.job, position = intent.position, %error, "prompt not accepted");
                text = error.delivery_reason();
                DeliveryOutcome::Rejected(error.reason_code().with(&text))
            }
            // A prompt that a person just submitted waits as well: it was not refused.
            Err(error @ UpstreamError::NoCredits { .. }) => {
                tracing::warn!(job = %intent.job, position = intent.position, %error, "prompt queued again");
                text = format!("{} It waits in the queue.", error.delivery_reason());
                DeliveryOutcome::NoCredits(error.reason_code().with(&text))
            }
            // It may have been refused because of its operation or its text: another prompt is sent first, and only a second refusal ends it.
            Err(error) if intent.in_queue && error.is_forbidden() && intent.refusals == 0 => {
                tracing::warn!(job = %intent.job, position = intent.position, %error, "prompt queued again");
                text = format!("{} It is sent once more in a few minutes.", error.delivery_reason());
                let reason = error.reason_code().with(&text);
                DeliveryOutcome::Refused { reason, again_at: self.clock.now().after(REFUSED_PROMPT) }
            }
            Err(error) => {
                tracing::warn!(job = %intent.job, position = intent.position, %error, "prompt not accepted");
                text = error.delivery_reason();
                let reason = error.reason_code().with(&text);
                if error.may_have_been_accepted() {
                    DeliveryOutcome::Unknown(reason)
                } else {
                    DeliveryOutcome::Rejected(reason)
                }
            }
        };
        self.record_until_stored(intent, delivery_outcome).await
    }

    async fn record_until_stored(
        &self,
        intent: &Intent,
        mut outcome: DeliveryOutcome<'_>,
    ) -> anyhow::Result<()> {
        for attempt in 0.. {
            let recording = self.store.record_outcome(&self.work, intent, &outcome, self.clock.now());
            let recorded = tokio::time::timeout(RECORD_TIMEOUT, recording).await;
            match recorded.unwrap_or(Err(StoreError::Stopped)) {
                Ok(()) => {
                    self.instruments.delivery(counted(&outcome));
                    break;
                }
                Err(error) if error.is_duplicate() => {
                    tracing::warn!(job = %intent.job, "the response names a job of another prompt");
                    outcome = DeliveryOutcome::Unknown(ReasonCode::InvalidAnswer.with(
                        "The platform answered with a job that belongs to another prompt. It may or may not have started the work.",
                    ));
                }
                Err(error) if attempt >= LAST_RECORD_TRIES && self.deliveries.is_closed() => {
                    return Err(error).context("recording the outcome");
                }
                Err(error) => {
                    // Logged once per delivery, not for each retry.
                    if attempt == 0 {
                        tracing::warn!(job = %intent.job, %error, "the outcome could not be recorded; retrying");
                    }
                    tokio::time::sleep(Duration::from_millis(50 << attempt.min(PAUSE_DOUBLINGS))).await;
                }
            }
        }
        Ok(())
    }
}

/// Whether the platform answered, perhaps with a refusal: the key may not be allowed to read.
fn answers<T>(project: &ProjectId, response: Result<T, UpstreamError>) -> bool {
    match response {
        Err(error) if error.is_failure() => {
            tracing::warn!(%project, %error, "the platform does not answer yet; prompts wait");
            false
        }
        Ok(_) | Err(_) => true,
    }
}

/// The decision, unless the database takes so long that other processes may treat this one as ended.
async fn in_time(
    decision: impl Future<Output = Result<SendDecision, StoreError>>,
) -> anyhow::Result<SendDecision> {
    let decided = tokio::time::timeout(CLAIM_TTL, decision).await;
    Ok(decided.context("the database did not answer in time")??)
}

fn counted(outcome: &DeliveryOutcome<'_>) -> DeliveryCount {
    match outcome {
        DeliveryOutcome::Accepted(..) => DeliveryCount::Accepted,
        DeliveryOutcome::Rejected(_) | DeliveryOutcome::Unsent { is_queued: false, .. } => {
            DeliveryCount::Rejected
        }
        DeliveryOutcome::Requeued(_)
        | DeliveryOutcome::NoCredits(_)
        | DeliveryOutcome::Refused { .. }
        | DeliveryOutcome::Unsent { is_queued: true, .. } => DeliveryCount::QueuedAgain,
        DeliveryOutcome::Unknown(_) => DeliveryCount::Unknown,
    }
}
