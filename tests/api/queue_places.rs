//! When a prompt leaves the queue, and after how many others: the form for a new job and the job's page show the same, and it is sent then.

use std::time::Duration;

use serde_json::Value;

use crate::helpers::{Browser, New, TestApp, until};
use crate::queue::per_hour;

/// An hour that is full for 46 minutes more, with twelve prompts in the queue.
async fn full_hour() -> (TestApp, Browser, Vec<Value>) {
    let app = TestApp::with(per_hour(10)).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    for n in 0..10 {
        operator.created(&format!("sent {n}")).await;
    }
    app.clock().advance(Duration::from_secs(14 * 60));
    let mut queued = Vec::new();
    for n in 0..12 {
        queued.push(New::job(&format!("queued {n}")).with("queue", "on").made(&operator).await);
    }
    (app, operator, queued)
}

async fn page_of(person: &Browser, job: &Value) -> String {
    person.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await.text
}

async fn waiting(person: &Browser) -> Vec<Value> {
    let queue = person.post_json("/api/queue/list", &[("project", "docs")]).await;
    queue["waiting"].as_array().unwrap().clone()
}

#[tokio::test]
async fn form_and_job_show_when_a_long_queue_sends() {
    let (app, operator, _) = full_hour().await;
    let form = operator.get("/p/docs/jobs/new").await.text;
    let wait = "Sent in about 1 h 58 min, after 12 others.";
    assert!(form.contains("Add to queue") && form.contains(wait), "{form}");
    assert!(form.contains("Send first") && !form.contains("Start job<"));
    let last = New::job("last").with("queue", "on").made(&operator).await;
    assert!(page_of(&operator, &last).await.contains(wait));

    let times: Vec<i64> = waiting(&operator)
        .await
        .iter()
        .map(|entry| {
            let at = entry["expected_at"].as_str().unwrap();
            at.parse::<model::time::Timestamp>().unwrap().as_millis()
        })
        .collect();
    assert_eq!(times.len(), 13);
    let go_to = |at: i64| {
        let ahead = u64::try_from(at - app.clock().now().as_millis()).unwrap();
        app.clock().advance(Duration::from_millis(ahead));
    };
    let sent = async || app.upstream.posts().await.len();
    for (before, at) in times[..12].iter().enumerate() {
        go_to(*at);
        until("the next one is sent", async || (sent().await >= 11 + before).then_some(())).await;
    }
    go_to(times[12] - 1_000);
    tokio::time::sleep(Duration::from_millis(1_200)).await;
    assert_eq!(sent().await, 22, "not before its time");
    go_to(times[12]);
    until("the last one is sent", async || (sent().await == 23).then_some(())).await;
}

#[tokio::test]
async fn prompt_that_is_sent_first_is_before_all_others() {
    let (app, operator, queued) = full_hour().await;
    let urgent = New::job("urgent").with("queue", "on").with("first", "on").made(&operator).await;
    let order = waiting(&operator).await;
    assert_eq!((&order[0]["job"], &order[1]["job"]), (&urgent["id"], &queued[0]["id"]));
    let page = page_of(&operator, &urgent).await;
    assert!(page.contains("Sent in about 46 min.") && !page.contains("Send first"), "{page}");
    let page = page_of(&operator, &queued[0]).await;
    assert!(page.contains("after 1 other.") && page.contains("Send first"));

    // Without JavaScript, the buttons lead back to the page of the job.
    let path = format!("/p/docs/jobs/{}", queued[3]["id"].as_str().unwrap());
    let from = format!("{}{path}", app.origin());
    let of_third = |entry: &&Value| entry["job"] == queued[3]["id"];
    let message = order.iter().find(of_third).unwrap()["message"].as_str().unwrap().to_owned();
    let fields = [("project", "docs"), ("message", &message), ("job", queued[3]["id"].as_str().unwrap())];
    let first = [fields[0], fields[1], fields[2], ("to", "first")];
    let moved = operator.submit("/api/queue/move", &first, Some(&from)).await;
    assert!(moved.location().ends_with(&path), "{}", moved.location());
    assert_eq!(waiting(&operator).await[0]["job"], queued[3]["id"]);
    let cancelled = operator.submit("/api/queue/cancel", &fields, Some(&from)).await;
    assert!(cancelled.location().ends_with(&path), "{}", cancelled.location());
    assert_eq!(operator.job(&queued[3]).await["state"], "cancelled");
}

#[tokio::test]
async fn viewer_sees_the_place_without_the_buttons() {
    let (app, _, queued) = full_hour().await;
    let page = page_of(&app.sign_in("vera").await, &queued[2]).await;
    assert!(page.contains("after 2 others."));
    assert!(!page.contains("Send first") && !page.contains("/api/queue/cancel"));
}

#[tokio::test]
async fn counts_of_the_navigation_are_shown_in_settings_too() {
    let (app, operator, _) = full_hour().await;
    let count = r#"<span class="nav-count">12<"#;
    assert!(operator.get("/p/docs/templates").await.text.contains(count));
    assert!(operator.get("/account").await.text.contains(count));
    let admin = app.sign_in("ada").await;
    admin.get("/p/api/jobs").await;
    assert!(!admin.get("/admin/users").await.text.contains("nav-count"), "another project");
    admin.get("/p/docs/jobs").await;
    assert!(admin.get("/admin/users").await.text.contains(count));
}
