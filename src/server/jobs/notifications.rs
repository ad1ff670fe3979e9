//! What happened to jobs since a person last looked. Must not call the upstream.

use crate::error::AppError;
use crate::model::id::ProjectId;
use crate::model::job::{Job, Notifications};
use crate::model::job_query::JobQuery;
use crate::server::auth::guard::Caller;
use crate::server::jobs::Jobs;
use crate::server::jobs::filter::parse;
use crate::server::query_permits::QueryPermit;

impl Jobs {
    /// The jobs that finished, failed or need attention, of `all` people or of the caller, the last change first. From now on the
    /// caller has seen them; a page that is fetched ahead or refreshes itself is not looked at.
    pub async fn notifications(
        &self,
        permit: &QueryPermit,
        caller: &Caller,
        project: &ProjectId,
        all: bool,
    ) -> Result<Notifications, AppError> {
        let user = &caller.user;
        let author = if all { "" } else { user.name.as_str() };
        let (_, filter) = parse(&JobQuery::default().with("sort", "changed").with("author", author))?;
        let looked_at = self.store.looked_at(&user.id, project, all).await?;
        let mut jobs = self.store.jobs(permit, project, &filter).await?.jobs;
        jobs.retain(|job: &Job| !job.is_moving());
        if !caller.is_refresh {
            self.store.look(&user.id, project, all, self.clock.now()).await?;
        }
        Ok(Notifications { jobs, looked_at })
    }
}
