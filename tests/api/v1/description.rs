//! The description in OpenAPI agrees with the endpoints and their responses.

use std::collections::BTreeSet;
use std::io::Read;

use flate2::read::GzDecoder;
use reqwest::Method;
use serde_json::Value;

use super::Script;
use crate::helpers::{TestApp, json};

const DOCUMENT: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/automate/openapi.json");

pub(super) async fn description(app: &TestApp) -> Value {
    let client = app.anonymous();
    let response = client.send(client.request(Method::GET, "/api/v1/openapi.json")).await;
    assert_eq!((response.status, response.header("content-type")), (200, "application/json"));
    response.json()
}

#[tokio::test]
async fn description_is_compressed_for_those_who_accept_it() {
    let app = TestApp::start().await;
    let client = app.anonymous();
    let get = async |accepted: &str| {
        let request = client.request(Method::GET, "/api/v1/openapi.json");
        let response = client.send(request.header("accept-encoding", accepted)).await;
        assert_eq!(response.header("vary"), "accept-encoding", "{accepted}");
        assert_eq!(response.header("content-length"), response.bytes.len().to_string(), "{accepted}");
        (response.header("content-encoding").to_owned(), response.bytes)
    };
    let (plain, packed) = (get("br, gzip;q=0").await, get("br, x-gzip;q=0.5").await);
    assert_eq!((&*plain.0, &*packed.0), ("", "gzip"));
    let mut unpacked = Vec::new();
    GzDecoder::new(&packed.1[..]).read_to_end(&mut unpacked).unwrap();
    assert!(unpacked == plain.1 && packed.1.len() * 4 < plain.1.len());
}

/// The endpoints of the description: method and path.
pub(super) fn endpoints(description: &Value) -> BTreeSet<(String, String)> {
    let paths = description["paths"].as_object().unwrap();
    let methods = |(path, item): (&String, &Value)| {
        let methods = item.as_object().unwrap().keys().cloned().collect::<Vec<_>>();
        methods.into_iter().map(move |method| (method.to_uppercase(), path.clone())).collect::<Vec<_>>()
    };
    paths.iter().flat_map(methods).collect()
}

#[tokio::test]
async fn description_lists_every_endpoint_of_the_api() {
    let app = TestApp::start().await;
    let description = description(&app).await;
    assert!(description["openapi"].as_str().unwrap().starts_with("3.1"), "{}", description["openapi"]);
    let expected = [
        ("GET", "/token"),
        ("GET", "/projects"),
        ("GET", "/budgets"),
        ("GET", "/projects/{project}/jobs"),
        ("POST", "/projects/{project}/jobs"),
        ("GET", "/projects/{project}/jobs/{job}"),
        ("POST", "/projects/{project}/jobs/{job}/messages"),
        ("POST", "/projects/{project}/jobs/{job}/archive"),
        ("POST", "/projects/{project}/jobs/{job}/restore"),
        ("POST", "/projects/{project}/jobs/{job}/cancel"),
        ("POST", "/projects/{project}/jobs/{job}/resolve"),
        ("POST", "/projects/{project}/batches"),
        ("GET", "/projects/{project}/batches/{batch}"),
        ("POST", "/projects/{project}/batches/{batch}/cancel"),
        ("GET", "/projects/{project}/page-views"),
        ("GET", "/projects/{project}/page-views/daily"),
        ("GET", "/projects/{project}/templates"),
        ("GET", "/projects/{project}/pull-requests"),
    ];
    let expected = expected.map(|(method, path)| (method.to_owned(), format!("/api/v1{path}")));
    assert_eq!(endpoints(&description), BTreeSet::from(expected));
    let client = app.anonymous();
    for (method, path) in endpoints(&description) {
        let id = "01920000-0000-7000-8000-000000000001";
        let path = path.replace("{project}", "docs").replace("{job}", id).replace("{batch}", id);
        let response = client.send(client.request(method.parse().unwrap(), &path)).await;
        assert_eq!(response.status, 401, "{method} {path} needs a token");
    }
}

/// A change of the API is visible as a change of this file. Spectral checks it.
#[tokio::test]
async fn documents_have_the_present_description() {
    let app = TestApp::start().await;
    let expected = format!("{}\n", serde_json::to_string_pretty(&description(&app).await).unwrap());
    if std::env::var_os("UPDATE_DOCS").is_some() {
        std::fs::write(DOCUMENT, expected).unwrap();
    } else {
        let document = std::fs::read_to_string(DOCUMENT).unwrap();
        assert!(document == expected, "run: UPDATE_DOCS=1 cargo test --features ssr --test api description");
    }
}

#[tokio::test]
async fn responses_have_exactly_the_described_fields() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let description = description(&app).await;
    let script = Script::of(&app).await;
    let body = json!({"prompt": "Fix typos", "tags": ["nightly"]});
    let job = script.post("/projects/docs/jobs", "first", &body).await.json();
    check(&description, "Job", &job);
    app.upstream.accepts_follow_ups().await;
    let messages = format!("/projects/docs/jobs/{}/messages", job["id"].as_str().unwrap());
    let followed_up = script.post(&messages, "second", &json!({"prompt": "And links"})).await.json();
    check_all(&description, "JobWithFollowUp", &followed_up);
    let writer = Script::with(&app, &[("scopes", "jobs:write")]).await;
    let short = writer.post(&messages, "second", &json!({"prompt": "And links"})).await.json();
    check(&description, "FollowedUpJob", &short);
    let batch = json!({"prompt": "Check {{page}}", "values": ["/a"]});
    let batch = script.post("/projects/docs/batches", "third", &batch).await.json();
    check(&description, "Batch", &batch);
    let cancel = format!("/projects/docs/batches/{}/cancel", batch["id"].as_str().unwrap());
    check(&description, "ChangedBatch", &writer.act(&cancel).await.json());
    check(&description, "JobsPage", &script.got("/projects/docs/jobs").await);
    check(&description, "ProjectList", &script.got("/projects").await);
    check(&description, "BudgetList", &script.got("/budgets").await);
    check(&description, "PageViewsPage", &script.got("/projects/docs/page-views").await);
    check(&description, "DailyPageViews", &script.got("/projects/docs/page-views/daily").await);
    check(&description, "TemplateList", &script.got("/projects/docs/templates").await);
    check(&description, "PullRequestList", &script.got("/projects/docs/pull-requests").await);
    check(&description, "Problem", &script.get("/projects/nowhere/jobs").await.json());
}

/// Checks that an object has the fields of a schema, and so do the objects in it.
#[track_caller]
fn check(description: &Value, name: &str, value: &Value) {
    let schema = &description["components"]["schemas"][name];
    assert!(schema.is_object(), "no schema {name}");
    check_schema(description, name, schema, value);
}

/// Checks an object with the fields of several schemas.
#[track_caller]
fn check_all(description: &Value, name: &str, value: &Value) {
    let mut left = value.as_object().unwrap().clone();
    for schema in description["components"]["schemas"][name]["allOf"].as_array().unwrap() {
        let part = schema["$ref"].as_str().map(|reference| reference.rsplit('/').next().unwrap());
        let described = part.map_or(schema, |part| &description["components"]["schemas"][part]);
        for (field, schema) in described["properties"].as_object().unwrap() {
            let value = left.remove(field).unwrap_or_else(|| panic!("{name} has no {field}: {value}"));
            check_schema(description, field, schema, &value);
        }
    }
    assert!(left.is_empty(), "{name}: {left:?} is not described");
}

#[track_caller]
fn check_schema(description: &Value, name: &str, schema: &Value, value: &Value) {
    if let Some(reference) = schema["$ref"].as_str() {
        return check(description, reference.rsplit('/').next().unwrap(), value);
    }
    if let Some(items) = schema.get("items") {
        for item in value.as_array().unwrap_or_else(|| panic!("{name} is not an array: {value}")) {
            check_schema(description, name, items, item);
        }
    }
    if let Some(described) = schema["properties"].as_object() {
        let fields: BTreeSet<_> =
            value.as_object().unwrap_or_else(|| panic!("{name}: {value}")).keys().collect();
        assert_eq!(fields, described.keys().collect::<BTreeSet<_>>(), "fields of {name}");
        for (field, schema) in described {
            check_schema(description, field, schema, &value[field]);
        }
    }
}
