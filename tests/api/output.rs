//! What the commands of the binary print: text of others is escaped, and an output that cannot be written ends no command early.

mod every_command;
mod lost;

use std::io::{Read, Write};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::thread;

use serde_json::Value;
use wiremock::{Mock, MockServer, ResponseTemplate, matchers};

use crate::helpers::sources::sources;
use crate::helpers::{Finished, Installation, TestApp, json};

const ID: &str = "01920000-0000-7000-8000-000000000001";
/// Sequences of terminals, overrides of the direction of text, and commands of CI systems.
const HOSTILE: [&str; 9] = [
    "\u{1b}[2J\u{1b}]0;owned\u{7}",
    "\u{1b}]8;;https://evil.example\u{1b}\\click\u{1b}]8;;\u{1b}\\",
    "\u{9b}31m\u{9d}52;c;YQ==\u{9c}",
    "abc\u{202e}fdp\u{2066}",
    "::error::forged",
    "line\n::set-output name=a::b\n  ::add-mask::x",
    "line\r::stop-commands::x\r\n::error::y",
    "x ##[error]forged",
    "y ##vso[task.setvariable variable=a]b",
];

/// Checks that nothing in the output controls a terminal or a CI system.
#[track_caller]
fn assert_harmless(finished: &Finished) {
    for text in [&finished.stdout, &finished.stderr] {
        let is_unsafe = |letter: char| {
            (letter.is_control() && letter != '\n')
                || matches!(letter, '\u{2028}' | '\u{2029}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
        };
        assert!(!text.contains(is_unsafe), "{text:?}");
        for line in text.lines() {
            assert!(!line.trim_start().starts_with("::"), "{line:?}");
            assert!(!line.contains("##[") && !line.contains("##vso["), "{line:?}");
        }
    }
}

fn job(text: &str) -> Value {
    json!({
        "id": ID, "state": "completed", "reason": text, "prompt": text, "author": text, "created_at": "2026-11-21T12:00:00Z",
        "path": format!("/p/docs/jobs/{text}"), "pull_request": { "url": text }, "follow_ups": [],
    })
}

fn client(server: &str) -> Installation {
    Installation::new().set("DOCKET_SERVER", server).set("DOCKET_TOKEN", "dkt_x")
}

async fn respond(server: &MockServer, at: &str, body: &Value) {
    let response = ResponseTemplate::new(200).set_body_json(body);
    Mock::given(matchers::path(at)).respond_with(response).mount(server).await;
}

#[tokio::test]
async fn text_of_a_server_controls_neither_terminal_nor_ci() {
    for text in HOSTILE {
        let server = MockServer::start().await;
        respond(&server, &format!("/api/v1/projects/docs/jobs/{ID}"), &job(text)).await;
        let list = json!({ "jobs": [job(text)], "next_cursor": null });
        respond(&server, "/api/v1/projects/docs/jobs", &list).await;
        respond(
            &server,
            "/api/v1/projects/docs/templates",
            &json!({ "templates": [{ "id": text, "name": text }] }),
        )
        .await;
        respond(&server, "/api/v1/projects", &json!({ "projects": [{ "id": text }, { "id": text }] })).await;
        let views = json!({ "rows": [{ "path": text, "human": 1, "ai": 2, "total": 3 }], "rows_total": 1, "missing_days": [], "from": "2026-10-25", "to": "2026-11-21", "next_cursor": null, "provisional_days": [] });
        respond(&server, "/api/v1/projects/docs/page-views", &views).await;
        let client = client(&server.uri());
        for arguments in [
            &["job", "show", ID, "--project", "docs"][..],
            &["job", "show", ID, "--project", "docs", "--json"],
            &["job", "list", "--project", "docs"],
            &["job", "list", "--project", "docs", "--json"],
            &["job", "list"],
            &["job", "start", "--project", "docs", "--template", "none"],
            &["views", "--project", "docs"],
            &["views", "--project", "docs", "--csv"],
            &["views", "--project", "docs", "--json"],
        ] {
            assert_harmless(&client.run(arguments));
        }
        let shown = client.run(&["job", "show", ID, "--project", "docs", "--json"]);
        assert_eq!(serde_json::from_str::<Value>(&shown.stdout).unwrap(), job(text), "the JSON is exact");
    }
}

#[tokio::test]
async fn errors_of_a_server_control_neither_terminal_nor_ci() {
    for text in HOSTILE {
        let server = MockServer::start().await;
        let problem = json!({ "detail": text, "code": text });
        let response = ResponseTemplate::new(422).set_body_json(problem);
        Mock::given(matchers::any()).respond_with(response).mount(&server).await;
        let refused = client(&server.uri()).run(&["job", "list", "--project", "docs"]);
        assert_eq!(refused.code, Some(1), "{refused:?}");
        assert_harmless(&refused);
    }
}

#[tokio::test]
async fn table_has_one_line_for_each_row() {
    let server = MockServer::start().await;
    let jobs = json!({ "jobs": [{ "id": ID, "state": "completed", "reason": null, "prompt": "a", "author": "olga\nforged", "created_at": "2026-11-21T12:00:00Z", "path": "/", "pull_request": null }] });
    respond(&server, "/api/v1/projects/docs/jobs", &jobs).await;
    let listed = client(&server.uri()).run(&["job", "list", "--project", "docs"]);
    assert_eq!(listed.stdout.lines().count(), 1, "{listed:?}");
}

#[tokio::test]
async fn formulas_are_escaped_in_csv_as_in_exports() {
    let server = MockServer::start().await;
    let paths = ["/a", "=1+1", "+1", "-1", "@SUM(A1)", "\t=1", "\r=1", "a;=1", "say \"hi\", twice"];
    let rows: Vec<Value> =
        paths.iter().map(|path| json!({ "path": path, "human": 1, "ai": 2, "total": 3 })).collect();
    let views = json!({ "rows": rows, "rows_total": rows.len(), "missing_days": [], "from": "2026-10-25", "to": "2026-11-21", "next_cursor": null, "provisional_days": [] });
    respond(&server, "/api/v1/projects/docs/page-views", &views).await;
    let csv = client(&server.uri()).run(&["views", "--project", "docs", "--csv"]);
    let mut reader = csv::Reader::from_reader(csv.stdout.as_bytes());
    let cells: Vec<String> = reader.records().map(|record| record.unwrap()[0].to_owned()).collect();
    let expected =
        ["/a", "'=1+1", "'+1", "'-1", "'@SUM(A1)", "'\\u{9}'=1", "'\\u{d}'=1", "a;'=1", "say \"hi\", twice"];
    assert_eq!(cells, expected);
}

#[test]
fn endless_response_ends_with_an_error() {
    for (head, words) in
        [("HTTP/1.1 200 OK", "16 MiB"), ("HTTP/1.1 422 Unprocessable Content", "not as Docket does")]
    {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        thread::spawn(move || {
            for stream in listener.incoming() {
                let mut stream = stream.unwrap();
                _ = stream.read(&mut [0; 4096]);
                let mut piece = format!("{head}\r\ncontent-type: application/json\r\n\r\n[\"").into_bytes();
                // Ends when the client disconnects.
                while stream.write_all(&piece).is_ok() {
                    piece = vec![b'x'; 64 * 1024];
                }
            }
        });
        let finished = client(&url).run(&["job", "list", "--project", "docs"]);
        assert_eq!(finished.code, Some(1), "{finished:?}");
        assert!(finished.stderr.contains(words), "{finished:?}");
    }
}

#[tokio::test]
async fn text_of_the_database_controls_no_terminal() {
    let app = TestApp::start().await;
    let installation = Installation::new().set("DOCKET_DATABASE_URL", app.database_url());
    let create = ["token", "create", "--user", "olga", "--name", "CI", "--scopes", "jobs:read"];
    assert_eq!(installation.run(&create).code, Some(0));
    for text in HOSTILE {
        let text = text.replace('\n', " ");
        app.ledger().run(format!("UPDATE api_tokens SET name = '{text}'").leak()).await;
        app.ledger().run(format!("UPDATE users SET name = '{text}' WHERE role = 'viewer'").leak()).await;
        for command in ["token", "user"] {
            let listed = installation.run(&[command, "list"]);
            assert_eq!(listed.code, Some(0), "{listed:?}");
            assert_harmless(&listed);
        }
    }
}

#[test]
fn only_one_module_writes_to_the_terminal() {
    let writes = ["print!(", "println!(", "eprint!(", "eprintln!(", "stdout()", "io::stdout"];
    let writers = sources().into_iter().filter(|(_, source)| {
        let code = source.lines().filter(|line| !line.trim_start().starts_with("//"));
        code.into_iter().any(|line| writes.iter().any(|word| line.contains(word)))
    });
    let writers: Vec<PathBuf> = writers.map(|(path, _)| path).collect();
    assert_eq!(writers, [Path::new("crates/client/src/output.rs")]);
}
