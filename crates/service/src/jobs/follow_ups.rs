//! Which follow-up a request sent. Does not send.

use crate::jobs::Jobs;
use crate::jobs::intent::committed_already;
use model::error::AppError;
use model::id::{IntentId, MessageId};
use model::job::{FollowUp, Job};
use store::jobs::details::SentFollowUp;

impl Jobs {
    /// The follow-up that this author sent to `job` with this key. Its state is that in the job, unless it is not among the job's last follow-ups.
    ///
    /// # Errors
    /// They must not make scripts send the prompt again.
    pub async fn sent_follow_up(
        &self,
        author_id: &str,
        key: &IntentId,
        job: &Job,
    ) -> Result<SentFollowUp, AppError> {
        let sent = self.store.sent_follow_up(author_id, key).await.map_err(committed_already)?;
        let sent = sent.ok_or_else(AppError::internal)?;
        Ok(match in_job(job, &sent.id) {
            Some(follow_up) => {
                SentFollowUp { state: follow_up.state, reason_code: follow_up.reason_code, ..sent }
            }
            None => sent,
        })
    }
}

fn in_job<'a>(job: &'a Job, id: &MessageId) -> Option<&'a FollowUp> {
    job.follow_ups.iter().rfind(|follow_up| follow_up.id == *id)
}
