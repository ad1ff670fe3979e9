//! Guessing passwords is rate-limited, except for the account's owner.

use std::net::IpAddr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use base::clock::Clock;
use base::config::AccessConfig;
use futures::future::join_all;
use futures::join;

use crate::helpers::{Browser, Installation, PASSWORD, Settings, TestApp, TestResponse, logged, until};

async fn behind(proxies: &[&str]) -> TestApp {
    TestApp::with(settings_behind(proxies)).await
}

fn settings_behind(proxies: &[&str]) -> Settings {
    let trusted_proxies = proxies.iter().map(|network| network.parse().unwrap()).collect();
    let access = AccessConfig { trusted_proxies, ..AccessConfig::default() };
    let clock = Clock::frozen(Clock::system().now());
    Settings { clock, access, ..Settings::default() }
}

/// Tries to sign in, with the forwarding header of a proxy.
async fn try_from(app: &TestApp, address: &str, name: &str, password: &str) -> TestResponse {
    let client = app.anonymous();
    let pairs = [("username", name), ("password", password)];
    client.send(client.call("/api/session/login", &pairs).header("x-forwarded-for", address)).await
}

#[tokio::test]
async fn ten_wrong_passwords_limit_attempts_to_one_per_minute() {
    let app = behind(&[]).await;
    for name in ["olga", "nobody"] {
        for _ in 0..10 {
            app.anonymous().sign_in(name, "wrong").await.refused(401, "unauthenticated");
        }
        let response = app.anonymous().sign_in(name, PASSWORD).await;
        let message = response.refused(429, "too_many_attempts");
        let seconds: u64 = response.header("retry-after").parse().unwrap();
        assert!((1..=60).contains(&seconds) && message.contains(&seconds.to_string()), "{message}");
        app.clock().advance(Duration::from_secs(seconds));
        app.anonymous().sign_in(name, "wrong").await.refused(401, "unauthenticated");
        app.anonymous().sign_in(name, "wrong").await.refused(429, "too_many_attempts");
        app.clock().advance(Duration::from_secs(24 * 3_600));
    }
    assert_eq!(app.anonymous().sign_in("olga", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn correct_passwords_do_not_count_as_attempts() {
    let app = behind(&[]).await;
    for _ in 0..15 {
        assert_eq!(app.anonymous().sign_in("olga", PASSWORD).await.status, 200);
    }
}

#[tokio::test]
async fn forged_x_forwarded_for_is_ignored() {
    let app = behind(&["192.0.2.0/24"]).await;
    for last in 0..10 {
        try_from(&app, &format!("198.51.100.{last}"), &format!("user {last}"), "wrong").await;
    }
    try_from(&app, "198.51.100.77", "olga", PASSWORD).await.refused(429, "too_many_attempts");
}

#[tokio::test]
async fn trusted_proxy_gives_each_client_ip_its_own_limit() {
    let app = behind(&["127.0.0.1/32", "10.0.0.0/8"]).await;
    for n in 0..10 {
        let forged = format!("203.0.113.{n}, 198.51.100.1, 10.0.0.2");
        try_from(&app, &forged, &format!("user {n}"), "wrong").await.refused(401, "unauthenticated");
    }
    try_from(&app, "198.51.100.1", "olga", PASSWORD).await.refused(429, "too_many_attempts");
    assert_eq!(try_from(&app, "198.51.100.2", "olga", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn attempts_are_limited_per_account_without_locking_out_its_user() {
    let app = behind(&["127.0.0.1/32"]).await;
    assert_eq!(try_from(&app, "198.51.100.200", "olga", PASSWORD).await.status, 200);
    let mut refused = 0;
    for last in 0..12 {
        refused +=
            u32::from(try_from(&app, &format!("198.51.100.{last}"), "olga", "wrong").await.status == 429);
    }
    assert_eq!(refused, 2);
    try_from(&app, "198.51.100.100", "olga", PASSWORD).await.refused(429, "too_many_attempts");
    assert_eq!(try_from(&app, "198.51.100.200", "olga", PASSWORD).await.status, 200);
    assert_eq!(try_from(&app, "198.51.100.100", "vera", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn limited_sign_in_form_shows_the_wait() {
    let app = behind(&[]).await;
    let page = format!("{}/login", app.origin());
    let wrong = [("username", "olga"), ("password", "wrong")];
    let person = app.anonymous();
    for tried in 0..11 {
        let response = person.submit("/api/session/login", &wrong, Some(&page)).await;
        assert_eq!((response.status, response.location()), (303, "/login"));
        let shown = person.get("/login").await.text;
        assert_eq!(shown.contains("Incorrect username or password."), tried < 10, "{tried}: {shown}");
        let waits = shown
            .split_once("Too many tries. Wait ")
            .and_then(|(_, rest)| rest.split_once(" seconds, then try again."));
        let seconds = waits.map(|(seconds, _)| seconds.parse::<u32>().unwrap());
        assert_eq!(
            seconds.is_some_and(|seconds| (1..=60).contains(&seconds)),
            tried == 10,
            "{tried}: {seconds:?}"
        );
    }
}

#[tokio::test]
async fn correct_password_succeeds_during_many_wrong_ones() {
    // A password is also refused when it waited too long.
    let app = TestApp::with(settings_behind(&["127.0.0.1/32"]).with_real_turns()).await;
    let (checked, refused) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let is_full = || checked.load(Ordering::SeqCst) > 0 && refused.load(Ordering::SeqCst) > 0;
    // Somewhat more clients than the queue can have, each with a new name and address until one of them was refused.
    let crowd = join_all((0..240).map(async |n| {
        for round in 0..=u8::MAX {
            if is_full() {
                return;
            }
            let address = format!("10.{round}.{}.{}", n % 50, n / 50);
            let response = try_from(&app, &address, &format!("user {n} {round}"), "wrong").await;
            if response.status == 401 {
                checked.fetch_add(1, Ordering::SeqCst);
            } else {
                let message = response.refused(503, "busy");
                assert!(message.contains("Nothing was checked"), "{message}");
                assert!(response.header("retry-after").parse::<u64>().unwrap() >= 1);
                refused.fetch_add(1, Ordering::SeqCst);
            }
        }
    }));
    let person = async {
        until("the queue is full", async || is_full().then_some(())).await;
        try_from(&app, "192.0.2.1", "olga", PASSWORD).await
    };
    let (_, person) = join!(crowd, person);
    // For the order of the checks see `auth::hashing`.
    assert_eq!(person.status, 200, "{}", person.text);
    let log = app.sign_in("ada").await.get("/admin/audit?action=sign_in&outcome=refused").await.text;
    assert_eq!(log.matches("Too many sign-ins at once").count(), 1, "{log}");
    // Unchecked attempts do not count.
    assert_eq!(try_from(&app, "10.0.0.1", "olga", PASSWORD).await.status, 200);
}

#[tokio::test]
async fn wrong_passwords_do_not_accumulate_memory() {
    let installation =
        Installation::with_administrator("http://127.0.0.1:9").set("DOCKET_TRUSTED_PROXIES", "127.0.0.1/32");
    let server = installation.serve(&[]);
    server.signed_in().await;
    let resident = || {
        let status = std::fs::read_to_string(format!("/proc/{}/status", server.id())).unwrap();
        let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:")).unwrap().to_owned();
        line.trim().trim_end_matches(" kB").parse::<u64>().unwrap() / 1024
    };
    let (before, address) = (resident(), server.address().await);
    let tries = (0..60).map(async |n| {
        let client = Browser::at(&address);
        let name = format!("user {n}");
        let pairs = [("username", name.as_str()), ("password", "wrong")];
        let request = client.call("/api/session/login", &pairs);
        client.send(request.header("x-forwarded-for", format!("10.0.{n}.1"))).await.status
    });
    assert!(join_all(tries).await.into_iter().all(|status| status != 200));
    let most = resident();
    let grown = most.saturating_sub(before);
    assert!(grown < 64, "{grown} MiB more");
    // Two threads had 19 MiB each. They end after ten seconds without work.
    until("their memory is returned", async || (resident() + 10 < most).then_some(())).await;
}

#[tokio::test]
async fn unconfigured_proxy_is_reported_once_and_to_administrators() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    assert_eq!(ada.post_json("/api/upstream/status", &[]).await["unknown_proxy"], serde_json::Value::Null);
    // An address that only this test uses, since all tests share a log.
    let proxy = app.anonymous_from(IpAddr::from([127, 0, 77, 13]));
    for _ in 0..3 {
        let request = proxy.request(reqwest::Method::GET, "/login").header("x-forwarded-for", "192.0.2.1");
        assert_eq!(proxy.send(request).await.status, 200);
    }
    let lines = logged("127.0.77.13").into_iter().filter(|line| line.contains("X-Forwarded-For was ignored"));
    let lines: Vec<String> = lines.collect();
    assert!(lines.len() == 1 && lines[0].contains("DOCKET_TRUSTED_PROXIES"), "{lines:#?}");
    let status = ada.post_json("/api/upstream/status", &[]).await;
    assert_eq!(status["unknown_proxy"]["address"], "127.0.77.13");
    let page = ada.get("/admin/upstream").await.text;
    assert!(page.contains("127.0.77.13") && page.contains("DOCKET_TRUSTED_PROXIES"), "{page}");

    let access = AccessConfig {
        trusted_proxies: vec!["127.0.77.14".parse::<IpAddr>().unwrap().into()],
        ..AccessConfig::default()
    };
    let app = TestApp::with(Settings { access, ..Settings::default() }).await;
    let proxy = app.anonymous_from(IpAddr::from([127, 0, 77, 14]));
    let request = proxy.request(reqwest::Method::GET, "/login").header("x-forwarded-for", "192.0.2.1");
    assert_eq!(proxy.send(request).await.status, 200);
    assert!(app.state().unknown_proxy.seen().is_none(), "it is trusted");
}
