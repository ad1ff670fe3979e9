//! The projects whose changes the platform publishes without pull requests. A completed job without a pull request needs no attention there.

use std::collections::BTreeSet;

use sqlx::{Any, Transaction};

use crate::jobs::lifecycle::refresh_attention;
use crate::{Store, StoreError, parsed};
use base::work::Work;
use model::id::{JobId, ProjectId};

/// How many jobs are updated by one statement.
const AT_ONCE: usize = 500;

/// An expression: 1 if the platform publishes the changes of the project directly. The argument is a column.
pub(crate) fn is_direct(project: &str) -> String {
    format!("(SELECT COUNT(*) FROM direct_projects d WHERE d.project = {project})")
}

impl Store {
    /// Stores the configured projects, and updates the completed jobs of those that changed.
    pub async fn set_direct_projects(&self, work: &Work, projects: &[ProjectId]) -> Result<(), StoreError> {
        let wanted: BTreeSet<String> = projects.iter().map(ToString::to_string).collect();
        if self.direct_projects().await? == wanted {
            return Ok(());
        }
        let mut tx = self.write(work).begin().await?.tx;
        let stored: Vec<String> =
            sqlx::query_scalar("SELECT project FROM direct_projects").fetch_all(&mut *tx).await?;
        let stored: BTreeSet<String> = stored.into_iter().collect();
        for (statement, changed) in [
            ("DELETE FROM direct_projects WHERE project = $1", stored.difference(&wanted)),
            ("INSERT INTO direct_projects (project) VALUES ($1)", wanted.difference(&stored)),
        ] {
            for project in changed {
                sqlx::query(statement).bind(project).execute(&mut *tx).await?;
                refresh_jobs(&mut tx, project).await?;
            }
        }
        Ok(tx.commit().await?)
    }

    async fn direct_projects(&self) -> Result<BTreeSet<String>, StoreError> {
        let stored: Vec<String> =
            sqlx::query_scalar("SELECT project FROM direct_projects").fetch_all(&self.pool).await?;
        Ok(stored.into_iter().collect())
    }
}

async fn refresh_jobs(tx: &mut Transaction<'static, Any>, project: &str) -> Result<(), StoreError> {
    let jobs: Vec<String> = sqlx::query_scalar(
        "SELECT id FROM jobs WHERE project = $1 AND state = 'completed' AND pr_link IS NULL ORDER BY id",
    )
    .bind(project)
    .fetch_all(&mut **tx)
    .await?;
    let jobs: Vec<JobId> = jobs.iter().map(|id| parsed(id, "id")).collect::<Result<_, _>>()?;
    for part in jobs.chunks(AT_ONCE) {
        refresh_attention(tx, part).await?;
    }
    Ok(())
}
