//! Imports jobs that were started elsewhere. Nothing is sent to them.

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::resolve::conflict_or;
use base::prompt::Prompt;
use model::error::AppError;
use model::id::{ProjectId, RemoteId};
use model::job::Job;
use store::jobs::imports::NewImport;

impl Jobs {
    /// Tracks the upstream's job `remote_id`. Its prompt is unknown: `note` replaces it.
    pub async fn import(
        &self,
        caller: &Caller,
        project: &ProjectId,
        remote_id: &RemoteId,
        note: Option<Prompt>,
    ) -> Result<Job, AppError> {
        let remote = self.fetch_untracked(project, remote_id).await?;
        let import = NewImport {
            project,
            author: &caller.actor(),
            text: &note.map_or_else(|| format!("Imported job {}", remote.id), String::from),
            remote: &remote,
            note: &format!("{} imported this job: it was started elsewhere.", caller.user.name),
        };
        let imported = self.store.import(caller.authority(), &import, self.next_poll()).await;
        let job = imported.map_err(|error| conflict_or(error, caller, remote_id.as_str()))?;
        tracing::info!(%job, remote = remote.id, "job imported");
        self.get(project, &job).await
    }
}
