//! Help by administrators for users who cannot sign in: a link for a new password, and a reset of the second factor.

use std::collections::BTreeMap;
use std::time::Duration;

use model::audit::Outcome;
use store::audit::AuditFilter;

use crate::helpers::{Browser, PASSWORD, TestApp, token};
use crate::retention;
use crate::second_factor::{self, enter, first_step, switch_on};

const CHOSEN: &str = "a sentence of my own";

/// A new password link for a user, created by an administrator.
async fn link_for(app: &TestApp, admin: &Browser, name: &str) -> String {
    let response = app.manage(admin, "password-link", name, &[]).await;
    assert_eq!(response.status, 200, "{}", response.text);
    token(&response.json())
}

/// Actor, action, subject and detail of the newest records, newest first.
async fn newest(app: &TestApp, count: u32) -> Vec<[String; 4]> {
    let records = app.state().store.audit_records(&AuditFilter::default(), count).await.unwrap();
    assert!(records.iter().all(|record| record.outcome == Outcome::Done.as_str()), "{records:?}");
    let words = |record: model::audit::Record| [record.actor, record.action, record.subject, record.detail];
    records.into_iter().map(words).collect()
}

fn words(words: [&str; 4]) -> [String; 4] {
    words.map(str::to_owned)
}

#[tokio::test]
async fn password_link_sets_a_password_once_and_ends_sessions() {
    let app = TestApp::start().await;
    let (ada, olga) = (app.sign_in("ada").await, app.operator().await);
    let link = link_for(&app, &ada, "olga").await;
    assert_eq!(newest(&app, 1).await, [words(["ada", "user_password_link", "olga", ""])]);
    assert!(!app.database_dump().await.contains(&link), "the token is in the database");
    // Until the link is used, nothing changes.
    assert!(olga.is_signed_in().await);
    assert_eq!(app.anonymous().sign_in("olga", PASSWORD).await.status, 200);

    let browser = app.anonymous();
    browser.get(&format!("/setup?token={link}")).await;
    assert!(browser.get("/setup").await.text.contains("Set a new password"));
    browser.accept(&link, "too short").await.refused(400, "bad_input");
    assert_eq!(browser.accept(&link, CHOSEN).await.status, 200);
    assert!(browser.is_signed_in().await && !olga.is_signed_in().await);
    let records = newest(&app, 2).await;
    assert_eq!(records[1], words(["olga", "user_password", "olga", "by a link"]));
    app.anonymous().sign_in("olga", PASSWORD).await.refused(401, "unauthenticated");
    assert_eq!(app.anonymous().sign_in("olga", CHOSEN).await.status, 200);
    app.anonymous().accept(&link, "another sentence").await.refused(403, "forbidden");
}

#[tokio::test]
async fn password_link_used_concurrently_works_once() {
    let app = TestApp::start().await;
    let link = link_for(&app, &app.sign_in("ada").await, "olga").await;
    let people: Vec<_> = (0..6).map(|_| app.anonymous()).collect();
    let responses = futures::future::join_all(people.iter().map(|person| person.accept(&link, CHOSEN))).await;
    let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 403, 403, 403, 403, 403]);
}

#[tokio::test]
async fn password_link_expires_after_48_hours_or_when_replaced() {
    let app = second_factor::app().await;
    let first = link_for(&app, &app.sign_in("ada").await, "olga").await;
    app.clock().advance(Duration::from_secs(48 * 3_600));
    app.anonymous().accept(&first, CHOSEN).await.refused(403, "forbidden");

    let ada = app.sign_in("ada").await;
    let (second, third) = (link_for(&app, &ada, "olga").await, link_for(&app, &ada, "olga").await);
    app.clock().advance(Duration::from_secs(47 * 3_600));
    for old in [&first, &second] {
        app.anonymous().accept(old, CHOSEN).await.refused(403, "forbidden");
    }
    assert_eq!(app.anonymous().accept(&third, CHOSEN).await.status, 200);
}

#[tokio::test]
async fn password_link_is_revoked_by_author_user_or_password_changes() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    for (verb, name, more) in [
        ("disable", "otto", &[][..]),
        ("change", "otto", &[("role", "operator")][..]),
        ("disable", "olga", &[][..]),
    ] {
        assert_eq!(app.manage(&ada, "change", "otto", &[("role", "admin")]).await.status, 200);
        let link = link_for(&app, &app.sign_in("otto").await, "olga").await;
        assert_eq!(app.manage(&ada, verb, name, more).await.status, 200);
        app.manage(&ada, "enable", name, &[]).await;
        app.anonymous().accept(&link, CHOSEN).await.refused(403, "forbidden");
    }
    let (link, olga) = (link_for(&app, &ada, "olga").await, app.operator().await);
    let change = [("old", PASSWORD), ("new", CHOSEN)];
    assert_eq!(olga.post("/api/account/password", &change).await.status, 200);
    app.anonymous().accept(&link, "another sentence").await.refused(403, "forbidden");
}

#[tokio::test]
async fn password_link_does_not_replace_the_second_factor() {
    let app = second_factor::app().await;
    let (secret, _) = switch_on(&app, &app.operator().await).await;
    let ada = app.sign_in("ada").await;
    let browser = app.anonymous();
    let response = browser.accept(&link_for(&app, &ada, "olga").await, CHOSEN).await;
    assert_eq!((response.status, response.location()), (200, "/login/code"), "{}", response.text);
    assert!(!browser.is_signed_in().await);
    enter(&browser, "000000").await.refused(401, "unauthenticated");
    assert_eq!(enter(&browser, &second_factor::next_code(&app, &secret)).await.status, 200);
    assert!(browser.is_signed_in().await);
}

#[tokio::test]
async fn password_link_unlocks_codes_after_a_hundred_wrong_ones() {
    let app = second_factor::app().await;
    let olga = app.operator().await;
    let (secret, _) = switch_on(&app, &olga).await;
    for _ in 0..100 {
        let pairs = [("password", PASSWORD), ("code", "000000")];
        olga.post("/api/second-factor/renew", &pairs).await.refused(400, "bad_input");
        app.clock().advance(Duration::from_secs(60));
    }
    let locked = first_step(&app, "olga").await;
    enter(&locked, &second_factor::next_code(&app, &secret)).await.refused(403, "forbidden");
    let (ada, browser) = (app.sign_in("ada").await, app.anonymous());
    assert_eq!(browser.accept(&link_for(&app, &ada, "olga").await, CHOSEN).await.status, 200);
    assert_eq!(enter(&browser, &second_factor::next_code(&app, &secret)).await.status, 200);
}

#[tokio::test]
async fn password_link_requires_a_password_and_an_enabled_user() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let invitation = ada.invite("ivan", "viewer", "").await;
    app.manage(&ada, "password-link", "ivan", &[]).await.refused(409, "conflict");
    assert_eq!(app.anonymous().accept(&invitation, CHOSEN).await.status, 200);
    app.managed(&ada, "disable", "olga", &[]).await;
    app.manage(&ada, "password-link", "olga", &[]).await.refused(409, "conflict");
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM password_links").await, 0);
}

#[tokio::test]
async fn second_factor_reset_ends_sessions_and_waiting_sign_ins() {
    let app = second_factor::app().await;
    let (ada, olga) = (app.sign_in("ada").await, app.operator().await);
    switch_on(&app, &olga).await;
    let waiting = first_step(&app, "olga").await;
    assert_eq!(app.manage(&ada, "reset-second-factor", "olga", &[]).await.status, 200);
    assert_eq!(newest(&app, 1).await, [words(["ada", "second_factor_off", "olga", "with all passkeys"])]);
    assert!(!olga.is_signed_in().await);
    assert_eq!(waiting.get("/login/code").await.location(), "/login");
    assert!(app.operator().await.is_signed_in().await, "the password alone does not sign in");
    app.manage(&ada, "reset-second-factor", "olga", &[]).await.refused(409, "conflict");
}

#[tokio::test]
async fn administrators_cannot_reset_their_own_password_or_second_factor() {
    let app = second_factor::app().await;
    let ada = app.sign_in("ada").await;
    switch_on(&app, &ada).await;
    for verb in ["password-link", "reset-second-factor"] {
        app.manage(&ada, verb, "ada", &[]).await.refused(409, "conflict");
    }
    assert!(ada.is_signed_in().await);
    let page = ada.get(&format!("/admin/users/{}", app.id_of("ada").await)).await.text;
    assert!(page.contains("This is you.") && !page.contains("/api/users/password-link"), "{page}");
}

#[tokio::test]
async fn expired_password_links_are_removed_after_ninety_days() {
    let app = second_factor::app().await;
    link_for(&app, &app.sign_in("ada").await, "olga").await;
    // The link expires after two days.
    app.clock().advance(Duration::from_secs(92 * 86_400));
    assert!(retention::remove(&app).await.is_empty());
    app.clock().advance(Duration::from_secs(1));
    assert_eq!(retention::remove(&app).await, BTreeMap::from([("password_links".to_owned(), 1)]));
}

#[tokio::test]
async fn forms_return_to_the_page_of_the_user() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let id = app.id_of("olga").await;
    let path = format!("/admin/users/{id}");
    let page = format!("{}{path}", app.origin());
    let response = ada.submit("/api/users/password-link", &[("user", &id)], Some(&page)).await;
    assert_eq!((response.status, response.location()), (302, path.as_str()));
    let (shown, again) = (ada.get(&path).await.text, ada.get(&path).await.text);
    assert!(shown.contains("Send olga this link") && shown.contains("/setup#token="), "{shown}");
    assert!(!again.contains("/setup#token=") && again.contains("was created; it expires"), "{again}");
    let refused = ada.submit("/api/users/reset-second-factor", &[("user", &id)], Some(&page)).await;
    assert_eq!((refused.status, refused.location()), (303, path.as_str()));
    assert!(ada.get(&path).await.text.contains("olga has no second factor. Someone else may have reset it."));
    assert_eq!(ada.get("/admin/users/01930000-0000-7000-8000-000000000000").await.status, 404);
}
