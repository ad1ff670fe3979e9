//! One job, and its representation at an instant. Its state is computed from the clock when it is read;
//! nothing runs in the background.

use rand::Rng;
use serde::Serialize;

use super::super::Outcome;
use crate::clock::Timestamp;

/// How long a finished job stays before it is archived.
pub(super) const ARCHIVED_AFTER_SECONDS: i64 = 90 * 86_400;

/// An agent job as the interface returns it.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct AgentJob {
    id: String,
    status: Status,
    source: Source,
    model: String,
    pr_link: Option<String>,
    created_at: String,
    archived_at: Option<String>,
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "lowercase")]
enum Status {
    Active,
    Completed,
    Archived,
    Failed,
}

#[derive(Debug, Serialize)]
struct Source {
    repository: String,
    r#ref: Option<String>,
}

/// A job as the emulator stores it.
#[derive(Debug, Clone)]
pub(super) struct Job {
    pub(super) id: String,
    pub(super) created_at: Timestamp,
    pub(super) model: String,
    pub(super) repository: String,
    pub(super) git_ref: Option<String>,
    pub(super) follow_ups: u64,
    /// `active` until then.
    pub(super) finishes_at: Timestamp,
    pub(super) fails: bool,
    /// Generated at the start, shown once the job has finished.
    pub(super) pull_request: Option<String>,
    pub(super) opened_at: Option<Timestamp>,
    /// Whether it is from before the emulator started.
    pub(super) is_past: bool,
    /// The files that its pull request changes. Empty: those of some pages.
    pub(super) files: Vec<String>,
    /// Whether the last work, which began after the job had finished, changes no file.
    pub(super) unchanged: bool,
    /// Whether it is archived as soon as it has finished.
    pub(super) archives: bool,
}

/// The work for one prompt.
#[derive(Debug)]
pub(super) struct Work {
    pub(super) outcome: Outcome,
    pub(super) finishes_at: Timestamp,
    /// Whether a finished job stays as it is meanwhile.
    pub(super) leaves_inactive: bool,
}

impl Job {
    pub(super) fn at(&self, now: Timestamp) -> AgentJob {
        let finished = now >= self.finishes_at;
        let archived_at = self.archived_at().filter(|at| now >= *at);
        let is_shown = finished && !self.unchanged && self.opened_at.is_none_or(|at| at <= now);
        AgentJob {
            id: self.id.clone(),
            status: match (finished, self.fails) {
                _ if archived_at.is_some() => Status::Archived,
                (false, _) => Status::Active,
                (true, false) => Status::Completed,
                (true, true) => Status::Failed,
            },
            source: Source { repository: self.repository.clone(), r#ref: self.git_ref.clone() },
            model: self.model.clone(),
            pr_link: self.pull_request.clone().filter(|_| is_shown),
            created_at: self.created_at.to_string(),
            archived_at: archived_at.map(|at| at.to_string()),
        }
    }

    /// When it is archived; `None` if its end is too far away.
    fn archived_at(&self) -> Option<Timestamp> {
        let after = if self.archives { 0 } else { ARCHIVED_AFTER_SECONDS * 1_000 };
        self.finishes_at.as_millis().checked_add(after).map(Timestamp::from_millis)
    }

    /// Starts the work for another prompt. A pull request that exists or is about to be opened stays, but is not returned after work without changes.
    /// Calls `next_number` only if the work opens the first one. Work in progress finishes with the new work. A job that stays inactive keeps its end; a
    /// pull request of the work appears later. An archived job always stays so.
    pub(super) fn begin_work(
        &mut self,
        work: &Work,
        now: Timestamp,
        code_host: &str,
        next_number: impl FnOnce() -> u64,
    ) {
        let is_archived = self.follow_ups > 0 && self.archived_at().is_some_and(|at| now >= at);
        if now < self.finishes_at || !(work.leaves_inactive || is_archived) {
            self.unchanged = work.outcome == Outcome::NoChanges && now >= self.finishes_at;
            self.finishes_at = self.finishes_at.max(work.finishes_at);
            self.fails = work.outcome == Outcome::Failed;
        }
        if work.outcome == Outcome::PullRequest {
            self.unchanged = false;
            let repository = &self.repository;
            let link = || format!("{code_host}/{repository}/pull/{}", next_number());
            self.pull_request.get_or_insert_with(link);
            self.opened_at.get_or_insert(self.finishes_at.max(work.finishes_at));
        }
    }
}

/// Letters that an id may have and that a path must escape.
const ODD_LETTERS: &str = "/?#%2F:;@&=+ $,\"'<>[]{}|\\^`~..é漢😀";

/// An id with [`ODD_LETTERS`].
pub(super) fn odd_id() -> String {
    format!("{ODD_LETTERS}{}", new_id())
}

/// An unguessable id, such as `job_k3v7…`: 100 random bits in lower-case base 32.
pub(super) fn new_id() -> String {
    const ALPHABET: &[u8; 32] = b"abcdefghijklmnopqrstuvwxyz234567";
    let mut random = rand::rng();
    let letters = (0..20).map(|_| char::from(ALPHABET[random.random_range(0..ALPHABET.len())]));
    format!("job_{}", letters.collect::<String>())
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::super::super::testing::{Bench, LONGEST_SECONDS};
    use super::*;

    #[test]
    fn ids_are_distinct() {
        let ids: std::collections::HashSet<String> = (0..1000).map(|_| new_id()).collect();
        assert_eq!(ids.len(), 1000);
    }

    #[tokio::test]
    async fn finished_job_is_archived_and_stays_so() {
        let bench = Bench::new();
        let link = "https://git.example/acme/docs-docs/pull/101";
        let id = bench.create("docs", "x").await.text("id").to_owned();
        bench.wait(LONGEST_SECONDS);
        let seconds = u64::try_from(ARCHIVED_AFTER_SECONDS).unwrap_or_default();
        bench.wait(seconds - LONGEST_SECONDS);
        assert_eq!(bench.job("docs", &id).await.body["archivedAt"], Value::Null);
        bench.wait(LONGEST_SECONDS);
        let archived = bench.job("docs", &id).await;
        assert_eq!((archived.text("status"), archived.text("prLink")), ("archived", link));
        let at = archived.text("archivedAt").to_owned();
        assert!(at.starts_with("2027-02-19T09:30:"), "{at}");
        let followed = bench.follow_up("docs", &id, "And more").await;
        assert_eq!((followed.text("status"), followed.text("archivedAt")), ("archived", at.as_str()));
        bench.wait(LONGEST_SECONDS);
        assert_eq!(bench.job("docs", &id).await.text("archivedAt"), at);
    }

    #[tokio::test]
    async fn job_is_archived_at_its_end_on_demand() {
        let bench = Bench::new();
        let id = bench.create("docs", "emulator:archive").await.text("id").to_owned();
        assert_eq!(bench.job("docs", &id).await.text("status"), "active");
        bench.wait(LONGEST_SECONDS);
        let archived = bench.job("docs", &id).await;
        assert_eq!(archived.text("status"), "archived");
        assert!(archived.text("archivedAt") > archived.text("createdAt"));
    }

    #[tokio::test]
    async fn follow_up_is_worked_on_before_it_archives_its_job() {
        let bench = Bench::new();
        let id = bench.create("docs", "emulator:no-changes").await.text("id").to_owned();
        bench.wait(LONGEST_SECONDS);
        let followed = bench.follow_up("docs", &id, "emulator:archive").await;
        assert_eq!(followed.text("status"), "active");
        bench.wait(LONGEST_SECONDS);
        assert_eq!(bench.job("docs", &id).await.text("status"), "archived");
    }

    #[tokio::test]
    async fn follow_up_may_leave_a_finished_job_inactive() {
        let bench = Bench::new();
        let id = bench.create("docs", "emulator:no-changes").await.text("id").to_owned();
        bench.wait(LONGEST_SECONDS);
        let followed = bench.follow_up("docs", &id, "emulator:inactive emulator:pull-request").await;
        assert_eq!(followed.ending(), "no changes", "not yet");
        bench.wait(LONGEST_SECONDS);
        assert_eq!(bench.job("docs", &id).await.ending(), "pull request");
        let again = bench.follow_up("docs", &id, "emulator:inactive emulator:fail").await;
        assert_eq!(again.ending(), "pull request");
    }

    #[tokio::test]
    async fn follow_up_reactivates_a_job_and_keeps_its_pull_request() {
        let bench = Bench::new();
        let id = bench.create("docs", "x").await.text("id").to_owned();
        bench.wait(LONGEST_SECONDS);
        let link = bench.job("docs", &id).await.body["prLink"].clone();
        for word in ["no-changes", "fail", "pull-request"] {
            let again = bench.follow_up("docs", &id, &format!("emulator:{word}")).await;
            assert_eq!(again.text("status"), "active");
            assert_eq!(again.body["prLink"], Value::Null);
            assert!((6..=15).contains(&bench.seconds_at_work("docs", &id).await));
            let done = bench.job("docs", &id).await;
            assert_eq!(done.text("status") == "failed", word == "fail");
            let named = if word == "no-changes" { &Value::Null } else { &link };
            assert_eq!(&done.body["prLink"], named, "{word}");
        }
    }

    #[tokio::test]
    async fn follow_up_can_open_the_first_pull_request() {
        let bench = Bench::new();
        for word in ["no-changes", "fail"] {
            let id = bench.create("docs", &format!("emulator:{word}")).await.text("id").to_owned();
            bench.wait(LONGEST_SECONDS);
            bench.follow_up("docs", &id, "Try again").await;
            bench.wait(LONGEST_SECONDS);
            assert_eq!(bench.job("docs", &id).await.ending(), "pull request");
        }
    }

    #[tokio::test]
    async fn a_follow_up_during_work_does_not_shorten_it() {
        let bench = Bench::new();
        let id = bench.create("docs", "emulator:slow").await.text("id").to_owned();
        bench.wait(30);
        bench.follow_up("docs", &id, "emulator:no-changes").await;
        assert_eq!(bench.seconds_at_work("docs", &id).await, 30);
        assert_eq!(bench.job("docs", &id).await.ending(), "pull request");
    }
}
