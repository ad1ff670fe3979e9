//! People who were invited and have not set a password yet. Their links are `one_time_links`.

use sqlx::Row;

use super::one_time_links::LinkToken;
use super::users::{User, access, insert, user};
use crate::{Authority, Change, Store, StoreError, audit};
use model::audit::{Action, AuditEvent};
use model::time::Timestamp;
use model::user::{GivenProjects, Role};

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

impl Store {
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
        by: Authority<'_>,
        name: &str,
        role: Role,
        projects: &GivenProjects,
        link: &LinkToken,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
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
        audit::commit(tx, &by, &event, now).await?;
        Ok(true)
    }

    /// Replaces the link of a person who has not accepted the invitation; `false` if there is none.
    pub async fn renew_invitation(
        &self,
        by: Authority<'_>,
        user: &str,
        link: &LinkToken,
    ) -> Result<bool, StoreError> {
        let renewal = sqlx::query_scalar(
            "UPDATE invitations SET token_hash = $2, expires_at = $3, invited_by = $4, on_hold_since = NULL WHERE user_id = $1
             RETURNING (SELECT name FROM users WHERE id = user_id)",
        )
        .bind(user)
        .bind(&link.hash)
        .bind(link.expires_at.as_millis())
        .bind(by.actor().id);
        self.audited(by, renewal, |name| AuditEvent::new(Action::UserInviteAgain).on(name)).await
    }

    /// Makes an invitation on hold valid again, issued by `by`; `false` if there is none.
    pub async fn release_invitation(&self, by: Authority<'_>, user: &str) -> Result<bool, StoreError> {
        let release = sqlx::query_scalar(
            "UPDATE invitations SET on_hold_since = NULL, invited_by = $2 WHERE user_id = $1 AND on_hold_since IS NOT NULL
             RETURNING (SELECT name FROM users WHERE id = user_id)",
        )
        .bind(user)
        .bind(by.actor().id);
        self.audited(by, release, |name| AuditEvent::new(Action::UserInviteRelease).on(name)).await
    }

    /// Deletes an invitation and its person, who never signed in; `false` if there is none.
    pub async fn withdraw_invitation(&self, by: Authority<'_>, user: &str) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
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
        audit::commit(tx, &by, &AuditEvent::new(Action::UserWithdraw).on(name), now).await?;
        Ok(true)
    }
}
