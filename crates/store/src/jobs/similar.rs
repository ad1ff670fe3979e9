//! Candidates for similar jobs: their prompts and pages.

use sqlx::{AssertSqlSafe, Row};

use super::states::job_states;
use crate::{Store, StoreError, instant, word};
use base::query_permits::QueryPermit;
use model::id::{JobId, ProjectId};
use model::job::JobState;
use model::time::Timestamp;

/// A job that is in progress, or recent with an unknown outcome or a pull request that may be open.
pub struct Candidate {
    pub id: JobId,
    /// Only its first characters.
    pub prompt: String,
    pub author: String,
    pub state: JobState,
    pub created_at: Timestamp,
    pub paths: Vec<String>,
}

impl Store {
    /// The newest `most` jobs of the project that are in progress, or that changed after `since` and have an unknown outcome or a pull
    /// request that may be open. Includes the first `chars` characters of their prompts.
    pub async fn candidates(
        &self,
        _: &QueryPermit,
        project: &ProjectId,
        since: Timestamp,
        most: u32,
        chars: usize,
    ) -> Result<Vec<Candidate>, StoreError> {
        let open = job_states(JobState::is_open);
        let rows = sqlx::query(AssertSqlSafe(format!(
            "SELECT j.id, j.state, j.created_at, SUBSTR(m.prompt, 1, $4) AS prompt, u.name AS author FROM jobs j
             JOIN messages m ON m.job_id = j.id AND m.position = 0 JOIN users u ON u.id = m.author_id
             WHERE j.id IN (
                 SELECT id FROM jobs WHERE project = $1 AND state IN ({open})
                 UNION SELECT id FROM jobs WHERE project = $1 AND state = 'other' AND next_poll_at IS NOT NULL
                 UNION SELECT id FROM jobs WHERE project = $1 AND state IN ('unknown', 'completed') AND changed_at >= $2
                     AND (state = 'unknown' OR pr_link IS NOT NULL)
                     AND NOT EXISTS (SELECT 1 FROM pull_requests p WHERE p.job_id = jobs.id AND p.state IN ('merged', 'closed')))
             ORDER BY j.id DESC LIMIT $3",
        )))
        .bind(project.as_str())
        .bind(since.as_millis())
        .bind(i64::from(most))
        .bind(i32::try_from(chars).unwrap_or(i32::MAX))
        .fetch_all(&self.pool)
        .await?;
        let mut candidates = Vec::with_capacity(rows.len());
        for row in &rows {
            candidates.push(Candidate {
                id: word(row, "id")?,
                prompt: row.try_get("prompt")?,
                author: row.try_get("author")?,
                state: word(row, "state")?,
                created_at: instant(row, "created_at")?,
                paths: Vec::new(),
            });
        }
        self.add_paths(&mut candidates).await?;
        Ok(candidates)
    }

    async fn add_paths(&self, candidates: &mut [Candidate]) -> Result<(), StoreError> {
        let ids = candidates.iter().map(|candidate| &candidate.id);
        let rows = self
            .rows_of("SELECT job_id, path FROM job_paths WHERE job_id IN (", ids, ") ORDER BY path")
            .await?;
        for row in &rows {
            let id: JobId = word(row, "job_id")?;
            if let Some(candidate) = candidates.iter_mut().find(|candidate| candidate.id == id) {
                candidate.paths.push(row.try_get("path")?);
            }
        }
        Ok(())
    }
}
