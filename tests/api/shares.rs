//! Fair shares: one user's requests leave enough budget for the others.

use base::clock::Clock;
use base::config::{AccessConfig, Budget};
use model::budget::AgentLimit;
use model::time::Timestamp;
use wiremock::ResponseTemplate;

use crate::helpers::{Browser, New, Settings, TestApp, TestResponse, json, views_answer, with_batch};

fn frozen(access: AccessConfig) -> Settings {
    let clock = Clock::frozen("2025-03-10T10:15:00Z".parse::<Timestamp>().unwrap());
    Settings { clock, access, ..Settings::default() }
}

async fn views(person: &Browser, offset: usize) -> TestResponse {
    let offset = offset.to_string();
    person.post("/api/analytics/views", &[("project", "docs"), ("offset", &offset)]).await
}

#[tokio::test]
async fn page_view_requests_are_limited_per_user() {
    let app = TestApp::with(frozen(AccessConfig::default())).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let (viewer, other) = (app.sign_in("vera").await, app.operator().await);
    let requests = (0..30).map(|offset| views(&viewer, offset));
    let responses = futures::future::join_all(requests).await;
    assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 20);
    assert_eq!(app.upstream.requests().await.len(), 20);
    let message = views(&viewer, 100).await.refused(429, "budget_spent");
    assert!(message.starts_with("Your share of the hour's analytics requests (20) is used"), "{message}");
    assert!(message.contains("11:15 UTC"), "{message}");
    // The page reports it, and cached data costs nothing.
    assert!(viewer.get("/p/docs/analytics?page=9").await.text.contains("Your share of the hour"));
    let known = (0..30).find(|offset| responses[*offset].status == 200).unwrap();
    assert_eq!(views(&viewer, known).await.status, 200);
    assert_eq!(views(&other, 100).await.status, 200);
    // A user who waits for the same response does not get the refusal of another user's share.
    for offset in 200..210 {
        let (_, answered) = tokio::join!(views(&viewer, offset), views(&other, offset));
        assert_eq!(answered.status, 200, "{}", answered.text);
    }
    app.clock().advance(std::time::Duration::from_secs(3_600));
    assert_eq!(views(&viewer, 101).await.status, 200);
}

#[tokio::test]
async fn viewer_cannot_refresh() {
    let app = TestApp::with(frozen(AccessConfig::default())).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let (viewer, operator) = (app.sign_in("vera").await, app.operator().await);
    let refresh = [("project", "docs"), ("refresh", "true")];
    viewer.post("/api/analytics/views", &refresh).await.refused(403, "forbidden");
    assert!(app.upstream.requests().await.is_empty());
    assert!(!viewer.page("/p/docs/analytics").await.contains("name=\"refresh\""));
    assert!(operator.get("/p/docs/analytics").await.text.contains("name=\"refresh\""));
    operator.post_json("/api/analytics/views", &refresh).await;
}

#[tokio::test]
async fn queued_prompts_are_limited_per_user() {
    let budget = Budget {
        agent_per_hour: 1,
        agent_limit: AgentLimit::Separate,
        analytics_per_hour: 100,
        analytics_reserve: 0,
        history_days: 90,
        history_before: 0,
    };
    let access = AccessConfig { queued_per_person: 3, ..AccessConfig::default() };
    let app = TestApp::with(Settings { budget, ..frozen(access) }).await;
    app.upstream.accepts_jobs().await;
    let (operator, other) = (app.operator().await, app.sign_in("otto").await);
    operator.created("Sent at once").await;
    let queue = async |person: &Browser| New::job("Later").with("queue", "on").post(person).await;
    assert_eq!(queue(&operator).await.json()["state"], "queued");
    let batch = async |values: &str| {
        let batch = New::batch("Do {{a}}", values).id(&operator).await;
        with_batch(&operator, "start", &batch).await
    };
    let message = batch("1\n2\n3").await.refused(429, "queue_full");
    assert!(message.contains("at most 3 prompts in the queue"), "{message}");
    let waiting = operator.post_json("/api/queue/list", &[("project", "docs")]).await;
    assert_eq!(waiting["waiting"].as_array().unwrap().len(), 1, "a part of a batch was queued");
    assert_eq!(batch("1\n2").await.status, 200);
    queue(&operator).await.refused(429, "queue_full");
    assert_eq!(operator.draft(None).await, "Later", "the text is lost");
    assert_eq!(queue(&other).await.json()["state"], json!("queued"));
}
