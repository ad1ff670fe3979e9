//! Requests that wait for the end of a job. One statement a second queries all their jobs, so a waiting request uses no database connection.

use std::collections::BTreeMap;
use std::slice::from_ref;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::watch;
use tokio::time::{sleep, timeout};

use crate::jobs::Jobs;
use crate::jobs::find::no_such_job;
use model::error::{AppError, ErrorCode};
use model::id::{JobId, ProjectId};

/// The longest wait.
pub const WAIT_MAX: Duration = Duration::from_secs(60);

/// The interval of querying the jobs.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many requests may wait, of all people and of one person.
const WAITING_MAX: usize = 2_000;
const WAITING_OF_PERSON: usize = 500;

/// The jobs that requests wait for. Clones share them.
#[derive(Clone, Default)]
pub(super) struct WaitingJobs(Arc<Mutex<Waiting>>);

#[derive(Default)]
struct Waiting {
    jobs: BTreeMap<JobId, Waiters>,
    /// The number of all waiters.
    count: usize,
    /// The number of waiters of each person, by their id.
    people: BTreeMap<String, usize>,
    /// Whether a task queries the jobs.
    is_queried: bool,
}

/// The requests that wait for one job.
struct Waiters {
    count: usize,
    /// Becomes `true` when the job has ended.
    ended: watch::Sender<bool>,
}

/// A waiting request. It stops waiting when this is dropped.
struct Waiter {
    jobs: WaitingJobs,
    job: JobId,
    person: String,
    ended: watch::Receiver<bool>,
}

impl WaitingJobs {
    /// `None` if too many requests wait, of this person or in all.
    fn begin(&self, job: &JobId, person: &str) -> Option<Waiter> {
        let mut waiting = self.0.lock();
        let of_person = waiting.people.get(person).copied().unwrap_or_default();
        if waiting.count >= WAITING_MAX || of_person >= WAITING_OF_PERSON {
            return None;
        }
        waiting.count += 1;
        waiting.people.insert(person.to_owned(), of_person + 1);
        let waiters = waiting
            .jobs
            .entry(job.clone())
            .or_insert_with(|| Waiters { count: 0, ended: watch::Sender::new(false) });
        waiters.count += 1;
        let ended = waiters.ended.subscribe();
        Some(Waiter { jobs: self.clone(), job: job.clone(), person: person.to_owned(), ended })
    }

    /// Whether the caller has to query the jobs, because no task does.
    fn must_be_queried(&self) -> bool {
        !std::mem::replace(&mut self.0.lock().is_queried, true)
    }

    /// The jobs to query; none at the end of the task that queries them.
    fn jobs(&self) -> Vec<JobId> {
        let mut waiting = self.0.lock();
        waiting.is_queried = !waiting.jobs.is_empty();
        waiting.jobs.keys().cloned().collect()
    }

    fn end(&self, job: &JobId) {
        if let Some(waiters) = self.0.lock().jobs.get(job) {
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
        if let Some(waiters) = waiting.jobs.get_mut(&self.job) {
            waiters.count -= 1;
            if waiters.count == 0 {
                waiting.jobs.remove(&self.job);
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
        if !self.store.has_job(project, job).await? {
            return Err(no_such_job());
        }
        if !self.store.ended_jobs(from_ref(job)).await?.is_empty() || self.leaving.is_cancelled() {
            return Ok(());
        }
        let mut waiter = self.waiting.begin(job, person).ok_or_else(too_many)?;
        tracing::debug!("a request waits for the end of a job");
        if self.waiting.must_be_queried() {
            tokio::spawn(self.clone().query_waiting_jobs());
        }
        let _ = self.leaving.run_until_cancelled(timeout(most.min(WAIT_MAX), waiter.ended())).await;
        Ok(())
    }

    /// How many requests wait for the end of a job.
    pub fn waiting_requests(&self) -> usize {
        self.waiting.0.lock().count
    }

    /// Queries the jobs that requests wait for, until none does.
    async fn query_waiting_jobs(self) {
        loop {
            sleep(INTERVAL).await;
            let jobs = self.waiting.jobs();
            if jobs.is_empty() {
                return;
            }
            match self.store.ended_jobs(&jobs).await {
                Ok(ended) => ended.iter().for_each(|job| self.waiting.end(job)),
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

    fn job(number: usize) -> JobId {
        format!("01920000-0000-7000-8000-{number:012}").parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[tokio::test]
    async fn ended_job_releases_all_its_waiters() {
        let jobs = WaitingJobs::default();
        let mut waiters: Vec<Waiter> = (0..3).filter_map(|_| jobs.begin(&job(1), "olga")).collect();
        let other = jobs.begin(&job(2), "otto");
        assert!(jobs.must_be_queried() && !jobs.must_be_queried());
        assert_eq!(jobs.jobs(), [job(1), job(2)]);
        jobs.end(&job(1));
        for waiter in &mut waiters {
            waiter.ended().await;
        }
        drop((waiters, other));
        assert_eq!((jobs.jobs(), jobs.0.lock().count), (Vec::new(), 0));
        assert!(jobs.must_be_queried(), "the task has ended");
    }

    #[test]
    fn number_of_waiters_is_limited() {
        let jobs = WaitingJobs::default();
        let person = |at: usize| format!("person {}", at / WAITING_OF_PERSON);
        let waiters: Vec<Option<Waiter>> =
            (0..WAITING_MAX).map(|at| jobs.begin(&job(at), &person(at))).collect();
        assert!(waiters.iter().all(Option::is_some) && jobs.begin(&job(1), "another").is_none());
        drop(waiters);
        let of_olga: Vec<Option<Waiter>> =
            (0..WAITING_OF_PERSON).map(|_| jobs.begin(&job(1), "olga")).collect();
        assert!(of_olga.iter().all(Option::is_some) && jobs.begin(&job(2), "olga").is_none());
        assert!(jobs.begin(&job(1), "otto").is_some(), "the limit of another person");
        drop(of_olga);
        assert!(jobs.begin(&job(1), "olga").is_some() && jobs.0.lock().people.is_empty());
    }
}
