//! The first steps in a new installation.

use sqlx::Row;

use crate::{Store, StoreError};
use model::checklist::Checklist;
use model::time::Timestamp;

/// How long an installation is new after its first account was created, in milliseconds: 30 days.
const NEW_MILLIS: i64 = 30 * 86_400_000;

impl Store {
    /// Which first steps are done; `None` if all are, or if the installation is not new.
    pub async fn checklist(&self, now: Timestamp) -> Result<Option<Checklist>, StoreError> {
        let row = sqlx::query(
            "SELECT (SELECT COUNT(*) FROM (SELECT 1 FROM jobs LIMIT 1) j) AS job,
                 (SELECT COUNT(*) FROM (SELECT 1 FROM templates LIMIT 1) t) AS template,
                 (SELECT COUNT(*) FROM (SELECT 1 FROM users LIMIT 2) u) AS people,
                 (SELECT COUNT(*) FROM (SELECT 1 FROM webhooks LIMIT 1) w) AS webhook,
                 (SELECT COALESCE(MIN(created_at), 0) FROM users) AS began",
        )
        .fetch_one(&self.pool)
        .await?;
        let count = |column: &str| row.try_get::<i64, _>(column);
        let checklist = Checklist {
            job: count("job")? > 0,
            template: count("template")? > 0,
            invitation: count("people")? > 1,
            webhook: count("webhook")? > 0,
        };
        let is_new = now.as_millis() - count("began")? < NEW_MILLIS;
        Ok((is_new && !checklist.is_complete()).then_some(checklist))
    }
}
