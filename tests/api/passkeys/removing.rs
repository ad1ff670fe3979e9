//! Removing passkeys, by their owner and by an administrator.

use super::{
    add, add_beside, add_with_code, app, last_record, options, post_credential, record, recovery_codes,
    second_step_options, sign_in, sign_in_options,
};
use crate::helpers::{Authenticator, Browser, Installation, PASSWORD, TestResponse};
use crate::second_factor;

async fn ids(browser: &Browser) -> Vec<String> {
    let account = browser.post_json("/api/account/get", &[]).await;
    let list = account["passkeys"]["list"].as_array().unwrap();
    list.iter().map(|passkey| passkey["id"].as_str().unwrap().to_owned()).collect()
}

async fn remove(browser: &Browser, id: &str, password: &str, code: &str) -> TestResponse {
    let pairs = [("passkey", id), ("password", password), ("code", code)];
    browser.post("/api/passkeys/remove", &pairs).await
}

/// Removes a passkey with the response of a passkey as the proof.
async fn remove_with(browser: &Browser, id: &str, device: &Authenticator) -> TestResponse {
    let requested = options(browser, "/api/passkeys/proof-options", &[("password", PASSWORD)]).await;
    let credential = device.sign(&requested);
    let pairs = [("passkey", id), ("password", ""), ("credential", credential.as_str())];
    browser.post("/api/passkeys/remove", &pairs).await
}

#[tokio::test]
async fn removing_a_passkey_requires_a_passkey_or_a_recovery_code() {
    let app = app().await;
    let (olga, vera) = (app.operator().await, app.sign_in("vera").await);
    let (first, response) = add(&olga).await;
    let second = add_beside(&olga, &first).await;
    let codes = recovery_codes(&response);
    let ids = ids(&olga).await;
    remove(&vera, &ids[0], PASSWORD, "").await.refused(409, "conflict");
    remove(&olga, &ids[0], "wrong", &codes[0]).await.refused(400, "bad_input");
    let message = remove(&olga, &ids[0], PASSWORD, "").await.refused(400, "bad_input");
    assert!(message.contains("Confirm with it first"), "{message}");
    assert_eq!(remove_with(&olga, &ids[0], &second).await.status, 200);
    assert_eq!(last_record(&app).await, record("olga", "passkey_remove", false, ""));
    sign_in(&app.anonymous(), &first).await.refused(401, "unauthenticated");
    remove_with(&olga, &ids[0], &second).await.refused(409, "conflict");

    let page = olga.get("/account").await.text;
    assert!(page.contains("It is your only second factor"), "{page}");
    for code in ["", "000000", "aaaaa-aaaaa-aaaaa-aaaaa"] {
        remove(&olga, &ids[1], PASSWORD, code).await.refused(400, "bad_input");
    }
    assert_eq!(sign_in(&app.anonymous(), &second).await.status, 200, "a wrong code removes it");
    let waiting = second_factor::first_step(&app, "olga").await;
    assert_eq!(remove(&olga, &ids[1], PASSWORD, &codes[0]).await.status, 200);
    assert_eq!(waiting.get("/login/code").await.location(), "/login");
    assert!(app.operator().await.is_signed_in().await, "the password is enough");
    // The old recovery codes are removed with it.
    let (_, response) = add(&olga).await;
    assert_eq!(recovery_codes(&response).len(), 10);
    let waiting = second_factor::first_step(&app, "olga").await;
    second_factor::enter(&waiting, &codes[1]).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn removing_app_or_passkey_keeps_the_other() {
    let app = app().await;
    let olga = app.operator().await;
    let (secret, codes) = second_factor::switch_on(&app, &olga).await;
    let (device, _) = add_with_code(&olga, &second_factor::next_code(&app, &secret)).await;
    let off = [("password", PASSWORD), ("code", &second_factor::next_code(&app, &secret))];
    let response = olga.post_json("/api/second-factor/remove", &off).await;
    assert!(response["sentence"].as_str().unwrap().contains("your password and a passkey"), "{response}");
    let waiting = second_factor::first_step(&app, "olga").await;
    assert_eq!(second_factor::enter(&waiting, &codes[0]).await.status, 200);
    assert_eq!(sign_in(&app.anonymous(), &device).await.status, 200);

    let (secret, _) = second_factor::switch_on_beside(&app, &olga, &codes[1]).await;
    let id = ids(&olga).await.remove(0);
    remove(&olga, &id, PASSWORD, "").await.refused(400, "bad_input");
    let code = second_factor::next_code(&app, &secret);
    assert_eq!(remove(&olga, &id, PASSWORD, &code).await.status, 200);
    let waiting = second_factor::first_step(&app, "olga").await;
    let code = second_factor::next_code(&app, &secret);
    assert_eq!(second_factor::enter(&waiting, &code).await.status, 200);
}

/// Somebody who has lost the authenticator app and the recovery codes removes the app with a passkey.
#[tokio::test]
async fn passkey_confirms_the_removal_of_an_authenticator() {
    let app = app().await;
    let olga = app.operator().await;
    let (secret, _) = second_factor::switch_on(&app, &olga).await;
    let (device, _) = add_with_code(&olga, &second_factor::next_code(&app, &secret)).await;
    let foreign = Authenticator::at(super::ORIGIN);
    for (device, status) in [(&foreign, 400), (&device, 200)] {
        let requested = options(&olga, "/api/passkeys/proof-options", &[("password", PASSWORD)]).await;
        let credential = device.sign(&requested);
        let pairs = [("password", ""), ("code", ""), ("credential", credential.as_str())];
        let response = olga.post("/api/second-factor/remove", &pairs).await;
        assert_eq!(response.status, status, "{}", response.text);
    }
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM second_factors").await, 0);
    assert_eq!(sign_in(&app.anonymous(), &device).await.status, 200);
}

#[tokio::test]
async fn concurrent_removals_with_one_code_remove_one_passkey() {
    let app = app().await;
    let olga = app.operator().await;
    let (device, response) = add(&olga).await;
    add_beside(&olga, &device).await;
    let (ids, codes) = (ids(&olga).await, recovery_codes(&response));
    let code = codes[0].as_str();
    let both = futures::future::join_all(ids.iter().map(|id| remove(&olga, id, PASSWORD, code))).await;
    assert_eq!(both.iter().filter(|response| response.status == 200).count(), 1, "a code works once");
    assert!(second_factor::first_step(&app, "olga").await.cookie().is_some());
}

#[tokio::test]
async fn administrator_resets_passkeys() {
    let app = app().await;
    let (device, _) = add(&app.operator().await).await;
    let installation = Installation::new().set("DOCKET_DATABASE_URL", app.database_url());
    let listed = installation.run(&["user", "list"]).stdout;
    assert!(
        listed.lines().any(|line| line.starts_with("olga") && line.contains("second factor")),
        "{listed}"
    );
    let waiting = second_factor::first_step(&app, "olga").await;
    let challenge = second_step_options(&waiting).await;
    let alone = app.anonymous();
    let begun = sign_in_options(&alone).await;
    assert_eq!(installation.run(&["user", "reset-second-factor", "olga"]).code, Some(0));
    assert_eq!(
        last_record(&app).await,
        record("command line", "second_factor_off", false, "with all passkeys")
    );
    assert!(!installation.run(&["user", "list"]).stdout.contains("second factor"));
    post_credential(&waiting, &device.sign(&challenge)).await.refused(401, "unauthenticated");
    post_credential(&alone, &device.sign(&begun)).await.refused(401, "unauthenticated");
    assert!(app.operator().await.is_signed_in().await);
    let again = installation.run(&["user", "reset-second-factor", "olga"]);
    assert!(again.stdout.contains("nothing was changed"), "{again:?}");
}
