//! The jobs of every project, and its remaining calls within the hour.

use std::collections::HashMap;

use super::super::PastJob;
use super::super::allowance::{Allowance, Exhausted};
use super::super::noise::Seed;
use super::job::AgentJob;
use super::project::Project;
use super::prompt::Directives;
use crate::clock::Timestamp;
use crate::code_host::Opened;

#[derive(Debug)]
pub(crate) struct Ledger {
    seed: Seed,
    per_hour: usize,
    /// The web address of the code host.
    code_host: String,
    /// The projects that exist.
    projects: Vec<String>,
    accounts: HashMap<String, Account>,
}

/// A project's jobs and its allowances, one for each limited operation.
#[derive(Debug)]
struct Account {
    project: Project,
    creates: Allowance,
    follow_ups: Allowance,
}

/// Why a request has no effect.
#[derive(Debug)]
pub(super) enum NotAccepted {
    UnknownProject,
    UnknownJob,
    Exhausted(Exhausted),
}

impl Ledger {
    pub(crate) fn new(seed: Seed, per_hour: usize, code_host: &str, projects: Vec<String>) -> Self {
        let code_host = code_host.trim_end_matches('/').to_owned();
        Self { seed: seed.named("jobs"), per_hour, code_host, projects, accounts: HashMap::new() }
    }

    pub(super) fn create(
        &mut self,
        project: &str,
        directives: Directives,
        now: Timestamp,
    ) -> Result<AgentJob, NotAccepted> {
        let account = self.existing(project)?;
        account.creates.acquire(now)?;
        Ok(account.project.create(directives, now).at(now))
    }

    pub(super) fn follow_up(
        &mut self,
        project: &str,
        id: &str,
        directives: Directives,
        now: Timestamp,
    ) -> Result<AgentJob, NotAccepted> {
        let account = self.existing(project)?;
        let job = account.project.job(id).ok_or(NotAccepted::UnknownJob)?.clone();
        account.follow_ups.acquire(now)?;
        Ok(account.project.follow_up(job, directives, now).at(now))
    }

    pub(crate) fn has_project(&self, project: &str) -> bool {
        self.projects.iter().any(|name| name == project)
    }

    pub(super) fn read(&self, project: &str, id: &str, now: Timestamp) -> Result<AgentJob, NotAccepted> {
        if !self.has_project(project) {
            return Err(NotAccepted::UnknownProject);
        }
        let account = self.accounts.get(project);
        let job = account.and_then(|account| account.project.job(id));
        Ok(job.ok_or(NotAccepted::UnknownJob)?.at(now))
    }

    /// Every pull request that is open or was.
    pub(crate) fn pull_requests(&self, now: Timestamp) -> Vec<Opened> {
        self.accounts.values().flat_map(|account| account.project.pull_requests(now)).collect()
    }

    pub(crate) fn add_past_job(&mut self, project: &str, past: PastJob) {
        self.account(project).project.add_past_job(past);
    }

    fn existing(&mut self, project: &str) -> Result<&mut Account, NotAccepted> {
        match self.has_project(project) {
            true => Ok(self.account(project)),
            false => Err(NotAccepted::UnknownProject),
        }
    }

    fn account(&mut self, project: &str) -> &mut Account {
        let (seed, per_hour, code_host) = (self.seed.named(project), self.per_hour, &self.code_host);
        self.accounts.entry(project.to_owned()).or_insert_with(|| Account {
            project: Project::new(project, seed, code_host),
            creates: Allowance::of(per_hour),
            follow_ups: Allowance::of(per_hour),
        })
    }
}

impl From<Exhausted> for NotAccepted {
    fn from(exhausted: Exhausted) -> Self {
        Self::Exhausted(exhausted)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::super::Outcome;
    use super::super::super::testing::{Bench, LONGEST_SECONDS, NOW};
    use super::*;

    fn past(id: &str, outcome: Outcome, pr_link: Option<&str>) -> PastJob {
        PastJob {
            id: id.to_owned(),
            created_at: NOW.plus_seconds(-86_400),
            outcome,
            finishes_at: NOW.plus_seconds(-86_000),
            model: "an-older-model".to_owned(),
            repository: "acme/old".to_owned(),
            git_ref: None,
            pr_link: pr_link.map(str::to_owned),
            files: Vec::new(),
        }
    }

    #[tokio::test]
    async fn past_job_can_be_read_and_followed_up() {
        let bench = Bench::new();
        let link = "https://git.example/acme/old/pull/240";
        bench.emulator.add_past_job("docs", past("job_old", Outcome::PullRequest, Some(link)));
        let old = bench.job("docs", "job_old").await;
        assert_eq!(old.text("status"), "completed");
        assert_eq!(old.text("prLink"), link);
        assert_eq!(old.text("createdAt"), "2026-11-20T09:30:00Z");
        assert_eq!(old.text("model"), "an-older-model");
        assert_eq!(old.body["source"]["repository"], "acme/old");
        assert_eq!(old.body["source"]["ref"], Value::Null);
        assert_eq!(bench.follow_up("docs", "job_old", "x").await.text("status"), "active");
    }

    #[tokio::test]
    async fn past_jobs_have_their_outcomes_and_new_numbers_continue() {
        let bench = Bench::new();
        let link = "https://git.example/acme/old/pull/240";
        bench.emulator.add_past_job("docs", past("job_a", Outcome::PullRequest, Some(link)));
        bench.emulator.add_past_job("docs", past("job_b", Outcome::NoChanges, None));
        bench.emulator.add_past_job("docs", past("job_c", Outcome::Failed, None));
        bench.emulator.add_past_job("docs", past("job_d", Outcome::PullRequest, None));
        assert_eq!(bench.job("docs", "job_b").await.ending(), "no changes");
        assert_eq!(bench.job("docs", "job_c").await.ending(), "failed");
        assert!(bench.job("docs", "job_d").await.text("prLink").ends_with("/acme/old/pull/241"));
        let id = bench.create("docs", "x").await.text("id").to_owned();
        bench.wait(LONGEST_SECONDS);
        let new = bench.job("docs", &id).await;
        assert_eq!(new.ending(), "pull request", "past jobs do not move the cycle");
        assert!(new.text("prLink").ends_with("/pull/242"));
    }

    #[tokio::test]
    async fn a_past_job_still_at_work_finishes_on_the_clock() {
        let bench = Bench::new();
        let mut job = past("job_a", Outcome::NoChanges, None);
        job.finishes_at = NOW.plus_seconds(5);
        bench.emulator.add_past_job("docs", job);
        assert_eq!(bench.job("docs", "job_a").await.text("status"), "active");
        bench.wait(5);
        assert_eq!(bench.job("docs", "job_a").await.text("status"), "completed");
    }
}
