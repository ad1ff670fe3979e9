//! Headers of every response, and the Content-Security-Policy of the pages.

use std::collections::BTreeSet;

use base::config::AccessConfig;
use reqwest::Method;

use crate::gate::pages;
use crate::helpers::{Browser, PASSWORD, Settings, TestApp, TestResponse, intent, tags};
use crate::second_factor;

/// One response of every kind.
async fn one_of_each(app: &TestApp) -> Vec<(&'static str, TestResponse)> {
    let (operator, viewer, anonymous) = (app.operator().await, app.sign_in("vera").await, app.anonymous());
    let foreign = operator.form("/api/jobs/create", &[]).header("sec-fetch-site", "cross-site");
    let another_host = format!("http://{}/p/docs", app.address());
    let another_host =
        super::helpers::http_client().build().unwrap().get(another_host).header("host", "evil.example");
    vec![
        ("a page", operator.get("/p/docs/jobs").await),
        ("the sign-in page", anonymous.get("/login").await),
        ("a page that is not there", operator.get("/nowhere").await),
        ("a redirect", anonymous.get("/p/docs").await),
        ("200", operator.post("/api/session/current", &[]).await),
        ("400", operator.create("", &intent()).await),
        ("401", anonymous.post("/api/session/current", &[]).await),
        ("403", viewer.create("x", &intent()).await),
        ("403 from elsewhere", operator.send(foreign).await),
        ("404", operator.post("/api/nowhere", &[]).await),
        ("405", operator.get("/api/jobs/create").await),
        ("a form", operator.submit("/api/session/current", &[], None).await),
        ("signing in", anonymous.sign_in("olga", PASSWORD).await),
        ("another host", anonymous.send(another_host).await),
        ("an asset", anonymous.get("/favicon.svg").await),
        ("an asset that is not there", anonymous.get("/pkg/0/nothing.css").await),
        ("a probe", anonymous.get("/healthz").await),
        ("the other probe", anonymous.get("/readyz").await),
    ]
}

#[tokio::test]
async fn every_response_has_a_unique_request_id_and_security_headers() {
    let app = TestApp::start().await;
    let responses = one_of_each(&app).await;
    let ids: BTreeSet<&str> = responses.iter().map(|(_, response)| response.header("x-request-id")).collect();
    assert_eq!(ids.len(), responses.len());
    for (kind, response) in &responses {
        assert!(response.header("x-request-id").len() >= 16, "{kind}");
        assert_eq!(response.header("x-content-type-options"), "nosniff", "{kind}");
        assert_eq!(response.header("referrer-policy"), "same-origin", "{kind}");
        assert_eq!(response.header("cross-origin-opener-policy"), "same-origin", "{kind}");
        assert_eq!(response.header("cross-origin-resource-policy"), "same-origin", "{kind}");
        for feature in ["camera=()", "microphone=()", "geolocation=()", "payment=()"] {
            assert!(response.header("permissions-policy").contains(feature), "{kind}");
        }
        assert_eq!(response.header("server"), "", "{kind}");
        assert_eq!(response.header("access-control-allow-origin"), "", "{kind}");
    }
}

#[tokio::test]
async fn request_id_is_in_the_log() {
    let app = TestApp::start().await;
    let response = app.operator().await.get("/p/docs/jobs").await;
    assert!(!crate::helpers::logged_of(response.header("x-request-id")).is_empty());
}

#[tokio::test]
async fn request_id_of_a_client_is_ignored() {
    let app = TestApp::start().await;
    let anonymous = app.anonymous();
    let response =
        anonymous.send(anonymous.request(Method::GET, "/healthz").header("x-request-id", "forged")).await;
    assert!(!response.header("x-request-id").contains("forged"));
}

#[tokio::test]
async fn personal_responses_are_not_cached() {
    let app = TestApp::start().await;
    for (kind, response) in one_of_each(&app).await {
        let expected = if kind == "an asset" { "public, no-cache" } else { "no-store" };
        assert_eq!(response.header("cache-control"), expected, "{kind}");
    }
}

/// With `no-store` in a background response, browsers would not restore the page by their Back button.
#[tokio::test]
async fn job_statuses_are_revalidated_but_allow_the_back_forward_cache() {
    let app = TestApp::start().await;
    for browser in [app.operator().await, app.anonymous()] {
        let response = browser.post("/api/jobs/statuses", &[("project", "docs")]).await;
        assert_eq!(response.header("cache-control"), "private, no-cache", "{}", response.status);
    }
}

/// Responses that are not pages can neither be framed nor run scripts.
#[tokio::test]
async fn responses_other_than_pages_have_a_restrictive_policy() {
    let app = TestApp::start().await;
    for (kind, response) in one_of_each(&app).await {
        let policy = response.header("content-security-policy");
        if response.header("content-type").starts_with("text/html") {
            continue;
        }
        for (name, value) in
            [("script-src", "'none'"), ("frame-ancestors", "'none'"), ("form-action", "'none'")]
        {
            assert_eq!(directive(policy, name), value, "{kind}: {policy}");
        }
    }
}

#[tokio::test]
async fn hsts_is_sent_only_behind_https() {
    let app = TestApp::start().await;
    for (kind, response) in one_of_each(&app).await {
        assert_eq!(response.header("strict-transport-security"), "", "{kind}");
    }
    let settings = Settings { public_url: Some("https://docket.example".to_owned()), ..Settings::default() };
    let app = TestApp::with(settings).await;
    for (kind, response) in one_of_each(&app).await {
        let policy = response.header("strict-transport-security");
        assert_eq!(policy, "max-age=31536000", "{kind}");
    }
    let access = AccessConfig { hsts_subdomains: true, ..AccessConfig::default() };
    let settings =
        Settings { public_url: Some("https://docket.example".to_owned()), access, ..Settings::default() };
    let app = TestApp::with(settings).await;
    for (kind, response) in one_of_each(&app).await {
        assert_eq!(
            response.header("strict-transport-security"),
            "max-age=31536000; includeSubDomains",
            "{kind}"
        );
    }
}

/// An attacker on the network must not be able to read any of them.
#[tokio::test]
async fn every_cookie_is_secure_behind_https() {
    let settings = Settings { public_url: Some("https://docket.example".to_owned()), ..Settings::default() };
    let app = TestApp::with(settings).await;
    let ada = app.anonymous();
    let page = "https://docket.example/admin/users";
    let mut set = Vec::new();
    for response in [
        ada.get("/setup?token=nothing").await,
        ada.sign_in("ada", PASSWORD).await,
        ada.get("/p/docs/jobs").await,
        ada.submit(
            "/api/users/invite",
            &[("name", "ivan"), ("role", "viewer"), ("access", "all")],
            Some(page),
        )
        .await,
        ada.get("/admin/users").await,
        ada.post("/api/session/logout", &[]).await,
    ] {
        for cookie in response.headers.get_all("set-cookie") {
            set.push(cookie.to_str().unwrap().to_owned());
        }
    }
    assert!(
        set.iter().all(|cookie| cookie.starts_with("__Host-") && cookie.contains("; Secure")),
        "{set:#?}"
    );
    for name in ["docket-link", "docket=", "docket-project", "docket-flash"] {
        assert!(set.iter().any(|cookie| cookie.starts_with(&format!("__Host-{name}"))), "{name}: {set:#?}");
    }
}

/// The directives of a page's policy, by name.
fn directive<'a>(policy: &'a str, name: &str) -> &'a str {
    let found = policy
        .split(';')
        .map(str::trim)
        .find_map(|directive| directive.strip_prefix(name)?.strip_prefix(' '));
    found.unwrap_or_default()
}

fn assert_strict(page: &TestResponse, path: &str) -> String {
    let policy = page.header("content-security-policy");
    for (name, value) in [
        ("default-src", "'self'"),
        ("style-src", "'self'"),
        ("object-src", "'none'"),
        ("base-uri", "'none'"),
        ("frame-ancestors", "'none'"),
        ("form-action", "'self'"),
    ] {
        assert_eq!(directive(policy, name), value, "{path}: {policy}");
    }
    assert!(!policy.contains("unsafe-inline") && !policy.contains("'unsafe-eval'"), "{path}: {policy}");
    let nonce = directive(policy, "script-src")
        .split_once("'nonce-")
        .unwrap()
        .1
        .split('\'')
        .next()
        .unwrap()
        .to_owned();
    assert!(nonce.len() >= 16, "{path}: {nonce}");
    let scripts = format!("'nonce-{nonce}' 'wasm-unsafe-eval' 'strict-dynamic'");
    assert_eq!(directive(policy, "script-src"), scripts, "{path}: {policy}");
    // Scripts have the nonce, and the policy forbids nothing that the page needs.
    let tags = tags(&page.text);
    assert!(tags.iter().any(|tag| tag.name == "script"), "{path} has no script, so that this proves nothing");
    for tag in tags {
        assert!(tag.name != "script" || tag.attribute("nonce") == nonce, "{path}: {tag:?}");
        let inline = tag.attributes.iter().any(|(name, _)| name == "style" || name.starts_with("on"));
        assert!(!inline && tag.name != "style", "{path}: {tag:?}");
    }
    nonce
}

async fn check(person: &Browser, path: &str, nonces: &mut BTreeSet<String>) {
    let page = person.get(path).await;
    assert!([200, 404, 502].contains(&page.status), "{path}: {}", page.status);
    assert!(page.header("content-type").starts_with("text/html"), "{path}");
    assert!(nonces.insert(assert_strict(&page, path)), "{path}: a nonce was used twice");
}

#[tokio::test]
async fn every_page_has_a_strict_policy_with_a_unique_nonce() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let job = operator.created("Fix typos").await;
    let mut nonces = BTreeSet::new();
    let job_page = format!("/p/docs/jobs/{}", job["id"].as_str().unwrap());
    let others =
        [job_page.as_str(), "/nowhere", "/p/nowhere", "/p/nowhere/jobs", "/p/docs/jobs?status=nonsense"];
    let pages = pages();
    for path in pages
        .iter()
        .map(String::as_str)
        .filter(|path| !["/login", "/setup", "/"].contains(path))
        .chain(others)
    {
        check_any(&operator, path, &mut nonces).await;
    }
    for path in ["/login", "/setup", "/login"] {
        check(&app.anonymous(), path, &mut nonces).await;
    }
}

async fn check_any(person: &Browser, path: &str, nonces: &mut BTreeSet<String>) {
    let page = person.get(path).await;
    assert!(nonces.insert(assert_strict(&page, path)), "{path}: a nonce was used twice");
}

#[tokio::test]
async fn page_without_its_data_has_an_error_status() {
    let app = TestApp::start().await;
    let viewer = app.sign_in("vera").await;
    for (path, status) in [
        ("/p/docs/jobs", 200),
        ("/nowhere", 404),
        ("/p/docs/nowhere", 404),
        ("/p/nowhere", 404),
        ("/p/nowhere/jobs", 404),
        ("/p/docs/jobs/01930000-0000-7000-8000-000000000000", 404),
        ("/p/docs/jobs/1", 400),
        ("/p/docs/jobs?status=nonsense", 400),
        ("/p/docs/analytics?from=2025-02-30", 400),
        // The scripted upstream has no response.
        ("/p/docs/analytics", 502),
    ] {
        assert_eq!(viewer.get(path).await.status, status, "{path}");
    }
}

#[tokio::test]
async fn root_redirects_to_the_first_project() {
    let app = TestApp::start().await;
    let response = app.sign_in("vera").await.get("/").await;
    assert_eq!((response.status, response.location()), (302, "/p/docs"));
}

#[tokio::test]
async fn pages_are_not_indexed_by_search_engines() {
    let app = second_factor::app().await;
    second_factor::switch_on(&app, &app.operator().await).await;
    let (code, ada, anonymous) =
        (second_factor::first_step(&app, "olga").await, app.sign_in("ada").await, app.anonymous());
    let pages = pages();
    let known = pages.iter().map(String::as_str).filter(|path| !["/", "/login", "/setup"].contains(path));
    let shown = known.chain(["/nowhere", "/p/nowhere"]).map(|path| (&ada, path));
    for (person, path) in
        shown.chain([(&anonymous, "/login"), (&anonymous, "/setup"), (&code, "/login/code")])
    {
        let page = person.get(path).await;
        assert!(page.header("content-type").starts_with("text/html"), "{path}: {}", page.status);
        let tags = tags(&page.text);
        let robots: Vec<&str> = tags
            .iter()
            .filter(|tag| tag.name == "meta" && tag.attribute("name") == "robots")
            .map(|tag| tag.attribute("content"))
            .collect();
        assert_eq!(robots, ["noindex"], "{path}");
    }
}

#[tokio::test]
async fn robots_txt_disallows_everything_without_a_session() {
    let app = TestApp::start().await;
    let robots = app.anonymous().get("/robots.txt").await;
    assert_eq!((robots.status, robots.text.as_str()), (200, "User-agent: *\nDisallow: /\n"));
    assert!(robots.header("content-type").starts_with("text/plain"), "{:?}", robots.headers);
}
