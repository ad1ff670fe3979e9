//! Rate limits by cell, for all processes on the database, and the client IPs of recent sign-ins. The store gets only hashes of cells and accounts.

use std::time::Duration;

use super::Proof;
use crate::{Store, StoreError};
use model::time::Timestamp;

/// The number of attempts without a wait, and the wait for each later one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Quota {
    pub burst: u32,
    pub every: Duration,
}

/// What is left of a quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rest {
    /// The number of further attempts without a wait.
    pub left: u32,
    /// How long until the whole burst is available again.
    pub full_in: Duration,
}

/// The pairs of accounts and client IPs to keep: the newest `most`, and none from before `since`.
#[derive(Debug, Clone, Copy)]
pub struct KnownAddressLimits {
    pub since: Timestamp,
    pub most: u32,
}

/// Whether an attempt was within its quota.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[must_use]
pub enum Counted {
    /// It was counted.
    Within(Rest),
    /// It was not counted: the quota is used up for so long.
    Exceeded(Duration),
}

impl Counted {
    /// The rest of the quota, or an error with the time to wait.
    pub fn or_refuse<E>(self, refusal: impl FnOnce(Duration) -> E) -> Result<Rest, E> {
        match self {
            Self::Within(rest) => Ok(rest),
            Self::Exceeded(wait) => Err(refusal(wait)),
        }
    }
}

impl Quota {
    fn every_millis(self) -> i64 {
        i64::try_from(self.every.as_millis()).unwrap_or(i64::MAX / 1_000)
    }
}

impl Store {
    /// Counts an attempt in `cell`, if its quota is not used up (the generic cell rate algorithm). A cell with a later time than possible was written
    /// before a clock rollback, and counts as free.
    pub async fn count_attempt(
        &self,
        cell: &str,
        quota: Quota,
        now: Timestamp,
    ) -> Result<Counted, StoreError> {
        let (now, every) = (now.as_millis(), quota.every_millis());
        let full = now + i64::from(quota.burst) * every;
        let counted: Option<i64> = sqlx::query_scalar(
            "INSERT INTO rate_limits (cell, used_until) VALUES ($1, $2 + $3)
             ON CONFLICT (cell) DO UPDATE SET used_until =
                 CASE WHEN rate_limits.used_until BETWEEN $2 AND $4 THEN rate_limits.used_until ELSE $2 END + $3
             WHERE rate_limits.used_until + $3 <= $4 OR rate_limits.used_until > $4
             RETURNING used_until",
        )
        .bind(cell)
        .bind(now)
        .bind(every)
        .bind(full)
        .fetch_optional(self.apart())
        .await?;
        if let Some(used_until) = counted {
            let left = (full - used_until) / every.max(1);
            let full_in = Duration::from_millis((used_until - now).max(0).unsigned_abs());
            return Ok(Counted::Within(Rest { left: u32::try_from(left).unwrap_or_default(), full_in }));
        }
        let used_until: Option<i64> =
            sqlx::query_scalar("SELECT used_until FROM rate_limits WHERE cell = $1")
                .bind(cell)
                .fetch_optional(&self.pool)
                .await?;
        let wait = used_until.map_or(0, |until| until + every - full);
        Ok(Counted::Exceeded(Duration::from_millis(wait.max(1).unsigned_abs())))
    }

    /// Undoes an attempt.
    pub async fn refund_attempt(&self, cell: &str, quota: Quota) -> Result<(), StoreError> {
        sqlx::query("UPDATE rate_limits SET used_until = used_until - $2 WHERE cell = $1")
            .bind(cell)
            .bind(quota.every_millis())
            .execute(self.apart())
            .await?;
        Ok(())
    }

    pub async fn is_known_client(&self, hash: &str, since: Timestamp) -> Result<bool, StoreError> {
        let known = sqlx::query("SELECT 1 FROM known_clients WHERE hash = $1 AND seen_at > $2")
            .bind(hash)
            .bind(since.as_millis())
            .fetch_optional(&self.pool)
            .await?;
        Ok(known.is_some())
    }

    /// Stores a hash of an account and a client IP. Deletes those beyond the limits.
    pub async fn remember_client(
        &self,
        hash: &str,
        limits: KnownAddressLimits,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO known_clients (hash, seen_at) VALUES ($1, $2)
             ON CONFLICT (hash) DO UPDATE SET seen_at = excluded.seen_at",
        )
        .bind(hash)
        .bind(now.as_millis())
        .execute(self.apart())
        .await?;
        sqlx::query(
            "DELETE FROM known_clients WHERE seen_at <= $1 OR seen_at <
                 (SELECT seen_at FROM known_clients ORDER BY seen_at DESC LIMIT 1 OFFSET $2)",
        )
        .bind(limits.since.as_millis())
        .bind(i64::from(limits.most))
        .execute(self.apart())
        .await?;
        Ok(())
    }

    /// The secret with this name; the first process to request it stores `new`.
    pub async fn shared_secret(&self, name: &str, new: &str) -> Result<String, StoreError> {
        sqlx::query(
            "INSERT INTO shared_secrets (name, secret) VALUES ($1, $2) ON CONFLICT (name) DO NOTHING",
        )
        .bind(name)
        .bind(new)
        .execute(self.write_proven(Proof::new()))
        .await?;
        let secret = sqlx::query_scalar("SELECT secret FROM shared_secrets WHERE name = $1");
        Ok(secret.bind(name).fetch_one(&self.pool).await?)
    }
}
