//! An authenticating proxy that names the signed-in user, and other clients that send the same header.

use std::net::IpAddr;

use base::config::{
    AccessConfig, GroupProjects, GroupRoles, IdentityConfig, SECRET_HEADER, TrustedGroups,
    TrustedHeaderConfig, parse_projects,
};
use model::time::Timestamp;
use reqwest::Method;
use reqwest::header::ACCEPT;
use secrecy::SecretString;
use store::audit::AuditFilter;

use crate::helpers::work::work_at;
use crate::helpers::{Browser, PASSWORD, Settings, TestApp, TestResponse, json};

/// The IP address of the proxy, and another one.
const PROXY: [u8; 4] = [127, 0, 0, 2];
const ELSEWHERE: [u8; 4] = [127, 0, 0, 3];

/// What the proxy sends with each request.
const SECRET: &str = "a few unrelated words of the proxy";

async fn app(groups: Option<&str>) -> TestApp {
    with(groups, "leads=*,writers=docs").await
}

/// An app behind a proxy that sends groups, with their roles and projects, if these are given.
async fn with(groups: Option<&str>, projects: &str) -> TestApp {
    let all = parse_projects("docs=Docs,api=API reference").unwrap();
    let trusted_header = TrustedHeaderConfig {
        user: "x-forwarded-user".parse().unwrap(),
        groups: groups.map(|roles| TrustedGroups {
            header: "x-forwarded-groups".parse().unwrap(),
            roles: GroupRoles::parse(roles).unwrap(),
            projects: GroupProjects::parse(projects, &all).unwrap(),
        }),
        secret: SecretString::from(SECRET),
    };
    let identity = IdentityConfig { trusted_header: Some(trusted_header), ..IdentityConfig::default() };
    let access =
        AccessConfig { trusted_proxies: vec!["127.0.0.2/32".parse().unwrap()], ..AccessConfig::default() };
    TestApp::with(Settings { identity, access, ..Settings::default() }).await
}

fn from(app: &TestApp, address: [u8; 4]) -> Browser {
    app.anonymous_from(IpAddr::from(address))
}

/// Opens a page with these headers and the secret, as forwarded by the proxy.
async fn page(browser: &Browser, path: &str, headers: &[(&str, &str)]) -> TestResponse {
    let request =
        browser.request(Method::GET, path).header(ACCEPT, "text/html").header(SECRET_HEADER, SECRET);
    browser.send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

/// The current session with these headers and the secret.
async fn who(browser: &Browser, headers: &[(&str, &str)]) -> TestResponse {
    let request = browser.call("/api/session/current", &[]).header(SECRET_HEADER, SECRET);
    browser.send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

/// The current session with these headers only.
async fn who_without_secret(browser: &Browser, headers: &[(&str, &str)]) -> TestResponse {
    let request = browser.call("/api/session/current", &[]);
    browser.send(headers.iter().fold(request, |request, (name, value)| request.header(*name, *value))).await
}

#[tokio::test]
async fn user_named_by_the_proxy_needs_no_password() {
    let app = app(None).await;
    let proxy = from(&app, PROXY);
    for (name, role) in [("olga", "operator"), ("ada", "admin"), ("vera", "viewer")] {
        let session = who(&proxy, &[("x-forwarded-user", name)]).await.json();
        assert_eq!((&session["username"], &session["role"]), (&json!(name), &json!(role)));
    }
    assert_eq!(page(&proxy, "/p/docs/jobs", &[("x-forwarded-user", "olga")]).await.status, 200);
    // The cookie contains only the last project: each request depends on its own header.
    assert_eq!(proxy.cookie().as_deref(), Some("docket-project=docs"));
    let login = page(&proxy, "/login", &[("x-forwarded-user", "olga")]).await;
    assert_eq!((login.status, login.location()), (303, "/"));
    assert_eq!(page(&proxy, "/admin/upstream", &[("x-forwarded-user", "olga")]).await.status, 403);
}

#[tokio::test]
async fn user_header_of_other_clients_is_ignored() {
    let app = app(Some("leads=admin")).await;
    let anonymous = from(&app, ELSEWHERE);
    for headers in [
        &[("x-forwarded-user", "ada")][..],
        &[("X-Forwarded-User", "ada"), ("x-forwarded-groups", "leads")],
        &[("x-forwarded-user", "ada"), ("x-forwarded-for", "127.0.0.2")],
        &[("x-forwarded-user", "ada"), ("forwarded", "for=127.0.0.2"), ("x-real-ip", "127.0.0.2")],
    ] {
        who(&anonymous, headers).await.refused(401, "unauthenticated");
        assert_eq!(page(&anonymous, "/p/docs", headers).await.location(), "/login?next=%2Fp%2Fdocs");
        assert_eq!(page(&anonymous, "/login", headers).await.status, 200);
    }
    // It does not change the identity of a signed-in user either.
    assert_eq!(anonymous.sign_in("vera", PASSWORD).await.status, 200);
    let session = who(&anonymous, &[("x-forwarded-user", "ada")]).await.json();
    assert_eq!(session["username"], "vera");
}

#[tokio::test]
async fn proxy_header_overrides_an_existing_session() {
    let app = app(None).await;
    let proxy = from(&app, PROXY);
    assert_eq!(proxy.sign_in("ada", PASSWORD).await.status, 200);
    assert_eq!(who(&proxy, &[("x-forwarded-user", "vera")]).await.json()["username"], "vera");
    // Without a name from the proxy, users sign in themselves.
    assert_eq!(who(&proxy, &[]).await.json()["username"], "ada");
}

#[tokio::test]
async fn refused_proxy_user_sees_the_reason_without_redirect_loop() {
    let app = app(None).await;
    app.state().store.set_disabled((&work_at(app.clock().now())).into(), "otto", true).await.unwrap();
    let proxy = from(&app, PROXY);
    let long = "x".repeat(255);
    for (headers, words) in [
        (&[("x-forwarded-user", "nobody")][..], "no account"),
        (&[("x-forwarded-user", "OLGA")], "no account"),
        (&[("x-forwarded-user", "otto")], "disabled"),
        (&[("x-forwarded-user", "Docket")], "did not identify you clearly"),
        (&[("x-forwarded-user", "")], "did not identify you clearly"),
        (&[("x-forwarded-user", long.as_str())], "did not identify you clearly"),
        (&[("x-forwarded-user", "olga"), ("x-forwarded-user", "ada")], "did not identify you clearly"),
    ] {
        for path in ["/", "/p/docs", "/login", "/account"] {
            let response = page(&proxy, path, headers).await;
            assert!(response.status == 403 && response.text.contains(words), "{path}: {}", response.text);
        }
        let message = who(&proxy, headers).await.refused(403, "forbidden");
        assert!(message.contains(words), "{message}");
    }
}

#[tokio::test]
async fn proxy_groups_create_accounts_and_set_their_role() {
    let app = app(Some("writers=operator,leads=admin")).await;
    let proxy = from(&app, PROXY);
    for (groups, role) in
        [("everybody, writers", "operator"), ("leads,writers", "admin"), ("writers", "operator")]
    {
        let headers = [("x-forwarded-user", "mia@example.com"), ("x-forwarded-groups", groups)];
        let session = who(&proxy, &headers).await.json();
        assert_eq!((&session["username"], &session["role"]), (&json!("mia@example.com"), &json!(role)));
    }
    for headers in [
        &[("x-forwarded-user", "mia@example.com"), ("x-forwarded-groups", "everybody")][..],
        &[("x-forwarded-user", "mia@example.com")],
    ] {
        let message = who(&proxy, headers).await.refused(403, "forbidden");
        assert!(message.contains("groups"), "{message}");
    }
    for password in ["", PASSWORD] {
        app.anonymous().sign_in("mia@example.com", password).await.refused(401, "unauthenticated");
    }
}

#[tokio::test]
async fn cross_site_request_through_the_proxy_is_refused() {
    let app = app(None).await;
    let proxy = from(&app, PROXY);
    let request = proxy.form("/api/jobs/create", &[("project", "docs"), ("prompt", "x"), ("intent", "x")]);
    let request = request.header("x-forwarded-user", "olga").header("sec-fetch-site", "cross-site");
    let request = request.header(SECRET_HEADER, SECRET);
    proxy.send(request.header(ACCEPT, "application/json")).await.refused(403, "forbidden");
    assert_eq!(app.upstream.requests().await.len(), 0);
}

#[tokio::test]
async fn user_header_without_the_proxy_secret_is_ignored() {
    let app = app(None).await;
    let proxy = from(&app, PROXY);
    let named = ("x-forwarded-user", "ada");
    for headers in [
        &[named][..],
        &[named, ("docket-proxy-secret", "")],
        &[named, ("docket-proxy-secret", "a few unrelated words of the prox")],
        &[named, ("docket-proxy-secret", SECRET), ("docket-proxy-secret", "x")],
    ] {
        who_without_secret(&proxy, headers).await.refused(401, "unauthenticated");
    }
    assert_eq!(who(&proxy, &[named]).await.json()["username"], "ada");
    who(&from(&app, ELSEWHERE), &[named]).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn proxy_groups_give_projects_and_without_one_none() {
    let app = with(Some("all=viewer,writers=operator,leads=admin"), "writers=docs,all=api,leads=*").await;
    let proxy = from(&app, PROXY);
    let seen = async |name: &str, groups: &str| {
        let headers = [("x-forwarded-user", name), ("x-forwarded-groups", groups)];
        let session = who(&proxy, &headers).await.json();
        let projects = session["projects"].as_array().unwrap().iter();
        projects.map(|project| project["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>().join(" ")
    };
    assert_eq!(seen("mia@example.com", "writers").await, "docs");
    assert_eq!(seen("mia@example.com", "writers,all").await, "docs api");
    assert_eq!(seen("mia@example.com", "all").await, "api");
    // Accounts of administrators keep their assigned projects.
    assert_eq!(seen("olga", "writers").await, "docs api");
    let ada = app.sign_in("ada").await;
    let one = [("role", "viewer"), ("projects", "docs")];
    assert_eq!(app.manage(&ada, "change", "vera", &one).await.status, 200);
    assert_eq!(seen("vera", "writers").await, "docs");
    assert_eq!(seen("vera", "all").await, "docs api");

    let app = with(Some("all=viewer"), "writers=docs").await;
    let proxy = from(&app, PROXY);
    let headers = [("x-forwarded-user", "mia@example.com"), ("x-forwarded-groups", "all")];
    assert_eq!(page(&proxy, "/p/docs", &headers).await.status, 404);
    let home = page(&proxy, "/", &headers).await;
    assert!(home.status == 403 && home.text.contains("You cannot see any project yet"), "{}", home.text);
}

#[tokio::test]
async fn invited_user_without_a_mapped_group_stays_invited() {
    let app = app(Some("writers=operator")).await;
    app.sign_in("ada").await.invite("ivan", "admin", "").await;
    let proxy = from(&app, PROXY);
    let invited = async || app.ledger().count("SELECT COUNT(*) FROM invitations").await == 1;
    let user = ("x-forwarded-user", "ivan");
    for headers in [&[user][..], &[user, ("x-forwarded-groups", "everybody")]] {
        who(&proxy, headers).await.refused(403, "forbidden");
        assert!(invited().await);
    }
    let session = who(&proxy, &[user, ("x-forwarded-groups", "writers")]).await.json();
    assert_eq!((&session["username"], &session["role"]), (&json!("ivan"), &json!("operator")));
    assert!(!invited().await);
}

#[tokio::test]
async fn proxy_sign_ins_and_refusals_are_recorded() {
    let app = app(None).await;
    let proxy = from(&app, PROXY);
    let records = async || {
        let all = app.state().store.audit_records(&AuditFilter::default(), 100).await.unwrap().into_iter();
        all.rev()
            .map(|record| {
                format!(
                    "{} {} {} {} {}",
                    record.actor, record.action, record.outcome, record.client_ip, record.detail
                )
            })
            .filter(|record| record.contains("trusted header"))
            .collect::<Vec<_>>()
    };
    for _ in 0..3 {
        who(&proxy, &[("x-forwarded-user", "olga"), ("x-forwarded-for", "192.0.2.7")]).await;
    }
    assert_eq!(records().await, ["olga sign_in done 192.0.2.7 trusted header"]);
    who(&proxy, &[("x-forwarded-user", "olga"), ("x-forwarded-for", "192.0.2.8")]).await;
    who(&proxy, &[("x-forwarded-user", "nobody"), ("x-forwarded-for", "192.0.2.9")]).await;
    app.state().store.set_disabled((&work_at(app.clock().now())).into(), "otto", true).await.unwrap();
    who(&proxy, &[("x-forwarded-user", "otto")]).await;
    assert_eq!(
        records().await[1..],
        [
            "olga sign_in done 192.0.2.8 trusted header",
            " sign_in refused 192.0.2.9 trusted header",
            "otto sign_in refused 127.0.0.2 trusted header"
        ]
    );
}

/// A person whom a proxy names has no session whose row could hold the message.
#[tokio::test]
async fn outcome_of_a_form_is_shown_once_to_the_user_named_by_the_proxy() {
    let app = app(None).await;
    let (proxy, elsewhere) = (from(&app, PROXY), from(&app, PROXY));
    let users = "/admin/users";
    let pairs = [("name", "ivan"), ("role", "viewer"), ("access", "all")];
    let form =
        proxy.form("/api/users/invite", &pairs).header(ACCEPT, "text/html").header("x-forwarded-user", "ada");
    let form = form.header(SECRET_HEADER, SECRET);
    let form =
        form.header("sec-fetch-site", "same-origin").header("referer", format!("{}{users}", app.origin()));
    assert_eq!(proxy.send(form).await.location(), users);
    elsewhere.set_cookie(&proxy.cookie().unwrap());
    let link = "/setup#token=";
    assert!(!page(&elsewhere, "/account", &[("x-forwarded-user", "olga")]).await.text.contains(link));
    assert!(!page(&proxy, "/account", &[("x-forwarded-user", "ada")]).await.text.contains(link));
    assert!(page(&proxy, users, &[("x-forwarded-user", "ada")]).await.text.contains(link));
    assert!(!page(&proxy, users, &[("x-forwarded-user", "ada")]).await.text.contains(link));
    let ada = app.id_of("ada").await;
    let sessions = app.state().store.sessions_of(&ada, app.clock().now(), Timestamp::from_millis(0)).await;
    assert_eq!(sessions.unwrap().len(), 0, "the row of the message counts as a session");
}
