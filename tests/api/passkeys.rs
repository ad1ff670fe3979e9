//! Passkeys: users add them on the account page; they are enough for signing in, or serve as second factor.

mod adding;
mod refused;
mod removing;

use base::clock::Clock;
use base::config::AccessConfig;
use model::audit::Outcome;
use model::time::Timestamp;
use serde_json::Value;
use store::audit::AuditFilter;

use crate::helpers::{Authenticator, Browser, PASSWORD, Settings, TestApp, TestResponse};
use crate::second_factor;

const NOON: Timestamp = Timestamp::from_millis(1_795_262_400_000);
const ORIGIN: &str = "https://docket.example";

/// An app at an origin for which browsers support passkeys.
pub(crate) async fn app() -> TestApp {
    let settings =
        Settings { public_url: Some(ORIGIN.to_owned()), clock: Clock::frozen(NOON), ..Settings::default() };
    TestApp::with(settings).await
}

/// The options that the page passes to the browser.
async fn options(browser: &Browser, endpoint: &str, pairs: &[(&str, &str)]) -> Value {
    serde_json::from_str(browser.post_json(endpoint, pairs).await.as_str().unwrap()).unwrap()
}

async fn begin(browser: &Browser) -> Value {
    options(browser, "/api/passkeys/begin", &[("password", PASSWORD)]).await
}

/// The options for a passkey of a person who has one, which confirms the new one.
async fn begin_beside(browser: &Browser, device: &Authenticator) -> Value {
    let requested = options(browser, "/api/passkeys/proof-options", &[("password", PASSWORD)]).await;
    let pairs = [("password", ""), ("proof", &*device.sign(&requested))];
    options(browser, "/api/passkeys/begin", &pairs).await
}

async fn post_new(browser: &Browser, credential: &str) -> TestResponse {
    browser.post("/api/passkeys/add", &[("name", "Phone"), ("credential", credential)]).await
}

/// Adds a passkey, and returns its device and the text of the page.
pub(crate) async fn add(browser: &Browser) -> (Authenticator, Value) {
    let mut device = Authenticator::at(ORIGIN);
    let credential = device.make(&begin(browser).await);
    let response = post_new(browser, &credential).await;
    assert_eq!(response.status, 200, "{}", response.text);
    (device, response.json())
}

/// Adds a passkey beside another one.
async fn add_beside(browser: &Browser, device: &Authenticator) -> Authenticator {
    let mut new = Authenticator::at(ORIGIN);
    let credential = new.make(&begin_beside(browser, device).await);
    let response = post_new(browser, &credential).await;
    assert_eq!(response.status, 200, "{}", response.text);
    new
}

/// Adds a passkey beside an authenticator app, with a code of it.
async fn add_with_code(browser: &Browser, code: &str) -> (Authenticator, Value) {
    let mut device = Authenticator::at(ORIGIN);
    let pairs = [("password", PASSWORD), ("code", code)];
    let credential = device.make(&options(browser, "/api/passkeys/begin", &pairs).await);
    let response = post_new(browser, &credential).await;
    assert_eq!(response.status, 200, "{}", response.text);
    (device, response.json())
}

pub(crate) fn recovery_codes(response: &Value) -> Vec<String> {
    response["secret"].as_str().unwrap_or_default().split_whitespace().map(str::to_owned).collect()
}

async fn sign_in_options(browser: &Browser) -> Value {
    options(browser, "/api/session/passkey-options", &[]).await
}

async fn second_step_options(browser: &Browser) -> Value {
    options(browser, "/api/session/passkey-options", &[("second", "true")]).await
}

async fn post_credential(browser: &Browser, credential: &str) -> TestResponse {
    let pairs = [("credential", credential), ("next", "/p/docs/jobs?q=x")];
    browser.post("/api/session/passkey", &pairs).await
}

/// Signs in with a passkey alone.
pub(crate) async fn sign_in(browser: &Browser, device: &Authenticator) -> TestResponse {
    let credential = device.sign(&sign_in_options(browser).await);
    post_credential(browser, &credential).await
}

/// The newest record: actor, action and detail.
async fn last_record(app: &TestApp) -> (String, String, bool, String) {
    let newest = app.state().store.audit_records(&AuditFilter::default(), 1).await.unwrap().remove(0);
    (newest.actor, newest.action, newest.outcome == Outcome::Refused.as_str(), newest.detail)
}

fn record(actor: &str, action: &str, is_refused: bool, detail: &str) -> (String, String, bool, String) {
    (actor.to_owned(), action.to_owned(), is_refused, detail.to_owned())
}

#[tokio::test]
async fn passkey_signs_in_and_redirects_to_the_requested_page() {
    let app = app().await;
    let olga = app.operator().await;
    let (device, _) = add(&olga).await;
    assert!(olga.is_signed_in().await, "adding one ends no session");

    let page = app.anonymous().get("/login").await.text;
    assert!(page.contains("Sign in with a passkey") && page.contains(r#"src="/passkeys.js""#), "{page}");
    let browser = app.anonymous();
    let challenge = sign_in_options(&browser).await;
    let wanted = &challenge["publicKey"];
    assert_eq!(
        (&wanted["rpId"], &wanted["userVerification"]),
        (&"docket.example".into(), &"required".into())
    );
    assert_eq!(wanted["allowCredentials"], serde_json::json!([]), "the device selects the user");
    assert!(browser.cookie().unwrap().starts_with("__Host-docket-passkey="), "{:?}", browser.cookie());
    assert!(!browser.is_signed_in().await);
    let pairs = [("credential", device.sign(&challenge)), ("next", "/p/docs/jobs?q=x".to_owned())];
    let pairs = pairs.each_ref().map(|(name, value)| (*name, value.as_str()));
    let response = browser.submit("/api/session/passkey", &pairs, Some(&format!("{ORIGIN}/login"))).await;
    assert_eq!((response.status, response.location()), (302, "/p/docs/jobs?q=x"), "{}", response.text);
    assert!(browser.is_signed_in().await);
    assert!(!browser.cookie().unwrap().contains("passkey"), "{:?}", browser.cookie());
    assert_eq!(last_record(&app).await, record("olga", "sign_in", false, "passkey"));
    assert!(!olga.page("/account").await.contains("Never"), "its use is not noted");

    let hostile = app.anonymous();
    let credential = device.sign(&sign_in_options(&hostile).await);
    let pairs = [("credential", credential.as_str()), ("next", "//evil.example")];
    assert_eq!(hostile.post("/api/session/passkey", &pairs).await.location(), "/");
}

#[tokio::test]
async fn passkey_is_accepted_as_second_factor() {
    let app = app().await;
    let (device, response) = add(&app.operator().await).await;
    let codes = recovery_codes(&response);
    assert_eq!(codes.len(), 10);
    let waiting = second_factor::first_step(&app, "olga").await;
    assert!(!waiting.is_signed_in().await, "the password alone signs in");
    let page = waiting.get("/login/code").await;
    assert!(page.text.contains("Use a passkey") && !page.text.contains("authenticator app"), "{}", page.text);
    let policy = page.header("content-security-policy");
    assert!(policy.contains("script-src 'self';") && policy.contains("default-src 'none'"), "{policy}");

    let challenge = second_step_options(&waiting).await;
    let allowed = challenge["publicKey"]["allowCredentials"].as_array().unwrap();
    assert_eq!((allowed.len(), &allowed[0]["id"]), (1, &device.id().into()));
    let signed = post_credential(&waiting, &device.sign(&challenge)).await;
    assert_eq!((signed.status, signed.location()), (200, "/"), "{}", signed.text);
    assert!(waiting.is_signed_in().await);
    assert!(!waiting.cookie().unwrap().contains("docket-step"), "{:?}", waiting.cookie());
    assert_eq!(last_record(&app).await, record("olga", "sign_in", false, "passkey"));

    let elsewhere = second_factor::first_step(&app, "olga").await;
    assert_eq!(second_factor::enter(&elsewhere, &codes[0]).await.status, 200);
    let page = elsewhere.get("/account").await.text;
    assert!(page.contains("9 recovery codes are left"), "{page}");
    let people = app.sign_in("ada").await.get("/admin/users").await.text;
    assert!(people.contains("Active, second factor"), "{people}");
}

#[tokio::test]
async fn passkey_or_authenticator_app_is_sufficient() {
    let app = app().await;
    let olga = app.operator().await;
    let (secret, codes) = second_factor::switch_on(&app, &olga).await;
    let (device, response) = add_with_code(&olga, &second_factor::next_code(&app, &secret)).await;
    assert_eq!(response["secret"], Value::Null, "the old recovery codes were replaced");
    let with_code = second_factor::first_step(&app, "olga").await;
    let page = with_code.get("/login/code").await.text;
    assert!(page.contains("Use a passkey") && page.contains("authenticator app"), "{page}");
    let code = second_factor::next_code(&app, &secret);
    assert_eq!(second_factor::enter(&with_code, &code).await.status, 200);
    let with_passkey = second_factor::first_step(&app, "olga").await;
    let credential = device.sign(&second_step_options(&with_passkey).await);
    assert_eq!(post_credential(&with_passkey, &credential).await.status, 200);
    let thief = second_factor::first_step(&app, "olga").await;
    second_factor::enter(&thief, "000000").await.refused(401, "unauthenticated");
    let alone = app.anonymous();
    assert_eq!(sign_in(&alone, &device).await.status, 200, "a code was required as well");
    let page = alone.get("/p/docs/jobs").await.text;
    assert!(page.contains("1 wrong code was entered for your account"), "{page}");
    let with_recovery = second_factor::first_step(&app, "olga").await;
    assert_eq!(second_factor::enter(&with_recovery, &codes[0]).await.status, 200);
}

#[tokio::test]
async fn passkey_satisfies_a_required_second_factor() {
    let access = AccessConfig { require_second_factor: true, ..AccessConfig::default() };
    let (public_url, clock) = (Some(ORIGIN.to_owned()), Clock::frozen(NOON));
    let app = TestApp::with(Settings { public_url, clock, access, ..Settings::default() }).await;
    let olga = app.operator().await;
    assert_eq!(olga.get("/p/docs/jobs").await.location(), "/account/second-factor");
    let page = olga.get("/account/second-factor").await;
    assert!(page.status == 200 && page.text.contains("Add a passkey"), "{}", page.text);
    let (_, response) = add(&olga).await;
    assert_eq!(recovery_codes(&response).len(), 10);
    assert_eq!(olga.get("/p/docs/jobs").await.status, 200);
    assert_eq!(olga.get("/account/second-factor").await.location(), "/account");
}

#[tokio::test]
async fn passkeys_are_not_offered_on_unsupported_origins() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    let page = app.anonymous().get("/login").await.text;
    assert!(!page.contains("passkey"), "{page}");
    let page = olga.get("/account").await.text;
    assert!(page.contains("Passkeys need an https address with a host name"), "{page}");
    assert!(!page.contains("passkeys.js") && !page.contains("Add a passkey"), "{page}");
    for (endpoint, pairs) in [
        ("/api/passkeys/begin", [("password", PASSWORD)]),
        ("/api/session/passkey-options", [("second", "false")]),
    ] {
        let message = olga.post(endpoint, &pairs).await.refused(409, "conflict");
        assert!(message.contains(&app.origin()) && message.contains("DOCKET_PUBLIC_URL"), "{message}");
    }
}

#[tokio::test]
async fn passkey_of_a_former_origin_is_reported_after_the_password() {
    let mut app = app().await;
    let (_, response) = add(&app.operator().await).await;
    app.restart_with(|settings| settings.public_url = Some("https://192.0.2.7".to_owned())).await;
    let waiting = second_factor::first_step(&app, "olga").await;
    let page = waiting.get("/login/code").await.text;
    assert!(page.contains("do not work at this address") && !page.contains("<script"), "{page}");
    assert_eq!(second_factor::enter(&waiting, &recovery_codes(&response)[0]).await.status, 200);
}
