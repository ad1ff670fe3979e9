//! Jobs: started at most once for each key, found, awaited, archived and cancelled.

use std::time::Duration;

use futures::future::join_all;
use model::time::Timestamp;
use serde_json::Value;
use wiremock::ResponseTemplate;

use super::Script;
use crate::api_tokens::problem;
use crate::helpers::{Archive, New, Settings, TestApp, json, remote_job, steady, until};
use crate::queue::per_hour;

pub(super) const JOBS: &str = "/projects/docs/jobs";

pub(super) async fn app() -> TestApp {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app
}

pub(super) async fn started(script: &Script, key: &str, body: Value) -> Value {
    let response = script.post(JOBS, key, &body).await;
    assert_eq!(response.status, 201, "{}", response.text);
    response.json()
}

pub(super) fn path_of(job: &Value) -> String {
    format!("{JOBS}/{}", job["id"].as_str().unwrap())
}

fn ids(jobs: &Value) -> Vec<&str> {
    jobs["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect()
}

#[tokio::test]
async fn job_is_started_once_for_each_key() {
    let app = app().await;
    let script = Script::of(&app).await;
    let body = json!({"prompt": "Fix typos in /guides/auth", "pages": ["/quickstart"], "tags": ["Nightly"]});
    let response = script.post(JOBS, "nightly-1", &body).await;
    assert_eq!(response.status, 201, "{}", response.text);
    let job = response.json();
    assert_eq!(response.location(), format!("/api/v1{}", path_of(&job)));
    insta::assert_json_snapshot!(steady(&job));

    let again = script.post(JOBS, "nightly-1", &body).await;
    assert_eq!((again.status, &again.json()["id"]), (201, &job["id"]));
    let other = script.post(JOBS, "nightly-1", &json!({"prompt": "Fix other typos"})).await;
    problem(&other, 422, "intent_reused");
    assert_eq!(app.upstream.posts().await.len(), 1);
    assert_eq!(script.got(&path_of(&job)).await["prompt"], body["prompt"]);
    assert_eq!(app.operator().await.job(&job).await["prompt"], body["prompt"], "people see it, too");
}

#[tokio::test]
async fn page_may_have_a_comma_and_any_spelling() {
    let app = app().await;
    let script = Script::of(&app).await;
    Archive::of(&app).await.add_pages(&["/a,b/", "/guides/setup/"]).await;
    let body = json!({"prompt": "Fix it", "pages": ["/a,b", "/Guides/setup", "/new, page/"]});
    let job = started(&script, "comma", body).await;
    assert_eq!(job["pages"], json!(["/a,b/", "/guides/setup/", "/new, page"]));
    for page in ["/a,b", "/a%2Cb/", "/guides/setup", "/GUIDES/setup/", "/new,%20page"] {
        let page =
            url::form_urlencoded::byte_serialize(page.replace("%20", " ").as_bytes()).collect::<String>();
        let found = script.got(&format!("{JOBS}?page={page}")).await;
        assert_eq!(ids(&found), [job["id"].as_str().unwrap()], "{page}");
    }
    assert_eq!(ids(&script.got(&format!("{JOBS}?page=/a")).await), [""; 0]);
    let many: Vec<_> = (0..51).map(|n| format!("/{n}")).collect();
    for pages in [json!(many), json!(["/a\nb"])] {
        let refused = script.post(JOBS, "refused", &json!({"prompt": "Fix it", "pages": pages})).await;
        problem(&refused, 400, "bad_input");
    }
}

/// Neither the answer nor its description says that the platform has what it refused.
#[tokio::test]
async fn refused_prompt_is_described_as_refused() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    for (status, state) in [(400, "rejected"), (403, "rejected"), (408, "unknown"), (502, "unknown")] {
        app.upstream.reset().await;
        let answer = json!({"error": "the prompt names no page"});
        app.upstream.on_create(ResponseTemplate::new(status).set_body_json(answer)).await;
        let job = started(&script, &format!("refused-{status}"), json!({"prompt": "Fix typos"})).await;
        let platform = [&job["platform_id"], &job["platform_status"]];
        assert_eq!((&job["state"], platform), (&json!(state), [&Value::Null; 2]), "{status}");
        assert!(job["reason"].as_str().unwrap().contains("the prompt names no page"), "{job}");
    }
    let description = app.anonymous().get("/api/v1/openapi.json").await.json();
    for path in ["jobs", "jobs/{job}/messages"] {
        let answers =
            &description["paths"][format!("/api/v1/projects/{{project}}/{path}")]["post"]["responses"];
        for status in ["201", "202"] {
            let words = answers[status]["description"].as_str().unwrap();
            assert!(!words.contains("receiv") && !words.contains("has the prompt"), "{words}");
        }
    }
}

/// They pass the first look-up of the key together. A token may send 30 requests at once.
#[tokio::test]
async fn simultaneous_requests_with_one_key_are_refused_in_words_for_scripts() {
    let app = app().await;
    let script = Script::of(&app).await;
    for round in 0..3 {
        let key = format!("round-{round}");
        let bodies: Vec<Value> = (0..8).map(|n| json!({"prompt": format!("Fix {round} {n}")})).collect();
        let responses = join_all(bodies.iter().map(|body| script.post(JOBS, &key, body))).await;
        let (refused, started): (Vec<_>, Vec<_>) =
            responses.iter().partition(|response| response.status == 422);
        assert_eq!((started.len(), started[0].status), (1, 201), "{}", started[0].text);
        for refused in refused {
            let detail = problem(refused, 422, "intent_reused");
            assert!(detail.contains("idempotency key"), "{detail}");
        }
    }
    for key in ["", "with space", "release/v1.2.3"] {
        let detail = problem(&script.post(JOBS, key, &json!({"prompt": "x"})).await, 400, "bad_input");
        assert!(detail.to_lowercase().contains("idempotency key"), "{detail}");
    }
}

#[tokio::test]
async fn key_of_a_browser_and_of_a_token_are_one_intent() {
    let app = app().await;
    let script = Script::of(&app).await;
    let job = started(&script, "shared", json!({"prompt": "Fix typos"})).await;
    let posted = app.operator().await.create("Fix typos", "shared").await;
    assert_eq!((posted.status, &posted.json()["id"]), (200, &job["id"]));
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn spent_budget_refuses_or_queues_a_job() {
    let app = TestApp::with(per_hour(1)).await;
    app.upstream.accepts_jobs().await;
    let script = Script::of(&app).await;
    started(&script, "one", json!({"prompt": "One"})).await;
    let refused = script.post(JOBS, "two", &json!({"prompt": "Two"})).await;
    problem(&refused, 429, "budget_spent");
    assert_eq!(refused.header("retry-after"), "3600");
    let queued = script.post(JOBS, "two", &json!({"prompt": "Two", "queue": true})).await;
    assert_eq!((queued.status, &queued.json()["state"]), (202, &json!("queued")));
    let budgets = script.got("/budgets").await["budgets"].take();
    insta::assert_json_snapshot!(steady(&budgets));

    let cancel = format!("{}/cancel", path_of(&queued.json()));
    let cancelled = script.act(&cancel).await;
    assert_eq!((cancelled.status, &cancelled.json()["state"]), (200, &json!("cancelled")));
    let again = script.act(&cancel).await;
    assert_eq!((again.status, again.json()), (200, cancelled.json()), "a request may be repeated");
    assert_eq!(app.upstream.posts().await.len(), 1);
}

#[tokio::test]
async fn template_fills_the_prompt_of_a_job() {
    let app = app().await;
    let script = Script::of(&app).await;
    let template = New::template("Check", "Check {{page}} for {{what=typos}}");
    let id = template.id(&app.operator().await).await;
    let listed = script.got("/projects/docs/templates").await;
    assert_eq!(listed["templates"][0]["placeholders"], json!(["page", "what"]));
    let template = |values: Value| json!({"template": {"id": &id, "values": values}});
    let job = started(&script, "filled", template(json!({"page": "/quickstart"}))).await;
    assert_eq!((&job["prompt"], &job["template"]), (&json!("Check /quickstart for typos"), &json!(id)));
    let by_name = json!({"template": {"name": "Check", "values": {"page": "/a"}}});
    assert_eq!(started(&script, "by-name", by_name).await["template"], id);
    for (template, status, code) in [
        (json!({"values": {}}), 400, "bad_input"),
        (json!({"id": &id, "name": "Check"}), 400, "bad_input"),
        (json!({"name": "Chekc"}), 404, "not_found"),
    ] {
        problem(&script.post(JOBS, "not-found", &json!({"template": template})).await, status, code);
    }
    let unfilled = script.post(JOBS, "not-filled", &template(json!({}))).await;
    assert!(problem(&unfilled, 409, "unfilled_placeholder").contains("{{page}}"), "{}", unfilled.text);
    let unknown = template(json!({"page": "/a", "color": "red"}));
    let detail = problem(&script.post(JOBS, "not-filled", &unknown).await, 400, "bad_input");
    assert!(detail.contains("color"), "{detail}");
    assert_eq!(app.upstream.posts().await.len(), 2);
}

#[tokio::test]
async fn list_is_filtered_and_paged() {
    let app = app().await;
    let script = Script::of(&app).await;
    let mut jobs = Vec::new();
    for number in 0..5 {
        let body = json!({"prompt": format!("Prompt {number}"), "pages": [format!("/page-{number}")]});
        jobs.push(started(&script, &format!("key-{number}"), body).await);
    }
    let newest_first: Vec<_> = jobs.iter().rev().map(|job| job["id"].as_str().unwrap()).collect();
    let (mut found, mut cursor) = (Vec::new(), String::new());
    loop {
        let page = script.got(&format!("{JOBS}?limit=2{cursor}")).await;
        found.extend(ids(&page).into_iter().map(str::to_owned));
        let Some(next) = page["next_cursor"].as_str() else { break };
        cursor = format!("&cursor={next}");
    }
    assert_eq!(found, newest_first);
    assert_eq!(ids(&script.got(&format!("{JOBS}?page=/page-3")).await), [newest_first[1]]);
    assert_eq!(ids(&script.got(&format!("{JOBS}?q=Prompt+4")).await), [newest_first[0]]);
    assert_eq!(ids(&script.got(&format!("{JOBS}?author=otto")).await), [] as [&str; 0]);
    let created = |job: &Value| job["created_at"].as_str().unwrap().parse::<Timestamp>().unwrap();
    let third = created(&jobs[2]);
    // Several may be created in one millisecond.
    let since = jobs.iter().filter(|job| created(job) >= third).count();
    assert_eq!(ids(&script.got(&format!("{JOBS}?created_after={third}")).await), newest_first[..since]);
    assert_eq!(ids(&script.got(&format!("{JOBS}?created_before={third}")).await), newest_first[since..]);
    problem(&script.get(&format!("{JOBS}?author=olga{cursor}")).await, 400, "bad_input");
}

#[tokio::test]
async fn waiting_request_gets_the_job_at_its_end() {
    let app =
        TestApp::with(Settings { poll_interval: Duration::from_millis(1), ..Settings::default() }).await;
    app.upstream.on_read(ResponseTemplate::new(200).set_body_json(remote_job("job_1", "active"))).await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "active"))).await;
    let script = Script::of(&app).await;
    let job = started(&script, "awaited", json!({"prompt": "Fix typos"})).await;
    assert_eq!(script.got(&format!("{}?wait=1", path_of(&job))).await["state"], "active");
    let waits = format!("{}?wait=60", path_of(&job));
    let ends = async {
        let before = app.upstream.reads().await;
        until("it is polled again", async || (app.upstream.reads().await > before + 1).then_some(())).await;
        let done = remote_job("job_1", "completed");
        app.upstream.on_read(ResponseTemplate::new(200).set_body_json(done)).await;
    };
    let (ended, ()) = tokio::join!(script.got(&waits), ends);
    assert_eq!(ended["state"], "completed");
    assert_eq!(script.got(&waits).await["state"], "completed", "it does not wait for an ended job");
    problem(&script.get(&format!("{}?wait=61", path_of(&job))).await, 400, "bad_input");
}

#[tokio::test]
async fn waiting_requests_use_no_database_connection() {
    let app = app().await;
    let script = Script::of(&app).await;
    let job = started(&script, "awaited", json!({"prompt": "Fix typos"})).await;
    let waits = format!("{}?wait=60", path_of(&job));
    // More than the database has connections.
    let scripts = [Script::of(&app).await, Script::of(&app).await];
    let waiting = join_all((0..50).map(|number| scripts[number % 2].get(&waits)));
    let others = async {
        for _ in 0..20 {
            script.got(&path_of(&job)).await;
        }
    };
    tokio::select! {
        responses = waiting => panic!("the job has ended: {}", responses[0].text),
        () = others => {}
    }
}

#[tokio::test]
async fn revoked_token_gets_nothing_after_a_wait() {
    let app = app().await;
    let script = Script::of(&app).await;
    let job = started(&script, "awaited", json!({"prompt": "Fix typos"})).await;
    let revokes = async {
        let jobs = &app.state().jobs;
        until("the request waits", async || (jobs.waiting_requests() == 1).then_some(())).await;
        let olga = app.operator().await;
        let listed = olga.post_json("/api/tokens/list", &[]).await;
        olga.post_json("/api/tokens/revoke", &[("token", listed["tokens"][0]["id"].as_str().unwrap())]).await;
    };
    let waits = format!("{}?wait=5", path_of(&job));
    let (ended, ()) = tokio::join!(script.get(&waits), revokes);
    problem(&ended, 401, "invalid_token");
}

#[tokio::test]
async fn follow_up_is_sent_once_for_each_key() {
    let app = app().await;
    let script = Script::of(&app).await;
    let job = started(&script, "first", json!({"prompt": "Fix typos"})).await;
    app.upstream.accepts_follow_ups().await;
    let messages = format!("{}/messages", path_of(&job));
    for _ in 0..2 {
        let sent = script.post(&messages, "second", &json!({"prompt": "And links"})).await;
        assert_eq!(sent.status, 201, "{}", sent.text);
        let job = sent.json();
        let follow_ups = job["follow_ups"].as_array().unwrap();
        let [follow_up] = &follow_ups[..] else { panic!("{job}") };
        assert_eq!((&follow_up["prompt"], &follow_up["state"]), (&json!("And links"), &json!("accepted")));
    }
    assert_eq!(app.upstream.posts().await.len(), 2);
    let missing = format!("{JOBS}/01920000-0000-7000-8000-000000000001/messages");
    problem(&script.post(&missing, "third", &json!({"prompt": "x"})).await, 404, "not_found");
}

/// The prompt has an outcome, which is not that the platform accepted it.
#[tokio::test]
async fn follow_up_answered_without_a_job_is_unknown() {
    let app = app().await;
    let script = Script::of(&app).await;
    let job = started(&script, "first", json!({"prompt": "Fix typos"})).await;
    app.upstream.on_follow_up(ResponseTemplate::new(200).set_body_json(json!({"success": true}))).await;
    let sent =
        script.post(&format!("{}/messages", path_of(&job)), "second", &json!({"prompt": "And links"})).await;
    assert_eq!((sent.status, &sent.json()["follow_ups"][0]["state"]), (201, &json!("unknown")));
}

#[tokio::test]
async fn archived_job_leaves_the_list_until_it_is_restored() {
    let app = app().await;
    let script = Script::of(&app).await;
    let job = started(&script, "first", json!({"prompt": "Fix typos"})).await;
    for (action, archived, listed) in [("archive", true, 0), ("archive", true, 0), ("restore", false, 1)] {
        let response = script.act(&format!("{}/{action}", path_of(&job))).await;
        assert_eq!(response.status, 200, "{}", response.text);
        assert_eq!(script.got(&path_of(&job)).await["archived"], archived);
        assert_eq!(ids(&script.got(JOBS).await).len(), listed);
    }
}

#[tokio::test]
async fn scopes_and_projects_limit_a_token() {
    let app = app().await;
    let script = Script::of(&app).await;
    let job = started(&script, "first", json!({"prompt": "Fix typos"})).await;
    let fields = [("scopes", "jobs:read"), ("access", "selected"), ("projects", "docs")];
    let reader = Script::with(&app, &fields).await;
    assert_eq!(reader.get(&path_of(&job)).await.status, 200);
    let body = json!({"prompt": "Fix typos"});
    problem(&reader.post(JOBS, "second", &body).await, 403, "insufficient_scope");
    problem(
        &reader.post(&format!("{}/messages", path_of(&job)), "x", &body).await,
        403,
        "insufficient_scope",
    );
    for action in ["archive", "restore", "cancel"] {
        problem(&reader.act(&format!("{}/{action}", path_of(&job))).await, 403, "insufficient_scope");
    }
    problem(&reader.get("/projects/docs/page-views").await, 403, "insufficient_scope");
    for path in ["/projects/api/jobs", "/projects/api/templates", "/projects/nowhere/jobs"] {
        problem(&reader.get(path).await, 404, "not_found");
    }
    let elsewhere = path_of(&job).replace("/docs/", "/api/");
    problem(&script.get(&elsewhere).await, 404, "not_found");
    problem(&script.act(&format!("{elsewhere}/archive")).await, 404, "not_found");
    assert_eq!(app.upstream.posts().await.len(), 1);
}
