//! The projects whose changes the platform publishes without pull requests. A completed job without a pull request needs no attention there, and
//! resolves the job that it retried.

use sqlx::AssertSqlSafe;

use super::lifecycle::refresh_attention;
use crate::{Store, StoreError, parsed};
use base::work::Work;
use model::id::JobId;
use model::user::Project;

/// How many jobs one transaction updates.
const AT_ONCE: i64 = 500;

impl Store {
    /// Stores whether each of these projects is published directly, and updates the completed jobs of those that changed. Others may be configured in
    /// other processes. May be repeated: it continues an update that was interrupted.
    pub async fn set_direct_projects(&self, work: &Work, projects: &[Project]) -> Result<(), StoreError> {
        for project in projects {
            sqlx::query(
                "INSERT INTO direct_projects (project, is_direct, is_refreshed)
                 SELECT $1, $2, 0 WHERE $2 = 1 OR EXISTS (SELECT 1 FROM direct_projects WHERE project = $1)
                 ON CONFLICT (project) DO UPDATE SET is_direct = excluded.is_direct, is_refreshed = 0
                 WHERE direct_projects.is_direct <> excluded.is_direct",
            )
            .bind(project.id.as_str())
            .bind(i64::from(project.is_direct))
            .execute(self.write(work).statement())
            .await?;
            let outdated: Option<i64> =
                sqlx::query_scalar("SELECT 1 FROM direct_projects WHERE project = $1 AND is_refreshed = 0")
                    .bind(project.id.as_str())
                    .fetch_optional(&self.pool)
                    .await?;
            if outdated.is_some() {
                self.refresh_jobs(work, project).await?;
            }
        }
        Ok(())
    }

    async fn refresh_jobs(&self, work: &Work, project: &Project) -> Result<(), StoreError> {
        let mut after = String::new();
        loop {
            let mut tx = self.write(work).begin().await?.tx;
            let ids: Vec<String> = sqlx::query_scalar(AssertSqlSafe(format!(
                "SELECT id FROM jobs WHERE project = $1 AND state = 'completed' AND pr_link IS NULL AND id > $2 ORDER BY id LIMIT {AT_ONCE}"
            )))
            .bind(project.id.as_str())
            .bind(&after)
            .fetch_all(&mut *tx)
            .await?;
            let Some(last) = ids.last() else { break };
            after.clone_from(last);
            let jobs: Vec<JobId> = ids.iter().map(|id| parsed(id, "id")).collect::<Result<_, _>>()?;
            refresh_attention(&mut tx, &jobs).await?;
            tx.commit().await?;
        }
        sqlx::query("UPDATE direct_projects SET is_refreshed = 1 WHERE project = $1 AND is_direct = $2")
            .bind(project.id.as_str())
            .bind(i64::from(project.is_direct))
            .execute(self.write(work).statement())
            .await?;
        Ok(())
    }
}
