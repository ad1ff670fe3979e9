//! The pages of jobs: typed, or mentioned in a prompt and known from the daily history.

use std::collections::HashSet;
use std::mem;

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::archive_and_tags::chosen;
use crate::jobs::intent::{page, paths};
use base::blocking;
use base::nfc::nfc;
use base::query_permits::QueryPermit;
use model::batch::Entry;
use model::error::AppError;
use model::id::ProjectId;
use model::job::BulkResult;
use model::page_path::{self, PageChange};
use store::StoreError;

impl Jobs {
    /// The comma-separated `typed` paths that are pages of the project.
    pub async fn known_pages(&self, project: &ProjectId, typed: &str) -> Result<Vec<String>, AppError> {
        Ok(self.known(project, paths(typed)?).await?)
    }

    /// Pages of the project whose path contains `typed`; none for an empty text.
    pub async fn suggest_pages(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        typed: &str,
    ) -> Result<Vec<String>, AppError> {
        let typed = typed.trim();
        if typed.is_empty() || typed.chars().count() > page_path::PATH_MAX_CHARS {
            return Ok(Vec::new());
        }
        Ok(self.store.suggested_pages(permit, project, typed).await?)
    }

    /// The pages of a job: the typed ones, and the pages of the project that its prompt mentions.
    pub(super) async fn pages(
        &self,
        project: &ProjectId,
        typed: Vec<String>,
        prompt: &str,
    ) -> Result<Vec<String>, StoreError> {
        let found = self.known(project, page_path::found_in(prompt)).await?;
        Ok(page_path::of_job(typed, found))
    }

    /// The same for each prompt of a batch.
    pub(super) async fn with_pages(
        &self,
        project: &ProjectId,
        entries: Vec<Entry>,
    ) -> Result<Vec<Entry>, StoreError> {
        let find = move || {
            let found: Vec<_> = entries.iter().map(|entry| page_path::found_in(&entry.prompt)).collect();
            (entries, found)
        };
        let (mut entries, found) = blocking::run(usize::MAX, find).await;
        let different: HashSet<&String> = found.iter().flatten().collect();
        let different: Vec<String> = different.into_iter().cloned().collect();
        let known = self.store.known_pages(project, &different).await?;
        for (entry, mut found) in entries.iter_mut().zip(found) {
            found.retain(|path| known.contains(path));
            entry.paths = page_path::of_job(mem::take(&mut entry.paths), found);
        }
        Ok(entries)
    }

    async fn known(&self, project: &ProjectId, mut paths: Vec<String>) -> Result<Vec<String>, StoreError> {
        let known = self.store.known_pages(project, &paths).await?;
        paths.retain(|path| known.contains(path));
        Ok(paths)
    }

    /// Adds a page to the jobs with these comma-separated ids, or removes it.
    pub async fn change_page(
        &self,
        change: PageChange,
        caller: &Caller,
        project: &ProjectId,
        ids: &str,
        path: &str,
    ) -> Result<BulkResult, AppError> {
        let path = match change {
            PageChange::Add => {
                page(path)?.ok_or_else(|| AppError::bad_input("The page is empty. Write its path."))?
            }
            PageChange::Remove => nfc(path).into_owned(),
        };
        let jobs = self.store.change_page(caller.authority(), change, project, &chosen(ids)?, &path).await?;
        Ok(BulkResult { jobs })
    }
}
