//! The agent operations: create, follow-up, get. There is no list operation, as there is none upstream. The ledger determines the outcomes of jobs.

mod job;
mod ledger;
mod project;
mod prompt;

use axum::body::Bytes;
use axum::extract::rejection::{BytesRejection, PathRejection};
use axum::extract::{DefaultBodyLimit, Path, State};
use axum::http::header::CONTENT_TYPE;
use axum::http::{HeaderMap, StatusCode};
use axum::middleware::from_fn_with_state;
use axum::response::IntoResponse;
use axum::routing::{get, post};
use axum::{Json, Router};

use self::job::AgentJob;
pub(super) use self::ledger::Ledger;
use self::ledger::NotAccepted;
use self::prompt::Directives;
use super::Emulator;
use super::key::require_key;
use super::refusal::Refusal;

const LARGEST_BODY: usize = 1024 * 1024;

/// The routes under `/v2/agent`.
pub(super) fn routes(emulator: &Emulator) -> Router<Emulator> {
    Router::new()
        .route("/{project}/job", post(create))
        .route("/{project}/job/{id}", get(read))
        .route("/{project}/job/{id}/message", post(follow_up))
        .method_not_allowed_fallback(|| async {
            Refusal::agent(StatusCode::METHOD_NOT_ALLOWED, "Method not allowed").into_response()
        })
        .route_layer(from_fn_with_state(emulator.clone(), require_key))
        .layer(DefaultBodyLimit::max(LARGEST_BODY))
        .fallback(|| async { Refusal::no_such_route().into_response() })
}

async fn create(
    State(emulator): State<Emulator>,
    path: Result<Path<String>, PathRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<(StatusCode, Json<AgentJob>), Refusal> {
    let Path(project) = path.map_err(unreadable_path)?;
    let directives = read_prompt(&headers, body)?;
    let job = emulator.ledger().create(&project, directives, emulator.now())?;
    Ok((StatusCode::CREATED, Json(job)))
}

async fn follow_up(
    State(emulator): State<Emulator>,
    path: Result<Path<(String, String)>, PathRejection>,
    headers: HeaderMap,
    body: Result<Bytes, BytesRejection>,
) -> Result<Json<AgentJob>, Refusal> {
    let Path((project, id)) = path.map_err(unreadable_path)?;
    let directives = read_prompt(&headers, body)?;
    let job = emulator.ledger().follow_up(&project, &id, directives, emulator.now())?;
    Ok(Json(job))
}

async fn read(
    State(emulator): State<Emulator>,
    path: Result<Path<(String, String)>, PathRejection>,
) -> Result<Json<AgentJob>, Refusal> {
    let Path((project, id)) = path.map_err(unreadable_path)?;
    let job = emulator.ledger().read(&project, &id, emulator.now())?;
    Ok(Json(job))
}

fn read_prompt(headers: &HeaderMap, body: Result<Bytes, BytesRejection>) -> Result<Directives, Refusal> {
    let content_type = headers.get(CONTENT_TYPE).and_then(|value| value.to_str().ok());
    if !prompt::is_json(content_type) {
        let problem = "Content-Type must be application/json";
        return Err(Refusal::agent(StatusCode::UNSUPPORTED_MEDIA_TYPE, problem));
    }
    let body = body.map_err(|rejection| Refusal::agent(rejection.status(), rejection.body_text()))?;
    let prompt =
        prompt::in_body(&body).map_err(|problem| Refusal::agent(StatusCode::BAD_REQUEST, problem))?;
    Ok(Directives::in_prompt(&prompt))
}

fn unreadable_path(rejection: PathRejection) -> Refusal {
    Refusal::agent(rejection.status(), rejection.body_text())
}

impl From<NotAccepted> for Refusal {
    fn from(reason: NotAccepted) -> Self {
        match reason {
            NotAccepted::UnknownProject => Self::agent(StatusCode::NOT_FOUND, "Project not found"),
            NotAccepted::UnknownJob => Self::agent(StatusCode::NOT_FOUND, "Job not found"),
            NotAccepted::Exhausted(exhausted) => {
                Self::agent(StatusCode::TOO_MANY_REQUESTS, "Rate limit exceeded")
                    .retry_after(exhausted.retry_after)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use axum::http::{Method, StatusCode};
    use serde_json::Value;

    use super::super::allowance::CALLS_PER_HOUR;
    use super::super::testing::{Bench, KEY};
    use super::LARGEST_BODY;

    #[tokio::test]
    async fn a_new_job_is_answered_with_201_and_every_field() {
        let bench = Bench::new();
        let response = bench.create("docs", "Fix typos").await;
        assert_eq!(response.status, StatusCode::CREATED);
        let fields = ["archivedAt", "createdAt", "id", "model", "prLink", "source", "status"];
        assert_eq!(response.fields(), fields);
        assert_eq!(response.text("status"), "active");
        assert_eq!(response.text("createdAt"), "2026-11-21T09:30:00Z");
        assert_eq!(response.body["prLink"], Value::Null);
        assert_eq!(response.body["archivedAt"], Value::Null);
        assert_eq!(response.body["source"]["repository"], "acme/docs-docs");
        assert!(response.body["source"]["ref"].as_str().is_some_and(|it| it.starts_with("docket/")));
        let id = response.text("id");
        assert_eq!(id.len(), 24);
        assert!(id.starts_with("job_"));
    }

    #[tokio::test]
    async fn invalid_prompt_returns_400_and_is_not_counted() {
        let bench = Bench::new();
        let id = bench.create("docs", "Fix typos").await.text("id").to_owned();
        let message = format!("/v2/agent/docs/job/{id}/message");
        let bodies =
            ["", "{", "[]", "\"prompt\"", "{}", r#"{"prompt":""}"#, r#"{"prompt":1}"#, r#"{"prompt":null}"#];
        for path in ["/v2/agent/docs/job", message.as_str()] {
            for body in bodies.iter().cycle().take(2 * CALLS_PER_HOUR) {
                let response = bench.post(path, body).await;
                assert_eq!(response.status, StatusCode::BAD_REQUEST, "{body}");
                assert_eq!(response.fields(), ["error"]);
            }
        }
        assert_eq!(bench.create("docs", "x").await.status, StatusCode::CREATED);
        assert_eq!(bench.follow_up("docs", &id, "x").await.status, StatusCode::OK);
    }

    #[tokio::test]
    async fn a_body_of_more_than_a_mebibyte_is_413() {
        let bench = Bench::new();
        let frame = r#"{"prompt":""}"#.len();
        let fits = "x".repeat(LARGEST_BODY - frame);
        assert_eq!(bench.create("docs", &fits).await.status, StatusCode::CREATED);
        let too_long = "x".repeat(LARGEST_BODY - frame + 1);
        let response = bench.create("docs", &too_long).await;
        assert_eq!(response.status, StatusCode::PAYLOAD_TOO_LARGE);
        assert_eq!(response.fields(), ["error"]);
    }

    #[tokio::test]
    async fn unknown_project_is_404_and_not_counted() {
        let bench = Bench::new();
        let id = bench.create("docs", "Fix typos").await.text("id").to_owned();
        for project in ["unknown", "Docs", "docs%20"] {
            for response in [
                bench.create(project, "x").await,
                bench.follow_up(project, &id, "x").await,
                bench.job(project, &id).await,
            ] {
                assert_eq!(response.status, StatusCode::NOT_FOUND, "{project}");
                assert_eq!(response.text("error"), "Project not found");
            }
            let views = bench.views(project, "").await;
            assert_eq!((views.status, views.fields()), (StatusCode::NOT_FOUND, vec!["details", "error"]));
        }
    }

    #[tokio::test]
    async fn prompt_that_is_not_sent_as_json_is_415() {
        let bench = Bench::new();
        let id = bench.create("docs", "Fix typos").await.text("id").to_owned();
        for path in ["/v2/agent/docs/job".to_owned(), format!("/v2/agent/docs/job/{id}/message")] {
            for content_type in [None, Some("text/plain"), Some("application/x-www-form-urlencoded")] {
                let response = bench.post_as(content_type, &path, r#"{"prompt":"x"}"#).await;
                assert_eq!(response.status, StatusCode::UNSUPPORTED_MEDIA_TYPE, "{content_type:?}");
                assert_eq!(response.fields(), ["error"]);
            }
            let charset = Some("application/json; charset=utf-8");
            assert!(bench.post_as(charset, &path, r#"{"prompt":"x"}"#).await.status.is_success());
        }
    }

    #[tokio::test]
    async fn job_with_odd_letters_in_its_id_is_found_by_its_escaped_path() {
        let bench = Bench::new();
        let id = bench.create("docs", "emulator:odd-id").await.text("id").to_owned();
        assert!(["/", "?", "#", "%2F", "..", " ", "é", "😀"].iter().all(|odd| id.contains(odd)), "{id}");
        let escaped: String = id.bytes().map(|byte| format!("%{byte:02X}")).collect();
        assert_eq!(bench.job("docs", &escaped).await.text("id"), id);
        assert_eq!(bench.follow_up("docs", &escaped, "x").await.text("id"), id);
    }

    #[tokio::test]
    async fn unknown_job_and_job_of_another_project_return_404() {
        let bench = Bench::new();
        let id = bench.create("docs", "Fix typos").await.text("id").to_owned();
        for (project, id) in [("docs", "job_unknown"), ("handbook", id.as_str())] {
            for response in [bench.job(project, id).await, bench.follow_up(project, id, "x").await] {
                assert_eq!(response.status, StatusCode::NOT_FOUND);
                assert_eq!(response.fields(), ["error"]);
            }
        }
    }

    #[tokio::test]
    async fn the_101st_create_in_a_project_and_hour_is_429() {
        let bench = Bench::new();
        for _ in 0..CALLS_PER_HOUR {
            assert_eq!(bench.create("docs", "x").await.status, StatusCode::CREATED);
            bench.wait(1);
        }
        let refused = bench.create("docs", "x").await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers["retry-after"], "3500");
        assert_eq!(refused.fields(), ["error"]);
        assert_eq!(bench.create("handbook", "x").await.status, StatusCode::CREATED);
        bench.wait(3500);
        assert_eq!(bench.create("docs", "x").await.status, StatusCode::CREATED);
    }

    #[tokio::test]
    async fn follow_ups_have_an_allowance_of_their_own() {
        let bench = Bench::new();
        let id = bench.create("docs", "Fix typos").await.text("id").to_owned();
        for _ in 0..CALLS_PER_HOUR {
            assert_eq!(bench.follow_up("docs", &id, "x").await.status, StatusCode::OK);
        }
        let refused = bench.follow_up("docs", &id, "x").await;
        assert_eq!(refused.status, StatusCode::TOO_MANY_REQUESTS);
        assert_eq!(refused.headers["retry-after"], "3600");
        assert_eq!(bench.create("docs", "x").await.status, StatusCode::CREATED);
        assert_eq!(bench.job("docs", &id).await.status, StatusCode::OK);
    }

    #[tokio::test]
    async fn path_with_invalid_utf8_is_400_in_the_agent_shape() {
        let response = Bench::new().send(Method::GET, "/v2/agent/%ff/job/a", Some(KEY), "").await;
        assert_eq!(response.status, StatusCode::BAD_REQUEST);
        assert_eq!(response.fields(), ["error"]);
    }
}
