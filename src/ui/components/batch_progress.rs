//! How far the jobs of a batch are: a bar, and its numbers.

use leptos::prelude::*;

use crate::ui::charts::number::{counted, grouped};
use crate::ui::charts::scale::{length, per_mille};
use model::batch::Progress;

/// The label of the jobs that a retry outside the batch resolved, after their number.
pub const RESOLVED: &str = "resolved by a retry";

/// Completed, failed and running jobs, one after another. A job that a retry resolved counts as completed. The remaining part is
/// queued, archived without an outcome, or no longer tracked. The numbers beside it show the same.
pub fn bar(progress: &Progress) -> AnyView {
    let completed = progress.completed + progress.resolved;
    let failed = progress.finished() - progress.archived - progress.lost - completed;
    let mut from = 0;
    let parts = [
        ("batch-bar-completed", completed),
        ("batch-bar-failed", failed),
        ("batch-bar-running", progress.running + progress.other - progress.lost),
    ];
    let parts = parts.map(|(class, jobs)| {
        let (x, end) = (per_mille(from, progress.jobs), per_mille(from + jobs, progress.jobs));
        from += jobs;
        view! { <rect class=class x=length(x) width=length(end - x) height="100%" /> }
    });
    view! {
        <svg class="meter-bar batch-bar" aria-hidden="true">
            <rect class="meter-track" width="100%" height="100%" />
            {parts.into_iter().collect_view()}
        </svg>
    }
    .into_any()
}

/// The numbers. Rare ones are shown only if they are not 0.
pub fn figures(progress: &Progress) -> AnyView {
    let always = [
        ("Running", progress.running),
        ("Completed", progress.completed),
        ("Pull requests", progress.pull_requests),
        ("No changes", progress.no_changes),
        ("Failed", progress.failed),
    ];
    let rare = [
        ("Resolved by a retry", progress.resolved),
        ("Rejected", progress.rejected),
        ("Outcome unknown", progress.unknown),
        ("Cancelled", progress.cancelled),
        ("Archived", progress.archived),
        ("Other", progress.other),
    ];
    let rare = rare.into_iter().filter(|(_, jobs)| *jobs > 0);
    let figures = [("Sent", progress.sent())].into_iter().chain(always).chain(rare).map(|(name, jobs)| {
        view! { <div><dt>{name}</dt> <dd class="numeric">{grouped(jobs)}</dd></div> }
    });
    view! { <dl class="batch-figures" aria-label="Progress">{figures.collect_view()}</dl> }.into_any()
}

/// One line: the finished jobs, and their results.
pub fn summary(progress: &Progress) -> String {
    if progress.jobs == 0 {
        return "Its jobs were removed".to_owned();
    }
    let mut parts = vec![format!("{} of {} finished", grouped(progress.finished()), grouped(progress.jobs))];
    let requests = (progress.pull_requests > 0)
        .then(|| counted(progress.pull_requests, "pull request", "pull requests"));
    parts.extend(requests);
    for (jobs, what) in [
        (progress.resolved, RESOLVED),
        (progress.running, "running"),
        (progress.no_changes, "no changes"),
        (progress.failed, "failed"),
        (progress.rejected, "rejected"),
        (progress.unknown, "outcome unknown"),
        (progress.archived, "archived"),
    ] {
        if jobs > 0 {
            parts.push(format!("{} {what}", grouped(jobs)));
        }
    }
    parts.join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::job::JobState;

    #[test]
    fn summary_omits_empty_counts() {
        let mut progress = Progress::default();
        assert_eq!(summary(&progress), "Its jobs were removed");
        progress.add(JobState::Completed, 2);
        progress.add(JobState::Failed, 1);
        progress.add(JobState::Queued, 1);
        progress.pull_requests = 1;
        progress.no_changes = 1;
        assert_eq!(summary(&progress), "3 of 4 finished · 1 pull request · 1 no changes · 1 failed");
        progress.add_resolved(2);
        let facts = "5 of 6 finished · 1 pull request · 2 resolved by a retry · 1 no changes · 1 failed";
        assert_eq!(summary(&progress), facts);
    }
}
