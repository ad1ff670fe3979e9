//! What a panic in a handler becomes: an answer that names no cause but its request id. The process lives on.

use std::any::Any as Anything;

use axum::http::StatusCode;
use axum::response::Response;

use super::server_fns::answer;
use crate::error::{AppError, ErrorCode};

/// The answer to a request whose handler panicked. Where it did is in the log, from the panic itself.
pub(super) fn explain(_: Box<dyn Anything + Send>) -> Response {
    tracing::error!("a handler panicked");
    let message = "Something went wrong on our side. Please try again; the request id in this answer helps to find the cause.";
    answer(StatusCode::INTERNAL_SERVER_ERROR, AppError::new(ErrorCode::Internal, message))
}

#[cfg(test)]
mod tests {
    use axum::Router;
    use axum::body::{Body, to_bytes};
    use axum::http::{Request, Response, StatusCode, header};
    use leptos::prelude::*;
    use leptos::server_fn::ServerFn;
    use secrecy::SecretString;
    use tower::ServiceExt;

    use crate::error::{AppError, ErrorCode};
    use crate::model::user::Role;
    use crate::server::auth::password;
    use crate::server::clock::Clock;
    use crate::server::config::{ApiKey, Budget, PublicUrl, UpstreamConfig, WebhookConfig, parse_projects};
    use crate::server::panel::Panel;
    use crate::server::router::router;
    use crate::server::store::Store;

    const PASSWORD: &str = "a password of a test";

    /// Registered beside all others in the binary of these tests, and nowhere else.
    #[server(prefix = "/api", endpoint = "panics")]
    async fn panics(secret: String) -> Result<(), AppError> {
        panic!("the secret is {secret}")
    }

    async fn panel(folder: &tempfile::TempDir) -> Panel {
        let store = Store::open(&format!("sqlite://{}", folder.path().join("docket.db").display())).await;
        let store = store.expect("a database");
        let hash = password::hash(SecretString::from(PASSWORD)).await.expect("a hash");
        store.add_user("olga", Role::Operator, &hash, Clock::system().now()).await.expect("a user");
        let upstream = UpstreamConfig {
            base_url: "http://127.0.0.1:9".parse().expect("an address"),
            api_key: ApiKey::parse("mint_of_a_test").expect("a key"),
            api_key_file: None,
            certificate_authorities: Vec::new(),
            timeout: std::time::Duration::from_secs(1),
            poll_interval: std::time::Duration::from_secs(3),
            prompt_max: 1_000,
            breaks_after: 5,
        };
        let budget =
            Budget { agent_per_hour: 1, analytics_per_hour: 1, analytics_reserve: 0, history_days: 1 };
        let public_url = PublicUrl::parse("http://127.0.0.1:3000").expect("an address");
        let projects = parse_projects("docs").expect("projects");
        let webhooks = WebhookConfig { private: false };
        Panel::new(projects, public_url, &upstream, budget, webhooks, store, Clock::system())
            .expect("a panel")
    }

    async fn post(router: &Router, path: &str, cookie: &str, fields: String) -> Response<Body> {
        let request = Request::post(path)
            .header("sec-fetch-site", "same-origin")
            .header(header::ACCEPT, "application/json")
            .header(header::COOKIE, cookie)
            .header(header::CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(fields));
        router.clone().oneshot(request.expect("a request")).await.expect("an answer")
    }

    #[tokio::test]
    async fn a_panic_is_a_500_with_a_request_id_and_nothing_of_its_cause_and_the_next_request_is_answered() {
        let folder = tempfile::tempdir().expect("a folder");
        let router = router(&panel(&folder).await);
        let fields = format!("username=olga&password={}", PASSWORD.replace(' ', "+"));
        let signed_in = post(&router, "/api/session/login", "", fields).await;
        let cookie = signed_in.headers()[header::SET_COOKIE].to_str().expect("a cookie");
        let cookie = cookie.split(';').next().expect("a pair").to_owned();
        for _ in 0..3 {
            let answer = post(&router, Panics::PATH, &cookie, "secret=s3cret".to_owned()).await;
            assert_eq!(answer.status(), StatusCode::INTERNAL_SERVER_ERROR);
            assert!(answer.headers()["x-request-id"].len() >= 16);
            assert_eq!(answer.headers()[header::X_CONTENT_TYPE_OPTIONS], "nosniff");
            let body = to_bytes(answer.into_body(), 10_000).await.expect("a body");
            let error: AppError = serde_json::from_slice(&body).expect("an error");
            assert_eq!(error.code, ErrorCode::Internal);
            let body = String::from_utf8_lossy(&body);
            for inside in ["s3cret", "panic", "src/", ".rs", "thread"] {
                assert!(!body.contains(inside), "{body}");
            }
            let answer = post(&router, "/api/session/current", &cookie, String::new()).await;
            assert_eq!(answer.status(), StatusCode::OK);
        }
    }
}
