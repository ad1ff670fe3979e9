//! Nothing is accessible without a session or the required role.

use docket::server::http::router::page_paths;
use leptos::server_fn::axum::server_fn_paths;
use model::user::Role;
use reqwest::Method;

use crate::helpers::work::work_at;
use crate::helpers::{Browser, PASSWORD, TestApp, intent, json, views_answer};
use crate::limits::{send_raw, status};

/// The server functions that work without a session.
pub(crate) const OPEN: [&str; 7] = [
    "/api/session/code",
    "/api/session/link",
    "/api/session/login",
    "/api/session/passkey",
    "/api/session/passkey-options",
    "/api/session/open-link",
    "/api/session/setup",
];

/// Every server function, in the order of their names: Leptos lists them in a different order in each process.
pub(crate) fn endpoints() -> Vec<&'static str> {
    let mut found: Vec<_> = server_fn_paths().map(|(path, _)| path).collect();
    found.sort_unstable();
    assert!(found.len() >= 11, "{found:?}");
    found
}

fn guarded_endpoints() -> Vec<&'static str> {
    endpoints().into_iter().filter(|path| !OPEN.contains(path)).collect()
}

/// Every page, with a project and with a job that may not exist.
pub(crate) fn pages() -> Vec<String> {
    let id = "01930000-0000-7000-8000-000000000000";
    let pages: Vec<String> = page_paths()
        .map(|path| {
            path.replace("{project}", "docs")
                .replace("{job}", id)
                .replace("{batch}", id)
                .replace("{area}", "keyboard")
                .replace("{person}", id)
        })
        .collect();
    assert!(pages.len() >= 8 && pages.iter().all(|path| !path.contains('{')), "{pages:?}");
    pages
}

#[tokio::test]
async fn anonymous_page_request_redirects_to_sign_in_and_back() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let open = ["/login", "/setup"];
    let unknown =
        ["/nowhere", "/p/docs/nowhere", "/p/nowhere", "/.env", "/admin/users", "/login/x", "/Login"];
    for path in pages().iter().map(String::as_str).filter(|path| !open.contains(path)).chain(unknown) {
        for path in [path.to_owned(), format!("{path}?status=active&q=a%20b")] {
            let response = anonymous.get(&path).await;
            assert_eq!(response.status, 303, "{path}: {}", response.text);
            let next: String = url::form_urlencoded::byte_serialize(path.as_bytes()).collect();
            let expected = if path == "/" { "/login".to_owned() } else { format!("/login?next={next}") };
            assert_eq!(response.location(), expected, "{path}");
            assert_eq!(response.text, "", "{path}");
        }
    }
    for path in open {
        assert_eq!(anonymous.get(path).await.status, 200, "{path}");
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn anonymous_request_is_refused_by_every_endpoint() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let fields = [("project", "docs"), ("prompt", "x"), ("intent", "x"), ("job", "x"), ("jobs", "x")];
    for path in
        guarded_endpoints().into_iter().chain(["/api/nowhere", "/api/", "/api/jobs", "/api/jobs/create/x"])
    {
        anonymous.post(path, &fields).await.refused(401, "unauthenticated");
        anonymous.send(anonymous.request(Method::GET, path)).await.refused(401, "unauthenticated");
        let form = anonymous.submit(path, &fields, Some(&format!("{}/p/docs/jobs?q=x", app.origin()))).await;
        assert_eq!((form.status, form.location()), (303, "/login?next=%2Fp%2Fdocs%2Fjobs%3Fq%3Dx"), "{path}");
    }
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn path_variants_do_not_bypass_authentication() {
    let app = TestApp::start().await;
    // As they are: a client would resolve the dots.
    let sent = async |begin: String, rest: &str| {
        let request = format!("{begin} HTTP/1.1\r\nhost: {}\r\nconnection: close\r\n{rest}", app.address());
        send_raw(app.address(), request.as_bytes()).await
    };
    for (path, expected) in [
        ("//p/docs", "303"),
        ("/login/../p/docs", "400"),
        ("/login/%2e%2e/p/docs", "400"),
        ("/login;/p/docs", "303"),
        ("/p/docs/", "303"),
        ("/%70/docs", "303"),
        ("/login%00", "303"),
        ("/pkg/../p/docs", "404"),
        ("/pkg/..%2fp/docs", "404"),
        ("/healthz/../p/docs", "400"),
        ("/setup/..;/p/docs", "303"),
        ("/p/docs?__path=/login", "303"),
    ] {
        let response = sent(format!("GET {path}"), "accept: text/html\r\n\r\n").await;
        assert_eq!(status(&response), expected, "{path}: {response}");
        assert_eq!(response.contains("\r\nlocation: /login"), expected == "303", "{path}: {response}");
        assert!(!response.contains("API reference"), "{path}");
    }
    let form = "accept: application/json\r\nsec-fetch-site: same-origin\r\n\
                content-type: application/x-www-form-urlencoded\r\ncontent-length: 12\r\n\r\nproject=docs";
    for (path, expected) in [
        ("/api//jobs/list", "401"),
        ("/api/session/login/../../jobs/list", "400"),
        ("/API/jobs/list", "401"),
        ("/api/jobs/list/", "401"),
    ] {
        let response = sent(format!("POST {path}"), form).await;
        assert_eq!(status(&response), expected, "{path}: {response}");
    }
}

#[tokio::test]
async fn sign_in_pages_reveal_no_internal_data() {
    let app = TestApp::start().await;
    for path in ["/login", "/login?next=%2Fp%2Fdocs", "/setup"] {
        let page = app.anonymous().get(path).await;
        assert_eq!(page.status, 200, "{path}");
        for inside in ["API reference", "olga", "sqlite", &app.upstream.url()] {
            assert!(!page.text.contains(inside), "{path} reveals {inside}");
        }
    }
}

#[tokio::test]
async fn viewer_reads_everything_and_starts_nothing() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let job = app.operator().await.created("Fix typos").await;
    app.upstream.reset().await;
    app.upstream.on_views(wiremock::ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let viewer = app.sign_in("vera").await;
    let message = viewer.create("Fix typos", &intent()).await.refused(403, "forbidden");
    assert!(message.contains("viewer") && message.contains("operator"), "{message}");
    viewer.follow_up(&job, "And more", &intent()).await.refused(403, "forbidden");
    assert_eq!(app.upstream.requests().await.len(), 0);

    assert_eq!(viewer.job(&job).await["prompt"], "Fix typos");
    let id = job["id"].as_str().unwrap();
    for (endpoint, field) in [
        ("/api/jobs/list", ("q", "")),
        ("/api/jobs/statuses", ("jobs", id)),
        ("/api/jobs/form", ("job", id)),
        ("/api/analytics/views", ("from", "")),
        ("/api/upstream/budgets", ("x", "")),
        ("/api/session/current", ("x", "")),
    ] {
        viewer.post_json(endpoint, &[("project", "docs"), field]).await;
    }
    for path in pages() {
        let page = viewer.get(&path).await;
        assert!(!page.text.contains("action=\"/api/jobs/create\""), "{path}");
    }
}

#[tokio::test]
async fn operators_and_administrators_may_start_jobs() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    for name in ["olga", "ada"] {
        assert_eq!(app.sign_in(name).await.created("Fix typos").await["author"], name);
    }
}

async fn is_signed_in(browser: &Browser) -> bool {
    let response = browser.post("/api/session/current", &[]).await;
    let page = browser.get("/p/docs/jobs").await;
    assert_eq!(response.status == 200, page.status == 200, "{} and {}", response.status, page.status);
    response.status == 200
}

#[tokio::test]
async fn disabled_user_is_signed_out_at_the_next_request() {
    let app = TestApp::start().await;
    let (olga, otto) = (app.operator().await, app.sign_in("otto").await);
    assert!(is_signed_in(&olga).await && is_signed_in(&otto).await);
    app.state().store.set_disabled((&work_at(app.clock().now())).into(), "olga", true).await.unwrap();
    olga.create("Fix typos", &intent()).await.refused(401, "unauthenticated");
    assert!(!is_signed_in(&olga).await && is_signed_in(&otto).await);
    app.anonymous().sign_in("olga", PASSWORD).await.refused(401, "unauthenticated");
    app.state().store.set_disabled((&work_at(app.clock().now())).into(), "olga", false).await.unwrap();
    assert!(is_signed_in(&app.operator().await).await);
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn new_password_ends_existing_sessions() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    app.set_password("olga", "another long password").await;
    assert!(!is_signed_in(&olga).await);
    olga.sign_in("olga", PASSWORD).await.refused(401, "unauthenticated");
    assert_eq!(olga.sign_in("olga", "another long password").await.status, 200);
    assert!(is_signed_in(&olga).await);
}

#[tokio::test]
async fn forged_cookie_is_no_session() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let cookie = olga.cookie().unwrap();
    let (name, id) = cookie.split_once('=').unwrap();
    let stored = app.database_dump().await;
    assert!(!stored.contains(id), "the session id is in the database");
    let other = if id.starts_with('A') { 'B' } else { 'A' };
    for forged in
        ["", "AAAAAAAAAAAAAAAAAAAAAA", "x", "' OR 1=1 --", &format!("{other}{}", &id[1..]), &id[..21]]
    {
        let client = app.anonymous();
        client.set_cookie(&format!("{name}={forged}"));
        assert!(!is_signed_in(&client).await, "{forged}");
    }
    let copy = app.anonymous();
    copy.set_cookie(&cookie);
    assert!(is_signed_in(&copy).await);
}

#[tokio::test]
async fn session_endpoint_returns_user_role_and_projects() {
    let app = TestApp::start().await;
    for (name, role) in [("vera", Role::Viewer), ("olga", Role::Operator), ("ada", Role::Admin)] {
        let session = app.sign_in(name).await.post_json("/api/session/current", &[]).await;
        let projects = json!([{"id": "docs", "name": "Docs"}, {"id": "api", "name": "API reference"}]);
        assert_eq!(session, json!({"username": name, "role": role.as_str(), "projects": projects}));
    }
}

#[tokio::test]
async fn unknown_host_name_reaches_only_the_probes() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let by = |path: &str, host: &str| {
        let lines = format!("GET {path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n");
        let cookie = olga.cookie().unwrap();
        format!("{lines}cookie: {cookie}\r\naccept: text/html\r\n\r\n")
    };
    let port = app.address().port();
    for host in ["evil.example".to_owned(), format!("evil.example:{port}"), "127.0.0.1".to_owned()] {
        for path in ["/", "/login", "/p/docs/jobs", "/robots.txt", "/nowhere"] {
            let response = send_raw(app.address(), by(path, &host).as_bytes()).await;
            assert_eq!(status(&response), "421", "{host}{path}: {response}");
            assert!(
                !response.contains("<html") && !response.contains("location:"),
                "{host}{path}: {response}"
            );
        }
        for path in ["/healthz", "/readyz"] {
            assert_eq!(
                status(&send_raw(app.address(), by(path, &host).as_bytes()).await),
                "200",
                "{host}{path}"
            );
        }
    }
    let none = send_raw(app.address(), by("/login", "x").replace("host: x\r\n", "").as_bytes()).await;
    assert_eq!(status(&none), "421", "{none}");
    for host in [format!("127.0.0.1:{port}"), format!("localhost:{port}")] {
        assert_eq!(
            status(&send_raw(app.address(), by("/p/docs/jobs", &host).as_bytes()).await),
            "200",
            "{host}"
        );
    }
}
