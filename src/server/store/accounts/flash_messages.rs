//! Flash messages, for whichever process their browser asks next. Must not be able to read them.

use crate::model::time::Timestamp;
use crate::server::store::{Store, StoreError};

/// What a row takes besides its message.
const OVERHEAD: i64 = 200;

impl Store {
    /// Stores an encrypted message until `expires_at`. `owner`: empty for people who are not signed in.
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

    /// Removes and returns a message of `owner`, and when it expires.
    pub async fn take_flash_message(
        &self,
        id_hash: &str,
        owner: &str,
        now: Timestamp,
    ) -> Result<Option<(Vec<u8>, Timestamp)>, StoreError> {
        let taken: Option<(Vec<u8>, i64)> = sqlx::query_as(
            "DELETE FROM flash_messages WHERE id_hash = $1 AND owner = $2 RETURNING sealed, expires_at",
        )
        .bind(id_hash)
        .bind(owner)
        .fetch_optional(self.apart())
        .await?;
        let taken = taken.map(|(sealed, expires_at)| (sealed, Timestamp::from_millis(expires_at)));
        Ok(taken.filter(|(_, expires_at)| *expires_at > now))
    }

    /// Removes what expired, and the oldest messages beyond a total of `most` bytes: of people who are signed in, or of strangers.
    pub async fn trim_flash_messages(
        &self,
        strangers: bool,
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
        .bind(i64::from(strangers))
        .bind(i64::try_from(most).unwrap_or(i64::MAX))
        .execute(self.apart())
        .await?;
        Ok(())
    }
}
