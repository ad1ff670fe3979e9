//! Passkeys, and the pending challenges. Verification is elsewhere.

use sqlx::Row;
use sqlx::any::AnyRow;

use super::Proof;
use super::second_factors::{count_factors, put_recovery_codes};
use crate::{Authority, Change, Store, StoreError, audit, new_id};
use model::audit::{Action, AuditEvent};
use model::time::Timestamp;

/// A stored passkey.
pub struct StoredPasskey {
    pub id: String,
    pub user_id: String,
    pub name: String,
    /// The public key, in JSON.
    pub credential: String,
    pub created_at: Timestamp,
    pub last_used_at: Option<Timestamp>,
}

/// A passkey to store.
pub struct NewPasskey<'a> {
    /// Base64url.
    pub credential_id: &'a str,
    pub name: &'a str,
    pub credential: &'a str,
    /// The hashes of recovery codes for a person who has none left.
    pub recovery: &'a [String],
    /// Whether the person showed a second factor that is on.
    pub is_proven: bool,
}

/// The result of [`Store::add_passkey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Added {
    Done {
        /// Whether the person has the new recovery codes.
        with_codes: bool,
    },
    /// A second factor is on, and the person did not show it.
    Unproven,
    /// An account has this passkey already.
    AlreadyAdded,
    TooMany,
}

/// The result of [`Store::remove_passkey`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Removed {
    /// Whether the person still has a second factor.
    Done {
        still_on: bool,
    },
    /// The person did not show a second factor.
    Unproven,
    NotFound,
}

/// The maximum numbers of pending challenges; the oldest ones beyond them are deleted.
pub struct ChallengeLimits {
    pub per_requester: i64,
    pub in_all: i64,
}

impl Store {
    /// The passkeys of a person, oldest first.
    pub async fn passkeys_of(&self, user: &str) -> Result<Vec<StoredPasskey>, StoreError> {
        let rows = sqlx::query("SELECT * FROM passkeys WHERE user_id = $1 ORDER BY created_at, id")
            .bind(user)
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(passkey).collect()
    }

    /// Whether a person has a passkey.
    pub async fn has_passkey(&self, user: &str) -> Result<bool, StoreError> {
        let found = sqlx::query("SELECT id FROM passkeys WHERE user_id = $1 LIMIT 1")
            .bind(user)
            .fetch_optional(&self.pool)
            .await?;
        Ok(found.is_some())
    }

    /// The passkey with the authenticator's `credential_id`.
    pub async fn passkey(&self, credential_id: &str) -> Result<Option<StoredPasskey>, StoreError> {
        let row = sqlx::query("SELECT * FROM passkeys WHERE credential_id = $1")
            .bind(credential_id)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(passkey).transpose()
    }

    /// Adds a passkey of the person `by`, who may have at most `most`. While a second factor is on, only if the person showed one. A proposed
    /// authenticator is forgotten: it was proposed without this passkey.
    pub async fn add_passkey(
        &self,
        by: Authority<'_>,
        new: &NewPasskey<'_>,
        most: i64,
    ) -> Result<Added, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let factors = count_factors(&mut tx, &by.id).await?;
        if factors.passkeys >= most {
            return Ok(Added::TooMany);
        }
        if factors.is_on() && !new.is_proven {
            return Ok(Added::Unproven);
        }
        let id = new_id();
        let added = sqlx::query(
            "INSERT INTO passkeys (id, user_id, credential_id, name, credential, sign_count, created_at)
             VALUES ($1, $2, $3, $4, $5, 0, $6) ON CONFLICT (credential_id) DO NOTHING",
        )
        .bind(&id)
        .bind(&by.id)
        .bind(new.credential_id)
        .bind(new.name)
        .bind(new.credential)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        if added.rows_affected() != 1 {
            return Ok(Added::AlreadyAdded);
        }
        sqlx::query("DELETE FROM second_factors WHERE user_id = $1 AND confirmed_at IS NULL")
            .bind(&by.id)
            .execute(&mut *tx)
            .await?;
        let codes: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM recovery_codes WHERE user_id = $1")
            .bind(&by.id)
            .fetch_one(&mut *tx)
            .await?;
        if codes == 0 {
            put_recovery_codes(&mut tx, &by.id, new.recovery).await?;
        }
        audit::commit(tx, &by, &AuditEvent::new(Action::PasskeyAdd).on(id), now).await?;
        Ok(Added::Done { with_codes: codes == 0 })
    }

    /// Records the use of a passkey: `credential` replaces the stored one. `false` if its signature counter did not increase: then the authenticator
    /// may have been copied, or a later use was recorded first.
    pub async fn note_passkey_use(
        &self,
        id: &str,
        credential: &str,
        sign_count: i64,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let noted = sqlx::query(
            "UPDATE passkeys SET credential = $2, sign_count = $3, last_used_at = $4
             WHERE id = $1 AND (sign_count < $3 OR (sign_count = 0 AND $3 = 0))",
        )
        .bind(id)
        .bind(credential)
        .bind(sign_count)
        .bind(now.as_millis())
        .execute(self.write_proven(Proof::new()))
        .await?;
        Ok(noted.rows_affected() == 1)
    }

    /// Renames a passkey of the person `by`; `false` if they have no such passkey.
    pub async fn rename_passkey(&self, by: Authority<'_>, id: &str, name: &str) -> Result<bool, StoreError> {
        let change =
            sqlx::query_scalar("UPDATE passkeys SET name = $3 WHERE id = $1 AND user_id = $2 RETURNING id")
                .bind(id)
                .bind(by.actor().id)
                .bind(name);
        self.audited(by, change, |id| AuditEvent::new(Action::PasskeyRename).on(id)).await
    }

    /// Removes a passkey of the person `by`, if they showed a second factor (`is_proven`). The only second factor is removed together with the
    /// recovery codes and the pending sign-ins.
    pub async fn remove_passkey(
        &self,
        by: Authority<'_>,
        id: &str,
        is_proven: bool,
    ) -> Result<Removed, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let removed = sqlx::query("DELETE FROM passkeys WHERE id = $1 AND user_id = $2")
            .bind(id)
            .bind(&by.id)
            .execute(&mut *tx)
            .await?;
        if removed.rows_affected() != 1 {
            return Ok(Removed::NotFound);
        }
        if !is_proven {
            return Ok(Removed::Unproven);
        }
        let still_on = count_factors(&mut tx, &by.id).await?.is_on();
        if !still_on {
            for table in [
                "DELETE FROM recovery_codes WHERE user_id = $1",
                "DELETE FROM sign_in_steps WHERE user_id = $1",
            ] {
                sqlx::query(table).bind(&by.id).execute(&mut *tx).await?;
            }
        }
        audit::commit(tx, &by, &AuditEvent::new(Action::PasskeyRemove).on(id), now).await?;
        Ok(Removed::Done { still_on })
    }

    /// Stores a challenge. Deletes expired ones, and those beyond the limits.
    pub async fn put_passkey_challenge(
        &self,
        token_hash: &str,
        requester: &str,
        state: &str,
        limits: ChallengeLimits,
        expires_at: Timestamp,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        sqlx::query("DELETE FROM passkey_challenges WHERE expires_at <= $1")
            .bind(now.as_millis())
            .execute(&mut *tx)
            .await?;
        sqlx::query(
            "INSERT INTO passkey_challenges (token_hash, requester, state, expires_at) VALUES ($1, $2, $3, $4)",
        )
        .bind(token_hash)
        .bind(requester)
        .bind(state)
        .bind(expires_at.as_millis())
        .execute(&mut *tx)
        .await?;
        // PostgreSQL accepts no OFFSET without an order, and SQLite none without a LIMIT.
        sqlx::query(
            "DELETE FROM passkey_challenges WHERE token_hash IN (
                 SELECT token_hash FROM passkey_challenges WHERE requester = $1
                 ORDER BY expires_at DESC LIMIT 1000000 OFFSET $2)",
        )
        .bind(requester)
        .bind(limits.per_requester)
        .execute(&mut *tx)
        .await?;
        sqlx::query(
            "DELETE FROM passkey_challenges WHERE token_hash IN (
                 SELECT token_hash FROM passkey_challenges ORDER BY expires_at DESC LIMIT 1000000 OFFSET $1)",
        )
        .bind(limits.in_all)
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    /// Removes a challenge and returns its state; `None` if it was used already, or has expired.
    pub async fn take_passkey_challenge(
        &self,
        token_hash: &str,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        let state = sqlx::query_scalar(
            "DELETE FROM passkey_challenges WHERE token_hash = $1 AND expires_at > $2 RETURNING state",
        )
        .bind(token_hash)
        .bind(now.as_millis())
        .fetch_optional(self.write_proven(Proof::new()))
        .await?;
        Ok(state)
    }
}

fn passkey(row: &AnyRow) -> Result<StoredPasskey, StoreError> {
    Ok(StoredPasskey {
        id: row.try_get("id")?,
        user_id: row.try_get("user_id")?,
        name: row.try_get("name")?,
        credential: row.try_get("credential")?,
        created_at: Timestamp::from_millis(row.try_get("created_at")?),
        last_used_at: row.try_get::<Option<i64>, _>("last_used_at")?.map(Timestamp::from_millis),
    })
}
