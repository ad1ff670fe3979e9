//! One project's jobs. Their outcomes and durations depend only on the seed, the project and the order of its prompts, so that a run can be
//! reproduced. The ledger counts allowances.

use std::collections::HashMap;
use std::ops::Range;
use std::time::Duration;

use super::super::noise::Seed;
use super::super::{Outcome, PastJob};
use super::job::{Job, Work, new_id, odd_id};
use super::prompt::Directives;
use crate::clock::Timestamp;
use crate::code_host::Opened;

/// The outcomes of a project's jobs, as a repeating cycle; the same for a job's follow-ups. The outcome that new users should see first comes first.
const OUTCOMES: [Outcome; 5] =
    [Outcome::PullRequest, Outcome::PullRequest, Outcome::NoChanges, Outcome::PullRequest, Outcome::Failed];
const SECONDS_AT_WORK: Range<f64> = 6.0..15.0;
const MODEL: &str = "docs-writer-2";
const FIRST_PULL_REQUEST: u64 = 101;

#[derive(Debug)]
pub(super) struct Project {
    slug: String,
    /// The web address of the code host.
    code_host: String,
    seed: Seed,
    jobs: HashMap<String, Job>,
    created: u64,
    prompts: u64,
    next_pull_request: u64,
}

impl Project {
    pub(super) fn new(name: &str, seed: Seed, code_host: &str) -> Self {
        Self {
            slug: slug(name),
            code_host: code_host.to_owned(),
            seed,
            jobs: HashMap::new(),
            created: 0,
            prompts: 0,
            next_pull_request: FIRST_PULL_REQUEST,
        }
    }

    pub(super) fn job(&self, id: &str) -> Option<&Job> {
        self.jobs.get(id)
    }

    pub(super) fn create(&mut self, directives: Directives, now: Timestamp) -> Job {
        let id = if directives.has_odd_id { odd_id() } else { new_id() };
        let job = Job {
            created_at: now,
            model: MODEL.to_owned(),
            repository: format!("acme/{}-docs", self.slug),
            git_ref: Some(format!("docket/agent-{}", &id[id.len() - 8..])),
            follow_ups: 0,
            finishes_at: now,
            fails: false,
            pull_request: None,
            opened_at: None,
            is_past: false,
            files: Vec::new(),
            unchanged: false,
            archives: false,
            id,
        };
        self.created += 1;
        self.work(job, self.created - 1, directives, now)
    }

    pub(super) fn follow_up(&mut self, mut job: Job, directives: Directives, now: Timestamp) -> Job {
        job.follow_ups += 1;
        let index = job.follow_ups - 1;
        self.work(job, index, directives, now)
    }

    /// Adds work to the job, with the outcome from the prompt or else that at `index` in the cycle.
    fn work(&mut self, mut job: Job, index: u64, directives: Directives, now: Timestamp) -> Job {
        let usual = OUTCOMES[(index % OUTCOMES.len() as u64) as usize];
        let duration = directives.duration.unwrap_or_else(|| self.usual_duration());
        let finishes_at = now.as_millis().saturating_add(duration.as_millis() as i64);
        let work = Work {
            outcome: directives.outcome.unwrap_or(usual),
            finishes_at: Timestamp::from_millis(finishes_at),
            leaves_inactive: directives.leaves_inactive,
        };
        self.prompts += 1;
        let code_host = self.code_host.clone();
        job.begin_work(&work, now, &code_host, || self.next_number());
        // When this work has ended, and not before it.
        job.archives |= directives.archives;
        self.jobs.insert(job.id.clone(), job.clone());
        job
    }

    fn usual_duration(&self) -> Duration {
        let seed = self.seed.nth(self.prompts);
        Duration::from_secs_f64(seed.between(SECONDS_AT_WORK.start, SECONDS_AT_WORK.end))
    }

    /// The pull requests of its jobs that were opened until `now`.
    pub(super) fn pull_requests(&self, now: Timestamp) -> impl Iterator<Item = Opened> {
        self.jobs.values().filter_map(move |job| {
            let (link, at) = (job.pull_request.as_deref()?, job.opened_at.filter(|at| *at <= now)?);
            let path = link.strip_prefix(&self.code_host)?.strip_prefix('/')?;
            let (repository, number) = path.split_once("/pull/")?;
            Some(Opened {
                repository: repository.to_owned(),
                number: number.parse().ok()?,
                branch: job.git_ref.clone().unwrap_or_default(),
                at,
                is_past: job.is_past,
                files: job.files.clone(),
            })
        })
    }

    fn next_number(&mut self) -> u64 {
        self.next_pull_request += 1;
        self.next_pull_request - 1
    }

    pub(super) fn add_past_job(&mut self, past: PastJob) {
        let number = past.pr_link.as_deref().and_then(pull_request_number);
        self.next_pull_request = self.next_pull_request.max(number.map_or(0, |number| number + 1));
        let mut job = Job {
            id: past.id,
            created_at: past.created_at,
            model: past.model,
            repository: past.repository,
            git_ref: past.git_ref,
            follow_ups: 0,
            finishes_at: past.finishes_at,
            fails: false,
            opened_at: past.pr_link.is_some().then_some(past.finishes_at),
            pull_request: past.pr_link,
            is_past: true,
            files: past.files,
            unchanged: false,
            archives: false,
        };
        let work = Work { outcome: past.outcome, finishes_at: past.finishes_at, leaves_inactive: false };
        let code_host = self.code_host.clone();
        job.begin_work(&work, past.created_at, &code_host, || self.next_number());
        self.jobs.insert(job.id.clone(), job);
    }
}

/// The project's name in a form for repository names and links.
fn slug(project: &str) -> String {
    project.chars().map(|c| if c.is_ascii_alphanumeric() { c } else { '-' }).collect()
}

/// A number that can be incremented, if the link ends in one.
fn pull_request_number(link: &str) -> Option<u64> {
    link.rsplit('/').next()?.parse::<u32>().ok().map(u64::from)
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::super::testing::{Bench, LONGEST_SECONDS, NOW};
    use super::*;

    #[tokio::test]
    async fn job_opens_its_pull_request_after_6_to_15_seconds() {
        let bench = Bench::new();
        let id = bench.create("docs", "Fix typos").await.text("id").to_owned();
        bench.wait(5);
        let working = bench.job("docs", &id).await;
        assert_eq!(working.text("status"), "active");
        assert_eq!(working.body["prLink"], Value::Null);
        bench.wait(10);
        let finished = bench.job("docs", &id).await;
        assert_eq!(finished.text("status"), "completed");
        assert_eq!(finished.text("prLink"), "https://git.example/acme/docs-docs/pull/101");
        assert_eq!(finished.text("createdAt"), NOW.to_string());
    }

    #[tokio::test]
    async fn outcomes_repeat_in_a_cycle_from_a_pull_request() {
        let bench = Bench::new();
        let mut endings = Vec::new();
        for _ in 0..8 {
            let id = bench.create("docs", "x").await.text("id").to_owned();
            bench.wait(LONGEST_SECONDS);
            endings.push(bench.job("docs", &id).await.ending());
        }
        let pr = "pull request";
        assert_eq!(endings, [pr, pr, "no changes", pr, "failed", pr, pr, "no changes"]);
    }

    #[tokio::test]
    async fn directive_in_the_prompt_sets_the_outcome() {
        let bench = Bench::new();
        for (word, expected) in
            [("fail", "failed"), ("no-changes", "no changes"), ("pull-request", "pull request")]
        {
            let prompt = format!("Try emulator:{word} now");
            let id = bench.create("docs", &prompt).await.text("id").to_owned();
            bench.wait(LONGEST_SECONDS);
            assert_eq!(bench.job("docs", &id).await.ending(), expected);
        }
        let id = bench.create("docs", "emulator:slow").await.text("id").to_owned();
        assert_eq!(bench.seconds_at_work("docs", &id).await, 60);
    }

    #[tokio::test]
    async fn pull_requests_are_numbered_in_order_within_a_project() {
        let bench = Bench::new();
        let mut links = Vec::new();
        for project in ["docs", "docs", "handbook"] {
            let id = bench.create(project, "emulator:pull-request").await.text("id").to_owned();
            bench.wait(LONGEST_SECONDS);
            links.push(bench.job(project, &id).await.text("prLink").to_owned());
        }
        assert!(links[0].ends_with("/acme/docs-docs/pull/101"));
        assert!(links[1].ends_with("/acme/docs-docs/pull/102"));
        assert!(links[2].ends_with("/acme/handbook-docs/pull/101"));
    }

    #[tokio::test]
    async fn seed_determines_the_durations_of_jobs() {
        let mut runs = Vec::new();
        for seed in [1, 1, 2] {
            let bench = Bench::with(0, seed);
            let mut durations = Vec::new();
            for _ in 0..10 {
                let id = bench.create("docs", "x").await.text("id").to_owned();
                durations.push(bench.seconds_at_work("docs", &id).await);
            }
            assert!(durations.iter().all(|seconds| (6..=15).contains(seconds)), "{durations:?}");
            runs.push(durations);
        }
        assert!(runs[0].iter().any(|seconds| *seconds != runs[0][0]));
        assert_eq!(runs[0], runs[1]);
        assert_ne!(runs[0], runs[2]);
    }

    #[test]
    fn a_project_of_any_name_has_a_repository() {
        assert_eq!(slug("my docs/é"), "my-docs--");
    }
}
