//! What administrators are told about the platform. Each notice counts as unread until an administrator opens the notifications.

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::accounts::token_notices::unseen_token_notices;
use crate::platform::circuits::lacks_credits;
use crate::{Authority, Store, StoreError, instant, word};
use model::id::ProjectId;
use model::time::Timestamp;
use model::upstream::{PlatformNotice, PlatformNoticeKind};

/// How long a notice is shown about a limit that may be shared, in milliseconds. The reason may also have been another user of the key.
const SHARED_LIMIT_MILLIS: i64 = 7 * 86_400_000;

const HOUR_MILLIS: i64 = 3_600_000;

/// A condition for the notices that are shown: their reason has not ended. `notices`: the name of the table; `now`: a placeholder for the time.
fn is_shown(notices: &str, now: &str) -> String {
    let lacks_credits = lacks_credits(&format!("{notices}.project"), &format!("{now} - {HOUR_MILLIS}"));
    format!(
        "(({notices}.kind = 'no_credits' AND {lacks_credits} > 0)
          OR ({notices}.kind = 'shared_limit' AND {notices}.since > {now} - {SHARED_LIMIT_MILLIS}))"
    )
}

/// An expression for the number of notices that a person has not seen: about their API tokens, and, for administrators, about the platform. The
/// arguments are placeholders.
pub(crate) fn unseen_notices(user: &str, now: &str) -> String {
    format!(
        "({} + (SELECT COUNT(*) FROM platform_notices n JOIN users u ON u.id = {user}
         WHERE u.role = 'admin' AND n.since > u.platform_notices_seen_at AND {}))",
        unseen_token_notices(user, now),
        is_shown("n", now)
    )
}

impl Store {
    /// All notices that are shown, the last one first. `user`: for whom they may be new.
    pub async fn platform_notices(
        &self,
        user: &str,
        now: Timestamp,
    ) -> Result<Vec<PlatformNotice>, StoreError> {
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT n.project, n.kind, n.since,
                 CAST(CASE WHEN n.since > u.platform_notices_seen_at THEN 1 ELSE 0 END AS BIGINT) AS is_new
             FROM platform_notices n JOIN users u ON u.id = $2 WHERE {} ORDER BY n.since DESC, n.project, n.kind",
            is_shown("n", "$1")
        )))
        .bind(now.as_millis())
        .bind(user)
        .fetch_all(&self.pool)
        .await?;
        rows.iter().map(notice).collect()
    }

    /// Marks the notices of an administrator as seen.
    pub async fn mark_platform_notices_seen(&self, by: Authority<'_>, user: &str) -> Result<(), StoreError> {
        sqlx::query("UPDATE users SET platform_notices_seen_at = $2 WHERE id = $1")
            .bind(user)
            .bind(by.now().as_millis())
            .execute(self.write(by).statement())
            .await?;
        Ok(())
    }

    /// Adds a notice, or renews one that is no longer shown; `false` if it is shown already. Call it before the circuit of its reason opens.
    pub async fn add_platform_notice(
        &self,
        project: &ProjectId,
        kind: PlatformNoticeKind,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let added = sqlx::query(AssertSqlSafe(format!(
            "INSERT INTO platform_notices (project, kind, since) VALUES ($1, $2, $3)
             ON CONFLICT (project, kind) DO UPDATE SET since = excluded.since WHERE NOT {}",
            is_shown("platform_notices", "$3")
        )))
        .bind(project.as_str())
        .bind(kind.as_str())
        .bind(now.as_millis())
        .execute(self.apart())
        .await?;
        Ok(added.rows_affected() == 1)
    }

    /// Removes the notices of a kind in all projects.
    pub async fn remove_platform_notices(&self, kind: PlatformNoticeKind) -> Result<(), StoreError> {
        let delete = sqlx::query("DELETE FROM platform_notices WHERE kind = $1").bind(kind.as_str());
        delete.execute(self.apart()).await?;
        Ok(())
    }
}

fn notice(row: &AnyRow) -> Result<PlatformNotice, StoreError> {
    Ok(PlatformNotice {
        project: word(row, "project")?,
        kind: word(row, "kind")?,
        since: instant(row, "since")?,
        is_new: row.try_get::<i64, _>("is_new")? > 0,
    })
}
