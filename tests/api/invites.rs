//! Invites: only one-time links admit new users.

use std::time::Duration;

use base::clock::Clock;

use crate::helpers::{Installation, Settings, TestApp, tags, token};

const CHOSEN: &str = "a sentence of my own";

#[tokio::test]
async fn invited_user_sets_a_password_and_has_the_assigned_role() {
    let app = TestApp::start().await;
    let token = app.sign_in("ada").await.invite("ivan", "operator", "docs").await;
    assert!(token.len() >= 32, "{token}");
    let stored = app.database_dump().await;
    assert!(!stored.contains(&token), "the token is in the database");

    let ivan = app.anonymous();
    let opened = ivan.get(&format!("/setup?token={token}&name=mallory")).await;
    assert_eq!((opened.status, opened.location(), opened.text.as_str()), (303, "/setup", ""));
    let page = ivan.get("/setup").await;
    let tags = tags(&page.text);
    let username = tags.iter().find(|tag| tag.attribute("name") == "username").unwrap();
    assert_eq!(username.attribute("value"), "ivan");
    assert!(page.text.contains("Choose your password"), "{}", page.text);

    ivan.accept(&token, "too short").await.refused(400, "bad_input");
    ivan.accept(&token, "password1234").await.refused(400, "bad_input");
    assert_eq!(ivan.accept(&token, CHOSEN).await.status, 200);
    let session = ivan.post_json("/api/session/current", &[]).await;
    assert_eq!((&session["username"], &session["role"]), (&"ivan".into(), &"operator".into()));
    assert_eq!(session["projects"].as_array().unwrap().len(), 1);
    assert_eq!(app.anonymous().sign_in("ivan", CHOSEN).await.status, 200);
    app.anonymous().accept(&token, "another sentence").await.refused(403, "forbidden");
}

#[tokio::test]
async fn link_expires_after_48_hours_or_when_replaced() {
    let clock = Clock::frozen(Clock::system().now());
    let app = TestApp::with(Settings { clock, ..Settings::default() }).await;
    let ada = app.sign_in("ada").await;
    let first = ada.invite("ivan", "viewer", "").await;
    app.clock().advance(Duration::from_secs(48 * 3_600));
    app.anonymous().accept(&first, CHOSEN).await.refused(403, "forbidden");
    let ada = app.sign_in("ada").await;
    assert!(ada.get("/admin/users").await.text.contains("link expired"));

    let second = token(&app.manage(&ada, "renew", "ivan", &[]).await.json());
    let third = token(&app.manage(&ada, "renew", "ivan", &[]).await.json());
    app.clock().advance(Duration::from_secs(47 * 3_600));
    for old in [&first, &second] {
        app.anonymous().accept(old, CHOSEN).await.refused(403, "forbidden");
    }
    assert_eq!(app.anonymous().accept(&third, CHOSEN).await.status, 200);
    let ada = app.sign_in("ada").await;
    app.manage(&ada, "renew", "ivan", &[]).await.refused(409, "conflict");
}

#[tokio::test]
async fn invited_user_cannot_sign_in_before_using_the_link() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let link = ada.invite("ivan", "admin", "").await;
    for password in ["", CHOSEN, &link] {
        app.anonymous().sign_in("ivan", password).await.refused(401, "unauthenticated");
    }
    for wrong in ["", "x", &link[1..], &format!("{link}x"), "' OR 1=1 --"] {
        app.anonymous().accept(wrong, CHOSEN).await.refused(403, "forbidden");
    }
    app.managed(&ada, "disable", "ivan", &[]).await;
    app.anonymous().accept(&link, CHOSEN).await.refused(403, "forbidden");
    app.managed(&ada, "enable", "ivan", &[]).await;
    assert_eq!(app.anonymous().accept(&link, CHOSEN).await.status, 200);
}

#[tokio::test]
async fn revoked_invite_is_invalid_and_frees_the_username() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let link = ada.invite("ivan", "viewer", "").await;
    assert_eq!(app.manage(&ada, "withdraw", "ivan", &[]).await.status, 200);
    app.anonymous().accept(&link, CHOSEN).await.refused(403, "forbidden");
    let again = ada.invite("ivan", "viewer", "").await;
    assert_eq!(app.anonymous().accept(&again, CHOSEN).await.status, 200);
    app.manage(&ada, "withdraw", "ivan", &[]).await.refused(409, "conflict");
    assert_eq!(app.anonymous().sign_in("ivan", CHOSEN).await.status, 200);
}

#[tokio::test]
async fn password_set_by_command_invalidates_the_link() {
    let app = TestApp::start().await;
    let link = app.sign_in("ada").await.invite("ivan", "viewer", "").await;
    let url = app.database_url().to_owned();
    let installation = Installation::new().set("DOCKET_DATABASE_URL", &url);
    assert_eq!(installation.run_with_input(&["user", "passwd", "ivan"], CHOSEN).code, Some(0));
    app.anonymous().accept(&link, "another sentence").await.refused(403, "forbidden");
    assert_eq!(app.anonymous().sign_in("ivan", CHOSEN).await.status, 200);
}

#[tokio::test]
async fn link_used_concurrently_works_once() {
    let app = TestApp::start().await;
    let link = app.sign_in("ada").await.invite("ivan", "viewer", "").await;
    let people: Vec<_> = (0..6).map(|_| app.anonymous()).collect();
    let clicks = people.iter().map(|person| person.accept(&link, CHOSEN));
    let responses = futures::future::join_all(clicks).await;
    let mut statuses: Vec<u16> = responses.iter().map(|response| response.status).collect();
    statuses.sort_unstable();
    assert_eq!(statuses, [200, 403, 403, 403, 403, 403]);
}

#[tokio::test]
async fn link_is_shown_once_to_its_author() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let page = format!("{}/admin/users", app.origin());
    let pairs = [
        ("name", "ivan"),
        ("role", "admin"),
        ("access", "selected"),
        ("projects", "docs"),
        ("projects", "api"),
    ];
    let response = ada.submit("/api/users/invite", &pairs, Some(&page)).await;
    assert_eq!((response.status, response.location()), (302, "/admin/users"));
    let (seen, again) = (ada.get("/admin/users").await, ada.get("/admin/users").await);
    assert!(seen.text.contains("/setup#token="), "{}", seen.text);
    assert!(!again.text.contains("/setup#token="), "the link is shown again");

    // Only the administrator who created the link sees it, whoever loads the page first.
    ada.submit("/api/users/invite", &[("name", "eva"), ("role", "admin"), ("access", "all")], Some(&page))
        .await;
    let link = seen.text.split("/setup#token=").nth(1).unwrap().split('<').next().unwrap();
    let ivan = app.anonymous();
    assert_eq!(ivan.accept(link, CHOSEN).await.status, 200);
    assert!(!ivan.page("/admin/users").await.contains("/setup#token="));
    assert!(ada.get("/admin/users").await.text.contains("/setup#token="));
}

#[tokio::test]
async fn refused_invite_keeps_the_typed_values() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let page = format!("{}/admin/users", app.origin());
    for (name, role, projects, why) in [
        ("olga", "operator", "api", "The username olga is taken"),
        ("Jane Doe!", "operator", "api", "A username has letters, digits"),
        ("&lt;<b>", "operator", "api", "A username has letters, digits"),
        ("eva", "operator", "nowhere", "There is no project nowhere."),
        ("ivan", "emperor", "api", "A role is viewer, operator or admin."),
    ] {
        let pairs = [("name", name), ("role", role), ("access", "selected"), ("projects", projects)];
        let response = ada.submit("/api/users/invite", &pairs, Some(&page)).await;
        let installation = response.location();
        let path = installation.strip_prefix(&app.origin()).unwrap_or(installation);
        assert!(path.starts_with("/admin/users"), "{path}");
        let shown = ada.get(path).await;
        assert!(shown.text.contains(why), "{why} is not in {}", shown.text);
        let tags = tags(&shown.text);
        let field = tags.iter().find(|tag| tag.attribute("id") == "name").unwrap();
        assert_eq!(field.attribute("value"), name);
        assert!(!ada.page("/admin/users").await.contains(why), "{why} is shown again");
    }
    ada.post("/api/users/invite", &[("name", " "), ("role", "viewer"), ("access", "all")])
        .await
        .refused(400, "bad_input");
}

/// Tests the link as a browser opens it, without sending the fragment, and as users paste it.
#[tokio::test]
async fn link_token_is_in_no_requested_url() {
    let app = TestApp::start().await;
    let ada = app.sign_in("ada").await;
    let invited =
        ada.post_json("/api/users/invite", &[("name", "ivan"), ("role", "viewer"), ("access", "all")]).await;
    let link = invited["secret"].as_str().unwrap();
    let url: url::Url = link.parse().unwrap();
    assert_eq!((url.path(), url.query()), ("/setup", None), "{link}");

    let ivan = app.anonymous();
    let page = ivan.get("/setup").await;
    assert!(
        page.text.contains("Paste the one-time link") && !page.text.contains("type=\"password\""),
        "{}",
        page.text
    );
    let from = format!("{}/setup", app.origin());
    let odd = ivan.submit("/api/session/open-link", &[("token", "no link at all")], Some(&from)).await;
    assert_eq!((odd.status, odd.location()), (303, "/setup"));
    assert!(ivan.get("/setup").await.text.contains("This is not a one-time link of Docket."));

    let response = ivan.submit("/api/session/open-link", &[("token", link)], Some(&from)).await;
    assert_eq!((response.status, response.location()), (302, "/setup"), "{}", response.text);
    let cookie = response.header("set-cookie");
    for attribute in ["docket-link=", "HttpOnly", "SameSite=Lax", "Max-Age=1800"] {
        assert!(cookie.contains(attribute), "{attribute} is not in {cookie}");
    }
    let page = ivan.get("/setup").await;
    assert!(
        page.text.contains("Choose your password") && !page.text.contains(&token(&invited)),
        "{}",
        page.text
    );
    let fields = [("username", "ivan"), ("password", CHOSEN)];
    let response = ivan.submit("/api/session/setup", &fields, Some(&from)).await;
    assert_eq!((response.status, response.location()), (302, "/"), "{}", response.text);
    assert!(ivan.is_signed_in().await && !ivan.cookie().unwrap().contains("docket-link"));
}

#[tokio::test]
async fn old_link_format_works_and_redirects_without_the_token() {
    let app = TestApp::start().await;
    let token = app.sign_in("ada").await.invite("ivan", "viewer", "").await;
    let ivan = app.anonymous();
    let opened = ivan.get(&format!("/setup?token={token}")).await;
    assert_eq!((opened.status, opened.location()), (303, "/setup"));
    assert!(opened.header("set-cookie").starts_with(&format!("docket-link={token};")));
    assert_eq!(opened.header("referrer-policy"), "same-origin");
    assert_eq!(ivan.post("/api/session/setup", &[("password", CHOSEN)]).await.status, 200);

    // The cookie contains only valid tokens.
    let odd = app.anonymous();
    for text in ["x%3B%20Domain%3Devil.example", "", "%0d%0aset-cookie:%20a=b", "a%20b"] {
        let opened = odd.get(&format!("/setup?token={text}")).await;
        assert_eq!((opened.status, opened.location()), (303, "/setup"), "{text}");
        assert!(opened.header("set-cookie").starts_with("docket-link=; "), "{:?}", opened.headers);
    }
    assert!(odd.get("/setup?token=nothing").await.header("set-cookie").starts_with("docket-link=nothing;"));
    assert!(odd.get("/setup").await.text.contains("This link is not valid"));
}

/// A second administrator invites ivan.
async fn invited_by_another(app: &TestApp) -> String {
    let ada = app.sign_in("ada").await;
    assert_eq!(app.manage(&ada, "change", "otto", &[("role", "admin")]).await.status, 200);
    app.sign_in("otto").await.invite("ivan", "admin", "").await
}

#[tokio::test]
async fn invite_of_a_disabled_or_demoted_author_is_on_hold() {
    for (verb, more) in [("disable", &[][..]), ("change", &[("role", "operator")][..])] {
        let app = TestApp::start().await;
        let link = invited_by_another(&app).await;
        let ada = app.sign_in("ada").await;
        assert_eq!(app.manage(&ada, verb, "otto", more).await.status, 200);
        app.anonymous().accept(&link, CHOSEN).await.refused(403, "forbidden");
        assert!(ada.get("/admin/users").await.text.contains("Invitation on hold"), "{verb}");
        let released = app.manage(&ada, "release-invitation", "ivan", &[]).await;
        assert_eq!(released.status, 200, "{verb}: {}", released.text);
        app.manage(&ada, "release-invitation", "ivan", &[]).await.refused(409, "conflict");
        assert_eq!(app.anonymous().accept(&link, CHOSEN).await.status, 200, "{verb}");
    }
}

#[tokio::test]
async fn new_link_replaces_an_invite_on_hold() {
    let app = TestApp::start().await;
    let old_link = invited_by_another(&app).await;
    let ada = app.sign_in("ada").await;
    assert_eq!(app.manage(&ada, "disable", "otto", &[]).await.status, 200);
    let renewed = token(&app.manage(&ada, "renew", "ivan", &[]).await.json());
    app.anonymous().accept(&old_link, CHOSEN).await.refused(403, "forbidden");
    assert_eq!(app.anonymous().accept(&renewed, CHOSEN).await.status, 200);
}
