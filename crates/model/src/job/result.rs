//! The result of each prompt of a job, derived from the job's timeline. Pure.

use crate::job::{Job, NO_CHANGES, ReportedStatus, TimelineEntry, TimelineState};
use crate::time::Timestamp;

/// The result of one prompt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PromptResult {
    pub outcome: PromptOutcome,
    pub began_at: Timestamp,
    pub ended_at: Timestamp,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PromptOutcome {
    /// It opened this pull request.
    PullRequest(String),
    /// It finished with the pull request of an earlier prompt. The upstream does not report whether it changed it.
    SamePullRequest(String),
    NoChanges,
    /// It finished in a project without pull requests.
    PublishedDirectly,
    /// It finished in a job with follow-ups, and a version before 0.1.0 did not record its result.
    Finished,
    Failed,
}

/// The result of the job's first prompt and of each of its `follow_ups`, in order; `None` without a result.
pub fn results(job: &Job) -> Vec<Option<PromptResult>> {
    let follow_ups = job.earlier_follow_ups + 1..=job.earlier_follow_ups + job.follow_ups.len() as u32;
    let mut earlier = None;
    std::iter::once(0)
        .chain(follow_ups)
        .map(|position| {
            let (began_at, end) = ended(&job.history, position)?;
            let outcome = match (&end.state, end.detail.as_deref()) {
                (TimelineState::Reported(ReportedStatus::Failed), _) => PromptOutcome::Failed,
                (_, Some(NO_CHANGES)) if job.is_direct => PromptOutcome::PublishedDirectly,
                (_, Some(NO_CHANGES)) => PromptOutcome::NoChanges,
                (_, Some(link)) if earlier.as_deref() == Some(link) => {
                    PromptOutcome::SamePullRequest(link.to_owned())
                }
                (_, Some(link)) => PromptOutcome::PullRequest(link.to_owned()),
                (_, None) => PromptOutcome::Finished,
            };
            if let PromptOutcome::PullRequest(link) = &outcome {
                earlier = Some(link.clone());
            }
            Some(PromptResult { outcome, began_at, ended_at: end.at })
        })
        .collect()
}

/// When the agent accepted the prompt with this index, if it did.
pub fn began_at(history: &[TimelineEntry], position: u32) -> Option<Timestamp> {
    let mut accepted = history.iter().filter(|entry| entry.message == position && entry.state.is_accepted());
    accepted.next_back().map(|entry| entry.at)
}

/// When the agent accepted the prompt, and the last entry that ended it.
fn ended(history: &[TimelineEntry], position: u32) -> Option<(Timestamp, &TimelineEntry)> {
    let began_at = began_at(history, position)?;
    let is_end =
        |entry: &&TimelineEntry| entry.message == position && entry.at >= began_at && entry.state.is_result();
    Some((began_at, history.iter().rev().find(is_end)?))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn job(follow_ups: usize, history: &[(u32, &str, Option<&str>)]) -> Job {
        let follow_up = serde_json::json!({
            "id": "01920000-0000-7000-8000-000000000001", "prompt": "more", "author": "ada", "state": "accepted", "reason": null, "created_at": "2026-11-21T09:30:00Z",
        });
        let history: Vec<_> = history
            .iter()
            .zip(1..)
            .map(|((message, state, detail), at)| TimelineEntry {
                at: Timestamp::from_millis(at * 1000),
                message: *message,
                state: TimelineState::from(*state),
                detail: detail.map(str::to_owned),
            })
            .collect();
        serde_json::from_value(serde_json::json!({
            "id": "01920000-0000-7000-8000-000000000000", "project": "docs", "prompt": "x", "author": "ada",
            "state": "completed", "reason": null, "created_at": "2026-11-21T09:30:00Z", "changed_at": "2026-11-21T09:30:00Z",
            "remote": {
                "id": "job_1", "status": "completed", "model": null, "repository": null, "ref": null, "pr_link": "https://x/7",
                "created_at": null, "archived_at": null,
            },
            "follow_ups": vec![follow_up; follow_ups], "paths": [], "tags": [], "archived_here": null,
            "history": history,
        }))
        .unwrap_or_else(|error| panic!("{error}"))
    }

    fn outcomes(follow_ups: usize, history: &[(u32, &str, Option<&str>)]) -> Vec<Option<PromptOutcome>> {
        results(&job(follow_ups, history))
            .into_iter()
            .map(|result| result.map(|result| result.outcome))
            .collect()
    }

    #[test]
    fn each_prompt_has_its_own_result() {
        let history = [
            (0, "sending", None),
            (0, "accepted", None),
            (0, "active", None),
            (0, "completed", Some("https://x/7")),
            (1, "accepted", None),
            (1, "completed", Some(NO_CHANGES)),
            (2, "accepted", None),
            (2, "completed", Some("https://x/7")),
            (3, "accepted", None),
            (3, "failed", None),
            (4, "accepted", None),
            (4, "active", None),
        ];
        let link = || "https://x/7".to_owned();
        assert_eq!(
            outcomes(4, &history),
            [
                Some(PromptOutcome::PullRequest(link())),
                Some(PromptOutcome::NoChanges),
                Some(PromptOutcome::SamePullRequest(link())),
                Some(PromptOutcome::Failed),
                None,
            ]
        );
        let first = results(&job(4, &history))[0].clone().unwrap_or_else(|| panic!("no result"));
        assert_eq!(first.ended_at.as_millis() - first.began_at.as_millis(), 2_000);
    }

    #[test]
    fn timeline_without_results_shows_only_certain_outcomes() {
        let first = [(0, "accepted", None), (0, "completed", None)];
        assert_eq!(outcomes(1, &first), [Some(PromptOutcome::Finished), None]);
        assert_eq!(outcomes(0, &[(0, "rejected", None)]), [None]);
    }
}
