//! Flash messages, in the rows of sessions: one for each, which replaces an earlier one.

use sqlx::AssertSqlSafe;

use crate::{Store, StoreError};
use model::limits::FLASH_MESSAGES;
use model::time::Timestamp;

impl Store {
    /// Adds or renews the row for the messages of a person without a session. It is no session: no hash equals
    /// `key`.
    pub async fn add_flash_row(
        &self,
        key: &str,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO sessions (id_hash, data, created_at, last_used_at, expires_at) VALUES ($1, '{}', $2, $2, $3)
             ON CONFLICT (id_hash) DO UPDATE SET last_used_at = excluded.last_used_at, expires_at = excluded.expires_at",
        )
        .bind(key)
        .bind(now.as_millis())
        .bind(expires_at.as_millis())
        .execute(self.apart())
        .await?;
        Ok(())
    }

    /// Stores the message of a session; `false` if the session has ended.
    pub async fn put_flash_message(
        &self,
        session: &str,
        id_hash: &str,
        message: &str,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let put = sqlx::query(
            "UPDATE sessions SET flash_id = $2, flash_message = $3, flash_until = $4 WHERE id_hash = $1",
        )
        .bind(session)
        .bind(id_hash)
        .bind(message)
        .bind(expires_at.as_millis())
        .execute(self.apart())
        .await?;
        Ok(put.rows_affected() == 1)
    }

    /// Returns the message with this id, which no other call can claim.
    pub async fn claim_flash_message(
        &self,
        session: &str,
        id_hash: &str,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        Ok(sqlx::query_scalar(
            "UPDATE sessions SET flash_id = $3 WHERE id_hash = $1 AND flash_id = $2 AND flash_until > $4
             RETURNING flash_message",
        )
        .bind(session)
        .bind(id_hash)
        .bind(claimed(id_hash))
        .bind(now.as_millis())
        .fetch_optional(self.apart())
        .await?)
    }

    /// Makes a claimed message pending again, unless another one replaced it.
    pub async fn release_flash_message(&self, session: &str, id_hash: &str) -> Result<(), StoreError> {
        sqlx::query("UPDATE sessions SET flash_id = $2 WHERE id_hash = $1 AND flash_id = $3")
            .bind(session)
            .bind(id_hash)
            .bind(claimed(id_hash))
            .execute(self.apart())
            .await?;
        Ok(())
    }

    /// Removes a claimed message, unless another one replaced it.
    pub async fn remove_flash_message(&self, session: &str, id_hash: &str) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE sessions SET flash_id = NULL, flash_message = NULL, flash_until = NULL
             WHERE id_hash = $1 AND flash_id = $2",
        )
        .bind(session)
        .bind(claimed(id_hash))
        .execute(self.apart())
        .await?;
        Ok(())
    }

    /// Removes expired messages, and the oldest of the session's person beyond [`FLASH_MESSAGES`].
    pub async fn trim_flash_messages(&self, session: &str, now: Timestamp) -> Result<(), StoreError> {
        const OF_PERSON: &str = "user_id = (SELECT user_id FROM sessions WHERE id_hash = $2)";
        sqlx::query(AssertSqlSafe(format!(
            "UPDATE sessions SET flash_id = NULL, flash_message = NULL, flash_until = NULL
             WHERE flash_until IS NOT NULL AND (flash_until <= $1 OR ({OF_PERSON} AND id_hash NOT IN (
                 SELECT id_hash FROM sessions WHERE flash_until IS NOT NULL AND {OF_PERSON}
                 ORDER BY flash_until DESC, id_hash LIMIT {FLASH_MESSAGES})))"
        )))
        .bind(now.as_millis())
        .bind(session)
        .execute(self.apart())
        .await?;
        Ok(())
    }
}

/// The id of a message that a page is being rendered with.
fn claimed(id_hash: &str) -> String {
    format!("claimed {id_hash}")
}
