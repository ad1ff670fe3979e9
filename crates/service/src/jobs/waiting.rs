//! Requests that wait for the end of a job, or of all jobs of a batch. Two statements a second query all that they wait for, so a waiting request uses
//! no database connection.

use std::collections::{BTreeMap, BTreeSet};
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::jobs::Jobs;
use crate::jobs::find::no_such_job;
use model::error::{AppError, ErrorCode};
use model::id::{BatchId, JobId, ProjectId};
use store::StoreError;

/// The longest wait.
pub const WAIT_MAX: Duration = Duration::from_secs(60);

/// The interval of querying the jobs.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many requests may wait, of all people and of one person.
const WAITING_MAX: usize = 2_000;
const WAITING_OF_PERSON: usize = 500;

/// What a request waits for.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
enum Awaited {
    Job(JobId),
    Batch(BatchId),
}

/// What requests wait for. Clones share it.
#[derive(Clone, Default)]
pub(super) struct WaitingJobs(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    awaited: BTreeMap<Awaited, Waiters>,
    /// The number of all waiters.
    count: usize,
    /// The number of waiters of each person, by their id.
    people: BTreeMap<String, usize>,
    /// Whether a task queries them.
    is_queried: bool,
}

/// The requests that wait for the same.
struct Waiters {
    count: usize,
    /// Becomes `true` at the end.
    ended: watch::Sender<bool>,
}

/// A waiting request. It stops waiting when this is dropped.
struct Waiter {
    jobs: WaitingJobs,
    of: Awaited,
    person: String,
    ended: watch::Receiver<bool>,
}

impl WaitingJobs {
    /// `None` if too many requests wait, of this person or in all.
    fn begin(&self, of: Awaited, person: &str) -> Option<Waiter> {
        let mut waiting = self.0.lock();
        let of_person = waiting.people.get(person).copied().unwrap_or_default();
        if waiting.count >= WAITING_MAX || of_person >= WAITING_OF_PERSON {
            return None;
        }
        waiting.count += 1;
        waiting.people.insert(person.to_owned(), of_person + 1);
        let waiters = waiting
            .awaited
            .entry(of.clone())
            .or_insert_with(|| Waiters { count: 0, ended: watch::Sender::new(false) });
        waiters.count += 1;
        let ended = waiters.ended.subscribe();
        Some(Waiter { jobs: self.clone(), of, person: person.to_owned(), ended })
    }

    /// Whether the caller has to query them, because no task does.
    fn must_be_queried(&self) -> bool {
        !std::mem::replace(&mut self.0.lock().is_queried, true)
    }

    /// What is to be queried; nothing at the end of the task that queries it.
    fn awaited(&self) -> Vec<Awaited> {
        let mut waiting = self.0.lock();
        waiting.is_queried = !waiting.awaited.is_empty();
        waiting.awaited.keys().cloned().collect()
    }

    fn end(&self, of: &Awaited) {
        if let Some(waiters) = self.0.lock().awaited.get(of) {
            waiters.ended.send_replace(true);
        }
    }
}

impl Waiter {
    async fn ended(&mut self) {
        // The sender exists as long as this waiter.
        let _ = self.ended.wait_for(|ended| *ended).await;
    }
}

impl Drop for Waiter {
    fn drop(&mut self) {
        let mut waiting = self.jobs.0.lock();
        waiting.count -= 1;
        if let Some(of_person) = waiting.people.get_mut(&self.person) {
            *of_person -= 1;
            if *of_person == 0 {
                waiting.people.remove(&self.person);
            }
        }
        if let Some(waiters) = waiting.awaited.get_mut(&self.of) {
            waiters.count -= 1;
            if waiters.count == 0 {
                waiting.awaited.remove(&self.of);
            }
        }
    }
}

impl Jobs {
    /// Waits for the end of a job (see [`model::job::has_ended`]), at most for `most`; not if the process is about to stop. Loads none of its texts.
    /// `person`: the id of the person who waits.
    pub async fn wait_for_end(
        &self,
        project: &ProjectId,
        job: &JobId,
        person: &str,
        most: Duration,
    ) -> Result<(), AppError> {
        if most.is_zero() {
            return Ok(());
        }
        match self.store.has_job(project, job).await? {
            true => self.wait(Awaited::Job(job.clone()), person, most).await,
            false => Err(no_such_job()),
        }
    }

    /// As [`Self::wait_for_end`], for all jobs of a started batch.
    pub async fn wait_for_end_of_batch(
        &self,
        project: &ProjectId,
        batch: &BatchId,
        person: &str,
        most: Duration,
    ) -> Result<(), AppError> {
        if most.is_zero() {
            return Ok(());
        }
        self.must_be_started(project, batch).await?;
        self.wait(Awaited::Batch(batch.clone()), person, most).await
    }

    async fn wait(&self, of: Awaited, person: &str, most: Duration) -> Result<(), AppError> {
        if !self.ended(from_ref(&of)).await?.is_empty() || self.leaving.is_cancelled() {
            return Ok(());
        }
        let mut waiter = self.waiting.begin(of, person).ok_or_else(too_many)?;
        tracing::debug!("a request waits for the end of a job");
        if self.waiting.must_be_queried() {
            tokio::spawn(self.clone().query_waiting_jobs());
        }
        let _ = self.leaving.run_until_cancelled(timeout(most.min(WAIT_MAX), waiter.ended())).await;
        Ok(())
    }

    /// Those that have ended.
    async fn ended(&self, awaited: &[Awaited]) -> Result<Vec<Awaited>, StoreError> {
        let (mut jobs, mut batches) = (Vec::new(), Vec::new());
        for of in awaited {
            match of {
                Awaited::Job(job) => jobs.push(job.clone()),
                Awaited::Batch(batch) => batches.push(batch.clone()),
            }
        }
        let ended = self.store.ended_jobs(&jobs).await?.into_iter().map(Awaited::Job);
        let moving: BTreeSet<BatchId> = self.store.batches_in_progress(&batches).await?.into_iter().collect();
        let batches = batches.into_iter().filter(|batch| !moving.contains(batch)).map(Awaited::Batch);
        Ok(ended.chain(batches).collect())
    }

    /// How many requests wait.
    pub fn waiting_requests(&self) -> usize {
        self.waiting.0.lock().count
    }

    /// Queries what requests wait for, until none does.
    async fn query_waiting_jobs(self) {
        loop {
            sleep(INTERVAL).await;
            let awaited = self.waiting.awaited();
            if awaited.is_empty() {
                return;
            }
            match self.ended(&awaited).await {
                Ok(ended) => ended.iter().for_each(|of| self.waiting.end(of)),
                Err(error) => tracing::warn!(%error, "the states of awaited jobs could not be queried"),
            }
        }
    }
}

fn too_many() -> AppError {
    AppError::new(ErrorCode::Busy, "Too many requests wait for the end of jobs. Try again without “wait”.")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(number: usize) -> Awaited {
        let id = format!("01920000-0000-7000-8000-{number:012}").parse();
        Awaited::Job(id.unwrap_or_else(|error| panic!("{error}")))
    }

    #[test]
    fn job_and_batch_with_the_same_id_are_awaited_apart() {
        let jobs = WaitingJobs::default();
        let Awaited::Job(id) = job(1) else { panic!("a job") };
        let batch = Awaited::Batch(id.as_str().parse().unwrap_or_else(|error| panic!("{error}")));
        let waiters = [jobs.begin(job(1), "olga"), jobs.begin(batch.clone(), "olga")];
        jobs.end(&batch);
        let ended = waiters.map(|waiter| waiter.is_some_and(|waiter| *waiter.ended.borrow()));
        assert_eq!(ended, [false, true]);
    }

    #[tokio::test]
    async fn ended_job_releases_all_its_waiters() {
        let jobs = WaitingJobs::default();
        let mut waiters: Vec<Waiter> = (0..3).filter_map(|_| jobs.begin(job(1), "olga")).collect();
        let other = jobs.begin(job(2), "otto");
        assert!(jobs.must_be_queried() && !jobs.must_be_queried());
        assert_eq!(jobs.awaited(), [job(1), job(2)]);
        jobs.end(&job(1));
        for waiter in &mut waiters {
            waiter.ended().await;
        }
        drop((waiters, other));
        assert_eq!((jobs.awaited(), jobs.0.lock().count), (Vec::new(), 0));
        assert!(jobs.must_be_queried(), "the task has ended");
    }

    #[test]
    fn number_of_waiters_is_limited() {
        let jobs = WaitingJobs::default();
        let person = |at: usize| format!("person {}", at / WAITING_OF_PERSON);
        let waiters: Vec<Option<Waiter>> =
            (0..WAITING_MAX).map(|at| jobs.begin(job(at), &person(at))).collect();
        assert!(waiters.iter().all(Option::is_some) && jobs.begin(job(1), "another").is_none());
        drop(waiters);
        let of_olga: Vec<Option<Waiter>> =
            (0..WAITING_OF_PERSON).map(|_| jobs.begin(job(1), "olga")).collect();
        assert!(of_olga.iter().all(Option::is_some) && jobs.begin(job(2), "olga").is_none());
        assert!(jobs.begin(job(1), "otto").is_some(), "the limit of another person");
        drop(of_olga);
        assert!(jobs.begin(job(1), "olga").is_some() && jobs.0.lock().people.is_empty());
    }
}
