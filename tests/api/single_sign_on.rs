//! Single sign-on with a real OpenID Connect provider in its own process.

use std::time::Duration;

use base::clock::Clock;
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use reqwest::Method;
use reqwest::header::ACCEPT;
use serde_json::Value;
use service::auth::shared_key::SharedKey;

use crate::helpers::work::work_at;
use crate::helpers::{
    Browser, PASSWORD, Provider, Settings, TestApp, TestResponse, json, refusing_address, single_sign_on,
};

const COOKIE: &str = "docket-sso=";

async fn app(provider: &Provider) -> TestApp {
    TestApp::with(Settings { identity: provider.config(), ..Settings::default() }).await
}

/// Signs in at the provider as `name`, and returns the redirect back to Docket.
async fn sign_in_redirect(browser: &Browser, provider: &Provider, name: &str, next: &str) -> String {
    let response = browser.get(&format!("/login/sso?next={next}")).await;
    assert_eq!(response.status, 303, "{}", response.text);
    provider.sign_in(response.location(), name).await
}

async fn sign_in(browser: &Browser, provider: &Provider, name: &str) -> TestResponse {
    let back = sign_in_redirect(browser, provider, name, "%2Fp%2Fdocs%2Fjobs").await;
    browser.get(&back).await
}

async fn who(browser: &Browser) -> Value {
    browser.post_json("/api/session/current", &[]).await
}

/// Checks that a response is a page with these words, and that no one is signed in.
async fn refused(browser: &Browser, response: &TestResponse, status: u16, words: &str) {
    assert_eq!(response.status, status, "{}", response.text);
    assert!(response.text.contains(words), "no {words} in {}", response.text);
    assert!(response.header("content-type").starts_with("text/html"));
    assert!(!response.header("content-security-policy").contains("unsafe"));
    browser.post("/api/session/current", &[]).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn provider_users_get_the_role_of_their_groups() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    for (name, email, role) in [("mia", "mia@example.com", "operator"), ("lea", "lea@example.com", "admin")] {
        let browser = app.anonymous();
        let response = sign_in(&browser, &provider, name).await;
        assert_eq!((response.status, response.location()), (303, "/p/docs/jobs"), "{}", response.text);
        let session = who(&browser).await;
        assert_eq!((&session["username"], &session["role"]), (&json!(email), &json!(role)));
        assert!(!browser.cookie().unwrap().contains(COOKIE), "the sign-in is over, its cookie is not");
    }
}

#[tokio::test]
async fn claims_in_the_id_token_are_sufficient() {
    let provider = Provider::with(0, "claims-in-token").await;
    let app = app(&provider).await;
    let mia = app.anonymous();
    assert_eq!(sign_in(&mia, &provider, "mia").await.status, 303);
    assert_eq!(who(&mia).await["role"], "operator");
}

#[tokio::test]
async fn redirect_has_pkce_state_and_nonce_bound_to_the_browser() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let (one, other) = (app.anonymous(), app.anonymous());
    let responses = [one.get("/login/sso").await, other.get("/login/sso").await];
    let [first, second] =
        responses.each_ref().map(|response| response.location().parse::<url::Url>().unwrap());
    let field = |address: &url::Url, name: &str| {
        address.query_pairs().find(|(key, _)| key == name).map(|(_, value)| value.into_owned()).unwrap()
    };
    assert_eq!(field(&first, "response_type"), "code");
    assert_eq!(field(&first, "code_challenge_method"), "S256");
    assert_eq!(field(&first, "redirect_uri"), format!("{}/login/sso/callback", app.origin()));
    assert_eq!(field(&first, "scope"), "openid email groups");
    for random in ["state", "nonce", "code_challenge"] {
        assert!(field(&first, random).len() >= 43, "{random}");
        assert_ne!(field(&first, random), field(&second, random), "{random}");
    }
    let cookie = responses[0].header("set-cookie");
    for attribute in ["HttpOnly", "SameSite=Lax", "Path=/", "Max-Age=600"] {
        assert!(cookie.starts_with(COOKIE) && cookie.contains(attribute), "{attribute} in {cookie}");
    }
    assert!(!first.as_str().contains("knows"), "the secret stays on the server");

    let back = provider.sign_in(first.as_str(), "mia").await;
    refused(&other, &other.get(&back).await, 400, "not started in this browser").await;
    let anonymous = app.anonymous();
    refused(&anonymous, &anonymous.get(&back).await, 400, "not started in this browser").await;
}

#[tokio::test]
async fn callback_works_once_and_only_with_its_state() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let mia = app.anonymous();
    let back = sign_in_redirect(&mia, &provider, "mia", "").await;
    let cookie = mia.cookie().unwrap();
    let (path, query) = back.split_once('?').unwrap();
    let fields: Vec<(String, String)> = url::form_urlencoded::parse(query.as_bytes()).into_owned().collect();
    let with = |name: &str, value: Option<&str>| {
        let others = fields.iter().filter(|(key, _)| key != name);
        let mut query = url::form_urlencoded::Serializer::new(String::new());
        query.extend_pairs(others).extend_pairs(value.map(|value| (name, value)));
        format!("{path}?{}", query.finish())
    };
    for state in [Some("another"), Some(""), None] {
        refused(&mia, &mia.get(&with("state", state)).await, 400, "not started in this browser").await;
        mia.set_cookie(&cookie);
    }
    refused(&mia, &mia.get(&format!("{back}&state=twice")).await, 400, "not started in this browser").await;
    mia.set_cookie(&cookie);
    refused(&mia, &mia.get(&with("code", None)).await, 400, "not started in this browser").await;
    mia.set_cookie(&cookie);
    refused(&mia, &mia.get(&with("code", Some("guessed"))).await, 400, "no longer accepts").await;
    mia.set_cookie(&cookie);
    assert_eq!(mia.get(&back).await.status, 303);

    // The callback again, with all cookies of the browser.
    let again = app.anonymous();
    again.set_cookie(&cookie);
    refused(&again, &again.get(&back).await, 400, "no longer accepts").await;
    let without = app.anonymous();
    refused(&without, &without.get(&back).await, 400, "not started in this browser").await;
}

#[tokio::test]
async fn code_of_another_sign_in_is_refused() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let (mia, lea) = (app.anonymous(), app.anonymous());
    let code_of = |back: &str| {
        let (_, query) = back.split_once('?').unwrap();
        let mut fields = url::form_urlencoded::parse(query.as_bytes()).into_owned();
        fields.find(|(key, _)| key == "code").unwrap().1
    };
    let (ours, theirs) = (
        sign_in_redirect(&mia, &provider, "mia", "").await,
        sign_in_redirect(&lea, &provider, "lea", "").await,
    );
    let mixed = ours.replace(&code_of(&ours), &code_of(&theirs));
    refused(&mia, &mia.get(&mixed).await, 400, "no longer accepts").await;
}

#[tokio::test]
async fn token_with_another_nonce_is_refused() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let mia = app.anonymous();
    let back = sign_in_redirect(&mia, &provider, "mia", "").await;
    let cookie = mia.cookie().unwrap();
    let (text, _) = cookie.strip_prefix(COOKIE).unwrap().split_once('.').unwrap();
    let mut state: Value = serde_json::from_slice(&URL_SAFE_NO_PAD.decode(text).unwrap()).unwrap();
    state["nonce"] = "another".into();
    let text = URL_SAFE_NO_PAD.encode(state.to_string());
    let key = SharedKey::new(app.state().store.clone(), "single sign-on");
    let signature = URL_SAFE_NO_PAD.encode(key.hash(&text).await.unwrap());
    mia.set_cookie(&format!("{COOKIE}{text}.{signature}"));
    refused(&mia, &mia.get(&back).await, 403, "not valid here").await;
}

#[tokio::test]
async fn forged_sign_in_cookie_causes_no_call_to_the_provider() {
    let provider = wiremock::MockServer::start().await;
    let identity = single_sign_on(&provider.uri());
    let app = TestApp::with(Settings { identity, ..Settings::default() }).await;
    let forged =
        json!({"state": "x", "nonce": "x", "verifier": "x", "next": "/", "until": "2999-01-01T00:00:00Z"});
    let anonymous = app.anonymous();
    let text = URL_SAFE_NO_PAD.encode(forged.to_string());
    for cookie in [text.clone(), format!("{text}."), format!("{text}.{text}")] {
        anonymous.set_cookie(&format!("{COOKIE}{cookie}"));
        let response = anonymous.get("/login/sso/callback?state=x&code=x").await;
        refused(&anonymous, &response, 400, "not started in this browser").await;
    }
    assert_eq!(provider.received_requests().await.unwrap().len(), 0);
}

#[tokio::test]
async fn callbacks_are_limited_per_client_ip() {
    let provider = Provider::start().await;
    let clock = Clock::frozen(Clock::system().now());
    let app = TestApp::with(Settings { identity: provider.config(), clock, ..Settings::default() }).await;
    let mia = app.anonymous();
    let back = sign_in_redirect(&mia, &provider, "mia", "").await;
    let cookie = mia.cookie().unwrap();
    let (path, state) = back.split_once("?").unwrap();
    let mut fields = url::form_urlencoded::parse(state.as_bytes());
    let state = fields.find(|(name, _)| name == "state").unwrap().1;
    for n in 0..30 {
        let response = mia.get(&format!("{path}?state={state}&code=guess-{n}")).await;
        refused(&mia, &response, 400, "no longer accepts").await;
        mia.set_cookie(&cookie);
    }
    refused(&mia, &mia.get(&back).await, 429, "Wait 10 seconds").await;
    app.clock().advance(Duration::from_secs(10));
    mia.set_cookie(&cookie);
    assert_eq!(mia.get(&back).await.status, 303);
}

#[tokio::test]
async fn refused_provider_user_sees_the_reason() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let before = app.state().store.users().await.unwrap().len();
    for (name, words) in [
        ("una", "has not verified your e-mail address"),
        ("nora", "None of your groups may use Docket"),
        ("stranger", "did not sign you in"),
    ] {
        let browser = app.anonymous();
        refused(&browser, &sign_in(&browser, &provider, name).await, 403, words).await;
    }
    let people = app.state().store.users().await.unwrap();
    assert_eq!(people.len(), before, "{people:?}");
}

#[tokio::test]
async fn role_is_updated_from_groups_at_each_sign_in() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    for (groups, role) in [(json!(["writers"]), "operator"), (json!(["leads", "writers"]), "admin")] {
        provider
            .add_user("mia", json!({"email": "mia@example.com", "email_verified": true, "groups": groups}))
            .await;
        let mia = app.anonymous();
        assert_eq!(sign_in(&mia, &provider, "mia").await.status, 303);
        assert_eq!(who(&mia).await["role"], role);
    }
    provider.add_user("mia", json!({"email": "mia@example.com", "email_verified": true, "groups": []})).await;
    let mia = app.anonymous();
    refused(&mia, &sign_in(&mia, &provider, "mia").await, 403, "None of your groups").await;
}

#[tokio::test]
async fn provider_username_does_not_take_over_an_account() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    provider.add_user("mia", json!({"email": "ada", "email_verified": true, "groups": ["writers"]})).await;
    let (mia, ada) = (app.anonymous(), app.sign_in("ada").await);
    assert_eq!(sign_in(&mia, &provider, "mia").await.status, 303);
    let session = who(&mia).await;
    assert_eq!((&session["username"], &session["role"]), (&json!("ada (2)"), &json!("operator")));
    assert_eq!(who(&ada).await["role"], "admin");
    // With a new email address at the provider, it is the same account.
    provider
        .add_user("mia", json!({"email": "new@example.com", "email_verified": true, "groups": ["writers"]}))
        .await;
    let later = app.anonymous();
    sign_in(&later, &provider, "mia").await;
    assert_eq!(who(&later).await["username"], "ada (2)");
    // No one can sign in with a password that was never set.
    for password in ["", PASSWORD, "docket"] {
        app.anonymous().sign_in("ada (2)", password).await.refused(401, "unauthenticated");
    }
}

#[tokio::test]
async fn provider_usernames_reserved_for_the_audit_log_are_refused() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    for email in ["Docket", "c\u{43e}mmand  line", "D0CKET"] {
        provider
            .add_user("mia", json!({"email": email, "email_verified": true, "groups": ["writers"]}))
            .await;
        let mia = app.anonymous();
        refused(&mia, &sign_in(&mia, &provider, "mia").await, 403, "cannot be a username").await;
    }
}

#[tokio::test]
async fn disabled_provider_user_is_refused() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let mia = app.anonymous();
    sign_in(&mia, &provider, "mia").await;
    app.state()
        .store
        .set_disabled((&work_at(app.clock().now())).into(), "mia@example.com", true)
        .await
        .unwrap();
    refused(&mia, &sign_in(&app.anonymous(), &provider, "mia").await, 403, "disabled").await;
}

#[tokio::test]
async fn provider_sign_in_redirects_only_to_own_paths() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    for next in [
        "https%3A%2F%2Fevil.example",
        "%2F%2Fevil.example",
        "%2F%5Cevil.example",
        "%2Fapi%2Fsession%2Flogout",
    ] {
        let browser = app.anonymous();
        let back = sign_in_redirect(&browser, &provider, "mia", next).await;
        assert_eq!(browser.get(&back).await.location(), "/", "{next}");
    }
}

#[tokio::test]
async fn provider_outage_shows_a_message_and_passwords_still_work() {
    let (_reserved, unreachable) = refusing_address();
    let app = TestApp::with(Settings { identity: single_sign_on(&unreachable), ..Settings::default() }).await;
    let browser = app.anonymous();
    refused(&browser, &browser.get("/login/sso").await, 502, "cannot be reached").await;
    app.sign_in("ada").await;
}

#[tokio::test]
async fn provider_failure_signs_nobody_in_and_new_keys_are_loaded() {
    let mut provider = Provider::start().await;
    let app = app(&provider).await;
    let mia = app.anonymous();
    let back = sign_in_redirect(&mia, &provider, "mia", "").await;
    let port = provider.stop();
    refused(&mia, &mia.get(&back).await, 502, "cannot be reached").await;
    let provider = Provider::with(port, "").await;
    assert_eq!(sign_in(&mia, &provider, "mia").await.status, 303);
    assert_eq!(who(&mia).await["username"], "mia@example.com");
}

#[tokio::test]
async fn sign_in_page_offers_a_configured_provider() {
    let provider = Provider::start().await;
    let with = app(&provider).await;
    let page = with.anonymous().get("/login?next=%2Fp%2Fdocs").await.text;
    assert!(page.contains("Example Account") && page.contains("/login/sso?next=/p/docs"), "{page}");
    let without = TestApp::start().await;
    assert!(!without.anonymous().get("/login").await.text.contains("/login/sso"));
    let anonymous = without.anonymous();
    for path in ["/login/sso", "/login/sso/callback?code=x&state=x"] {
        refused(&anonymous, &anonymous.get(path).await, 404, "Single sign-on is not configured").await;
    }
    let request = anonymous.request(Method::POST, "/login/sso").header("sec-fetch-site", "same-origin");
    assert_eq!(anonymous.send(request.header(ACCEPT, "application/json")).await.status, 405);
}

#[tokio::test]
async fn provider_groups_add_projects_to_assigned_ones() {
    let provider = Provider::start().await;
    let app = app(&provider).await;
    let projects = async |name: &str| {
        let browser = app.anonymous();
        assert_eq!(sign_in(&browser, &provider, name).await.status, 303);
        let seen = who(&browser).await["projects"].as_array().unwrap().clone();
        seen.iter().map(|project| project["id"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert_eq!(projects("mia").await, ["docs"]);
    assert_eq!(projects("lea").await, ["docs", "api"]);
    let ada = app.sign_in("ada").await;
    let people = ada.get("/admin/users").await.text;
    let mut is_shown = false;
    for person in people.split("href=\"/admin/users/").skip(1).map(|rest| rest.split('"').next().unwrap()) {
        let page = ada.get(&format!("/admin/users/{person}")).await.text;
        is_shown |= page.contains("Project access besides their groups");
    }
    assert!(is_shown, "{people}");
    let given = [("role", "operator"), ("projects", "api")];
    assert_eq!(app.manage(&ada, "change", "mia@example.com", &given).await.status, 200);
    assert_eq!(projects("mia").await, ["docs", "api"]);
}
