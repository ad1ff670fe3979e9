//! One-time links to set a password, stored by the hash of their token: of invited people, and of people who have a password.

use sqlx::{Any, AssertSqlSafe, Transaction};

use super::Proof;
use super::admission::{self, Account, Admitted, NotAdmitted};
use super::second_factors;
use crate::{Authority, Store, StoreError, audit, new_id};
use model::audit::{Action, AuditEvent};
use model::time::Timestamp;

/// The purpose of a valid link.
pub enum Link {
    /// Creating the first administrator, under any name.
    FirstAdministrator,
    /// A password for the person with this name.
    Password(LinkKind, String),
}

/// The links of one table.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LinkKind {
    /// Of an invited person, who has no password yet.
    Invitation,
    /// Of a person who has a password, for a new one.
    NewPassword,
}

/// The token of a one-time link.
pub struct LinkToken {
    /// The hash of the token. The token itself is not stored.
    pub hash: String,
    pub expires_at: Timestamp,
}

impl LinkKind {
    const ALL: [Self; 2] = [Self::Invitation, Self::NewPassword];

    /// Selects the account of the link with the token's hash `$1` that has not expired at the time `$2`.
    fn select(self) -> String {
        format!(
            "SELECT {} FROM users u JOIN {} l ON l.user_id = u.id {}
             WHERE l.token_hash = $1 AND l.expires_at > $2",
            admission::COLUMNS,
            self.table(),
            admission::JOIN
        )
    }

    /// Whether the link is for an account in this state: an invitation that is not accepted yet, or a person who may enter.
    fn is_for(self, account: &Account) -> bool {
        matches!(
            (self, account),
            (Self::Invitation, Account::Refused(_, NotAdmitted::Invited { .. }))
                | (Self::NewPassword, Account::Admitted(_))
        )
    }

    fn table(self) -> &'static str {
        match self {
            Self::Invitation => "invitations",
            Self::NewPassword => "password_links",
        }
    }
}

impl Store {
    /// The purpose of the link with this token hash; `None` if it is invalid.
    pub async fn link(&self, token_hash: &str, now: Timestamp) -> Result<Option<Link>, StoreError> {
        for kind in LinkKind::ALL {
            let row = sqlx::query(AssertSqlSafe(kind.select()))
                .bind(token_hash)
                .bind(now.as_millis())
                .fetch_optional(&self.pool)
                .await?;
            let account = row.as_ref().map(admission::account).transpose()?;
            if let Some(account) = account.filter(|account| kind.is_for(account)) {
                return Ok(Some(Link::Password(kind, account.user().name.clone())));
            }
        }
        let first: Option<i64> = sqlx::query_scalar(
            "SELECT expires_at FROM setup_links WHERE token_hash = $1 AND expires_at > $2
             AND NOT EXISTS (SELECT 1 FROM users)",
        )
        .bind(token_hash)
        .bind(now.as_millis())
        .fetch_optional(&self.pool)
        .await?;
        Ok(first.map(|_| Link::FirstAdministrator))
    }

    /// Stores the link of a person who has a password, and replaces an earlier one; `false` if there is no such person, or they are disabled.
    pub async fn put_password_link(
        &self,
        by: Authority<'_>,
        user: &str,
        link: &LinkToken,
    ) -> Result<bool, StoreError> {
        let put = sqlx::query_scalar(
            "INSERT INTO password_links (user_id, token_hash, expires_at, made_by)
             SELECT id, $2, $3, $4 FROM users WHERE id = $1 AND password_hash <> '' AND disabled_at IS NULL
             ON CONFLICT (user_id) DO UPDATE SET token_hash = excluded.token_hash, expires_at = excluded.expires_at,
                 made_by = excluded.made_by
             RETURNING (SELECT name FROM users WHERE id = user_id)",
        )
        .bind(user)
        .bind(&link.hash)
        .bind(link.expires_at.as_millis())
        .bind(by.actor().id);
        self.audited(by, put, |name| AuditEvent::new(Action::UserPasswordLink).on(name)).await
    }

    /// Sets a password with a link, deletes the link, ends the person's sessions, and returns the person; `None` if the link is invalid.
    pub async fn use_link(
        &self,
        kind: LinkKind,
        token_hash: &str,
        password_hash: &str,
        client_ip: &str,
        now: Timestamp,
    ) -> Result<Option<Admitted>, StoreError> {
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        let Some(user) = spend(&mut tx, kind, token_hash, password_hash, now).await? else { return Ok(None) };
        let event = match kind {
            LinkKind::Invitation => AuditEvent::new(Action::UserJoin),
            LinkKind::NewPassword => {
                second_factors::forget_wrong_codes(&mut tx, &user.id).await?;
                AuditEvent::new(Action::UserPassword).on(&user.name).with_detail("by a link")
            }
        };
        audit::commit(tx, &user.actor(client_ip), &event, now).await?;
        Ok(Some(user))
    }
}

/// Deletes a link and sets the password of its person, which ends their sessions; `None` if the link is invalid.
async fn spend(
    tx: &mut Transaction<'static, Any>,
    kind: LinkKind,
    token_hash: &str,
    password_hash: &str,
    now: Timestamp,
) -> Result<Option<Admitted>, StoreError> {
    let row = sqlx::query(AssertSqlSafe(kind.select()))
        .bind(token_hash)
        .bind(now.as_millis())
        .fetch_optional(&mut **tx)
        .await?;
    let account = row.as_ref().map(admission::account).transpose()?;
    let Some(account) = account.filter(|account| kind.is_for(account)) else { return Ok(None) };
    let delete = format!("DELETE FROM {} WHERE token_hash = $1", kind.table());
    let spent = sqlx::query(AssertSqlSafe(delete)).bind(token_hash).execute(&mut **tx).await?;
    if spent.rows_affected() != 1 {
        return Ok(None);
    }
    sqlx::query("UPDATE users SET password_hash = $2, session_stamp = $3 WHERE id = $1")
        .bind(&account.user().id)
        .bind(password_hash)
        .bind(new_id())
        .execute(&mut **tx)
        .await?;
    // Without its invitation the person may enter.
    let account = admission::account_in(tx, &account.user().id).await?;
    Ok(account.and_then(Account::admitted))
}
