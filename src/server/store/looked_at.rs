//! When people last looked at the notifications of a project, about their own jobs or everyone's.

use super::{Store, StoreError};
use crate::model::id::ProjectId;
use crate::model::time::Timestamp;

/// Somebody to whom changes of jobs are news until they look.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    pub user_id: String,
    /// Whether everyone's jobs concern them, or only their own.
    pub everyone: bool,
}

/// So many of the last changes are looked through: a larger number says nothing more to people.
const NEWS_MAX: u32 = 1000;

/// An expression for when this reader last looked; before they ever did, when their account was made. Its arguments are
/// placeholders.
pub(super) fn since(user: &str, project: &str, everyone: &str) -> String {
    format!(
        "(SELECT COALESCE(MAX(k.at), (SELECT u.created_at FROM users u WHERE u.id = {user}), 0) FROM looked_at k
         WHERE k.user_id = {user} AND k.project = {project} AND k.everyone >= {everyone})"
    )
}

/// An expression for how many jobs ended or need attention since this reader last looked. Its arguments are placeholders.
pub(super) fn unread(user: &str, project: &str, everyone: &str) -> String {
    format!(
        "(SELECT COUNT(*) FROM (SELECT l.state, l.author_id FROM listed_jobs l
         WHERE l.project = {project} AND l.archived = 0 AND l.changed_at > {}
         ORDER BY l.changed_at DESC LIMIT {NEWS_MAX}) c
         WHERE c.state NOT IN ({MOVING}) AND (c.author_id = {user} OR {everyone} > 0))",
        since(user, project, everyone)
    )
}

/// The states of a job that goes on by itself.
pub(super) const MOVING: &str = "'queued', 'sending', 'active'";

impl Store {
    /// When this person last looked; `None` if they never did. Whoever looks at everyone's jobs sees their own too.
    pub async fn looked_at(
        &self,
        user: &str,
        project: &ProjectId,
        everyone: bool,
    ) -> Result<Option<Timestamp>, StoreError> {
        let at: Option<i64> = sqlx::query_scalar(
            "SELECT MAX(at) FROM looked_at WHERE user_id = $1 AND project = $2 AND everyone >= $3",
        )
        .bind(user)
        .bind(project.as_str())
        .bind(i64::from(everyone))
        .fetch_one(&self.pool)
        .await?;
        Ok(at.map(Timestamp::from_millis))
    }

    /// Stores that this person looks now.
    pub async fn look(
        &self,
        user: &str,
        project: &ProjectId,
        everyone: bool,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO looked_at (user_id, project, everyone, at) VALUES ($1, $2, $3, $4)
             ON CONFLICT (user_id, project, everyone) DO UPDATE SET at = excluded.at",
        )
        .bind(user)
        .bind(project.as_str())
        .bind(i64::from(everyone))
        .bind(now.as_millis())
        .execute(self.writer())
        .await?;
        Ok(())
    }
}
