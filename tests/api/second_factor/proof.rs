//! Adding a second factor while one is on: the proof of an existing one.

use base::clock::Clock;
use serde_json::Value;
use service::auth::totp;
use store::audit::AuditFilter;

use super::{NOON, enter, first_step, next_code, secret_of, switch_on};
use crate::helpers::{Authenticator, Browser, PASSWORD, Settings, TestApp, TestResponse};

const ORIGIN: &str = "https://docket.example";

async fn app() -> TestApp {
    let (public_url, clock) = (Some(ORIGIN.to_owned()), Clock::frozen(NOON));
    TestApp::with(Settings { public_url, clock, ..Settings::default() }).await
}

async fn options(browser: &Browser, endpoint: &str, pairs: &[(&str, &str)]) -> Value {
    serde_json::from_str(browser.post_json(endpoint, pairs).await.as_str().unwrap()).unwrap()
}

/// Adds a passkey with these fields as proof, and returns the device and the recovery codes.
async fn add(browser: &Browser, proof: &[(&str, &str)]) -> (Authenticator, Vec<String>) {
    let mut device = Authenticator::at(ORIGIN);
    let made = device.make(&options(browser, "/api/passkeys/begin", proof).await);
    let added = browser.post_json("/api/passkeys/add", &[("name", "Phone"), ("credential", &made)]).await;
    let codes = added["secret"].as_str().unwrap_or_default();
    (device, codes.split_whitespace().map(str::to_owned).collect())
}

/// The response of an existing passkey as a proof.
async fn signed(browser: &Browser, device: &Authenticator) -> String {
    device.sign(&options(browser, "/api/passkeys/proof-options", &[("password", PASSWORD)]).await)
}

/// Begins to set an authenticator up.
async fn begin(browser: &Browser, proof: &[(&str, &str)]) -> TestResponse {
    browser.post("/api/second-factor/begin", proof).await
}

#[tokio::test]
async fn passkey_beside_an_authenticator_needs_a_code() {
    let app = app().await;
    let olga = app.operator().await;
    let (secret, codes) = switch_on(&app, &olga).await;
    let message = olga.post("/api/passkeys/begin", &[("password", PASSWORD)]).await.refused(400, "bad_input");
    assert!(message.contains("Confirm with it first"), "{message}");
    for code in ["000000", "aaaaa-aaaaa-aaaaa-aaaaa-aaaaa"] {
        let pairs = [("password", PASSWORD), ("code", code)];
        olga.post("/api/passkeys/begin", &pairs).await.refused(400, "bad_input");
    }
    add(&olga, &[("password", PASSWORD), ("code", &next_code(&app, &secret))]).await;
    add(&olga, &[("password", PASSWORD), ("code", &codes[0])]).await;
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM passkeys").await, 2);
}

#[tokio::test]
async fn authenticator_beside_a_passkey_needs_a_recovery_code_or_the_passkey() {
    let app = app().await;
    let olga = app.operator().await;
    let (device, codes) = add(&olga, &[("password", PASSWORD)]).await;
    begin(&olga, &[("password", PASSWORD)]).await.refused(400, "bad_input");
    begin(&olga, &[("password", PASSWORD), ("code", "000000")]).await.refused(400, "bad_input");
    let foreign = Authenticator::at(ORIGIN);
    let credential = signed(&olga, &foreign).await;
    let message = begin(&olga, &[("password", ""), ("credential", &credential)]).await;
    assert!(message.refused(400, "bad_input").contains("not accepted as a confirmation"));
    assert_eq!(begin(&olga, &[("password", PASSWORD), ("code", &codes[0])]).await.status, 200);
    let credential = signed(&olga, &device).await;
    assert_eq!(begin(&olga, &[("password", ""), ("credential", &credential)]).await.status, 200);
    // A response works once.
    begin(&olga, &[("password", ""), ("credential", &credential)]).await.refused(400, "bad_input");
}

#[tokio::test]
async fn passkey_confirms_another_passkey_after_the_password() {
    let app = app().await;
    let (olga, vera) = (app.operator().await, app.sign_in("vera").await);
    let (device, _) = add(&olga, &[("password", PASSWORD)]).await;
    olga.post("/api/passkeys/proof-options", &[("password", "wrong")]).await.refused(400, "bad_input");
    let proof = signed(&olga, &device).await;
    let (_, codes) = add(&olga, &[("password", ""), ("proof", &proof)]).await;
    assert!(codes.is_empty(), "the old recovery codes were replaced");
    // A challenge for a proof signs nobody in, and serves no other person.
    let proof = signed(&olga, &device).await;
    let anonymous = app.anonymous();
    anonymous.set_cookie(&olga.cookie().unwrap().replace("__Host-docket=", "__Host-none="));
    anonymous.post("/api/session/passkey", &[("credential", &proof)]).await.refused(401, "unauthenticated");
    add(&vera, &[("password", PASSWORD)]).await;
    let proof = signed(&olga, &device).await;
    let cookie = olga.cookie().unwrap();
    let cookie = cookie.split("; ").find(|cookie| cookie.starts_with("__Host-docket-passkey")).unwrap();
    vera.set_cookie(&format!("{}; {cookie}", vera.cookie().unwrap()));
    let pairs = [("password", ""), ("proof", proof.as_str())];
    vera.post("/api/passkeys/begin", &pairs).await.refused(400, "bad_input");
}

#[tokio::test]
async fn factor_begun_before_another_one_was_on_is_refused() {
    let app = app().await;
    let olga = app.operator().await;
    let twin = olga.twin(&app);
    let challenge = options(&twin, "/api/passkeys/begin", &[("password", PASSWORD)]).await;
    switch_on(&app, &olga).await;
    let made = Authenticator::at(ORIGIN).make(&challenge);
    let pairs = [("name", "Other"), ("credential", made.as_str())];
    let message = twin.post("/api/passkeys/add", &pairs).await.refused(409, "conflict");
    assert!(message.contains("switched on after"), "{message}");

    let vera = app.sign_in("vera").await;
    assert_eq!(begin(&vera, &[("password", PASSWORD)]).await.status, 200);
    add(&vera, &[("password", PASSWORD)]).await;
    vera.post("/api/second-factor/confirm", &[("code", "000000")]).await.refused(409, "conflict");
}

#[tokio::test]
async fn account_page_asks_for_the_proof_that_exists() {
    let app = app().await;
    let olga = app.operator().await;
    let page = olga.get("/account").await.text;
    assert!(!page.contains("because your second factor is on"), "{page}");
    let (device, _) = add(&olga, &[("password", PASSWORD)]).await;
    let page = olga.get("/account").await.text;
    assert_eq!(page.matches("because your second factor is on").count(), 3, "{page}");
    assert!(page.contains(r#"data-proof="/api/passkeys/proof-options""#), "{page}");
    assert!(page.contains(">Recovery code<"), "{page}");
    let credential = signed(&olga, &device).await;
    let from = format!("{ORIGIN}/account");
    let pairs = [("password", ""), ("code", ""), ("credential", credential.as_str())];
    let begun = olga.submit("/api/second-factor/begin", &pairs, Some(&from)).await;
    assert_eq!((begun.status, begun.location()), (302, "/account"), "{}", begun.text);
    assert!(olga.get("/account").await.text.contains("otpauth://totp/"));
}

/// Another session of the same person may be a stolen one.
#[tokio::test]
async fn proposed_secret_belongs_to_the_session_that_proposed_it() {
    let app = app().await;
    let (olga, other) = (app.operator().await, app.sign_in("olga").await);
    let confirm = async |browser: &Browser, secret: &str| {
        let code = totp::code_at(secret, app.clock().now()).unwrap();
        browser.post("/api/second-factor/confirm", &[("code", &code)]).await
    };
    assert_eq!(begin(&olga, &[("password", PASSWORD)]).await.status, 200);
    let secret = secret_of(&olga).await;
    let account = other.post_json("/api/account/get", &[]).await;
    assert_eq!(account["second_factor"], serde_json::json!({"state": "off"}));
    let page = other.page("/account").await;
    assert!(!page.contains(&secret) && !page.contains("otpauth"), "{page}");
    confirm(&other, &secret).await.refused(409, "conflict");

    // A secret that the other session proposes is not shown to the first one.
    assert_eq!(begin(&other, &[("password", PASSWORD)]).await.status, 200);
    let replaced = secret_of(&other).await;
    assert_eq!(olga.post_json("/api/account/get", &[]).await["second_factor"]["state"], "off");
    confirm(&olga, &replaced).await.refused(409, "conflict");
    assert_eq!(begin(&olga, &[("password", PASSWORD)]).await.status, 200);
    let secret = secret_of(&olga).await;
    assert_eq!(confirm(&olga, &secret).await.status, 200);
    let account = other.post_json("/api/account/get", &[]).await;
    assert_eq!(account["second_factor"]["state"], "on", "a confirmed one belongs to the person");
}

/// The cookie with the token of a challenge is worth nothing in another session of the same person.
#[tokio::test]
async fn passkey_challenge_belongs_to_the_session_that_requested_it() {
    let app = app().await;
    let (olga, other) = (app.operator().await, app.sign_in("olga").await);
    let give_challenge = || {
        let (from, to) = (olga.cookie().unwrap(), other.cookie().unwrap());
        let challenge = from.split("; ").find(|cookie| cookie.starts_with("__Host-docket-passkey=")).unwrap();
        let session = to.split("; ").find(|cookie| cookie.starts_with("__Host-docket=")).unwrap();
        other.set_cookie(&format!("{session}; {challenge}"));
    };
    let made = Authenticator::at(ORIGIN)
        .make(&options(&olga, "/api/passkeys/begin", &[("password", PASSWORD)]).await);
    give_challenge();
    let pairs = [("name", "Other"), ("credential", made.as_str())];
    other.post("/api/passkeys/add", &pairs).await.refused(409, "conflict");

    let (device, _) = add(&olga, &[("password", PASSWORD)]).await;
    let proof = signed(&olga, &device).await;
    give_challenge();
    begin(&other, &[("password", ""), ("credential", &proof)]).await.refused(400, "bad_input");
}

/// The factor is removed between the check of the code and the write, by a trigger.
#[tokio::test]
async fn recovery_codes_are_not_renewed_for_a_factor_removed_meanwhile() {
    let app = app().await;
    let olga = app.operator().await;
    let (_, codes) = switch_on(&app, &olga).await;
    app.ledger().remove_authenticator_with_a_code().await;
    let pairs = [("password", PASSWORD), ("code", codes[0].as_str())];
    let message = olga.post("/api/second-factor/renew", &pairs).await.refused(409, "conflict");
    assert!(message.contains("switched off"), "{message}");
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM recovery_codes").await, 9, "new codes were stored");
}

/// Wrong codes count against the owner, so somebody without the password must not be able to enter any.
#[tokio::test]
async fn recovery_codes_are_renewed_by_password_and_code_only() {
    let app = app().await;
    let olga = app.operator().await;
    let (_, codes) = switch_on(&app, &olga).await;
    let renew = async |password: &str, code: &str| {
        olga.post("/api/second-factor/renew", &[("password", password), ("code", code)]).await
    };
    let wrong = async || app.ledger().count("SELECT SUM(failures_in_row) FROM second_factors").await;
    for _ in 0..5 {
        renew("wrong", "000000").await.refused(400, "bad_input");
        renew("wrong", &codes[0]).await.refused(400, "bad_input");
    }
    assert_eq!(wrong().await, 0, "a code counted without the password");
    app.clock().advance(std::time::Duration::from_secs(1_200));
    renew(PASSWORD, "000000").await.refused(400, "bad_input");
    assert_eq!(wrong().await, 1);
    let record = app.state().store.audit_records(&AuditFilter::default(), 1).await.unwrap().remove(0);
    assert_eq!(
        [&record.actor, &record.action, &record.outcome, &record.detail].map(String::as_str),
        ["olga", "recovery_codes", "refused", "wrong code"]
    );
    assert_eq!(renew(PASSWORD, &codes[0]).await.status, 200);
    enter(&first_step(&app, "olga").await, &codes[1]).await.refused(401, "unauthenticated");
}
