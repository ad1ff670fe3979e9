//! Batches: prepared, previewed, started once, sent through the queue.

mod list;
mod template;
mod unstarted;

use std::collections::BTreeSet;

use thiserror::Error;

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::intent::{PromptError, page, prompt};
use crate::jobs::queue::cancelled_by;
use crate::jobs::templates::template_id;
use base::blocking;
use base::nfc::nfc;
use clients::upstream::governor::Scope;
use model::batch::{self, Batch, BatchForm, BatchPrompt, Entry, NAME_MAX_CHARS, Progress};
use model::draft::DraftVersion;
use model::error::{AppError, BadInput, ErrorCode};
use model::id::{BatchId, IntentId, ProjectId};
use model::job::{Job, JobState, cut, title};
use model::time::Timestamp;
use store::jobs::batches::{JobsOfBatch, NewBatch, PreparedBatch};
use store::jobs::drafts::{DraftKey, Replaces};

/// The draft subject of the form; the list of values is stored in the draft's pages.
const DRAFT: &str = "batch";

/// The maximum length of the list of values, in bytes.
const LIST_MAX: usize = 128 * 1024;

/// A submitted batch; only the project is validated.
pub struct BatchRequest {
    pub project: ProjectId,
    pub text: String,
    pub values: String,
    pub intent: String,
    /// The id of the template it came from; empty without one.
    pub template_id: Option<String>,
}

impl Jobs {
    /// Stores a valid batch for preview and start; nothing is queued yet. Invalid texts are saved as a draft. The same
    /// intent returns the same batch.
    pub async fn prepare_batch(&self, caller: &Caller, request: &BatchRequest) -> Result<Batch, AppError> {
        self.save_batch_draft(caller, request).await?;
        let intent: IntentId = request.intent.parse()?;
        let [text, values] =
            [&request.text, &request.values].map(|text| nfc(&text.replace("\r\n", "\n")).into_owned());
        self.checked(&text, &values).await?;
        let template = template_id(request.template_id.as_deref())?;
        if let Some(template) = &template {
            self.must_be_a_template(&request.project, template).await?;
        }
        let new = NewBatch {
            project: &request.project,
            author_id: &caller.user.id,
            intent: &intent,
            template: &text,
            template_id: template.as_ref(),
            list: &values,
        };
        let prepared = self.store.prepare_batch(caller.authority(), &new).await?;
        let prepared = prepared.ok_or_else(AppError::internal)?;
        let is_same = prepared.template == text && prepared.list == values;
        if prepared.project != request.project || !is_same {
            return Err(AppError::new(
                ErrorCode::IntentReused,
                "This form was already sent with another text. Reload the page to send a new one.",
            ));
        }
        self.store
            .drop_draft(caller.authority(), draft_key(caller, &request.project), Replaces::Any, None)
            .await?;
        self.shown(prepared).await
    }

    /// Puts all prompts of a batch in the queue, once.
    pub async fn start_batch(
        &self,
        caller: &Caller,
        project: &ProjectId,
        batch: &str,
    ) -> Result<Batch, AppError> {
        let prepared = self.prepared(project, batch).await?;
        let entries = self.checked(&prepared.template, &prepared.list).await?;
        let entries = self.with_pages(project, entries).await?;
        self.store.start_batch(caller.authority(), &prepared, &entries, self.queue_max()).await?;
        self.batch(project, batch).await
    }

    pub async fn batch(&self, project: &ProjectId, batch: &str) -> Result<Batch, AppError> {
        let prepared = self.prepared(project, batch).await?;
        self.shown(prepared).await
    }

    /// Cancels the prompts that are still queued.
    pub async fn cancel_batch(
        &self,
        caller: &Caller,
        project: &ProjectId,
        batch: &str,
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
        from: Option<&str>,
    ) -> Result<BatchForm, AppError> {
        let intent = uuid::Uuid::new_v4().to_string().parse()?;
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
        let problem = self.checked(&text, &values).await.err().map(|error| error.message);
        Ok(BatchForm { intent, text, values, template: template.parse().ok(), problem })
    }

    async fn prepared(&self, project: &ProjectId, batch: &str) -> Result<PreparedBatch, AppError> {
        let id: BatchId = batch.parse()?;
        let prepared = self.store.batch(project, &id).await?;
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
            false => self.changed_pages(&prepared.project, &pages_in(&prepared.list)).await?,
        };
        let JobsOfBatch { jobs, retries } = self.store.jobs_of_batch(&prepared.id).await?;
        let in_batch = retries.iter().filter(|(_, batch)| batch.as_ref() == Some(&prepared.id));
        let retried: Vec<_> = in_batch.map(|(job, _)| job.clone()).collect();
        let progress = Progress::of(jobs.iter().filter(|job| !retried.contains(&job.id)));
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
        Ok(Batch {
            next: None,
            expected_end,
            usual_millis,
            total: if is_started { progress.jobs } else { preview.len() as u64 } as u32,
            preview,
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
            name: prepared.name.unwrap_or_else(|| {
                let mut name = title(&prepared.template).to_owned();
                cut(&mut name);
                name
            }),
            author: prepared.author,
            text: prepared.template,
            created_at: prepared.created_at,
            started_at: prepared.started_at,
        })
    }

    /// When the last of `count` new prompts behind the queue would be sent.
    async fn last_of(&self, project: &ProjectId, count: usize) -> Result<Option<Timestamp>, AppError> {
        let waiting = self.store.waiting_prompts(project, false).await? as usize;
        let (_, times) =
            self.governor.queue_forecast(&Scope::of_message(project, 0), waiting + count).await?;
        Ok(times.last().copied())
    }

    async fn save_batch_draft(&self, caller: &Caller, request: &BatchRequest) -> Result<(), AppError> {
        let (text, values) = (&request.text, &request.values);
        if text.contains('\0') || values.contains('\0') || (text.is_empty() && values.is_empty()) {
            return Ok(());
        }
        let prompt =
            BatchPrompt { text: text.clone(), template: template_id(request.template_id.as_deref())? };
        self.save_batch_form(caller, request, prompt).await
    }

    /// The prompts of a batch, each validated like a single typed prompt.
    async fn checked(&self, text: &str, values: &str) -> Result<Vec<Entry>, AppError> {
        if values.len() > LIST_MAX {
            return Err(BatchError::ListTooLong.into());
        }
        prompt(text, self.prompt_max())?;
        // Many long prompts take time.
        let (text, values, most) = (text.to_owned(), values.to_owned(), self.prompt_max());
        Ok(blocking::run(usize::MAX, move || checked(&text, &values, most)).await?)
    }
}

/// Why a batch cannot be prepared.
#[derive(Debug, Error)]
enum BatchError {
    #[error("The list of values is longer than {LIST_MAX} bytes.")]
    ListTooLong,
    #[error("{0}")]
    List(String),
    #[error("A batch cannot contain a NUL character. Remove it.")]
    Nul,
    #[error("A batch's name has at most {NAME_MAX_CHARS} visible characters.")]
    Name,
    #[error("Line {line}: {error}")]
    Line { line: usize, error: PromptError },
}

impl BadInput for BatchError {}

fn checked(text: &str, values: &str, most: u32) -> Result<Vec<Entry>, BatchError> {
    let mut entries = batch::entries(text, values, most as usize).map_err(BatchError::List)?;
    for entry in &mut entries {
        let typed = prompt(&entry.prompt, most)
            .and_then(|prompt| {
                let pages = entry.paths.iter().filter_map(|path| page(path).transpose());
                Ok((prompt, pages.collect::<Result<_, _>>()?))
            })
            .map_err(|error| BatchError::Line { line: entry.line, error });
        let (prompt, paths) = typed?;
        entry.paths = paths;
        entry.prompt = prompt;
    }
    Ok(entries)
}

/// The values in a list that may be pages.
fn pages_in(list: &str) -> BTreeSet<&str> {
    let values = list.split([',', '\n', '\t', '"']).map(str::trim);
    values.filter(|value| value.starts_with('/')).collect()
}

fn draft_key<'a>(caller: &'a Caller, project: &'a ProjectId) -> DraftKey<'a> {
    DraftKey { user_id: &caller.user.id, project, subject: DRAFT }
}
