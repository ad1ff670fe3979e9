//! Connections other than a token for GitHub: a GitHub App, and GitLab.

use base::clock::Clock;
use serde_json::Value;
use wiremock::{Request, ResponseTemplate};

use super::{NOW, Tracked};
use crate::helpers::code_host::{CodeHost, TOKEN, dated, open_pull_request};
use crate::helpers::{Act, RawUpstream, Settings, TestApp, json, picked, until};

/// The private key of an App that exists only here.
const APP_KEY: &str = include_str!("../data/github-app.pem");

/// The claims of a statement of the App, whose signature is valid.
fn claims(request: &Request) -> Value {
    use data_encoding::BASE64URL_NOPAD;
    use ring::signature::{KeyPair, RSA_PKCS1_2048_8192_SHA256, UnparsedPublicKey};
    let text = request.headers["authorization"].to_str().unwrap().strip_prefix("Bearer ").unwrap();
    let (signed, signature) = text.rsplit_once('.').unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("key.pem");
    std::fs::write(&file, APP_KEY).unwrap();
    let key = base::config::private_key(&file).unwrap();
    let public = UnparsedPublicKey::new(&RSA_PKCS1_2048_8192_SHA256, key.public_key().as_ref());
    public.verify(signed.as_bytes(), &BASE64URL_NOPAD.decode(signature.as_bytes()).unwrap()).unwrap();
    let claims = signed.split_once('.').unwrap().1;
    serde_json::from_slice(&BASE64URL_NOPAD.decode(claims.as_bytes()).unwrap()).unwrap()
}

/// An app that is connected to GitHub as an App. The clock of GitHub is five minutes behind.
pub(super) async fn tracked_as_app(folder: &std::path::Path) -> Tracked {
    let host = CodeHost::start().await;
    let key_file = folder.join("key.pem");
    std::fs::write(&key_file, APP_KEY).unwrap();
    let mut connection = host.connection();
    let clock = Clock::frozen(NOW);
    if let Some(github) = &mut connection.github {
        github.access = base::config::GitHubAccess::App { id: "42".to_owned(), key_file };
    }
    host.set_clock(clock.clone(), -300);
    let now = clock.clone();
    let theirs = move || now.now().plus_seconds(-300);
    let time = theirs.clone();
    let installation = move |request: &Request| {
        let claims = claims(request);
        let is_from_the_future = claims["iat"].as_i64().unwrap() * 1_000 > time().as_millis();
        let response = match is_from_the_future {
            true => ResponseTemplate::new(401),
            false => ResponseTemplate::new(200).set_body_json(json!({ "id": 7 })),
        };
        dated(response, time())
    };
    host.on("GET", "/api/v3/repos/acme/docs/installation", installation).await;
    let token = move |request: &Request| {
        let claims = claims(request);
        assert_eq!(claims["iss"], "42");
        let (from, until) = (claims["iat"].as_i64().unwrap(), claims["exp"].as_i64().unwrap());
        assert!(until - from <= 600, "{claims}");
        let token = json!({ "token": TOKEN, "expires_at": theirs().plus_seconds(3_600) });
        dated(ResponseTemplate::new(201).set_body_json(token), theirs())
    };
    host.on("POST", "/api/v3/app/installations/7/access_tokens", token).await;
    let settings = Settings { code_hosts: connection, clock: clock.clone(), ..Settings::default() };
    let app = TestApp::with(settings).await;
    let browser = app.operator().await;
    Tracked { app, host, clock, browser }
}

#[tokio::test]
async fn app_gets_a_token_and_renews_it_before_its_end() {
    let folder = tempfile::tempdir().unwrap();
    let tracked = tracked_as_app(folder.path()).await;
    let (job, _) = tracked.open_job(1).await;
    let tokens = async || {
        let requests = tracked.host.queries().await;
        requests.iter().filter(|request| request.url.path().ends_with("/access_tokens")).count()
    };
    assert_eq!(tokens().await, 1);
    tracked.wait_minutes(30);
    tracked.until(&job, "checked_at", json!("2026-11-21T10:30:00Z")).await;
    assert_eq!(tokens().await, 1);
    tracked.wait_minutes(27);
    tracked.until(&job, "checked_at", json!("2026-11-21T10:57:00Z")).await;
    assert_eq!(tokens().await, 2);
}

#[tokio::test]
async fn owner_without_the_app_has_no_state() {
    let folder = tempfile::tempdir().unwrap();
    let tracked = tracked_as_app(folder.path()).await;
    tracked.host.set(1, open_pull_request());
    let here = tracked.job(1).await;
    let elsewhere = tracked.job_with_link(&format!("{}/other/docs/pull/1", tracked.host.url())).await;
    tracked.until(&elsewhere, "failure", json!("missing")).await;
    tracked.until(&here, "state", json!("open")).await;
}

#[tokio::test]
async fn deleted_repository_stops_no_other_of_its_owner() {
    let folder = tempfile::tempdir().unwrap();
    let tracked = tracked_as_app(folder.path()).await;
    let lookups = async || {
        let requests = tracked.host.queries().await;
        requests.iter().filter(|one| one.url.path() == "/api/v3/repos/acme/deleted/installation").count()
    };
    let deleted = async |number: u64| {
        tracked.job_with_link(&format!("{}/acme/deleted/pull/{number}", tracked.host.url())).await
    };
    for number in [1, 2] {
        let job = deleted(number).await;
        tracked.until(&job, "failure", json!("missing")).await;
    }
    assert_eq!(lookups().await, 1);
    let (job, _) = tracked.open_job(1).await;
    let admin = tracked.app.sign_in("ada").await;
    let status = admin.post_json("/api/upstream/status", &[]).await["code_hosts"][0].clone();
    insta::assert_compact_json_snapshot!(picked(&status, ["paused_owners", "paused_until", "failure"]), @r#"{"failure": null, "paused_owners": [], "paused_until": null}"#);
    // The token is valid for the whole owner: no repository is looked up while it is.
    let third = deleted(3).await;
    tracked.until(&third, "failure", json!("missing")).await;
    assert_eq!(lookups().await, 1);
    // The next token is found by another repository than the first one.
    tracked.wait_minutes(61);
    tracked.until(&job, "checked_at", json!("2026-11-21T11:01:00Z")).await;
    assert!(lookups().await <= 2);
}

#[tokio::test]
async fn missing_repository_is_looked_up_once_per_interval() {
    let folder = tempfile::tempdir().unwrap();
    let tracked = tracked_as_app(folder.path()).await;
    let lookups = async || {
        let requests = tracked.host.queries().await;
        requests.iter().filter(|one| one.url.path().starts_with("/api/v3/repos/acme/old")).count()
    };
    for number in [1, 2] {
        for repository in ["old-a", "old-b", "old-c"] {
            let link = format!("{}/acme/{repository}/pull/{number}", tracked.host.url());
            let job = tracked.job_with_link(&link).await;
            tracked.until(&job, "failure", json!("missing")).await;
        }
    }
    assert_eq!(lookups().await, 3);
    tracked.wait_minutes(7);
    until("they are looked up again", async || (lookups().await == 6).then_some(())).await;
    let (_, request) = tracked.open_job(1).await;
    assert_eq!(request["failure"], Value::Null);
    assert_eq!(lookups().await, 6);
}

/// An app that is connected to GitLab.
pub(super) async fn tracked_at_gitlab() -> Tracked {
    let host = CodeHost::start().await;
    let gitlab = base::config::GitLabConfig {
        url: format!("{}/lab", host.url()).parse().unwrap(),
        token: base::config::ApiKey::parse(TOKEN).unwrap(),
        file: "/nowhere".into(),
    };
    let clock = Clock::frozen(NOW);
    let code_hosts = base::config::CodeHostsConfig { github: None, gitlab: Some(gitlab) };
    let app = TestApp::with(Settings { code_hosts, clock: clock.clone(), ..Settings::default() }).await;
    let browser = app.operator().await;
    Tracked { app, host, clock, browser }
}

pub(super) fn merge_request() -> Value {
    json!({
        "iid": 7, "state": "opened", "draft": false, "created_at": "2026-11-21T09:30:00.000Z", "merged_at": null, "closed_at": null,
        "has_conflicts": false, "detailed_merge_status": "not_approved", "reviewers": [{ "username": "ben" }], "changes_count": "1",
        "head_pipeline": { "status": "failed" },
    })
}

#[tokio::test]
async fn merge_request_of_a_renamed_project_has_a_state() {
    let tracked = tracked_at_gitlab().await;
    let old = "/lab/api/v4/projects/acme%2Fteam%2Fdocs/merge_requests/7";
    let new = "/lab/api/v4/projects/31/merge_requests/7";
    for part in ["", "/approvals", "/diffs"] {
        let target = format!("{new}{part}");
        let moved = move |_: &Request| ResponseTemplate::new(301).insert_header("location", target.as_str());
        tracked.host.on("GET", &format!("{old}{part}"), moved).await;
    }
    let is_authorized = |request: &Request| request.headers["authorization"] == format!("Bearer {TOKEN}");
    let state = move |request: &Request| {
        assert!(is_authorized(request));
        ResponseTemplate::new(200).set_body_json(merge_request())
    };
    tracked.host.on("GET", new, state).await;
    tracked.host.on("GET", &format!("{new}/approvals"), |_: &Request| ResponseTemplate::new(403)).await;
    let diffs =
        |_: &Request| ResponseTemplate::new(200).set_body_json(json!([{ "new_path": "docs/quickstart.md" }]));
    tracked.host.on("GET", &format!("{new}/diffs"), diffs).await;
    let job =
        tracked.job_with_link(&format!("{}/lab/acme/team/docs/-/merge_requests/7", tracked.host.url())).await;
    let request = tracked.until(&job, "state", json!("open")).await;
    insta::assert_compact_json_snapshot!(picked(&request, ["checks", "waiting_for"]), @r#"{"checks": "failing", "waiting_for": "author"}"#);
    assert_eq!((&request["files"], &request["review"]), (&json!(["docs/quickstart.md"]), &json!("required")));
}

#[tokio::test]
async fn redirect_to_another_host_is_not_followed() {
    let tracked = tracked_at_gitlab().await;
    let other = CodeHost::start().await;
    let target = format!("{}/lab/api/v4/projects/31/merge_requests/7", other.url());
    let moved = move |_: &Request| ResponseTemplate::new(301).insert_header("location", target.as_str());
    tracked.host.on("GET", "/lab/api/v4/projects/acme%2Fdocs/merge_requests/7", moved).await;
    let job =
        tracked.job_with_link(&format!("{}/lab/acme/docs/-/merge_requests/7", tracked.host.url())).await;
    tracked.until(&job, "failure", json!("missing")).await;
    assert!(other.queries().await.is_empty());
}

#[tokio::test]
async fn missing_merge_request_leaves_the_last_known_state() {
    let mut tracked = tracked_at_gitlab().await;
    let path = "/lab/api/v4/projects/acme%2Fdocs/merge_requests/7";
    let status = std::sync::Arc::new(std::sync::atomic::AtomicU16::new(200));
    let now = status.clone();
    let state = move |_: &Request| match now.load(std::sync::atomic::Ordering::SeqCst) {
        200 => ResponseTemplate::new(200).set_body_json(merge_request()),
        status => ResponseTemplate::new(status),
    };
    tracked.host.on("GET", path, state).await;
    let job =
        tracked.job_with_link(&format!("{}/lab/acme/docs/-/merge_requests/7", tracked.host.url())).await;
    tracked.until(&job, "state", json!("open")).await;
    for missing in [404, 410, 451, 403] {
        status.store(missing, std::sync::atomic::Ordering::SeqCst);
        tracked.wait_days(1).await;
        let request = tracked.until(&job, "failure", json!("missing")).await;
        assert_eq!(request["state"], "open", "{missing}");
        status.store(200, std::sync::atomic::Ordering::SeqCst);
        tracked.wait_days(1).await;
        tracked.until(&job, "failure", Value::Null).await;
    }
}

#[tokio::test]
async fn silent_code_host_delays_no_other_and_no_readiness() {
    let (host, silent) = (CodeHost::start().await, RawUpstream::start(|_| Act::Stall(Vec::new())));
    let mut code_hosts = host.connection();
    code_hosts.gitlab = Some(base::config::GitLabConfig {
        url: silent.url().parse().unwrap(),
        token: base::config::ApiKey::parse(TOKEN).unwrap(),
        file: "/nowhere".into(),
    });
    let clock = Clock::frozen(NOW);
    let app = TestApp::with(Settings { code_hosts, clock: clock.clone(), ..Settings::default() }).await;
    let browser = app.operator().await;
    let tracked = Tracked { app, host, clock, browser };
    tracked.job_with_link(&format!("{}/acme/docs/-/merge_requests/7", silent.url())).await;
    until("it is requested", async || (silent.requests() == 1).then_some(())).await;
    // Longer than a healthy task may be without a success.
    tracked.wait_minutes(6);
    tracked.open_job(1).await;
    let ready = tracked.app.anonymous().get("/readyz").await.text;
    assert!(ready.contains("Checking pull requests: running"), "{ready}");
    let failed = tracked.app.ledger().count("SELECT COUNT(*) FROM pull_requests WHERE failures > 0").await;
    assert_eq!(failed, 0, "the request to the silent one has ended");
}
