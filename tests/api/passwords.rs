//! Passwords: rules, storage, and the same error for every failed attempt.

use argon2::password_hash::rand_core::OsRng;
use argon2::password_hash::{PasswordHasher, SaltString};
use argon2::{Argon2, Params};

use crate::helpers::work::work_at;
use crate::helpers::{Browser, Installation, PASSWORD, TestApp, TestResponse, until};

const NEW: &str = "quite another sentence";

async fn change(person: &Browser, old: &str, new: &str) -> TestResponse {
    person.post("/api/account/password", &[("old", old), ("new", new)]).await
}

#[tokio::test]
async fn password_change_requires_the_old_one_and_ends_sessions() {
    let app = TestApp::start().await;
    let (olga, elsewhere) = (app.operator().await, app.operator().await);
    for wrong in ["", "wrong", NEW] {
        change(&olga, wrong, NEW).await.refused(400, "bad_input");
    }
    assert!(elsewhere.is_signed_in().await);

    let thief = olga.twin(&app);
    assert_eq!(change(&olga, PASSWORD, NEW).await.status, 200);
    assert!(olga.is_signed_in().await);
    assert!(!elsewhere.is_signed_in().await);
    assert!(!thief.is_signed_in().await, "the session keeps its old id");
    app.anonymous().sign_in("olga", PASSWORD).await.refused(401, "unauthenticated");
    assert_eq!(app.anonymous().sign_in("olga", NEW).await.status, 200);
}

#[tokio::test]
async fn weak_or_overlong_passwords_are_refused() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    for bad in ["", "eleven char", "password1234", "QWERTYUIOP123", "olga-olga-123", &"x1y2z3".repeat(200)] {
        change(&olga, PASSWORD, bad).await.refused(400, "bad_input");
    }
    app.sign_in_with_password("olga").await;
    let installation = Installation::new();
    let add = ["user", "add", "eva", "--role", "viewer"];
    for bad in ["eleven char", "password1234", "abababababab"] {
        let refused = installation.run_with_input(&add, bad);
        assert_eq!(refused.code, Some(1), "{bad}: {refused:?}");
    }
    assert_eq!(installation.run_with_input(&add, PASSWORD).code, Some(0));
}

#[tokio::test]
async fn password_change_attempts_are_rate_limited() {
    let app = TestApp::start().await;
    let olga = app.operator().await;
    for _ in 0..10 {
        change(&olga, "wrong", NEW).await.refused(400, "bad_input");
    }
    let response = change(&olga, PASSWORD, NEW).await;
    assert_eq!(response.status, 429, "{}", response.text);
    assert!((1..=60).contains(&response.header("retry-after").parse::<u64>().unwrap()));
}

#[tokio::test]
async fn outdated_password_hash_is_replaced_at_sign_in() {
    let app = TestApp::start().await;
    let old = Argon2::from(Params::new(8_192, 1, 1, None).unwrap());
    let salt = SaltString::generate(&mut OsRng);
    let stored = old.hash_password(PASSWORD.as_bytes(), &salt).unwrap().to_string();
    app.state().store.set_password_hash((&work_at(app.clock().now())).into(), "olga", &stored).await.unwrap();
    app.anonymous().sign_in("olga", "wrong").await.refused(401, "unauthenticated");
    let stored_now = async || app.state().store.user_by_name("olga").await.unwrap().unwrap().password_hash;
    assert_eq!(stored_now().await, stored);

    let olga = app.sign_in_with_password("olga").await;
    let renewed = stored_now().await;
    assert!(renewed.starts_with("$argon2id$v=19$m=19456,t=2,p=1$"), "{renewed}");
    assert!(olga.is_signed_in().await);
    assert_eq!(app.anonymous().sign_in("olga", PASSWORD).await.status, 200);
    assert_eq!(stored_now().await, renewed);
}

/// An unknown name takes the same time as a known one: one hash, and the same message.
#[tokio::test]
async fn failed_sign_ins_are_indistinguishable() {
    let installation = Installation::configured("http://127.0.0.1:9")
        .set("DOCKET_LOG", "info,docket_service::auth::password=trace");
    for name in ["olga", "otto"] {
        let added = installation.run_with_input(&["user", "add", name, "--role", "viewer"], PASSWORD);
        assert_eq!(added.code, Some(0), "{added:?}");
    }
    assert_eq!(installation.run(&["user", "disable", "otto"]).code, Some(0));
    let server = installation.serve(&[]);
    let address = server.address().await;
    let hashed = || server.output().matches("hashing a password").count();
    let before = hashed();
    let mut responses = Vec::new();
    for (tried, (name, password)) in
        [("olga", "wrong"), ("nobody", PASSWORD), ("otto", PASSWORD), ("", "")].into_iter().enumerate()
    {
        let mut response = Browser::at(&address).sign_in(name, password).await;
        until("a hash", async || (hashed() > before + tried).then_some(())).await;
        assert_eq!(hashed(), before + tried + 1, "{name}");
        for changing in ["date", "x-request-id"] {
            response.headers.remove(changing);
        }
        responses.push((response.status, response.headers, response.text));
    }
    assert_eq!(responses[0].0, 401);
    assert!(responses.iter().all(|response| *response == responses[0]), "{responses:#?}");
}
