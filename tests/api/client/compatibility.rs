//! The client with servers of later versions, and on machines with variables and files of others.

use serde_json::Value;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use super::{Installation, Machine};
use crate::helpers::{Archive, PASSWORD, TestApp, TlsUpstream, day, json, rows};

const JOB: &str = "/api/v1/projects/docs/jobs";
const ID: &str = "01920000-0000-7000-8000-000000000001";

/// What a CI system or a checkout has.
const FILES: [&str; 4] =
    ["ca_file = \"missing.pem\"\n", "[package]\nname = \"site\"\n", "nonsense = 1\n", "this is no TOML"];

fn with_variables_of_others(installation: Installation) -> Installation {
    [
        ("DOCKET_VERSION", "1.2.3"),
        ("DOCKET_LOG", "]["),
        ("DOCKET_ADDR", "nowhere"),
        ("DOCKET_DATABASE_URL", "mysql://localhost"),
        ("DOCKET_PROJECTS", ""),
        ("DOCKET_CONFIG", "missing.toml"),
    ]
    .into_iter()
    .fold(installation, |installation, (name, value)| installation.set(name, value))
}

#[tokio::test]
async fn variables_and_files_of_others_have_no_effect() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let Machine { installation, token } = Machine::of(&app).await;
    let machine = Machine { installation: with_variables_of_others(installation), token };
    for file in FILES {
        std::fs::write(machine.installation.path("Leptos.toml"), file).unwrap();
        for command in [
            &["job", "start", "--project", "docs", "--key", "one", "Fix typos"][..],
            &["job", "list", "--project", "docs"],
            &["views", "--project", "docs"],
        ] {
            let finished = machine.run(command).await;
            assert_eq!(finished.code, Some(0), "{file}: {finished:?}");
        }
        // They are wrong for the commands of a server.
        assert_eq!(machine.run(&["token", "list"]).await.code, Some(2), "{file}");
    }
    assert_eq!(machine.installation.files(), ["Leptos.toml"], "there is no database");
}

/// As a CI system sets it to nothing, or to a file that is missing or something else.
#[tokio::test]
async fn variable_with_the_configuration_file_is_read_by_a_server_only() {
    let app = TestApp::start().await;
    for (value, code_of_server) in [("", 0), ("missing.toml", 2), ("wrong.toml", 2)] {
        let Machine { installation, token } = Machine::of(&app).await;
        let machine = Machine { installation: installation.set("DOCKET_CONFIG", value), token };
        std::fs::write(machine.installation.path("wrong.toml"), "this is no TOML").unwrap();
        for command in [&["job", "list", "--project", "docs"][..], &["views", "--project", "docs"]] {
            let finished = machine.run(command).await;
            assert_eq!(finished.code, Some(0), "{value:?}: {finished:?}");
        }
        let server = Installation::new().set("DOCKET_CONFIG", value);
        std::fs::write(server.path("wrong.toml"), "this is no TOML").unwrap();
        let added =
            server.run_with_input(&["user", "add", "vera", "--role", "viewer"], &format!("{PASSWORD}\n"));
        assert_eq!(added.code, Some(code_of_server), "{value:?}: {added:?}");
    }
}

#[test]
fn authorities_are_those_of_the_variable_only() {
    let server = TlsUpstream::start(&json!({"id": ID, "state": "completed"}));
    let client = Installation::new().set("DOCKET_SERVER", &server.url()).set("DOCKET_TOKEN", "dkt_x");
    std::fs::write(client.path("ca.pem"), &server.authority).unwrap();
    std::fs::write(client.path("Leptos.toml"), "ca_file = \"ca.pem\"\n").unwrap();
    let start = ["job", "start", "--project", "docs", "Fix typos"];
    let refused = client.run(&start);
    assert!(refused.code == Some(1) && refused.stderr.contains("not trusted"), "{refused:?}");
    std::fs::write(client.path("Leptos.toml"), "ca_file = \"missing.pem\"\n").unwrap();
    let client = client.set("DOCKET_CA_FILE", "ca.pem");
    assert_eq!(client.run(&start).code, Some(0));
    let client = client.unset("DOCKET_CA_FILE").set("DOCKET_CA_FILE", "missing.pem");
    let wrong = client.run(&start);
    assert!(wrong.code == Some(2) && wrong.stderr.contains("DOCKET_CA_FILE"), "{wrong:?}");
}

/// As a later version sends it: each object has one more field, and the values of enumerations are unknown.
fn later(value: &Value) -> Value {
    let is_enumeration = |name: &str| {
        ["state", "earlier_outcome", "follow_up_state", "checks", "review", "waiting_for"].contains(&name)
    };
    match value {
        Value::Object(fields) => {
            let mut fields: serde_json::Map<_, _> = fields
                .iter()
                .map(|(name, value)| match value.is_string() && is_enumeration(name) {
                    true => (name.clone(), json!("paused")),
                    false => (name.clone(), later(value)),
                })
                .collect();
            fields.insert("added_later".to_owned(), json!({"state": ["paused", 1, null]}));
            Value::Object(fields)
        }
        Value::Array(items) => items.iter().map(later).collect(),
        value => value.clone(),
    }
}

async fn serves(server: &MockServer, verb: &str, path: &str, body: &Value) {
    let response = ResponseTemplate::new(200).set_body_json(body);
    Mock::given(matchers::method(verb)).and(matchers::path(path)).respond_with(response).mount(server).await;
}

/// A server of a later version, with a job that it calls paused.
async fn later_server() -> MockServer {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    app.upstream.accepts_follow_ups().await;
    Archive::of(&app).await.write(day("2026-11-01"), rows(&[("/a", 3, 2)])).await;
    let machine = Machine::of(&app).await;
    let job = machine.json(&["job", "start", "--project", "docs", "Fix typos"]).await;
    let mut job =
        machine.json(&["job", "follow-up", "--project", "docs", job["id"].as_str().unwrap(), "Go on"]).await;
    let views =
        machine.json(&["views", "--project", "docs", "--from", "2026-11-01", "--to", "2026-11-01"]).await;
    job["id"] = json!(ID);
    let states = json!({"state": "open", "checks": "passed", "review": "none", "waiting_for": "author"});
    job["pull_request"] = json!({"url": "https://git.example/1", "number": 1, "conflict": false});
    job["pull_request"].as_object_mut().unwrap().append(&mut states.as_object().unwrap().clone());
    let server = MockServer::start().await;
    let list = json!({"jobs": [&job, &job], "next_cursor": null});
    let project = json!({"projects": [{"id": "docs", "name": "Docs", "scopes": ["jobs:read"]}]});
    serves(&server, "GET", "/api/v1/projects", &later(&project)).await;
    serves(&server, "GET", JOB, &later(&list)).await;
    serves(&server, "GET", "/api/v1/projects/docs/page-views", &later(&views)).await;
    serves(&server, "POST", JOB, &later(&job)).await;
    for action in ["messages", "cancel"] {
        serves(&server, "POST", &format!("{JOB}/{ID}/{action}"), &later(&job)).await;
    }
    serves(&server, "GET", &format!("{JOB}/{ID}"), &later(&job)).await;
    server
}

#[tokio::test]
async fn fields_and_values_of_later_versions_make_no_command_fail() {
    let server = later_server().await;
    let client = Installation::new().set("DOCKET_SERVER", &server.uri()).set("DOCKET_TOKEN", "dkt_x");
    for (command, printed) in [
        (&["job", "start", "Fix typos"][..], format!("{ID}  other\n")),
        (&["job", "show", ID], format!("{ID}  other\n")),
        (&["job", "follow-up", ID, "Go on"], format!("{ID}  other\n")),
        (&["job", "cancel", ID], format!("{ID}  other\n")),
        (&["job", "list"], format!("{ID}  other  ")),
        (&["views"], "/a".to_owned()),
        (&["job", "start", "--json", "Fix typos"], "\"state\":\"paused\"".to_owned()),
    ] {
        let finished = client.run(command);
        assert_eq!(finished.code, Some(0), "{command:?}: {finished:?}");
        assert!(finished.stdout.contains(&printed), "{command:?}: {finished:?}");
    }
    let views = client.run(&["views", "--json"]);
    let views: Value = serde_json::from_str(&views.stdout).unwrap();
    assert!(views["rows"][0]["added_later"].is_object(), "a row is printed as it was sent: {views}");
}

/// A state that is not known is not the end, unless the server says so.
#[tokio::test]
async fn job_in_an_unknown_state_is_awaited() {
    for (ended, code) in [(None, 0), (Some(false), 0), (Some(true), 4)] {
        let server = MockServer::start().await;
        let mut paused = json!({"id": ID, "state": "paused", "reason": null, "pull_request": null});
        if let Some(ended) = ended {
            paused["ended"] = json!(ended);
        }
        serves(&server, "POST", JOB, &paused).await;
        let completed = json!({"id": ID, "state": "completed", "ended": true, "reason": null});
        serves(&server, "GET", &format!("{JOB}/{ID}"), &completed).await;
        let client = Installation::new().set("DOCKET_SERVER", &server.uri()).set("DOCKET_TOKEN", "dkt_x");
        let finished = client.run(&["job", "start", "--project", "docs", "--wait", "Fix typos"]);
        assert_eq!(finished.code, Some(code), "{ended:?}: {finished:?}");
        let last = finished.stdout.lines().rfind(|line| line.starts_with(ID)).unwrap();
        let state = if code == 0 { "completed" } else { "other" };
        assert_eq!(last, format!("{ID}  {state}"), "{ended:?}: {finished:?}");
    }
}

#[tokio::test]
async fn announced_removal_is_reported_once() {
    for (header, words) in [
        (("deprecation", "@1798761600"), "will remove something that"),
        (
            ("sunset", "Wed, 30 Jun 2027 00:00:00 GMT"),
            "will remove something on Wed, 30 Jun 2027 00:00:00 GMT that",
        ),
    ] {
        let server = MockServer::start().await;
        let body = json!({"id": ID, "state": "completed", "projects": [{"id": "docs"}]});
        let response = ResponseTemplate::new(200).insert_header(header.0, header.1).set_body_json(body);
        Mock::given(matchers::any()).respond_with(response).mount(&server).await;
        let client = Installation::new().set("DOCKET_SERVER", &server.uri()).set("DOCKET_TOKEN", "dkt_x");
        let finished = client.run(&["job", "show", ID]);
        assert_eq!(finished.code, Some(0), "{finished:?}");
        assert_eq!(finished.stderr.matches(words).count(), 1, "{finished:?}");
        assert_eq!(server.received_requests().await.unwrap().len(), 2);
    }
}
