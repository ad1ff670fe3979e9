//! Saved templates, and the outcomes of the jobs created from them.

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::run_times::{began_and_ended, medians};
use crate::platform::direct_projects::is_direct;
use crate::{Authority, Change, Store, StoreError, audit, instant, new_id, parsed, word};
use base::query_permits::QueryPermit;
use model::audit::{Action, AuditEvent};
use model::id::{ProjectId, TemplateId};
use model::saved_template::{Merges, SavedTemplate, Scorecard, TemplateText};

/// $1: the project. A job that was archived upstream counts with its outcome before, if it had one.
fn select_with_scores() -> String {
    let times = began_and_ended();
    let (medians, merge_medians) = (medians("runs", "medians"), medians("merges", "merge_medians"));
    format!("WITH runs AS (
    SELECT u.template_id AS kind, j.pr_link, p.state AS pr_state, p.opened_at, p.merged_at,
        CASE WHEN j.state IN ('completed', 'failed') OR (j.state = 'archived' AND j.outcome IS NOT NULL) THEN 1 ELSE 0 END AS finished,
        CASE WHEN j.state = 'failed' OR (j.state = 'archived' AND j.outcome = 'failed') THEN 1 ELSE 0 END AS failed,
        {times}
    FROM job_templates u JOIN templates t ON t.id = u.template_id JOIN jobs j ON j.id = u.job_id
    LEFT JOIN pull_requests p ON p.job_id = j.id
    WHERE t.project = $1 AND j.remote_id IS NOT NULL
), {medians}, merges AS (
    SELECT kind, opened_at AS began, merged_at AS ended FROM runs WHERE pr_state = 'merged'
), {merge_medians}, scores AS (
    SELECT kind, COUNT(*) AS runs, CAST(SUM(finished) AS BIGINT) AS finished, CAST(SUM(failed) AS BIGINT) AS failed,
        CAST(SUM(CASE WHEN finished = 1 AND failed = 0 AND pr_link IS NOT NULL THEN 1 ELSE 0 END) AS BIGINT) AS requests,
        COUNT(*) FILTER (WHERE pr_state <> 'unknown') AS tracked, COUNT(*) FILTER (WHERE pr_state = 'merged') AS merged
    FROM runs GROUP BY kind
)
SELECT t.id, t.name, t.text, t.changed_at, COALESCE(s.runs, 0) AS runs, COALESCE(s.finished, 0) AS finished,
    COALESCE(s.failed, 0) AS failed, COALESCE(s.requests, 0) AS requests, m.median,
    COALESCE(s.tracked, 0) AS tracked, COALESCE(s.merged, 0) AS merged, r.median AS merge_median, {} AS is_direct
FROM templates t LEFT JOIN scores s ON s.kind = t.id LEFT JOIN medians m ON m.kind = t.id LEFT JOIN merge_medians r ON r.kind = t.id
WHERE t.project = $1 ORDER BY LOWER(t.name), t.id", is_direct("$1"))
}

/// $1: the project.
pub(crate) const SELECT_TEXTS: &str =
    "SELECT id, name, text FROM templates WHERE project = $1 ORDER BY LOWER(name), id";

impl Store {
    /// The project's templates by name.
    pub async fn template_texts(&self, project: &ProjectId) -> Result<Vec<TemplateText>, StoreError> {
        let rows = sqlx::query(SELECT_TEXTS).bind(project.as_str()).fetch_all(&self.pool).await?;
        let text = |row: &AnyRow| {
            Ok(TemplateText { id: word(row, "id")?, name: row.try_get("name")?, text: row.try_get("text")? })
        };
        rows.iter().map(text).collect()
    }

    /// The ids of the project's templates, by name.
    pub async fn template_ids(&self, project: &ProjectId) -> Result<Vec<TemplateId>, StoreError> {
        let rows = sqlx::query("SELECT id FROM templates WHERE project = $1 ORDER BY LOWER(name), id")
            .bind(project.as_str())
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(|row| word(row, "id")).collect()
    }

    /// The project's templates by name, each with its scorecard.
    pub async fn templates(
        &self,
        _: &QueryPermit,
        project: &ProjectId,
    ) -> Result<Vec<SavedTemplate>, StoreError> {
        let rows = sqlx::query(AssertSqlSafe(select_with_scores()))
            .bind(project.as_str())
            .fetch_all(&self.pool)
            .await?;
        rows.iter().map(from_row).collect()
    }

    /// The name and text of a template of the project.
    pub async fn template(
        &self,
        project: &ProjectId,
        id: &TemplateId,
    ) -> Result<Option<(String, String)>, StoreError> {
        let row = sqlx::query("SELECT name, text FROM templates WHERE id = $1 AND project = $2")
            .bind(id.as_str())
            .bind(project.as_str())
            .fetch_optional(&self.pool)
            .await?;
        row.map(|row| Ok((row.try_get("name")?, row.try_get("text")?))).transpose()
    }

    /// The id of the template of the project with this name.
    pub async fn template_named(
        &self,
        project: &ProjectId,
        name: &str,
    ) -> Result<Option<TemplateId>, StoreError> {
        let row = sqlx::query("SELECT id FROM templates WHERE project = $1 AND name = $2")
            .bind(project.as_str())
            .bind(name)
            .fetch_optional(&self.pool)
            .await?;
        row.as_ref().map(|row| word(row, "id")).transpose()
    }

    /// Adds a template, if the project has fewer than `most`. Fails with a duplicate error if the name exists.
    pub async fn add_template(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        name: &str,
        text: &str,
        most: u32,
    ) -> Result<Option<TemplateId>, StoreError> {
        let id = new_id();
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let there: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM templates WHERE project = $1")
            .bind(project.as_str())
            .fetch_one(&mut *tx)
            .await?;
        if there >= i64::from(most) {
            return Ok(None);
        }
        sqlx::query(
            "INSERT INTO templates (id, project, name, text, created_at, changed_at) VALUES ($1, $2, $3, $4, $5, $5)",
        )
        .bind(&id)
        .bind(project.as_str())
        .bind(name)
        .bind(text)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        let event = AuditEvent::new(Action::TemplateAdd).in_project(project).on(&id).with_detail(name);
        audit::record_often(&mut tx, &by, &event, now).await?;
        tx.commit().await?;
        parsed(&id, "id").map(Some)
    }

    /// Changes a template of the project; returns whether it exists. Fails with a duplicate error if the name exists.
    pub async fn change_template(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        id: &TemplateId,
        name: &str,
        text: &str,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let changed = sqlx::query(
            "UPDATE templates SET name = $3, text = $4, changed_at = $5 WHERE id = $1 AND project = $2",
        )
        .bind(id.as_str())
        .bind(project.as_str())
        .bind(name)
        .bind(text)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        if changed.rows_affected() != 1 {
            return Ok(false);
        }
        let event = AuditEvent::new(Action::TemplateChange).in_project(project).on(id).with_detail(name);
        audit::record_often(&mut tx, &by, &event, now).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Deletes a template of the project; returns whether it existed. Jobs created from it keep their prompt and its name.
    pub async fn remove_template(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        id: &TemplateId,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let removed: Option<String> =
            sqlx::query_scalar("DELETE FROM templates WHERE id = $1 AND project = $2 RETURNING name")
                .bind(id.as_str())
                .bind(project.as_str())
                .fetch_optional(&mut *tx)
                .await?;
        let Some(name) = removed else { return Ok(false) };
        let event = AuditEvent::new(Action::TemplateRemove).in_project(project).on(id).with_detail(name);
        audit::record_often(&mut tx, &by, &event, now).await?;
        tx.commit().await?;
        Ok(true)
    }
}

/// Records that `job` was created from `template`, with its current name; does nothing if it does not exist.
pub(crate) async fn record_use(
    tx: &mut Transaction<'static, Any>,
    job: &str,
    template: &TemplateId,
) -> Result<(), StoreError> {
    sqlx::query(
        "INSERT INTO job_templates (job_id, template_id, name) SELECT $1, id, name FROM templates WHERE id = $2",
    )
    .bind(job)
    .bind(template.as_str())
    .execute(&mut **tx)
    .await?;
    Ok(())
}

fn from_row(row: &AnyRow) -> Result<SavedTemplate, StoreError> {
    let number = |column: &str| row.try_get::<i64, _>(column).map(i64::unsigned_abs);
    let (finished, failed) = (number("finished")?, number("failed")?);
    let with_pull_request = number("requests")?;
    let is_direct = number("is_direct")? > 0;
    // Completed without a pull request.
    let rest = finished.saturating_sub(failed + with_pull_request);
    let (tracked, merged) = (number("tracked")?, number("merged")?);
    let merge_median: Option<i64> = row.try_get("merge_median")?;
    let merges = (tracked > 0).then_some(Merges { tracked, merged, median_millis: merge_median });
    Ok(SavedTemplate {
        id: word(row, "id")?,
        name: row.try_get("name")?,
        text: row.try_get("text")?,
        changed_at: instant(row, "changed_at")?,
        score: Scorecard {
            runs: number("runs")?,
            finished,
            with_pull_request,
            published_directly: if is_direct { rest } else { 0 },
            without_change: if is_direct { 0 } else { rest },
            failed,
            median_millis: row.try_get("median")?,
            merges,
        },
    })
}
