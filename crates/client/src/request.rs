//! A request to the API, before it is sent.

use reqwest::Method;
use serde_json::Value;

use crate::config::Misconfigured;
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

/// An id from the command line.
pub(super) fn id(text: &str) -> Result<String, String> {
    if is_step(text) { Err("it is no id".to_owned()) } else { Ok(text.to_owned()) }
}

/// Whether a segment of a path is none for the parser of addresses, but a step to another folder. It reads them without tabs and line ends.
fn is_step(segment: &str) -> bool {
    matches!(&*segment.replace(['\t', '\n', '\r'], ""), "" | "." | "..")
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

    /// Fails if the request would be about something else than its path says. Ids can be from a server, too.
    pub(super) fn check(&self) -> Result<(), Misconfigured> {
        match self.path.iter().find(|segment| is_step(segment)) {
            Some(segment) => Err(Misconfigured(format!("“{segment}” is no id."))),
            None => Ok(()),
        }
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

    /// Whether Docket may have sent this to answer it. Each change is one of a job or a batch.
    pub(super) fn is_answered_by(&self, body: &Value) -> bool {
        match self.path[..] {
            _ if self.is_change() => body["id"].is_string(),
            [.., list @ ("projects" | "jobs")] => body[list].is_array(),
            [.., "page-views"] => body["rows"].is_array(),
            _ => body["id"].is_string(),
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
    fn every_segment_of_the_path_is_sent() {
        for (text, is_id) in [
            ("1", true),
            ("...", true),
            (".a", true),
            ("../x", true),
            ("%2e%2e", true),
            (" ", true),
            ("", false),
            (".", false),
            ("..", false),
            (".\t.", false),
            ("\n", false),
        ] {
            let is_checked = ApiRequest::get(&["projects", "docs", "jobs", text]).check().is_ok();
            assert_eq!((id(text).is_ok(), is_checked), (is_id, is_id), "{text:?}");
        }
    }

    #[test]
    fn answer_has_what_the_request_is_about() {
        let (jobs, job) = (["projects", "docs", "jobs"], ["projects", "docs", "jobs", "1"]);
        let (cancel, views) =
            (["projects", "docs", "jobs", "1", "cancel"], ["projects", "docs", "page-views"]);
        let requests = [
            ("id", ApiRequest::get(&job)),
            ("id", ApiRequest::post(&jobs)),
            ("id", ApiRequest::post(&cancel)),
            ("jobs", ApiRequest::get(&jobs)),
            ("projects", ApiRequest::get(&["projects"])),
            ("rows", ApiRequest::get(&views)),
        ];
        let lists = ["jobs", "projects", "rows"].map(|name| (name, json!({name: []})));
        let others =
            [json!({}), json!([{"id": "1"}]), json!("ok"), json!(1), Value::Null, json!({"id": null})];
        let answers = lists.into_iter().chain([("id", json!({"id": "1"}))]);
        let answers: Vec<_> = answers.chain(others.map(|body| ("", body))).collect();
        for (of_request, request) in &requests {
            for (of_body, body) in &answers {
                assert_eq!(request.is_answered_by(body), of_request == of_body, "{of_request}: {body}");
            }
        }
    }
}
