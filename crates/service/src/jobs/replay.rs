//! Requests that a script repeats: with the same idempotency key they get the first answer, whatever changed since. The key is looked up before a
//! template is loaded or a text is checked.

use std::collections::BTreeMap;

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::json;
use sha2::{Digest, Sha256};

use crate::jobs::Jobs;
use base::nfc::stored_text;
use model::error::{AppError, ErrorCode};
use model::id::{IntentId, JobId, ProjectId};
use model::job::Job;
use store::jobs::intents::{Intent, NewIntent};

/// What a script sent, as far as it identifies the request. Tags, pages and queueing are how it is done: a repeated request does not change them.
pub struct ScriptRequest<'a> {
    pub project: &'a ProjectId,
    /// The job to follow up; `None` for a new job.
    pub job: Option<&'a str>,
    pub prompt: Option<&'a str>,
    pub template: Option<ScriptTemplate<'a>>,
}

/// The template of a request: its id or its name, and the values of its placeholders.
#[derive(Clone, Copy)]
pub struct ScriptTemplate<'a> {
    pub id: Option<&'a str>,
    pub name: Option<&'a str>,
    pub values: &'a BTreeMap<String, String>,
}

impl ScriptRequest<'_> {
    /// The stored hash. Texts that look the same have the same hash.
    pub fn hash(&self) -> String {
        let template = self.template.map(|ScriptTemplate { id, name, values }| {
            let values: BTreeMap<_, _> =
                values.iter().map(|(name, value)| (stored_text(name), stored_text(value))).collect();
            json!([id, name.map(stored_text), values])
        });
        let parts = json!([self.project, self.job, self.prompt.map(stored_text), template]);
        URL_SAFE_NO_PAD.encode(Sha256::digest(parts.to_string()))
    }

    /// Whether `earlier` is the intent of the same request. The order of two requests makes no difference.
    fn repeats(&self, earlier: &Intent) -> bool {
        hash_of(earlier) == self.hash()
    }
}

/// The hash of the request that an intent was created by. That of a form is the hash of its text, also if the text was filled in from a template.
pub(super) fn hash_of(intent: &Intent) -> String {
    let job = (intent.position > 0).then_some(intent.job.as_str());
    let stored = intent.request_hash.clone();
    stored.unwrap_or_else(|| hash_of_text(&intent.project, job, &intent.prompt))
}

/// The hash of the request of a prompt that is submitted.
pub(super) fn hash_of_new(new: &NewIntent) -> String {
    let sent = new.request_hash.clone();
    let job = new.followed_up().map(JobId::as_str);
    sent.unwrap_or_else(|| hash_of_text(&new.project, job, new.prompt.as_str()))
}

/// The hash of a request without a template.
fn hash_of_text(project: &ProjectId, job: Option<&str>, prompt: &str) -> String {
    ScriptRequest { project, job, prompt: Some(prompt), template: None }.hash()
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
    ) -> Result<Option<Job>, AppError> {
        let Some(earlier) = self.store.find_intent(author_id, key).await? else {
            let is_removed = self.store.is_removed_intent(author_id, key.as_str()).await?;
            return if is_removed { Err(removed()) } else { Ok(None) };
        };
        match request.repeats(&earlier) {
            true => self.job_after_delivery(&earlier).await.map(Some),
            false => Err(used()),
        }
    }
}

pub(super) fn used() -> AppError {
    AppError::new(
        ErrorCode::IntentReused,
        "This idempotency key was already used for another request. Send a new prompt with a new key.",
    )
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
        let request = ScriptRequest { project: &docs, job: None, prompt: Some("Fix\né"), template: None };
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
    }
}
