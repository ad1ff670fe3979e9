//! Requests that change something must come from Docket's own pages, as url-encoded fields.

use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, ORIGIN};

use crate::gate::endpoints;
use crate::helpers::{Browser, PASSWORD, TestApp, fields, intent};

/// What other sites, and clients other than browsers, can send.
const FOREIGN: [&[(&str, &str)]; 13] = [
    &[],
    &[("sec-fetch-site", "cross-site")],
    &[("sec-fetch-site", "same-site")],
    &[("sec-fetch-site", "none")],
    &[("sec-fetch-site", "none"), ("sec-fetch-mode", "cors")],
    &[("sec-fetch-site", "none"), ("sec-fetch-mode", "navigate"), ("origin", "https://evil.example")],
    &[("sec-fetch-site", "cross-site"), ("sec-fetch-mode", "navigate")],
    &[("sec-fetch-site", "")],
    &[("origin", "null")],
    &[("origin", "https://evil.example")],
    &[("origin", "http://127.0.0.1")],
    &[("sec-fetch-site", "cross-site"), ("origin", "OURS")],
    &[("sec-fetch-site", "cross-site"), ("origin", "https://evil.example"), ("referer", "OURS/p/docs")],
];

fn everything() -> Vec<(&'static str, String)> {
    vec![
        ("project", "docs".to_owned()),
        ("prompt", "Fix typos".to_owned()),
        ("intent", intent()),
        ("job", "01930000-0000-7000-8000-000000000000".to_owned()),
        ("jobs", String::new()),
        ("username", "olga".to_owned()),
        ("password", PASSWORD.to_owned()),
        ("token", "x".to_owned()),
    ]
}

async fn is_signed_in(browser: &Browser) -> bool {
    browser.post("/api/session/current", &[]).await.status == 200
}

#[tokio::test]
async fn endpoints_refuse_cross_site_posts() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    let given = everything();
    let pairs: Vec<_> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
    for path in endpoints() {
        for headers in FOREIGN {
            for accept in ["application/json", "text/html"] {
                let mut request = operator.form(path, &pairs).header(ACCEPT, accept);
                for (name, value) in headers {
                    request = request.header(*name, value.replace("OURS", &app.origin()));
                }
                operator.send(request).await.refused(403, "forbidden");
            }
        }
    }
    assert!(is_signed_in(&operator).await, "a foreign post signed her out");
    let anonymous = app.anonymous();
    let request = anonymous.form("/api/session/login", &pairs).header("sec-fetch-site", "cross-site");
    anonymous.send(request).await.refused(403, "forbidden");
    assert_eq!(anonymous.cookie(), None);
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn pages_and_unknown_paths_refuse_cross_site_posts() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    for path in ["/", "/p/docs", "/login", "/nowhere", "/api/nowhere"] {
        for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
            let request = operator.request(method, path).header("sec-fetch-site", "cross-site");
            operator.send(request).await.refused(403, "forbidden");
        }
    }
}

/// A form that a user submits again from the browser's history has no originating site.
#[tokio::test]
async fn user_initiated_navigation_is_not_cross_site() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let request = operator.form("/api/session/current", &[]).header("sec-fetch-site", "none");
    let request = request.header("sec-fetch-mode", "navigate").header(ACCEPT, "application/json");
    assert_eq!(operator.send(request).await.status, 200);
}

#[tokio::test]
async fn endpoints_accept_only_post() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let admin = app.sign_in("ada").await;
    let given = everything();
    let pairs: Vec<_> = given.iter().map(|(name, value)| (*name, value.as_str())).collect();
    for path in endpoints() {
        for method in [Method::GET, Method::HEAD, Method::PUT, Method::DELETE, Method::PATCH, Method::OPTIONS]
        {
            let request = admin.request(method.clone(), &format!("{path}?{}", fields(&pairs)));
            let request = request.header("sec-fetch-site", "same-origin").header(ACCEPT, "application/json");
            assert_eq!(admin.send(request).await.status, 405, "{method} {path}");
        }
    }
    admin.post("/api/nowhere", &[]).await.refused(404, "not_found");
    assert!(is_signed_in(&admin).await);
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn origin_header_alone_is_sufficient() {
    let app = TestApp::start().await;
    let operator = app.operator().await;
    let request = operator.form("/api/session/current", &[]).header(ORIGIN, app.origin());
    assert_eq!(operator.send(request.header(ACCEPT, "application/json")).await.status, 200);
}

/// Browsers let any site send these without a preflight request.
#[tokio::test]
async fn only_url_encoded_bodies_are_accepted() {
    let app = TestApp::start().await;
    app.upstream.accepts_jobs().await;
    let operator = app.operator().await;
    for content_type in [
        Some("text/plain"),
        Some("text/plain;charset=UTF-8"),
        Some("text/plain; application/x-www-form-urlencoded"),
        Some("multipart/form-data; boundary=x"),
        Some("application/json"),
        Some("application/x-www-form-urlencoded2"),
        Some(""),
        None,
    ] {
        let sent = intent();
        let body = fields(&[("project", "docs"), ("prompt", "Fix typos"), ("intent", &sent)]);
        let mut request = operator.request(Method::POST, "/api/jobs/create").body(body);
        request = request.header("sec-fetch-site", "same-origin").header(ACCEPT, "application/json");
        if let Some(content_type) = content_type {
            request = request.header(CONTENT_TYPE, content_type);
        }
        operator.send(request).await.refused(415, "bad_input");
        let empty = operator.request(Method::POST, "/api/session/logout").header(CONTENT_TYPE, "text/plain");
        operator.send(empty.header("sec-fetch-site", "same-origin")).await.refused(415, "bad_input");
    }
    assert!(is_signed_in(&operator).await);
    assert_eq!(app.upstream.requests().await.len(), 0);

    let request = operator.request(Method::POST, "/api/session/current").header(ACCEPT, "application/json");
    let request = request.header("sec-fetch-site", "same-origin").body("x=y");
    let request = request.header(CONTENT_TYPE, "Application/X-WWW-form-urlencoded; charset=UTF-8");
    assert_eq!(operator.send(request).await.status, 200);
}
