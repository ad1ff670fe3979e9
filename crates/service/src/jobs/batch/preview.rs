//! The lines of a prepared batch, as its preview shows them.

use std::collections::BTreeSet;

use crate::jobs::Jobs;
use base::blocking;
use model::batch::{self, PreviewLine};
use model::error::AppError;
use store::jobs::batches::PreparedBatch;

impl Jobs {
    /// The lines, in the order of the preview, with those marked whose page is unknown.
    pub(super) async fn preview_lines(&self, prepared: &PreparedBatch) -> Result<Vec<PreviewLine>, AppError> {
        let (jobs, project) = (self.clone(), prepared.project.clone());
        let (text, list) = (prepared.template.clone(), prepared.list.clone());
        let find = move || {
            let lines = batch::preview_lines(&text, &list);
            // Other texts than paths were refused when the batch was prepared.
            let page =
                |line: &PreviewLine| jobs.written_page(&project, line.page.as_deref()?).unwrap_or_default();
            let pages: Vec<Option<String>> = lines.iter().map(page).collect();
            (lines, pages)
        };
        let (mut lines, pages) = blocking::run(usize::MAX, find).await;
        let different: BTreeSet<String> = pages.iter().flatten().cloned().collect();
        let unknown = self.unknown_pages(&prepared.project, &Vec::from_iter(different)).await?;
        for (line, page) in lines.iter_mut().zip(&pages) {
            line.is_unknown = page.as_ref().is_some_and(|page| unknown.contains(page));
        }
        Ok(lines)
    }
}
