//! People, and the one-time links that create the first of them.

use sqlx::Row;
use sqlx::any::AnyRow;

use super::{Store, StoreError, new_id, word};
use crate::model::time::Timestamp;
use crate::model::user::Role;

/// A person as stored. `Debug` leaves the password hash out.
#[derive(Clone)]
pub struct User {
    pub id: String,
    pub name: String,
    pub role: Role,
    pub password_hash: String,
    pub disabled: bool,
}

impl Store {
    /// Adds a person; `false` if the name is taken.
    pub async fn add_user(
        &self,
        name: &str,
        role: Role,
        password_hash: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let added = sqlx::query(
            "INSERT INTO users (id, name, role, password_hash, created_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (name) DO NOTHING",
        )
        .bind(new_id())
        .bind(name)
        .bind(role.as_str())
        .bind(password_hash)
        .bind(now.as_millis())
        .execute(&self.pool)
        .await?;
        Ok(added.rows_affected() == 1)
    }

    pub async fn user_by_name(&self, name: &str) -> Result<Option<User>, StoreError> {
        let row =
            sqlx::query("SELECT * FROM users WHERE name = $1").bind(name).fetch_optional(&self.pool).await?;
        row.as_ref().map(user).transpose()
    }

    pub async fn user_by_id(&self, id: &str) -> Result<Option<User>, StoreError> {
        let row =
            sqlx::query("SELECT * FROM users WHERE id = $1").bind(id).fetch_optional(&self.pool).await?;
        row.as_ref().map(user).transpose()
    }

    /// Everybody, by name.
    pub async fn users(&self) -> Result<Vec<User>, StoreError> {
        let rows = sqlx::query("SELECT * FROM users ORDER BY name").fetch_all(&self.pool).await?;
        rows.iter().map(user).collect()
    }

    /// Sets a new password; `false` if there is nobody of that name. Sessions under the old one end.
    pub async fn set_password_hash(&self, name: &str, password_hash: &str) -> Result<bool, StoreError> {
        let changed = sqlx::query("UPDATE users SET password_hash = $2 WHERE name = $1")
            .bind(name)
            .bind(password_hash)
            .execute(&self.pool)
            .await?;
        Ok(changed.rows_affected() == 1)
    }

    /// Gives a person another role; `false` if there is nobody of that name.
    pub async fn set_role(&self, name: &str, role: Role) -> Result<bool, StoreError> {
        let changed = sqlx::query("UPDATE users SET role = $2 WHERE name = $1")
            .bind(name)
            .bind(role.as_str())
            .execute(&self.pool)
            .await?;
        Ok(changed.rows_affected() == 1)
    }

    /// Disables a person from the given instant, or enables them again; `false` if there is nobody of that name.
    pub async fn set_disabled(&self, name: &str, since: Option<Timestamp>) -> Result<bool, StoreError> {
        let changed = sqlx::query("UPDATE users SET disabled_at = $2 WHERE name = $1")
            .bind(name)
            .bind(since.map(Timestamp::as_millis))
            .execute(&self.pool)
            .await?;
        Ok(changed.rows_affected() == 1)
    }

    /// Replaces all set-up links by the one with this token hash.
    pub async fn put_setup_link(&self, token_hash: &str, expires_at: Timestamp) -> Result<(), StoreError> {
        let mut tx = self.begin().await?;
        sqlx::query("DELETE FROM setup_links").execute(&mut *tx).await?;
        sqlx::query("INSERT INTO setup_links (token_hash, expires_at) VALUES ($1, $2)")
            .bind(token_hash)
            .bind(expires_at.as_millis())
            .execute(&mut *tx)
            .await?;
        Ok(tx.commit().await?)
    }

    /// Spends a valid set-up link for an administrator, in one step; `false` if the link is not valid,
    /// or if there is somebody already.
    pub async fn spend_setup_link(
        &self,
        token_hash: &str,
        name: &str,
        password_hash: &str,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin().await?;
        let spent = sqlx::query(
            "DELETE FROM setup_links WHERE token_hash = $1 AND expires_at > $2
             AND NOT EXISTS (SELECT 1 FROM users)",
        )
        .bind(token_hash)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        if spent.rows_affected() != 1 {
            return Ok(false);
        }
        sqlx::query(
            "INSERT INTO users (id, name, role, password_hash, created_at) VALUES ($1, $2, $3, $4, $5)",
        )
        .bind(new_id())
        .bind(name)
        .bind(Role::Admin.as_str())
        .bind(password_hash)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(true)
    }
}

impl std::fmt::Debug for User {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("User").field("name", &self.name).field("role", &self.role).finish_non_exhaustive()
    }
}

pub(super) fn user(row: &AnyRow) -> Result<User, StoreError> {
    Ok(User {
        id: row.try_get("id")?,
        name: row.try_get("name")?,
        role: word(row, "role")?,
        password_hash: row.try_get("password_hash")?,
        disabled: row.try_get::<Option<i64>, _>("disabled_at")?.is_some(),
    })
}
