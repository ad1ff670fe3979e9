//! The description is the behavior: fields, bounds, enumerations, scopes, statuses, codes and headers.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock};

use jsonschema::Validator;
use model::api_token::Scope;
use parking_lot::Mutex;
use reqwest::Method;
use serde_json::Value;

use super::Script;
use super::description::{description, endpoints};
use crate::api_tokens::problem;
use crate::helpers::{TestApp, TestResponse, json};

const JOBS: &str = "/projects/docs/jobs";
const UNKNOWN_JOB: &str = "01920000-0000-7000-8000-000000000001";

/// The stored description. A test compares it with that of the server.
static DESCRIPTION: LazyLock<Value> = LazyLock::new(|| {
    let file = concat!(env!("CARGO_MANIFEST_DIR"), "/docs/automate/openapi.json");
    serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap()
});

/// The operation of a request, if there is one.
fn operation<'a>(description: &'a Value, method: &str, path: &str) -> Option<&'a Value> {
    let path = format!("/api/v1{}", path.split('?').next().unwrap_or_default());
    let is_of = |template: &str| {
        let (own, written) = (path.split('/'), template.split('/'));
        own.clone().count() == written.clone().count()
            && own.zip(written).all(|(own, written)| own == written || written.starts_with('{'))
    };
    let paths = description["paths"].as_object().unwrap();
    let item =
        paths.get(&path).or_else(|| paths.iter().find(|(template, _)| is_of(template)).map(|(_, item)| item));
    item.and_then(|item| item.get(method))
}

/// The schema of the body of a successful response.
pub(super) fn success(method: &str, path: &str) -> &'static Value {
    let responses = &DESCRIPTION["paths"][path][method.to_lowercase()]["responses"];
    let found = responses.as_object().unwrap().iter().find(|(status, _)| status.starts_with('2'));
    &found.unwrap().1["content"]["application/json"]["schema"]
}

/// Checks that a response has a described status, code and headers.
#[track_caller]
pub(super) fn assert_is_described(method: &str, path: &str, response: &TestResponse) {
    let Some(operation) = operation(&DESCRIPTION, method, path) else { return };
    let status = response.status.to_string();
    let described = &operation["responses"][&status];
    assert!(described.is_object(), "{method} {path}: status {status} is not described: {}", response.text);
    for header in ["Retry-After", "Location", "WWW-Authenticate", "Allow"] {
        let is_described = described["headers"][header].is_object();
        assert_eq!(
            response.headers.contains_key(header),
            is_described,
            "{method} {path}: {status}, {header}"
        );
    }
    let content = described["content"].as_object().and_then(|content| content.iter().next());
    if let Some((kind, content)) = content {
        assert_eq!(response.header("content-type"), kind, "{method} {path}: {status}");
        assert_fits(&content["schema"], &response.json(), &format!("{method} {path}: {status}"));
    }
    if response.status >= 400 {
        let schema = &described["content"]["application/problem+json"]["schema"];
        let codes = schema.pointer("/allOf/1/properties/code/enum").and_then(Value::as_array).unwrap();
        assert!(codes.contains(&response.json()["code"]), "{method} {path}: {}", response.text);
    }
}

/// The validators of the schemas that responses had so far.
static VALIDATORS: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Checks a value as the generated clients do, by a schema of the description.
#[track_caller]
pub(super) fn assert_fits(schema: &Value, value: &Value, what: &str) {
    let known = VALIDATORS.lock().entry(schema.to_string()).or_insert_with(|| validator(schema)).clone();
    let errors: Vec<String> = known.iter_errors(value).map(|error| format!("{error:.300}")).collect();
    assert!(errors.is_empty(), "{what}: {errors:#?}: {value:.2000}");
}

fn validator(schema: &Value) -> Arc<Validator> {
    let schema = json!({"allOf": [schema], "components": DESCRIPTION["components"]});
    Arc::new(jsonschema::draft202012::new(&schema).unwrap_or_else(|error| panic!("{error}")))
}

/// The fields that a problem names.
#[track_caller]
fn fields(response: &TestResponse) -> Vec<String> {
    problem(response, 400, "bad_input");
    let errors = response.json()["errors"].take();
    let errors = errors.as_array().unwrap().clone();
    for error in &errors {
        assert!(error["detail"].as_str().unwrap().len() > 20, "{error}");
    }
    errors.iter().map(|error| error["field"].as_str().unwrap().to_owned()).collect()
}

/// A path of the API with values for its placeholders.
fn filled(path: &str) -> String {
    let path = path.trim_start_matches("/api/v1").replace("{project}", "docs");
    path.replace("{job}", UNKNOWN_JOB).replace("{batch}", UNKNOWN_JOB)
}

/// The parameters of the address of all endpoints that read: path, name and schema.
fn query_parameters(description: &Value) -> Vec<(String, String, Value)> {
    let mut found = Vec::new();
    for (method, path) in endpoints(description) {
        let operation = &description["paths"][&path][method.to_lowercase()];
        for parameter in operation["parameters"].as_array().into_iter().flatten() {
            if parameter["in"] == "query" {
                let name = parameter["name"].as_str().unwrap().to_owned();
                found.push((filled(&path), name, parameter["schema"].clone()));
            }
        }
    }
    found
}

/// Scripts, of which each sends at most 25 requests.
struct Scripts<'a> {
    app: &'a TestApp,
    script: Option<Script>,
    requests: usize,
}

impl<'a> Scripts<'a> {
    fn of(app: &'a TestApp) -> Self {
        Self { app, script: None, requests: 0 }
    }

    async fn next(&mut self) -> &Script {
        if self.script.is_none() || self.requests >= 25 {
            (self.script, self.requests) = (Some(Script::of(self.app).await), 0);
        }
        self.requests += 1;
        self.script.as_ref().unwrap()
    }

    async fn get(&mut self, path: &str) -> TestResponse {
        self.next().await.get(path).await
    }
}

#[tokio::test]
async fn unknown_fields_of_the_address_are_refused_everywhere() {
    let app = TestApp::start().await;
    let mut scripts = Scripts::of(&app);
    let all = endpoints(&description(&app).await);
    assert!(all.len() >= 13, "{}", all.len());
    for (method, path) in all {
        for query in ["colour=red", "colour", "=x", "Limit=1"] {
            let script = scripts.next().await;
            let request = script.request(method.parse().unwrap(), &format!("{}?{query}", filled(&path)));
            let request = request.header("idempotency-key", "key").json(&json!({"prompt": "x"}));
            let name = query.split('=').next().unwrap();
            assert_eq!(fields(&script.client.send(request).await), [name], "{method} {path}?{query}");
        }
    }
    assert_eq!(fields(&scripts.get("/openapi.json?colour=red").await), ["colour"]);
    assert_eq!(app.upstream.posts().await.len(), 0);
}

#[tokio::test]
async fn each_value_of_an_enumeration_is_accepted_and_no_other() {
    let app = TestApp::start().await;
    let (parameters, mut scripts) = (query_parameters(&description(&app).await), Scripts::of(&app));
    let mut names = Vec::new();
    for (path, name, schema) in parameters {
        let Some(values) = schema["enum"].as_array() else { continue };
        for value in values {
            let response = scripts.get(&format!("{path}?{name}={}", value.as_str().unwrap())).await;
            assert_eq!(response.status, 200, "{path} {name}: {}", response.text);
        }
        for value in ["", "nonsense", "Open", "completed,failed"] {
            assert_eq!(
                fields(&scripts.get(&format!("{path}?{name}={value}")).await),
                [name.as_str()],
                "{value}"
            );
        }
        names.push(name);
    }
    for name in ["pr", "sort", "status"] {
        assert!(names.iter().any(|enumerated| enumerated == name), "{name} is not enumerated: {names:?}");
    }
}

#[tokio::test]
async fn bounds_of_the_address_are_those_of_the_description() {
    let app = TestApp::start().await;
    let (parameters, mut scripts) = (query_parameters(&description(&app).await), Scripts::of(&app));
    let (mut numbers, mut texts) = (0, 0);
    for (path, name, schema) in parameters {
        let is_of_missing_job = path.contains(UNKNOWN_JOB);
        if let (Some(least), Some(most)) = (schema["minimum"].as_i64(), schema["maximum"].as_i64()) {
            for (value, is_valid) in [(least, true), (most, true), (least - 1, false), (most + 1, false)] {
                let response = scripts.get(&format!("{path}?{name}={value}")).await;
                match is_valid {
                    true => assert_eq!(
                        response.status,
                        if is_of_missing_job { 404 } else { 200 },
                        "{name}={value}"
                    ),
                    false => assert_eq!(fields(&response), [name.as_str()], "{value}"),
                }
            }
            assert_eq!(fields(&scripts.get(&format!("{path}?{name}=x")).await), [name.as_str()]);
            numbers += 1;
        } else if let Some(most) = schema["maxLength"].as_u64() {
            let long = "x".repeat(most as usize + 1);
            assert_eq!(fields(&scripts.get(&format!("{path}?{name}={long}")).await), [name.as_str()]);
            texts += 1;
        } else {
            assert!(
                schema["enum"].is_array() || !schema["oneOf"].is_null() || schema["$ref"].is_string(),
                "{schema}"
            );
        }
    }
    assert!(numbers >= 4 && texts >= 7, "{numbers} {texts}");
}

#[tokio::test]
async fn problem_names_the_field_that_is_wrong() {
    let app = TestApp::start().await;
    let mut scripts = Scripts::of(&app);
    for (query, field) in [
        ("limit=ten", "limit"),
        ("limit=1&limit=2", "limit"),
        ("created_after=yesterday", "created_after"),
        ("cursor=invented", "cursor"),
        ("page=%00", "page"),
    ] {
        assert_eq!(fields(&scripts.get(&format!("{JOBS}?{query}")).await), [field], "{query}");
    }
    let views = "/projects/docs/page-views";
    for (query, field) in [
        ("from=2026-11-20&to=2026-11-10", "from"),
        ("from=2999-01-01", "from"),
        ("to=x", "to"),
        ("cursor=x", "cursor"),
        ("cursor=x&offset=1", "offset"),
    ] {
        assert_eq!(fields(&scripts.get(&format!("{views}?{query}")).await), [field], "{query}");
    }
    assert_eq!(fields(&scripts.get(&format!("{JOBS}/not-an-id")).await), ["job"]);
    let many: Vec<_> = (0..51).map(|n| format!("/{n}")).collect();
    let long = "x".repeat(32_769);
    for (body, field) in [
        (json!({}), "prompt"),
        (json!({"prompt": 1}), "prompt"),
        (json!({"prompt": " "}), "prompt"),
        (json!({"prompt": long}), "prompt"),
        (json!({"prompt": "x", "colour": 1}), "colour"),
        (json!({"prompt": "x", "queue": "yes"}), "queue"),
        (json!({"prompt": "x", "tags": ["ok", 1]}), "tags[1]"),
        (json!({"prompt": "x", "tags": ["ok", "no/slash"]}), "tags[1]"),
        (json!({"prompt": "x", "tags": ["x".repeat(41)]}), "tags[0]"),
        (json!({"prompt": "x", "tags": many}), "tags"),
        (json!({"prompt": "x", "pages": many}), "pages"),
        (json!({"prompt": "x", "pages": ["/a\nb"]}), "pages[0]"),
        (json!({"prompt": "x", "pages": ["/a", format!("/{}", "x".repeat(500))]}), "pages[1]"),
        (json!({"template": {"values": {"page": 1}}}), "template.values.page"),
        (json!({"template": {"colour": 1}}), "template.colour"),
        (json!({"template": {"id": "x"}}), "template.id"),
        (json!({"template": {}}), "template"),
    ] {
        let response = scripts.next().await.post(JOBS, "key", &body).await;
        assert_eq!(fields(&response), [field], "{body:.100}");
    }
    let messages = format!("{JOBS}/{UNKNOWN_JOB}/messages");
    assert_eq!(fields(&scripts.next().await.post(&messages, "key", &json!({})).await), ["prompt"]);
    let script = scripts.next().await;
    assert_eq!(fields(&script.post(JOBS, "with space", &json!({"prompt": "x"})).await), ["Idempotency-Key"]);
    let twice = script
        .request(Method::POST, JOBS)
        .header("idempotency-key", "k")
        .body("{\"prompt\": \"x\", \"prompt\": \"y\"}");
    let twice = script.client.send(twice.header("content-type", "application/json")).await;
    assert_eq!(fields(&twice), ["prompt"]);
    // Not JSON at all: no field is wrong.
    let broken = script.request(Method::POST, JOBS).header("idempotency-key", "k").body("{");
    let broken = script.client.send(broken.header("content-type", "application/json")).await;
    assert_eq!(fields(&broken), [""; 0]);
    assert_eq!(app.upstream.posts().await.len(), 0);
}

#[tokio::test]
async fn endpoints_need_exactly_the_described_scopes() {
    let app = TestApp::start().await;
    let description = description(&app).await;
    let mut needed = 0;
    for scope in Scope::ALL.iter().map(|scope| scope.as_str()) {
        let script = Script::with(&app, &[("scopes", scope)]).await;
        for (method, path) in endpoints(&description) {
            let operation = &description["paths"][&path][method.to_lowercase()];
            let scopes = operation["security"][0]["token"].as_array().cloned().unwrap_or_default();
            let request = script.request(method.parse().unwrap(), &filled(&path));
            let request = request.header("idempotency-key", "key").json(&json!({"prompt": " "}));
            let response = script.client.send(request).await;
            let is_permitted = scopes.iter().all(|needed| needed == scope);
            assert_eq!(response.status != 403, is_permitted, "{scope}: {method} {path}: {}", response.text);
            if !is_permitted {
                problem(&response, 403, "insufficient_scope");
                needed += 1;
                assert!(
                    operation["description"].as_str().unwrap().contains("Needs the scope"),
                    "{operation}"
                );
            }
        }
    }
    assert!(needed >= 20, "{needed}");
}

#[tokio::test]
async fn every_endpoint_describes_its_general_errors_and_headers() {
    let app = TestApp::start().await;
    let description = description(&app).await;
    for (method, path) in endpoints(&description) {
        let responses = &description["paths"][&path][method.to_lowercase()]["responses"];
        for (status, header) in [
            ("400", "RateLimit"),
            ("401", "WWW-Authenticate"),
            ("403", "X-Request-Id"),
            ("405", "Allow"),
            ("429", "Retry-After"),
            ("500", "Retry-After"),
            ("503", "Retry-After"),
        ] {
            assert!(responses[status]["headers"][header].is_object(), "{method} {path} {status} {header}");
        }
        let succeeds = ["200", "201"].iter().any(|status| responses[status].is_object());
        assert!(succeeds, "{method} {path}");
        for status in ["201", "202"].iter().filter(|status| responses[**status].is_object()) {
            assert!(responses[*status]["headers"]["Location"].is_object(), "{method} {path} {status}");
        }
    }
    for body in ["NewJob", "NewFollowUp", "NewBatch"] {
        let prompt = &description["components"]["schemas"][body]["properties"]["prompt"];
        assert_eq!(prompt["maxLength"], app.state().settings().prompt_max, "{body}");
    }
}

#[tokio::test]
async fn mcp_permits_only_post_and_says_so() {
    let app = TestApp::start().await;
    let script = Script::of(&app).await;
    for method in [Method::GET, Method::DELETE, Method::PUT, Method::PATCH] {
        let request = script.client.request(method.clone(), "/mcp").bearer_auth(&script.token);
        let refused = script.client.send(request.header("accept", "text/event-stream")).await;
        problem(&refused, 405, "method_not_allowed");
        assert_eq!(refused.header("allow"), "POST", "{method}");
    }
}
