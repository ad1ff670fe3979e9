//! A request to the API, before it is sent.

use reqwest::Method;
use serde_json::Value;

use crate::idempotency_key::IdempotencyKey;

/// A request to `/api/v1`.
pub(super) struct ApiRequest<'a> {
    pub(super) method: Method,
    /// The segments of the path after `/api/v1`.
    pub(super) path: Vec<&'a str>,
    pub(super) query: Vec<(&'a str, String)>,
    pub(super) body: Option<Value>,
    pub(super) idempotency_key: Option<&'a IdempotencyKey>,
}

impl<'a> ApiRequest<'a> {
    pub(super) fn get(path: &[&'a str]) -> Self {
        Self {
            method: Method::GET,
            path: path.to_vec(),
            query: Vec::new(),
            body: None,
            idempotency_key: None,
        }
    }

    pub(super) fn post(path: &[&'a str]) -> Self {
        Self { method: Method::POST, ..Self::get(path) }
    }

    /// With a field of the query string, if it has a value.
    pub(super) fn with(mut self, name: &'a str, value: Option<impl ToString>) -> Self {
        self.query.extend(value.map(|value| (name, value.to_string())));
        self
    }

    /// With a body, whose effect happens once for each key.
    pub(super) fn with_body(self, body: Value, idempotency_key: &'a IdempotencyKey) -> Self {
        Self { body: Some(body), idempotency_key: Some(idempotency_key), ..self }
    }

    /// With a body whose effect happens once without a key, too.
    pub(super) fn with_repeatable_body(self, body: Value) -> Self {
        Self { body: Some(body), ..self }
    }

    pub(super) fn is_change(&self) -> bool {
        self.method != Method::GET
    }

    /// Whether Docket may have sent this to answer it. Each change is one of a job.
    pub(super) fn is_answered_by(&self, body: &Value) -> bool {
        let is_of_job = matches!(self.path[..], ["projects", _, "jobs", _, ..]);
        match self.is_change() || is_of_job {
            true => body["id"].is_string(),
            false => body.is_object(),
        }
    }

    /// Whether it sends a prompt that could be queued, and is not to be.
    pub(super) fn refuses_the_queue(&self) -> bool {
        self.body.as_ref().is_some_and(|body| body["queue"] == false)
    }

    /// What to do if its end is unknown. It is safe: with the same key, nothing is sent twice, and what is cancelled stays cancelled.
    pub(super) fn how_to_repeat(&self) -> String {
        self.idempotency_key.map_or_else(|| "repeat the command".to_owned(), IdempotencyKey::how_to_repeat)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn answer_is_an_object_and_names_the_job_it_is_about() {
        let (list, job) = (ApiRequest::get(&["projects", "docs", "jobs"]), ["projects", "docs", "jobs", "1"]);
        let (show, cancel) = (ApiRequest::get(&job), ApiRequest::post(&job));
        let start = ApiRequest::post(&["projects", "docs", "jobs"]);
        for (body, answers_list, answers_job) in [
            (json!({"id": "1"}), true, true),
            (json!({"jobs": []}), true, false),
            (json!({"id": null}), true, false),
            (json!({}), true, false),
            (json!([{"id": "1"}]), false, false),
            (json!("ok"), false, false),
            (json!(1), false, false),
            (Value::Null, false, false),
        ] {
            assert_eq!(list.is_answered_by(&body), answers_list, "{body}");
            for request in [&show, &cancel, &start] {
                assert_eq!(request.is_answered_by(&body), answers_job, "{body}");
            }
        }
    }
}
