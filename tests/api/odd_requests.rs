//! Requests that no browser sends: invalid ids, paths with `..`, and request smuggling. The server rejects them early.

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE};

use crate::gate::endpoints;
use crate::helpers::TestApp;
use crate::limits::{send_raw, status};

/// Invalid ids that would change a path, a header or a statement if they were inserted into one.
fn odd_ids() -> Vec<String> {
    let odd = [
        "../x",
        "..",
        "a/b",
        "a\\b",
        "%2e%2e",
        "a%2eb",
        "..%2fx",
        "a?b",
        "a#b",
        "a&b",
        "a\r\nb",
        "a\nb",
        "a\0b",
        "a b",
        "é",
        "' OR 1=1 --",
    ];
    odd.into_iter()
        .map(str::to_owned)
        .chain(["a".repeat(10_000), format!("docs/{}", "../".repeat(3_000))])
        .collect()
}

#[tokio::test]
async fn invalid_project_id_is_400_and_nothing_is_forwarded() {
    let app = TestApp::start().await;
    let admin = app.sign_in("ada").await;
    let given = [
        ("prompt", "x"),
        ("intent", "x"),
        ("job", "x"),
        ("jobs", "x"),
        ("text", "x"),
        ("name", "x"),
        ("query", ""),
        ("view", "x"),
        ("batch", "x"),
        ("template", "x"),
        ("values", "x"),
        ("tag", "x"),
        ("remote_id", "x"),
        ("message", "0"),
        ("attempt", "1"),
        ("outcome", "not_started"),
        ("day", "2026-11-21"),
        ("id", "x"),
        ("from", "2026-11-01"),
        ("to", "2026-11-02"),
        ("path", "/x"),
        ("kind", "json"),
        ("address", "https://hooks.example/"),
        ("direction", "up"),
        ("webhook", "x"),
        ("delivery", "x"),
    ];
    let mut tested = 0;
    for path in endpoints().into_iter().filter(|path| !path.starts_with("/api/session/")) {
        let with = |project: &str| {
            let mut pairs = given.to_vec();
            pairs.push(("project", project));
            admin.call(path, &pairs)
        };
        // Endpoints without a project ignore the field.
        let unknown = admin.send(with("nowhere")).await;
        if unknown.status != 404 || !unknown.text.contains("project") {
            continue;
        }
        tested += 1;
        for odd in odd_ids() {
            admin.send(with(&odd)).await.refused(400, "bad_input");
        }
    }
    assert!(tested >= 35, "only {tested} endpoints were found to take a project");
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn invalid_ids_are_400_and_nothing_is_forwarded() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let admin = app.sign_in("ada").await;
    let job = admin.created("Fix typos").await;
    let job = job["id"].as_str().unwrap();
    app.upstream.reset().await;
    let mut accepted = Vec::new();
    for (endpoint, field, others) in [
        ("/api/jobs/get", "job", vec![]),
        ("/api/jobs/check", "job", vec![]),
        ("/api/jobs/form", "job", vec![]),
        ("/api/jobs/draft", "job", vec![("text", "x")]),
        ("/api/jobs/message", "job", vec![("prompt", "x"), ("intent", "x")]),
        ("/api/jobs/message", "intent", vec![("prompt", "x"), ("job", job)]),
        ("/api/jobs/resolve", "job", vec![("message", "0"), ("attempt", "1"), ("outcome", "not_started")]),
        ("/api/jobs/create", "intent", vec![("prompt", "x")]),
        ("/api/jobs/create", "template_id", vec![("prompt", "x"), ("intent", "x1")]),
        ("/api/jobs/import", "remote_id", vec![]),
        ("/api/jobs/statuses", "jobs", vec![]),
        ("/api/jobs/archive", "jobs", vec![]),
        ("/api/jobs/unarchive", "jobs", vec![]),
        ("/api/jobs/tag", "jobs", vec![("tag", "x")]),
        ("/api/jobs/untag", "jobs", vec![("tag", "x")]),
        ("/api/jobs/list", "cursor", vec![]),
        ("/api/queue/cancel", "message", vec![]),
        ("/api/queue/move", "message", vec![("to", "first")]),
        ("/api/batches/get", "batch", vec![]),
        ("/api/batches/start", "batch", vec![]),
        ("/api/batches/cancel", "batch", vec![]),
        ("/api/batches/discard", "batch", vec![]),
        ("/api/batches/form", "from", vec![]),
        ("/api/batches/use-template", "template", vec![("prompt", "x"), ("values", "x")]),
        (
            "/api/batches/use-template",
            "template_id",
            vec![("prompt", "x"), ("values", "x"), ("template", "")],
        ),
        ("/api/batches/prepare", "intent", vec![("prompt", "x {{a}}"), ("values", "x")]),
        ("/api/templates/form", "template", vec![]),
        ("/api/templates/save", "template", vec![("name", "x"), ("text", "x")]),
        ("/api/templates/remove", "template", vec![]),
        ("/api/saved-views/update", "view", vec![("name", "x")]),
        ("/api/saved-views/remove", "view", vec![]),
        ("/api/annotations/save", "id", vec![("day", "2026-11-21"), ("text", "x")]),
        ("/api/annotations/remove", "id", vec![]),
        ("/api/users/renew", "user", vec![]),
        ("/api/users/release-invitation", "user", vec![]),
        ("/api/users/withdraw", "user", vec![]),
        ("/api/users/change", "user", vec![("role", "viewer"), ("access", "all")]),
        ("/api/users/disable", "user", vec![]),
        ("/api/users/enable", "user", vec![]),
        ("/api/users/sign-out", "user", vec![]),
        ("/api/account/sign-out", "session", vec![]),
        ("/api/webhooks/enable", "webhook", vec![]),
        ("/api/webhooks/events", "webhook", vec![]),
        ("/api/webhooks/disable", "webhook", vec![]),
        ("/api/webhooks/remove", "webhook", vec![]),
        ("/api/webhooks/renew", "webhook", vec![]),
        ("/api/webhooks/test", "webhook", vec![]),
        ("/api/webhooks/deliveries", "webhook", vec![]),
        ("/api/webhooks/retry", "delivery", vec![]),
        ("/api/webhooks/retry-all", "webhook", vec![]),
    ] {
        for odd in odd_ids() {
            // The upstream's own ids may use any script.
            if field == "remote_id" && (odd == "é" || odd == "a&b") {
                continue;
            }
            let mut pairs = vec![("project", "docs"), (field, odd.as_str())];
            pairs.extend(others.iter().copied());
            let response = admin.post(endpoint, &pairs).await;
            if response.status != 400 {
                accepted.push(format!(
                    "{endpoint} with {field} = {odd:.20?}: {} {}",
                    response.status, response.text
                ));
            }
        }
    }
    assert!(accepted.is_empty(), "{accepted:#?}");
    assert_eq!(app.upstream.requests().await.len(), 0);
}

/// Invalid ids in URLs that no browser would send.
#[tokio::test]
async fn url_with_an_invalid_id_shows_no_other_page() {
    let app = TestApp::start().await;
    let cookie = app.operator().await.cookie().unwrap();
    let long = "a".repeat(10_000);
    // An unknown project does not exist; the ids of jobs and batches have a form.
    let unknown = ["404", "404", "400", "400", "400"];
    let odd = [
        ("..", ["400"; 5]),
        ("%2e%2e", ["400"; 5]),
        ("%2e%2e%2f", unknown),
        ("..%2f..%2fx", unknown),
        ("a%3fb", unknown),
        ("a%23b", unknown),
        ("a%0d%0ab", unknown),
        ("a%00b", unknown),
        ("%ff", unknown),
        ("%", unknown),
        ("a;b", unknown),
        ("a\\b", ["404", "404", "404", "404", "400"]),
        (long.as_str(), unknown),
    ];
    for (id, expected) in odd {
        let mut statuses = Vec::new();
        for path in [
            format!("/p/{id}"),
            format!("/p/{id}/jobs"),
            format!("/p/docs/jobs/{id}"),
            format!("/p/docs/batches/{id}"),
            format!("/p/{id}/analytics/export.csv?from=2026-11-01&to=2026-11-02"),
        ] {
            let request = format!(
                "GET {path} HTTP/1.1\r\nhost: {}\r\naccept: text/html\r\ncookie: {cookie}\r\nconnection: close\r\n\r\n",
                app.address()
            );
            let response = send_raw(app.address(), request.as_bytes()).await;
            statuses.push(status(&response).to_owned());
        }
        assert_eq!(statuses, expected, "{id:.20}");
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn smuggled_requests_are_not_processed() {
    let app = TestApp::start().await;
    for (head, why, expected) in [
        (
            "GET /healthz HTTP/1.1\r\nhost: x\r\ntransfer-encoding: chunked\r\ncontent-length: 5\r\n",
            "two lengths",
            "200",
        ),
        (
            "GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ncontent-length: 6\r\n",
            "lengths that differ",
            "400",
        ),
        ("GET /healthz HTTP/1.1\r\nhost: x\r\ncontent-length: +5\r\n", "a length that is none", "400"),
        ("GET /healthz HTTP/1.1\r\nhost: x\r\nx-a: b\0c\r\n", "a NUL in a header", "400"),
        ("GET /heal thz HTTP/1.1\r\nhost: x\r\n", "a blank in the path", "400"),
    ] {
        let request =
            format!("{head}connection: close\r\n\r\n0\r\n\r\nGET /login HTTP/1.1\r\nhost: x\r\n\r\n");
        let response = send_raw(app.address(), request.as_bytes()).await;
        assert_eq!(status(&response), expected, "{why}: {response}");
        assert_eq!(response.matches("HTTP/1.1 ").count(), 1, "{why}: {response}");
        assert!(!response.contains("<html"), "{why}: {response}");
    }
    // Server functions accept the fields of forms, however they are framed.
    let operator = app.operator().await;
    let request = operator.request(Method::POST, "/api/session/current").header(ACCEPT, "application/json");
    let request = request
        .header("sec-fetch-site", "same-origin")
        .header(CONTENT_TYPE, "application/x-www-form-urlencoded");
    assert_eq!(operator.send(request.body("x=y")).await.status, 200);
}
