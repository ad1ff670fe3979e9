//! Flash messages, shared by all processes. They are encrypted; the store cannot read them.

use crate::model::time::Timestamp;
use crate::server::store::{Store, StoreError};

/// The size of a row without its message.
const OVERHEAD: i64 = 200;

impl Store {
    /// Stores an encrypted message until `expires_at`. `owner` is empty for anonymous clients.
    pub async fn put_flash_message(
        &self,
        id_hash: &str,
        owner: &str,
        sealed: Vec<u8>,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let bytes = OVERHEAD + i64::try_from(sealed.len()).unwrap_or(i64::MAX - OVERHEAD);
        sqlx::query(
            "INSERT INTO flash_messages (id_hash, owner, sealed, bytes, expires_at) VALUES ($1, $2, $3, $4, $5)
             ON CONFLICT (id_hash) DO NOTHING",
        )
        .bind(id_hash)
        .bind(owner)
        .bind(sealed)
        .bind(bytes)
        .bind(expires_at.as_millis())
        .execute(self.apart())
        .await?;
        Ok(())
    }

    /// Removes and returns a message of `owner`, with its expiry.
    pub async fn take_flash_message(
        &self,
        id_hash: &str,
        owner: &str,
        now: Timestamp,
    ) -> Result<Option<(Vec<u8>, Timestamp)>, StoreError> {
        let message: Option<(Vec<u8>, i64)> = sqlx::query_as(
            "DELETE FROM flash_messages WHERE id_hash = $1 AND owner = $2 RETURNING sealed, expires_at",
        )
        .bind(id_hash)
        .bind(owner)
        .fetch_optional(self.apart())
        .await?;
        let message = message.map(|(sealed, expires_at)| (sealed, Timestamp::from_millis(expires_at)));
        Ok(message.filter(|(_, expires_at)| *expires_at > now))
    }

    /// Removes expired messages, and the oldest beyond a total of `most` bytes, for either signed-in people or anonymous clients.
    pub async fn trim_flash_messages(
        &self,
        anonymous: bool,
        most: u64,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "DELETE FROM flash_messages WHERE expires_at <= $1 OR id_hash IN (
                 SELECT id_hash FROM (
                     SELECT id_hash, SUM(bytes) OVER (ORDER BY expires_at DESC, id_hash) AS total FROM flash_messages
                     WHERE (CASE WHEN owner = '' THEN 1 ELSE 0 END) = $2
                 ) newest WHERE total > $3)",
        )
        .bind(now.as_millis())
        .bind(i64::from(anonymous))
        .bind(i64::try_from(most).unwrap_or(i64::MAX))
        .execute(self.apart())
        .await?;
        Ok(())
    }
}
