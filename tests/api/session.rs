//! Signing in and out, and the session cookie.

use std::time::Duration;

use base::clock::Clock;

use crate::helpers::work::work_at;
use crate::helpers::{Browser, PASSWORD, Settings, TestApp, logged};

async fn is_signed_in(browser: &Browser) -> bool {
    browser.post("/api/session/current", &[]).await.status == 200
}

#[tokio::test]
async fn failed_sign_in_reveals_no_reason() {
    let clock = Clock::frozen(Clock::system().now());
    let app = TestApp::with(Settings { clock, ..Settings::default() }).await;
    app.state().store.set_disabled((&work_at(app.clock().now())).into(), "otto", true).await.unwrap();
    let anonymous = app.anonymous();
    let long = "x".repeat(16_000);
    let mut messages = Vec::new();
    for (name, password) in [
        ("olga", "wrong"),
        ("nobody", PASSWORD),
        ("otto", PASSWORD),
        ("", ""),
        ("OLGA", PASSWORD),
        ("olga", ""),
        ("olga", &format!("{PASSWORD} ")),
        ("olga' --", PASSWORD),
        ("olga\0", PASSWORD),
        ("olga", &long),
        (&long, PASSWORD),
    ] {
        app.clock().advance(Duration::from_secs(60));
        messages.push(anonymous.sign_in(name, password).await.refused(401, "unauthenticated"));
        assert_eq!(anonymous.cookie(), None);
    }
    messages.dedup();
    assert_eq!(messages.len(), 1, "{messages:?}");
    anonymous.post("/api/session/login", &[("username", "olga")]).await.refused(400, "bad_input");
    anonymous.post("/api/session/login", &[]).await.refused(400, "bad_input");
}

#[tokio::test]
async fn session_cookie_is_http_only_and_same_site() {
    let app = TestApp::start().await;
    let response = app.anonymous().sign_in("olga", PASSWORD).await;
    let cookies: Vec<_> = response.headers.get_all("set-cookie").iter().collect();
    assert_eq!(cookies.len(), 1, "{cookies:?}");
    let cookie = cookies[0].to_str().unwrap();
    let (pair, attributes) = cookie.split_once("; ").unwrap();
    assert!(pair.starts_with("docket=") && pair.len() >= "docket=".len() + 22, "{cookie}");
    let attributes: Vec<_> = attributes.split("; ").collect();
    // 30 days more than the session lasts: afterwards the sign-in page can give the reason.
    for expected in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=3196800"] {
        assert!(attributes.contains(&expected), "{expected} in {cookie}");
    }
    assert!(!cookie.contains("Domain") && !cookie.contains("Secure"), "{cookie}");
    assert_eq!(response.header("cache-control"), "no-store");
}

#[tokio::test]
async fn cookie_is_secure_behind_https() {
    let settings = Settings { public_url: Some("https://docket.example".to_owned()), ..Settings::default() };
    let app = TestApp::with(settings).await;
    let anonymous = app.anonymous();
    let response = anonymous.sign_in("olga", PASSWORD).await;
    let cookie = response.header("set-cookie");
    assert!(cookie.starts_with("__Host-docket=") && cookie.contains("; Secure"), "{cookie}");
    assert!(is_signed_in(&anonymous).await);
}

#[tokio::test]
async fn sign_in_creates_a_new_session_id() {
    let app = TestApp::start().await;
    let planted = "docket=AAAAAAAAAAAAAAAAAAAAAA";
    let victim = app.anonymous();
    victim.set_cookie(planted);
    victim.sign_in("olga", PASSWORD).await;
    let first = victim.cookie().unwrap();
    assert_ne!(first, planted);
    victim.sign_in("olga", PASSWORD).await;
    let second = victim.cookie().unwrap();
    assert_ne!(first, second);
    for old in [planted, &first] {
        let attacker = app.anonymous();
        attacker.set_cookie(old);
        assert!(!is_signed_in(&attacker).await, "{old}");
    }
    assert!(is_signed_in(&victim).await);
}

#[tokio::test]
async fn signing_out_ends_the_session_on_the_server() {
    let app = TestApp::start().await;
    let (olga, elsewhere) = (app.operator().await, app.operator().await);
    let cookie = olga.cookie().unwrap();
    assert_eq!(olga.post("/api/session/logout", &[]).await.status, 200);
    assert_eq!(olga.cookie(), None);
    let thief = app.anonymous();
    thief.set_cookie(&cookie);
    assert!(!is_signed_in(&thief).await);
    assert!(is_signed_in(&elsewhere).await, "another session of hers ended too");
    olga.post("/api/session/logout", &[]).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn session_survives_a_restart() {
    let clock = Clock::frozen(Clock::system().now());
    let mut app = TestApp::with(Settings { clock, ..Settings::default() }).await;
    let olga = app.operator().await;
    let cookie = olga.cookie().unwrap();
    app.restart().await;
    let olga = app.anonymous();
    olga.set_cookie(&cookie);
    assert!(is_signed_in(&olga).await);
    app.clock().advance(Duration::from_secs(7 * 3_600));
    app.restart().await;
    let olga = app.anonymous();
    olga.set_cookie(&cookie);
    assert!(is_signed_in(&olga).await);
}

#[tokio::test]
async fn sign_in_redirects_to_the_requested_own_page() {
    let app = TestApp::start().await;
    let page = format!("{}/login", app.origin());
    let sign_in = async |next: Option<&str>| {
        let mut pairs = vec![("username", "olga"), ("password", PASSWORD)];
        pairs.extend(next.map(|next| ("next", next)));
        let response = app.anonymous().submit("/api/session/login", &pairs, Some(&page)).await;
        assert_eq!(response.status, 302, "{}", response.text);
        response.location().to_owned()
    };
    for own in ["/p/docs/jobs?status=active&q=a%20b", "/", "/p/docs"] {
        assert_eq!(sign_in(Some(own)).await, own);
    }
    for hostile in [
        "//evil.example",
        "///evil.example",
        "/\\evil.example",
        "\\\\evil.example",
        "https://evil.example",
        "https:evil.example",
        "javascript:alert(1)",
        "data:text/html,x",
        " /p",
        "/\tevil",
        "/\n/evil.example",
        "/p\r\nset-cookie: a=b",
        "evil",
        "",
        "/api/session/logout",
        "/é",
        "/ /evil.example",
    ] {
        assert_eq!(sign_in(Some(hostile)).await, "/", "{hostile:?}");
    }
    assert_eq!(sign_in(None).await, "/");
}

#[tokio::test]
async fn signed_in_user_is_redirected_from_the_sign_in_page() {
    let app = TestApp::start().await;
    let response = app.operator().await.get("/login?next=%2Fp%2Fdocs").await;
    assert_eq!((response.status, response.location()), (303, "/"));
}

#[tokio::test]
async fn session_and_password_are_never_logged() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let cookie = olga.cookie().unwrap();
    let id = cookie.split_once('=').unwrap().1;
    olga.get("/p/docs/jobs").await;
    olga.post("/api/session/logout", &[]).await;
    olga.set_cookie(&cookie);
    olga.get("/p/docs/jobs").await;
    assert!(!logged("signed in").is_empty(), "nothing is captured");
    assert_eq!(logged(id), Vec::<String>::new());
}

#[tokio::test]
async fn signing_out_clears_browser_storage() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    assert_eq!(olga.get("/p/docs/jobs").await.header("clear-site-data"), "");
    let response = olga.post("/api/session/logout", &[]).await;
    assert_eq!(response.header("clear-site-data"), "\"storage\"");
}
