//! Batches: started at most once for each key, all prompts or none, with a result for each item.

use std::collections::BTreeSet;
use std::time::Duration;

use base::config::AccessConfig;
use futures::future::join_all;
use model::audit::Outcome;
use model::batch::BATCH_MAX_JOBS;
use serde_json::Value;
use tokio::time::timeout;
use wiremock::{Request, ResponseTemplate};

use super::Script;
use crate::api_tokens::{audited, problem};
use crate::helpers::{
    Browser, New, Settings, TestApp, TestResponse, detached_job, job_with, json, remote_job, until,
    with_batch,
};
use crate::queue::per_hour;
use crate::retention::{remove, with_retention};

const BATCHES: &str = "/projects/docs/batches";
const REPLAYED: &str = "idempotent-replayed";
const PROMPT: &str = "Check {{page}} against the SDK.";
pub(crate) const PULL_REQUEST: &str = "https://git.example/acme/docs/pull/7";

/// An app whose platform answers to a prompt with the word after its first slash: a status, `merge` or `refuse`.
pub(crate) async fn app_with(settings: Settings) -> TestApp {
    let app = TestApp::with(settings).await;
    app.upstream
        .on_create(|request: &Request| {
            let prompt = request.body_json::<Value>().unwrap()["prompt"].as_str().unwrap().to_owned();
            let word = prompt.split('/').nth(1).unwrap_or("active").split(' ').next().unwrap();
            let id = detached_job();
            let job = match word {
                "refuse" => {
                    return ResponseTemplate::new(400).set_body_json(json!({"error": "no such page"}));
                }
                "merge" => job_with(&id, "completed", "prLink", json!(PULL_REQUEST)),
                "failed" | "completed" => remote_job(&id, word),
                _ => remote_job(&id, "active"),
            };
            ResponseTemplate::new(201).set_body_json(job)
        })
        .await;
    app
}

fn body(values: &Value) -> Value {
    json!({"prompt": PROMPT, "values": values})
}

fn path_of(batch: &Value) -> String {
    format!("{BATCHES}/{}", batch["id"].as_str().unwrap())
}

async fn started(script: &Script, key: &str, body: &Value) -> Value {
    let response = script.post(BATCHES, key, body).await;
    assert!([201, 202].contains(&response.status), "{}", response.text);
    assert_eq!(response.header(REPLAYED), "");
    let batch = response.json();
    assert_eq!(response.location(), format!("/api/v1{}", path_of(&batch)));
    batch
}

/// The batch once its items are in these states.
async fn with_states(script: &Script, batch: &Value, states: &[&str]) -> Value {
    until(&format!("{states:?}"), async || {
        let now = script.got(&path_of(batch)).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        (self::states(&now) == states).then_some(now)
    })
    .await
}

fn states(batch: &Value) -> Vec<&str> {
    let items = batch["items"].as_array().unwrap();
    items.iter().map(|item| item["job"]["state"].as_str().unwrap_or("removed")).collect()
}

/// The numbers of stored batches and jobs.
async fn stored(app: &TestApp) -> (i64, i64) {
    let ledger = app.ledger();
    (ledger.count("SELECT COUNT(*) FROM batches").await, ledger.count("SELECT COUNT(*) FROM jobs").await)
}

async fn template(olga: &Browser, text: &str) -> String {
    New::template("Check", text).id(olga).await
}

/// Bodies that differ in one respect from another, and from each other.
fn bodies(template: &str) -> Vec<Value> {
    let with = |field: &str, value: Value| {
        let mut body = body(&json!(["/a", "/b"]));
        body[field] = value;
        body
    };
    vec![
        body(&json!(["/a", "/b"])),
        with("prompt", json!("Look at {{page}}.")),
        with("values", json!(["/b", "/a"])),
        with("values", json!(["/a"])),
        with("values", json!(["/a", "/b", "/c"])),
        with("values", json!([{"page": "/a"}, {"page": "/b"}])),
        with("values", json!([{"page": "/a"}, "/b"])),
        with("template", json!({"id": template})),
        with("template", json!({"name": "Check"})),
        json!({"template": {"id": template}, "values": ["/a", "/b"]}),
        json!({"template": {"name": "Check"}, "values": ["/a", "/b"]}),
    ]
}

#[tokio::test]
async fn key_with_another_body_is_refused_whatever_differs() {
    let app = app_with(Settings::default()).await;
    let id = template(&app.operator().await, PROMPT).await;
    let bodies = bodies(&id);
    for (number, first) in bodies.iter().enumerate() {
        let (script, key) = (Script::of(&app).await, format!("key-{number}"));
        let batch = started(&script, &key, first).await;
        let before = stored(&app).await;
        for other in &bodies {
            let again = script.post(BATCHES, &key, other).await;
            if other == first {
                assert!([201, 202].contains(&again.status), "{}", again.text);
                assert_eq!((again.header(REPLAYED), &again.json()["id"]), ("true", &batch["id"]));
                assert_eq!(again.location(), format!("/api/v1{}", path_of(&batch)));
            } else {
                problem(&again, 422, "intent_reused");
            }
        }
        assert_eq!(stored(&app).await, before, "{first}");
    }
    assert_eq!(audited(&app, "batch_start", Outcome::Done).await.len(), bodies.len());
}

#[tokio::test]
async fn changed_or_deleted_template_does_not_change_the_answer() {
    let app = app_with(per_hour(4)).await;
    let (script, olga) = (Script::of(&app).await, app.operator().await);
    let id = template(&olga, PROMPT).await;
    let body = json!({"template": {"name": "Check"}, "values": ["/a", "/b"]});
    let batch = started(&script, "nightly", &body).await;
    assert_eq!((&batch["template"], &batch["prompt"]), (&json!(id), &json!(PROMPT)));
    for text in ["Look at {{page}}", "Look at {{other}}", "Look"] {
        New::template("Check", text).with("template", &id).made(&olga).await;
        let again = script.post(BATCHES, "nightly", &body).await;
        assert_eq!((again.header(REPLAYED), &again.json()["prompt"]), ("true", &json!(PROMPT)));
    }
    olga.post_json("/api/templates/remove", &[("project", "docs"), ("template", &id)]).await;
    let again = script.post(BATCHES, "nightly", &body).await;
    assert_eq!((again.header(REPLAYED), &again.json()["id"]), ("true", &batch["id"]));
    assert_eq!(again.json()["template"], Value::Null);
    problem(&script.post(BATCHES, "other", &body).await, 404, "not_found");
    assert_eq!(stored(&app).await, (1, 2));
}

#[tokio::test]
async fn simultaneous_requests_with_one_key_start_one_batch() {
    let app = app_with(per_hour(4)).await;
    let script = Script::of(&app).await;
    let same = body(&json!(["/a", "/b"]));
    let responses = join_all((0..8).map(|_| script.post(BATCHES, "same", &same))).await;
    let ids: BTreeSet<String> = responses.iter().map(|response| response.json()["id"].to_string()).collect();
    let replays = responses.iter().filter(|response| response.header(REPLAYED) == "true").count();
    assert_eq!((ids.len(), replays), (1, 7));
    let bodies: Vec<Value> = (0..8).map(|n| body(&json!([format!("/{n}")]))).collect();
    let responses = join_all(bodies.iter().map(|body| script.post(BATCHES, "different", body))).await;
    let (refused, started): (Vec<_>, Vec<_>) = responses.iter().partition(|response| response.status == 422);
    assert_eq!((started.len(), started[0].status), (1, 202), "{}", started[0].text);
    for refused in refused {
        assert!(problem(refused, 422, "intent_reused").contains("idempotency key"));
    }
    assert_eq!(stored(&app).await, (2, 3));
}

/// Some are accepted, failed or refused, and the others wait for the budget.
#[tokio::test]
async fn items_have_their_results_in_order() {
    let app = app_with(per_hour(8)).await;
    let script = Script::of(&app).await;
    let values = json!([
        {"page": "/failed", "tone": "calm, kind"},
        "/refuse,loud",
        {"page": "/merge"},
        "/completed",
        {"page": "/e\u{301}"},
        "\"/a, b\",quiet",
    ]);
    let body = json!({"prompt": "Check {{page}} in a {{tone=plain}} tone", "values": values});
    let batch = started(&script, "mixed", &body).await;
    assert_eq!(states(&batch)[4..], ["queued", "queued"]);
    let states = ["failed", "rejected", "completed", "completed", "queued", "queued"];
    let batch = with_states(&script, &batch, &states).await;
    let items = batch["items"].as_array().unwrap();
    let written =
        [("/failed", "calm, kind"), ("/refuse", "loud"), ("/merge", "plain"), ("/completed", "plain")];
    let written = written.into_iter().chain([("/é", "plain"), ("/a, b", "quiet")]);
    for (item, (page, tone)) in items.iter().zip(written) {
        assert_eq!(item["values"], json!({"page": page, "tone": tone}));
        assert_eq!(item["job"]["prompt"], format!("Check {page} in a {tone} tone"));
        assert_eq!(item["job"]["pages"], json!([page]));
        assert_eq!((&item["replaced"], &item["resolved_by"]), (&json!([]), &Value::Null));
    }
    assert!(items[1]["job"]["reason"].as_str().unwrap().contains("no such page"));
    assert_eq!(items[1]["job"]["ended"], true);
    assert_eq!(items[2]["job"]["pull_request"]["url"], PULL_REQUEST);
    let progress = &batch["progress"];
    let counts = ["jobs", "ended", "queued", "running", "completed", "failed", "rejected", "pull_requests"];
    assert_eq!(counts.map(|name| progress[name].as_u64().unwrap()), [6, 4, 2, 0, 2, 1, 1, 1]);
    assert_eq!(batch["ended"], false);
    assert!(batch["expected_end"].is_string(), "{batch}");
    assert_eq!(batch["path"], format!("/p/docs/batches/{}", batch["id"].as_str().unwrap()));
    // The page of the same batch has the same numbers.
    let page = with_batch(&app.operator().await, "get", batch["id"].as_str().unwrap()).await.json();
    for name in ["queued", "running", "completed", "failed", "rejected", "pull_requests", "no_changes"] {
        assert_eq!(page["progress"][name], progress[name], "{name}");
    }
}

#[tokio::test]
async fn item_has_its_last_retry_and_what_resolved_it() {
    let app = app_with(Settings::default()).await;
    let (script, olga) = (Script::of(&app).await, app.operator().await);
    let batch = started(&script, "first", &body(&json!(["/failed", "/refuse", "/completed"]))).await;
    let batch = with_states(&script, &batch, &["failed", "rejected", "completed"]).await;
    assert_eq!(batch["ended"], true);
    let job = |batch: &Value, at: usize| batch["items"][at]["job"]["id"].as_str().unwrap().to_owned();
    let pairs = [("project", "docs"), ("batch", batch["id"].as_str().unwrap()), ("jobs", &*job(&batch, 0))];
    assert_eq!(olga.post("/api/batches/retry", &pairs).await.status, 200);
    let resolving = New::job("Check again /merge").with("retry_of", &job(&batch, 1)).made(&olga).await;
    let after = until("the retry has ended", async || {
        let now = script.got(&path_of(&batch)).await;
        tokio::time::sleep(Duration::from_millis(500)).await;
        (now["ended"] == true && job(&now, 0) != job(&batch, 0)).then_some(now)
    })
    .await;
    assert_eq!(after["items"].as_array().unwrap().len(), 3);
    assert_eq!(after["items"][0]["replaced"], json!([job(&batch, 0)]));
    assert_eq!(after["items"][0]["values"], json!({"page": "/failed"}));
    assert_eq!(after["items"][1]["resolved_by"], resolving["id"]);
    let counts = ["jobs", "ended", "failed", "rejected", "resolved"];
    assert_eq!(counts.map(|name| after["progress"][name].as_u64().unwrap()), [3, 3, 1, 0, 1]);
}

fn fields(response: &TestResponse) -> Vec<String> {
    problem(response, 400, "bad_input");
    let errors = response.json()["errors"].take();
    errors.as_array().unwrap().iter().map(|error| error["field"].as_str().unwrap().to_owned()).collect()
}

#[tokio::test]
async fn invalid_batch_names_the_item_and_starts_nothing() {
    let app = TestApp::start().await;
    let id = template(&app.operator().await, "No place").await;
    let long = format!("/{}", "x".repeat(32_768));
    let path = format!("/{}", "x".repeat(500));
    let pages = |count: usize| (0..count).map(|n| json!({"page": format!("/{n}")})).collect::<Vec<_>>();
    // As text, just above the limit of the list; each prompt is short enough.
    let texts: Vec<Value> = (0..5).map(|n| json!({"x": format!("{n}{}", "x".repeat(26_300))})).collect();
    let two = "{{page}} {{tone}}";
    let cases = [
        (json!({"values": ["/a"]}), "prompt"),
        (json!({"prompt": PROMPT}), "values"),
        (body(&json!([])), "values"),
        (body(&json!("/a")), "values"),
        (body(&json!(["/a", 1])), "values[1]"),
        (body(&json!([{"page": 1}])), "values[0].page"),
        (body(&json!(["/a", ""])), "values[1]"),
        (body(&json!(["/a\n/b"])), "values[0]"),
        (body(&json!(["/a", "/a"])), "values[1]"),
        (body(&json!(["/a", {"page": "/b"}, {"page": "/a"}])), "values[2]"),
        (body(&json!(["/a", "/b,calm"])), "values[1]"),
        (body(&json!(["/a", "\"/b"])), "values[1]"),
        (body(&json!([{"page": "/a"}, {"page": " "}])), "values[1]"),
        (body(&json!([{"page": "/a", "tone": "x"}])), "values[0]"),
        (body(&json!([{}])), "values[0]"),
        (body(&json!(["/a", long])), "values[1]"),
        (body(&json!([{"page": "/a"}, {"page": path}])), "values[1]"),
        (body(&json!([{"page": "/a"}, {"page": "/b\u{0}"}])), "values[1]"),
        (body(&json!(pages(BATCH_MAX_JOBS + 1))), "values[200]"),
        (json!({"prompt": "{{x}}", "values": texts}), "values"),
        (json!({"prompt": two, "values": ["/a,calm", "/b"]}), "values[1]"),
        (json!({"prompt": "No place", "values": ["/a"]}), "prompt"),
        (json!({"prompt": " ", "values": ["/a"]}), "prompt"),
        (json!({"prompt": "x".repeat(32_769), "values": ["/a"]}), "prompt"),
        (json!({"template": {"id": id}, "values": ["/a"]}), "template"),
        (json!({"template": {}, "values": ["/a"]}), "template"),
        (json!({"template": {"id": "x"}, "values": ["/a"]}), "template.id"),
        (json!({"template": {"id": id, "values": {}}, "values": ["/a"]}), "template.values"),
        (json!({"prompt": PROMPT, "values": ["/a"], "queue": true}), "queue"),
    ];
    for part in cases.chunks(25) {
        let script = Script::of(&app).await;
        for (body, field) in part {
            let refused = script.post(BATCHES, "key", body).await;
            assert_eq!(fields(&refused), [*field], "{body:.200}: {}", refused.text);
        }
    }
    let script = Script::of(&app).await;
    problem(&script.act(BATCHES).await, 400, "idempotency_key_required");
    assert_eq!(fields(&script.get(&format!("{BATCHES}/x")).await), ["batch"]);
    assert_eq!(stored(&app).await, (0, 0));
    // What was refused did not use the key.
    started(&script, "key", &body(&json!(["/a"]))).await;
}

#[tokio::test]
async fn largest_batch_is_started_and_read() {
    let app = app_with(per_hour(4)).await;
    let script = Script::of(&app).await;
    // Blanks at the ends and the names of placeholders are values, too.
    let mut values: Vec<Value> = vec![json!({"word": "word"}), json!({"word": "{{x}}"})];
    values.extend((2..BATCH_MAX_JOBS).map(|n| json!({"word": format!(" {n}, \"x\"\n{}", "é".repeat(200))})));
    let batch = started(&script, "most", &json!({"prompt": "Define {{word}}", "values": values})).await;
    let items = batch["items"].as_array().unwrap();
    assert_eq!(items.iter().map(|item| item["values"].clone()).collect::<Vec<_>>(), values);
    assert_eq!(batch["progress"]["jobs"], BATCH_MAX_JOBS);
    let titles = json!({"prompt": "Check {{page}}", "values": ["page", "/a", "/b"]});
    let batch = started(&script, "titles", &titles).await;
    assert_eq!(batch["progress"]["jobs"], 2, "a line of titles is no item");
}

#[tokio::test]
async fn template_with_a_value_that_looks_unfilled_is_refused() {
    let app = app_with(per_hour(4)).await;
    let script = Script::of(&app).await;
    let id = template(&app.operator().await, PROMPT).await;
    let values = json!(["/a", "/{{b}}"]);
    let refused = script.post(BATCHES, "key", &json!({"template": {"id": id}, "values": values})).await;
    assert_eq!((refused.status, &refused.json()["code"]), (409, &json!("unfilled_placeholder")));
    assert!(refused.text.contains("Fill in {{b}}"), "{}", refused.text);
    assert_eq!(stored(&app).await, (0, 0));
    // As for a job, a script may send such a text as its own.
    started(&script, "key", &body(&values)).await;
}

#[tokio::test]
async fn batch_beyond_the_queue_is_refused_as_a_whole() {
    let access = AccessConfig { queued_per_person: 3, ..AccessConfig::default() };
    let app = app_with(Settings { access, ..per_hour(1) }).await;
    let script = Script::of(&app).await;
    let four = body(&json!(["/a", "/b", "/c", "/d"]));
    problem(&script.post(BATCHES, "key", &four).await, 429, "queue_full");
    assert_eq!(stored(&app).await, (0, 0));
    let three = body(&json!(["/a", "/b", "/c"]));
    assert_eq!(started(&script, "key", &three).await["progress"]["jobs"], 3);
    assert_eq!(audited(&app, "batch_start", Outcome::Done).await.len(), 1);
}

#[tokio::test]
async fn batch_needs_its_scopes_and_its_project() {
    let app = app_with(per_hour(4)).await;
    let (script, olga) = (Script::of(&app).await, app.operator().await);
    let one = body(&json!(["/confidential"]));
    let batch = started(&script, "first", &one).await;
    let (path, cancel) = (path_of(&batch), format!("{}/cancel", path_of(&batch)));
    let reader = Script::with(&app, &[("scopes", "jobs:read")]).await;
    problem(&reader.post(BATCHES, "second", &one).await, 403, "insufficient_scope");
    problem(&reader.act(&cancel).await, 403, "insufficient_scope");
    assert_eq!(reader.got(&path).await["id"], batch["id"]);
    let writer = Script::with(&app, &[("scopes", "jobs:write")]).await;
    problem(&writer.get(&path).await, 403, "insufficient_scope");
    for response in [writer.post(BATCHES, "first", &one).await, writer.act(&cancel).await] {
        assert!(response.status < 300 && !response.text.contains("confidential"), "{}", response.text);
        let body = response.json();
        let fields: BTreeSet<&str> = body.as_object().unwrap().keys().map(String::as_str).collect();
        assert_eq!(fields, BTreeSet::from(["id", "ended", "progress"]));
    }
    let elsewhere = [("scopes", super::ALL_SCOPES), ("access", "selected"), ("projects", "api")];
    let elsewhere = Script::with(&app, &elsewhere).await;
    problem(&elsewhere.post(BATCHES, "third", &one).await, 404, "not_found");
    for path in [path.clone(), path.replace("/docs/", "/api/"), format!("{path}?wait=60")] {
        problem(&elsewhere.get(&path).await, 404, "not_found");
    }
    for path in [cancel.clone(), cancel.replace("/docs/", "/api/")] {
        problem(&elsewhere.act(&path).await, 404, "not_found");
    }
    // A key of another project is another request, and a preview is no batch yet.
    problem(&script.post("/projects/api/batches", "first", &one).await, 422, "intent_reused");
    let preview = New::batch(PROMPT, "/a").id(&olga).await;
    for query in ["", "?wait=60"] {
        problem(&script.get(&format!("{BATCHES}/{preview}{query}")).await, 404, "not_found");
    }
    problem(&script.act(&format!("{BATCHES}/{preview}/cancel")).await, 404, "not_found");
    assert_eq!(stored(&app).await, (2, 1));
}

#[tokio::test]
async fn waiting_request_ends_with_the_last_job() {
    let app = app_with(per_hour(4)).await;
    let script = Script::of(&app).await;
    let batch = started(&script, "first", &body(&json!(["/completed", "/merge", "/c", "/d"]))).await;
    with_states(&script, &batch, &["completed", "completed", "queued", "queued"]).await;
    let path = path_of(&batch);
    let early = script.got(&format!("{path}?wait=1")).await;
    assert_eq!((&early["ended"], &early["progress"]["ended"]), (&json!(false), &json!(2)));
    let jobs = &app.state().jobs;
    let cancels = async {
        until("the request waits", async || (jobs.waiting_requests() == 1).then_some(())).await;
        let cancelled = script.act(&format!("{path}/cancel")).await;
        assert_eq!((cancelled.status, &cancelled.json()["ended"]), (200, &json!(true)), "{}", cancelled.text);
    };
    let waiting = format!("{path}?wait=60");
    let waits = timeout(Duration::from_secs(50), script.got(&waiting));
    let (waited, ()) = tokio::join!(waits, cancels);
    let waited = waited.expect("the request waits");
    assert_eq!(states(&waited), ["completed", "completed", "cancelled", "cancelled"]);
    assert_eq!((&waited["ended"], &waited["progress"]["cancelled"]), (&json!(true), &json!(2)));
    // At once, and again.
    let again = timeout(Duration::from_secs(50), script.got(&format!("{path}?wait=60"))).await;
    assert_eq!(again.expect("the request waits")["ended"], true);
    let again = script.act(&format!("{path}/cancel")).await;
    assert_eq!((again.status, &again.json()["progress"]), (200, &waited["progress"]));
    let repeated = script.post(BATCHES, "first", &body(&json!(["/completed", "/merge", "/c", "/d"]))).await;
    assert_eq!((repeated.status, repeated.header(REPLAYED)), (201, "true"), "nothing is queued any more");
    assert_eq!(jobs.waiting_requests(), 0);
}

/// A follow-up to one job of a batch belongs to its end, as for the job.
#[tokio::test]
async fn follow_up_of_a_job_is_awaited_with_its_batch() {
    let app = app_with(per_hour(4)).await;
    let script = Script::of(&app).await;
    let batch = started(&script, "first", &body(&json!(["/completed"]))).await;
    let batch = with_states(&script, &batch, &["completed"]).await;
    assert_eq!(batch["ended"], true);
    let job = batch["items"][0]["job"]["id"].as_str().unwrap();
    app.ledger()
        .execute(format!(
            "UPDATE jobs SET follow_up_unseen = 1, next_poll_at = 9000000000000 WHERE id = '{job}'"
        ))
        .await;
    let shown = script.got(&format!("{}?wait=1", path_of(&batch))).await;
    assert_eq!((&shown["ended"], &shown["items"][0]["job"]["ended"]), (&json!(false), &json!(false)));
}

#[tokio::test]
async fn started_batch_is_the_answer_although_it_cannot_be_read() {
    let app = app_with(per_hour(4)).await;
    let script = Script::of(&app).await;
    app.ledger().also("INSERT ON batches", "UPDATE batches SET project = 'lost' WHERE id = NEW.id").await;
    let answer = script.post(BATCHES, "first", &body(&json!(["/a", "/b"]))).await;
    let batch = answer.json();
    assert_eq!((answer.status, &batch["ended"]), (202, &json!(false)), "{}", answer.text);
    assert_eq!((&batch["progress"]["jobs"], &batch["progress"]["queued"]), (&json!(2), &json!(2)));
    assert!(batch["id"].is_string() && batch["items"].is_null(), "{batch}");
    assert_eq!(stored(&app).await, (1, 2));
}

#[tokio::test]
async fn key_of_a_removed_batch_starts_no_other_one() {
    let app = app_with(with_retention(30, 0)).await;
    let body = body(&json!(["/merge", "/merge/b"]));
    let script = Script::of(&app).await;
    let batch = started(&script, "first", &body).await;
    with_states(&script, &batch, &["completed", "completed"]).await;
    app.ledger().run("UPDATE jobs SET next_poll_at = NULL").await;
    app.clock().advance(Duration::from_secs(40 * 86_400));
    assert_eq!(remove(&app).await.get("batches"), Some(&1));
    assert_eq!(stored(&app).await, (0, 0));
    let script = Script::of(&app).await;
    let refused = script.post(BATCHES, "first", &body).await;
    assert!(problem(&refused, 422, "intent_reused").contains("removed"), "{}", refused.text);
    problem(&script.get(&path_of(&batch)).await, 404, "not_found");
    assert_eq!(stored(&app).await, (0, 0));
    // Keys of jobs are independent.
    assert_eq!(
        script.post("/projects/docs/jobs", "first", &json!({"prompt": "Fix typos"})).await.status,
        201
    );
}
