//! Finds jobs similar to a prompt before it is sent. People decide whether to send it.

use std::collections::HashSet;

use crate::caller::Caller;
use crate::jobs::Jobs;
use crate::jobs::pages::of_job;
use crate::jobs::pull_requests::OpenRequests;
use base::blocking;
use base::nfc::nfc;
use base::query_permits::QueryPermit;
use model::error::AppError;
use model::id::ProjectId;
use model::job::EXCERPT_CHARS;
use model::page_path::{self, Pages};
use model::similar::{OpenRequest, SimilarJob};
use model::trigrams::{COMPARED_CHARS, Trigrams};
use store::jobs::drafts::DraftKey;
use store::jobs::similar::Candidate;

/// The maximum number of jobs in the result.
const NAMED_MAX: usize = 5;
/// The number of jobs a prompt is compared with.
const COMPARED_JOBS: u32 = 200;
/// How long a pull request counts as open, if Docket has no connection to its code host.
const OPEN_SECONDS: i64 = 14 * 86_400;

/// The paths that jobs about the pages may have.
type Labels = HashSet<String>;

impl Jobs {
    /// Jobs similar to `prompt` or about the pages `typed`, most relevant first.
    pub async fn similar(
        &self,
        permit: &QueryPermit,
        project: &ProjectId,
        prompt: &str,
        typed: Pages,
    ) -> Result<Vec<SimilarJob>, AppError> {
        let since = self.clock.now().plus_seconds(-OPEN_SECONDS);
        let candidates = self.store.candidates(permit, project, since, COMPARED_JOBS, COMPARED_CHARS).await?;
        let prompt = nfc(prompt).into_owned();
        let paths = page_path::of_job(typed, self.found_in(project, &prompt));
        let known = self.store.known_pages(project, &paths).await?;
        let paths = of_job(&known, &paths, &Pages::default());
        let labels: Labels = paths.iter().flat_map(|path| known.labels(path)).collect();
        let open = self.open_requests(project).await?;
        // Comparing long texts takes time.
        let compare = move || similar_jobs_of(&prompt, &paths, &labels, candidates, &open);
        Ok(blocking::run(usize::MAX, compare).await)
    }

    /// Jobs similar to the caller's draft of a new job.
    pub async fn similar_to_draft(
        &self,
        permit: &QueryPermit,
        caller: &Caller,
        project: &ProjectId,
    ) -> Result<Vec<SimilarJob>, AppError> {
        let of = DraftKey { user_id: &caller.user.id, project, subject: "" };
        let draft = self.store.draft(of).await?;
        let (text, paths) = draft.map(|draft| (draft.text, draft.paths)).unwrap_or_default();
        self.similar(permit, project, &text, self.typed_so_far(project, &paths)).await
    }

    /// The pages in a field that a person is typing: none while a path is invalid.
    pub fn typed_so_far(&self, project: &ProjectId, paths: &str) -> Pages {
        self.written_pages(project, paths).unwrap_or_default()
    }
}

fn similar_jobs_of(
    prompt: &str,
    paths: &[String],
    labels: &Labels,
    candidates: Vec<Candidate>,
    open: &OpenRequests,
) -> Vec<SimilarJob> {
    let trigrams = Trigrams::of(prompt);
    let mut found: Vec<SimilarJob> =
        candidates.into_iter().filter_map(|candidate| similar_job(&trigrams, labels, candidate)).collect();
    for (path, request) in
        paths.iter().flat_map(|path| open.get(path).into_iter().flatten().map(move |request| (path, request)))
    {
        match found.iter_mut().find(|job| job.id == request.job) {
            Some(job) => (job.page, job.changed_by) = (Some(path.clone()), Some(request.label())),
            None => found.push(of_request(path, request)),
        }
    }
    // A stable sort: within each group, the newest come first.
    found.sort_by_key(|job| (!job.is_running_already(), job.changed_by.is_none(), !job.same_text));
    found.truncate(NAMED_MAX);
    found
}

/// The job of an open pull request that changes a page.
fn of_request(path: &str, request: &OpenRequest) -> SimilarJob {
    SimilarJob {
        id: request.job.clone(),
        title: request.title.clone(),
        author: request.author.clone(),
        state: request.state,
        created_at: request.created_at,
        same_text: false,
        page: Some(path.to_owned()),
        changed_by: Some(request.label()),
    }
}

fn similar_job(trigrams: &Trigrams, labels: &Labels, candidate: Candidate) -> Option<SimilarJob> {
    let has = |path: &String| labels.contains(path);
    let page = candidate.paths.iter().find(|path| has(path)).cloned();
    // The same text about other pages is another task: people use templates like this. New pages are in no history yet.
    let mentioned = page_path::of_job(Pages::stored(candidate.paths), page_path::found_in(&candidate.prompt));
    let is_shared = mentioned.iter().any(has);
    let other_pages = !is_shared && !labels.is_empty() && !mentioned.is_empty();
    let same_text = !other_pages && trigrams.is_similar(&Trigrams::of(&candidate.prompt));
    let title = candidate.prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    (same_text || page.is_some()).then(|| SimilarJob {
        id: candidate.id,
        title: title.chars().take(EXCERPT_CHARS).collect(),
        author: candidate.author,
        state: candidate.state,
        created_at: candidate.created_at,
        same_text,
        page,
        changed_by: None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::job::JobState;
    use model::time::Timestamp;

    fn candidate(number: u8, prompt: &str, state: JobState, paths: &[&str]) -> Candidate {
        let id = format!("01920000-0000-7000-8000-0000000000{number:02}");
        Candidate {
            id: id.parse().unwrap_or_else(|error| panic!("{error}")),
            prompt: prompt.to_owned(),
            author: "ada".to_owned(),
            state,
            created_at: Timestamp::from_millis(0),
            paths: paths.iter().map(|path| (*path).to_owned()).collect(),
        }
    }

    /// As [`similar_jobs_of`], for pages without another form of their path.
    fn similar(prompt: &str, paths: &[&str], candidates: Vec<Candidate>) -> Vec<SimilarJob> {
        let paths: Vec<String> = paths.iter().map(|path| (*path).to_owned()).collect();
        let labels = paths.iter().cloned().collect();
        similar_jobs_of(prompt, &paths, &labels, candidates, &OpenRequests::new())
    }

    #[test]
    fn same_text_about_another_page_is_not_similar() {
        let text = "Check the page against the current SDK and fix what is out of date";
        let other = candidate(1, text, JobState::Active, &["/b"]);
        assert!(similar(text, &["/a"], vec![other]).is_empty());
        let new = candidate(1, "Check /new/b against the current SDK", JobState::Active, &[]);
        assert!(similar("Check /new/a against the current SDK", &["/new/a"], vec![new]).is_empty());
        let new = candidate(1, "Check /new/b against the current SDK", JobState::Active, &[]);
        let found = similar("Check /new/b against the current SDK", &["/new/b"], vec![new]);
        assert!(found[0].same_text && found[0].page.is_none());
        let same = candidate(1, text, JobState::Active, &["/a", "/b"]);
        let found = similar(text, &["/a"], vec![same]);
        assert!(found[0].is_running_already() && found[0].page.as_deref() == Some("/a"));
        let without = candidate(1, text, JobState::Active, &[]);
        assert!(similar(text, &["/a"], vec![without])[0].same_text);
    }

    #[test]
    fn running_jobs_with_the_same_text_come_first() {
        let text = "Sort the glossary by the alphabet of its language";
        let mut candidates: Vec<_> =
            (1..9).map(|n| candidate(n, "Another task", JobState::Completed, &["/a"])).collect();
        candidates.push(candidate(9, text, JobState::Completed, &[]));
        candidates.push(candidate(10, text, JobState::Queued, &["/a"]));
        let found = similar(text, &["/a"], candidates);
        let ids: Vec<_> = found.iter().map(|job| &job.id.as_str()[34..]).collect();
        assert_eq!(ids, ["10", "09", "01", "02", "03"]);
    }
}
