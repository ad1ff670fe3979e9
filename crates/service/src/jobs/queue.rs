//! The queue as people see and change it. Sending is the task of deliveries.

use crate::caller::Caller;
use crate::jobs::Jobs;
use clients::upstream::governor::Scope;
use model::error::AppError;
use model::id::{MessageId, ProjectId};
use model::job::Job;
use model::queue::{Queue, QueueEntry, WaitReason};
use model::time::Timestamp;
use store::jobs::queue::QueuedMessage;

impl Jobs {
    /// The queued prompts of the project in order, with the expected time of each.
    pub async fn queue(&self, project: &ProjectId) -> Result<Queue, AppError> {
        let queued = self.queued(project).await?;
        let mut waiting = Vec::with_capacity(queued.len());
        let mut forecasts =
            [self.forecast(project, &queued, 0).await?, self.forecast(project, &queued, 1).await?];
        for message in queued {
            let forecast = &mut forecasts[usize::from(message.position > 0)];
            let (why, expected_at) = match (message.is_blocked, message.in_queue) {
                _ if message.is_on_hold => (WaitReason::OnHold, None),
                (true, _) => (WaitReason::JobBefore, None),
                (false, false) => (WaitReason::Sending, None),
                (false, true) => forecast.next(),
            };
            let expected_at = expected_at.map(|at| at.max(message.due_at));
            waiting.push(entry(message, why, expected_at));
        }
        Ok(Queue { waiting, next: None })
    }

    /// Moves a prompt in its queue: `to` is `first`, `up` or `down`.
    pub async fn move_queued(
        &self,
        caller: &Caller,
        project: &ProjectId,
        message: &str,
        to: &str,
    ) -> Result<Queue, AppError> {
        let message: MessageId = message.parse()?;
        let to = to.parse()?;
        if !self.store.move_in_queue(caller.authority(), project, &message, to).await? {
            return Err(self.not_waiting(project, &message).await?);
        }
        self.queue(project).await
    }

    /// Rejects a queued prompt: its text remains, and nothing is sent.
    pub async fn cancel_queued(
        &self,
        caller: &Caller,
        project: &ProjectId,
        message: &str,
    ) -> Result<Queue, AppError> {
        let message: MessageId = message.parse()?;
        let reason = cancelled_by(caller);
        if self.store.cancel(caller.authority(), project, std::slice::from_ref(&message), &reason).await? == 0
        {
            return Err(self.not_waiting(project, &message).await?);
        }
        self.announce_outcome();
        self.queue(project).await
    }

    /// Cancels all queued prompts of a job.
    pub async fn cancel_job(&self, caller: &Caller, project: &ProjectId, job: &str) -> Result<Job, AppError> {
        let found = self.get(project, job).await?;
        let queued = self.queued(project).await?.into_iter().filter(|message| message.job == found.id);
        let queued: Vec<MessageId> = queued.map(|message| message.message).collect();
        let reason = cancelled_by(caller);
        if self.store.cancel(caller.authority(), project, &queued, &reason).await? == 0 {
            return Err(AppError::conflict(
                "This job has no queued prompt. What was sent cannot be cancelled.",
            ));
        }
        self.announce_outcome();
        self.get(project, job).await
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

    async fn forecast(
        &self,
        project: &ProjectId,
        queued: &[QueuedMessage],
        position: i64,
    ) -> Result<Forecast, AppError> {
        let in_this_line = |message: &&QueuedMessage| {
            message.in_queue
                && !message.is_on_hold
                && !message.is_blocked
                && (message.position > 0) == (position > 0)
        };
        let count = queued.iter().filter(in_this_line).count();
        if count == 0 {
            return Ok(Forecast { why: WaitReason::EarlierPrompts, times: Vec::new().into_iter() });
        }
        let (why, times) = self.governor.queue_forecast(&Scope::of_message(project, position), count).await?;
        Ok(Forecast { why, times: times.into_iter() })
    }
}

/// The reason of a cancelled prompt.
pub fn cancelled_by(caller: &Caller) -> String {
    format!("Cancelled by {} before it was sent.", caller.user.name)
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
