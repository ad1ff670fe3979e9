//! The queue as people see and change it. Sending is the task of deliveries.

use std::collections::BTreeMap;

use crate::caller::Caller;
use crate::jobs::Jobs;
use clients::upstream::governor::Scope;
use model::error::AppError;
use model::id::{BatchId, JobId, MessageId, ProjectId};
use model::job::{DeliveryState, Job, JobState};
use model::queue::{Move, Queue, QueueEntry, QueuePlace, QueuedBatch, QueuedPrompt, WaitReason};
use model::time::Timestamp;
use store::jobs::queue::QueuedMessage;

impl Jobs {
    /// The queued prompts of the project in order, with the expected time of each.
    pub async fn queue(&self, project: &ProjectId) -> Result<Queue, AppError> {
        let queued = self.queued(project).await?;
        let mut waiting = Vec::with_capacity(queued.len());
        let mut forecasts = self.forecasts(project, &queued).await?;
        for message in queued {
            let forecast = forecasts.of(message.position);
            let (why, expected_at) = match (message.is_blocked, message.in_queue) {
                _ if message.is_on_hold => (WaitReason::OnHold, None),
                (true, _) => (WaitReason::JobBefore, None),
                (false, false) => (WaitReason::Sending, None),
                (false, true) => forecast.next(),
            };
            let expected_at = expected_at.map(|at| at.max(message.due_at));
            waiting.push(entry(message, why, expected_at));
        }
        let no_credits_until = match waiting.is_empty() {
            true => None,
            false => self.governor.credits_tried_again_at(project).await?,
        };
        Ok(Queue { waiting, batches: Vec::new(), no_credits_until, next: None })
    }

    /// The batches with several prompts in `waiting`.
    pub async fn queued_batches(&self, waiting: &[QueueEntry]) -> Result<Vec<QueuedBatch>, AppError> {
        let mut left = BTreeMap::<&BatchId, u64>::new();
        for batch in waiting.iter().filter_map(|entry| entry.batch.as_ref()) {
            *left.entry(batch).or_default() += 1;
        }
        left.retain(|_, prompts| *prompts > 1);
        let ids: Vec<BatchId> = left.keys().map(|id| (*id).clone()).collect();
        let batches = self.store.batch_summaries(&ids).await?.into_iter().map(|summary| QueuedBatch {
            left: left.get(&summary.id).copied().unwrap_or_default(),
            jobs: summary.progress.jobs,
            name: summary.name,
            id: summary.id,
        });
        Ok(batches.collect())
    }

    /// The place of a prompt that would be queued now: a follow-up, or the first one of a job.
    pub async fn place_of_new(
        &self,
        project: &ProjectId,
        is_follow_up: bool,
    ) -> Result<QueuePlace, AppError> {
        let batches_last = self.governor.are_prompts_failing(project).await?;
        let queued = self.store.queued(project, batches_last, self.clock.now()).await?;
        let scope = Scope::of_message(project, i64::from(is_follow_up));
        let counts = self.counts_before(is_follow_up);
        let is_before = |message: &&QueuedMessage| {
            is_in_turn(message) && counts(message.position > 0) && !(batches_last && message.batch.is_some())
        };
        let before = queued.iter().filter(is_before).count();
        let (_, times) = self.governor.queue_forecast(&scope, before + 1).await?;
        Ok(QueuePlace { before, expected_at: times.last().copied() })
    }

    /// The queued prompts of a job, with their places.
    pub async fn queued_prompts(
        &self,
        project: &ProjectId,
        job: &JobId,
    ) -> Result<Vec<QueuedPrompt>, AppError> {
        let waiting = self.queue(project).await?.waiting;
        let place = |(index, entry): (usize, &QueueEntry)| {
            let counts = self.counts_before(entry.position > 0);
            let earlier = waiting[..index].iter();
            let before =
                earlier.filter(|other| other.is_next_in_turn() && counts(other.position > 0)).count();
            let place = QueuePlace { before, expected_at: entry.expected_at };
            QueuedPrompt { message: entry.message.clone(), position: entry.position, place }
        };
        Ok(waiting.iter().enumerate().filter(|(_, entry)| entry.job == *job).map(place).collect())
    }

    /// Which queued prompts, follow-ups or first ones, are sent before a prompt: with a shared limit, follow-ups come after the first ones.
    fn counts_before(&self, is_follow_up: bool) -> impl Fn(bool) -> bool {
        let is_shared = self.governor.is_limit_shared();
        move |other_is_follow_up| other_is_follow_up == is_follow_up || (is_follow_up && is_shared)
    }

    /// Moves a prompt in its queue.
    pub async fn move_queued(
        &self,
        caller: &Caller,
        project: &ProjectId,
        message: &MessageId,
        to: Move,
    ) -> Result<Queue, AppError> {
        if !self.store.move_in_queue(caller.authority(), project, message, to).await? {
            return Err(self.not_waiting(project, message).await?);
        }
        self.queue(project).await
    }

    /// Sends the next prompt at once to find out whether there are AI credits again.
    pub async fn try_queue_now(&self, caller: &Caller, project: &ProjectId) -> Result<(), AppError> {
        if self.store.waiting_prompts(project).await? == [0, 0] {
            return Err(AppError::conflict("The queue is empty: there is no prompt to send."));
        }
        match self.governor.health().try_credits_now(caller.authority(), project).await? {
            true => Ok(()),
            false => Err(AppError::conflict(
                "The prompts do not wait for AI credits, or Docket tried a moment ago.",
            )),
        }
    }

    /// Rejects a queued prompt: its text remains, and nothing is sent.
    pub async fn cancel_queued(
        &self,
        caller: &Caller,
        project: &ProjectId,
        message: &MessageId,
    ) -> Result<Queue, AppError> {
        let reason = cancelled_by(caller);
        if self.store.cancel(caller.authority(), project, std::slice::from_ref(message), &reason).await? == 0
        {
            return Err(self.not_waiting(project, message).await?);
        }
        self.announce_outcome();
        self.queue(project).await
    }

    /// Cancels all queued prompts of a job. Does nothing if they are cancelled already, so that a request may be repeated.
    pub async fn cancel_job(
        &self,
        caller: &Caller,
        project: &ProjectId,
        job: &JobId,
    ) -> Result<Job, AppError> {
        let found = self.get(project, job).await?;
        let queued = self.queued(project).await?.into_iter().filter(|message| message.job == found.id);
        let queued: Vec<MessageId> = queued.map(|message| message.message).collect();
        let reason = cancelled_by(caller);
        let cancelled = self.store.cancel(caller.authority(), project, &queued, &reason).await?;
        if cancelled > 0 {
            self.announce_outcome();
        }
        let job = self.get(project, job).await?;
        match cancelled > 0 || is_cancelled(&job) {
            true => Ok(job),
            false => {
                Err(AppError::conflict("This job has no queued prompt. What was sent cannot be cancelled."))
            }
        }
    }

    /// The queued prompts in the order in which they are sent.
    async fn queued(&self, project: &ProjectId) -> Result<Vec<QueuedMessage>, AppError> {
        let batches_last = self.governor.are_prompts_failing(project).await?;
        Ok(self.store.queued(project, batches_last, self.clock.now()).await?)
    }

    async fn not_waiting(&self, project: &ProjectId, message: &MessageId) -> Result<AppError, AppError> {
        Ok(match self.store.has_message(project, message).await? {
            true => AppError::conflict(
                "This prompt is no longer queued: it was sent, cancelled, or waits for its job.",
            ),
            false => AppError::not_found("That prompt does not exist in this project."),
        })
    }

    async fn forecasts(&self, project: &ProjectId, queued: &[QueuedMessage]) -> Result<Forecasts, AppError> {
        let waits = |message: &&QueuedMessage| is_in_turn(message);
        let is_follow_up = |message: &&QueuedMessage| message.position > 0;
        let waiting = queued.iter().filter(waits).count();
        let follow_ups = queued.iter().filter(waits).filter(is_follow_up).count();
        let creates = Scope::of_message(project, 0);
        if self.governor.shares_a_limit(&creates) {
            return Ok(Forecasts { first: self.forecast(&creates, waiting).await?, follow_ups: None });
        }
        let first = self.forecast(&creates, waiting - follow_ups).await?;
        let follow_ups = self.forecast(&Scope::of_message(project, 1), follow_ups).await?;
        Ok(Forecasts { first, follow_ups: Some(follow_ups) })
    }

    /// The forecast of the next `count` prompts of a queue.
    async fn forecast(&self, scope: &Scope, count: usize) -> Result<Forecast, AppError> {
        if count == 0 {
            return Ok(Forecast { why: WaitReason::EarlierPrompts, times: Vec::new().into_iter() });
        }
        let (why, times) = self.governor.queue_forecast(scope, count).await?;
        Ok(Forecast { why, times: times.into_iter() })
    }
}

/// Whether a prompt waits for its turn only.
fn is_in_turn(message: &QueuedMessage) -> bool {
    message.in_queue && !message.is_on_hold && !message.is_blocked
}

/// Whether the last prompt of a job was cancelled, or its first one: then its follow-ups are rejected.
fn is_cancelled(job: &Job) -> bool {
    let last = job.follow_ups.last();
    job.state == JobState::Cancelled || last.is_some_and(|last| last.state == DeliveryState::Cancelled)
}

/// The reason of a cancelled prompt.
pub fn cancelled_by(caller: &Caller) -> String {
    format!("Cancelled by {} before it was sent.", caller.user.name)
}

/// The forecasts of job starts and of follow-ups; `follow_ups` is `None` if both share a limit.
struct Forecasts {
    first: Forecast,
    follow_ups: Option<Forecast>,
}

impl Forecasts {
    /// The forecast of the message at `position` of a job.
    fn of(&mut self, position: i64) -> &mut Forecast {
        self.follow_ups.as_mut().filter(|_| position > 0).unwrap_or(&mut self.first)
    }
}

/// Yields the reason and the time of each message of a queue, in order.
struct Forecast {
    why: WaitReason,
    times: std::vec::IntoIter<Timestamp>,
}

impl Forecast {
    fn next(&mut self) -> (WaitReason, Option<Timestamp>) {
        let expected = self.times.next();
        // What delays the first one delays the others too; they wait for their turn.
        (std::mem::replace(&mut self.why, WaitReason::EarlierPrompts), expected)
    }
}

fn entry(message: QueuedMessage, why: WaitReason, expected_at: Option<Timestamp>) -> QueueEntry {
    QueueEntry {
        message: message.message,
        job: message.job,
        position: u32::try_from(message.position).unwrap_or(u32::MAX),
        prompt: message.prompt,
        author: message.author,
        created_at: message.created_at,
        why,
        expected_at,
        batch: message.batch,
    }
}
