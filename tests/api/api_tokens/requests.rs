//! Requests to `/api/v1`: what admits them, and how errors look.

use std::time::Duration;

use futures::future::join_all;
use model::audit::Outcome;
use reqwest::Method;
use reqwest::header::{ACCEPT, AUTHORIZATION};
use service::auth::api_token::TokenText;
use store::accounts::rate_limits::{Counted, Quota};

use super::{DAY, PROJECTS, app, audited, create, listed, problem, project_ids, with_token};
use crate::helpers::statements_of;

#[tokio::test]
async fn cookies_are_ignored_and_a_token_is_required() {
    let app = app().await;
    let olga = app.operator().await;
    for path in [PROJECTS, "/api/v1", "/api/v1/", "/api/v1/nowhere", "/api/v1/jobs/list"] {
        for accept in ["application/json", "text/html"] {
            let response = olga.send(olga.request(Method::GET, path).header(ACCEPT, accept)).await;
            let detail = problem(&response, 401, "missing_token");
            assert!(detail.contains("/account/tokens"), "{detail}");
            assert_eq!(response.header("www-authenticate"), "Bearer", "{path}");
        }
    }
    let token = create(&olga, &[]).await;
    let request = olga.request(Method::GET, PROJECTS).bearer_auth(&token);
    assert_eq!(olga.send(request).await.status, 200, "a cookie does no harm");
    let otto = app.sign_in("otto").await;
    let request = otto.request(Method::GET, PROJECTS).bearer_auth(&token);
    assert_eq!(otto.send(request).await.header("set-cookie"), "");
}

#[tokio::test]
async fn tokens_are_ignored_outside_of_the_api() {
    let app = app().await;
    let token = create(&app.operator().await, &[("scopes", "jobs:read,jobs:write")]).await;
    let client = app.anonymous();
    for path in ["/", "/p/docs", "/account/tokens", "/api//v1/projects", "/API/v1/projects"] {
        let response = client
            .send(client.request(Method::GET, path).bearer_auth(&token).header(ACCEPT, "text/html"))
            .await;
        assert_eq!(response.status, 303, "{path}: {}", response.text);
    }
    for endpoint in ["/api/session/current", "/api/jobs/list", "/api/tokens/list", "/api/tokens/create"] {
        let response = client.send(client.call(endpoint, &[("project", "docs")]).bearer_auth(&token)).await;
        response.refused(401, "unauthenticated");
    }
    assert_eq!(with_token(&app, "/metrics", &token).await.status, 404);
}

#[tokio::test]
async fn malformed_token_is_refused_without_the_database() {
    let app = app().await;
    let token = create(&app.operator().await, &[]).await;
    let other = if token.ends_with('0') { "1" } else { "0" };
    let wrong_checksum = format!("{}{other}", &token[..token.len() - 1]);
    let client = app.anonymous();
    for text in [wrong_checksum.as_str(), "dkt_", &token[4..], "' OR 1=1 --", &"x".repeat(5_000)] {
        let request = client.request(Method::GET, PROJECTS).header(AUTHORIZATION, format!("Bearer {text}"));
        let response = client.send(request).await;
        problem(&response, 401, "invalid_token");
        assert_eq!(response.header("www-authenticate"), "Bearer error=\"invalid_token\"");
        assert_eq!(statements_of(response.header("x-request-id")), 0, "{text:.50}");
    }
    for value in [format!("Basic {token}"), token.clone(), "Bearer".to_owned()] {
        let request = client.request(Method::GET, PROJECTS).header(AUTHORIZATION, &value);
        problem(&client.send(request).await, 401, "missing_token");
    }
    let twice = client.request(Method::GET, PROJECTS).bearer_auth(&token).bearer_auth(&token);
    problem(&client.send(twice).await, 401, "invalid_token");
    let lower = client.request(Method::GET, PROJECTS).header(AUTHORIZATION, format!("bearer {token}"));
    assert_eq!(client.send(lower).await.status, 200);
}

#[tokio::test]
async fn request_with_a_token_executes_few_statements() {
    let app = app().await;
    let token = create(&app.operator().await, &[]).await;
    with_token(&app, PROJECTS, &token).await;
    let response = with_token(&app, PROJECTS, &token).await;
    // The token with its owner, and the count.
    assert_eq!(statements_of(response.header("x-request-id")), 2);
}

#[tokio::test]
async fn expired_token_is_refused() {
    let app = app().await;
    let token = create(&app.operator().await, &[("days", "1")]).await;
    app.clock().advance(DAY - Duration::from_millis(1));
    assert_eq!(project_ids(&app, &token).await, ["docs", "api"]);
    app.clock().advance(Duration::from_millis(1));
    problem(&with_token(&app, PROJECTS, &token).await, 401, "invalid_token");
    assert_eq!(listed(&app.operator().await).await["state"], "expired");
}

#[tokio::test]
async fn errors_of_every_layer_are_problems() {
    let app = app().await;
    let token = create(&app.operator().await, &[]).await;
    problem(&with_token(&app, "/api/v1/nowhere", &token).await, 404, "not_found");
    problem(&with_token(&app, "/api/v1", &token).await, 404, "not_found");
    let client = app.anonymous();
    for method in [Method::POST, Method::PUT, Method::DELETE, Method::OPTIONS] {
        let response = client.send(client.request(method.clone(), PROJECTS).bearer_auth(&token)).await;
        problem(&response, 405, "method_not_allowed");
        assert_eq!(response.header("allow"), "GET,HEAD", "{method}");
    }
    for accept in ["application/json", "text/html"] {
        let host = client.request(Method::GET, PROJECTS).bearer_auth(&token).header(ACCEPT, accept);
        let host = crate::helpers::http_client().build().unwrap().execute({
            let mut request = host.build().unwrap();
            request.headers_mut().insert("host", "evil.example".parse().unwrap());
            request
        });
        let response = host.await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["content-type"]),
            (421, &"application/problem+json".parse().unwrap())
        );
    }
    app.state().store.close().await;
    problem(&with_token(&app, PROJECTS, &token).await, 503, "database_unavailable");
}

#[tokio::test]
async fn requests_beyond_thirty_at_once_get_429_with_headers() {
    let app = app().await;
    let (olga, otto) = (app.operator().await, app.sign_in("otto").await);
    let (token, other) = (create(&olga, &[]).await, create(&otto, &[]).await);
    for sent in 1..=30 {
        let response = with_token(&app, PROJECTS, &token).await;
        assert_eq!(response.status, 200, "{sent}");
        assert_eq!(response.header("ratelimit-policy"), "\"minute\";q=60;w=60, \"burst\";q=30;w=30");
        assert_eq!(response.header("ratelimit"), format!("\"burst\";r={};t={sent}", 30 - sent));
    }
    let response = with_token(&app, PROJECTS, &token).await;
    problem(&response, 429, "too_many_requests");
    assert_eq!((response.header("retry-after"), response.header("ratelimit")), ("1", "\"burst\";r=0;t=30"));
    assert_eq!(response.header("ratelimit-policy"), "\"minute\";q=60;w=60, \"burst\";q=30;w=30");
    // This process knows now that the limit is used up.
    let response = with_token(&app, PROJECTS, &token).await;
    problem(&response, 429, "too_many_requests");
    assert_eq!(statements_of(response.header("x-request-id")), 0);
    assert_eq!(with_token(&app, PROJECTS, &other).await.status, 200, "each token has its own limit");
    app.clock().advance(Duration::from_secs(1));
    assert_eq!(with_token(&app, PROJECTS, &token).await.status, 200);
    assert_eq!(with_token(&app, PROJECTS, &token).await.status, 429);
    app.clock().advance(Duration::from_secs(60));
    let sent = join_all((0..40).map(|_| with_token(&app, PROJECTS, &token))).await;
    assert_eq!(sent.iter().filter(|response| response.status == 200).count(), 30);
}

#[tokio::test]
async fn last_use_is_written_at_most_hourly() {
    let app = app().await;
    let olga = app.operator().await;
    let token = create(&olga, &[]).await;
    let used = async || listed(&olga).await["last_used_at"].clone();
    assert_eq!(used().await, serde_json::Value::Null);
    for (minutes, expected) in [(0, "12:00"), (59, "12:00"), (1, "13:00"), (30, "13:00"), (300, "18:30")] {
        app.clock().advance(Duration::from_secs(minutes * 60));
        project_ids(&app, &token).await;
        assert_eq!(used().await, format!("2026-11-21T{expected}:00Z"), "after {minutes} more minutes");
    }
}

#[tokio::test]
async fn refused_use_is_audited_and_counted() {
    let app = app().await;
    let olga = app.operator().await;
    let token = create(&olga, &[]).await;
    let id = listed(&olga).await["id"].as_str().unwrap().to_owned();
    olga.post_json("/api/tokens/revoke", &[("token", &id)]).await;
    for _ in 0..25 {
        problem(&with_token(&app, PROJECTS, &token).await, 401, "invalid_token");
    }
    let refused = audited(&app, "api_token_use", Outcome::Refused).await;
    assert_eq!(refused.len(), 20);
    assert_eq!(refused[0], ("olga".to_owned(), id, "revoked".to_owned()));
    app.state().refusals.write().await.unwrap();
    let counted =
        app.ledger().count("SELECT SUM(count) FROM audit_counts WHERE action = 'api_token_use'").await;
    assert_eq!(counted, 5);
}

#[tokio::test]
async fn unknown_tokens_are_audited_and_limited_by_ip() {
    let app = app().await;
    let valid = create(&app.operator().await, &[]).await;
    let mut limited = 0;
    for _ in 0..40 {
        let response = with_token(&app, PROJECTS, TokenText::random().expose()).await;
        match response.status {
            429 => {
                problem(&response, 429, "too_many_requests");
                assert_eq!(response.header("retry-after"), "1");
                limited += 1;
            }
            _ => drop(problem(&response, 401, "invalid_token")),
        }
    }
    assert_eq!(limited, 10);
    let refused = audited(&app, "api_token_use", Outcome::Refused).await;
    assert_eq!((refused.len(), refused[0].2.as_str()), (20, "unknown token"));
    assert_eq!(with_token(&app, PROJECTS, &valid).await.status, 200, "a valid one from the same address");
}

#[tokio::test]
async fn replicas_share_the_limit_of_a_token() {
    let app = app().await;
    let token = create(&app.operator().await, &[]).await;
    for _ in 0..30 {
        assert_eq!(with_token(&app, PROJECTS, &token).await.status, 200);
    }
    let id = listed(&app.operator().await).await["id"].as_str().unwrap().to_owned();
    let replica = app.idle_state(app.clock().clone(), Duration::from_secs(60)).await;
    let quota = Quota { burst: 30, every: Duration::from_secs(1) };
    let cell = store::accounts::api_tokens::cell(&id);
    let counted = replica.store.count_attempt(&cell, quota, app.clock().now()).await.unwrap();
    assert_eq!(counted, Counted::Exceeded(Duration::from_secs(1)));
}
