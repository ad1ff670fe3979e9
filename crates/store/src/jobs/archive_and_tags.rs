//! Archives, restores, dismisses and tags jobs in Docket. Nothing is sent upstream.

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe, Transaction};
use strum::VariantArray;

use super::{job, lifecycle};
use crate::dialect::select::{comparable, sql_list, sql_placeholders};
use crate::{Authority, Change, Store, StoreError, audit, word};
use model::audit::{Action, Actor, AuditEvent};
use model::id::{JobId, ProjectId};
use model::job::{TimelineMark, TimelineState};
use model::limits::MARKS_OF_JOB;
use model::tag::Tag;
use model::time::Timestamp;

/// The maximum number of tags per job.
pub const TAGS_MAX: i64 = 50;

/// How a mark changes jobs. People set a mark and clear it; its columns contain when, and the person's id.
struct MarkChange {
    at: &'static str,
    by: &'static str,
    /// Whether the mark is set or cleared.
    is_set: bool,
    /// SQL that is true of the jobs that can change.
    applies_to: &'static str,
    action: Action,
}

impl MarkChange {
    fn of(mark: TimelineMark) -> Self {
        let (is_set, applies_to, action) = match mark {
            TimelineMark::Archived => (true, "archived_here_at IS NULL", Action::Archive),
            TimelineMark::Restored => (false, "archived_here_at IS NOT NULL", Action::Unarchive),
            TimelineMark::Dismissed => (
                true,
                "EXISTS (SELECT 1 FROM listed_jobs l WHERE l.job_id = jobs.id AND l.attention = 1)",
                Action::Dismiss,
            ),
            TimelineMark::DismissalUndone => (false, "dismissed_at IS NOT NULL", Action::Undismiss),
        };
        let (at, by) = match mark {
            TimelineMark::Archived | TimelineMark::Restored => ("archived_here_at", "archived_by"),
            TimelineMark::Dismissed | TimelineMark::DismissalUndone => ("dismissed_at", "dismissed_by"),
        };
        Self { at, by, is_set, applies_to, action }
    }

    /// Whether each job gets its own audit record while they are few. Otherwise one record covers all of them.
    fn is_recorded_for_each(&self) -> bool {
        matches!(self.action, Action::Dismiss | Action::Undismiss)
    }
}

/// Removes the oldest mark entries beyond [`MARKS_OF_JOB`] from the timelines of these jobs.
async fn remove_old_entries(tx: &mut Transaction<'static, Any>, jobs: &[JobId]) -> Result<(), StoreError> {
    let entries = sql_list(TimelineMark::VARIANTS.iter().map(|mark| mark.as_str()));
    let old = format!(
        "DELETE FROM job_events WHERE id IN (SELECT id FROM (
             SELECT id, ROW_NUMBER() OVER (PARTITION BY job_id ORDER BY id DESC) AS age FROM job_events
             WHERE job_id IN ({}) AND state IN ({entries})) entries WHERE age > {MARKS_OF_JOB})",
        sql_placeholders(1, jobs.len())
    );
    let mut query = sqlx::query(AssertSqlSafe(old));
    for job in jobs {
        query = query.bind(job.as_str());
    }
    query.execute(&mut **tx).await?;
    Ok(())
}

impl Store {
    /// Archives, restores or dismisses those of the given jobs of the project to which that applies, or undoes their dismissal. Returns them.
    pub async fn mark(
        &self,
        by: Authority<'_>,
        mark: TimelineMark,
        project: &ProjectId,
        ids: &[JobId],
    ) -> Result<Vec<JobId>, StoreError> {
        let change = MarkChange::of(mark);
        let MarkChange { at, by: person, is_set, applies_to, action } = change;
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let sql = format!(
            "UPDATE jobs SET {at} = $1, {person} = $2 WHERE project = $3 AND {applies_to} AND id IN ({}) RETURNING id",
            sql_placeholders(4, ids.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql))
            .bind(is_set.then(|| now.as_millis()))
            .bind(is_set.then(|| by.id.clone()))
            .bind(project.as_str());
        let changed = changed(&mut tx, query, ids).await?;
        lifecycle::refresh_attention(&mut tx, &changed).await?;
        let entry = TimelineState::Mark(mark);
        for job in &changed {
            let who = format!("by {}", by.name);
            job::record_event(&mut tx, job.as_str(), 0, now, &entry, Some(&who)).await?;
            if change.is_recorded_for_each() {
                let event = AuditEvent::new(action).in_project(project).on(job);
                audit::record_often(&mut tx, &by, &event, now).await?;
            }
        }
        remove_old_entries(&mut tx, &changed).await?;
        if !change.is_recorded_for_each() {
            audited(&mut tx, project, &changed, action, "", &by, now).await?;
        }
        tx.commit().await?;
        Ok(changed)
    }

    /// Tags the given jobs of the project that lack the tag and are below the limit, and returns them.
    pub async fn tag(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        ids: &[JobId],
        tag: &Tag,
    ) -> Result<Vec<JobId>, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let changed = self::tag(&mut tx, project, ids, tag, &by, now).await?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Removes a tag, ignoring case, from the given jobs of the project, and returns the changed ones.
    pub async fn untag(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        ids: &[JobId],
        tag: &Tag,
    ) -> Result<Vec<JobId>, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let sql = format!(
            "DELETE FROM job_tags WHERE folded = $1
             AND job_id IN (SELECT id FROM jobs WHERE project = $2 AND id IN ({})) RETURNING job_id AS id",
            sql_placeholders(3, ids.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(comparable(&tag.folded())).bind(project.as_str());
        let changed = changed(&mut tx, query, ids).await?;
        audited(&mut tx, project, &changed, Action::Untag, &tag.to_string(), &by, now).await?;
        tx.commit().await?;
        Ok(changed)
    }
}

/// As [`Store::tag`], within a transaction.
pub(crate) async fn tag(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    ids: &[JobId],
    tag: &Tag,
    by: &Actor,
    now: Timestamp,
) -> Result<Vec<JobId>, StoreError> {
    let sql = format!(
        "INSERT INTO job_tags (job_id, folded, tag) SELECT j.id, $1, $2 FROM jobs j
         WHERE j.project = $3 AND (SELECT COUNT(*) FROM job_tags t WHERE t.job_id = j.id) < $4 AND j.id IN ({})
         ON CONFLICT (job_id, folded) DO NOTHING RETURNING job_id AS id",
        sql_placeholders(5, ids.len())
    );
    let query = sqlx::query(AssertSqlSafe(sql))
        .bind(comparable(&tag.folded()))
        .bind(tag.to_string())
        .bind(project.as_str())
        .bind(TAGS_MAX);
    let changed = changed(tx, query, ids).await?;
    audited(tx, project, &changed, Action::Tag, &tag.to_string(), by, now).await?;
    Ok(changed)
}

/// Runs a statement that returns job ids and whose last parameters are `ids`.
pub(crate) async fn changed(
    tx: &mut Transaction<'static, Any>,
    mut query: Query<'_, Any, AnyArguments>,
    ids: &[JobId],
) -> Result<Vec<JobId>, StoreError> {
    for id in ids {
        query = query.bind(id.to_string());
    }
    let rows: Vec<AnyRow> = query.fetch_all(&mut **tx).await?;
    rows.iter().map(|row| word(row, "id")).collect()
}

/// Records one event for all jobs that an action changed, since it can be repeated without limit. `detail` describes the change; it may be empty.
pub(crate) async fn audited(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    changed: &[JobId],
    action: Action,
    detail: &str,
    by: &Actor,
    now: Timestamp,
) -> Result<(), StoreError> {
    let event = AuditEvent::new(action).in_project(project);
    let event = match changed {
        [] => return Ok(()),
        [job] => event.on(job).with_detail(detail),
        jobs => {
            let separator = if detail.is_empty() { "" } else { ", " };
            event.with_detail(format!("{detail}{separator}{} jobs", jobs.len()))
        }
    };
    audit::record_often(tx, by, &event, now).await
}
