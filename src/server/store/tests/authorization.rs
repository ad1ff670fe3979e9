//! The authorization of a request, which each of its write transactions checks.

use super::*;
use crate::model::audit::{Action, AuditEvent};
use crate::model::id::ApiTokenId;
use crate::server::store::accounts::api_tokens::{AddedToken, NewApiToken};
use crate::server::store::authorization::Authorization;

const SESSION: &str = "hash of a session id";

/// An authorization of ada with a session.
async fn authorized(ledger: &Ledger) -> Authorization {
    let store = &ledger.store;
    assert!(store.add_session(SESSION, "{}", NOON, NOON.plus_seconds(3600)).await.unwrap());
    store.own_session(SESSION, &ledger.author.id, "Firefox", "192.0.2.7").await.unwrap();
    let user = store.user_by_id(&ledger.author.id).await.unwrap().unwrap();
    Authorization::new(user, Some(SESSION.to_owned()))
}

/// One write in a transaction, and one by a single statement.
async fn writes(ledger: &Ledger) -> [Result<(), StoreError>; 2] {
    let event = AuditEvent::new(Action::SignOut);
    [
        ledger.store.record(&ledger.author, &event, NOON).await,
        ledger.store.pause_calls("creates:docs", NOON).await,
    ]
}

#[tokio::test]
async fn unchanged_account_may_write() {
    let ledger = Ledger::new().await;
    let authorization = authorized(&ledger).await;
    for written in authorization.scope(writes(&ledger)).await {
        written.unwrap();
    }
}

#[tokio::test]
async fn changed_account_refuses_every_write_of_its_request() {
    let by = Actor::command_line();
    for change in ["disabled", "role", "password", "session", "removed"] {
        let ledger = Ledger::new().await;
        let (store, id) = (&ledger.store, &ledger.author.id);
        let authorization = authorized(&ledger).await;
        match change {
            "disabled" => assert!(store.set_disabled("ada", true, &by, NOON).await.unwrap()),
            "role" => {
                assert!(store.set_access(id, Role::Viewer, &GivenProjects::All, &by, NOON).await.unwrap())
            }
            "password" => assert!(store.set_password_hash("ada", "new", &by, NOON).await.unwrap()),
            "session" => store.delete_session(SESSION).await.unwrap(),
            _ => {
                sqlx::query("DELETE FROM sessions").execute(&store.pool).await.unwrap();
                sqlx::query("DELETE FROM users").execute(&store.pool).await.unwrap();
            }
        }
        let before = store.call_times("creates:docs").await.unwrap();
        for written in authorization.scope(writes(&ledger)).await {
            assert!(matches!(written, Err(StoreError::Revoked(_))), "{change}: {written:?}");
        }
        assert_eq!(store.call_times("creates:docs").await.unwrap(), before, "{change}");
        assert_eq!(
            store.paused_until("creates:docs", NOON.plus_seconds(-1)).await.unwrap(),
            None,
            "{change}"
        );
        for written in writes(&ledger).await {
            written.unwrap();
        }
    }
}

/// An authorization of ada by an API token, and the token.
async fn of_token(ledger: &Ledger) -> (Authorization, ApiTokenId) {
    let store = &ledger.store;
    let owner = store.user_by_id(&ledger.author.id).await.unwrap().unwrap();
    let new = NewApiToken {
        owner: &owner,
        name: "CI",
        hash: "hash",
        last_four: "abcd",
        scopes: &"jobs:write".parse().unwrap(),
        projects: &GivenProjects::All,
        expires_at: NOON.plus_seconds(3600),
    };
    let AddedToken::Done(id) = store.add_api_token(&new, &ledger.author, NOON).await.unwrap() else {
        panic!("no owner")
    };
    (Authorization::of_token(owner, &id), id)
}

#[tokio::test]
async fn changed_account_refuses_every_write_of_its_token() {
    let by = Actor::command_line();
    for change in ["none", "password", "disabled", "role", "revoked"] {
        let ledger = Ledger::new().await;
        let (store, id) = (&ledger.store, &ledger.author.id);
        let (authorization, token) = of_token(&ledger).await;
        match change {
            "none" => {}
            "password" => assert!(store.set_password_hash("ada", "new", &by, NOON).await.unwrap()),
            "disabled" => assert!(store.set_disabled("ada", true, &by, NOON).await.unwrap()),
            "role" => {
                assert!(store.set_access(id, Role::Viewer, &GivenProjects::All, &by, NOON).await.unwrap())
            }
            _ => assert!(store.revoke_api_token(&token, None, &by, NOON).await.unwrap()),
        }
        let is_valid = ["none", "password"].contains(&change);
        for written in authorization.scope(writes(&ledger)).await {
            match written {
                Ok(()) => assert!(is_valid, "{change}"),
                Err(error) => {
                    assert!(!is_valid && matches!(error, StoreError::Revoked(_)), "{change}: {error}")
                }
            }
        }
    }
}
