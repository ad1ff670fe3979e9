//! Changes by administrators take effect at once, and cannot lock everyone out.

use model::user::Role;

use crate::helpers::work::work_at;
use crate::helpers::{Installation, PASSWORD, TestApp, tags};

#[tokio::test]
async fn role_change_applies_at_once_and_ends_old_sessions() {
    let app = TestApp::start().await;
    let (ada, otto) = (app.sign_in("ada").await, app.sign_in("otto").await);
    let response = app.manage(&ada, "change", "otto", &[("role", "viewer")]).await;
    assert_eq!(response.status, 200, "{}", response.text);
    otto.post("/api/jobs/archive", &[("project", "docs"), ("jobs", "x")])
        .await
        .refused(401, "unauthenticated");
    let otto = app.sign_in("otto").await;
    assert_eq!(otto.post_json("/api/session/current", &[]).await["role"], "viewer");
    otto.post("/api/jobs/archive", &[("project", "docs"), ("jobs", "x")]).await.refused(403, "forbidden");
    assert!(ada.is_signed_in().await);
}

#[tokio::test]
async fn enabling_an_account_does_not_restore_its_sessions() {
    let app = TestApp::start().await;
    let (ada, otto) = (app.sign_in("ada").await, app.sign_in("otto").await);
    assert_eq!(app.manage(&ada, "disable", "otto", &[]).await.status, 200);
    assert!(!otto.is_signed_in().await);
    app.anonymous().sign_in("otto", PASSWORD).await.refused(401, "unauthenticated");
    assert_eq!(app.manage(&ada, "enable", "otto", &[]).await.status, 200);
    assert!(!otto.is_signed_in().await, "an earlier session is valid again");
    assert!(app.sign_in("otto").await.is_signed_in().await);
}

#[tokio::test]
async fn signing_a_user_out_ends_only_their_sessions() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let (here, there, other) =
        (app.sign_in("otto").await, app.sign_in("otto").await, app.sign_in("olga").await);
    assert_eq!(app.manage(&ada, "sign-out", "otto", &[]).await.status, 200);
    assert!(!here.is_signed_in().await && !there.is_signed_in().await);
    assert!(ada.is_signed_in().await && other.is_signed_in().await);
}

#[tokio::test]
async fn last_administrator_cannot_be_demoted_or_disabled() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    // Neither counts as an administrator: one has not accepted the invite, the other is disabled.
    ada.invite("ivan", "admin", "").await;
    app.managed(&ada, "change", "otto", &[("role", "admin")]).await;
    app.managed(&ada, "disable", "otto", &[]).await;
    for (verb, more) in [("disable", &[][..]), ("change", &[("role", "operator")])] {
        let message = app.manage(&ada, verb, "ada", more).await.refused(409, "conflict");
        assert!(message.contains("last administrator"), "{message}");
    }
    assert!(ada.is_signed_in().await);
    let url = app.database_url().to_owned();
    let refused = Installation::new().set("DOCKET_DATABASE_URL", &url).run(&["user", "disable", "ada"]);
    assert!(refused.code == Some(1) && refused.stderr.contains("last administrator"), "{refused:?}");

    app.managed(&ada, "enable", "otto", &[]).await;
    assert_eq!(app.manage(&ada, "change", "ada", &[("role", "operator")]).await.status, 200);
    assert!(!ada.is_signed_in().await);
}

#[tokio::test]
async fn concurrent_demotions_leave_one_administrator() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    app.managed(&ada, "change", "otto", &[("role", "admin")]).await;
    let otto = app.sign_in("otto").await;
    let (one, other) = futures::join!(
        app.manage(&ada, "change", "otto", &[("role", "viewer")]),
        app.manage(&otto, "change", "ada", &[("role", "viewer")]),
    );
    assert!(one.status != 200 || other.status != 200, "{} and {}", one.status, other.status);
    let people = app.state().store.users().await.unwrap();
    assert_eq!(people.iter().filter(|user| user.role == Role::Admin).count(), 1);
}

#[tokio::test]
async fn account_change_with_unknown_user_or_role_is_refused() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    for verb in [
        "change",
        "disable",
        "enable",
        "get",
        "password-link",
        "renew",
        "reset-second-factor",
        "sign-out",
        "withdraw",
    ] {
        let nobody = ("user", "01930000-0000-7000-8000-000000000000");
        ada.post(&format!("/api/users/{verb}"), &[nobody, ("role", "viewer")])
            .await
            .refused(404, "not_found");
    }
    for (role, projects) in [("emperor", "docs"), ("", ""), ("viewer", "nowhere"), ("viewer", "docs,../x")] {
        let more = [("role", role), ("projects", projects)];
        app.manage(&ada, "change", "otto", &more).await.refused(400, "bad_input");
    }
    let otto = app.sign_in("otto").await.post_json("/api/session/current", &[]).await;
    assert_eq!((&otto["role"], otto["projects"].as_array().unwrap().len()), (&"operator".into(), 2));
}

#[tokio::test]
async fn account_list_escapes_usernames() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let hostile = "<img src=x onerror=alert(1)>";
    // As a provider or an earlier version may have named an account.
    app.state()
        .store
        .add_user((&work_at(app.clock().now())).into(), hostile, Role::Viewer, "")
        .await
        .unwrap();
    ada.invite("ivan", "viewer", "docs").await;
    app.managed(&ada, "disable", "otto", &[]).await;
    let page = ada.get("/admin/users").await;
    assert_eq!(page.status, 200);
    for text in ["ada", "olga", "otto", "vera", "Disabled", "Invited", "Active", "just now", "Never"] {
        assert!(page.text.contains(text), "{text}");
    }
    let tags = tags(&page.text);
    assert!(tags.iter().all(|tag| tag.name != "img" && tag.attribute("onerror").is_empty()));
    // The embedded data for the browser contains the same HTML, escaped as text.
    assert!(!page.text.contains(hostile));
}

#[tokio::test]
async fn username_that_looks_like_another_is_refused() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    for (look_alike, status, code) in [
        ("o1ga", 409, "conflict"),
        ("Olga", 409, "conflict"),
        ("ol\u{ad}ga", 400, "bad_input"),
        ("olga\u{fe0f}", 400, "bad_input"),
        ("olga\u{e0061}", 400, "bad_input"),
        ("\u{43e}lga", 400, "bad_input"),
    ] {
        let pairs = [("name", look_alike), ("role", "admin"), ("access", "all")];
        ada.post("/api/users/invite", &pairs).await.refused(status, code);
    }
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM users").await, 4);
}

#[tokio::test]
async fn decomposed_username_signs_in() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let (composed, decomposed) = ("d\u{f6}rte", "do\u{308}rte");
    let token = ada.invite(decomposed, "viewer", "").await;
    assert_eq!(app.anonymous().accept(&token, "a sentence of my own").await.status, 200);
    for name in [composed, decomposed] {
        let response = app.anonymous().sign_in(name, "a sentence of my own").await;
        assert_eq!(response.status, 200, "{name:?}: {}", response.text);
    }
}
