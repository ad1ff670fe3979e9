//! Archiving, restoring, dismissing and tagging jobs in Docket. The upstream is not told.

use sqlx::any::{AnyArguments, AnyRow};
use sqlx::query::Query;
use sqlx::{Any, AssertSqlSafe, Transaction};

use super::select::sql_placeholders;
use super::{Store, StoreError, audit, jobs, word};
use crate::model::audit::{Action, Actor, AuditEvent};
use crate::model::id::{JobId, ProjectId};
use crate::model::tag::Tag;
use crate::model::time::Timestamp;

/// The maximum number of tags per job.
pub const TAGS_MAX: i64 = 50;

impl Store {
    /// Archives those jobs of the project that are not archived, and returns them.
    pub async fn archive_here(
        &self,
        project: &ProjectId,
        ids: &[JobId],
        by: &Actor,
        now: Timestamp,
    ) -> Result<Vec<JobId>, StoreError> {
        let mut tx = self.begin().await?;
        let sql = format!(
            "UPDATE jobs SET archived_here_at = $1, archived_by = $2
             WHERE project = $3 AND archived_here_at IS NULL AND id IN ({}) RETURNING id",
            sql_placeholders(4, ids.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(now.as_millis()).bind(&by.id).bind(project.as_str());
        let changed = changed(&mut tx, query, ids).await?;
        record(&mut tx, &changed, "archived here", by, now).await?;
        audited(&mut tx, project, &changed, (Action::Archive, None), by, now).await?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Restores those jobs of the project that are archived, and returns them.
    pub async fn unarchive_here(
        &self,
        project: &ProjectId,
        ids: &[JobId],
        by: &Actor,
        now: Timestamp,
    ) -> Result<Vec<JobId>, StoreError> {
        let mut tx = self.begin().await?;
        let sql = format!(
            "UPDATE jobs SET archived_here_at = NULL, archived_by = NULL
             WHERE project = $1 AND archived_here_at IS NOT NULL AND id IN ({}) RETURNING id",
            sql_placeholders(2, ids.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(project.as_str());
        let changed = changed(&mut tx, query, ids).await?;
        record(&mut tx, &changed, "brought back here", by, now).await?;
        audited(&mut tx, project, &changed, (Action::Unarchive, None), by, now).await?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Dismisses those jobs of the project that need attention, and returns them.
    pub async fn dismiss(
        &self,
        project: &ProjectId,
        ids: &[JobId],
        by: &Actor,
        now: Timestamp,
    ) -> Result<Vec<JobId>, StoreError> {
        let mut tx = self.begin().await?;
        let sql = format!(
            "UPDATE jobs SET dismissed_at = $1, dismissed_by = $2
             WHERE project = $3 AND EXISTS (SELECT 1 FROM listed_jobs l WHERE l.job_id = jobs.id AND l.attention = 1)
             AND id IN ({}) RETURNING id",
            sql_placeholders(4, ids.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(now.as_millis()).bind(&by.id).bind(project.as_str());
        let changed = changed(&mut tx, query, ids).await?;
        record_audited(&mut tx, project, &changed, ("dismissed", Action::Dismiss), by, now).await?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Undoes the dismissal of those jobs of the project, and returns them.
    pub async fn undismiss(
        &self,
        project: &ProjectId,
        ids: &[JobId],
        by: &Actor,
        now: Timestamp,
    ) -> Result<Vec<JobId>, StoreError> {
        let mut tx = self.begin().await?;
        let sql = format!(
            "UPDATE jobs SET dismissed_at = NULL, dismissed_by = NULL
             WHERE project = $1 AND dismissed_at IS NOT NULL AND id IN ({}) RETURNING id",
            sql_placeholders(2, ids.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(project.as_str());
        let changed = changed(&mut tx, query, ids).await?;
        record_audited(&mut tx, project, &changed, ("dismissal undone", Action::Undismiss), by, now).await?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Tags those jobs of the project that lack the tag and have room for one, and returns them.
    pub async fn tag(
        &self,
        project: &ProjectId,
        ids: &[JobId],
        tag: &Tag,
        by: &Actor,
        now: Timestamp,
    ) -> Result<Vec<JobId>, StoreError> {
        let mut tx = self.begin().await?;
        let sql = format!(
            "INSERT INTO job_tags (job_id, folded, tag) SELECT j.id, $1, $2 FROM jobs j
             WHERE j.project = $3 AND (SELECT COUNT(*) FROM job_tags t WHERE t.job_id = j.id) < $4 AND j.id IN ({})
             ON CONFLICT (job_id, folded) DO NOTHING RETURNING job_id AS id",
            sql_placeholders(5, ids.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql))
            .bind(tag.folded())
            .bind(tag.to_string())
            .bind(project.as_str())
            .bind(TAGS_MAX);
        let changed = changed(&mut tx, query, ids).await?;
        audited(&mut tx, project, &changed, (Action::Tag, Some(tag)), by, now).await?;
        tx.commit().await?;
        Ok(changed)
    }

    /// Removes a tag, ignoring case, from those jobs of the project that have it, and returns them.
    pub async fn untag(
        &self,
        project: &ProjectId,
        ids: &[JobId],
        tag: &Tag,
        by: &Actor,
        now: Timestamp,
    ) -> Result<Vec<JobId>, StoreError> {
        let mut tx = self.begin().await?;
        let sql = format!(
            "DELETE FROM job_tags WHERE folded = $1
             AND job_id IN (SELECT id FROM jobs WHERE project = $2 AND id IN ({})) RETURNING job_id AS id",
            sql_placeholders(3, ids.len())
        );
        let query = sqlx::query(AssertSqlSafe(sql)).bind(tag.folded()).bind(project.as_str());
        let changed = changed(&mut tx, query, ids).await?;
        audited(&mut tx, project, &changed, (Action::Untag, Some(tag)), by, now).await?;
        tx.commit().await?;
        Ok(changed)
    }
}

/// Runs a statement that returns job ids and whose last parameters are `ids`.
async fn changed(
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

/// Records the action in the timeline and in the audit log.
async fn record_audited(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    changed: &[JobId],
    (what, action): (&str, Action),
    by: &Actor,
    now: Timestamp,
) -> Result<(), StoreError> {
    for job in changed {
        jobs::record_event(tx, job.as_str(), 0, now, what, Some(&format!("by {}", by.name))).await?;
        let event = AuditEvent::new(action).in_project(project).on(job);
        audit::record(tx, by, &event, now).await?;
    }
    Ok(())
}

/// Records one event for all jobs that an action changed, since it can be repeated without limit.
async fn audited(
    tx: &mut Transaction<'static, Any>,
    project: &ProjectId,
    changed: &[JobId],
    (action, tag): (Action, Option<&Tag>),
    by: &Actor,
    now: Timestamp,
) -> Result<(), StoreError> {
    let event = AuditEvent::new(action).in_project(project);
    let event = match changed {
        [] => return Ok(()),
        [job] => event.on(job).with_detail(tag.map(ToString::to_string).unwrap_or_default()),
        jobs => {
            let tag = tag.map(|tag| format!("{tag}, ")).unwrap_or_default();
            event.with_detail(format!("{tag}{} jobs", jobs.len()))
        }
    };
    audit::record_often(tx, by, &event, now).await
}

async fn record(
    tx: &mut Transaction<'static, Any>,
    changed: &[JobId],
    what: &str,
    by: &Actor,
    now: Timestamp,
) -> Result<(), StoreError> {
    for job in changed {
        jobs::record_event(tx, job.as_str(), 0, now, what, Some(&format!("by {}", by.name))).await?;
    }
    Ok(())
}
