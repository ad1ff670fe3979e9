//! Sessions, by the hash of their id. The session layers write them on every request without the check of authorization. A person's actions on their
//! sessions run in a transaction that checks it.

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use super::Proof;
use super::admission::{self, Account};
use crate::{Authority, Change, Store, StoreError, audit, new_id};
use model::audit::{Action, AuditEvent};
use model::limits::SESSIONS;
use model::time::Timestamp;

/// A session of a person.
#[derive(Debug, Clone)]
pub struct SignedIn {
    pub id_hash: String,
    /// A short description of the browser and system.
    pub device: String,
    pub client_ip: String,
    pub created_at: Timestamp,
    pub last_used_at: Timestamp,
}

impl Store {
    /// Adds a session without a person; `false` if its id exists.
    pub async fn add_session(
        &self,
        id_hash: &str,
        data: &str,
        now: Timestamp,
        expires_at: Timestamp,
    ) -> Result<bool, StoreError> {
        let written = sqlx::query(
            "INSERT INTO sessions (id_hash, data, created_at, last_used_at, expires_at) VALUES ($1, $2, $3, $3, $4)
             ON CONFLICT (id_hash) DO NOTHING",
        )
        .bind(id_hash)
        .bind(data)
        .bind(now.as_millis())
        .bind(expires_at.as_millis())
        .execute(self.write_proven(Proof::new()))
        .await?;
        Ok(written.rows_affected() == 1)
    }

    /// Changes the data of a session. An ended session stays ended.
    pub async fn change_session(&self, id_hash: &str, data: &str) -> Result<(), StoreError> {
        sqlx::query("UPDATE sessions SET data = $2 WHERE id_hash = $1")
            .bind(id_hash)
            .bind(data)
            .execute(self.write_proven(Proof::new()))
            .await?;
        Ok(())
    }

    /// The data, the expiry and the person of a session. `None` if it expired or was last used before `idle_since`.
    pub async fn session(
        &self,
        id_hash: &str,
        now: Timestamp,
        idle_since: Timestamp,
    ) -> Result<Option<(String, Timestamp, Option<Account>)>, StoreError> {
        let sql = format!(
            "SELECT s.data, s.expires_at, {} FROM sessions s LEFT JOIN users u ON u.id = s.user_id {}
             WHERE s.id_hash = $1 AND s.expires_at > $2 AND s.last_used_at > $3",
            admission::COLUMNS,
            admission::JOIN
        );
        let row = sqlx::query(AssertSqlSafe(sql))
            .bind(id_hash)
            .bind(now.as_millis())
            .bind(idle_since.as_millis())
            .fetch_optional(&self.pool)
            .await?;
        let Some(row) = row else { return Ok(None) };
        let has_owner = row.try_get::<Option<String>, _>("name")?.is_some();
        let owner = has_owner.then(|| admission::account(&row)).transpose()?;
        Ok(Some((row.try_get("data")?, Timestamp::from_millis(row.try_get("expires_at")?), owner)))
    }

    /// Sets the person of a session, with the device and client IP of the sign-in. Deletes the person's sessions beyond [`SESSIONS`].
    pub async fn own_session(
        &self,
        id_hash: &str,
        user: &str,
        device: &str,
        client_ip: &str,
    ) -> Result<(), StoreError> {
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        sqlx::query("UPDATE sessions SET user_id = $2, device = $3, client_ip = $4 WHERE id_hash = $1")
            .bind(id_hash)
            .bind(user)
            .bind(device)
            .bind(client_ip)
            .execute(&mut *tx)
            .await?;
        sqlx::query(
            "DELETE FROM sessions WHERE user_id = $1 AND id_hash <> $2 AND id_hash NOT IN (
                 SELECT id_hash FROM sessions WHERE user_id = $1 AND id_hash <> $2
                 ORDER BY last_used_at DESC, id_hash LIMIT $3)",
        )
        .bind(user)
        .bind(id_hash)
        .bind(SESSIONS - 1)
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }

    /// Records that a person used a session from `client_ip`.
    pub async fn note_use(
        &self,
        id_hash: &str,
        user: &str,
        client_ip: &str,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let mut tx = self.write_proven(Proof::new()).begin().await?;
        sqlx::query("UPDATE sessions SET last_used_at = $2, client_ip = $3 WHERE id_hash = $1")
            .bind(id_hash)
            .bind(now.as_millis())
            .bind(client_ip)
            .execute(&mut *tx)
            .await?;
        sqlx::query("UPDATE users SET last_seen_at = $2 WHERE id = $1")
            .bind(user)
            .bind(now.as_millis())
            .execute(&mut *tx)
            .await?;
        Ok(tx.commit().await?)
    }

    /// Records a changed client IP of an unused session.
    pub async fn note_client_ip(&self, id_hash: &str, client_ip: &str) -> Result<(), StoreError> {
        sqlx::query("UPDATE sessions SET client_ip = $2 WHERE id_hash = $1 AND client_ip <> $2")
            .bind(id_hash)
            .bind(client_ip)
            .execute(self.write_proven(Proof::new()))
            .await?;
        Ok(())
    }

    /// A person's sessions, most recently used first.
    pub async fn sessions_of(
        &self,
        user: &str,
        now: Timestamp,
        idle_since: Timestamp,
    ) -> Result<Vec<SignedIn>, StoreError> {
        let rows = sqlx::query(
            "SELECT id_hash, device, client_ip, created_at, last_used_at FROM sessions WHERE user_id = $1 AND expires_at > $2 AND last_used_at > $3
             ORDER BY last_used_at DESC, id_hash",
        )
        .bind(user)
        .bind(now.as_millis())
        .bind(idle_since.as_millis())
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(signed_in).collect()
    }

    /// Ends one of the actor's own sessions; `false` if they have none with that id.
    pub async fn end_session(&self, by: Authority<'_>, id_hash: &str) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let ended = sqlx::query("DELETE FROM sessions WHERE user_id = $1 AND id_hash = $2")
            .bind(&by.id)
            .bind(id_hash)
            .execute(&mut *tx)
            .await?;
        if ended.rows_affected() == 0 {
            return Ok(false);
        }
        let event = AuditEvent::new(Action::SessionsEnd).on(&by.name).with_detail("one session");
        audit::record_often(&mut tx, &by, &event, now).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Ends all sessions of a person; `false` if there is no such person.
    pub async fn end_all_sessions(&self, by: Authority<'_>, user: &str) -> Result<bool, StoreError> {
        let stamp = sqlx::query_scalar("UPDATE users SET session_stamp = $2 WHERE id = $1 RETURNING name")
            .bind(user)
            .bind(new_id());
        let event = |name| AuditEvent::new(Action::SessionsEnd).on(name).with_detail("all sessions");
        self.audited(by, stamp, event).await
    }

    /// Ends all sessions of the actor but one, and returns how many.
    pub async fn end_other_sessions(&self, by: Authority<'_>, id_hash: &str) -> Result<u64, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let ended = sqlx::query("DELETE FROM sessions WHERE user_id = $1 AND id_hash <> $2")
            .bind(&by.id)
            .bind(id_hash)
            .execute(&mut *tx)
            .await?
            .rows_affected();
        if ended > 0 {
            let event = AuditEvent::new(Action::SessionsEnd)
                .on(&by.name)
                .with_detail(format!("{ended} other sessions"));
            audit::record_often(&mut tx, &by, &event, now).await?;
        }
        tx.commit().await?;
        Ok(ended)
    }

    pub async fn delete_session(&self, id_hash: &str) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sessions WHERE id_hash = $1")
            .bind(id_hash)
            .execute(self.write_proven(Proof::new()))
            .await?;
        Ok(())
    }

    /// Deletes sessions that have expired or were not used after `idle_since`.
    pub async fn delete_expired_sessions(
        &self,
        now: Timestamp,
        idle_since: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query("DELETE FROM sessions WHERE expires_at <= $1 OR last_used_at <= $2")
            .bind(now.as_millis())
            .bind(idle_since.as_millis())
            .execute(self.write_proven(Proof::new()))
            .await?;
        Ok(())
    }
}

fn signed_in(row: &AnyRow) -> Result<SignedIn, StoreError> {
    Ok(SignedIn {
        id_hash: row.try_get("id_hash")?,
        device: row.try_get("device")?,
        client_ip: row.try_get("client_ip")?,
        created_at: Timestamp::from_millis(row.try_get("created_at")?),
        last_used_at: Timestamp::from_millis(row.try_get("last_used_at")?),
    })
}
