//! One-time links for invited people to set a password, stored by the hash of their token.

use sqlx::{AnyConnection, Row};

use super::users::{User, access, insert, user};
use crate::model::audit::{Action, Actor, AuditEvent};
use crate::model::time::Timestamp;
use crate::model::user::{GivenProjects, Role};
use crate::server::store::{Store, StoreError, audit, new_id};

/// A person, and their invitation until they accept it.
pub struct Invited {
    pub user: User,
    /// When the invitation expires.
    pub until: Option<Timestamp>,
    /// Whether an administrator must release it first.
    pub is_on_hold: bool,
    /// When their link for a new password expires.
    pub password_link_until: Option<Timestamp>,
}

/// The purpose of a valid link.
pub enum Link {
    /// Creating the first administrator, under any name.
    FirstAdministrator,
    /// The invited person with this name.
    Invitation(String),
    /// A new password for the person with this name.
    NewPassword(String),
}

/// The token of a one-time link.
pub struct LinkToken {
    /// The hash of the token. The token itself is not stored.
    pub hash: String,
    pub expires_at: Timestamp,
}

impl Store {
    /// The purpose of the link with this token hash; `None` if it is invalid.
    pub async fn link(&self, token_hash: &str, now: Timestamp) -> Result<Option<Link>, StoreError> {
        let name: Option<String> = sqlx::query_scalar(
            "SELECT name FROM users JOIN invitations ON invitations.user_id = users.id
             WHERE token_hash = $1 AND expires_at > $2 AND disabled_at IS NULL AND on_hold_since IS NULL",
        )
        .bind(token_hash)
        .bind(now.as_millis())
        .fetch_optional(&self.pool)
        .await?;
        if let Some(name) = name {
            return Ok(Some(Link::Invitation(name)));
        }
        let name: Option<String> = sqlx::query_scalar(
            "SELECT name FROM users JOIN password_links ON password_links.user_id = users.id
             WHERE token_hash = $1 AND expires_at > $2 AND disabled_at IS NULL",
        )
        .bind(token_hash)
        .bind(now.as_millis())
        .fetch_optional(&self.pool)
        .await?;
        if let Some(name) = name {
            return Ok(Some(Link::NewPassword(name)));
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

    /// All people by name, with their invitations. A non-empty `only` restricts this to the person with this id.
    pub async fn people(&self, only: &str) -> Result<Vec<Invited>, StoreError> {
        let rows = sqlx::query(
            "SELECT users.*, invitations.expires_at AS invited_until, invitations.on_hold_since AS invitation_on_hold_since,
                 password_links.expires_at AS password_link_until FROM users
             LEFT JOIN invitations ON invitations.user_id = users.id
             LEFT JOIN password_links ON password_links.user_id = users.id
             WHERE $1 = '' OR users.id = $1 ORDER BY users.name",
        )
        .bind(only)
        .fetch_all(&self.pool)
        .await?;
        let invited = |row| {
            let until: Option<i64> = Row::try_get(row, "invited_until")?;
            let on_hold_since: Option<i64> = Row::try_get(row, "invitation_on_hold_since")?;
            let password_link_until: Option<i64> = Row::try_get(row, "password_link_until")?;
            Ok(Invited {
                user: user(row)?,
                until: until.map(Timestamp::from_millis),
                is_on_hold: on_hold_since.is_some(),
                password_link_until: password_link_until.map(Timestamp::from_millis),
            })
        };
        rows.iter().map(invited).collect()
    }

    /// Adds a person without a password, and the link to set one; `false` if the name exists.
    pub async fn invite(
        &self,
        name: &str,
        role: Role,
        projects: &GivenProjects,
        link: &LinkToken,
        by: &Actor,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let Some(id) = insert(&mut tx, name, role, projects, "", now).await? else { return Ok(false) };
        sqlx::query(
            "INSERT INTO invitations (user_id, token_hash, expires_at, invited_by) VALUES ($1, $2, $3, $4)",
        )
        .bind(id)
        .bind(&link.hash)
        .bind(link.expires_at.as_millis())
        .bind(&by.id)
        .execute(&mut *tx)
        .await?;
        let event = AuditEvent::new(Action::UserInvite).on(name).with_detail(access(role, projects));
        audit::commit(tx, by, &event, now).await?;
        Ok(true)
    }

    /// Replaces the link of a person who has not accepted the invitation; `false` if there is none.
    pub async fn renew_invitation(
        &self,
        user: &str,
        link: &LinkToken,
        by: &Actor,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let renewal = sqlx::query_scalar(
            "UPDATE invitations SET token_hash = $2, expires_at = $3, invited_by = $4, on_hold_since = NULL WHERE user_id = $1
             RETURNING (SELECT name FROM users WHERE id = user_id)",
        )
        .bind(user)
        .bind(&link.hash)
        .bind(link.expires_at.as_millis())
        .bind(&by.id);
        self.audited(renewal, by, |name| AuditEvent::new(Action::UserInviteAgain).on(name), now).await
    }

    /// Makes an invitation on hold valid again, issued by `by`; `false` if there is none.
    pub async fn release_invitation(
        &self,
        user: &str,
        by: &Actor,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let release = sqlx::query_scalar(
            "UPDATE invitations SET on_hold_since = NULL, invited_by = $2 WHERE user_id = $1 AND on_hold_since IS NOT NULL
             RETURNING (SELECT name FROM users WHERE id = user_id)",
        )
        .bind(user)
        .bind(&by.id);
        self.audited(release, by, |name| AuditEvent::new(Action::UserInviteRelease).on(name), now).await
    }

    /// Deletes an invitation and its person, who never signed in; `false` if there is none.
    pub async fn withdraw_invitation(
        &self,
        user: &str,
        by: &Actor,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let withdrawn = sqlx::query("DELETE FROM invitations WHERE user_id = $1")
            .bind(user)
            .execute(&mut *tx)
            .await?
            .rows_affected();
        if withdrawn != 1 {
            return Ok(false);
        }
        let name: String = sqlx::query_scalar("DELETE FROM users WHERE id = $1 RETURNING name")
            .bind(user)
            .fetch_one(&mut *tx)
            .await?;
        audit::commit(tx, by, &AuditEvent::new(Action::UserWithdraw).on(name), now).await?;
        Ok(true)
    }

    /// Sets a password with a link, deletes the link, and returns the person; `None` if the link is invalid.
    pub async fn accept_invitation(
        &self,
        token_hash: &str,
        password_hash: &str,
        client_ip: &str,
        now: Timestamp,
    ) -> Result<Option<User>, StoreError> {
        let mut tx = self.begin().await?;
        let select = "SELECT users.* FROM users JOIN invitations ON invitations.user_id = users.id
             WHERE token_hash = $1 AND expires_at > $2 AND disabled_at IS NULL AND on_hold_since IS NULL";
        let statements = LinkStatements { select, delete: "DELETE FROM invitations WHERE token_hash = $1" };
        let spent = spend(&mut tx, statements, token_hash, password_hash, now).await?;
        let Some(user) = spent else { return Ok(None) };
        audit::commit(tx, &user.actor(client_ip), &AuditEvent::new(Action::UserJoin), now).await?;
        Ok(Some(user))
    }
}

/// The statements for the links of one table.
pub(crate) struct LinkStatements {
    /// Selects the person of the valid link with the token's hash `$1` at the time `$2`.
    pub(crate) select: &'static str,
    /// Deletes the link with the token's hash `$1`.
    pub(crate) delete: &'static str,
}

/// Deletes a link and sets the password of its person, which ends their sessions; `None` if the link is invalid.
pub(crate) async fn spend(
    connection: &mut AnyConnection,
    statements: LinkStatements,
    token_hash: &str,
    password_hash: &str,
    now: Timestamp,
) -> Result<Option<User>, StoreError> {
    let row = sqlx::query(statements.select)
        .bind(token_hash)
        .bind(now.as_millis())
        .fetch_optional(&mut *connection)
        .await?;
    let Some(mut user) = row.as_ref().map(user).transpose()? else { return Ok(None) };
    let spent = sqlx::query(statements.delete).bind(token_hash).execute(&mut *connection).await?;
    if spent.rows_affected() != 1 {
        return Ok(None);
    }
    (user.password_hash, user.session_stamp) = (password_hash.to_owned(), new_id());
    sqlx::query("UPDATE users SET password_hash = $2, session_stamp = $3 WHERE id = $1")
        .bind(&user.id)
        .bind(&user.password_hash)
        .bind(&user.session_stamp)
        .execute(connection)
        .await?;
    Ok(Some(user))
}
