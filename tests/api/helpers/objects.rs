//! [`New`]: what people make in Docket, one constructor for each kind. It has the fields of the kind's form, with defaults; a test says only
//! what matters to it.

use reqwest::RequestBuilder;
use serde_json::Value;

use super::{Browser, PASSWORD, TestResponse, intent};

/// A form, not yet sent.
#[derive(Clone)]
pub(crate) struct New {
    endpoint: &'static str,
    fields: Vec<(String, String)>,
}

impl New {
    /// A job.
    pub(crate) fn job(prompt: &str) -> Self {
        Self::of("/api/jobs/create", &[("project", "docs"), ("prompt", prompt), ("intent", &intent())])
    }

    /// A batch: a job for each line of `values`, once it is started.
    pub(crate) fn batch(prompt: &str, values: &str) -> Self {
        let fields = [("project", "docs"), ("prompt", prompt), ("values", values), ("intent", &intent())];
        Self::of("/api/batches/prepare", &fields)
    }

    pub(crate) fn template(name: &str, text: &str) -> Self {
        Self::of("/api/templates/save", &[("project", "docs"), ("name", name), ("text", text)])
    }

    /// A saved view of the list of jobs.
    pub(crate) fn view(name: &str, query: &str) -> Self {
        Self::of("/api/saved-views/save", &[("project", "docs"), ("name", name), ("query", query)])
    }

    /// An annotation.
    pub(crate) fn note(day: &str, text: &str) -> Self {
        Self::of("/api/annotations/save", &[("project", "docs"), ("day", day), ("text", text)])
    }

    /// A webhook that gets JSON.
    pub(crate) fn webhook(address: &str) -> Self {
        Self::of("/api/webhooks/add", &[("project", "docs"), ("kind", "json"), ("address", address)])
    }

    /// An API token of these scopes, for all projects.
    pub(crate) fn token(scopes: &str) -> Self {
        let fields = [("name", "CI"), ("scopes", scopes), ("access", "all"), ("password", PASSWORD)];
        Self::of("/api/tokens/create", &fields)
    }

    fn of(endpoint: &'static str, fields: &[(&str, &str)]) -> Self {
        Self {
            endpoint,
            fields: fields.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect(),
        }
    }

    /// Sets a field.
    pub(crate) fn with(mut self, name: &str, value: &str) -> Self {
        match self.fields.iter_mut().find(|field| field.0 == name) {
            Some(field) => field.1 = value.to_owned(),
            None => self.fields.push((name.to_owned(), value.to_owned())),
        }
        self
    }

    /// Adds a field, beside others of this name, as the boxes of a form do.
    pub(crate) fn and(mut self, name: &str, value: &str) -> Self {
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn pairs(&self) -> Vec<(&str, &str)> {
        self.fields.iter().map(|(name, value)| (name.as_str(), value.as_str())).collect()
    }

    /// The request of a page with scripts.
    pub(crate) fn request(&self, by: &Browser) -> RequestBuilder {
        by.call(self.endpoint, &self.pairs())
    }

    pub(crate) async fn post(&self, by: &Browser) -> TestResponse {
        by.send(self.request(by)).await
    }

    /// Submits it as a plain form of the page `from`.
    pub(crate) async fn submit(&self, by: &Browser, from: &str) -> TestResponse {
        by.submit(self.endpoint, &self.pairs(), Some(from)).await
    }

    /// What Docket returns, which must succeed.
    pub(crate) async fn made(&self, by: &Browser) -> Value {
        by.post_json(self.endpoint, &self.pairs()).await
    }

    /// Prepares a batch and starts it. Returns it.
    pub(crate) async fn started(&self, by: &Browser) -> Value {
        let response = with_batch(by, "start", &self.id(by).await).await;
        assert_eq!(response.status, 200, "{}", response.text);
        response.json()
    }

    /// The id of what is made.
    pub(crate) async fn id(&self, by: &Browser) -> String {
        let made = self.made(by).await;
        made.as_str().or(made["id"].as_str()).unwrap().to_owned()
    }
}

/// `by` starts a prepared batch, or does something else with it.
pub(crate) async fn with_batch(by: &Browser, verb: &str, batch: &str) -> TestResponse {
    by.post(&format!("/api/batches/{verb}"), &[("project", "docs"), ("batch", batch)]).await
}
