//! Which follow-up a request sent. Does not send.

use crate::jobs::Jobs;
use crate::jobs::intent::committed_already;
use crate::jobs::submitted::Submitted;
use model::error::AppError;
use store::jobs::details::SentFollowUp;

impl Jobs {
    /// The follow-up that a request sent, with its state in the job. If it is no longer among the job's last follow-ups, it was sent by an earlier
    /// request, and its state is read.
    ///
    /// # Errors
    /// They must not make scripts send the prompt again.
    pub async fn sent_follow_up(&self, sent: &Submitted) -> Result<SentFollowUp, AppError> {
        let mut shown = sent.job.follow_ups.iter();
        if let Some(follow_up) = shown.rfind(|follow_up| follow_up.id.as_str() == sent.message_id) {
            let (id, state, reason_code) = (follow_up.id.clone(), follow_up.state, follow_up.reason_code);
            return Ok(SentFollowUp { id, state, reason_code });
        }
        let stored = self.store.sent_follow_up(&sent.message_id).await.map_err(committed_already)?;
        stored.ok_or_else(AppError::internal)
    }
}
