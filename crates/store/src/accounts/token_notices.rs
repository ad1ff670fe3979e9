//! Notices to the owners of API tokens before these expire. They become due by the clock; the database stores how many the owner
//! has seen.

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::{Authority, Store, StoreError, instant};
use model::api_token::{ExpiringToken, NOTICE_DAYS};
use model::time::Timestamp;

const DAY_MILLIS: i64 = 86_400_000;

/// How long an expired token is listed, in milliseconds.
const EXPIRED_LISTED_MILLIS: i64 = 14 * DAY_MILLIS;

/// An expression for the number of notices that a person has not seen. The arguments are placeholders.
pub(crate) fn unseen_token_notices(user: &str, now: &str) -> String {
    format!(
        "(SELECT COUNT(*) FROM api_tokens t WHERE t.user_id = {user} AND t.revoked_at IS NULL AND t.notices_seen < {})",
        due("t.expires_at", now)
    )
}

/// An expression for the number of due notices, as `model::api_token::notices_due`.
fn due(expires_at: &str, now: &str) -> String {
    let [first, second] =
        NOTICE_DAYS.map(|days| format!("{expires_at} <= {now} + {}", i64::from(days) * DAY_MILLIS));
    format!("(CASE WHEN {second} THEN 2 WHEN {first} THEN 1 ELSE 0 END)")
}

impl Store {
    /// The tokens of a person that expire soon or expired lately, the next one first.
    pub async fn expiring_api_tokens(
        &self,
        user: &str,
        now: Timestamp,
    ) -> Result<Vec<ExpiringToken>, StoreError> {
        let due = due("expires_at", "$2");
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT name, last_four, expires_at, CAST(CASE WHEN notices_seen < {due} THEN 1 ELSE 0 END AS BIGINT) AS is_new
             FROM api_tokens WHERE user_id = $1 AND revoked_at IS NULL AND {due} > 0 AND (expires_at > $3 OR notices_seen < {due})
             ORDER BY expires_at, id",
        )))
        .bind(user)
        .bind(now.as_millis())
        .bind(now.as_millis() - EXPIRED_LISTED_MILLIS)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(expiring).collect()
    }

    /// Marks the due notices of a person as seen.
    pub async fn mark_token_notices_seen(&self, by: Authority<'_>, user: &str) -> Result<(), StoreError> {
        let (due, now) = (due("expires_at", "$2"), by.now());
        sqlx::query(AssertSqlSafe(format!(
            "UPDATE api_tokens SET notices_seen = {due} WHERE user_id = $1 AND notices_seen < {due}"
        )))
        .bind(user)
        .bind(now.as_millis())
        .execute(self.write(by).statement())
        .await?;
        Ok(())
    }
}

fn expiring(row: &AnyRow) -> Result<ExpiringToken, StoreError> {
    Ok(ExpiringToken {
        name: row.try_get("name")?,
        last_four: row.try_get("last_four")?,
        expires_at: instant(row, "expires_at")?,
        is_new: row.try_get::<i64, _>("is_new")? > 0,
    })
}
