//! From a posted form to a committed intent, and the same answer to the same form again.
//! Must not send: it commits, hands over to the delivery, and waits for its end.

use std::time::Duration;

use crate::error::{AppError, ErrorCode};
use crate::model::id::{IntentId, JobId, ProjectId};
use crate::model::job::{Job, PROMPT_MAX_CHARS};
use crate::server::auth::guard::Caller;
use crate::server::jobs::Jobs;
use crate::server::store::StoreError;
use crate::server::store::intents::{Intent, NewIntent};
use crate::server::upstream::governor::Scope;

/// The longest path of a page, in characters, and the most pages of a job.
const PATH_MAX_CHARS: usize = 500;
const PATHS_MAX: usize = 50;

/// How often somebody who waits for the end of a delivery looks, if nothing is heard of it.
const LOOK_AGAIN: Duration = Duration::from_millis(500);

/// A form as posted: nothing in it is checked but the project.
pub struct Form {
    pub author_id: String,
    pub project: ProjectId,
    /// The job to follow up; nothing to start one.
    pub job: Option<String>,
    pub prompt: String,
    pub intent: String,
    /// Separated by commas or line ends.
    pub paths: Option<String>,
}

/// A form that makes sense.
struct Request {
    job: Option<JobId>,
    intent: IntentId,
    prompt: String,
    paths: Vec<String>,
}

impl Form {
    pub fn new_job(
        caller: &Caller,
        project: ProjectId,
        prompt: String,
        intent: String,
        paths: Option<String>,
    ) -> Self {
        Self { author_id: caller.user.id.clone(), project, job: None, prompt, intent, paths }
    }

    pub fn follow_up(
        caller: &Caller,
        project: ProjectId,
        job: String,
        prompt: String,
        intent: String,
    ) -> Self {
        Self { author_id: caller.user.id.clone(), project, job: Some(job), prompt, intent, paths: None }
    }

    fn parse(&self) -> Result<Request, AppError> {
        Ok(Request {
            job: self.job.as_deref().map(str::parse).transpose().map_err(AppError::bad_input)?,
            intent: self.intent.parse().map_err(AppError::bad_input)?,
            prompt: prompt(&self.prompt)?,
            paths: paths(self.paths.as_deref().unwrap_or_default())?,
        })
    }
}

impl Jobs {
    /// Takes a form on: commits it as an intent, has it sent, and gives the job with whatever came of that.
    /// The same intent again gives the same answer and sends nothing. Text that could not be taken on is
    /// kept as the author's draft.
    pub async fn submit(&self, form: Form) -> Result<Job, AppError> {
        let outcome = self.take_on(&form).await;
        let subject = form.job.as_deref().unwrap_or_default();
        let draft = match &outcome {
            Ok(_) => self.store.drop_draft(&form.author_id, &form.project, subject).await,
            Err(_) if !may_be_kept(&form) => Ok(()),
            Err(_) => {
                let (author, now) = (&form.author_id, self.clock.now());
                self.store.keep_draft(author, &form.project, subject, &form.prompt, now).await
            }
        };
        if let Err(error) = draft {
            tracing::warn!(%error, "a draft could not be written");
        }
        outcome
    }

    async fn take_on(&self, form: &Form) -> Result<Job, AppError> {
        let request = form.parse()?;
        if let Some(earlier) = self.store.find_intent(&form.author_id, &request.intent).await? {
            return self.answer(form, &request, earlier).await;
        }
        if let Some(job) = &request.job {
            self.must_take_follow_ups(&form.project, job).await?;
        }
        let position = i64::from(request.job.is_some());
        self.governor.check(&Scope::of_message(&form.project, position)).await?;
        let new = NewIntent {
            project: &form.project,
            job: request.job.as_ref(),
            author_id: &form.author_id,
            intent: &request.intent,
            prompt: &request.prompt,
            paths: &request.paths,
        };
        if let Some(message_id) = self.store.insert_intent(new, self.clock.now()).await? {
            self.start_delivery(message_id);
        }
        // Where the same form came twice at once, this finds the other one's intent.
        let intent = self.store.find_intent(&form.author_id, &request.intent).await.map_err(taken_on)?;
        let intent = intent.ok_or_else(|| AppError::not_found("That intent does not exist."))?;
        self.answer(form, &request, intent).await
    }

    /// The answer that belongs to an intent, once its delivery has ended.
    async fn answer(&self, form: &Form, request: &Request, intent: Intent) -> Result<Job, AppError> {
        let same_job = match &request.job {
            None => intent.position == 0,
            Some(job) => intent.position > 0 && *job == intent.job,
        };
        if intent.project != form.project || intent.prompt != request.prompt || !same_job {
            return Err(AppError::new(
                ErrorCode::IntentReused,
                "This form was sent before with another text, and that text is what counts. Reload the page to send a new one.",
            ));
        }
        self.wait_until_settled(&intent).await.map_err(taken_on)?;
        let job = self.store.job(&intent.project, &intent.job).await.map_err(taken_on)?;
        job.ok_or_else(|| AppError::not_found("That job does not exist."))
    }

    /// Waits while the message is on its way, at most as long as a delivery can take.
    async fn wait_until_settled(&self, intent: &Intent) -> Result<(), StoreError> {
        let mut settled = self.settled.subscribe();
        let deadline = tokio::time::Instant::now() + self.timing.exchange + Duration::from_secs(5);
        loop {
            settled.borrow_and_update();
            // A message that waits for budget may wait an hour, and nobody waits with it.
            let on_its_way = self.store.is_on_its_way(&intent.message_id, self.clock.now()).await?;
            let now = tokio::time::Instant::now();
            if !on_its_way || now >= deadline {
                return Ok(());
            }
            // Another process on the same database says nothing here when it has delivered.
            let _ = tokio::time::timeout_at(deadline.min(now + LOOK_AGAIN), settled.changed()).await;
        }
    }

    async fn must_take_follow_ups(&self, project: &ProjectId, job: &JobId) -> Result<(), AppError> {
        let job = self.store.job(project, job).await?;
        let job = job.ok_or_else(|| AppError::not_found("That job does not exist in this project."))?;
        match job.remote {
            Some(_) => Ok(()),
            None => Err(AppError::bad_input(
                "The platform has not taken this job, so there is nothing to follow up yet.",
            )),
        }
    }
}

/// A prompt as it is sent: 1 to [`PROMPT_MAX_CHARS`] characters, line ends as `\n`.
fn prompt(text: &str) -> Result<String, AppError> {
    let text = text.replace("\r\n", "\n");
    if text.trim().is_empty() {
        return Err(AppError::bad_input("Write what the agent should do: the prompt is empty."));
    }
    if text.contains('\0') {
        return Err(AppError::bad_input(
            "The prompt contains a NUL character, which cannot be sent. Remove it.",
        ));
    }
    let length = text.chars().count();
    if length > PROMPT_MAX_CHARS {
        return Err(AppError::bad_input(format!(
            "The prompt has {length} characters; at most {PROMPT_MAX_CHARS} can be sent. Shorten it."
        )));
    }
    Ok(text)
}

fn paths(text: &str) -> Result<Vec<String>, AppError> {
    let paths: Vec<String> =
        text.split([',', '\n']).map(str::trim).filter(|path| !path.is_empty()).map(str::to_owned).collect();
    if paths.len() > PATHS_MAX {
        return Err(AppError::bad_input(format!("A job can be about at most {PATHS_MAX} pages.")));
    }
    if paths.iter().any(|path| path.chars().count() > PATH_MAX_CHARS || path.chars().any(char::is_control)) {
        return Err(AppError::bad_input(format!(
            "A page's path has at most {PATH_MAX_CHARS} characters, and no control characters."
        )));
    }
    Ok(paths)
}

/// What somebody is told whose prompt is committed: who took it for lost would send it twice.
fn taken_on(error: StoreError) -> AppError {
    let message = "Docket's database did not answer, but your prompt had been taken on. Look for it in the list of jobs before you send it again.";
    AppError { message: message.to_owned(), ..error.into() }
}

/// Whether the text is worth keeping, and small enough to.
fn may_be_kept(form: &Form) -> bool {
    let subject_is_an_id = form.job.as_deref().is_none_or(|job| job.parse::<JobId>().is_ok());
    subject_is_an_id && !form.prompt.trim().is_empty() && !form.prompt.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_prompt_has_1_to_32768_characters_of_any_script() {
        assert!(prompt("").is_err() && prompt(" \r\n\t").is_err() && prompt("a\0b").is_err());
        assert_eq!(prompt("修正\r\nしてください").as_deref(), Ok("修正\nしてください"));
        assert!(prompt(&"é".repeat(PROMPT_MAX_CHARS)).is_ok());
        assert!(prompt(&"é".repeat(PROMPT_MAX_CHARS + 1)).is_err());
    }

    #[test]
    fn pages_are_separated_by_commas_or_line_ends() {
        assert_eq!(
            paths(" /a, /b\r\n\n/c ,").as_deref(),
            Ok(&["/a".to_owned(), "/b".to_owned(), "/c".to_owned()][..])
        );
        assert!(paths(&"/x,".repeat(PATHS_MAX + 1)).is_err());
        assert!(paths("/a\u{7}").is_err());
    }
}
