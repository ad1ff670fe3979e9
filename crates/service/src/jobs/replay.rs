//! Requests that a script repeats: with the same idempotency key they get the first answer, whatever changed since. The key is looked up before a
//! template is loaded or a text is checked.

use std::collections::{BTreeMap, BTreeSet};

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest, Sha256};

use crate::jobs::Jobs;
use crate::jobs::submitted::Submitted;
use base::nfc::stored_text;
use model::error::{AppError, ErrorCode};
use model::id::{IntentId, JobId, ProjectId, TemplateId};
use store::StoreError;
use store::jobs::intents::{Intent, NewIntent, Subject};

/// What a script sent.
#[derive(Clone, Copy)]
pub struct ScriptRequest<'a> {
    pub project: &'a ProjectId,
    /// The job to follow up; `None` for a new job.
    pub job: Option<&'a str>,
    pub prompt: Option<&'a str>,
    pub template: Option<ScriptTemplate<'a>>,
    pub pages: &'a [String],
    pub tags: &'a [String],
    /// The job that a new job retries.
    pub retry_of: Option<&'a str>,
    /// Whether the prompt may be queued.
    pub queue: bool,
}

/// The template of a request: its id or its name, and the values of its placeholders.
#[derive(Clone, Copy)]
pub struct ScriptTemplate<'a> {
    pub id: Option<&'a str>,
    pub name: Option<&'a str>,
    pub values: &'a BTreeMap<String, String>,
}

impl ScriptRequest<'_> {
    /// The hash of what identifies it: the prompt or the template, and what it is for. Texts that look the same have the same hash.
    pub fn hash(&self) -> String {
        digest(&json!([self.project, self.job, self.prompt.map(stored_text), self.template_as_json()]))
    }

    /// The hash of all of it.
    pub fn body_hash(&self) -> String {
        self.hash_from(self.retry_of.map(|job| [None, Some(job)]))
    }

    /// `form`: the template that filled in a form, and the job that it retries.
    fn hash_from(&self, form: Option<[Option<&str>; 2]>) -> String {
        let (prompt, template) = (self.prompt.map(stored_text), self.template_as_json());
        let [pages, tags] = [self.pages, self.tags].map(set_of);
        digest(&json!([self.project, self.job, prompt, template, pages, tags, self.queue, form]))
    }

    fn template_as_json(&self) -> Option<Value> {
        self.template.map(|ScriptTemplate { id, name, values }| {
            json!([id, name.map(stored_text), stored_values(values)])
        })
    }

    /// Whether `earlier` is the intent of the same request. The order of two requests makes no difference.
    fn repeats(&self, earlier: &Intent) -> bool {
        match &earlier.body_hash {
            Some(hash) => *hash == self.body_hash(),
            None => hash_of(earlier) == self.hash(),
        }
    }
}

/// Values of placeholders, as they are compared.
pub(super) fn stored_values(values: &BTreeMap<String, String>) -> BTreeMap<String, String> {
    values.iter().map(|(name, value)| (stored_text(name), stored_text(value))).collect()
}

pub(super) fn digest(parts: &Value) -> String {
    URL_SAFE_NO_PAD.encode(Sha256::digest(parts.to_string()))
}

/// Pages and tags have no order.
fn set_of(texts: &[String]) -> BTreeSet<String> {
    texts.iter().map(|text| stored_text(text)).collect()
}

/// Whether the prompt that is submitted is that of `earlier`, an intent with the same id.
pub(super) fn is_repeated(new: &NewIntent, earlier: &Intent) -> bool {
    match (&new.body_hash, &earlier.body_hash) {
        (Some(new), Some(earlier)) => new == earlier,
        _ => hash_of_new(new) == hash_of(earlier),
    }
}

/// The hash of all that was submitted by a form. Without a template and a retry, a script that sends the same has the same hash. Whether it may be
/// queued is no part of it: a person may choose that later.
pub(super) fn hash_of_form(new: &NewIntent) -> String {
    let job = new.followed_up().map(JobId::as_str);
    let template = match &new.subject {
        Subject::NewJob { template, .. } => template.as_ref().map(TemplateId::as_str),
        Subject::FollowUp(_) => None,
    };
    let form = [template, new.retry_of().map(JobId::as_str)];
    let request = ScriptRequest { pages: &new.pages, ..of_text(&new.project, job, new.prompt.as_str()) };
    request.hash_from(Some(form).filter(|form| form.iter().any(Option::is_some)))
}

/// The hash of the request that an intent was created by. That of a form is the hash of its text, also if the text was filled in from a template.
fn hash_of(intent: &Intent) -> String {
    let job = (intent.position > 0).then_some(intent.job.as_str());
    let stored = intent.request_hash.clone();
    stored.unwrap_or_else(|| hash_of_text(&intent.project, job, &intent.prompt))
}

/// The hash of the request of a prompt that is submitted.
fn hash_of_new(new: &NewIntent) -> String {
    let sent = new.request_hash.clone();
    let job = new.followed_up().map(JobId::as_str);
    sent.unwrap_or_else(|| hash_of_text(&new.project, job, new.prompt.as_str()))
}

/// The hash of a request without a template.
fn hash_of_text(project: &ProjectId, job: Option<&str>, prompt: &str) -> String {
    of_text(project, job, prompt).hash()
}

/// A request with nothing but a prompt.
fn of_text<'a>(project: &'a ProjectId, job: Option<&'a str>, prompt: &'a str) -> ScriptRequest<'a> {
    let (pages, tags) = (&[], &[]);
    ScriptRequest {
        project,
        job,
        prompt: Some(prompt),
        template: None,
        pages,
        tags,
        retry_of: None,
        queue: false,
    }
}

impl Jobs {
    /// The job of an earlier request of this author with the same key, after its delivery; `None` if there was none.
    ///
    /// # Errors
    /// If the key belongs to another request.
    pub async fn first_answer(
        &self,
        author_id: &str,
        key: &IntentId,
        request: &ScriptRequest<'_>,
    ) -> Result<Option<Submitted>, AppError> {
        let Some(earlier) = self.store.find_intent(author_id, key).await.map_err(not_looked_up)? else {
            let is_removed = self.store.is_removed_intent(author_id, key.as_str()).await?;
            return if is_removed { Err(removed()) } else { Ok(None) };
        };
        match request.repeats(&earlier) {
            true => Ok(Some(self.replay(earlier).await?)),
            false => Err(used()),
        }
    }
}

pub(super) fn used() -> AppError {
    AppError::new(
        ErrorCode::IntentReused,
        "This idempotency key was already used for another request: its project, its job or its body differs. Send a new request with a new key.",
    )
}

/// Whether an earlier request with the key sent the prompt is not known.
pub(super) fn not_looked_up(error: StoreError) -> AppError {
    let error = AppError::from(error);
    match error.code {
        ErrorCode::DatabaseUnavailable => AppError {
            message: "Docket’s database is unavailable. Send the request again with the same key: no prompt is sent twice.".to_owned(),
            ..error
        },
        _ => error,
    }
}

pub(super) fn removed() -> AppError {
    AppError::new(
        ErrorCode::IntentReused,
        "This idempotency key was used long ago, and its job has been removed since. Send the prompt with a new key.",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hash_depends_on_what_identifies_a_request() {
        let (docs, api): (ProjectId, ProjectId) =
            ("docs".parse().expect("an id"), "api".parse().expect("an id"));
        let (values, others) = (BTreeMap::from([("page".to_owned(), "é".to_owned())]), BTreeMap::new());
        let request = of_text(&docs, None, "Fix\né");
        let by_id = |id, values| Some(ScriptTemplate { id: Some(id), name: None, values });
        let by_name = |name| Some(ScriptTemplate { id: None, name: Some(name), values: &values });
        let template = by_id("1", &values);
        let different = [
            ScriptRequest { project: &api, ..request },
            ScriptRequest { job: Some("1"), ..request },
            ScriptRequest { prompt: None, ..request },
            ScriptRequest { prompt: Some("Fix"), ..request },
            ScriptRequest { template, ..request },
            ScriptRequest { template: by_id("2", &values), ..request },
            ScriptRequest { template: by_id("1", &others), ..request },
            ScriptRequest { template: by_name("1"), ..request },
            ScriptRequest { template: by_name("2"), ..request },
            ScriptRequest { template, prompt: None, ..request },
        ];
        let hashes: std::collections::BTreeSet<String> =
            different.iter().chain([&request]).map(ScriptRequest::hash).collect();
        assert_eq!(hashes.len(), different.len() + 1);
        let decomposed = BTreeMap::from([("page".to_owned(), "e\u{301}".to_owned())]);
        let same =
            ScriptRequest { prompt: Some("Fix\r\ne\u{301}"), template: by_id("1", &decomposed), ..request };
        assert_eq!(same.hash(), ScriptRequest { template, ..request }.hash());

        let lists = [vec!["/a".to_owned()], vec!["/a".to_owned(), "/é".to_owned()]];
        let bodies = lists.iter().flat_map(|list| {
            let pages = ScriptRequest { pages: list, ..request };
            let tags = ScriptRequest { tags: list, ..request };
            let retry = ScriptRequest { retry_of: list.last().map(String::as_str), ..request };
            [pages, tags, retry, ScriptRequest { queue: true, ..pages }]
        });
        let bodies: Vec<_> = bodies.chain([request]).chain(different).collect();
        let hashes: BTreeSet<String> = bodies.iter().map(ScriptRequest::body_hash).collect();
        assert_eq!(hashes.len(), bodies.len());
        let reversed = ["/e\u{301}".to_owned(), "/a".to_owned(), "/a".to_owned()];
        let [same, pages] = [&reversed[..], &lists[1]].map(|pages| ScriptRequest { pages, ..request });
        assert_eq!(same.body_hash(), pages.body_hash());
        assert_eq!(same.hash(), request.hash(), "as in versions before");
    }
}
