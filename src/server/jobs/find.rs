//! Finding jobs. Must not write or call the upstream.

use crate::error::AppError;
use crate::model::id::{IntentId, JobId, ProjectId};
use crate::model::job::{Job, JobBadge, JobForm, JobPage, JobState, JobsOverview};
use crate::model::job_query::JobQuery;
use crate::server::auth::guard::Caller;
use crate::server::jobs::Jobs;
use crate::server::jobs::cursor::Seal;
use crate::server::jobs::filter::parse;
use crate::server::store::drafts::{Draft, DraftKey};
use crate::server::store::job_list::{Listed, PAGE_JOBS, PageStart};

/// The number of jobs in the overview's sections of running jobs and jobs that need attention.
const SECTION_JOBS: usize = 8;

/// The number of finished jobs in the overview.
const FINISHED_JOBS: usize = 6;

/// The maximum number of jobs in one call.
const JOBS_MAX: usize = 200;

/// The largest page number.
const PAGES_MAX: u64 = 1_000_000;

impl Jobs {
    pub async fn get(&self, project: &ProjectId, job: &str) -> Result<Job, AppError> {
        let missing = || AppError::not_found("That job does not exist in this project.");
        let id: JobId = job.parse().map_err(AppError::bad_input)?;
        self.store.job(project, &id).await?.ok_or_else(missing)
    }

    /// A page of jobs: at `cursor`, or else the one with this number; the first by default.
    pub async fn list(
        &self,
        project: &ProjectId,
        query: JobQuery,
        cursor: Option<String>,
        page: Option<String>,
    ) -> Result<JobPage, AppError> {
        let (query, mut filter) = parse(&query)?;
        let seal = Seal::of(project, &query);
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        filter.page_start = match (given(cursor), given(page)) {
            (Some(cursor), _) => PageStart::At(seal.read(cursor.trim())?),
            (None, Some(page)) => PageStart::Start(before_page(&page)?),
            (None, None) => PageStart::default(),
        };
        let Listed { jobs, next, previous, before, counts, attention } =
            self.store.jobs(project, &filter).await?;
        let total = filter
            .state
            .map_or_else(|| counts.values().sum(), |state| counts.get(&state).copied().unwrap_or_default());
        let [next, previous] = [next, previous].map(|cursor| cursor.map(|cursor| seal.write(cursor)));
        Ok(JobPage { jobs, next, previous, before, total, counts, attention })
    }

    /// Running jobs, jobs that need attention, and recently finished jobs.
    pub async fn overview(&self, project: &ProjectId) -> Result<JobsOverview, AppError> {
        let filters = [
            JobQuery::default().with("status", "active"),
            JobQuery::default().with("needs", "attention"),
            JobQuery::default().with("pr", "yes").with("sort", "changed"),
        ];
        let [(_, running), (_, needing), (_, changed)] = {
            let [running, needing, changed] = filters.each_ref().map(parse);
            [running?, needing?, changed?]
        };
        let sections = [(&running, SECTION_JOBS), (&needing, SECTION_JOBS), (&changed, SECTION_JOBS)];
        let ([running, needing, changed], counts, attention) = self.store.sections(project, sections).await?;
        let is_finished = |job: &Job| matches!(job.state, JobState::Completed | JobState::Archived);
        let finished = changed.into_iter().filter(is_finished).take(FINISHED_JOBS).collect();
        Ok(JobsOverview { running, needing, finished, counts, attention })
    }

    /// The badges of comma-separated ids; ids that are not in the project are omitted.
    pub async fn badges(&self, project: &ProjectId, ids: &str) -> Result<Vec<JobBadge>, AppError> {
        Ok(self.store.badges(project, &job_ids(ids)?).await?)
    }

    /// The initial values of a form: a new intent, and the draft.
    pub async fn form(
        &self,
        caller: &Caller,
        project: &ProjectId,
        job: Option<&str>,
    ) -> Result<JobForm, AppError> {
        let job = job.filter(|job| !job.is_empty());
        let job: Option<JobId> = job.map(str::parse).transpose().map_err(AppError::bad_input)?;
        let subject = job.as_ref().map_or("", JobId::as_str);
        let of = DraftKey { user_id: &caller.user.id, project, subject };
        let draft = self.store.draft(of).await?;
        let (draft, draft_saved_at) = draft.map(|(draft, at)| (draft, Some(at))).unwrap_or_default();
        let Draft { text: draft, paths: draft_paths, template: draft_template } = draft;
        let intent: IntentId = uuid::Uuid::new_v4().to_string().parse().map_err(AppError::bad_input)?;
        let prompt_max = self.prompt_max;
        Ok(JobForm { intent, draft, draft_paths, draft_template, draft_saved_at, prompt_max })
    }
}

/// Parses comma-separated ids of jobs.
pub(super) fn job_ids(ids: &str) -> Result<Vec<JobId>, AppError> {
    let ids = ids.split(',').map(str::trim).filter(|id| !id.is_empty());
    let ids: Vec<JobId> = ids.map(str::parse).collect::<Result<_, _>>().map_err(AppError::bad_input)?;
    if ids.len() > JOBS_MAX {
        return Err(AppError::bad_input(format!("At most {JOBS_MAX} jobs can be chosen at once.")));
    }
    Ok(ids)
}

/// The number of jobs before the page with this number.
fn before_page(page: &str) -> Result<u64, AppError> {
    let number = page.trim().parse().ok().filter(|number| (1..=PAGES_MAX).contains(number));
    let number = number.ok_or_else(|| AppError::bad_input("The page must be a number from 1."))?;
    Ok((number - 1) * PAGE_JOBS as u64)
}
