//! The pages of jobs.

use std::collections::HashSet;

use sqlx::AssertSqlSafe;

use super::archive_and_tags::{audited, changed};
use crate::dialect::read_json;
use crate::dialect::select::{Statement, comparable, sql_placeholders};
use crate::{Authority, Change, Store, StoreError};
use base::query_permits::QueryPermit;
use model::audit::Action;
use model::id::{JobId, ProjectId};
use model::page_path::{PATHS_MAX, PageChange};

/// The maximum number of suggested pages.
const SUGGESTIONS: u32 = 10;

impl Store {
    /// Those of `folders` that a path of the daily history begins with.
    pub async fn known_folders(
        &self,
        project: &ProjectId,
        folders: &[String],
    ) -> Result<HashSet<String>, StoreError> {
        let mut known = HashSet::new();
        for folder in folders {
            let found: i64 = sqlx::query_scalar(
                "SELECT COUNT(*) FROM (SELECT 1 AS one FROM page_paths WHERE project = $1 AND path >= $2 AND path < $3 LIMIT 1) found",
            )
            .bind(project.as_str())
            .bind(format!("/{folder}/"))
            // The character after the slash.
            .bind(format!("/{folder}0"))
            .fetch_one(&self.pool)
            .await?;
            if found > 0 {
                known.insert(folder.clone());
            }
        }
        Ok(known)
    }

    /// Whether the daily history has a page of the project.
    pub async fn has_pages(&self, project: &ProjectId) -> Result<bool, StoreError> {
        let found: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM (SELECT 1 AS one FROM page_paths WHERE project = $1 LIMIT 1) found",
        )
        .bind(project.as_str())
        .fetch_one(&self.pool)
        .await?;
        Ok(found > 0)
    }

    /// The first pages of the daily history whose path contains `typed`: those that begin with it, then the shortest.
    pub async fn suggested_pages(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        typed: &str,
    ) -> Result<Vec<String>, StoreError> {
        let lower = comparable(typed).to_ascii_lowercase();
        let escaped = lower.replace('!', "!!").replace('%', "!%").replace('_', "!_");
        let found = self.dialect.json_values(
            "f.path",
            &format!(
                "(SELECT path FROM page_paths WHERE project = $1 AND LOWER(path) LIKE $3 ESCAPE '!'
                 ORDER BY CASE WHEN LOWER(path) LIKE $2 ESCAPE '!' THEN 0 ELSE 1 END, LENGTH(path), path
                 LIMIT {SUGGESTIONS}) f"
            ),
        );
        let sql = format!("SELECT {}", self.dialect.json_column(&found));
        let values = [project.as_str().to_owned(), format!("{escaped}%"), format!("%{escaped}%")];
        let mut pages: Vec<String> =
            read_json(&self.queries.fetch_one(permit, Statement::of(sql, values)).await?, 0)?;
        pages.sort_by_key(|path| (!path.to_ascii_lowercase().starts_with(&lower), path.len(), path.clone()));
        Ok(pages)
    }

    /// Adds the first of `paths` to the given jobs of the project that have none of them and are below the limit, or removes all of them from those that have
    /// them. Returns the jobs that changed.
    pub async fn change_page(
        &self,
        by: Authority<'_>,
        change: PageChange,
        project: &ProjectId,
        ids: &[JobId],
        paths: &[String],
    ) -> Result<Vec<JobId>, StoreError> {
        let Some(path) = paths.first() else { return Ok(Vec::new()) };
        let (pages, jobs) = (sql_placeholders(2, paths.len()), sql_placeholders(2 + paths.len(), ids.len()));
        let (sql, action) = match change {
            PageChange::Add => (
                format!(
                    "INSERT INTO job_paths (job_id, path) SELECT j.id, $2 FROM jobs j WHERE j.project = $1 AND j.id IN ({jobs})
                     AND NOT EXISTS (SELECT 1 FROM job_paths p WHERE p.job_id = j.id AND p.path IN ({pages}))
                     AND (SELECT COUNT(*) FROM job_paths p WHERE p.job_id = j.id) < {PATHS_MAX}
                     ON CONFLICT (job_id, path) DO NOTHING RETURNING job_id AS id"
                ),
                Action::PageAdd,
            ),
            PageChange::Remove => (
                format!(
                    "DELETE FROM job_paths WHERE path IN ({pages})
                     AND job_id IN (SELECT id FROM jobs WHERE project = $1 AND id IN ({jobs})) RETURNING job_id AS id"
                ),
                Action::PageRemove,
            ),
        };
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let mut query = sqlx::query(AssertSqlSafe(sql)).bind(project.as_str());
        for path in paths {
            query = query.bind(comparable(path));
        }
        let mut changed = changed(&mut tx, query, ids).await?;
        changed.sort();
        changed.dedup();
        audited(&mut tx, project, &changed, action, path, &by, now).await?;
        tx.commit().await?;
        Ok(changed)
    }
}
