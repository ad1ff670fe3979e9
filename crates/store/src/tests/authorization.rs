//! The authorization of a request, which each of its write transactions checks.

use std::net::{IpAddr, Ipv4Addr};

use super::work;
use super::*;
use crate::Authority;
use crate::accounts::api_tokens::{AddedToken, NewApiToken};
use crate::authorization::Authorization;
use crate::jobs::drafts::{DraftKey, Replaces};
use base::clock::Clock;
use model::audit::Actor;
use model::audit::{Action, AuditEvent};
use model::id::ApiTokenId;

const SESSION: &str = "hash of a session id";

const CLIENT: IpAddr = IpAddr::V4(Ipv4Addr::new(192, 0, 2, 7));

/// An authorization of ada with a session.
async fn authorized(ledger: &Ledger) -> Authorization {
    let store = &ledger.store;
    assert!(store.add_session(SESSION, "{}", NOON, NOON.plus_seconds(3600)).await.unwrap());
    store.own_session(SESSION, &ledger.author.id, "Firefox", "192.0.2.7").await.unwrap();
    let user = store.account_by_id(&ledger.author.id).await.unwrap().unwrap().admitted().unwrap();
    Authorization::of_session(user, Some(SESSION.to_owned()), CLIENT, Clock::frozen(NOON))
}

/// One write in a transaction, and one by a single statement.
async fn writes(ledger: &Ledger, by: Authority<'_>) -> [Result<(), StoreError>; 2] {
    let draft = DraftKey { user_id: &ledger.author.id, project: &ledger.project, subject: "" };
    [
        ledger.store.record(by, &AuditEvent::new(Action::SignOut)).await,
        ledger.store.drop_draft(by, draft, Replaces::Any, None).await,
    ]
}

#[tokio::test]
async fn unchanged_account_may_write() {
    let ledger = Ledger::new().await;
    let authorization = authorized(&ledger).await;
    for written in writes(&ledger, (&authorization).into()).await {
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
            "disabled" => {
                assert!(store.set_disabled(Authority::Test(&by, NOON), "ada", true).await.unwrap())
            }
            "role" => {
                assert!(
                    store
                        .set_access(Authority::Test(&by, NOON), id, Role::Viewer, &GivenProjects::All)
                        .await
                        .unwrap()
                )
            }
            "password" => {
                assert!(store.set_password_hash(Authority::Test(&by, NOON), "ada", "new").await.unwrap())
            }
            "session" => store.delete_session(SESSION).await.unwrap(),
            _ => {
                sqlx::query("DELETE FROM sessions").execute(&store.pool).await.unwrap();
                sqlx::query("DELETE FROM users").execute(&store.pool).await.unwrap();
            }
        }
        let rows = async || -> i64 {
            sqlx::query_scalar("SELECT COUNT(*) FROM audit").fetch_one(&store.pool).await.unwrap()
        };
        let before = rows().await;
        for written in writes(&ledger, (&authorization).into()).await {
            assert!(matches!(written, Err(StoreError::Revoked(_))), "{change}: {written:?}");
        }
        assert_eq!(rows().await, before, "{change}");
        for written in writes(&ledger, (&work()).into()).await {
            written.unwrap();
        }
    }
}

/// An account that cannot be read is a fault of the database, and not one that lost its access.
#[tokio::test]
async fn unreadable_account_is_an_error_instead_of_a_refusal() {
    let ledger = Ledger::new().await;
    let authorization = authorized(&ledger).await;
    sqlx::query("UPDATE users SET role = 'nonsense'").execute(&ledger.store.pool).await.unwrap();
    for written in writes(&ledger, (&authorization).into()).await {
        assert!(written.as_ref().is_err_and(StoreError::is_corrupt), "{written:?}");
    }
}

/// An authorization of ada by an API token, and the token.
async fn of_token(ledger: &Ledger) -> (Authorization, ApiTokenId) {
    let store = &ledger.store;
    let owner = store.account_by_id(&ledger.author.id).await.unwrap().unwrap().admitted().unwrap();
    let new = NewApiToken {
        owner: &owner,
        name: "CI",
        hash: "hash",
        last_four: "abcd",
        scopes: &"jobs:write".parse().unwrap(),
        projects: &GivenProjects::All,
        expires_at: NOON.plus_seconds(3600),
    };
    let AddedToken::Done(id) =
        store.add_api_token(Authority::Test(&ledger.author, NOON), &new).await.unwrap()
    else {
        panic!("no owner")
    };
    (Authorization::of_token(owner, &id, CLIENT, Clock::frozen(NOON)), id)
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
            "password" => {
                assert!(store.set_password_hash(Authority::Test(&by, NOON), "ada", "new").await.unwrap())
            }
            "disabled" => {
                assert!(store.set_disabled(Authority::Test(&by, NOON), "ada", true).await.unwrap())
            }
            "role" => {
                assert!(
                    store
                        .set_access(Authority::Test(&by, NOON), id, Role::Viewer, &GivenProjects::All)
                        .await
                        .unwrap()
                )
            }
            _ => assert!(store.revoke_api_token(Authority::Test(&by, NOON), &token, None).await.unwrap()),
        }
        let is_valid = ["none", "password"].contains(&change);
        for written in writes(&ledger, (&authorization).into()).await {
            match written {
                Ok(()) => assert!(is_valid, "{change}"),
                Err(error) => {
                    assert!(!is_valid && matches!(error, StoreError::Revoked(_)), "{change}: {error}")
                }
            }
        }
    }
}
