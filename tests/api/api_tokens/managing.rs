//! Creating, listing and revoking tokens.

use model::audit::Outcome;
use model::user::Role;

use super::{PROJECTS, app, audited, create, listed, post_new, problem, project_ids, with_token};
use crate::helpers::work::work_at;
use crate::helpers::{New, PASSWORD, json, leaks, logged};

#[tokio::test]
async fn created_token_lists_the_projects_and_scopes() {
    let app = app().await;
    let olga = app.operator().await;
    let token = create(&olga, &[]).await;
    let response = with_token(&app, PROJECTS, &token).await;
    assert_eq!(response.header("content-type"), "application/json");
    assert_eq!(response.header("cache-control"), "no-store");
    let scopes = json!(["jobs:read", "analytics:read"]);
    let expected = json!({"projects": [
        {"id": "docs", "name": "Docs", "scopes": scopes},
        {"id": "api", "name": "API reference", "scopes": scopes},
    ]});
    assert_eq!((response.status, response.json()), (200, expected));
    let listed = listed(&olga).await;
    assert_eq!((&listed["name"], &listed["owner"]), (&json!("Nightly check"), &json!("olga")));
    assert_eq!((&listed["state"], &listed["projects"]), (&json!("active"), &json!(null)));
    assert_eq!(listed["last_four"], token[token.len() - 4..]);
    assert_eq!(listed["expires_at"], "2027-02-19T12:00:00Z", "90 days");
}

#[tokio::test]
async fn token_is_shown_once_and_only_its_hash_is_stored() {
    let app = app().await;
    let olga = app.operator().await;
    let page = format!("{}/account/tokens", app.origin());
    let response = New::token("jobs:read").submit(&olga, &page).await;
    assert_eq!((response.status, response.location()), (302, "/account/tokens"), "{}", response.text);
    let shown = olga.get("/account/tokens").await.text;
    let (_, rest) = shown.split_once("dkt_").unwrap();
    let token = format!("dkt_{}", &rest[..38]);
    assert_eq!(project_ids(&app, &token).await, ["docs", "api"]);
    with_token(&app, &format!("{PROJECTS}?q=x"), &token).await;
    with_token(&app, "/p/docs", &token).await;
    for path in ["/account/tokens", "/account", "/p/docs/notifications"] {
        assert!(!olga.page(path).await.contains(&token[4..]), "{path}");
    }
    let ada = app.sign_in("ada").await;
    for path in ["/admin/tokens", "/admin/audit"] {
        assert!(!ada.page(path).await.contains(&token[4..]), "{path}");
    }
    let stored = app.database_dump().await;
    assert!(!stored.contains(&token[4..]) && stored.contains(&token[token.len() - 4..]));
    assert!(logged(&token[4..36]).is_empty() && leaks().is_empty());
}

#[tokio::test]
async fn wrong_fields_create_no_token() {
    let app = app().await;
    let olga = app.operator().await;
    for (field, value, words) in [
        ("name", "", "needs a name"),
        ("name", "a\u{202e}b", "needs a name"),
        ("scopes", "", "at least one scope"),
        ("scopes", "jobs:read,admin", "A scope is"),
        ("access", "", "all projects or selected"),
        ("access", "selected", "at least one project"),
        ("days", "0", "1 to 365 days"),
        ("days", "366", "1 to 365 days"),
        ("days", "x", "1 to 365 days"),
        ("password", "wrong", "Incorrect current password"),
    ] {
        let token = New::token("jobs:read").with(field, value);
        let message = token.post(&olga).await.refused(400, "bad_input");
        assert!(message.contains(words), "{field}={value}: {message}");
    }
    let unknown = [("access", "selected"), ("projects", "docs,nowhere")];
    post_new(&olga, &unknown).await.refused(400, "bad_input");
    assert_eq!(listed(&olga).await, json!(null));
}

#[tokio::test]
async fn refused_form_shows_its_error_and_typed_text() {
    let app = app().await;
    let olga = app.operator().await;
    let page = format!("{}/account/tokens", app.origin());
    let token = New::token("jobs:write").with("name", "CI & co").with("access", "selected");
    token.with("projects", "api").with("days", "999").submit(&olga, &page).await;
    let shown = olga.get("/account/tokens").await.text;
    assert!(shown.contains("1 to 365 days") && shown.contains("CI &amp; co"), "{shown}");
    assert!(shown.contains("value=\"999\"") && !shown.contains(PASSWORD), "{shown}");
    let checked = |value: &str| {
        let inputs: Vec<&str> =
            shown.split("<input").filter(|input| input.contains(&format!("value=\"{value}\""))).collect();
        inputs[0].split('>').next().unwrap().contains("checked")
    };
    assert_eq!(
        ["jobs:read", "jobs:write", "docs", "api", "all", "selected"].map(checked),
        [false, true, false, true, false, true]
    );
}

/// Browsers send a field for each ticked box.
#[tokio::test]
async fn repeated_boxes_of_the_form_are_one_list() {
    let app = app().await;
    let olga = app.operator().await;
    let form = New::token("jobs:read").and("scopes", "jobs:write").with("access", "selected");
    let made = form.and("projects", "docs").and("projects", "api").made(&olga).await;
    assert_eq!(project_ids(&app, made["secret"].as_str().unwrap()).await, ["docs", "api"]);
    assert_eq!(listed(&olga).await["scopes"], json!(["jobs:read", "jobs:write"]));
}

#[tokio::test]
async fn token_is_limited_by_the_present_rights_of_its_owner() {
    let app = app().await;
    let olga = app.operator().await;
    let all = create(&olga, &[("scopes", "jobs:read,jobs:write")]).await;
    let docs = create(&olga, &[("access", "selected"), ("projects", "docs")]).await;
    assert_eq!(project_ids(&app, &docs).await, ["docs"]);
    let ada = app.sign_in("ada").await;
    app.managed(&ada, "change", "olga", &[("role", "viewer"), ("projects", "api")]).await;
    let response = with_token(&app, PROJECTS, &all).await.json();
    let expected = json!({"projects": [{"id": "api", "name": "API reference", "scopes": ["jobs:read"]}]});
    assert_eq!(response, expected, "a viewer of one project");
    assert_eq!(project_ids(&app, &docs).await, Vec::<String>::new());
    app.managed(&ada, "change", "olga", &[("role", "admin")]).await;
    assert_eq!(project_ids(&app, &docs).await, ["docs"], "an administrator sees all projects, the token one");
}

#[tokio::test]
async fn viewer_cannot_create_a_token_that_writes() {
    let app = app().await;
    let vera = app.sign_in("vera").await;
    let message = post_new(&vera, &[("scopes", "jobs:write")]).await.refused(400, "bad_input");
    assert!(message.contains("operator") && message.contains("viewer"), "{message}");
    assert!(!vera.page("/account/tokens").await.contains("jobs:write"));
    create(&vera, &[]).await;
}

#[tokio::test]
async fn token_of_a_disabled_owner_stops_at_once() {
    let app = app().await;
    let token = create(&app.operator().await, &[]).await;
    let store = &app.state().store;
    store.set_disabled((&work_at(app.clock().now())).into(), "olga", true).await.unwrap();
    problem(&with_token(&app, PROJECTS, &token).await, 401, "invalid_token");
    let ada = app.sign_in("ada").await;
    let all = ada.post_json("/api/tokens/all", &[]).await;
    assert_eq!(all[0]["state"], "owner_disabled");
    store.set_disabled((&work_at(app.clock().now())).into(), "olga", false).await.unwrap();
    assert_eq!(project_ids(&app, &token).await, ["docs", "api"]);
}

#[tokio::test]
async fn revoked_token_stops_and_its_owner_cannot_restore_it() {
    let app = app().await;
    let olga = app.operator().await;
    let token = create(&olga, &[]).await;
    let id = listed(&olga).await["id"].as_str().unwrap().to_owned();
    assert_eq!(olga.post("/api/tokens/revoke", &[("token", &id)]).await.status, 200);
    problem(&with_token(&app, PROJECTS, &token).await, 401, "invalid_token");
    assert_eq!(listed(&olga).await["state"], "revoked");
    olga.post("/api/tokens/revoke", &[("token", &id)]).await.refused(404, "not_found");
}

#[tokio::test]
async fn others_cannot_see_or_revoke_a_token_but_administrators_can() {
    let app = app().await;
    let (olga, otto, ada) = (app.operator().await, app.sign_in("otto").await, app.sign_in("ada").await);
    let token = create(&olga, &[]).await;
    let id = listed(&olga).await["id"].as_str().unwrap().to_owned();
    assert_eq!(listed(&otto).await, json!(null));
    otto.post("/api/tokens/revoke", &[("token", &id)]).await.refused(404, "not_found");
    ada.post("/api/tokens/revoke", &[("token", &id)]).await.refused(404, "not_found");
    otto.post("/api/tokens/all", &[]).await.refused(403, "forbidden");
    otto.post("/api/tokens/revoke-any", &[("token", &id)]).await.refused(403, "forbidden");
    assert_eq!(otto.get("/admin/tokens").await.status, 403);
    assert_eq!(project_ids(&app, &token).await, ["docs", "api"], "still valid");

    let page = ada.get("/admin/tokens").await.text;
    assert!(
        page.contains("Nightly check") && page.contains("olga") && page.contains("Revoke token"),
        "{page}"
    );
    assert_eq!(ada.post("/api/tokens/revoke-any", &[("token", &id)]).await.status, 200);
    problem(&with_token(&app, PROJECTS, &token).await, 401, "invalid_token");
}

#[tokio::test]
async fn valid_tokens_are_listed_before_revoked_ones() {
    let app = app().await;
    let (olga, ada) = (app.operator().await, app.sign_in("ada").await);
    create(&olga, &[("name", "Older")]).await;
    create(&olga, &[("name", "Newer")]).await;
    let newer = listed(&olga).await;
    assert_eq!(newer["name"], "Newer");
    olga.post_json("/api/tokens/revoke", &[("token", newer["id"].as_str().unwrap())]).await;
    assert_eq!(listed(&olga).await["name"], "Older");
    assert_eq!(ada.post_json("/api/tokens/all", &[]).await[0]["name"], "Older");
}

#[tokio::test]
async fn creation_and_revocation_are_audited() {
    let app = app().await;
    let (olga, ada) = (app.operator().await, app.sign_in("ada").await);
    let token = create(&olga, &[("access", "selected"), ("projects", "docs"), ("days", "1")]).await;
    let id = listed(&olga).await["id"].as_str().unwrap().to_owned();
    ada.post_json("/api/tokens/revoke-any", &[("token", &id)]).await;
    let last = &token[token.len() - 4..];
    let created =
        format!("of olga, …{last}, jobs:read,analytics:read, projects docs, until 2026-11-22T12:00:00Z");
    let expected = ("olga".to_owned(), id.clone(), created);
    assert_eq!(audited(&app, "api_token_create", Outcome::Done).await, [expected]);
    let expected = ("ada".to_owned(), id, format!("of olga, …{last}"));
    assert_eq!(audited(&app, "api_token_revoke", Outcome::Done).await, [expected]);
}

#[tokio::test]
async fn person_has_at_most_fifty_active_tokens() {
    let app = app().await;
    let olga = app.operator().await;
    for _ in 0..50 {
        create(&olga, &[("days", "1")]).await;
    }
    let message = post_new(&olga, &[]).await.refused(400, "bad_input");
    assert!(message.contains("at most 50"), "{message}");
    app.clock().advance(super::DAY);
    let olga = app.operator().await;
    for _ in 0..3 {
        create(&olga, &[]).await;
    }
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM api_tokens").await, 53);
    let id = listed(&olga).await["id"].as_str().unwrap().to_owned();
    olga.post_json("/api/tokens/revoke", &[("token", &id)]).await;
    create(&olga, &[]).await;
    assert_eq!(app.ledger().count("SELECT COUNT(*) FROM api_tokens").await, 53, "50 inactive ones stay");
}

#[tokio::test]
async fn account_without_a_password_creates_a_token_without_one() {
    let app = app().await;
    let hostile = "<img src=x onerror=alert(1)>";
    let olga = app.operator().await;
    create(&olga, &[("name", hostile)]).await;
    for (person, path) in [(&olga, "/account/tokens"), (&app.sign_in("ada").await, "/admin/tokens")] {
        let page = person.page(path).await;
        let escaped = "&lt;img src=x onerror=alert(1)&gt;";
        assert!(!page.contains(hostile) && page.contains(escaped), "{path}: {page}");
    }
    assert!(olga.get("/account/tokens").await.text.contains("Your password"));
    app.ledger().run("UPDATE users SET password_hash = '' WHERE name = 'olga'").await;
    assert!(!olga.page("/account/tokens").await.contains("Your password"));
    assert_eq!(
        olga.post("/api/tokens/create", &[("name", "CI"), ("scopes", "jobs:read"), ("access", "all")])
            .await
            .status,
        200
    );
    assert_eq!(app.state().store.user_by_name("olga").await.unwrap().unwrap().role, Role::Operator);
}
