//! `/api/v1`: jobs, page views, templates, pull requests and budgets for scripts.

mod abandoned;
mod after_commit;
pub(crate) mod batches;
mod changes;
mod codes;
mod decisions;
mod described;
mod description;
mod ended;
mod follow_ups;
mod input;
mod jobs;
mod late_body;
mod mcp;
mod mcp_clients;
mod mcp_tools;
mod page_views;
mod reasons;
mod reference;
mod replay;
mod retries;
mod scopes;
mod unqueued;

use reqwest::Method;
use serde_json::Value;

use self::described::assert_is_described;
use crate::api_tokens::create;
use crate::helpers::{Browser, TestApp, TestResponse};

const ALL_SCOPES: &str = "jobs:read,jobs:write,jobs:resolve,analytics:read";

/// A script with an API token of olga's.
pub(crate) struct Script {
    token: String,
    client: Browser,
}

impl Script {
    pub(crate) async fn of(app: &TestApp) -> Self {
        Self::with(app, &[("scopes", ALL_SCOPES)]).await
    }

    /// With these fields of the form for a new token.
    async fn with(app: &TestApp, fields: &[(&str, &str)]) -> Self {
        Self { token: create(&app.operator().await, fields).await, client: app.anonymous() }
    }

    fn request(&self, method: Method, path: &str) -> reqwest::RequestBuilder {
        self.client.request(method, &format!("/api/v1{path}")).bearer_auth(&self.token)
    }

    async fn get(&self, path: &str) -> TestResponse {
        let response = self.client.send(self.request(Method::GET, path)).await;
        assert_is_described("get", path, &response);
        response
    }

    /// The body of a successful response.
    pub(crate) async fn got(&self, path: &str) -> Value {
        let response = self.get(path).await;
        assert_eq!(response.status, 200, "{path}: {}", response.text);
        response.json()
    }

    pub(crate) async fn post(&self, path: &str, key: &str, body: &Value) -> TestResponse {
        let request = self.request(Method::POST, path).header("idempotency-key", key).json(body);
        let response = self.client.send(request).await;
        assert_is_described("post", path, &response);
        response
    }

    /// A request without a body.
    async fn act(&self, path: &str) -> TestResponse {
        let response = self.client.send(self.request(Method::POST, path)).await;
        assert_is_described("post", path, &response);
        response
    }
}
