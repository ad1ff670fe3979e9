//! One-time links for a new password, stored by the hash of their token. Links of people who never had a password are `invitations`.

use super::invitations::{LinkStatements, LinkToken};
use super::users::User;
use super::{invitations, second_factors};
use crate::model::audit::{Action, Actor, AuditEvent};
use crate::model::time::Timestamp;
use crate::server::store::{Store, StoreError, audit};

impl Store {
    /// Stores the link of a person who has a password, and replaces an earlier one; `false` if there is no such person, or they are disabled.
    pub async fn put_password_link(
        &self,
        user: &str,
        link: &LinkToken,
        by: &Actor,
        now: Timestamp,
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
        .bind(&by.id);
        self.audited(put, by, |name| AuditEvent::new(Action::UserPasswordLink).on(name), now).await
    }

    /// Sets a password with a link, deletes the link, ends the person's sessions, and returns the person; `None` if the link is invalid.
    pub async fn use_password_link(
        &self,
        token_hash: &str,
        password_hash: &str,
        client_ip: &str,
        now: Timestamp,
    ) -> Result<Option<User>, StoreError> {
        let mut tx = self.begin().await?;
        let select = "SELECT users.* FROM users JOIN password_links ON password_links.user_id = users.id
             WHERE token_hash = $1 AND expires_at > $2 AND disabled_at IS NULL";
        let statements =
            LinkStatements { select, delete: "DELETE FROM password_links WHERE token_hash = $1" };
        let spent = invitations::spend(&mut tx, statements, token_hash, password_hash, now).await?;
        let Some(user) = spent else { return Ok(None) };
        second_factors::forget_wrong_codes(&mut tx, &user.id).await?;
        let event = AuditEvent::new(Action::UserPassword).on(&user.name).with_detail("by a link");
        audit::commit(tx, &user.actor(client_ip), &event, now).await?;
        Ok(Some(user))
    }
}
