//! Sending a follow-up to a job.

use std::time::Duration;

use serde_json::Value;
use wiremock::ResponseTemplate;

use crate::helpers::{Archive, KEY, Settings, TestApp, intent, job_with, json, remote_job, steady, until};

#[tokio::test]
async fn follow_up_sends_one_exact_request_to_the_upstream_job() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_7", "completed"))).await;
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(remote_job("job_7", "active"))).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let response = operator.follow_up(&job, "Also /guides?\n“too”", &intent()).await;

    let posts = app.upstream.posts().await;
    assert_eq!(posts.len(), 2);
    assert_eq!((posts[1].url.path(), posts[1].url.query()), ("/v2/agent/docs/job/job_7/message", None));
    assert_eq!(posts[1].body_json::<Value>().unwrap(), json!({"prompt": "Also /guides?\n“too”"}));
    assert_eq!(posts[1].headers["authorization"], format!("Bearer {KEY}").as_str());
    assert_eq!(response.status, 200, "{}", response.text);
    let followed = response.json();
    assert_eq!(followed["id"], job["id"]);
    insta::assert_json_snapshot!(steady(&followed));
}

#[tokio::test]
async fn response_with_another_id_does_not_change_the_job() {
    let app = TestApp::start().await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_7", "completed"))).await;
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(remote_job("msg_1", "active"))).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let followed = operator.follow_up(&job, "And more", &intent()).await.json();
    assert_eq!((&followed["remote"]["id"], &followed["state"]), (&json!("job_7"), &json!("active")));
}

#[tokio::test]
async fn upstream_id_cannot_change_the_request_path() {
    for hostile in ["../../../v1/analytics/docs/views", "a/b?c=d#e", "%2e%2e", "...", "a bé"] {
        let app = TestApp::start().await;
        app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job(hostile, "active"))).await;
        let operator = app.operator().await;
        let job = operator.created("Fix typos").await;
        assert_eq!(job["remote"]["id"], hostile);
        let response = operator.follow_up(&job, "And more", &intent()).await;
        assert_eq!(response.status, 200, "{hostile}: {}", response.text);
        for post in &app.upstream.posts().await[1..] {
            let path = post.url.path();
            assert!(
                path.starts_with("/v2/agent/docs/job/") && path.ends_with("/message"),
                "{hostile}: {path}"
            );
            assert_eq!((path.matches('/').count(), post.url.query()), (6, None), "{hostile}: {path}");
        }
    }
}

#[tokio::test]
async fn follow_ups_are_ordered_and_have_their_authors() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let response =
        ResponseTemplate::new(200).set_body_json(remote_job(job["remote"]["id"].as_str().unwrap(), "active"));
    app.upstream.on_follow_up(response).await;
    let colleague = app.sign_in("otto").await;
    for (person, prompt) in [(&operator, "first"), (&colleague, "second"), (&operator, "third")] {
        assert_eq!(person.follow_up(&job, prompt, &intent()).await.status, 200);
    }
    let read = operator.job(&job).await;
    let sent: Vec<_> = read["follow_ups"]
        .as_array()
        .unwrap()
        .iter()
        .map(|sent| (&sent["prompt"], &sent["author"]))
        .collect();
    insta::assert_compact_json_snapshot!(sent, @r#"[["first", "olga"], ["second", "otto"], ["third", "olga"]]"#);
}

#[tokio::test]
async fn rejected_job_accepts_no_follow_up() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for (status, code) in [(400, "conflict"), (500, "not_accepted")] {
        app.upstream.reset().await;
        app.upstream.on_create(ResponseTemplate::new(status)).await;
        let job = operator.created("Fix typos").await;
        let message = operator.follow_up(&job, "And more", &intent()).await.refused(409, code);
        assert!(message.contains("follow up"), "{message}");
        assert_eq!(app.upstream.posts().await.len(), 1);
        assert_eq!(operator.job(&job).await["follow_ups"], json!([]));
        assert_eq!(operator.draft(Some(&job)).await, "And more");
    }
}

#[tokio::test]
async fn follow_up_to_a_job_of_another_project_is_refused() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let id = job["id"].as_str().unwrap();
    let send = async |project: &str, job: &str, prompt: &str| {
        let pairs = [("project", project), ("job", job), ("prompt", prompt), ("intent", &intent())];
        operator.post("/api/jobs/message", &pairs).await
    };
    send("docs", "01930000-0000-7000-8000-000000000000", "x").await.refused(404, "not_found");
    send("api", id, "x").await.refused(404, "not_found");
    send("nowhere", id, "x").await.refused(404, "not_found");
    for bad in ["", "1", "../docs", "job_1"] {
        send("docs", bad, "x").await.refused(400, "bad_input");
    }
    for bad in ["", "\n", &"x".repeat(32_769)] {
        send("docs", id, bad).await.refused(400, "bad_input");
    }
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn pull_request_stays_while_a_follow_up_runs() {
    let settings = Settings { poll_interval: Duration::from_millis(100), ..Settings::default() };
    let app = TestApp::with(settings).await;
    let link = json!("https://git.example/acme/docs/pull/7");
    let done = job_with("job_7", "completed", "prLink", link.clone());
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(&done)).await;
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(remote_job("job_7", "active"))).await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_7", "active"))).await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let running = operator.follow_up(&job, "Is it all there?", &intent()).await.json();
    assert_eq!((&running["state"], &running["remote"]["pr_link"]), (&json!("active"), &link));
    until("it was polled", async || (app.upstream.reads().await > 0).then_some(())).await;
    assert_eq!(
        operator.job(&job).await["changed_at"],
        running["changed_at"],
        "a poll with the same response changes nothing"
    );

    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_7", "completed"))).await;
    let ended = until("it ended", async || {
        let job = operator.job(&job).await;
        (job["state"] == "completed").then_some(job)
    })
    .await;
    assert_eq!(ended["remote"]["pr_link"], link);
    let results: Vec<_> = ended["history"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|entry| entry["state"] == "completed")
        .map(|entry| (entry["message"].clone(), entry["detail"].clone()))
        .collect();
    assert_eq!(results, [(json!(0), link), (json!(1), json!("no changes"))]);
    let page = operator.get(&format!("/p/docs/jobs/{}", job["id"].as_str().unwrap())).await.text;
    assert!(page.contains("No changes") && page.contains("Pull request #7"), "no result on the page");
}

#[tokio::test]
async fn follow_up_adds_its_mentioned_pages() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(remote_job("x", "active"))).await;
    let operator = app.operator().await;
    Archive::of(&app).await.add_pages(&["/guides/a", "/guides/b"]).await;
    let job = operator.created("Fix /guides/a").await;
    let prompt = "The same in /guides/b and /guides/a, not in /guides/c";
    let followed = operator.follow_up(&job, prompt, &intent()).await.json();
    assert_eq!(followed["paths"], json!(["/guides/a", "/guides/b"]));
    let listed = operator.post_json("/api/jobs/list", &[("project", "docs"), ("tag", "/guides/b")]).await;
    assert_eq!(listed["total"], 1, "the list finds it");
}

#[tokio::test]
async fn upstream_failure_message_is_stored() {
    let app = TestApp::start().await;
    let failed = job_with("job_7", "failed", "error", json!("The branch is protected."));
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(failed)).await;
    let job = app.operator().await.created("Fix typos").await;
    assert_eq!((&job["state"], &job["reason"]), (&json!("failed"), &json!("The branch is protected.")));
}
