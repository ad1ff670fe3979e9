//! Sessions, by the hash of their id.

use sqlx::Row;

use super::{Store, StoreError};
use crate::model::time::Timestamp;

impl Store {
    /// Writes a session; `false` if `only_new` and there is one of that id.
    pub async fn put_session(
        &self,
        id_hash: &str,
        data: &str,
        expires_at: Timestamp,
        only_new: bool,
    ) -> Result<bool, StoreError> {
        let written = sqlx::query(if only_new {
            "INSERT INTO sessions (id_hash, data, expires_at) VALUES ($1, $2, $3) ON CONFLICT (id_hash) DO NOTHING"
        } else {
            "INSERT INTO sessions (id_hash, data, expires_at) VALUES ($1, $2, $3)
             ON CONFLICT (id_hash) DO UPDATE SET data = excluded.data, expires_at = excluded.expires_at"
        })
        .bind(id_hash)
        .bind(data)
        .bind(expires_at.as_millis())
        .execute(&self.pool)
        .await?;
        Ok(written.rows_affected() == 1)
    }

    /// The data of a session that has not expired, and when it does.
    pub async fn session(
        &self,
        id_hash: &str,
        now: Timestamp,
    ) -> Result<Option<(String, Timestamp)>, StoreError> {
        let row = sqlx::query("SELECT data, expires_at FROM sessions WHERE id_hash = $1 AND expires_at > $2")
            .bind(id_hash)
            .bind(now.as_millis())
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| Ok((row.try_get("data")?, Timestamp::from_millis(row.try_get("expires_at")?))))
            .transpose()
    }

    pub async fn delete_session(&self, id_hash: &str) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sessions WHERE id_hash = $1").bind(id_hash).execute(&self.pool).await?;
        Ok(())
    }

    pub async fn delete_expired_sessions(&self, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sessions WHERE expires_at <= $1")
            .bind(now.as_millis())
            .execute(&self.pool)
            .await?;
        Ok(())
    }
}
