//! Changes of jobs since a person last looked, and API tokens that expire soon. Does not call the upstream.

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::filter::parse;
use crate::response_size::Room;
use base::query_permits::QueryPermit;
use model::error::AppError;
use model::id::ProjectId;
use model::job::Job;
use model::job_list::Notifications;
use model::job_query::JobQuery;
use model::user::Role;
use store::jobs::seen::Reader;

impl Jobs {
    /// The latest jobs that finished, failed or need attention, of `all` people or of the caller, most recent change
    /// first, and the caller's API tokens that expire soon; for administrators also notices about the platform. Marks exactly these as seen, unless the page was prefetched or refreshed itself.
    pub async fn notifications(
        &self,
        permit: &QueryPermit,
        caller: &Caller,
        project: &ProjectId,
        all: bool,
    ) -> Result<Notifications, AppError> {
        let user = &caller.user;
        let author = if all { "" } else { user.name.as_str() };
        let (_, filter) =
            parse(&JobQuery::default().with("sort", "changed").with("author", author), self.today())?;
        let seen = self.store.seen(&user.id, project, all).await?;
        // A change after this moment may be missing from the list.
        let now = self.clock.now();
        let mut listed = self.store.jobs(permit, project, &filter).await?;
        let total = filter.total(&listed.counts, listed.no_changes);
        let mut room = Room::of_function();
        listed.keep(|job| room.takes(job));
        let examined = listed.jobs.len() as u64;
        let oldest = listed.jobs.last().filter(|_| listed.next.is_some()).map(|job| job.changed_at);
        let is_old = |job: &Job| seen.has(job.changed_at);
        let (earlier, new) = listed.jobs.into_iter().filter(|job: &Job| !job.is_moving()).partition(is_old);
        let tokens = self.store.expiring_api_tokens(&user.id, now).await?;
        let platform = match user.role {
            Role::Admin => self.governor.notices(&user.id).await?,
            Role::Viewer | Role::Operator => Vec::new(),
        };
        if !caller.is_refresh {
            if tokens.iter().any(|token| token.is_new) {
                self.store.mark_token_notices_seen(caller.authority(), &user.id).await?;
            }
            if platform.iter().any(|notice| notice.is_new) {
                self.store.mark_platform_notices_seen(caller.authority(), &user.id).await?;
            }
            self.store.mark_seen(caller.authority(), &user.id, project, all, oldest).await?;
        }
        let reader = Reader { user_id: user.id.clone(), everyone: all };
        let older = match oldest {
            Some(_) if !caller.is_refresh => self.store.revision(project, &reader, now).await?.1.jobs,
            _ => 0,
        };
        Ok(Notifications { new, earlier, older, examined, total, tokens, platform, looked_at: seen.last() })
    }

    /// Marks every change of the jobs of `all` people, or of the caller's, as seen.
    pub async fn mark_notifications_read(
        &self,
        caller: &Caller,
        project: &ProjectId,
        all: bool,
    ) -> Result<(), AppError> {
        Ok(self.store.mark_seen(caller.authority(), &caller.user.id, project, all, None).await?)
    }
}
