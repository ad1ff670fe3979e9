//! Which job changes a person has seen in the notifications, for their own jobs or everyone's.

use sqlx::Row;
use sqlx::any::AnyRow;

use super::states::job_states;
use crate::{Authority, Change, Store, StoreError};
use model::id::ProjectId;
use model::job::JobState;
use model::time::Timestamp;

/// A person with unseen changes of jobs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Reader {
    pub user_id: String,
    /// Whether everyone's jobs count, or only their own.
    pub everyone: bool,
}

/// The changes that a person has seen.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Seen(Vec<Range>);

/// All changes up to `at`, and those of a window.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Range {
    at: i64,
    window: Window,
}

/// A period whose ends are inclusive.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Window {
    from: i64,
    to: i64,
}

/// How much a reader has not seen.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Unread {
    /// Jobs that ended or need attention.
    pub jobs: u32,
    /// Notices about the reader's API tokens, and about the platform.
    pub notices: u32,
}

/// The maximum number of recent changes to count: a larger number does not help people.
const NEWS_MAX: u32 = 1000;

/// An expression for the time up to which this reader has seen everything; the default is when the account was created. The arguments are
/// placeholders.
pub(crate) fn since(user: &str, project: &str, everyone: &str) -> String {
    format!(
        "(SELECT COALESCE(MAX(k.at), (SELECT u.created_at FROM users u WHERE u.id = {user}), 0) FROM seen_changes k
         WHERE k.user_id = {user} AND k.project = {project} AND k.everyone >= {everyone})"
    )
}

/// A condition: this reader has not seen the last change of the job `l`. The arguments are placeholders.
pub(crate) fn is_unseen(user: &str, project: &str, everyone: &str) -> String {
    format!(
        "l.changed_at > {} AND NOT EXISTS (SELECT 1 FROM seen_changes w WHERE w.user_id = {user} AND w.project = {project}
         AND w.everyone >= {everyone} AND l.changed_at BETWEEN w.seen_from AND w.seen_to)",
        since(user, project, everyone)
    )
}

/// An expression for the number of jobs that ended or need attention and that this reader has not seen. The arguments are placeholders.
pub(crate) fn unread(user: &str, project: &str, everyone: &str) -> String {
    let open = job_states(JobState::is_open);
    format!(
        "(SELECT COUNT(*) FROM (SELECT l.state, l.author_id FROM listed_jobs l
         WHERE l.project = {project} AND l.archived = 0 AND {}
         ORDER BY l.changed_at DESC LIMIT {NEWS_MAX}) c
         WHERE c.state NOT IN ({open}) AND (c.author_id = {user} OR {everyone} > 0))",
        is_unseen(user, project, everyone)
    )
}

impl Unread {
    /// The number at the bell.
    pub const fn total(self) -> u32 {
        self.jobs.saturating_add(self.notices)
    }
}

impl Seen {
    /// Whether a change at this time was seen.
    pub fn has(&self, changed_at: Timestamp) -> bool {
        let at = changed_at.as_millis();
        self.0.iter().any(|seen| at <= seen.at || (seen.window.from..=seen.window.to).contains(&at))
    }

    /// When this person last looked; `None` if they never did.
    pub fn last(&self) -> Option<Timestamp> {
        self.0.iter().map(|seen| seen.at.max(seen.window.to)).max().map(Timestamp::from_millis)
    }
}

impl Range {
    fn of(row: &AnyRow) -> Result<Self, StoreError> {
        let window = Window { from: row.try_get("seen_from")?, to: row.try_get("seen_to")? };
        Ok(Self { at: row.try_get("at")?, window })
    }

    /// Adds the changes between `from` and `to`, which is now.
    fn and(self, from: i64, to: i64) -> Self {
        let from = if from <= self.window.to { from.min(self.window.from) } else { from };
        if from <= self.at {
            Self { at: to, window: Window { from: 0, to: 0 } }
        } else {
            Self { window: Window { from, to }, ..self }
        }
    }
}

impl Store {
    /// What this person has seen. Seeing everyone's jobs includes their own.
    pub async fn seen(&self, user: &str, project: &ProjectId, everyone: bool) -> Result<Seen, StoreError> {
        let rows = sqlx::query(
            "SELECT at, seen_from, seen_to FROM seen_changes WHERE user_id = $1 AND project = $2 AND everyone >= $3",
        )
        .bind(user)
        .bind(project.as_str())
        .bind(i64::from(everyone))
        .fetch_all(&self.pool)
        .await?;
        Ok(Seen(rows.iter().map(Range::of).collect::<Result<_, _>>()?))
    }

    /// Stores that this person has seen every change up to `now`, or (`from`) those since that time.
    pub async fn mark_seen(
        &self,
        by: Authority<'_>,
        user: &str,
        project: &ProjectId,
        everyone: bool,
        from: Option<Timestamp>,
    ) -> Result<(), StoreError> {
        let Change { mut tx, now, .. } = self.write(by).begin().await?;
        let row = sqlx::query(
            "SELECT COALESCE(k.at, u.created_at) AS at, COALESCE(k.seen_from, 0) AS seen_from, COALESCE(k.seen_to, 0) AS seen_to
             FROM users u LEFT JOIN seen_changes k ON k.user_id = u.id AND k.project = $2 AND k.everyone = $3 WHERE u.id = $1",
        )
        .bind(user)
        .bind(project.as_str())
        .bind(i64::from(everyone))
        .fetch_one(&mut *tx)
        .await?;
        let before = Range::of(&row)?;
        let seen = before.and(from.map_or(before.at, Timestamp::as_millis), now.as_millis());
        sqlx::query(
            "INSERT INTO seen_changes (user_id, project, everyone, at, seen_from, seen_to) VALUES ($1, $2, $3, $4, $5, $6)
             ON CONFLICT (user_id, project, everyone)
             DO UPDATE SET at = excluded.at, seen_from = excluded.seen_from, seen_to = excluded.seen_to",
        )
        .bind(user)
        .bind(project.as_str())
        .bind(i64::from(everyone))
        .bind(seen.at)
        .bind(seen.window.from)
        .bind(seen.window.to)
        .execute(&mut *tx)
        .await?;
        Ok(tx.commit().await?)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn window_merges_with_the_previously_seen_changes() {
        let range = |at, from, to| Range { at, window: Window { from, to } };
        let seen = range(100, 0, 0);
        let first = seen.and(150, 200);
        assert_eq!(first, range(100, 150, 200));
        assert_eq!(first.and(180, 300), range(100, 150, 300));
        assert_eq!(first.and(250, 300), range(100, 250, 300), "what is between was not shown");
        assert_eq!(first.and(90, 300), range(300, 0, 0));
        let is_seen = |at| Seen(vec![first]).has(Timestamp::from_millis(at));
        assert_eq!([100, 149, 150, 200, 201].map(is_seen), [true, false, true, true, false]);
        assert_eq!(Seen(vec![first]).last(), Some(Timestamp::from_millis(200)));
    }
}
