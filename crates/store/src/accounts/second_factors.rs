//! Second factors, their recovery codes, and sign-ins that wait for a code.

use sqlx::Row;

use super::Proof;
use crate::{Authority, Change, Store, StoreError, audit, new_id};
use model::audit::{Action, AuditEvent};
use model::limits::SIGN_IN_STEPS;
use model::time::Timestamp;

/// A second factor. Its secret must not be shown or logged once it is confirmed.
#[derive(Clone)]
pub struct SecondFactor {
    /// Base32, as authenticator apps expect it.
    pub secret: String,
    pub created_at: Timestamp,
    pub confirmed: bool,
    /// The stored hash of the session that proposed it; `None` without a session, and once it is confirmed.
    pub proposed_by: Option<String>,
}

/// A sign-in with a correct password.
pub struct SignInStep {
    pub user_id: String,
    /// The person's session stamp at that time.
    pub session_stamp: String,
    /// The path to redirect to.
    pub next: String,
}

/// The result of [`Store::propose_second_factor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Proposed {
    Done,
    /// The person has an authenticator already.
    AlreadyOn,
    /// The person has a passkey, and did not show a second factor.
    Unproven,
}

/// The result of [`Store::remove_second_factor`].
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RemovedAuthenticator {
    Done {
        /// Whether the person still has a second factor.
        still_on: bool,
    },
    /// The person did not show a second factor.
    Unproven,
    NotFound,
}

impl Store {
    /// The second factor of a person, confirmed or not.
    pub async fn second_factor(&self, user: &str) -> Result<Option<SecondFactor>, StoreError> {
        let row = sqlx::query("SELECT * FROM second_factors WHERE user_id = $1")
            .bind(user)
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| {
            Ok(SecondFactor {
                secret: row.try_get("secret")?,
                created_at: Timestamp::from_millis(row.try_get("created_at")?),
                confirmed: row.try_get::<Option<i64>, _>("confirmed_at")?.is_some(),
                proposed_by: row.try_get("proposed_by")?,
            })
        })
        .transpose()
    }

    /// The ids of people with a second factor: a confirmed authenticator, or a passkey.
    pub async fn with_second_factor(&self) -> Result<Vec<String>, StoreError> {
        let rows = sqlx::query(
            "SELECT user_id FROM second_factors WHERE confirmed_at IS NOT NULL UNION SELECT user_id FROM passkeys",
        )
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(|row| Ok(row.try_get("user_id")?)).collect()
    }

    /// Stores an unconfirmed secret of the session with this stored hash. While a second factor is on, only if the person showed one
    /// (`is_proven`).
    pub async fn propose_second_factor(
        &self,
        by: Authority<'_>,
        user: &str,
        secret: &str,
        session: Option<&str>,
        is_proven: bool,
    ) -> Result<Proposed, StoreError> {
        let Change { mut tx, now, .. } = self.write(by).begin().await?;
        let factors = count_factors(&mut tx, user).await?;
        if factors.has_authenticator {
            return Ok(Proposed::AlreadyOn);
        }
        if factors.is_on() && !is_proven {
            return Ok(Proposed::Unproven);
        }
        sqlx::query(
            "INSERT INTO second_factors (user_id, secret, created_at, last_step, proposed_by) VALUES ($1, $2, $3, 0, $4)
             ON CONFLICT (user_id) DO UPDATE SET secret = excluded.secret, created_at = excluded.created_at, last_step = 0,
                 proposed_by = excluded.proposed_by
             WHERE second_factors.confirmed_at IS NULL",
        )
        .bind(user)
        .bind(secret)
        .bind(now.as_millis())
        .bind(session)
        .execute(&mut *tx)
        .await?;
        tx.commit().await?;
        Ok(Proposed::Done)
    }

    /// Confirms a secret and stores its recovery codes; `false` if another one was proposed or confirmed meanwhile.
    pub async fn confirm_second_factor(
        &self,
        by: Authority<'_>,
        secret: &str,
        step: i64,
        recovery: &[String],
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let confirmed = sqlx::query(
            "UPDATE second_factors SET confirmed_at = $3, last_step = $4, proposed_by = NULL
             WHERE user_id = $1 AND secret = $2 AND confirmed_at IS NULL",
        )
        .bind(&by.id)
        .bind(secret)
        .bind(now.as_millis())
        .bind(step)
        .execute(&mut *tx)
        .await?;
        if confirmed.rows_affected() != 1 {
            return Ok(false);
        }
        put_recovery_codes(&mut tx, &by.id, recovery).await?;
        audit::commit(tx, &by, &AuditEvent::new(Action::SecondFactorOn), now).await?;
        Ok(true)
    }

    /// Invalidates the code of a time step of `secret` and all earlier ones; `false` if it was used before, or the secret was replaced.
    pub async fn spend_step(&self, user: &str, secret: &str, step: i64) -> Result<bool, StoreError> {
        let spent = sqlx::query(
            "UPDATE second_factors SET last_step = $3
             WHERE user_id = $1 AND secret = $2 AND confirmed_at IS NOT NULL AND last_step < $3",
        )
        .bind(user)
        .bind(secret)
        .bind(step)
        .execute(self.write_proven(Proof::new()))
        .await?;
        Ok(spent.rows_affected() == 1)
    }

    /// Counts a code as wrong before it is checked; `false` if `most` in a row were wrong already.
    pub async fn count_code(&self, user: &str, most: i64) -> Result<bool, StoreError> {
        let counted = sqlx::query(
            "UPDATE second_factors SET failures_in_row = failures_in_row + 1, unreported_failures = unreported_failures + 1
             WHERE user_id = $1 AND failures_in_row < $2",
        )
        .bind(user)
        .bind(most)
        .execute(self.write_proven(Proof::new()))
        .await?;
        if counted.rows_affected() == 1 {
            return Ok(true);
        }
        // People who have only passkeys have only recovery codes, which cannot be guessed.
        let in_row: Option<i64> =
            sqlx::query_scalar("SELECT failures_in_row FROM second_factors WHERE user_id = $1")
                .bind(user)
                .fetch_optional(&self.pool)
                .await?;
        Ok(in_row.is_none())
    }

    /// Resets the count of wrong codes in a row after a correct one.
    pub async fn note_right_code(&self, user: &str) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE second_factors SET failures_in_row = 0, unreported_failures = unreported_failures - 1
             WHERE user_id = $1 AND unreported_failures > 0",
        )
        .bind(user)
        .execute(self.write_proven(Proof::new()))
        .await?;
        Ok(())
    }

    /// Returns and resets the number of wrong codes since their owner was last notified.
    pub async fn reset_wrong_codes(&self, user: &str) -> Result<i64, StoreError> {
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        let wrong: Option<i64> =
            sqlx::query_scalar("SELECT unreported_failures FROM second_factors WHERE user_id = $1")
                .bind(user)
                .fetch_optional(&mut *tx)
                .await?;
        if wrong.is_some_and(|wrong| wrong > 0) {
            sqlx::query("UPDATE second_factors SET unreported_failures = 0 WHERE user_id = $1")
                .bind(user)
                .execute(&mut *tx)
                .await?;
        }
        tx.commit().await?;
        Ok(wrong.unwrap_or_default())
    }

    /// Deletes a recovery code; `false` if there is none with this hash.
    pub async fn spend_recovery_code(&self, user: &str, code_hash: &str) -> Result<bool, StoreError> {
        let spent = sqlx::query("DELETE FROM recovery_codes WHERE user_id = $1 AND code_hash = $2")
            .bind(user)
            .bind(code_hash)
            .execute(self.write_proven(Proof::new()))
            .await?;
        Ok(spent.rows_affected() == 1)
    }

    pub async fn recovery_codes_left(&self, user: &str) -> Result<i64, StoreError> {
        let row = sqlx::query("SELECT COUNT(*) AS n FROM recovery_codes WHERE user_id = $1")
            .bind(user)
            .fetch_one(&self.pool)
            .await?;
        Ok(row.try_get("n")?)
    }

    /// Replaces all recovery codes; `false` if no second factor is on any more.
    pub async fn renew_recovery_codes(
        &self,
        by: Authority<'_>,
        hashes: &[String],
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        if !count_factors(&mut tx, &by.id).await?.is_on() {
            return Ok(false);
        }
        put_recovery_codes(&mut tx, &by.id, hashes).await?;
        audit::commit(tx, &by, &AuditEvent::new(Action::RecoveryCodes), now).await?;
        Ok(true)
    }

    /// Deletes the secret of a person's authenticator, if it is confirmed and the person showed a second factor (`is_proven`). Without a passkey, also
    /// deletes the recovery codes and the pending sign-ins.
    pub async fn remove_second_factor(
        &self,
        by: Authority<'_>,
        user: &str,
        is_proven: bool,
    ) -> Result<RemovedAuthenticator, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let factors = count_factors(&mut tx, user).await?;
        if !factors.has_authenticator {
            return Ok(RemovedAuthenticator::NotFound);
        }
        if !is_proven {
            return Ok(RemovedAuthenticator::Unproven);
        }
        for table in [
            "DELETE FROM recovery_codes WHERE user_id = $1 AND NOT EXISTS (SELECT 1 FROM passkeys WHERE user_id = $1)",
            "DELETE FROM sign_in_steps WHERE user_id = $1 AND NOT EXISTS (SELECT 1 FROM passkeys WHERE user_id = $1)",
        ] {
            sqlx::query(table).bind(user).execute(&mut *tx).await?;
        }
        let name: String = sqlx::query_scalar(
            "DELETE FROM second_factors WHERE user_id = $1 RETURNING (SELECT name FROM users WHERE id = user_id)",
        )
        .bind(user)
        .fetch_one(&mut *tx)
        .await?;
        audit::commit(tx, &by, &AuditEvent::new(Action::SecondFactorOff).on(name), now).await?;
        Ok(RemovedAuthenticator::Done { still_on: factors.passkeys > 0 })
    }

    /// Deletes all second factors of a person: the authenticator's secret, confirmed or not, the passkeys, the recovery codes, and the pending
    /// sign-ins. Ends their sessions, too. `false` if there was no authenticator and no passkey.
    pub async fn reset_second_factors(&self, by: Authority<'_>, user: &str) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let mut removed = 0;
        for (table, counts) in [
            ("DELETE FROM second_factors WHERE user_id = $1", true),
            ("DELETE FROM passkeys WHERE user_id = $1", true),
            ("DELETE FROM passkey_challenges WHERE requester = $1", false),
            ("DELETE FROM recovery_codes WHERE user_id = $1", false),
            ("DELETE FROM sign_in_steps WHERE user_id = $1", false),
        ] {
            let gone = sqlx::query(table).bind(user).execute(&mut *tx).await?.rows_affected();
            removed += if counts { gone } else { 0 };
        }
        if removed == 0 {
            return Ok(false);
        }
        let name: String =
            sqlx::query_scalar("UPDATE users SET session_stamp = $2 WHERE id = $1 RETURNING name")
                .bind(user)
                .bind(new_id())
                .fetch_one(&mut *tx)
                .await?;
        let event = AuditEvent::new(Action::SecondFactorOff).on(name).with_detail("with all passkeys");
        audit::commit(tx, &by, &event, now).await?;
        Ok(true)
    }

    /// Stores a sign-in that waits for its code. Deletes expired ones, and those of the person beyond [`SIGN_IN_STEPS`].
    pub async fn put_sign_in_step(
        &self,
        token_hash: &str,
        step: &SignInStep,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        sqlx::query("DELETE FROM sign_in_steps WHERE expires_at <= $1")
            .bind(now.as_millis())
            .execute(&mut *tx)
            .await?;
        sqlx::query(
            "INSERT INTO sign_in_steps (token_hash, user_id, session_stamp, next, tries, expires_at)
             VALUES ($1, $2, $3, $4, 0, $5)",
        )
        .bind(token_hash)
        .bind(&step.user_id)
        .bind(&step.session_stamp)
        .bind(&step.next)
        .bind(expires_at.as_millis())
        .execute(&mut *tx)
        .await?;
        sqlx::query(
            "DELETE FROM sign_in_steps WHERE user_id = $1 AND token_hash NOT IN (
                 SELECT token_hash FROM sign_in_steps WHERE user_id = $1
                 ORDER BY expires_at DESC, token_hash LIMIT $2)",
        )
        .bind(&step.user_id)
        .bind(SIGN_IN_STEPS)
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    /// The sign-in with this token, if it has not expired and fewer than `most` codes were tried.
    pub async fn sign_in_step(
        &self,
        token_hash: &str,
        most: i64,
        now: Timestamp,
    ) -> Result<Option<SignInStep>, StoreError> {
        let row = sqlx::query(
            "SELECT * FROM sign_in_steps WHERE token_hash = $1 AND tries < $2 AND expires_at > $3",
        )
        .bind(token_hash)
        .bind(most)
        .bind(now.as_millis())
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| {
            Ok(SignInStep {
                user_id: row.try_get("user_id")?,
                session_stamp: row.try_get("session_stamp")?,
                next: row.try_get("next")?,
            })
        })
        .transpose()
    }

    /// Counts an attempt before it is checked; `false` after `most` attempts, or if the sign-in has ended.
    pub async fn count_try(&self, token_hash: &str, most: i64, now: Timestamp) -> Result<bool, StoreError> {
        let counted = sqlx::query(
            "UPDATE sign_in_steps SET tries = tries + 1 WHERE token_hash = $1 AND tries < $2 AND expires_at > $3",
        )
        .bind(token_hash)
        .bind(most)
        .bind(now.as_millis())
        .execute(self.write_proven(Proof::new()))
        .await?;
        Ok(counted.rows_affected() == 1)
    }

    /// Ends a sign-in that waits for its code; `false` if it had ended.
    pub async fn end_sign_in_step(&self, token_hash: &str) -> Result<bool, StoreError> {
        let ended = sqlx::query("DELETE FROM sign_in_steps WHERE token_hash = $1")
            .bind(token_hash)
            .execute(self.write_proven(Proof::new()))
            .await?;
        Ok(ended.rows_affected() == 1)
    }
}

/// The second factors of a person that are on.
pub(super) struct Factors {
    pub(super) has_authenticator: bool,
    pub(super) passkeys: i64,
}

impl Factors {
    pub(super) fn is_on(&self) -> bool {
        self.has_authenticator || self.passkeys > 0
    }
}

/// The second factors of a person, as a transaction sees them.
pub(super) async fn count_factors(
    connection: &mut sqlx::AnyConnection,
    user: &str,
) -> Result<Factors, StoreError> {
    let row = sqlx::query(
        "SELECT (SELECT COUNT(*) FROM passkeys WHERE user_id = $1) AS passkeys,
             (SELECT COUNT(*) FROM second_factors WHERE user_id = $1 AND confirmed_at IS NOT NULL) AS authenticators",
    )
    .bind(user)
    .fetch_one(connection)
    .await?;
    let has_authenticator = row.try_get::<i64, _>("authenticators")? > 0;
    Ok(Factors { has_authenticator, passkeys: row.try_get("passkeys")? })
}

pub(crate) async fn put_recovery_codes(
    connection: &mut sqlx::AnyConnection,
    user: &str,
    hashes: &[String],
) -> Result<(), StoreError> {
    sqlx::query("DELETE FROM recovery_codes WHERE user_id = $1").bind(user).execute(&mut *connection).await?;
    for hash in hashes {
        sqlx::query("INSERT INTO recovery_codes (user_id, code_hash) VALUES ($1, $2)")
            .bind(user)
            .bind(hash)
            .execute(&mut *connection)
            .await?;
    }
    Ok(())
}

/// Resets the count of wrong codes, so that a person can enter codes again.
pub(crate) async fn forget_wrong_codes(
    connection: &mut sqlx::AnyConnection,
    user: &str,
) -> Result<(), StoreError> {
    sqlx::query("UPDATE second_factors SET failures_in_row = 0 WHERE user_id = $1")
        .bind(user)
        .execute(connection)
        .await?;
    Ok(())
}
