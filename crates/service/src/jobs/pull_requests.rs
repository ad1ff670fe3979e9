//! The pull requests of jobs: which pages they change, and which ones wait for somebody.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use crate::jobs::Jobs;
use base::nfc::nfc;
use model::error::AppError;
use model::id::ProjectId;
use model::pull_request::Reviews;
use model::pull_request::files::{PagesOfFiles, candidates, locales};
use model::similar::{ChangedPage, OpenRequest};

/// The open pull requests that change a page, by the path of the page in NFC.
pub type OpenRequests = BTreeMap<String, Vec<OpenRequest>>;

/// The maximum number of changed files of all open pull requests that are compared with pages.
const FILES_MAX: usize = 5_000;
/// How long merged pull requests are listed, in seconds.
const MERGED_SECONDS: i64 = 7 * 24 * 3_600;
/// The maximum number of folders that are looked up as locales.
const LOCALES_MAX: usize = 20;

impl Jobs {
    /// The pages of the project that these files of its repository are.
    pub async fn pages_of_files(
        &self,
        project: &ProjectId,
        files: &[String],
    ) -> Result<PagesOfFiles, AppError> {
        let paths: BTreeSet<String> = files.iter().flat_map(|file| candidates(file)).collect();
        let folders: BTreeSet<String> = files.iter().flat_map(|file| locales(file)).collect();
        let paths: Vec<String> = paths.into_iter().collect();
        let folders: Vec<String> = folders.into_iter().take(LOCALES_MAX).collect();
        let known = self.store.known_pages(project, &paths).await?;
        let page = |path: String| Some((known.page(&path)?.to_owned(), path));
        let pages = paths.into_iter().filter_map(page).map(|(page, path)| (path, page)).collect();
        Ok(PagesOfFiles::new(pages, self.store.known_folders(project, &folders).await?))
    }

    /// The open pull requests that change each page of the project, the newest first. Computed once per revision of the project.
    pub async fn open_requests(&self, project: &ProjectId) -> Result<Arc<OpenRequests>, AppError> {
        let revision = self.store.project_revision(project).await?;
        self.open_requests.get(project, revision, self.compute_open_requests(project)).await
    }

    /// Those of `pages` that an open pull request changes, each with the newest one.
    pub async fn changed_pages(
        &self,
        project: &ProjectId,
        pages: &BTreeSet<&str>,
    ) -> Result<Vec<ChangedPage>, AppError> {
        let open = self.open_requests(project).await?;
        Ok(pages.iter().filter_map(|page| changed_page(&open, page)).collect())
    }

    async fn compute_open_requests(&self, project: &ProjectId) -> Result<OpenRequests, AppError> {
        let open = self.store.open_pull_requests(project).await?;
        let files: Vec<String> = open.iter().flat_map(|(_, files)| files).take(FILES_MAX).cloned().collect();
        let pages = self.pages_of_files(project, &files).await?;
        let mut requests = OpenRequests::new();
        for (request, files) in open {
            let changed = files.iter().filter_map(|file| pages.page(file));
            let changed: BTreeSet<String> = changed.map(|page| nfc(page).into_owned()).collect();
            for page in changed {
                requests.entry(page).or_default().push(request.clone());
            }
        }
        Ok(requests)
    }

    /// The pull requests that wait for somebody, and those merged lately.
    pub async fn reviews(
        &self,
        project: &ProjectId,
        stale_days: u32,
        connected: bool,
    ) -> Result<Reviews, AppError> {
        let since = self.clock.now().plus_seconds(-MERGED_SECONDS);
        let (groups, merged, merged_total) = self.store.reviews(project, since).await?;
        Ok(Reviews { groups, merged, merged_total, stale_days, connected, next: None })
    }
}

/// The page with the newest open pull request that changes it. The caller's path stays as it is.
fn changed_page(open: &OpenRequests, page: &str) -> Option<ChangedPage> {
    let request = open.get(&*nfc(page))?.first()?;
    Some(ChangedPage { path: page.to_owned(), changed_by: request.label(), job: request.job.clone() })
}
