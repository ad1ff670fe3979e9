//! Finding jobs. Writes nothing, and does not call the upstream.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use thiserror::Error;

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::cursor::Seal;
use crate::jobs::filter::parse;
use crate::jobs::intent::new_intent;
use crate::response_size::{Room, shortened};
use base::query_permits::QueryPermit;
use model::ParseError;
use model::day::Day;
use model::error::{AppError, BadInput};
use model::excerpt::SearchWords;
use model::id::{BatchId, InvalidId, JobId, ProjectId};
use model::job::{FollowUp, Job, JobForm, JobState, ShownFollowUps};
use model::job_list::{Facets, JobPage, JobsOverview};
use model::job_query::JobQuery;
use model::time::Timestamp;
use store::jobs::changes::{ChangedJobs, LastChange};
use store::jobs::drafts::{DraftKey, FormOf};
use store::jobs::list::{
    JobFilter, JobPlaces, Listed, PAGE_JOBS, PageJobs, PageStart, Sections, Sort, Whose,
};
use store::jobs::seen::Reader;

/// The number of jobs in the overview's sections of running and new jobs.
const SECTION_JOBS: usize = 8;

/// The number of jobs among which the overview finds the rows of a section where the jobs of a batch are one row.
const FOLDED_JOBS: usize = 50;

/// A match within the first characters of a title is visible in a row, without an excerpt.
const TITLE_CHARS: usize = 56;

/// The maximum number of badges in one call.
pub const BADGES_MAX: usize = 200;

/// The largest page number.
const PAGES_MAX: u64 = 1_000_000;

/// The jobs that a program requests.
pub struct JobsWanted {
    pub query: JobQuery,
    /// The path of a page that they are about.
    pub page: Option<String>,
    pub created_from: Option<Timestamp>,
    pub created_before: Option<Timestamp>,
    /// Only jobs whose states changed at this time or later. Then the list is in the order of changes, and goes on with later ones.
    pub changed_from: Option<Timestamp>,
    /// Whether the job is archived in Docket; `None` for all jobs.
    pub archived: Option<bool>,
    pub page_jobs: PageJobs,
    pub cursor: Option<String>,
}

impl JobsWanted {
    /// The filters besides the query. A cursor belongs to all of them.
    fn further_filters(&self) -> String {
        let millis = |at: Option<Timestamp>| at.map(|at| at.as_millis());
        let times = [self.created_from, self.created_before, self.changed_from].map(millis);
        format!("{:?} {times:?} {:?}", self.page, self.archived)
    }
}

/// The jobs of a page, whose texts are not loaded yet.
pub struct FoundJobs {
    places: Places,
    seal: Seal,
}

enum Places {
    Listed(JobPlaces),
    Changed(ChangedJobs),
}

impl FoundJobs {
    /// Their ids, in order.
    pub fn ids(&self) -> Vec<JobId> {
        match &self.places {
            Places::Listed(places) => places.jobs().cloned().collect(),
            Places::Changed(jobs) => jobs.jobs().cloned().collect(),
        }
    }

    /// The cursor of the page after the first `count` of them; `None` if no jobs follow. In the order of changes, later ones always follow.
    pub fn cursor_after(&self, count: usize) -> Option<String> {
        match &self.places {
            Places::Listed(places) => places.cursor_after(count).map(|cursor| self.seal.write(cursor)),
            Places::Changed(jobs) => Some(self.seal.write_change(jobs.position_after(count))),
        }
    }
}

impl Jobs {
    pub async fn get(&self, project: &ProjectId, job: &JobId) -> Result<Job, AppError> {
        self.store.job(project, job).await?.map(shortened::job).ok_or_else(no_such_job)
    }

    /// As [`Jobs::get`], for the job's page: the texts of follow-ups that are not shown are empty.
    pub async fn get_shown(
        &self,
        project: &ProjectId,
        job: &JobId,
        shown: ShownFollowUps,
    ) -> Result<Job, AppError> {
        self.store.shown_job(project, job, shown).await?.ok_or_else(no_such_job)
    }

    /// As [`Jobs::get`], with the follow-ups before number `before`.
    pub async fn get_before(&self, project: &ProjectId, job: &JobId, before: u32) -> Result<Job, AppError> {
        let mut job = self.get(project, job).await?;
        (job.follow_ups, job.earlier_follow_ups) = self.follow_ups_before(&job.id, before, u32::MAX).await?;
        Ok(shortened::job(job))
    }

    /// A page of jobs: at `cursor`, or else the one with this number; the first by default.
    pub async fn list(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        query: JobQuery,
        cursor: Option<String>,
        page: Option<String>,
    ) -> Result<JobPage, AppError> {
        let (query, mut filter) = parse(&query, self.today())?;
        let seal = Seal::of(project, &query);
        filter = self.with_labels_of_pages(project, filter).await?;
        let given = |text: Option<String>| text.filter(|text| !text.trim().is_empty());
        filter.page_start = match (given(cursor), given(page)) {
            (Some(cursor), _) => PageStart::At(seal.read(cursor.trim())?),
            (None, Some(page)) => PageStart::Start((page_number(&page, PAGES_MAX)? - 1) * PAGE_JOBS as u64),
            (None, None) => PageStart::default(),
        };
        let mut listed = self.store.jobs(permit, project, &filter).await?;
        let mut room = Room::of_function();
        listed.keep(|job| room.takes(job));
        // A job without a pull request may have changed something there.
        if self.is_direct(project) {
            listed.no_changes = 0;
            if filter.no_changes {
                (listed.jobs, listed.next, listed.previous) = (Vec::new(), None, None);
            }
        }
        let Listed { jobs, next, previous, before, counts, attention, no_changes, revision, .. } = listed;
        let total = filter.total(&counts, no_changes);
        let [next, previous] = [next, previous].map(|cursor| cursor.map(|cursor| seal.write(cursor)));
        let excerpts = self.excerpts(permit, &query.q, &jobs).await?;
        let batches = self.store.batch_summaries(&batches_of(&jobs)).await?;
        Ok(JobPage {
            jobs,
            next,
            previous,
            before,
            total,
            counts,
            attention,
            no_changes,
            revision,
            excerpts,
            batches,
        })
    }

    /// How many jobs match.
    pub async fn count(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        query: JobQuery,
    ) -> Result<u64, AppError> {
        let (_, filter) = parse(&query, self.today())?;
        let filter = JobFilter { page_jobs: PageJobs::new(1).unwrap_or_default(), ..filter };
        let filter = self.with_labels_of_pages(project, filter).await?;
        let listed = self.store.jobs(permit, project, &filter).await?;
        let no_changes = if self.is_direct(project) { 0 } else { listed.no_changes };
        Ok(filter.total(&listed.counts, no_changes))
    }

    /// Whether the platform publishes the changes of the project directly.
    fn is_direct(&self, project: &ProjectId) -> bool {
        let projects = self.settings.current().projects;
        projects.iter().any(|configured| configured.id == *project && configured.is_direct)
    }

    pub(super) fn today(&self) -> Day {
        Day::of(self.clock.now())
    }

    /// The values of the filters, at this revision of the project's jobs.
    pub async fn facets(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        revision: i64,
    ) -> Result<Arc<Facets>, AppError> {
        Ok(self.facets.get(project, revision, self.store.facets(permit, project)).await?)
    }

    /// A page of jobs for programs, whose texts are loaded later.
    pub async fn find(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        wanted: JobsWanted,
    ) -> Result<FoundJobs, AppError> {
        let (query, filter) = parse(&wanted.query, self.today())?;
        let seal = Seal::of(project, &query).and(&wanted.further_filters());
        let JobsWanted {
            page, created_from, created_before, archived, page_jobs, changed_from, cursor, ..
        } = wanted;
        let page = page.map(|page| self.page_of(project, &page)).transpose();
        let page = page.map_err(|error| AppError::from(error).about("page"))?;
        let filter = JobFilter { page, created_from, created_before, archived, page_jobs, ..filter };
        let filter = self.with_labels_of_pages(project, filter).await?;
        let cursor = cursor.as_deref();
        let places = match changed_from {
            Some(since) => {
                let position = cursor.map(|cursor| seal.read_change(cursor)).transpose();
                let position = position.map_err(|error| AppError::from(error).about("cursor"))?;
                let changed = self.store.changed_jobs(permit, project, &filter, since, position).await?;
                Places::Changed(changed.ok_or_else(restored)?)
            }
            None => {
                let page_start = cursor.map(|cursor| seal.read(cursor).map(PageStart::At)).transpose();
                let page_start = page_start.map_err(|error| AppError::from(error).about("cursor"))?;
                let filter = JobFilter { page_start: page_start.unwrap_or_default(), ..filter };
                Places::Listed(self.store.job_places(permit, project, &filter).await?)
            }
        };
        Ok(FoundJobs { places, seal })
    }

    /// A page to filter by, as it is written.
    fn page_of(&self, project: &ProjectId, path: &str) -> Result<String, ParseError> {
        let page = self.written_page(project, path).ok().flatten();
        page.ok_or_else(|| "“page” must be the path of a page, such as /guides/auth.".into())
    }

    /// A text that differs whenever any job of the project, as programs see it, may have changed.
    pub async fn version_of_list(&self, project: &ProjectId) -> Result<String, AppError> {
        Ok(self.version(project, self.store.last_change(project).await?))
    }

    /// A text that differs whenever the job, as programs see it, may have changed.
    pub async fn version_of(&self, project: &ProjectId, job: &JobId) -> Result<String, AppError> {
        let change = self.store.last_change_of(project, job).await?;
        Ok(self.version(project, change.ok_or_else(no_such_job)?))
    }

    fn version(&self, project: &ProjectId, change: LastChange) -> String {
        let LastChange { number, restored_at } = change;
        format!("{number}.{restored_at}.{}", self.is_direct(project))
    }

    /// Those of `jobs` that exist, as lists show them, in this order.
    pub async fn listed(&self, permit: &QueryPermit, jobs: &[JobId]) -> Result<Vec<Job>, AppError> {
        Ok(self.store.listed_jobs(permit, jobs).await?)
    }

    /// The last follow-ups of a job before number `before`, at most `most` and at most 50, and how many are before them.
    pub async fn follow_ups_before(
        &self,
        job: &JobId,
        before: u32,
        most: u32,
    ) -> Result<(Vec<FollowUp>, u32), AppError> {
        Ok(self.store.follow_ups_before(job, before, most).await?)
    }

    /// Excerpts around the match of the search `q`, for the jobs whose match is not visible in the title.
    async fn excerpts(
        &self,
        permit: &QueryPermit,
        q: &str,
        jobs: &[Job],
    ) -> Result<BTreeMap<String, String>, AppError> {
        let words = SearchWords::of(q);
        let Some(longest) = words.longest() else { return Ok(BTreeMap::new()) };
        let mut excerpts = BTreeMap::new();
        let mut elsewhere = Vec::new();
        let is_in_sight = |job: &&Job| words.first(&job.title()).is_some_and(|at| at < TITLE_CHARS);
        for job in jobs.iter().filter(|job| !is_in_sight(job)) {
            let mut texts = std::iter::once(&job.prompt).chain(job.follow_ups.iter().map(|it| &it.prompt));
            match texts.find_map(|text| words.excerpt(text)).or_else(|| unseen_name(job, q)) {
                Some(excerpt) => _ = excerpts.insert(job.id.to_string(), excerpt),
                None => elsewhere.push(job.id.clone()),
            }
        }
        for (job, text) in self.store.passages(permit, &elsewhere, &longest).await? {
            excerpts.insert(job, words.excerpt(&text).unwrap_or(text));
        }
        Ok(excerpts)
    }

    /// Jobs that are new to `reader`, running jobs, jobs that need attention, and recently finished jobs. `connected`: also those whose
    /// pull requests have waited too long. Does not mark anything as seen.
    pub async fn overview(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        reader: Reader,
        connected: bool,
    ) -> Result<JobsOverview, AppError> {
        // Without pull requests, every completed job may have changed something.
        let finished = match self.is_direct(project) {
            true => JobQuery::default().with("status", "completed"),
            false => JobQuery::default().with("pr", "yes"),
        };
        let filters = [
            (JobQuery::default().with("status", "active"), SECTION_JOBS),
            (finished.with("sort", "changed"), FOLDED_JOBS),
        ];
        let mut sections = Vec::with_capacity(filters.len());
        for (filter, most) in &filters {
            sections.push((parse(filter, self.today())?.1, *most));
        }
        for whose in [Whose::Of(reader.user_id.clone()), Whose::OfOthers(reader.user_id.clone())] {
            let needing = JobFilter {
                needs_attention: true,
                whose: Some(whose),
                archived: Some(false),
                ..JobFilter::default()
            };
            sections.push((needing, FOLDED_JOBS));
        }
        let new = JobFilter {
            new_to: Some(reader),
            archived: Some(false),
            sort: Sort::Changed,
            ..JobFilter::default()
        };
        sections.push((new, SECTION_JOBS));
        let sections = std::array::from_fn::<_, 5, _>(|at| (&sections[at].0, sections[at].1));
        let Sections { jobs, counts, attention, no_changes, revision } =
            self.store.sections(permit, project, sections).await?;
        let [running, mut finished, needing, needing_of_others, new] = jobs;
        finished.retain(|job| matches!(job.outcome(), JobState::Completed | JobState::Archived));
        let folded = [&finished, &needing, &needing_of_others];
        let batches: BTreeSet<BatchId> = folded.into_iter().flat_map(|jobs| batches_of(jobs)).collect();
        let batches = self.store.batch_summaries(&Vec::from_iter(batches)).await?;
        let ids: Vec<JobId> = running.iter().map(|job| job.id.clone()).collect();
        let usual_times = self.usual_times.get(project, revision, self.store.usual_times(&ids)).await?;
        let stale_before = self.clock.now().before(self.settings.current().review_stale_after);
        let stale = match connected {
            true => self.store.stale_reviews(project, stale_before, SECTION_JOBS).await?,
            false => Vec::new(),
        };
        Ok(shortened::overview(JobsOverview {
            new,
            running,
            usual_times,
            needing,
            needing_of_others,
            stale,
            finished,
            batches,
            counts,
            attention,
            no_changes,
            revision,
        }))
    }

    /// The initial values of a form: a new intent, and the draft.
    pub async fn form(
        &self,
        caller: &Caller,
        project: &ProjectId,
        form: &FormOf,
    ) -> Result<JobForm, AppError> {
        let of = DraftKey { user_id: &caller.user.id, project, subject: &form.subject() };
        let (draft, other_drafts) = match form {
            FormOf::FollowUp(_) => (self.store.draft(of).await?, Vec::new()),
            FormOf::NewJob(_) => self.store.new_job_drafts(of).await?,
        };
        let draft_saved_at = draft.as_ref().map(|draft| draft.saved_at);
        let (draft, draft_paths, draft_template, origin) =
            draft.map(|draft| (draft.text, draft.paths, draft.template, draft.origin)).unwrap_or_default();
        let intent = new_intent()?;
        let draft_origin = if origin.is_empty() { intent.to_string() } else { origin };
        let prompt_max = self.prompt_max();
        Ok(JobForm {
            intent,
            draft,
            draft_paths,
            draft_template,
            draft_saved_at,
            draft_origin,
            other_drafts,
            prompt_max,
        })
    }
}

pub(super) fn no_such_job() -> AppError {
    AppError::not_found("That job does not exist in this project.")
}

fn restored() -> AppError {
    AppError::conflict(
        "Docket continues with a backup since this cursor was written. Start again without a cursor.",
    )
}

/// The branch or the id of the job, if it is or begins with the search `q`: a row shows neither.
fn unseen_name(job: &Job, q: &str) -> Option<String> {
    let q = q.trim().to_lowercase();
    let remote = job.remote.as_ref()?;
    let branch = remote.git_ref.as_deref().map(|branch| ("Branch", branch));
    let mut names = branch.into_iter().chain([("Platform id", remote.id.as_str())]);
    let (what, name) = names.find(|(_, name)| !q.is_empty() && name.to_lowercase().starts_with(&q))?;
    Some(format!("{what} {name}"))
}

/// The batches with more than one job among `jobs`.
fn batches_of(jobs: &[Job]) -> Vec<BatchId> {
    let mut counts = BTreeMap::<&BatchId, usize>::new();
    for batch in jobs.iter().filter_map(|job| job.batch.as_ref()) {
        *counts.entry(batch).or_default() += 1;
    }
    let several = counts.into_iter().filter(|(_, jobs)| *jobs > 1);
    several.map(|(batch, _)| batch.clone()).collect()
}

/// Why jobs cannot be chosen for an action or a page.
#[derive(Debug, Error)]
pub enum ChoiceError {
    #[error(transparent)]
    Id(#[from] InvalidId),
    #[error("At most {most} jobs can be chosen at once.")]
    TooMany { most: usize },
    #[error("More than {most} jobs match. Narrow the list by a filter first.")]
    TooManyMatch { most: usize },
    #[error("You selected {shown}, {now} match now. Reload the page and select them again.")]
    Changed { shown: u64, now: u64 },
    #[error("Choose at least one job.")]
    None,
}

impl BadInput for ChoiceError {}

/// Parses at most `most` comma-separated ids of jobs.
pub fn job_ids(ids: &str, most: usize) -> Result<Vec<JobId>, ChoiceError> {
    let ids = ids.split(',').map(str::trim).filter(|id| !id.is_empty());
    let ids: Vec<JobId> = ids.map(str::parse).collect::<Result<_, _>>()?;
    if ids.len() > most {
        return Err(ChoiceError::TooMany { most });
    }
    Ok(ids)
}

/// The number of a page, from 1 to `most`.
pub(super) fn page_number(page: &str, most: u64) -> Result<u64, ParseError> {
    let number = page.trim().parse().ok().filter(|number| (1..=most).contains(number));
    number.ok_or_else(|| "The page must be a number from 1.".into())
}
