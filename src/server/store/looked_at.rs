//! When people last looked at the notifications of a project, about their own jobs or everyone's.

use super::{Store, StoreError};
use crate::model::id::ProjectId;
use crate::model::time::Timestamp;

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
        .execute(&self.pool)
        .await?;
        Ok(())
    }
}
