//! The lifetime and the list of sessions.

use std::time::Duration;

use base::clock::Clock;
use base::config::AccessConfig;
use reqwest::Method;

use crate::helpers::{Browser, PASSWORD, Settings, TestApp};

const FIREFOX: &str = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";

async fn frozen(access: AccessConfig) -> TestApp {
    let clock = Clock::frozen(Clock::system().now());
    TestApp::with(Settings { clock, access, ..Settings::default() }).await
}

fn hours(hours: u64) -> Duration {
    Duration::from_secs(hours * 3_600)
}

async fn with_device(app: &TestApp, name: &str, device: &str) -> Browser {
    let browser = app.anonymous();
    let pairs = [("username", name), ("password", PASSWORD)];
    let request = browser.call("/api/session/login", &pairs).header("user-agent", device);
    assert_eq!(browser.send(request).await.status, 200);
    browser
}

/// The stored ids of a user's sessions, most recently used first.
async fn ids(app: &TestApp, name: &str) -> Vec<String> {
    let sessions = app
        .state()
        .store
        .sessions_of(&app.id_of(name).await, app.clock().now(), app.clock().now().plus_seconds(-28_800))
        .await;
    sessions.unwrap().into_iter().map(|session| session.id_hash).collect()
}

#[tokio::test]
async fn idle_session_expires_after_eight_hours() {
    let app = frozen(AccessConfig::default()).await;
    let (used, unused) = (app.operator().await, app.operator().await);
    for _ in 0..3 {
        app.clock().advance(hours(3));
        assert!(used.is_signed_in().await);
    }
    assert!(!unused.is_signed_in().await);
    assert_eq!(unused.get("/p/docs/jobs").await.status, 303);
    app.clock().advance(hours(8));
    assert!(!used.is_signed_in().await);
}

#[tokio::test]
async fn used_session_expires_after_a_week() {
    let app = frozen(AccessConfig::default()).await;
    let olga = app.operator().await;
    for _ in 0..7 * 4 - 1 {
        app.clock().advance(hours(6));
        assert!(olga.is_signed_in().await);
    }
    app.clock().advance(hours(6));
    assert!(!olga.is_signed_in().await);
}

#[tokio::test]
async fn session_lifetimes_are_configurable() {
    let access = AccessConfig {
        session_idle: Duration::from_secs(1_800),
        session_lifetime: hours(2),
        ..AccessConfig::default()
    };
    let app = frozen(access).await;
    let (used, unused) = (app.operator().await, app.operator().await);
    for _ in 0..4 {
        assert!(used.is_signed_in().await);
        app.clock().advance(Duration::from_secs(1_799));
    }
    assert!(!unused.is_signed_in().await);
    app.clock().advance(Duration::from_secs(10));
    assert!(!used.is_signed_in().await);
}

#[tokio::test]
async fn background_requests_do_not_extend_a_session() {
    let app = frozen(AccessConfig::default()).await;
    let olga = app.operator().await;
    for _ in 0..8 {
        for (endpoint, status) in [
            // There is no such batch.
            ("/api/batches/get", 400),
            ("/api/jobs/statuses", 200),
            ("/api/queue/list", 200),
            ("/api/upstream/budgets", 200),
        ] {
            let pairs = [("project", "docs"), ("jobs", ""), ("query", ""), ("batch", "x")];
            assert_eq!(olga.post(endpoint, &pairs).await.status, status, "{endpoint}");
        }
        // Refreshing requests of an open page, and prefetching by the browser.
        for (name, value) in [("docket-refresh", "1"), ("sec-purpose", "prefetch")] {
            let page = olga.request(Method::GET, "/p/docs/jobs").header(name, value);
            assert_eq!(olga.send(page).await.status, 200);
        }
        app.clock().advance(hours(1));
    }
    assert!(!olga.is_signed_in().await);
}

/// Browsers prefetch the pages of links, so opening one makes no request for the page.
#[tokio::test]
async fn first_poll_of_an_opened_page_extends_a_session() {
    let app = frozen(AccessConfig::default()).await;
    let olga = app.operator().await;
    for _ in 0..4 {
        app.clock().advance(hours(5));
        let poll = olga.call("/api/jobs/statuses", &[("project", "docs"), ("jobs", "")]);
        assert_eq!(olga.send(poll.header("docket-opened", "1")).await.status, 200);
    }
    assert!(olga.is_signed_in().await);
}

/// A client controls its headers, so it must not use them to avoid the expiry.
#[tokio::test]
async fn prefetch_header_on_an_action_counts_as_use() {
    let app = frozen(AccessConfig::default()).await;
    let olga = app.operator().await;
    for _ in 0..3 {
        app.clock().advance(hours(5));
        for (name, value) in [("docket-refresh", "1"), ("sec-purpose", "prefetch")] {
            let list = olga.call("/api/jobs/list", &[("project", "docs")]).header(name, value);
            assert_eq!(olga.send(list).await.status, 200, "{name}");
        }
    }
    for _ in 0..3 {
        app.clock().advance(hours(5));
        let file = olga.request(Method::GET, "/p/docs/analytics/export.csv");
        let response = olga.send(file.header("sec-purpose", "prefetch")).await;
        assert_eq!(response.status, 409, "no day is stored: {}", response.text);
    }
    assert!(olga.is_signed_in().await);
}

#[tokio::test]
async fn changed_client_ip_is_recorded_by_any_request() {
    let trusted_proxies = vec!["127.0.0.1/32".parse().unwrap()];
    let app = frozen(AccessConfig { trusted_proxies, ..AccessConfig::default() }).await;
    let olga = app.operator().await;
    let page = || olga.request(Method::GET, "/p/docs/jobs");
    let polled = || olga.call("/api/jobs/statuses", &[("project", "docs"), ("jobs", "")]);
    let requests = [
        ("198.51.100.1", page(), 0),
        ("198.51.100.2", page().header("sec-purpose", "prefetch"), 0),
        ("198.51.100.3", page().header("docket-refresh", "1"), 0),
        ("198.51.100.4", polled(), 0),
        ("198.51.100.5", page(), 0),
        ("198.51.100.6", page(), 0),
        // A background request an hour later does not count as use of the session.
        ("198.51.100.7", polled(), 3_600),
    ];
    let (began, id) = (app.clock().now(), app.id_of("olga").await);
    for (address, request, seconds) in requests {
        app.clock().advance(Duration::from_secs(seconds));
        assert_eq!(olga.send(request.header("x-forwarded-for", address)).await.status, 200, "{address}");
        let sessions = app.state().store.sessions_of(&id, began, began.plus_seconds(-1)).await;
        let session = sessions.unwrap().remove(0);
        assert_eq!((session.client_ip.as_str(), session.last_used_at), (address, began));
    }
}

#[tokio::test]
async fn user_lists_own_sessions_and_ends_one() {
    let app = TestApp::start().await;
    let here = with_device(&app, "olga", FIREFOX).await;
    let there = with_device(&app, "olga", "curl/8.5.0 <script>").await;
    let page = here.get("/account").await;
    for text in ["Firefox on Linux", "curl", "127.0.0.1", "This session", "just now", "operator"] {
        assert!(page.text.contains(text), "{text}");
    }
    assert!(!page.text.contains("&lt;script") && !page.text.contains("8.5.0"));
    assert!(!page.text.contains(there.cookie().unwrap().split_once('=').unwrap().1));

    let form = page.text.split("name=\"session\" value=\"").nth(1).unwrap();
    let other = form.split('"').next().unwrap();
    assert_eq!(here.post("/api/account/sign-out", &[("session", other)]).await.status, 200);
    assert!(here.is_signed_in().await && !there.is_signed_in().await);
    here.post("/api/account/sign-out", &[("session", other)]).await.refused(404, "not_found");
}

#[tokio::test]
async fn session_of_another_user_cannot_be_ended() {
    let app = TestApp::start().await;
    let (olga, ada) = (app.operator().await, app.sign_in("ada").await);
    for session in ids(&app, "olga").await {
        ada.post("/api/account/sign-out", &[("session", &session)]).await.refused(404, "not_found");
    }
    assert_eq!(ada.post("/api/account/sign-out-others", &[]).await.status, 200);
    assert!(olga.is_signed_in().await && ada.is_signed_in().await);
    let page = ada.get("/account").await;
    assert!(page.status == 200 && !page.text.contains("olga"), "{}", page.text);
}

#[tokio::test]
async fn signing_out_elsewhere_keeps_the_current_session() {
    let app = TestApp::start().await;
    let (here, there, third) = (app.operator().await, app.operator().await, app.operator().await);
    let page = format!("{}/account", app.origin());
    let response = here.submit("/api/account/sign-out-others", &[], Some(&page)).await;
    assert_eq!((response.status, response.location()), (302, "/account"));
    assert!(here.get("/account").await.text.contains("2 other sessions were ended."));
    assert!(here.is_signed_in().await);
    assert!(!there.is_signed_in().await && !third.is_signed_in().await);
}

/// A request in progress while its session ends does not restore it.
#[tokio::test]
async fn request_in_progress_does_not_restore_an_ended_session() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let id = ids(&app, "olga").await.remove(0);
    assert_eq!(olga.post("/api/session/logout", &[]).await.status, 200);
    app.state().store.change_session(&id, "{}").await.unwrap();
    assert!(ids(&app, "olga").await.is_empty());
}
