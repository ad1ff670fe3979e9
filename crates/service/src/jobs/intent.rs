//! From a parsed prompt to a committed intent. Submitting the same form again returns the same result. This module
//! commits, starts the delivery, and waits for its end; it does not send. Once a prompt is committed it may be sent, and
//! nothing fails after that: if the database cannot be read, the answer is the job as it was committed.

use std::time::Duration;

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::drafts::TypedForm;
use crate::jobs::replay;
use crate::jobs::submitted::Submitted;
use crate::response_size::shortened;
use base::prompt::Prompt;
use clients::upstream::governor::Scope;
use model::error::{AppError, ErrorCode};
use model::id::{IntentId, InvalidId, JobId, ProjectId};
use model::job::{Job, JobState};
use model::links;
use model::queue::Move;
use model::similar::SimilarJob;
use model::unfilled::{unfilled, warning};
use store::StoreError;
use store::jobs::intents::{CommittedPrompt, Intent, NewIntent, Scheduling, Subject};

/// The interval of checking for the end of a delivery when no notification arrives.
const OUTCOME_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// How long reading a job may take whose prompt was committed. After that, the answer is what is known.
const READ_TIMEOUT: Duration = Duration::from_secs(3);

/// A prompt to send, and how.
pub struct Submission {
    pub intent: NewIntent,
    /// Whether it may be queued if the hourly budget is spent.
    pub queue: bool,
    /// Whether it goes to the front of the queue then.
    pub first: bool,
    /// Which similar jobs to warn about first. A form with a warning also starts one job only from its draft.
    pub similar: SimilarWarning,
    /// Whether to warn first if the prompt has an unfilled placeholder.
    pub warns_if_unfilled: bool,
}

/// Which similar jobs prevent a prompt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SimilarWarning {
    None,
    /// Those with nearly the same text that are in progress: the page showed the others.
    InProgress,
    /// All.
    All,
}

impl Jobs {
    /// Submits what was parsed from a form, as [`Self::submit`]. Text that cannot be accepted is saved as the caller's draft.
    pub async fn submit_form(
        &self,
        caller: &Caller,
        form: &TypedForm,
        parsed: Result<Submission, AppError>,
    ) -> Result<Submitted, AppError> {
        let outcome = match parsed {
            Ok(submission) => self.submit(caller, submission).await,
            Err(error) => Err(error),
        };
        let draft = match &outcome {
            Ok(_) => self.remove_sent_draft(caller, form).await,
            Err(_) => self.save_refused_text(caller, form).await,
        };
        if let Err(error) = draft {
            tracing::warn!(%error, "a draft could not be saved");
        }
        outcome
    }

    /// Commits a prompt as an intent of the caller, delivers it, and returns the job with its outcome. The same intent again returns the same result
    /// and sends nothing.
    pub async fn submit(&self, caller: &Caller, mut submission: Submission) -> Result<Submitted, AppError> {
        if submission.intent.body_hash.is_none() {
            submission.intent.body_hash = Some(replay::hash_of_form(&submission.intent));
        }
        let intent = &submission.intent;
        if let Some(earlier) = self.store.find_intent(&caller.user.id, &intent.intent).await? {
            return self.result_of(intent, earlier).await;
        }
        self.must_be_possible(intent).await?;
        if submission.warns_if_unfilled {
            must_be_filled_in(&intent.prompt)?;
        }
        if submission.similar != SimilarWarning::None {
            self.must_be_first_of_draft(caller, intent).await?;
            self.must_have_no_similar_job(caller, intent, submission.similar).await?;
        }
        let intent = self.with_mentioned_pages(submission.intent).await?;
        match self.commit_and_send(caller, &intent, submission.queue).await? {
            Some(committed) => {
                if submission.first {
                    self.move_to_front(caller, &committed).await;
                }
                let message_id = committed.message_id.clone();
                let job = self.job_after_sending(committed).await;
                Ok(Submitted { job, message_id, is_replay: false })
            }
            None => self.result_of_other(caller, &intent).await,
        }
    }

    /// Whether its job accepts follow-ups, its template exists, and the job that it retries ended without a pull request.
    async fn must_be_possible(&self, intent: &NewIntent) -> Result<(), AppError> {
        let project = &intent.project;
        let (template, retry_of) = match &intent.subject {
            Subject::FollowUp(job) => return self.must_accept_follow_ups(project, job).await,
            Subject::NewJob { template, retry_of, .. } => (template, retry_of),
        };
        if let Some(template) = template {
            self.must_be_a_template(project, template).await?;
        }
        if let Some(job) = retry_of {
            self.must_be_retryable(project, job).await?;
        }
        Ok(())
    }

    /// `None` if the intent exists already. `queue`: whether it may be queued if the hourly budget is spent.
    async fn commit_and_send(
        &self,
        caller: &Caller,
        intent: &NewIntent,
        queue: bool,
    ) -> Result<Option<CommittedPrompt>, AppError> {
        let scope = Scope::of_message(&intent.project, i64::from(intent.followed_up().is_some()));
        match self.governor.check(&scope).await {
            Err(error) if error.code == ErrorCode::BudgetSpent && queue => {
                self.insert(caller, intent, Scheduling::Queued(None)).await
            }
            room => {
                room?;
                if !intent.may_queue {
                    self.governor.must_not_be_paused(&scope).await?;
                }
                let committed = self.insert(caller, intent, Scheduling::Immediate).await?;
                if let Some(committed) = &committed {
                    self.start_delivery(committed.message_id.clone(), scope);
                }
                Ok(committed)
            }
        }
    }

    /// Moves a prompt that was just queued to the front. If that fails, it stays at the end of the queue, where people can move it.
    async fn move_to_front(&self, caller: &Caller, committed: &CommittedPrompt) {
        let CommittedPrompt { message_id, job } = committed;
        let moved = async {
            let message = message_id.parse().map_err(|_| StoreError::Corrupt(message_id.clone()))?;
            self.store.move_in_queue(caller.authority(), &job.project, &message, Move::First).await
        };
        if let Err(error) = moved.await {
            tracing::warn!(job = %job.id, %error, "a queued prompt could not be moved to the front");
        }
    }

    /// If the same form was submitted twice at once, this finds the other request's intent.
    async fn result_of_other(&self, caller: &Caller, new: &NewIntent) -> Result<Submitted, AppError> {
        let author_id = &caller.user.id;
        let intent = self.store.find_intent(author_id, &new.intent).await.map_err(committed_already)?;
        match intent {
            Some(intent) => self.result_of(new, intent).await,
            None if self.store.is_removed_intent(author_id, new.intent.as_str()).await? => {
                Err(if is_of_script(new) { replay::removed() } else { sent_long_ago() })
            }
            None => {
                self.must_be_first_of_draft(caller, new).await?;
                // The job to follow up was rejected meanwhile.
                Err(nothing_to_follow_up())
            }
        }
    }

    /// Commits the intent; `None` if it exists already. If the reply to the commit was lost, a read decides whether the intent exists; then its
    /// message is due, and the next look at due messages sends it.
    async fn insert(
        &self,
        caller: &Caller,
        new: &NewIntent,
        scheduling: Scheduling<'_>,
    ) -> Result<Option<CommittedPrompt>, AppError> {
        let (by, author, queue_max) = (caller.authority(), caller.actor(), self.queue_max());
        match self.store.commit_intent(by, &author, new, scheduling, queue_max).await {
            Err(error) if error.has_unknown_end() => {
                match self.store.find_intent(&author.id, &new.intent).await.ok().flatten() {
                    Some(_) => Ok(None),
                    None => Err(error.into()),
                }
            }
            inserted => Ok(inserted?),
        }
    }

    /// Commits nothing if it fails, so that the same intent may be submitted again.
    async fn must_have_no_similar_job(
        &self,
        caller: &Caller,
        new: &NewIntent,
        warning: SimilarWarning,
    ) -> Result<(), AppError> {
        let permit = caller.query_permit().await?;
        let similar = self.similar(&permit, &new.project, new.prompt.as_str(), new.pages.clone()).await?;
        drop(permit);
        let prevents = |job: &SimilarJob| warning == SimilarWarning::All || job.is_running_already();
        // After a double click, the similar job may come from the other click.
        let is_committed = self.store.find_intent(&caller.user.id, &new.intent).await?.is_some();
        if is_committed || !similar.iter().any(prevents) { Ok(()) } else { Err(similar_job()) }
    }

    /// Fails if another form with the same draft, such as one in another tab, started a job.
    async fn must_be_first_of_draft(&self, caller: &Caller, new: &NewIntent) -> Result<(), AppError> {
        let Some(draft) = &new.draft else { return Ok(()) };
        match self.store.sent_from(&caller.user.id, draft).await? {
            // After a double click, it may come from the other click.
            Some(sent) if sent.intent != new.intent => {
                let project = new.project.as_str();
                let ago = ago(self.clock.now().seconds_since(sent.at));
                let job = links::job(project, sent.job.as_str());
                let text = format!("This draft was started {ago} ago: {job}.");
                Err(AppError::new(ErrorCode::SimilarJob, text))
            }
            _ => Ok(()),
        }
    }

    /// The result for an intent, after its delivery.
    async fn result_of(&self, new: &NewIntent, intent: Intent) -> Result<Submitted, AppError> {
        if !replay::is_repeated(new, &intent) {
            return Err(if is_of_script(new) { replay::used() } else { sent_with_another_text() });
        }
        self.replay(intent).await
    }

    /// The answer to a request that an earlier one committed.
    pub(super) async fn replay(&self, intent: Intent) -> Result<Submitted, AppError> {
        let job = self.job_after_delivery(&intent).await?;
        Ok(Submitted { job, message_id: intent.message_id, is_replay: true })
    }

    /// The job of an intent after its delivery, or its current state if the message is queued.
    pub(super) async fn job_after_delivery(&self, intent: &Intent) -> Result<Job, AppError> {
        self.wait_for_outcome(&intent.message_id).await.map_err(committed_already)?;
        let job = self.store.job(&intent.project, &intent.job).await.map_err(committed_already)?;
        job.map(shortened::job).ok_or_else(|| AppError::not_found("That job does not exist."))
    }

    /// The job of a prompt that may have been sent, after its delivery. If it cannot be read, the job as it was committed.
    pub(super) async fn job_after_sending(&self, committed: CommittedPrompt) -> Job {
        let CommittedPrompt { message_id, job } = committed;
        let current = async {
            self.wait_for_outcome(&message_id).await?;
            in_time(self.store.job(&job.project, &job.id)).await
        };
        let current = match current.await {
            Ok(current) => current,
            Err(error) => {
                tracing::warn!(job = %job.id, %error, "the job of a committed prompt could not be read");
                None
            }
        };
        shortened::job(current.unwrap_or(job))
    }

    /// Waits while the message is being sent, at most as long as a delivery can take, and until the process is about to stop. The delivery
    /// does not need the request.
    async fn wait_for_outcome(&self, message_id: &str) -> Result<(), StoreError> {
        let mut outcomes = self.outcomes.subscribe();
        let deadline = tokio::time::Instant::now() + self.timing.exchange + Duration::from_secs(5);
        loop {
            outcomes.borrow_and_update();
            // A message in the queue may wait for hours; the request does not wait for it.
            let on_its_way = in_time(self.store.is_on_its_way(message_id)).await?;
            let now = tokio::time::Instant::now();
            if !on_its_way || now >= deadline || self.leaving.is_cancelled() {
                return Ok(());
            }
            // Deliveries by another process with the same database do not notify this one.
            let check = deadline.min(now + OUTCOME_CHECK_INTERVAL);
            let outcome = tokio::time::timeout_at(check, outcomes.changed());
            let _ = self.leaving.run_until_cancelled(outcome).await;
        }
    }

    /// A job of another project is treated as missing.
    async fn must_be_retryable(&self, project: &ProjectId, job: &JobId) -> Result<(), AppError> {
        let job = self.store.job(project, job).await?;
        match job.map(|job| job.is_retryable()) {
            Some(true) => Ok(()),
            Some(false) => Err(AppError::conflict(
                "The job to run again has not ended, or has a pull request. Start a new job instead, or send a follow-up.",
            )),
            None => Err(AppError::not_found(
                "The job to run again does not exist in this project. Start a new job instead.",
            )),
        }
    }

    async fn must_accept_follow_ups(&self, project: &ProjectId, job: &JobId) -> Result<(), AppError> {
        let found = self.store.job_state(project, job).await?;
        let state = found.ok_or_else(|| AppError::not_found("That job does not exist in this project."))?;
        match state {
            state if state.accepts_follow_ups() => Ok(()),
            JobState::Unknown => Err(AppError::new(
                ErrorCode::NotAccepted,
                "It is unknown whether the platform accepted this job. Decide that first, then follow up.",
            )),
            _ => Err(nothing_to_follow_up()),
        }
    }
}

/// The result of a read that follows a commit, unless it takes longer than [`READ_TIMEOUT`].
async fn in_time<T>(read: impl Future<Output = Result<T, StoreError>>) -> Result<T, StoreError> {
    tokio::time::timeout(READ_TIMEOUT, read).await.unwrap_or(Err(StoreError::Stopped))
}

/// A new intent, for a form or for a prompt without one.
pub(super) fn new_intent() -> Result<IntentId, InvalidId> {
    uuid::Uuid::new_v4().to_string().parse()
}

/// A duration in its largest unit: `5 seconds`.
fn ago(seconds: i64) -> String {
    let (number, unit) = match seconds.max(1) {
        seconds @ ..60 => (seconds, "second"),
        seconds @ 60..3_600 => (seconds / 60, "minute"),
        seconds @ 3_600..86_400 => (seconds / 3_600, "hour"),
        seconds => (seconds / 86_400, "day"),
    };
    format!("{number} {unit}{}", if number == 1 { "" } else { "s" })
}

fn nothing_to_follow_up() -> AppError {
    AppError::conflict("This job was not started, so there is nothing to follow up. Start a new one instead.")
}

/// Whether a script sent it, which has an idempotency key and no form.
fn is_of_script(new: &NewIntent) -> bool {
    new.request_hash.is_some()
}

fn sent_with_another_text() -> AppError {
    AppError::new(
        ErrorCode::IntentReused,
        "This form was already sent with another text or other pages. Reload the page to send a new one.",
    )
}

fn sent_long_ago() -> AppError {
    AppError::new(
        ErrorCode::IntentReused,
        "This form was sent long ago, and its job has been removed since. Reload the page to send the prompt as a new one.",
    )
}

/// Commits nothing if it fails, as for a similar job.
fn must_be_filled_in(prompt: &Prompt) -> Result<(), AppError> {
    match warning(&unfilled(prompt.as_str())) {
        Some(refusal) => Err(AppError::new(ErrorCode::UnfilledPlaceholder, refusal)),
        None => Ok(()),
    }
}

fn similar_job() -> AppError {
    AppError::new(ErrorCode::SimilarJob, AppError::SIMILAR_JOB)
}

/// The error after the prompt was committed. It must not make people send the prompt again.
pub(super) fn committed_already(error: StoreError) -> AppError {
    let message = "Docket’s database is unavailable, but your prompt was saved. Look for it in the list of jobs before you send it again.";
    let error = match error {
        // The read was stopped: nothing about the request is too large.
        StoreError::Stopped => AppError::database_unavailable(),
        error => error.into(),
    };
    AppError { message: message.to_owned(), ..error }
}

#[cfg(test)]
mod tests {
    use super::ago;

    #[test]
    fn age_of_a_started_draft_has_one_unit() {
        assert_eq!(
            [0, 5, 119, 7_200, 90_000].map(ago),
            ["1 second", "5 seconds", "1 minute", "2 hours", "1 day"]
        );
    }
}
