//! Deliveries with an unknown outcome. A person decides: not started and to be sent again, or started and to be
//! tracked.

use crate::caller::Caller;
use crate::jobs::Jobs;
use clients::upstream::UpstreamError;
use clients::upstream::governor::Scope;
use model::error::AppError;
use model::id::{JobId, MessageId, ProjectId, RemoteId};
use model::job::{BulkResult, DeliveryState, Job, RemoteJob};
use model::time::Timestamp;
use store::StoreError;
use store::jobs::intents::Intent;
use store::jobs::unresolved::{AcceptedAs, UnresolvedDelivery};

/// A person's decision about a message whose outcome is unknown.
pub struct Decision {
    pub project: ProjectId,
    pub job: JobId,
    pub prompt: DecidedPrompt,
    /// The attempt when the job was read.
    pub attempt: i64,
    pub outcome: Outcome,
}

/// Which prompt of a job a decision is about.
pub enum DecidedPrompt {
    /// The one at this position; the first is at 0.
    At(i64),
    FollowUp(MessageId),
}

pub enum Outcome {
    NotStarted,
    /// With the platform's id of the job; a follow-up has none.
    Started(Option<RemoteId>),
}

impl Outcome {
    /// Parses `not_started` or `started`. The `remote_id` counts for a job's first message only, where it is required.
    pub fn parse(word: &str, message: i64, remote_id: Option<&str>) -> Result<Self, AppError> {
        match (word, message) {
            ("not_started", _) => Ok(Self::NotStarted),
            ("started", 0) => Ok(Self::Started(Some(remote_id.unwrap_or_default().trim().parse()?))),
            ("started", _) => Ok(Self::Started(None)),
            _ => Err(AppError::bad_input("The outcome must be not_started or started.")),
        }
    }
}

impl Jobs {
    /// Carries out a decision once: the same one again returns the current job, a different one is refused.
    pub async fn resolve(&self, caller: &Caller, decision: Decision) -> Result<Job, AppError> {
        let (project, job) = (&decision.project, &decision.job);
        let message = match &decision.prompt {
            DecidedPrompt::At(position) => self.store.message_at(project, job, *position).await?,
            DecidedPrompt::FollowUp(id) => self.store.follow_up(project, job, id).await?,
        };
        let message =
            message.ok_or_else(|| AppError::not_found("That prompt does not exist in this project."))?;
        let (position, attempt) = (message.position, decision.attempt);
        let delivery = UnresolvedDelivery { project, job, position, attempt };
        match &decision.outcome {
            Outcome::NotStarted => self.send_again(caller, &delivery, &message).await,
            Outcome::Started(id) => self.mark_accepted(caller, &delivery, &message, id.as_ref()).await,
        }
    }

    async fn send_again(
        &self,
        caller: &Caller,
        delivery: &UnresolvedDelivery<'_>,
        message: &Intent,
    ) -> Result<Job, AppError> {
        let note = format!("{} marked it as not started. It is sent again.", caller.user.name);
        if let Some(committed) = self.store.send_again(caller.authority(), delivery, &note).await? {
            let scope = Scope::of_message(&message.project, message.position);
            self.start_delivery(committed.message_id.clone(), scope);
            return Ok(self.job_after_sending(committed).await);
        }
        // After two clicks, or the same decision by two people, the first one counts. Both requests return its result.
        let now = self.store.message_at(delivery.project, delivery.job, delivery.position).await?;
        if now.is_none_or(|now| now.attempt <= delivery.attempt) {
            return Err(already_resolved());
        }
        self.job_after_delivery(message).await
    }

    /// Queues all jobs of the project again whose outcome was unknown at `as_of`: a person decided that none of them was started. Returns the jobs.
    pub async fn send_all_again(
        &self,
        caller: &Caller,
        project: &ProjectId,
        as_of: Timestamp,
    ) -> Result<BulkResult, AppError> {
        let note = format!(
            "{} marked this job, and all others with an unknown outcome, as not started. It is sent again.",
            caller.user.name
        );
        let as_of = as_of.min(self.clock.now());
        let jobs = self.store.send_all_again(caller.authority(), project, as_of, &note).await?;
        self.announce_outcome();
        Ok(BulkResult { jobs })
    }

    async fn mark_accepted(
        &self,
        caller: &Caller,
        delivery: &UnresolvedDelivery<'_>,
        message: &Intent,
        remote_id: Option<&RemoteId>,
    ) -> Result<Job, AppError> {
        if message.state != DeliveryState::Unknown || message.attempt != delivery.attempt {
            return Err(already_resolved());
        }
        let name = &caller.user.name;
        let (remote, note);
        let accepted_as = match remote_id {
            Some(id) => {
                remote = self.fetch_untracked(delivery.project, id).await?;
                note = format!("{name} marked it as started, with the id {}.", remote.id);
                AcceptedAs::Job(&remote)
            }
            None => {
                note = format!("{name} marked it as accepted.");
                AcceptedAs::FollowUp
            }
        };
        let next_poll_at = self.next_poll();
        match self.store.mark_accepted(caller.authority(), delivery, accepted_as, &note, next_poll_at).await {
            Ok(Some(committed)) => {
                self.announce_outcome();
                Ok(self.job_after_sending(committed).await)
            }
            Ok(None) => Err(already_resolved()),
            Err(error) => Err(conflict_or(error, caller, remote_id.map_or("", RemoteId::as_str))),
        }
    }

    /// The upstream's job, if Docket has no job with its id.
    pub(super) async fn fetch_untracked(
        &self,
        project: &ProjectId,
        id: &RemoteId,
    ) -> Result<RemoteJob, AppError> {
        self.must_be_untracked(project, id.as_str()).await?;
        let permit = self.governor.acquire_lookup(project).await?;
        let remote = self.upstream.job(permit, project, id.as_str()).await.map_err(|error| match error {
            UpstreamError::Refused { status: 404, .. } => not_in_project(id.as_str()),
            error => error.into(),
        })?;
        // The platform may accept several spellings of one job id.
        self.must_be_untracked(project, &remote.id).await?;
        Ok(remote)
    }

    async fn must_be_untracked(&self, project: &ProjectId, remote_id: &str) -> Result<(), AppError> {
        match self.store.job_of_remote(project, remote_id).await? {
            Some(job) => Err(AppError::conflict(format!(
                "Docket already has a job with this id: /p/{project}/jobs/{job}."
            ))),
            None => Ok(()),
        }
    }
}

/// The error for the id `remote_id` of a job that Docket already has. Without access to its project, the caller gets
/// the same error as for a missing job.
pub(super) fn conflict_or(error: StoreError, caller: &Caller, remote_id: &str) -> AppError {
    match error {
        StoreError::OtherProject(project, job) if caller.project(project.as_str()).is_ok() => {
            AppError::conflict(format!(
                "This job belongs to another project, so nothing was changed: /p/{project}/jobs/{job}."
            ))
        }
        StoreError::OtherProject(..) => not_in_project(remote_id),
        error if error.is_duplicate() => AppError::conflict("Docket already has a job with this id."),
        error => error.into(),
    }
}

fn not_in_project(remote_id: &str) -> AppError {
    AppError::not_found(format!(
        "No job of this project has the id {remote_id}, so nothing was changed. Check the id."
    ))
}

fn already_resolved() -> AppError {
    AppError::conflict(
        "The outcome of this prompt is known, or was decided for this attempt. Look at the job again.",
    )
}
