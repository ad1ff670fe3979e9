//! Announces finished jobs in toasts, in the document's title, and in notifications while the page is not visible and focused.

use leptos::prelude::*;

use super::statuses::Finished;
use super::{LiveState, statuses};
use crate::ui::components::badge;
use crate::ui::islands::browser;
use model::job::{JobBadge, JobState};
use model::links;

/// Above this number of jobs, only the number is announced.
const MOST_TOASTS: usize = 3;

/// Announces each finished job, or their number if there are many.
pub(super) fn announce(live: &LiveState, finished: Vec<Finished>) {
    let project = live.project();
    if finished.len() > MOST_TOASTS {
        let jobs = finished.len() as u32;
        let last = finished.iter().map(|job| job.status.changed_at).max();
        let tag = last.map(|at| format!("{project}/{at}")).unwrap_or_default();
        let outcome = format!("{jobs} jobs finished");
        let href = links::with_query(&links::jobs(project), &[("sort", "changed")]);
        notify(live, jobs, &outcome, "", &href, &tag);
        return live.toasts.show(&outcome, "", Some(href));
    }
    for Finished { title, status, had_link } in finished {
        let Some(outcome) = outcome(&status, had_link) else { continue };
        let href = links::job(project, status.id.as_str());
        notify(live, 1, outcome, &title, &href, &format!("{}/{}", status.id, status.changed_at));
        let text = [outcome, ":"].concat();
        if browser::is_watched() && statuses::is_in_view(status.id.as_str()) {
            live.toasts.announce(&text, &title);
        } else if is_problem(status.state) {
            live.toasts.warn(&text, &title, Some(href));
        } else {
            live.toasts.show(&text, &title, Some(href));
        }
    }
}

/// Notifies unless the page is visible and focused.
fn notify(live: &LiveState, jobs: u32, outcome: &str, title: &str, href: &str, tag: &str) {
    if browser::is_watched() {
        return;
    }
    live.unseen.update(|unseen| *unseen += jobs);
    if live.notifications.are_enabled() {
        browser::notify(outcome, title, href.to_owned(), tag);
    }
}

const fn is_problem(state: JobState) -> bool {
    matches!(state, JobState::Failed | JobState::Rejected | JobState::Unknown | JobState::Other)
}

/// The text for a finished job's outcome; `None` for a state that is not final. `had_link`: the pull request existed before, so
/// a follow-up finished.
fn outcome(status: &JobBadge, had_link: bool) -> Option<&'static str> {
    Some(match status.state {
        JobState::Completed if had_link => "Follow-up finished",
        JobState::Completed if status.pr_link.is_some() => "Pull request opened",
        JobState::Completed if status.is_direct => badge::PUBLISHED_DIRECTLY,
        JobState::Completed => badge::NO_CHANGES,
        JobState::Failed => "Failed",
        JobState::Archived => "Archived",
        JobState::Rejected => "Not accepted",
        JobState::Cancelled => "Cancelled",
        JobState::Unknown => "Outcome unknown",
        JobState::Other => "Docket stopped tracking this job",
        JobState::Queued | JobState::Sending | JobState::Active => return None,
    })
}
