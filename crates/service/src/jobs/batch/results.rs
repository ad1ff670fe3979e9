//! A started batch for scripts: each item with its job.

use std::collections::BTreeMap;

use crate::jobs::Jobs;
use model::batch::{self, Batch};
use model::error::AppError;
use model::id::{BatchId, JobId, ProjectId, TemplateId};
use model::job::{Job, JobState};
use store::jobs::batches::{JobOfLine, PreparedBatch};

/// A started batch.
pub struct BatchResults {
    /// Without its jobs.
    pub batch: Batch,
    /// The template of its text, if it still exists.
    pub template: Option<TemplateId>,
    /// In the order of the list.
    pub items: Vec<ItemResult>,
}

/// An item of a batch.
pub struct ItemResult {
    /// By the names of the placeholders; empty for a job whose line is not known.
    pub values: BTreeMap<String, String>,
    /// Its job, or the last retry of it in the batch; `None` if retention removed it.
    pub job: Option<Job>,
    /// The jobs that `job` replaces, the first one first.
    pub replaced: Vec<JobId>,
}

/// A job and its retries in the batch.
struct Chain {
    /// The line of the item.
    line: Option<usize>,
    jobs: Vec<JobId>,
}

impl BatchResults {
    /// Whether all jobs have ended.
    pub fn has_ended(&self) -> bool {
        self.items.iter().all(ItemResult::has_ended)
    }

    /// How many items have ended.
    pub fn ended(&self) -> usize {
        self.items.iter().filter(|item| item.has_ended()).count()
    }

    /// Whether a prompt is queued or is being sent.
    pub fn is_pending(&self) -> bool {
        let mut jobs = self.items.iter().filter_map(|item| item.job.as_ref());
        jobs.any(|job| matches!(job.state, JobState::Queued | JobState::Sending))
    }
}

impl ItemResult {
    /// Whether its job has ended. A removed one has.
    fn has_ended(&self) -> bool {
        self.job.as_ref().is_none_or(Job::has_ended)
    }
}

impl Jobs {
    /// A started batch with the job of each item.
    pub async fn batch_results(
        &self,
        project: &ProjectId,
        batch: &BatchId,
    ) -> Result<BatchResults, AppError> {
        let prepared = self.must_be_started(project, batch).await?;
        let (template, values) =
            (prepared.template_id.clone(), batch::values_of(&prepared.template, &prepared.list));
        let chains = chains(batch, self.store.lines_of_batch(batch).await?);
        let mut batch = self.shown(prepared).await?;
        let jobs = std::mem::take(&mut batch.jobs).into_iter().map(|job| (job.id.clone(), job)).collect();
        Ok(BatchResults { batch, template, items: items(values, chains, jobs) })
    }

    /// A batch that was started. One that is only prepared is treated as missing.
    pub(in crate::jobs) async fn must_be_started(
        &self,
        project: &ProjectId,
        batch: &BatchId,
    ) -> Result<PreparedBatch, AppError> {
        let prepared = self.prepared(project, batch).await?;
        match prepared.started_at {
            Some(_) => Ok(prepared),
            None => Err(AppError::not_found("That batch is not started.")),
        }
    }
}

/// The jobs of a batch with their retries. `jobs` are in the order of their creation: a retry comes after its job.
fn chains(batch: &BatchId, jobs: Vec<JobOfLine>) -> Vec<Chain> {
    let of_batch = format!("{batch}-");
    let mut chains: Vec<Chain> = Vec::new();
    let mut of_jobs: BTreeMap<JobId, usize> = BTreeMap::new();
    for JobOfLine { job, intent, retry_of } in jobs {
        let line = intent.strip_prefix(&of_batch).and_then(|line| line.parse().ok());
        let index = match retry_of.and_then(|retried| of_jobs.get(&retried).copied()) {
            Some(index) => index,
            None => {
                chains.push(Chain { line, jobs: Vec::new() });
                chains.len() - 1
            }
        };
        chains[index].jobs.push(job.clone());
        of_jobs.insert(job, index);
    }
    chains
}

fn items(
    values: Vec<(usize, BTreeMap<String, String>)>,
    chains: Vec<Chain>,
    mut jobs: BTreeMap<JobId, Job>,
) -> Vec<ItemResult> {
    let (mut of_lines, mut others) = (BTreeMap::new(), Vec::new());
    for chain in chains {
        match chain.line.filter(|line| values.iter().any(|(known, _)| known == line)) {
            Some(line) => drop(of_lines.insert(line, chain)),
            None => others.push(chain),
        }
    }
    let mut item = |values, chain: Option<Chain>| {
        let mut replaced = chain.map(|chain| chain.jobs).unwrap_or_default();
        let job = replaced.pop().and_then(|last| jobs.remove(&last));
        ItemResult { values, job, replaced }
    };
    let mut items: Vec<ItemResult> =
        values.into_iter().map(|(line, values)| item(values, of_lines.remove(&line))).collect();
    items.extend(others.into_iter().map(|chain| item(BTreeMap::new(), Some(chain))));
    items
}

#[cfg(test)]
mod tests {
    use super::*;

    const BATCH: &str = "01920000-0000-7000-8000-000000000001";

    fn id(number: usize) -> JobId {
        format!("01920000-0000-7000-8000-{number:012}").parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn job(number: usize, intent: &str, retry_of: Option<usize>) -> JobOfLine {
        JobOfLine { job: id(number), intent: intent.to_owned(), retry_of: retry_of.map(id) }
    }

    fn of_line(number: usize, line: usize) -> JobOfLine {
        job(number, &format!("{BATCH}-{line}"), None)
    }

    #[test]
    fn item_has_the_last_retry_and_the_jobs_before_it() {
        let batch = BATCH.parse().unwrap_or_else(|error| panic!("{error}"));
        let values = |line: usize| (line, BTreeMap::from([("page".to_owned(), line.to_string())]));
        // The job of line 4 and the first job of a retry were removed.
        let jobs = vec![
            of_line(1, 2),
            of_line(2, 3),
            job(3, "retry-1", Some(1)),
            job(4, "retry-2", Some(99)),
            job(5, "retry-3", Some(3)),
        ];
        let chains = chains(&batch, jobs);
        let found = items(vec![values(2), values(3), values(4)], chains, BTreeMap::new());
        let found: Vec<_> = found
            .into_iter()
            .map(|item| (item.values.get("page").cloned().unwrap_or_default(), item.replaced))
            .collect();
        let expected = [("2", vec![id(1), id(3)]), ("3", vec![]), ("4", vec![]), ("", vec![])];
        assert_eq!(found, expected.map(|(page, replaced)| (page.to_owned(), replaced)));
    }
}
