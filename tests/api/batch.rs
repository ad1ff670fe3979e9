//! Batches: one prompt template and a list become many queued jobs, all or none, once.

use std::time::Duration;

use futures::future::join_all;
use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use crate::helpers::{
    Archive, Browser, New, Settings, TestApp, TestResponse, detached_job, intent, job_with, json, picked,
    remote_job, until, with_batch,
};
use crate::queue::per_hour;
use crate::tracking::lose;

const PROMPT: &str = "Check {{page}} against the SDK.";

/// Four prompts per hour: one every quarter of an hour.
async fn app_and_operator() -> (TestApp, Browser) {
    let app = TestApp::with(per_hour(4)).await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    (app, operator)
}

async fn prepare(person: &Browser, prompt: &str, values: &str, intent: &str) -> TestResponse {
    New::batch(prompt, values).with("intent", intent).post(person).await
}

async fn prepared(person: &Browser, prompt: &str, values: &str) -> Value {
    New::batch(prompt, values).made(person).await
}

async fn of(person: &Browser, verb: &str, batch: &Value) -> TestResponse {
    with_batch(person, verb, batch["id"].as_str().unwrap()).await
}

async fn jobs(person: &Browser) -> usize {
    person.post_json("/api/jobs/list", &[("project", "docs")]).await["jobs"].as_array().unwrap().len()
}

#[tokio::test]
async fn nothing_is_queued_before_the_preview_is_confirmed() {
    let (app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a\r\n\r\n/b <i>\r\n").await;
    assert_eq!(batch["preview"], json!(["Check /a against the SDK.", "Check /b <i> against the SDK."]));
    assert_eq!((&batch["total"], &batch["sent"], &batch["started_at"]), (&json!(2), &json!(0), &json!(null)));
    assert_eq!(jobs(&operator).await, 0);
    assert!(app.upstream.requests().await.is_empty());
}

#[tokio::test]
async fn confirmed_batch_is_queued_with_its_pages_as_tags() {
    let (app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a\n/b\n/c").await;
    let started = of(&operator, "start", &batch).await.json();
    assert_eq!((&started["total"], started["jobs"].as_array().unwrap().len()), (&json!(3), 3));
    // Two are sent at once: then half of the budget of four is used.
    let first = until("two are sent", async || {
        let now = of(&operator, "get", &batch).await.json();
        (now["sent"] == 2 && now["jobs"][1]["state"] == "active").then_some(now)
    })
    .await;
    assert_eq!((&first["waiting"], &first["expected_end"]), (&json!(1), &json!("2025-03-10T10:30:00Z")));
    let job = &first["jobs"][0];
    assert_eq!(job["batch"], batch["id"]);
    insta::assert_compact_json_snapshot!(picked(job, ["prompt", "paths", "author"]), @r#"{"author": "olga", "paths": ["/a"], "prompt": "Check /a against the SDK."}"#);
    let queue = operator.post_json("/api/queue/list", &[("project", "docs")]).await;
    let first = &queue["waiting"][0];
    assert_eq!((&first["batch"], &first["why"]), (&batch["id"], &json!("earlier_prompts")));
    // An immediate submission is still sent first.
    assert_eq!(operator.created("In a hurry").await["state"], "active");
    app.clock().advance(Duration::from_secs(900));
    until("the last is sent", async || {
        (of(&operator, "get", &batch).await.json()["sent"] == 3).then_some(())
    })
    .await;
    let done = of(&operator, "get", &batch).await.json();
    assert_eq!((&done["waiting"], &done["expected_end"]), (&json!(0), &json!(null)));
    assert_eq!(app.upstream.posts().await.len(), 4);
}

/// Docket stopped tracking its only job. As long as it tracks a job with an unknown status, the batch goes on.
#[tokio::test]
async fn batch_with_a_lost_job_is_finished() {
    let app = TestApp::with(Settings { poll_interval: Duration::from_secs(3), ..per_hour(4) }).await;
    app.upstream.on_create(ResponseTemplate::new(201).set_body_json(remote_job("job_1", "paused"))).await;
    let operator = app.operator().await;
    let batch = prepared(&operator, PROMPT, "/a").await;
    of(&operator, "start", &batch).await;
    let sent = until("it is sent", async || {
        let job = of(&operator, "get", &batch).await.json()["jobs"][0].take();
        (job["state"] == "other").then_some(job)
    })
    .await;
    let path = format!("/p/docs/batches/{}", batch["id"].as_str().unwrap());
    let listed = async || text_of(&operator.get("/p/docs/batches").await.text);
    assert!(listed().await.contains("1 of 1 sent · 1 other"));
    lose(&app, &operator, &sent).await;
    assert!(listed().await.contains("1 of 1 sent · 1 no longer tracked"));
    let progress = of(&operator, "get", &batch).await.json()["progress"].take();
    assert_eq!((&progress["other"], &progress["lost"]), (&json!(1), &json!(1)));
    assert_eq!(operator.get(&path).await.status, 200);
}

#[tokio::test]
async fn quoted_batch_value_is_one_value() {
    let (app, operator) = app_and_operator().await;
    Archive::of(&app).await.add_pages(&["/known"]).await;
    let list = "/,\"calm, kind\"\n\"/a, b\",\"see /known\nand \"\"/v3/regions\"\"\"";
    let batch = prepared(&operator, "{{page}}: {{tone}}", list).await;
    assert_eq!(batch["preview"], json!(["/: calm, kind", "/a, b: see /known\nand \"/v3/regions\""]));
    let started = of(&operator, "start", &batch).await.json();
    let paths: Vec<_> = started["jobs"].as_array().unwrap().iter().map(|job| &job["paths"]).collect();
    assert_eq!(paths, [&json!(["/"]), &json!(["/a, b", "/known"])]);
}

#[tokio::test]
async fn resubmitted_forms_prepare_and_start_one_batch() {
    let (app, operator) = app_and_operator().await;
    let form = intent();
    let twice = join_all((0..2).map(|_| prepare(&operator, PROMPT, "/a\n/b", &form))).await;
    assert_eq!(twice[0].json()["id"], twice[1].json()["id"]);
    prepare(&operator, PROMPT, "/c", &form).await.refused(422, "intent_reused");
    let batch = twice[0].json();
    let colleague = app.sign_in("otto").await;
    let starts = [&operator, &operator, &colleague].map(|person| of(person, "start", &batch));
    for response in join_all(starts).await {
        assert_eq!(response.status, 200, "{}", response.text);
    }
    assert_eq!(jobs(&operator).await, 2);
    of(&operator, "start", &batch).await;
    assert_eq!(jobs(&operator).await, 2);
}

#[tokio::test]
async fn batch_error_names_its_line_and_keeps_the_texts() {
    let (_app, operator) = app_and_operator().await;
    let long = format!("/a\n{}", "x".repeat(32_768));
    let many: String = (0..201).map(|n| format!("/{n}\n")).collect();
    let path = format!("/a\n/{}", "x".repeat(500));
    for (prompt, values, reason) in [
        (PROMPT, "/a\n\n/a", "Line 3 repeats"),
        ("{{a}} {{b}}", "x,y\nz", "Line 2 has 1 value; expected 2"),
        (PROMPT, long.as_str(), "Line 2: The prompt has"),
        (PROMPT, path.as_str(), "Line 2: A page’s path"),
        (PROMPT, many.as_str(), "Line 201"),
        (PROMPT, "", "empty"),
        ("No place", "/a", "{{page}}"),
        ("", "/a", "empty"),
    ] {
        let message = prepare(&operator, prompt, values, &intent()).await.refused(400, "bad_input");
        assert!(message.contains(reason), "{message}");
        let form = operator.post_json("/api/batches/form", &[("project", "docs")]).await;
        assert_eq!((&form["text"], &form["values"]), (&json!(prompt), &json!(values)), "{reason}");
        assert_eq!(form["problem"], message.as_str());
    }
    prepare(&operator, PROMPT, "/a", "not an intent!").await.refused(400, "bad_input");
    assert_eq!(jobs(&operator).await, 0);
    prepared(&operator, PROMPT, "/a").await;
    let form = operator.post_json("/api/batches/form", &[("project", "docs")]).await;
    assert_eq!((&form["text"], &form["problem"]), (&json!(""), &json!(null)));
}

#[tokio::test]
async fn queued_prompts_of_a_batch_can_be_cancelled() {
    let (app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a\n/b\n/c\n/d").await;
    of(&operator, "start", &batch).await;
    until("two are accepted", async || {
        (of(&operator, "get", &batch).await.json()["jobs"][1]["state"] == "active").then_some(())
    })
    .await;
    let other = prepared(&operator, PROMPT, "/other").await;
    of(&operator, "start", &other).await;
    let colleague = app.sign_in("otto").await;
    let left = of(&colleague, "cancel", &batch).await.json();
    assert_eq!((&left["sent"], &left["waiting"], &left["total"]), (&json!(2), &json!(0), &json!(4)));
    let states: Vec<_> = left["jobs"].as_array().unwrap().iter().map(|job| &job["state"]).collect();
    assert_eq!(states, ["active", "active", "cancelled", "cancelled"]);
    assert_eq!(left["jobs"][2]["reason"], "Cancelled by otto before it was sent.");
    assert_eq!(of(&operator, "get", &other).await.json()["waiting"], 1, "another batch continues");
    assert_eq!(of(&operator, "cancel", &batch).await.status, 200);
}

#[tokio::test]
async fn started_batch_is_shown_after_the_prompt_limit_shrinks() {
    let (mut app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a\n/b").await;
    of(&operator, "start", &batch).await;
    app.restart_with(|settings| settings.prompt_max = 5).await;
    let shown = of(&app.operator().await, "cancel", &batch).await;
    assert_eq!(shown.status, 200, "{}", shown.text);
    assert_eq!(shown.json()["total"], 2);
}

#[tokio::test]
async fn viewers_start_no_batches_and_batches_stay_in_their_project() {
    let (app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a").await;
    let viewer = app.sign_in("vera").await;
    prepare(&viewer, PROMPT, "/a", &intent()).await.refused(403, "forbidden");
    of(&viewer, "start", &batch).await.refused(403, "forbidden");
    of(&viewer, "cancel", &batch).await.refused(403, "forbidden");
    assert_eq!(of(&viewer, "get", &batch).await.status, 200);
    let id = batch["id"].as_str().unwrap();
    for verb in ["start", "cancel", "get"] {
        let endpoint = format!("/api/batches/{verb}");
        operator.post(&endpoint, &[("project", "api"), ("batch", id)]).await.refused(404, "not_found");
        operator.post(&endpoint, &[("project", "docs"), ("batch", "x")]).await.refused(400, "bad_input");
    }
    operator.post("/api/batches/form", &[("project", "api"), ("from", id)]).await.refused(404, "not_found");
    assert_eq!(jobs(&operator).await, 0);
}

#[tokio::test]
async fn batch_works_without_javascript() {
    let (app, operator) = app_and_operator().await;
    let form = format!("{}/p/docs/jobs/batch", app.origin());
    let page = operator.get("/p/docs/jobs/batch?prompt=Check%20%7B%7Bpage%7D%7D").await.text;
    assert!(page.contains("Check {{page}}"), "the text of the address is not in the form");
    let (sent, values) = (intent(), "/a\n/b");
    let pairs =
        [("project", "docs"), ("prompt", "No place <b>"), ("values", values), ("intent", sent.as_str())];
    let refused = operator.submit("/api/batches/prepare", &pairs, Some(&form)).await;
    let page = operator.get(refused.location().trim_start_matches(&app.origin())).await.text;
    for words in ["has no placeholder such as {{page}}", "No place &lt;b", "/a\n/b"] {
        assert!(page.contains(words), "{words} is not on the page");
    }
    let pairs = [("project", "docs"), ("prompt", PROMPT), ("values", values), ("intent", sent.as_str())];
    let response = operator.submit("/api/batches/prepare", &pairs, Some(&form)).await;
    let path = response.location().trim_start_matches(&app.origin()).to_owned();
    assert!(path.starts_with("/p/docs/batches/"), "{path}");
    let page = operator.get(&path).await.text;
    // Without what marks the values.
    let page = ["<mark>", "</mark>", "<!>"].iter().fold(page, |page, tag| page.replace(tag, ""));
    for words in [
        "Check /a against the SDK.",
        "Check /b against the SDK.",
        "/api/batches/start",
        "Start batch for 2 pages",
    ] {
        assert!(page.contains(words), "{words} is not on the page");
    }
    let batch = path.rsplit('/').next().unwrap();
    let pairs = [("project", "docs"), ("batch", batch)];
    let response =
        operator.submit("/api/batches/start", &pairs, Some(&format!("{}{path}", app.origin()))).await;
    assert!(response.location().ends_with(&path));
    let page = operator.get(&path).await.text;
    assert!(page.contains("of 2 sent") && page.contains("data-job="), "no progress on the page");
    assert!(
        operator.get("/p/docs/jobs").await.text.contains(&format!("href=\"{path}\"")),
        "the list shows no batch"
    );
}

#[tokio::test]
async fn template_is_used_without_javascript_and_typed_fields_stay() {
    let (app, operator) = app_and_operator().await;
    let check = New::template("Check", "Check {{page}}").id(&operator).await;
    let update = New::template("Update", "Update {{page}}").id(&operator).await;
    let path = "/p/docs/jobs/batch";
    let with_pages = format!("{}{path}?pick=%2Fa", app.origin());
    let fields = |prompt: &'static str, template: &str, template_id: &str| {
        [
            ("project", "docs".to_owned()),
            ("intent", intent()),
            ("prompt", prompt.to_owned()),
            ("values", "/a\r\n/b, <typed>".to_owned()),
            ("template", template.to_owned()),
            ("template_id", template_id.to_owned()),
        ]
    };
    let submit = async |fields: [(&str, String); 6]| {
        let fields = fields.each_ref().map(|(name, value)| (*name, value.as_str()));
        let response = operator.submit("/api/batches/use-template", &fields, Some(&with_pages)).await;
        let location = response.location().trim_start_matches(&app.origin()).to_owned();
        (location.clone(), operator.get(&location).await.text)
    };
    for (prompt, template, template_id, shown) in [
        ("", &check, "", ">\nCheck {{page}}</textarea>"),
        ("Check {{page}}", &update, check.as_str(), ">\nUpdate {{page}}</textarea>"),
        ("Mind the style.", &check, "", ">\nMind the style.\n\nCheck {{page}}</textarea>"),
        ("Mind the style.", &String::new(), check.as_str(), ">\nMind the style.</textarea>"),
    ] {
        let (location, page) = submit(fields(prompt, template, template_id)).await;
        assert_eq!(location, path, "{prompt}");
        assert!(page.contains(shown), "{prompt}: {page}");
        assert!(page.contains("/b, &lt;typed"), "{prompt}: {page}");
        let form = operator.post_json("/api/batches/form", &[("project", "docs")]).await;
        let chosen = Some(template.as_str()).filter(|id| !id.is_empty());
        assert_eq!(form["template"].as_str(), chosen, "{prompt}");
    }

    // A deleted template: the fields stay, too.
    let gone = "01920000-0000-7000-8000-000000000000";
    let (_, page) = submit(fields("Mind the gap.", gone, "")).await;
    for words in ["That template does not exist", "Mind the gap.", "/b, &lt;typed"] {
        assert!(page.contains(words), "{words} is not on the page: {page}");
    }
    let pairs = [("project", "docs"), ("template", &check), ("prompt", ""), ("values", "")];
    let viewer = app.sign_in("vera").await;
    viewer.post("/api/batches/use-template", &pairs).await.refused(403, "forbidden");
}

/// The text of the row of a batch in the list of jobs.
fn fold(html: &str) -> Option<String> {
    let summary = html.split("-summary\"").nth(1)?.split("</summary>").next()?;
    Some(text_of(summary))
}

/// A page without its tags.
fn text_of(html: &str) -> String {
    html.split('<').filter_map(|part| Some(part.split_once('>')?.1)).collect()
}

/// The list folds the filtered jobs of a batch, and shows the progress of the whole batch.
#[tokio::test]
async fn filtered_list_folds_a_batch_and_counts_all_jobs() {
    let (_app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a\n/b\n/c").await;
    let started = of(&operator, "start", &batch).await.json();
    let ids: Vec<&str> =
        started["jobs"].as_array().unwrap().iter().map(|job| job["id"].as_str().unwrap()).collect();
    let two = [("project", "docs"), ("jobs", &[ids[0], ids[1]].join(",")), ("tag", "sdk")];
    operator.post_json("/api/jobs/tag", &two).await;
    let page = async |query: &str| operator.get(&format!("/p/docs/jobs?{query}")).await.text;
    let link = format!("/p/docs/batches/{}", batch["id"].as_str().unwrap());
    let whole = page("").await;
    let summary = fold(&whole).unwrap();
    assert!(summary.contains("of 3") && !summary.contains("on this page"), "{summary}");
    let tagged = page("tag=sdk").await;
    let summary = fold(&tagged).unwrap_or_else(|| panic!("no fold: {tagged}"));
    assert!(summary.contains("of 3") && summary.contains("2 on this page"), "{summary}");
    assert!(tagged.contains(&link) && tagged.contains("with all "), "{tagged}");
    assert_eq!(fold(&page("tag=/c").await), None, "one row needs no fold");
    let found = page("q=SDK").await;
    assert!(found.contains("<details open") && fold(&found).is_some(), "what was found is in sight: {found}");
}

/// Four jobs of a batch: the first fails, the second is rejected, the third has a pull request, the fourth changes nothing.
async fn app_with_a_finished_batch() -> (TestApp, Browser, Value) {
    let app = TestApp::start().await;
    app.upstream
        .on_create(|request: &Request| {
            let prompt = request.body_json::<Value>().unwrap()["prompt"].as_str().unwrap().to_owned();
            let id = detached_job();
            let job = match prompt.split('/').nth(1).unwrap() {
                "refuse" => return ResponseTemplate::new(400),
                "merge" => {
                    job_with(&id, "completed", "prLink", json!("https://git.example/acme/docs/pull/7"))
                }
                status => remote_job(&id, status),
            };
            ResponseTemplate::new(201).set_body_json(job)
        })
        .await;
    let operator = app.operator().await;
    let batch = prepared(&operator, "Check {{page}}", "/failed\n/refuse\n/merge\n/completed").await;
    of(&operator, "start", &batch).await;
    let batch = finished(&operator, &batch, 4).await;
    (app, operator, batch)
}

/// The batch once it has `jobs` jobs, all of them in an end state.
async fn finished(person: &Browser, batch: &Value, jobs: usize) -> Value {
    until("the batch is finished", async || {
        let now = of(person, "get", batch).await.json();
        let progress = &now["progress"];
        let is_over = progress["queued"] == 0 && progress["running"] == 0;
        (is_over && now["jobs"].as_array().is_some_and(|all| all.len() == jobs)).then_some(now)
    })
    .await
}

async fn retry(person: &Browser, batch: &Value, jobs: &str) -> TestResponse {
    let pairs = [("project", "docs"), ("batch", batch["id"].as_str().unwrap()), ("jobs", jobs)];
    person.post("/api/batches/retry", &pairs).await
}

fn retryable(batch: &Value) -> String {
    let jobs = batch["retryable"].as_array().unwrap().iter().map(|job| job.as_str().unwrap());
    jobs.collect::<Vec<_>>().join(",")
}

#[tokio::test]
async fn batch_counts_its_jobs_and_retries_the_failed_ones_once() {
    let (app, operator, batch) = app_with_a_finished_batch().await;
    let counts = |batch: &Value| {
        ["jobs", "completed", "pull_requests", "no_changes", "failed", "rejected"]
            .map(|name| batch["progress"][name].as_u64().unwrap())
    };
    assert_eq!(counts(&batch), [4, 2, 1, 1, 1, 1]);
    // Viewers get no advice that they cannot follow.
    let viewer = app.sign_in("vera").await;
    for (job, fact, advice) in [
        (0, "The agent failed.", "Run the job again"),
        (1, "The job was not started.", "Edit it and send it again"),
        (3, "named no pull request", "send a follow-up"),
    ] {
        let path = format!("/p/docs/jobs/{}", batch["jobs"][job]["id"].as_str().unwrap());
        let (read, write) = (viewer.page(&path).await, operator.page(&path).await);
        assert!(read.contains(fact) && !read.contains(advice), "{job}: {read}");
        assert!(write.contains(fact) && write.contains(advice), "{job}: {write}");
    }
    let first = retryable(&batch);
    assert_eq!(first.split(',').count(), 2);
    let page = operator.get(&format!("/p/docs/batches/{}", batch["id"].as_str().unwrap())).await.text;
    assert!(
        page.contains("Retry failed…") && page.contains("Retry 2 jobs") && page.contains(&first),
        "{page}"
    );

    let sent = app.upstream.posts().await.len();
    let colleague = app.sign_in("otto").await;
    for response in
        join_all([&operator, &colleague, &operator].map(|person| retry(person, &batch, &first))).await
    {
        assert_eq!(response.status, 200, "{}", response.text);
    }
    let after = finished(&operator, &batch, 6).await;
    assert_eq!(counts(&after), [4, 2, 1, 1, 1, 1], "a retry replaces its job");
    assert_eq!(after["retried"].as_array().unwrap().len(), 2);
    let job = operator.job(&batch["jobs"][0]).await;
    assert_eq!(job["retries"].as_array().unwrap().len(), 1);
    assert_eq!((&job["retries"][0]["title"], &job["paths"]), (&job["prompt"], &json!(["/failed"])));

    // The old form starts nothing more; the page now has a form with another intent.
    retry(&operator, &batch, &first).await;
    assert_eq!(finished(&operator, &batch, 6).await["jobs"].as_array().unwrap().len(), 6);
    assert_eq!(app.upstream.posts().await.len(), sent + 2);
    retry(&operator, &batch, &retryable(&after)).await;
    finished(&operator, &batch, 8).await;
}

/// A retry outside the batch resolves its job in every count of the batch, if it opened a pull request.
#[tokio::test]
async fn batch_counts_a_job_as_resolved_after_a_successful_retry_elsewhere() {
    let (_app, operator, batch) = app_with_a_finished_batch().await;
    let (project, id) = (("project", "docs"), batch["id"].as_str().unwrap());
    let again = async |at: usize, prompt: &str| {
        let job = batch["jobs"][at]["id"].as_str().unwrap();
        New::job(prompt).with("retry_of", job).made(&operator).await
    };
    let counts = async || {
        let shown = of(&operator, "get", &batch).await.json();
        let listed = operator.post_json("/api/batches/list", &[project]).await;
        assert_eq!(shown["progress"], listed["batches"][0]["progress"]);
        let numbers = ["jobs", "completed", "pull_requests", "no_changes", "failed", "rejected", "resolved"]
            .map(|name| shown["progress"][name].as_u64().unwrap());
        let folded = operator.post_json("/api/jobs/list", &[project]).await;
        assert_eq!(shown["progress"], folded["batches"][0]["progress"]);
        (numbers, folded["batches"][0]["retried"].as_u64().unwrap())
    };
    again(0, "Check again /failed").await;
    assert_eq!(counts().await, ([4, 2, 1, 1, 1, 1, 0], 0), "the retry failed too");

    // The failed job, and the one without changes.
    let retries = [again(0, "Check /merge").await, again(3, "Check now /merge").await];
    let resolved = ([4, 1, 1, 0, 0, 1, 2], 0);
    assert_eq!(counts().await, resolved);
    let page = operator.get(&format!("/p/docs/batches/{id}")).await.text;
    assert!(page.contains("Resolved by a retry"), "{page}");
    for retry in &retries {
        let link = format!("href=\"/p/docs/jobs/{}\"", retry["id"].as_str().unwrap());
        assert!(page.contains(&link), "no link to the retry: {page}");
    }
    let facts = "4 of 4 sent · 3 finished · 1 rejected";
    let page = text_of(&operator.get("/p/docs/batches").await.text);
    assert!(page.contains(facts), "{page}");
    let row = fold(&operator.get("/p/docs/jobs").await.text).unwrap();
    assert!(row.contains(facts), "{row}");

    // A retry in the batch replaces its job, as before.
    retry(&operator, &batch, batch["jobs"][1]["id"].as_str().unwrap()).await;
    finished(&operator, &batch, 5).await;
    assert_eq!(counts().await, (resolved.0, 1));
}

#[tokio::test]
async fn retry_skips_jobs_that_did_not_fail_or_belong_elsewhere() {
    let (app, operator, batch) = app_with_a_finished_batch().await;
    let sent = app.upstream.posts().await.len();
    let job = |at: usize| batch["jobs"][at]["id"].as_str().unwrap();
    // One job that was run again, one with a pull request, and one without changes.
    let (id, prompt) = (intent(), "Check /failed");
    let again = [("project", "docs"), ("prompt", prompt), ("intent", &id), ("retry_of", job(0))];
    assert_eq!(operator.post("/api/jobs/create", &again).await.status, 200);
    let other = prepared(&operator, "Check {{page}}", "/failed").await;
    of(&operator, "start", &other).await;
    let other = finished(&operator, &other, 1).await;
    let jobs = [job(0), job(2), job(3), other["jobs"][0]["id"].as_str().unwrap()].join(",");
    assert_eq!(retry(&operator, &batch, &jobs).await.status, 200);
    assert_eq!(of(&operator, "get", &batch).await.json()["jobs"].as_array().unwrap().len(), 4);
    assert_eq!(app.upstream.posts().await.len(), sent + 2);

    retry(&app.sign_in("vera").await, &batch, job(1)).await.refused(403, "forbidden");
    retry(&operator, &batch, "../x").await.refused(400, "bad_input");
    let elsewhere = [("project", "api"), ("batch", batch["id"].as_str().unwrap()), ("jobs", job(1))];
    operator.post("/api/batches/retry", &elsewhere).await.refused(404, "not_found");
}

#[tokio::test]
async fn batch_can_be_renamed() {
    let (app, operator) = app_and_operator().await;
    let batch = prepared(&operator, PROMPT, "/a").await;
    let own = "Check a page against the SDK · 1 page";
    assert_eq!(batch["name"], own);
    let rename = async |person: &Browser, project: &str, name: &str| {
        let pairs = [("project", project), ("batch", batch["id"].as_str().unwrap()), ("name", name)];
        person.post("/api/batches/rename", &pairs).await
    };
    of(&operator, "start", &batch).await;
    assert_eq!(rename(&operator, "docs", "  Cafe\u{301} <b> ").await.json()["name"], "Café <b>");
    let listed = operator.post_json("/api/batches/list", &[("project", "docs")]).await;
    assert_eq!(listed["batches"][0]["name"], "Café <b>");
    for wrong in ["x".repeat(81), "a\u{202e}b".to_owned(), "a\nb".to_owned(), "a\0".to_owned()] {
        rename(&operator, "docs", &wrong).await.refused(400, "bad_input");
    }
    rename(&operator, "api", "x").await.refused(404, "not_found");
    rename(&app.sign_in("vera").await, "docs", "x").await.refused(403, "forbidden");
    assert_eq!(of(&operator, "get", &batch).await.json()["name"], "Café <b>");
    assert_eq!(rename(&operator, "docs", " ").await.json()["name"], own);
}

#[tokio::test]
async fn unstarted_batches_are_listed_and_discarded_only_by_their_author() {
    let (app, operator) = app_and_operator().await;
    let colleague = app.sign_in("otto").await;
    let first = prepared(&operator, PROMPT, "/a\n/b").await;
    let second = prepared(&operator, "Look at {{page}}", "/c").await;
    let others = prepared(&colleague, PROMPT, "/d").await;
    let list = async |person: &Browser, project: &str| {
        let listed = person.post_json("/api/batches/unstarted", &[("project", project)]).await;
        let entries = listed.as_array().unwrap().iter();
        entries.map(|entry| ["id", "name", "values"].map(|name| entry[name].clone())).collect::<Vec<_>>()
    };
    let entry = |batch: &Value, name: &str, values: &str| [batch["id"].clone(), json!(name), json!(values)];
    let (check, look) = ("Check a page against the SDK.", "Look at a page");
    let own = [entry(&second, look, "/c"), entry(&first, check, "/a\n/b")];
    assert_eq!(list(&operator, "docs").await, own);
    assert_eq!(list(&colleague, "docs").await, [entry(&others, check, "/d")]);
    assert!(list(&operator, "api").await.is_empty());
    let viewer = app.sign_in("vera").await;
    viewer.post("/api/batches/unstarted", &[("project", "docs")]).await.refused(403, "forbidden");

    let link = |batch: &Value| format!("href=\"/p/docs/batches/{}\"", batch["id"].as_str().unwrap());
    for path in ["/p/docs/batches", "/p/docs/jobs/batch"] {
        let page = operator.get(path).await.text;
        assert!(page.contains(&link(&first)) && page.contains(&link(&second)), "{path}: {page}");
        assert!(!page.contains(&link(&others)), "{path}: {page}");
        assert!(!viewer.page(path).await.contains(&link(&first)), "{path}");
    }

    of(&operator, "start", &first).await;
    assert_eq!(list(&operator, "docs").await, own[..1]);
    of(&operator, "discard", &first).await.refused(409, "conflict");
    of(&colleague, "discard", &second).await.refused(403, "forbidden");
    of(&viewer, "discard", &second).await.refused(403, "forbidden");
    let id = second["id"].as_str().unwrap();
    let elsewhere = [("project", "api"), ("batch", id)];
    operator.post("/api/batches/discard", &elsewhere).await.refused(404, "not_found");
    assert_eq!(list(&operator, "docs").await, own[..1]);

    // Without JavaScript, the page of the form is shown again.
    let page = format!("{}/p/docs/batches", app.origin());
    let pairs = [("project", "docs"), ("batch", id)];
    let response = operator.submit("/api/batches/discard", &pairs, Some(&page)).await;
    assert!(response.location().starts_with(&page), "{}", response.location());
    assert!(list(&operator, "docs").await.is_empty());
    of(&operator, "get", &second).await.refused(404, "not_found");
    of(&operator, "discard", &second).await.refused(404, "not_found");
    assert_eq!(of(&operator, "get", &first).await.json()["total"], 2);
}

#[tokio::test]
async fn unstarted_batch_is_listed_for_7_days() {
    let (app, operator) = app_and_operator().await;
    prepared(&operator, PROMPT, "/a").await;
    for (days, batches) in [(6, 1), (2, 0)] {
        app.clock().advance(Duration::from_secs(days * 86_400));
        let operator = app.operator().await;
        let listed = operator.post_json("/api/batches/unstarted", &[("project", "docs")]).await;
        assert_eq!(listed.as_array().unwrap().len(), batches);
    }
}

#[tokio::test]
async fn started_batches_are_listed_newest_first() {
    let (app, operator) = app_and_operator().await;
    let mut ids = Vec::new();
    for n in 0..21 {
        let batch = prepared(&operator, &format!("{n} {{{{page}}}}"), "/a\n/b").await;
        of(&operator, "start", &batch).await;
        ids.insert(0, batch["id"].as_str().unwrap().to_owned());
    }
    prepared(&operator, PROMPT, "/unstarted").await;
    let list = async |page: &str| {
        operator.post_json("/api/batches/list", &[("project", "docs"), ("page", page)]).await
    };
    let of_page = |page: &Value| -> Vec<String> {
        page["batches"]
            .as_array()
            .unwrap()
            .iter()
            .map(|batch| batch["id"].as_str().unwrap().to_owned())
            .collect()
    };
    let (first, second) = (list("").await, list("2").await);
    assert_eq!((of_page(&first), of_page(&second)), (ids[..20].to_vec(), ids[20..].to_vec()));
    assert_eq!((&first["has_more"], &second["has_more"]), (&json!(true), &json!(false)));
    assert_eq!(
        (&first["batches"][0]["progress"]["jobs"], &first["batches"][0]["name"]),
        (&json!(2), &json!("20 a page · 2 pages"))
    );
    for wrong in ["0", "-1", "x", "1001"] {
        operator
            .post("/api/batches/list", &[("project", "docs"), ("page", wrong)])
            .await
            .refused(400, "bad_input");
    }
    assert_eq!(operator.post_json("/api/batches/list", &[("project", "api")]).await["batches"], json!([]));
    let page = operator.get("/p/docs/batches").await.text;
    assert!(page.contains("?page=2") && page.contains("20 a page"), "{page}");
    let others = app.sign_in("otto").await.get("/p/docs/batches").await.text;
    assert!(others.contains("20 a page") && !others.contains("/unstarted"), "{others}");
}
