//! Access control: every server function and page, with every role and every method.

use std::time::Duration;

use base::clock::Clock;
use docket::server::http::router::page_paths;
use model::user::Role;
use reqwest::Method;
use reqwest::header::{ACCEPT, CONTENT_TYPE, ORIGIN};
use web::auth::roles::{self, Access};
use wiremock::ResponseTemplate;

use crate::gate::endpoints;
use crate::helpers::work::work_at;
use crate::helpers::{Browser, PASSWORD, Settings, TestApp, TestResponse, fields, views_answer};

/// A value for every field of every server function, none of which exists: calls by permitted users change nothing.
pub(crate) const FIELDS: &[(&str, &str)] = &[
    ("address", "x"),
    ("as_of", "1"),
    ("attempt", "1"),
    ("batch", "x"),
    ("code", "x"),
    ("credential", "x"),
    ("day", "x"),
    ("delivery", "x"),
    ("from", "x"),
    ("id", "x"),
    ("intent", ""),
    ("items", "x"),
    ("job", "x"),
    ("jobs", "x"),
    ("kind", "x"),
    ("message", "0"),
    ("name", ""),
    ("new", "x"),
    ("old", "x"),
    ("outcome", "x"),
    ("passkey", "x"),
    ("password", "x"),
    ("path", "/nowhere"),
    ("paths", ""),
    ("project", "docs"),
    ("prompt", ""),
    ("query", ""),
    ("projects", ""),
    ("remote_id", "x"),
    ("role", "x"),
    ("session", "x"),
    ("tag", ""),
    ("template", "x"),
    ("text", ""),
    ("to", "x"),
    ("token", "x"),
    ("user", "x"),
    ("username", "x"),
    ("values", ""),
    ("view", "x"),
    ("webhook", "x"),
];

/// Every page, and the lowest role that may see it; `None` for pages without sign-in.
pub(crate) const PAGES: &[(&str, Option<Role>)] = &[
    ("/", Some(Role::Viewer)),
    ("/account", Some(Role::Viewer)),
    ("/account/second-factor", Some(Role::Viewer)),
    ("/account/tokens", Some(Role::Viewer)),
    ("/admin/audit", Some(Role::Admin)),
    ("/admin/tokens", Some(Role::Admin)),
    ("/admin/upstream", Some(Role::Admin)),
    ("/admin/users", Some(Role::Admin)),
    ("/admin/users/{person}", Some(Role::Admin)),
    ("/admin/webhooks", Some(Role::Admin)),
    ("/docs/api", Some(Role::Viewer)),
    ("/help", Some(Role::Viewer)),
    ("/help/{area}", Some(Role::Viewer)),
    ("/login", None),
    ("/p/{project}", Some(Role::Viewer)),
    ("/p/{project}/analytics", Some(Role::Viewer)),
    ("/p/{project}/analytics/check", Some(Role::Admin)),
    ("/p/{project}/batches", Some(Role::Viewer)),
    ("/p/{project}/batches/{batch}", Some(Role::Viewer)),
    ("/p/{project}/jobs", Some(Role::Viewer)),
    ("/p/{project}/jobs/import", Some(Role::Viewer)),
    ("/p/{project}/jobs/batch", Some(Role::Viewer)),
    ("/p/{project}/jobs/new", Some(Role::Viewer)),
    ("/p/{project}/jobs/{job}", Some(Role::Viewer)),
    ("/p/{project}/notifications", Some(Role::Viewer)),
    ("/p/{project}/queue", Some(Role::Viewer)),
    ("/p/{project}/reviews", Some(Role::Viewer)),
    ("/p/{project}/templates", Some(Role::Viewer)),
    ("/setup", None),
];

/// A client without a session, one user of each role, and a disabled administrator.
async fn clients(app: &TestApp) -> [(&'static str, Option<Role>, Browser); 5] {
    let disabled = app.sign_in("otto").await;
    app.state().store.set_disabled((&work_at(app.clock().now())).into(), "otto", true).await.unwrap();
    [
        ("an anonymous client", None, app.anonymous()),
        ("a disabled person", None, disabled),
        ("a viewer", Some(Role::Viewer), app.sign_in("vera").await),
        ("an operator", Some(Role::Operator), app.sign_in("olga").await),
        ("an administrator", Some(Role::Admin), app.sign_in("ada").await),
    ]
}

async fn call(app: &TestApp, browser: &Browser, method: &Method, endpoint: &str) -> TestResponse {
    let request = browser.request(method.clone(), endpoint).header(ACCEPT, "application/json");
    let request = request.header("sec-fetch-site", "same-origin").header(ORIGIN, app.origin());
    browser.send(request.header(CONTENT_TYPE, "application/x-www-form-urlencoded").body(fields(FIELDS))).await
}

#[test]
fn role_table_has_every_server_function_once() {
    let mut listed: Vec<&str> = roles::ENDPOINTS.iter().flat_map(|(_, listed)| *listed).copied().collect();
    let mut there = endpoints();
    listed.sort_unstable();
    there.sort_unstable();
    assert_eq!(listed, there);
}

#[tokio::test]
async fn server_functions_accept_only_the_roles_of_the_table() {
    let clock = Clock::frozen(Clock::system().now());
    let app = TestApp::with(Settings { clock, ..Settings::default() }).await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    for (who, role, browser) in clients(&app).await {
        // Resets the limit of failed sign-ins.
        app.clock().advance(Duration::from_secs(3_600));
        for endpoint in endpoints() {
            let access = roles::of(endpoint).unwrap();
            for method in ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE", "QUERY"] {
                let kept = browser.cookie();
                let method: Method = method.parse().unwrap();
                let response = call(&app, &browser, &method, endpoint).await;
                let case = format!("{method} {endpoint} by {who}: {} {}", response.status, response.text);
                match (access, role) {
                    (Access::From(_), None) => assert_eq!(response.status, 401, "{case}"),
                    _ if method != Method::POST => assert_eq!(response.status, 405, "{case}"),
                    (Access::From(least), Some(role)) if role < least => {
                        assert_eq!(response.status, 403, "{case}");
                        assert!(response.text.contains(&format!("needs the role {least}")), "{case}");
                    }
                    (Access::From(_), _) => assert!(![401, 403, 405].contains(&response.status), "{case}"),
                    (Access::Anybody, _) => assert!(![404, 405].contains(&response.status), "{case}"),
                }
                assert!(response.status < 500 && !response.text.contains("A field is missing"), "{case}");
                // Some of them end the session that calls them.
                let is_session = |cookies: Option<String>| cookies.is_some_and(|all| all.contains("docket="));
                if role.is_some() && is_session(kept) && !is_session(browser.cookie()) {
                    let name = ["vera", "olga", "ada"][role.map_or(0, |role| role as usize)];
                    assert_eq!(browser.sign_in(name, PASSWORD).await.status, 200);
                }
            }
        }
    }
    assert!(app.upstream.requests().await.iter().all(|request| request.method == Method::GET));
}

#[tokio::test]
async fn pages_are_visible_only_to_permitted_roles() {
    let app = TestApp::start().await;
    app.upstream.on_views(ResponseTemplate::new(200).set_body_json(views_answer())).await;
    let mut listed: Vec<&str> = PAGES.iter().map(|(path, _)| *path).collect();
    let mut there: Vec<&str> = page_paths().collect();
    there.sort_unstable();
    listed.sort_unstable();
    assert_eq!(listed, there, "a page is missing in the table, or too much is in it");
    let id = "01930000-0000-7000-8000-000000000000";
    for (who, role, browser) in clients(&app).await {
        for (page, least) in PAGES {
            let path = page
                .replace("{project}", "docs")
                .replace("{job}", id)
                .replace("{batch}", id)
                .replace("{area}", "keyboard")
                .replace("{person}", id);
            let response = browser.get(&path).await;
            let case = format!("{path} by {who}: {}", response.status);
            match (least, role) {
                (None, _) if *page == "/login" && role.is_some() => {
                    assert_eq!(response.status, 303, "{case}")
                }
                (None, _) => assert_eq!(response.status, 200, "{case}"),
                (Some(_), None) => assert_eq!(response.status, 303, "{case}"),
                (Some(least), Some(role)) if role < *least => assert_eq!(response.status, 403, "{case}"),
                _ if *page == "/" => {
                    assert_eq!((response.status, response.location()), (302, "/p/docs"), "{case}")
                }
                // The job, the batch and the person do not exist.
                _ => assert_eq!(response.status, if path.contains(id) { 404 } else { 200 }, "{case}"),
            }
            for method in [Method::POST, Method::PUT, Method::DELETE, Method::PATCH] {
                let response = call(&app, &browser, &method, &path).await;
                let expected = match (least, role) {
                    (None, Some(_)) if *page == "/login" => 303,
                    (Some(_), None) => 401,
                    _ => 405,
                };
                assert_eq!(response.status, expected, "{method} {case}");
            }
        }
    }
}
