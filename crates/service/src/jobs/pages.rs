//! The pages of jobs: typed, or mentioned in a prompt and known from the daily history. A job has the stored path of a known page, in NFC as all its
//! texts.

use std::collections::HashSet;

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::archive_and_tags::ChosenIds;
use base::blocking;
use base::nfc::nfc;
use base::query_permits::QueryPermit;
use model::error::AppError;
use model::id::{JobId, ProjectId};
use model::job::{BulkResult, Job};
use model::page_path::{self, PageChange, Pages, PathsError};
use store::StoreError;
use store::jobs::intents::NewIntent;
use store::jobs::list::{JobFilter, PageJobs};
use store::page_views::known_pages::KnownPages;

impl Jobs {
    /// Parses the pages of a form field, separated by commas or line ends.
    pub fn written_pages(&self, project: &ProjectId, text: &str) -> Result<Pages, PathsError> {
        page_path::typed(&self.paths_in(project, text))
    }

    /// Parses one page of a form field; `None` if the text is empty.
    pub fn written_page(&self, project: &ProjectId, text: &str) -> Result<Option<String>, PathsError> {
        page_path::typed_one(&self.paths_in(project, text))
    }

    /// Parses each of these pages.
    pub fn each_written_page(&self, project: &ProjectId, texts: &[String]) -> Result<Pages, PathsError> {
        Pages::of_each(texts.iter().map(|text| self.paths_in(project, text)))
    }

    /// The text in NFC, with the paths of published pages instead of their URLs.
    pub(super) fn paths_in(&self, project: &ProjectId, text: &str) -> String {
        let settings = self.settings.current();
        let site = settings.projects.iter().find(|known| known.id == *project);
        page_path::paths_of_urls(&nfc(text), site.and_then(|project| project.site.as_deref())).into_owned()
    }

    /// The stored paths of the pages of the project that a prompt mentions.
    pub async fn mentioned_pages(&self, project: &ProjectId, prompt: &str) -> Result<Pages, StoreError> {
        let found = self.found_in(project, prompt);
        let known = self.store.known_pages(project, &found).await?;
        Ok(found.map(|path| stored(&known, path)))
    }

    /// Those of `written` that are no page of the daily history. None if there is no history to compare with.
    pub async fn unknown_pages(
        &self,
        project: &ProjectId,
        written: &[String],
    ) -> Result<Vec<String>, StoreError> {
        let known = self.store.known_pages(project, written).await?;
        let unknown: Vec<String> =
            written.iter().filter(|path| known.page(path).is_none()).cloned().collect();
        if unknown.is_empty() || self.store.has_pages(project).await? { Ok(unknown) } else { Ok(Vec::new()) }
    }

    /// Adds to a filter the labels of its pages.
    pub(super) async fn with_labels_of_pages(
        &self,
        project: &ProjectId,
        mut filter: JobFilter,
    ) -> Result<JobFilter, StoreError> {
        let named = filter.label.iter().chain(&filter.page).filter(|label| label.starts_with('/'));
        let named: Vec<String> = named.cloned().collect();
        let known = self.store.known_pages(project, &named).await?;
        let labels = |page: String| (known.labels(&page), page);
        filter.labels_of_pages = named.into_iter().map(labels).map(|(labels, page)| (page, labels)).collect();
        Ok(filter)
    }

    /// The newest jobs about a page, archived ones too, at most `most`, and the number of all.
    pub async fn about_page(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        path: &str,
        most: PageJobs,
    ) -> Result<(Vec<Job>, u64), AppError> {
        // Other texts are tags.
        if !path.starts_with('/') {
            return Ok((Vec::new(), 0));
        }
        let page = Some(nfc(path).into_owned());
        let filter = JobFilter { page, page_jobs: most, ..JobFilter::default() };
        let filter = self.with_labels_of_pages(project, filter).await?;
        let places = self.store.job_places(permit, project, &filter).await?;
        let ids: Vec<JobId> = places.jobs().cloned().collect();
        Ok((self.store.listed_jobs(permit, &ids).await?, places.total()))
    }

    /// Pages of the project whose path contains `typed`; none for an empty text.
    pub async fn suggest_pages(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        typed: &str,
    ) -> Result<Vec<String>, AppError> {
        let typed = page_path::with_commas(&self.paths_in(project, typed.trim()));
        let typed = typed.trim();
        if typed.is_empty() || typed.chars().count() > page_path::PATH_MAX_CHARS {
            return Ok(Vec::new());
        }
        Ok(self.store.suggested_pages(permit, project, typed).await?)
    }

    /// The intent with the stored paths of its pages, and with the pages of the project that its prompt mentions.
    pub(super) async fn with_mentioned_pages(&self, intent: NewIntent) -> Result<NewIntent, StoreError> {
        let found = self.found_in(&intent.project, intent.prompt.as_str());
        let written: Vec<String> = intent.pages.iter().chain(found.iter()).cloned().collect();
        let known = self.store.known_pages(&intent.project, &written).await?;
        Ok(NewIntent { pages: of_job(&known, &intent.pages, &found), ..intent })
    }

    /// The same for each prompt of a batch.
    pub(super) async fn all_with_mentioned_pages(
        &self,
        project: &ProjectId,
        intents: Vec<NewIntent>,
    ) -> Result<Vec<NewIntent>, StoreError> {
        let (jobs, of) = (self.clone(), project.clone());
        let find = move || {
            let found = intents.iter().map(|intent| jobs.found_in(&of, intent.prompt.as_str()));
            let found: Vec<Pages> = found.collect();
            (intents, found)
        };
        let (mut intents, found) = blocking::run(usize::MAX, find).await;
        let typed = intents.iter().map(|intent| &intent.pages);
        let different: HashSet<&String> = typed.chain(&found).flat_map(|pages| pages.iter()).collect();
        let different: Vec<String> = different.into_iter().cloned().collect();
        let known = self.store.known_pages(project, &different).await?;
        for (intent, found) in intents.iter_mut().zip(found) {
            intent.pages = of_job(&known, &intent.pages, &found);
        }
        Ok(intents)
    }

    /// The paths that a prompt mentions, which may be pages of the project.
    pub(super) fn found_in(&self, project: &ProjectId, prompt: &str) -> Pages {
        page_path::found_in(&self.paths_in(project, prompt))
    }

    /// Adds a page to jobs, or removes it.
    pub async fn change_page(
        &self,
        change: PageChange,
        caller: &Caller,
        project: &ProjectId,
        jobs: &ChosenIds,
        path: &str,
    ) -> Result<BulkResult, AppError> {
        let known = self.store.known_pages(project, &[path.to_owned()]).await?;
        let mut paths = known.labels(path);
        if matches!(change, PageChange::Add) {
            paths.insert(0, stored_or_new(&known, path));
        }
        let by = caller.authority();
        Ok(BulkResult { jobs: self.store.change_page(by, change, project, &jobs.0, &paths).await? })
    }
}

/// The pages of a job: those typed, and those of `found` that are known.
pub(super) fn of_job(known: &KnownPages, typed: &Pages, found: &Pages) -> Pages {
    let typed = typed.map(|path| Some(stored_or_new(known, path)));
    page_path::of_job(typed, found.map(|path| stored(known, path)))
}

/// A known page as jobs have it.
fn stored(known: &KnownPages, path: &str) -> Option<String> {
    known.page(path).map(|page| nfc(page).into_owned())
}

/// A page as jobs have it. The path of an unknown one has no slash at its end and no percent-encoding.
fn stored_or_new(known: &KnownPages, path: &str) -> String {
    let new = || nfc(&page_path::without_slash(&page_path::readable(path))).into_owned();
    stored(known, path).unwrap_or_else(new)
}
