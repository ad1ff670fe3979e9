//! How far the jobs of a batch are: a bar, and its numbers.

use leptos::either::Either;
use leptos::prelude::*;

use crate::ui::charts::number::{counted, grouped};
use crate::ui::charts::scale::{length, per_mille};
use model::batch::{Part, Progress};

/// Completed, failed and running jobs, one after another. The remaining part is queued, archived without an outcome, or no longer
/// tracked. The numbers beside it show the same.
pub fn bar(progress: &Progress) -> AnyView {
    let completed = progress.completed + progress.resolved;
    let failed = progress.failed + progress.rejected + progress.unknown + progress.cancelled;
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

/// The parts that are shown even if they are empty.
const ALWAYS: [Part; 3] = [Part::Running, Part::Finished, Part::Failed];

/// The numbers. Rare ones are shown only if they are not 0.
pub fn figures(progress: &Progress) -> AnyView {
    let parts = progress.parts().into_iter().filter(|(part, jobs)| *jobs > 0 || ALWAYS.contains(part));
    let parts = parts.map(|(part, jobs)| (capitalized(part.label()), jobs));
    let sent = [("Sent".to_owned(), progress.sent())].into_iter();
    let figures = sent.chain(parts).chain([("Pull requests".to_owned(), progress.pull_requests)]);
    let figures = figures
        .map(|(name, jobs)| view! { <div><dt>{name}</dt> <dd class="numeric">{grouped(jobs)}</dd></div> });
    view! { <dl class="batch-figures" aria-label="Progress">{figures.collect_view()}</dl> }.into_any()
}

fn capitalized(label: &str) -> String {
    let (first, rest) = label.split_at(1);
    first.to_uppercase() + rest
}

/// What a notification says: `Batch finished: 8 pull requests, 2 failed`. While jobs are queued or running: `Batch running: …`.
pub fn notice(progress: &Progress) -> String {
    let is_open = progress.queued + progress.running + progress.other > progress.lost;
    let (finished, requests) = (progress.finished(), progress.pull_requests);
    let opened = (requests > 0).then(|| counted(requests, "pull request", "pull requests"));
    let parts = progress.parts().into_iter().filter_map(|(part, jobs)| match part {
        // The pull requests are its jobs.
        Part::Finished if finished == requests => None,
        part => (jobs > 0).then(|| format!("{} {}", grouped(jobs), part.label())),
    });
    let parts: Vec<String> = opened.into_iter().chain(parts).collect();
    let state = if is_open { "Batch running: " } else { "Batch finished: " };
    [state, &parts.join(", ")].concat()
}

/// One line: `12 of 12 sent · 9 finished · 2 failed · 1 no changes`. The parts add up to all jobs.
pub fn summary(progress: &Progress) -> AnyView {
    if progress.jobs == 0 {
        return "Its jobs were removed".into_any();
    }
    let parts = progress.parts().into_iter().filter(|(_, jobs)| *jobs > 0).map(|(part, jobs)| {
        let text = format!("{} {}", grouped(jobs), part.label());
        let text = match part.is_failure() {
            true => Either::Left(view! { <span class="batch-attention">{text}</span> }),
            false => Either::Right(text),
        };
        view! { " · " {text} }
    });
    let sent = format!("{} of {} sent", grouped(progress.sent()), grouped(progress.jobs));
    view! { {sent} {parts.collect_view()} }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn notice_has_the_pull_requests_and_the_other_parts() {
        let finished =
            Progress { jobs: 10, completed: 8, pull_requests: 8, failed: 2, ..Progress::default() };
        assert_eq!(notice(&finished), "Batch finished: 8 pull requests, 2 failed");
        let mixed = Progress {
            jobs: 12,
            completed: 8,
            no_changes: 1,
            resolved: 2,
            pull_requests: 8,
            queued: 2,
            ..Progress::default()
        };
        assert_eq!(notice(&mixed), "Batch running: 8 pull requests, 9 finished, 1 no changes, 2 queued");
        let one = Progress { jobs: 1, completed: 1, pull_requests: 1, ..Progress::default() };
        assert_eq!(notice(&one), "Batch finished: 1 pull request");
    }
}
