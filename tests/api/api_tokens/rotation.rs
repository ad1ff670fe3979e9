//! Replacing a token, and what a script learns about the token that it uses.

use model::audit::Outcome;

use super::{DAY, PROJECTS, app, audited, create, listed, post_new, problem, project_ids, with_token};
use crate::helpers::{Browser, PASSWORD, TestApp, TestResponse, json};

const TOKEN: &str = "/api/v1/token";

async fn rotate(person: &Browser, id: &str, password: &str) -> TestResponse {
    person.post("/api/tokens/rotate", &[("token", id), ("password", password)]).await
}

async fn id(person: &Browser) -> String {
    listed(person).await["id"].as_str().unwrap().to_owned()
}

async fn expires(app: &TestApp, token: &str) -> String {
    with_token(app, PROJECTS, token).await.header("docket-token-expires").to_owned()
}

#[tokio::test]
async fn rotated_token_works_for_24_more_hours_beside_the_new_one() {
    let app = app().await;
    let olga = app.operator().await;
    let fields = [("days", "30"), ("access", "selected"), ("projects", "docs")];
    let old = create(&olga, &fields).await;
    app.clock().advance(DAY * 20);
    let olga = app.sign_in("olga").await;
    let rotated = rotate(&olga, &id(&olga).await, PASSWORD).await;
    assert_eq!(rotated.status, 200, "{}", rotated.text);
    let new = rotated.json()["secret"].as_str().unwrap().to_owned();
    for token in [&old, &new] {
        assert_eq!(project_ids(&app, token).await, ["docs"]);
    }
    let [described, before] = [&new, &old].map(async |token| with_token(&app, TOKEN, token).await.json());
    let (described, before) = (described.await, before.await);
    for field in ["name", "owner", "scopes", "projects"] {
        assert_eq!(described[field], before[field], "{field}");
    }
    assert_eq!(described["expires_at"], "2027-01-10T12:00:00Z", "30 days again");
    assert_eq!(before["expires_at"], "2026-12-12T12:00:00Z", "24 hours");
    assert_eq!(listed(&olga).await["id"], described["id"]);
    let detail = &audited(&app, "api_token_create", Outcome::Done).await[0].2;
    assert!(detail.contains("replaces …") && detail.contains("2026-12-12T12:00:00Z"), "{detail}");
    app.clock().advance(DAY);
    problem(&with_token(&app, PROJECTS, &old).await, 401, "invalid_token");
    assert_eq!(project_ids(&app, &new).await, ["docs"]);
}

#[tokio::test]
async fn rotation_never_makes_the_old_token_last_longer() {
    let app = app().await;
    let olga = app.operator().await;
    let old = create(&olga, &[("days", "1")]).await;
    app.clock().advance(DAY / 2);
    let olga = app.sign_in("olga").await;
    assert_eq!(rotate(&olga, &id(&olga).await, PASSWORD).await.status, 200);
    assert_eq!(with_token(&app, TOKEN, &old).await.json()["expires_at"], "2026-11-22T12:00:00Z");
}

#[tokio::test]
async fn only_the_owner_with_their_password_rotates_an_active_token() {
    let app = app().await;
    let (olga, ada) = (app.operator().await, app.sign_in("ada").await);
    create(&olga, &[]).await;
    let id = id(&olga).await;
    assert!(
        rotate(&olga, &id, "wrong").await.refused(400, "bad_input").contains("Incorrect current password")
    );
    rotate(&ada, &id, PASSWORD).await.refused(404, "not_found");
    assert_eq!(olga.post_json("/api/tokens/list", &[]).await["tokens"].as_array().unwrap().len(), 1);
    olga.post_json("/api/tokens/revoke", &[("token", &id)]).await;
    rotate(&olga, &id, PASSWORD).await.refused(404, "not_found");
    assert!(!olga.page("/account/tokens").await.contains("Rotate token"));
    assert!(!ada.page("/admin/tokens").await.contains("Rotate token"));
}

#[tokio::test]
async fn rotated_tokens_count_for_the_limit_of_a_person() {
    let app = app().await;
    let olga = app.operator().await;
    create(&olga, &[]).await;
    let first = id(&olga).await;
    let fill = "INSERT INTO api_tokens (id, user_id, name, token_hash, last_four, scopes, projects, created_at, expires_at, notices_seen)
        SELECT '01920000-0000-7000-8000-0000000000' || (10 + t.n), u.id, 'x', 'x' || t.n, 'xxxx', 'jobs:read', '*', 0, 99999999999999, 2
        FROM users u CROSS JOIN (WITH RECURSIVE c (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM c WHERE n < 49) SELECT n FROM c) t
        WHERE u.name = 'olga'";
    app.ledger().run(fill).await;
    // The new one takes the place of the old one, and no other has room.
    assert_eq!(rotate(&olga, &first, PASSWORD).await.status, 200);
    let message = post_new(&olga, &[]).await.refused(400, "bad_input");
    assert!(message.contains("50"), "{message}");
    // As many old ones may work beside them.
    app.ledger().run("UPDATE api_tokens SET replaced_by = id WHERE id LIKE '01920000%'").await;
    let message = rotate(&olga, &id(&olga).await, PASSWORD).await.refused(400, "bad_input");
    assert!(message.contains("50"), "{message}");
}

/// Whoever lost the new token rotates that one: a second rotation of the old one would make a token that is valid for a day.
#[tokio::test]
async fn replaced_token_is_not_rotated_again() {
    let app = app().await;
    let olga = app.operator().await;
    create(&olga, &[("days", "90")]).await;
    let old = id(&olga).await;
    assert_eq!(rotate(&olga, &old, PASSWORD).await.status, 200);
    let message = rotate(&olga, &old, PASSWORD).await.refused(409, "conflict");
    assert!(message.contains("rotated already"), "{message}");
    let listed = olga.post_json("/api/tokens/list", &[]).await["tokens"].take();
    let states: Vec<_> =
        listed.as_array().unwrap().iter().map(|token| token["state"].as_str().unwrap()).collect();
    assert_eq!(states, ["active", "replaced"]);
    let page = olga.page("/account/tokens").await;
    assert_eq!((page.matches("Rotate token").count(), page.matches("Revoke token").count()), (1, 2));
    let new = id(&olga).await;
    let token = rotate(&olga, &new, PASSWORD).await.json()["secret"].take();
    let described = with_token(&app, TOKEN, token.as_str().unwrap()).await.json();
    assert_eq!(described["expires_at"], "2027-02-19T12:00:00Z", "90 days");
}

#[tokio::test]
async fn every_response_names_the_expiry_in_the_last_14_days() {
    let app = app().await;
    let olga = app.operator().await;
    let token = create(&olga, &[("days", "20")]).await;
    assert_eq!(expires(&app, &token).await, "");
    let described = with_token(&app, TOKEN, &token).await;
    let expected = json!({
        "id": id(&olga).await, "name": "Nightly check", "owner": "olga", "scopes": ["jobs:read", "analytics:read"],
        "projects": ["docs", "api"], "created_at": "2026-11-21T12:00:00Z", "expires_at": "2026-12-11T12:00:00Z",
    });
    assert_eq!((described.status, described.json()), (200, expected));
    app.clock().advance(DAY * 6);
    for path in [PROJECTS, "/api/v1/nowhere", "/api/v1/projects/docs/templates", "/mcp"] {
        let response = with_token(&app, path, &token).await;
        assert_eq!(response.header("docket-token-expires"), "2026-12-11T12:00:00Z", "{path}");
    }
}
