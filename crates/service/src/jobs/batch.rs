//! Batches: prepared, previewed, started once, sent through the queue.

mod list;
mod preview;
pub mod results;
pub mod script;
mod template;
mod unstarted;

use std::collections::BTreeSet;
use std::slice;

use thiserror::Error;

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::intent::new_intent;
use crate::jobs::queue::cancelled_by;
use base::blocking;
use base::nfc::stored_text;
use base::prompt::{Prompt, PromptError};
use clients::upstream::governor::Scope;
use model::batch::{self, Batch, BatchForm, BatchPrompt, Entry, ListError, NAME_MAX_CHARS, Progress};
use model::draft::DraftVersion;
use model::error::{AppError, BadInput, ErrorCode};
use model::id::{BatchId, IntentId, InvalidId, ProjectId, TemplateId, optional};
use model::job::{Job, JobState};
use model::page_path::{self, Pages};
use model::time::Timestamp;
use store::jobs::batches::{JobsOfBatch, NewBatch, PreparedBatch};
use store::jobs::drafts::{DraftKey, Replaces};
use store::jobs::intents::NewIntent;

/// The draft subject of the form; the list of values is stored in the draft's pages.
const DRAFT: &str = "batch";

/// The maximum length of the list of values, in bytes.
const LIST_MAX: usize = 128 * 1024;

/// The maximum number of paths of a batch that are looked up as pages of open pull requests.
const LOOKED_UP_MAX: usize = 1_000;

/// The form of a batch; its texts are as typed.
pub struct BatchRequest {
    pub project: ProjectId,
    pub text: String,
    pub values: String,
    /// The template that the text came from.
    pub template: Option<TemplateId>,
}

/// A prompt of a batch, from a line of its list.
struct Line {
    number: usize,
    prompt: Prompt,
    pages: Pages,
}

impl Jobs {
    /// Stores a valid batch for preview and start, and removes its draft; nothing is queued yet. The same intent returns the same batch.
    pub async fn prepare_batch(
        &self,
        caller: &Caller,
        request: &BatchRequest,
        intent: &IntentId,
    ) -> Result<Batch, AppError> {
        let [text, values] = [&request.text, &request.values].map(|text| stored_text(text));
        self.lines(&request.project, &text, &values).await?;
        if let Some(template) = &request.template {
            self.must_be_a_template(&request.project, template).await?;
        }
        let new = NewBatch {
            project: &request.project,
            author_id: &caller.user.id,
            intent,
            template: &text,
            template_id: request.template.as_ref(),
            list: &values,
        };
        let prepared = self.store.prepare_batch(caller.authority(), &new).await?;
        let prepared = prepared.ok_or_else(AppError::internal)?;
        let is_same = prepared.template == text
            && prepared.list == values
            && prepared.template_id.as_ref() == request.template.as_ref();
        if prepared.project != request.project || !is_same {
            return Err(AppError::new(
                ErrorCode::IntentReused,
                "This form was already sent with another text. Reload the page to send a new one.",
            ));
        }
        let draft = draft_key(caller, &request.project);
        if let Err(error) = self.store.drop_draft(caller.authority(), draft, Replaces::Any, None).await {
            tracing::warn!(%error, "the draft of a prepared batch could not be removed");
        }
        self.shown(prepared).await
    }

    /// Puts all prompts of a batch in the queue, once.
    pub async fn start_batch(
        &self,
        caller: &Caller,
        project: &ProjectId,
        batch: &BatchId,
    ) -> Result<Batch, AppError> {
        let prepared = self.prepared(project, batch).await?;
        let lines = self.lines(project, &prepared.template, &prepared.list).await?;
        let prompts = lines.into_iter().map(|line| line.of_batch(&prepared)).collect::<Result<_, _>>()?;
        let prompts = self.all_with_mentioned_pages(project, prompts).await?;
        self.store.start_batch(caller.authority(), &prepared, &prompts, self.queue_max()).await?;
        match self.batch(project, batch).await {
            Err(error) if prepared.started_at.is_none() => {
                tracing::warn!(%batch, %error, "a started batch could not be read");
                Ok(as_started(prepared, prompts.len(), self.clock.now()))
            }
            batch => batch,
        }
    }

    pub async fn batch(&self, project: &ProjectId, batch: &BatchId) -> Result<Batch, AppError> {
        let prepared = self.prepared(project, batch).await?;
        self.shown(prepared).await
    }

    /// Cancels the prompts that are still queued.
    pub async fn cancel_batch(
        &self,
        caller: &Caller,
        project: &ProjectId,
        batch: &BatchId,
    ) -> Result<Batch, AppError> {
        let prepared = self.prepared(project, batch).await?;
        let waiting = self.store.queued_of_batch(&prepared.id).await?;
        let reason = cancelled_by(caller);
        self.store.cancel(caller.authority(), project, &waiting, &reason).await?;
        self.announce_outcome();
        self.shown(prepared).await
    }

    /// The initial values of the form: those of another batch, or an invalid draft with the reason.
    pub async fn batch_form(
        &self,
        caller: &Caller,
        project: &ProjectId,
        from: Option<&BatchId>,
    ) -> Result<BatchForm, AppError> {
        let intent = new_intent()?;
        if let Some(from) = from {
            let earlier = self.prepared(project, from).await?;
            let (text, values, template) = (earlier.template, earlier.list, earlier.template_id);
            return Ok(BatchForm { intent, text, values, template, problem: None });
        }
        let Some(saved_draft) = self.store.draft(draft_key(caller, project)).await? else {
            let (text, values) = (String::new(), String::new());
            return Ok(BatchForm { intent, text, values, template: None, problem: None });
        };
        let DraftVersion { text, paths: values, template, .. } = saved_draft;
        let problem = self.lines(project, &text, &values).await.err().map(|error| error.to_string());
        Ok(BatchForm { intent, text, values, template: optional(Some(&template))?, problem })
    }

    async fn prepared(&self, project: &ProjectId, batch: &BatchId) -> Result<PreparedBatch, AppError> {
        let prepared = self.store.batch(project, batch).await?;
        prepared.ok_or_else(|| AppError::not_found("That batch does not exist in this project."))
    }

    async fn shown(&self, prepared: PreparedBatch) -> Result<Batch, AppError> {
        let is_started = prepared.started_at.is_some();
        // The whole prompts are rendered again at the start, not for each preview.
        let (preview, unfilled) = match is_started {
            true => (Vec::new(), Vec::new()),
            false => {
                let (text, list) = (&prepared.template, &prepared.list);
                (batch::preview(text, list), batch::unfilled(text, list))
            }
        };
        let changed_pages = match is_started {
            true => Vec::new(),
            false => {
                let project = &prepared.project;
                let written = self.pages_in(&prepared).await;
                let known = self.store.known_pages(project, &written).await?;
                self.changed_pages(project, &written.iter().filter_map(|path| known.page(path)).collect())
                    .await?
            }
        };
        let lines = if is_started { Vec::new() } else { self.preview_lines(&prepared).await? };
        let JobsOfBatch { jobs, retries } = self.store.jobs_of_batch(&prepared.id).await?;
        let in_batch = retries.iter().filter(|(_, batch)| batch.as_ref() == Some(&prepared.id));
        let retried: Vec<_> = in_batch.map(|(job, _)| job.clone()).collect();
        let batch = slice::from_ref(&prepared.id);
        let progress = self.store.progress_of(batch).await?.remove(&prepared.id).unwrap_or_default();
        let is_failed = |job: &&Job| matches!(job.state, JobState::Failed | JobState::Rejected);
        let is_retried = |job: &&Job| retries.iter().any(|(retried, _)| *retried == job.id);
        let retryable = jobs.iter().filter(is_failed).filter(|job| !is_retried(job));
        let retryable = retryable.map(|job| job.id.clone()).collect();
        let expected_end = match is_started {
            true => {
                let queue = self.queue(&prepared.project).await?;
                let of_batch =
                    queue.waiting.iter().filter(|waiting| waiting.batch.as_ref() == Some(&prepared.id));
                of_batch.filter_map(|waiting| waiting.expected_at).max()
            }
            false => self.last_of(&prepared.project, preview.len()).await?,
        };
        let usual_millis = match is_started {
            true => None,
            false => self.store.usual_millis(&prepared.project, prepared.template_id.as_ref()).await?,
        };
        let total = if is_started { progress.jobs } else { preview.len() as u64 };
        Ok(Batch {
            next: None,
            expected_end,
            usual_millis,
            total: total as u32,
            preview,
            lines,
            unfilled,
            changed_pages,
            jobs,
            retried,
            retryable,
            sent: progress.sent() as u32,
            waiting: progress.queued as u32,
            progress,
            id: prepared.id,
            project: prepared.project,
            name: batch::name(prepared.name, &prepared.template, total),
            author: prepared.author,
            text: prepared.template,
            created_at: prepared.created_at,
            started_at: prepared.started_at,
        })
    }

    /// The paths that the prompts of a prepared batch are about, at most [`LOOKED_UP_MAX`].
    async fn pages_in(&self, prepared: &PreparedBatch) -> Vec<String> {
        let (jobs, project) = (self.clone(), prepared.project.clone());
        let (text, list) = (prepared.template.clone(), prepared.list.clone());
        let find = move || {
            let entries = batch::entries(&text, &list, usize::MAX).unwrap_or_default();
            let pages = entries.iter().flat_map(|entry| {
                let page = jobs.paths_in(&project, entry.page.as_deref().unwrap_or_default());
                let typed = page_path::single(&page).unwrap_or_default();
                Vec::from(page_path::of_job(typed, jobs.found_in(&project, &entry.prompt)))
            });
            let different: BTreeSet<String> = pages.collect();
            different.into_iter().take(LOOKED_UP_MAX).collect()
        };
        blocking::run(usize::MAX, find).await
    }

    /// When the last of `count` new prompts behind the queue would be sent.
    async fn last_of(&self, project: &ProjectId, count: usize) -> Result<Option<Timestamp>, AppError> {
        let scope = Scope::of_message(project, 0);
        let waiting = self.governor.waiting(&scope).await? as usize;
        let (_, times) = self.governor.queue_forecast(&scope, waiting + count).await?;
        Ok(times.last().copied())
    }

    /// Saves the texts of the form as the caller's draft before they are checked.
    pub async fn save_batch_draft(&self, caller: &Caller, request: &BatchRequest) -> Result<(), AppError> {
        let (text, values) = (&request.text, &request.values);
        if text.contains('\0') || values.contains('\0') || (text.is_empty() && values.is_empty()) {
            return Ok(());
        }
        let prompt = BatchPrompt { text: text.clone(), template: request.template.clone() };
        self.save_batch_form(caller, request, prompt).await
    }

    /// The prompts of a batch, each parsed like a single typed prompt.
    async fn lines(&self, project: &ProjectId, text: &str, values: &str) -> Result<Vec<Line>, BatchError> {
        if values.len() > LIST_MAX {
            return Err(BatchError::ListTooLong);
        }
        let most = self.prompt_max();
        let text = Prompt::parse(text, most).map_err(BatchError::Text)?;
        // Many long prompts take time.
        let (jobs, project, values) = (self.clone(), project.clone(), values.to_owned());
        let pages_of = move |page: &str| Ok(page_path::single(&jobs.paths_in(&project, page))?);
        blocking::run(usize::MAX, move || lines(text.as_str(), &values, most, pages_of)).await
    }
}

/// Why a batch cannot be prepared.
#[derive(Debug, Error)]
enum BatchError {
    #[error("The list of values is longer than {LIST_MAX} bytes.")]
    ListTooLong,
    #[error("{0}")]
    Text(PromptError),
    #[error("{0}")]
    List(ListError),
    #[error("A batch cannot contain a NUL character. Remove it.")]
    Nul,
    #[error("A batch’s name has at most {NAME_MAX_CHARS} visible characters.")]
    Name,
    #[error("Line {line}: {error}")]
    Line { line: usize, error: AppError },
}

impl BadInput for BatchError {}

impl Line {
    fn parse(
        entry: &Entry,
        most: u32,
        pages_of: impl Fn(&str) -> Result<Pages, AppError>,
    ) -> Result<Self, AppError> {
        let prompt = Prompt::parse(&entry.prompt, most)?;
        let pages = pages_of(entry.page.as_deref().unwrap_or_default())?;
        Ok(Self { number: entry.line, prompt, pages })
    }

    /// The same line of a batch has the same intent, so that its job is started once.
    fn of_batch(self, batch: &PreparedBatch) -> Result<NewIntent, InvalidId> {
        let intent = format!("{}-{}", batch.id, self.number).parse()?;
        Ok(batch.job(intent, self.prompt, self.pages, None))
    }
}

fn lines(
    text: &str,
    values: &str,
    most: u32,
    pages_of: impl Fn(&str) -> Result<Pages, AppError>,
) -> Result<Vec<Line>, BatchError> {
    let entries = batch::entries(text, values, most as usize).map_err(BatchError::List)?;
    let parsed = entries.iter().map(|entry| {
        Line::parse(entry, most, &pages_of).map_err(|error| BatchError::Line { line: entry.line, error })
    });
    parsed.collect()
}

/// A batch whose prompts were just queued, without reading its jobs.
fn as_started(prepared: PreparedBatch, jobs: usize, now: Timestamp) -> Batch {
    let mut progress = Progress::default();
    progress.add(JobState::Queued, jobs as u64);
    Batch {
        name: batch::name(prepared.name, &prepared.template, jobs as u64),
        id: prepared.id,
        project: prepared.project,
        author: prepared.author,
        text: prepared.template,
        created_at: prepared.created_at,
        started_at: Some(now),
        total: jobs as u32,
        sent: 0,
        waiting: progress.queued as u32,
        progress,
        expected_end: None,
        usual_millis: None,
        preview: Vec::new(),
        lines: Vec::new(),
        unfilled: Vec::new(),
        changed_pages: Vec::new(),
        jobs: Vec::new(),
        retried: Vec::new(),
        retryable: Vec::new(),
        next: None,
    }
}

fn draft_key<'a>(caller: &'a Caller, project: &'a ProjectId) -> DraftKey<'a> {
    DraftKey { user_id: &caller.user.id, project, subject: DRAFT }
}
