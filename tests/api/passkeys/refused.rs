//! Invalid sign-ins with passkeys.

use std::net::IpAddr;
use std::time::Duration;

use super::{
    ORIGIN, add, app, begin_beside, last_record, post_credential, post_new, record, second_step_options,
    sign_in, sign_in_options,
};
use crate::helpers::work::work_at;
use crate::helpers::{Authenticator, Browser, PASSWORD, TestApp};
use crate::second_factor;

/// The token of a browser's challenge.
fn token(browser: &Browser) -> String {
    let cookies = browser.cookie().unwrap();
    cookies.split("; ").find(|cookie| cookie.starts_with("__Host-docket-passkey=")).unwrap().to_owned()
}

#[tokio::test]
async fn challenge_works_once_in_its_browser_within_five_minutes() {
    let app = app().await;
    let (device, _) = add(&app.operator().await).await;
    let browser = app.anonymous();
    let credential = device.sign(&sign_in_options(&browser).await);
    let cookie = token(&browser);
    let anonymous = app.anonymous();
    post_credential(&anonymous, &credential).await.refused(401, "unauthenticated");
    anonymous.set_cookie("__Host-docket-passkey=AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
    post_credential(&anonymous, &credential).await.refused(401, "unauthenticated");
    assert_eq!(post_credential(&browser, &credential).await.status, 200);
    for replayed in [app.anonymous(), app.anonymous()] {
        replayed.set_cookie(&cookie);
        let message = post_credential(&replayed, &credential).await.refused(401, "unauthenticated");
        assert!(message.contains("answered already") && !replayed.is_signed_in().await, "{message}");
    }
    // The assertion is not valid for another challenge either.
    let other = app.anonymous();
    sign_in_options(&other).await;
    post_credential(&other, &credential).await.refused(401, "unauthenticated");

    let late = app.anonymous();
    let credential = device.sign(&sign_in_options(&late).await);
    app.clock().advance(Duration::from_secs(300));
    post_credential(&late, &credential).await.refused(401, "unauthenticated");
}

#[tokio::test]
async fn concurrent_reuse_of_an_assertion_signs_in_once() {
    let app = app().await;
    let (device, _) = add(&app.operator().await).await;
    let first = app.anonymous();
    let credential = device.sign(&sign_in_options(&first).await);
    let browsers: Vec<Browser> = (0..5).map(|_| first.twin(&app)).collect();
    let responses =
        futures::future::join_all(browsers.iter().map(|browser| post_credential(browser, &credential))).await;
    assert_eq!(responses.iter().filter(|response| response.status == 200).count(), 1);
}

#[tokio::test]
async fn challenge_is_valid_only_for_its_purpose() {
    let app = app().await;
    let olga = app.operator().await;
    let (mut device, _) = add(&olga).await;
    // A challenge for signing in adds no passkey, and one for adding does not sign in.
    let challenge = sign_in_options(&olga).await;
    let as_new = challenge["publicKey"].as_object().unwrap().clone();
    let mut as_new = serde_json::json!({ "publicKey": as_new });
    as_new["publicKey"]["user"]["id"] = device.user.clone().into();
    let credential = Authenticator::at(ORIGIN).make(&as_new);
    post_new(&olga, &credential).await.refused(409, "conflict");
    let challenge = begin_beside(&olga, &device).await;
    post_credential(&olga, &device.sign(&challenge)).await.refused(401, "unauthenticated");
    // A challenge of the second step needs the password before it, and a passkey of the same user.
    let waiting = second_factor::first_step(&app, "olga").await;
    let challenge = second_step_options(&waiting).await;
    let anonymous = app.anonymous();
    anonymous.set_cookie(&token(&waiting));
    post_credential(&anonymous, &device.sign(&challenge)).await.refused(401, "unauthenticated");
    let (mut other, _) = add(&app.sign_in("vera").await).await;
    let waiting = second_factor::first_step(&app, "olga").await;
    let challenge = second_step_options(&waiting).await;
    post_credential(&waiting, &other.sign(&challenge)).await.refused(401, "unauthenticated");
    assert_eq!(last_record(&app).await, record("olga", "sign_in", true, "passkey of another person"));
    other.id = device.id.clone();
    post_credential(&waiting, &other.sign(&second_step_options(&waiting).await))
        .await
        .refused(401, "unauthenticated");
    assert_eq!(last_record(&app).await, record("olga", "sign_in", true, "passkey"));
    // Without a password before it, there is no second step.
    let pairs = [("second", "true")];
    app.anonymous().post("/api/session/passkey-options", &pairs).await.refused(401, "unauthenticated");
    // The step is still valid for its user.
    device.counter = 0;
    let credential = device.sign(&second_step_options(&waiting).await);
    assert_eq!(post_credential(&waiting, &credential).await.status, 200);
}

#[tokio::test]
async fn signature_for_another_origin_or_unverified_is_refused() {
    let app = app().await;
    let (mut device, _) = add(&app.operator().await).await;
    let lies: [fn(&mut Authenticator); 5] = [
        |device| device.origin = "https://evil.example".to_owned(),
        |device| device.origin = "https://docket.example.evil.example".to_owned(),
        |device| device.origin = "http://docket.example".to_owned(),
        |device| device.relying_party = "evil.example".to_owned(),
        |device| device.is_verified = false,
    ];
    for lie in lies {
        (device.origin, device.relying_party) = (ORIGIN.to_owned(), "docket.example".to_owned());
        device.is_verified = true;
        lie(&mut device);
        let browser = app.anonymous();
        let message = sign_in(&browser, &device).await.refused(401, "unauthenticated");
        assert!(message.contains("does not sign you in") && !browser.is_signed_in().await, "{message}");
        assert_eq!(last_record(&app).await, record("olga", "sign_in", true, "passkey"));
    }
}

#[tokio::test]
async fn passkey_signs_in_only_its_owner() {
    let app = app().await;
    let (mut of_olga, _) = add(&app.operator().await).await;
    let (of_ada, _) = add(&app.sign_in("ada").await).await;
    of_olga.user = of_ada.user.clone();
    sign_in(&app.anonymous(), &of_olga).await.refused(401, "unauthenticated");
    assert_eq!(last_record(&app).await, record("olga", "sign_in", true, "passkey of another person"));
    // The credential id of one user with the signature of another.
    of_olga.id = of_ada.id.clone();
    sign_in(&app.anonymous(), &of_olga).await.refused(401, "unauthenticated");
    assert_eq!(last_record(&app).await, record("ada", "sign_in", true, "passkey"));
    let unknown = Authenticator::at(ORIGIN);
    sign_in(&app.anonymous(), &unknown).await.refused(401, "unauthenticated");
    assert_eq!(last_record(&app).await, record("", "sign_in", true, "unknown passkey"));
    for garbage in ["", "{}", "x", "[]", &"[".repeat(4_000)] {
        let browser = app.anonymous();
        sign_in_options(&browser).await;
        post_credential(&browser, garbage).await.refused(400, "bad_input");
    }
}

#[tokio::test]
async fn decreasing_signature_counter_is_refused_and_recorded() {
    let app = app().await;
    let (mut device, _) = add(&app.operator().await).await;
    device.counter = 5;
    assert_eq!(sign_in(&app.anonymous(), &device).await.status, 200);
    for copied in [5, 4, 0] {
        device.counter = copied;
        let message = sign_in(&app.anonymous(), &device).await.refused(401, "unauthenticated");
        assert!(message.contains("copy of it may be in use"), "{message}");
        let detail = "passkey whose signature counter went back";
        assert_eq!(last_record(&app).await, record("olga", "sign_in", true, detail));
        let waiting = second_factor::first_step(&app, "olga").await;
        let credential = device.sign(&second_step_options(&waiting).await);
        post_credential(&waiting, &credential).await.refused(401, "unauthenticated");
    }
    // A challenge from before the last use contains an older counter.
    let waiting = second_factor::first_step(&app, "olga").await;
    let challenge = second_step_options(&waiting).await;
    device.counter = 9;
    assert_eq!(sign_in(&app.anonymous(), &device).await.status, 200);
    device.counter = 8;
    post_credential(&waiting, &device.sign(&challenge)).await.refused(401, "unauthenticated");
    device.counter = 10;
    assert_eq!(sign_in(&app.anonymous(), &device).await.status, 200);
}

#[tokio::test]
async fn passkey_of_a_disabled_user_is_refused() {
    let app = app().await;
    let (device, _) = add(&app.operator().await).await;
    let waiting = second_factor::first_step(&app, "olga").await;
    let (challenge, browser) = (second_step_options(&waiting).await, app.anonymous());
    let alone = sign_in_options(&browser).await;
    app.state().store.set_disabled((&work_at(app.clock().now())).into(), "olga", true).await.unwrap();
    post_credential(&browser, &device.sign(&alone)).await.refused(401, "unauthenticated");
    assert_eq!(last_record(&app).await, record("olga", "sign_in", true, "passkey"));
    post_credential(&waiting, &device.sign(&challenge)).await.refused(401, "unauthenticated");
    assert_eq!(waiting.get("/login/code").await.location(), "/login");
}

#[tokio::test]
async fn passkey_attempts_are_limited_per_client_ip() {
    let app = app().await;
    let (device, _) = add(&app.operator().await).await;
    let thief: IpAddr = [127, 0, 0, 7].into();
    for _ in 0..10 {
        let browser = app.anonymous_from(thief);
        sign_in(&browser, &Authenticator::at(ORIGIN)).await.refused(401, "unauthenticated");
    }
    let refused = sign_in(&app.anonymous_from(thief), &Authenticator::at(ORIGIN)).await;
    refused.refused(429, "too_many_attempts");
    assert_ne!(refused.header("retry-after"), "");
    for last in 10..22 {
        app.anonymous_from([127, 0, 0, last].into()).sign_in("olga", "wrong").await;
    }
    let new: IpAddr = [127, 0, 0, 99].into();
    app.anonymous_from(new).sign_in("olga", PASSWORD).await.refused(429, "too_many_attempts");
    for _ in 0..12 {
        assert_eq!(sign_in(&app.anonymous_from(new), &device).await.status, 200);
    }
    let known = app.anonymous_from(new).sign_in("olga", PASSWORD).await;
    assert_eq!((known.status, known.location()), (200, "/login/code"), "the address is not known now");
}

#[tokio::test]
async fn anonymous_challenges_are_limited() {
    let app = app().await;
    let (device, _) = add(&app.operator().await).await;
    let challenge = async |app: &TestApp, from: IpAddr| {
        let browser = app.anonymous_from(from);
        let challenge = sign_in_options(&browser).await;
        (browser, challenge)
    };
    let (crowded, quiet) = ([127, 0, 0, 3].into(), [127, 0, 0, 4].into());
    let (first, other) = (challenge(&app, crowded).await, challenge(&app, quiet).await);
    app.clock().advance(Duration::from_secs(1));
    let second = challenge(&app, crowded).await;
    app.clock().advance(Duration::from_secs(1));
    for _ in 0..49 {
        challenge(&app, crowded).await;
    }
    post_credential(&first.0, &device.sign(&first.1)).await.refused(401, "unauthenticated");
    for (browser, challenge) in [second, other] {
        assert_eq!(post_credential(&browser, &device.sign(&challenge)).await.status, 200);
    }
    let options = "/api/session/passkey-options";
    let given = async || app.anonymous_from(crowded).post(options, &[]).await;
    let mut more = 0;
    while more < 100 && given().await.status == 200 {
        more += 1;
    }
    assert_eq!(more, 11, "sixty at once, and one a second");
    let refused = given().await;
    refused.refused(429, "too_many_attempts");
    assert_eq!(refused.header("retry-after"), "1");
    assert_eq!(app.anonymous_from(quiet).post(options, &[]).await.status, 200);
}
