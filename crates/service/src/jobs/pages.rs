//! The pages of jobs: typed, or mentioned in a prompt and known from the daily history.

use std::collections::HashSet;
use std::mem;

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::archive_and_tags::chosen;
use base::blocking;
use base::nfc::nfc;
use base::query_permits::QueryPermit;
use model::error::AppError;
use model::id::ProjectId;
use model::job::BulkResult;
use model::page_path::{self, PageChange, Pages};
use store::StoreError;
use store::jobs::intents::NewIntent;

impl Jobs {
    /// Those of `paths` that are pages of the project.
    pub async fn known_pages(&self, project: &ProjectId, paths: Pages) -> Result<Pages, StoreError> {
        let known = self.store.known_pages(project, &paths).await?;
        Ok(paths.only(|path| known.contains(path)))
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

    /// Adds the pages of the project that the prompt mentions.
    pub(super) async fn with_mentioned_pages(&self, intent: NewIntent) -> Result<NewIntent, StoreError> {
        let found = page_path::found_in(intent.prompt.as_str());
        let found = self.known_pages(&intent.project, found).await?;
        Ok(NewIntent { pages: page_path::of_job(intent.pages, found), ..intent })
    }

    /// The same for each prompt of a batch.
    pub(super) async fn all_with_mentioned_pages(
        &self,
        project: &ProjectId,
        intents: Vec<NewIntent>,
    ) -> Result<Vec<NewIntent>, StoreError> {
        let find = move || {
            let found = intents.iter().map(|intent| page_path::found_in(intent.prompt.as_str()));
            let found: Vec<Pages> = found.collect();
            (intents, found)
        };
        let (mut intents, found) = blocking::run(usize::MAX, find).await;
        let different: HashSet<&String> = found.iter().flat_map(|pages| pages.iter()).collect();
        let different: Vec<String> = different.into_iter().cloned().collect();
        let known = self.store.known_pages(project, &different).await?;
        for (intent, found) in intents.iter_mut().zip(found) {
            let found = found.only(|path| known.contains(path));
            intent.pages = page_path::of_job(mem::take(&mut intent.pages), found);
        }
        Ok(intents)
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
            PageChange::Add => page_path::typed_one(&nfc(path))?
                .ok_or_else(|| AppError::bad_input("The page is empty. Write its path."))?,
            PageChange::Remove => nfc(path).into_owned(),
        };
        let jobs = self.store.change_page(caller.authority(), change, project, &chosen(ids)?, &path).await?;
        Ok(BulkResult { jobs })
    }
}
