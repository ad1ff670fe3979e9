//! Adding and renaming passkeys.

use std::net::Ipv4Addr;
use std::time::Duration;

use serde_json::json;
use service::auth::second_factor::ProofFields;
use store::accounts::admission::Account;
use store::authorization::Authorization;

use super::{
    ORIGIN, add, add_beside, app, begin, begin_beside, last_record, post_new, record, sign_in,
    sign_in_options,
};
use crate::helpers::Authenticator;
use crate::helpers::work::work_at;

#[tokio::test]
async fn adding_a_passkey_requires_password_and_user_verification() {
    let app = app().await;
    let olga = app.operator().await;
    olga.post("/api/passkeys/begin", &[("password", "wrong")]).await.refused(400, "bad_input");
    assert_eq!(last_record(&app).await, record("olga", "user_password", true, ""));
    let challenge = begin(&olga).await;
    let wanted = &challenge["publicKey"];
    assert_eq!(wanted["rp"], json!({"id": "docket.example", "name": "Docket"}));
    assert_eq!(wanted["user"]["name"], "olga");
    let selection = &wanted["authenticatorSelection"];
    for (name, value) in [("residentKey", "required"), ("userVerification", "required")] {
        assert_eq!(selection[name], value, "{selection}");
    }
    assert_eq!(selection["requireResidentKey"], true);
    let mut device = Authenticator::at(ORIGIN);
    let credential = device.make(&challenge);
    let response = olga
        .submit(
            "/api/passkeys/add",
            &[("name", " Phone "), ("credential", &credential)],
            Some(&format!("{ORIGIN}/account")),
        )
        .await;
    assert_eq!((response.status, response.location()), (302, "/account"), "{}", response.text);
    assert_eq!(last_record(&app).await, record("olga", "passkey_add", false, ""));
    let page = olga.get("/account").await.text;
    assert!(page.contains("The passkey was added") && page.contains(">Phone<"), "{page}");
    assert!(page.contains(r#"aria-label="Recovery codes""#), "{page}");
    let again = begin_beside(&olga, &device).await;
    let known = &again["publicKey"]["excludeCredentials"];
    assert_eq!((known.as_array().unwrap().len(), &known[0]["id"]), (1, &device.id().into()));
}

#[tokio::test]
async fn new_passkey_of_another_origin_or_unverified_is_refused() {
    let app = app().await;
    let olga = app.operator().await;
    let lies: [fn(&mut Authenticator); 4] = [
        |device| device.origin = "https://evil.example".to_owned(),
        |device| device.origin = "http://docket.example".to_owned(),
        |device| device.relying_party = "evil.example".to_owned(),
        |device| device.is_verified = false,
    ];
    for lie in lies {
        let mut device = Authenticator::at(ORIGIN);
        lie(&mut device);
        let credential = device.make(&begin(&olga).await);
        let message = post_new(&olga, &credential).await.refused(400, "bad_input");
        assert!(message.contains("not added"), "{message}");
    }
    let other = begin(&olga).await;
    let credential = Authenticator::at(ORIGIN).make(&other);
    begin(&olga).await;
    post_new(&olga, &credential).await.refused(400, "bad_input");
    assert!(!olga.page("/account").await.contains(">Phone<"));
}

#[tokio::test]
async fn add_challenge_works_once_for_its_user_within_five_minutes() {
    let app = app().await;
    let (olga, vera) = (app.operator().await, app.sign_in("vera").await);
    let mut device = Authenticator::at(ORIGIN);
    let credential = device.make(&begin(&olga).await);
    let token = olga.cookie().unwrap();
    let token = token.split("; ").find(|cookie| cookie.starts_with("__Host-docket-passkey")).unwrap();
    let secret = token.split_once('=').unwrap().1;
    assert!(!app.database_dump().await.contains(secret), "the token is in the database");
    vera.set_cookie(&format!("{}; {token}", vera.cookie().unwrap()));
    post_new(&vera, &credential).await.refused(409, "conflict");
    post_new(&olga, &credential).await.refused(409, "conflict");

    let credential = device.make(&begin(&olga).await);
    app.clock().advance(Duration::from_secs(300));
    post_new(&olga, &credential).await.refused(409, "conflict");
    let credential = device.make(&begin(&olga).await);
    app.set_password("olga", "quite another sentence").await;
    let again = app.anonymous();
    assert_eq!(again.sign_in("olga", "quite another sentence").await.status, 200);
    let cookie = olga.cookie().unwrap();
    let cookie = cookie.split("; ").find(|cookie| cookie.starts_with("__Host-docket-passkey")).unwrap();
    again.set_cookie(&format!("{}; {cookie}", again.cookie().unwrap()));
    post_new(&again, &credential).await.refused(409, "conflict");
}

#[tokio::test]
async fn passkey_belongs_to_one_user() {
    let app = app().await;
    let (olga, vera) = (app.operator().await, app.sign_in("vera").await);
    let (mut device, _) = add(&olga).await;
    let credential = device.make(&begin(&vera).await);
    let message = post_new(&vera, &credential).await.refused(409, "conflict");
    assert!(message.contains("in use already"), "{message}");
    assert!(!vera.page("/account").await.contains(">Phone<"));
}

#[tokio::test]
async fn passkeys_are_limited_to_twenty_per_user() {
    let app = app().await;
    let olga = app.operator().await;
    let (device, _) = add(&olga).await;
    for _ in 0..18 {
        add_beside(&olga, &device).await;
    }
    let (mut last, mut extra) = (Authenticator::at(ORIGIN), Authenticator::at(ORIGIN));
    let twin = olga.twin(&app);
    let credential = last.make(&begin_beside(&olga, &device).await);
    let other = extra.make(&begin_beside(&twin, &device).await);
    assert_eq!(post_new(&olga, &credential).await.status, 200);
    post_new(&twin, &other).await.refused(409, "conflict");
    let asked =
        super::options(&olga, "/api/passkeys/proof-options", &[("password", crate::helpers::PASSWORD)]).await;
    let pairs = [("password", ""), ("proof", &*device.sign(&asked))];
    let message = olga.post("/api/passkeys/begin", &pairs).await.refused(409, "conflict");
    assert!(message.contains("20 passkeys"), "{message}");
}

#[tokio::test]
async fn only_the_owner_renames_a_passkey() {
    let app = app().await;
    let (olga, vera) = (app.operator().await, app.sign_in("vera").await);
    let mut device = Authenticator::at(ORIGIN);
    for name in ["", "  ", "a\u{202E}b", &"x".repeat(65)] {
        let credential = device.make(&begin(&olga).await);
        let pairs = [("name", name), ("credential", credential.as_str())];
        olga.post("/api/passkeys/add", &pairs).await.refused(400, "bad_input");
    }
    add(&olga).await;
    let id = olga.post_json("/api/account/get", &[]).await["passkeys"]["list"][0]["id"]
        .as_str()
        .unwrap()
        .to_owned();
    let rename = [("passkey", id.as_str()), ("name", "Blue key")];
    vera.post("/api/passkeys/rename", &rename).await.refused(409, "conflict");
    olga.post("/api/passkeys/rename", &[("passkey", &id), ("name", "")]).await.refused(400, "bad_input");
    olga.post("/api/passkeys/rename", &[("passkey", "x"), ("name", "y")]).await.refused(400, "bad_input");
    olga.post_json("/api/passkeys/rename", &rename).await;
    assert_eq!(last_record(&app).await, record("olga", "passkey_rename", false, ""));
    assert!(olga.get("/account").await.text.contains(">Blue key<"));
}

#[tokio::test]
async fn single_sign_on_users_cannot_add_passkeys() {
    let app = app().await;
    let now = app.clock().now();
    let store = &app.state().store;
    store.set_password_hash((&work_at(now)).into(), "vera", "").await.unwrap();
    let account = store.account_by_id(&app.id_of("vera").await).await.unwrap();
    let user = account.and_then(Account::admitted).unwrap();
    let ip = Ipv4Addr::LOCALHOST.into();
    let request = Authorization::of_session(user, None, ip, app.clock().clone());
    let begun = app.state().passkeys.begin_adding(&request, ProofFields::default()).await;
    let message = begun.err().unwrap().message;
    assert!(message.contains("Another service signs you in"), "{message}");
}

#[tokio::test]
async fn passkey_with_an_initial_counter_signs_in() {
    let app = app().await;
    let olga = app.operator().await;
    let mut device = Authenticator::at(ORIGIN);
    device.counter = 7;
    let credential = device.make(&begin(&olga).await);
    assert_eq!(post_new(&olga, &credential).await.status, 200);
    sign_in(&app.anonymous(), &device).await.refused(401, "unauthenticated");
    device.counter = 8;
    let browser = app.anonymous();
    let credential = device.sign(&sign_in_options(&browser).await);
    assert_eq!(super::post_credential(&browser, &credential).await.status, 200);
}
