//! From a submitted form to a committed intent. Submitting the same form again returns the same result. This module
//! commits, starts the delivery, and waits for its end; it does not send.

use std::time::Duration;

use thiserror::Error;

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::drafts::{PostedText, form_key};
use crate::jobs::replay::{ScriptRequest, hash_of, hash_of_text};
use crate::jobs::templates::template_id;
use crate::response_size::shortened;
use base::nfc::nfc;
use base::query_permits::UserPermits;
use clients::upstream::governor::Scope;
use model::audit::Actor;
use model::error::{AppError, BadInput, ErrorCode};
use model::id::{FormKey, IntentId, JobId, ProjectId, TemplateId};
use model::job::Job;
use model::page_path::{self, PATH_MAX_CHARS, PATHS_MAX, PathsError};
use model::tag::Tag;
use model::unfilled::{unfilled, warning};
use store::StoreError;
use store::authorization::Authorization;
use store::jobs::intents::{Intent, NewIntent, OfScript, Scheduling};

/// The interval of checking for the end of a delivery when no notification arrives.
const OUTCOME_CHECK_INTERVAL: Duration = Duration::from_millis(500);

/// A submitted form; only the project is validated.
pub struct Form {
    pub author: Actor,
    /// The request that submits the form.
    pub authorization: Authorization,
    /// The author's permits, for the query of similar jobs.
    pub permits: UserPermits,
    pub project: ProjectId,
    /// The job to follow up; `None` for a new job.
    pub job: Option<String>,
    pub prompt: String,
    pub intent: String,
    /// Separated by commas or line ends.
    pub paths: Option<String>,
    /// Whether it may be queued if the hourly budget is spent.
    pub queue: bool,
    /// The id of the template it came from; empty without one.
    pub template: Option<String>,
    /// The key of the prefilled form for a new job.
    form: Option<FormKey>,
    /// When the draft that the form shows was saved, in milliseconds; `None` removes any draft of the form.
    base: Option<i64>,
    /// The id of the job that this one retries; empty without one.
    pub retry_of: Option<String>,
    /// What a script sent. It has no draft, which would be removed or replaced.
    script: Option<Script>,
    /// Whether to warn first if there are similar jobs.
    pub warns_if_similar: bool,
    /// Whether to warn first if the prompt has an unfilled placeholder.
    pub warns_if_unfilled: bool,
}

/// What only a script sends.
struct Script {
    request_hash: String,
    tags: Vec<Tag>,
}

/// A valid form.
struct Request {
    job: Option<JobId>,
    intent: IntentId,
    prompt: String,
    /// Those of the form.
    paths: Vec<String>,
    template: Option<TemplateId>,
    retry_of: Option<JobId>,
}

impl Form {
    pub fn new_job(
        caller: &Caller,
        project: ProjectId,
        prompt: String,
        intent: String,
        paths: Option<String>,
        template: Option<String>,
    ) -> Self {
        Self::new(caller, project, None, prompt, intent, paths, template)
    }

    pub fn follow_up(
        caller: &Caller,
        project: ProjectId,
        job: String,
        prompt: String,
        intent: String,
    ) -> Self {
        Self::new(caller, project, Some(job), prompt, intent, None, None)
    }

    fn new(
        caller: &Caller,
        project: ProjectId,
        job: Option<String>,
        prompt: String,
        intent: String,
        paths: Option<String>,
        template: Option<String>,
    ) -> Self {
        let (author, permits) = (caller.actor(), caller.permits().clone());
        let (queue, warns_if_similar, warns_if_unfilled) = (false, false, false);
        Self {
            author,
            authorization: caller.authorization().clone(),
            permits,
            project,
            job,
            prompt,
            intent,
            paths,
            template,
            form: None,
            base: None,
            retry_of: None,
            script: None,
            queue,
            warns_if_similar,
            warns_if_unfilled,
        }
    }

    /// With the key of the form (empty for none) and the version of the draft it shows.
    pub fn with_draft(self, form: Option<&str>, base: Option<i64>) -> Result<Self, AppError> {
        Ok(Self { form: form_key(form)?, base, ..self })
    }

    /// Of a script, with the tags of a new job.
    pub fn of_script(self, request: &ScriptRequest<'_>, tags: Vec<Tag>) -> Self {
        Self { script: Some(Script { request_hash: request.hash(), tags }), ..self }
    }

    /// Whether the prompt is queued if the hourly budget is spent.
    pub fn queueing(self, queue: bool) -> Self {
        Self { queue, ..self }
    }

    /// With the form's checkbox that allows queueing.
    pub fn queued(self, checkbox: Option<&str>) -> Self {
        Self { queue: matches!(checkbox, Some("on" | "true")), ..self }
    }

    /// With the id of the job that this one retries; may be empty.
    pub fn retrying(self, job: Option<String>) -> Self {
        Self { retry_of: job.filter(|job| !job.is_empty()), ..self }
    }

    /// With the field of a form without JavaScript that requests the warning. Only a page can show the warning.
    pub fn with_similarity_warning(self, field: Option<&str>, wants_a_page: bool) -> Self {
        Self { warns_if_similar: field == Some("ask") && wants_a_page, ..self }
    }

    /// With the form's fields that request the warning and confirm sending anyway.
    pub fn with_placeholder_warning(self, field: Option<&str>, anyway: Option<&str>) -> Self {
        Self { warns_if_unfilled: field == Some("ask") && anyway != Some("on"), ..self }
    }

    fn parse(&self, prompt_max: u32) -> Result<Request, AppError> {
        let prompt = prompt(&self.prompt, prompt_max)?;
        Ok(Request {
            job: self.job.as_deref().map(str::parse).transpose()?,
            intent: self.intent.parse()?,
            paths: paths(self.paths.as_deref().unwrap_or_default())?,
            template: template_id(self.template.as_deref())?,
            retry_of: self.retry_of.as_deref().map(str::parse).transpose()?,
            prompt,
        })
    }

    fn posted_text(&self) -> PostedText<'_> {
        PostedText {
            by: (&self.authorization).into(),
            user_id: &self.author.id,
            project: &self.project,
            job: self.job.as_deref(),
            form: self.form.as_ref(),
            intent: &self.intent,
            base: self.base,
            text: self.prompt.replace("\r\n", "\n"),
            paths: self.paths.as_deref().unwrap_or_default(),
            template: self.template.as_deref().unwrap_or_default(),
        }
    }
}

impl Script {
    fn as_stored(&self) -> OfScript<'_> {
        OfScript { request_hash: &self.request_hash, tags: &self.tags }
    }
}

impl Jobs {
    /// Submits a form: commits it as an intent, delivers it, and returns the job with its outcome. The same intent
    /// again returns the same result and sends nothing. Text that cannot be accepted is saved as the author's draft.
    pub async fn submit(&self, form: Form) -> Result<Job, AppError> {
        let outcome = self.commit_and_send(&form).await;
        let draft = match &outcome {
            _ if form.script.is_some() => Ok(()),
            Ok(_) => self.remove_sent_draft(&form.posted_text()).await,
            Err(_) if !may_be_saved(&form) || !self.has_subject(&form).await => Ok(()),
            Err(_) => self.save_refused_text(&form.posted_text()).await,
        };
        if let Err(error) = draft {
            tracing::warn!(%error, "a draft could not be saved");
        }
        outcome
    }

    /// Whether the form is for a new job, or the job to follow up exists. Otherwise no draft is saved.
    async fn has_subject(&self, form: &Form) -> bool {
        match form.job.as_deref().map(str::parse::<JobId>) {
            None => true,
            Some(Ok(job)) => self.store.has_job(&form.project, &job).await.unwrap_or(false),
            Some(Err(_)) => false,
        }
    }

    async fn commit_and_send(&self, form: &Form) -> Result<Job, AppError> {
        let request = form.parse(self.prompt_max())?;
        if let Some(earlier) = self.store.find_intent(&form.author.id, &request.intent).await? {
            return self.result_of(form, &request, earlier).await;
        }
        if let Some(job) = &request.job {
            self.must_accept_follow_ups(&form.project, job).await?;
        }
        if let Some(template) = &request.template {
            self.must_be_a_template(&form.project, template).await?;
        }
        if let Some(job) = &request.retry_of {
            self.must_be_a_job(&form.project, job).await?;
        }
        if form.warns_if_unfilled {
            must_be_filled_in(&request.prompt)?;
        }
        if form.warns_if_similar {
            self.must_have_no_similar_job(form, &request).await?;
        }
        let pages = self.pages(&form.project, request.paths.clone(), &request.prompt).await?;
        let position = i64::from(request.job.is_some());
        let scope = Scope::of_message(&form.project, position);
        let room = self.governor.check(&scope).await;
        let new = NewIntent {
            project: &form.project,
            job: request.job.as_ref(),
            author: &form.author,
            intent: &request.intent,
            prompt: &request.prompt,
            paths: &pages,
            template: request.template.as_ref(),
            retry_of: request.retry_of.as_ref(),
            script: form.script.as_ref().map(Script::as_stored),
            queue_max: self.queue_max(),
        };
        match room {
            Err(error) if error.code == ErrorCode::BudgetSpent && form.queue => {
                self.insert(form, new, Scheduling::Queued(None)).await?;
            }
            room => {
                room?;
                if let Some(message_id) = self.insert(form, new, Scheduling::Immediate).await? {
                    self.start_delivery(message_id, scope);
                }
            }
        }
        // If the same form was submitted twice at once, this finds the other request's intent.
        let intent =
            self.store.find_intent(&form.author.id, &request.intent).await.map_err(committed_already)?;
        match intent {
            Some(intent) => self.result_of(form, &request, intent).await,
            None if self.store.is_removed_intent(&form.author.id, request.intent.as_str()).await? => {
                Err(sent_long_ago())
            }
            // The job to follow up was rejected meanwhile.
            None => Err(nothing_to_follow_up()),
        }
    }

    /// Commits the intent and returns the id of its message; `None` if it exists already. If the reply to the commit was lost, a read decides
    /// whether the intent exists; then its message is due, and the next look at due messages sends it.
    async fn insert(
        &self,
        form: &Form,
        new: NewIntent<'_>,
        scheduling: Scheduling<'_>,
    ) -> Result<Option<String>, AppError> {
        let (author, intent) = (&new.author.id, new.intent);
        match self.store.insert_intent((&form.authorization).into(), new, scheduling).await {
            Err(error) if error.has_unknown_end() => {
                match self.store.find_intent(author, intent).await.ok().flatten() {
                    Some(_) => Ok(None),
                    None => Err(error.into()),
                }
            }
            inserted => Ok(inserted?),
        }
    }

    /// Commits nothing if it fails, so that the same intent may be submitted again.
    async fn must_have_no_similar_job(&self, form: &Form, request: &Request) -> Result<(), AppError> {
        let (permit, paths) = (form.permits.acquire().await?, form.paths.as_deref().unwrap_or_default());
        let similar = self.similar(&permit, &form.project, &request.prompt, paths).await?;
        drop(permit);
        // After a double click, the similar job may come from the other click.
        let is_committed = self.store.find_intent(&form.author.id, &request.intent).await?.is_some();
        if similar.is_empty() || is_committed { Ok(()) } else { Err(similar_job()) }
    }

    /// The result for an intent, after its delivery.
    async fn result_of(&self, form: &Form, request: &Request, intent: Intent) -> Result<Job, AppError> {
        let sent = match &form.script {
            Some(script) => script.request_hash.clone(),
            None => hash_of_text(&form.project, request.job.as_ref().map(JobId::as_str), &request.prompt),
        };
        if sent != hash_of(&intent) {
            return Err(AppError::new(
                ErrorCode::IntentReused,
                "This form was already sent with another text. Reload the page to send a new one.",
            ));
        }
        self.job_after_delivery(&intent).await
    }

    /// The job of an intent after its delivery, or its current state if the message is queued.
    pub(super) async fn job_after_delivery(&self, intent: &Intent) -> Result<Job, AppError> {
        self.wait_for_outcome(intent).await.map_err(committed_already)?;
        let job = self.store.job(&intent.project, &intent.job).await.map_err(committed_already)?;
        job.map(shortened::job).ok_or_else(|| AppError::not_found("That job does not exist."))
    }

    /// Waits while the message is being sent, at most as long as a delivery can take, and until the process is about to stop. The delivery
    /// does not need the request.
    async fn wait_for_outcome(&self, intent: &Intent) -> Result<(), StoreError> {
        let mut outcomes = self.outcomes.subscribe();
        let deadline = tokio::time::Instant::now() + self.timing.exchange + Duration::from_secs(5);
        loop {
            outcomes.borrow_and_update();
            // A message in the queue may wait for hours; the request does not wait for it.
            let on_its_way = self.store.is_on_its_way(&intent.message_id).await?;
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
    async fn must_be_a_job(&self, project: &ProjectId, job: &JobId) -> Result<(), AppError> {
        match self.store.has_job(project, job).await? {
            true => Ok(()),
            false => Err(AppError::not_found(
                "The job to run again does not exist in this project. Start a new job instead.",
            )),
        }
    }

    async fn must_accept_follow_ups(&self, project: &ProjectId, job: &JobId) -> Result<(), AppError> {
        let found = self.store.job_state(project, job).await?;
        let state = found.ok_or_else(|| AppError::not_found("That job does not exist in this project."))?;
        if state.accepts_follow_ups() { Ok(()) } else { Err(nothing_to_follow_up()) }
    }
}

fn nothing_to_follow_up() -> AppError {
    AppError::bad_input("The platform has not accepted this job, so there is nothing to follow up yet.")
}

fn sent_long_ago() -> AppError {
    AppError::new(
        ErrorCode::IntentReused,
        "This form was sent long ago, and its job has been removed since. Reload the page to send the prompt as a new one.",
    )
}

/// Commits nothing if it fails, as for a similar job.
fn must_be_filled_in(prompt: &str) -> Result<(), AppError> {
    match warning(&unfilled(prompt)) {
        Some(refusal) => Err(AppError::new(ErrorCode::UnfilledPlaceholder, refusal)),
        None => Ok(()),
    }
}

fn similar_job() -> AppError {
    AppError::new(ErrorCode::SimilarJob, AppError::SIMILAR_JOB)
}

/// Validates a prompt: 1 to `most` characters, normalized, line ends as `\n`.
pub(super) fn prompt(text: &str, most: u32) -> Result<String, PromptError> {
    let text = nfc(&text.replace("\r\n", "\n")).into_owned();
    if text.trim().is_empty() {
        return Err(PromptError::Empty);
    }
    if text.contains('\0') {
        return Err(PromptError::Nul);
    }
    let length = text.chars().count();
    if length > most as usize {
        return Err(PromptError::TooLong { length, most });
    }
    Ok(text)
}

/// Why a prompt or its pages cannot be sent.
#[derive(Debug, PartialEq, Eq, Error)]
pub(super) enum PromptError {
    #[error("Write what the agent should do: the prompt is empty.")]
    Empty,
    #[error("The prompt contains a NUL character, which cannot be sent. Remove it.")]
    Nul,
    #[error("The prompt has {length} characters; at most {most} can be sent. Shorten it.")]
    TooLong { length: usize, most: u32 },
    #[error("A job can be about at most {PATHS_MAX} pages.")]
    TooManyPages,
    #[error("A page's path has at most {PATH_MAX_CHARS} characters, and no control characters.")]
    NotAPath,
}

impl From<PathsError> for PromptError {
    fn from(error: PathsError) -> Self {
        match error {
            PathsError::TooMany => Self::TooManyPages,
            PathsError::NotAPath => Self::NotAPath,
        }
    }
}

impl BadInput for PromptError {}

/// The pages of a form field, separated by commas or line ends.
pub(super) fn paths(text: &str) -> Result<Vec<String>, PromptError> {
    Ok(page_path::typed(&nfc(text))?)
}

/// One page; `None` if the text is empty.
pub(super) fn page(text: &str) -> Result<Option<String>, PromptError> {
    Ok(page_path::typed_one(&nfc(text))?)
}

/// The error after the prompt was committed. It must not make people send the prompt again.
fn committed_already(error: StoreError) -> AppError {
    let message = "Docket's database is unavailable, but your prompt was saved. Look for it in the list of jobs before you send it again.";
    AppError { message: message.to_owned(), ..error.into() }
}

/// Whether the text is worth saving as a draft, and valid in the database.
fn may_be_saved(form: &Form) -> bool {
    !form.prompt.trim().is_empty()
        && ![Some(&form.prompt), form.paths.as_ref(), form.template.as_ref()]
            .into_iter()
            .flatten()
            .chain([&form.intent])
            .any(|text| text.contains('\0'))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn prompt_length_counts_characters_of_any_script() {
        assert!(prompt("", 9).is_err() && prompt(" \r\n\t", 9).is_err() && prompt("a\0b", 9).is_err());
        assert_eq!(prompt("修正\r\nしてください", 9).as_deref(), Ok("修正\nしてください"));
        assert!(prompt(&"é".repeat(9), 9).is_ok());
        assert!(prompt(&"é".repeat(10), 9).is_err());
    }
}
