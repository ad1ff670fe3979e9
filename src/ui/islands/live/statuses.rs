//! Polls the status of every job that has a badge on the page, and of jobs that were still active on the tab's previous page.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::web_sys::{Element, Event};

use super::{LiveState, news};
use crate::ui::components::job_status::{JOB, ShownStatus};
use crate::ui::islands::browser;
use api::jobs::JobStatuses;
use model::error::AppError;
use model::id::JobId;
use model::job::JobBadge;

/// The most jobs in one request.
const MOST: usize = 200;

/// The states of the jobs on the page, and of the active ones of the tab's previous page.
#[derive(Clone, Copy, Default)]
pub struct JobStates(RwSignal<Vec<WatchedJob>>);

/// A job on the page, or an active one of an earlier page of this tab.
#[derive(Clone)]
struct WatchedJob {
    id: String,
    /// The last one that was polled, or else the one of the page; `None` before the first response for a job of the earlier page.
    polled: Option<ShownStatus>,
    /// The last one that the server rendered on this page.
    rendered: Option<ShownStatus>,
    /// Its title on the earlier page.
    title: String,
}

/// A job that finished since the last poll.
pub(super) struct Finished {
    pub(super) title: String,
    pub(super) status: JobBadge,
    /// Whether it had a pull request before.
    pub(super) had_link: bool,
}

pub(super) struct StatusChanges {
    /// Whether a job on the page changed.
    pub(super) any_changed: bool,
    /// Whether anything changed in the project that the page shows.
    pub(super) is_outdated: bool,
    pub(super) finished: Vec<Finished>,
}

impl JobStates {
    /// Polls the job, whose badge the server rendered with `status`.
    pub fn watch(self, status: &ShownStatus) {
        self.0.maybe_update(|jobs| {
            let Some(job) = jobs.iter_mut().find(|job| job.id == status.id.as_str()) else {
                jobs.push(WatchedJob::on_page(status));
                return false;
            };
            job.polled.get_or_insert_with(|| status.clone());
            // There may be another badge of the job.
            job.rendered.replace(status.clone()).as_ref() != Some(status)
        });
    }

    /// The current status of a job.
    pub fn status(self, id: &JobId) -> Option<ShownStatus> {
        let jobs = self.0.read();
        jobs.iter().find(|job| job.id == id.as_str())?.latest().cloned()
    }

    pub(super) fn is_empty(self) -> bool {
        self.0.read_untracked().is_empty()
    }

    /// Whether any job is active.
    pub(super) fn any_moving(self) -> bool {
        self.0.read_untracked().iter().any(WatchedJob::is_moving)
    }

    /// Whether the agent or a person may change any job: all except untracked ones.
    pub(super) fn any_may_change(self) -> bool {
        let is_untracked = |job: &WatchedJob| job.polled.as_ref().is_some_and(ShownStatus::is_untracked);
        !self.0.read_untracked().iter().all(is_untracked)
    }

    /// The ids to request, comma-separated: first those of active jobs.
    fn ids(self) -> String {
        let jobs = self.0.read_untracked();
        let (moving, still): (Vec<_>, Vec<_>) = jobs.iter().rev().partition(|job| job.is_moving());
        let ids: Vec<_> = moving.iter().chain(&still).take(MOST).map(|job| job.id.as_str()).collect();
        ids.join(",")
    }

    /// Takes over the polled `statuses`, and returns which jobs finished; `None` if none changed.
    fn take(self, statuses: Vec<JobBadge>) -> Option<Vec<Finished>> {
        let mut jobs = self.0.get_untracked();
        let mut finished = None;
        for status in statuses {
            let Some(job) = jobs.iter_mut().find(|job| job.id == status.id.as_str()) else { continue };
            let shown = Some(ShownStatus::of(&status));
            if job.polled == shown {
                continue;
            }
            let finished = finished.get_or_insert_with(Vec::new);
            let was_moving = job.is_moving();
            let before = std::mem::replace(&mut job.polled, shown);
            if was_moving && !job.is_moving() {
                let had_link = before.is_some_and(|before| before.has_link());
                finished.push(Finished { title: job.title(), status, had_link });
            }
        }
        // A job that is no longer on the page is watched until it finishes.
        jobs.retain(|job| job.is_moving() || job.is_shown());
        match finished {
            Some(_) => self.0.set(jobs),
            None => self.0.update_untracked(|shown| *shown = jobs),
        }
        finished
    }
}

/// Fetches the states of all watched jobs in one call. The badges show them.
pub(super) async fn fetch(live: &LiveState) -> Result<StatusChanges, AppError> {
    let seen = news::seen();
    let ids = live.jobs.ids();
    let fields = [("project", live.project()), ("jobs", &ids), ("seen", &seen.clone().unwrap_or_default())];
    let reply = browser::post::<Vec<JobBadge>>(JobStatuses::PATH, &browser::fields_of(&fields)).await;
    let statuses = reply.result?;
    if let Some(unread) = reply.unread {
        live.unread.set(Some(unread));
    }
    let is_outdated =
        reply.revision.is_some_and(|revision| seen.is_some_and(|seen| seen != revision.to_string()));
    let finished = live.jobs.take(statuses);
    Ok(StatusChanges { any_changed: finished.is_some(), is_outdated, finished: finished.unwrap_or_default() })
}

/// Whether the status of this job is visible: its own page is open, or it is in the visible part of a list.
pub(super) fn is_in_view(id: &str) -> bool {
    let path = browser::here();
    let is_own_page = path.split(['?', '#']).next().is_some_and(|path| path.ends_with(id));
    // In a row, the badge itself has no box.
    let is_in_view = |badge: &Element| {
        let row = badge.closest(".job-row").ok().flatten();
        browser::is_in_view(row.as_ref().unwrap_or(badge))
    };
    is_own_page || browser::all(&selector(JOB, id)).iter().any(is_in_view)
}

/// Stores the active jobs for the next page of this tab.
pub(super) fn store(live: &LiveState) {
    let jobs = live.jobs.0.read_untracked();
    let moving: Vec<_> = jobs
        .iter()
        .filter(|job| job.is_moving())
        .map(|job| [job.id.as_str(), " ", &job.title()].concat())
        .collect();
    browser::store_for_tab(&key(live), &moving.join("\n"));
}

/// Restores the active jobs of the tab's last page, and stores this page's when it is left.
pub(super) fn restore(live: &LiveState) {
    let stored = browser::stored_for_tab(&key(live)).unwrap_or_default();
    let jobs = stored.lines().filter_map(|line| {
        let (id, title) = line.split_once(' ')?;
        Some(WatchedJob { id: id.to_owned(), polled: None, rendered: None, title: title.to_owned() })
    });
    live.jobs.0.set(jobs.collect());
    let live = live.clone();
    browser::on_window::<Event>("pagehide", move |_| store(&live));
}

fn key(live: &LiveState) -> String {
    ["docket.moving/", live.project()].concat()
}

fn selector(attribute: &str, id: &str) -> String {
    ["[", attribute, "=\"", id, "\"]"].concat()
}

impl WatchedJob {
    fn on_page(status: &ShownStatus) -> Self {
        let (id, status) = (status.id.to_string(), Some(status.clone()));
        Self { id, polled: status.clone(), rendered: status, title: String::new() }
    }

    /// The server may have rendered the page after the last poll.
    fn latest(&self) -> Option<&ShownStatus> {
        let newer =
            |rendered: &&ShownStatus| self.polled.as_ref().is_none_or(|polled| polled.is_before(rendered));
        self.rendered.as_ref().filter(newer).or(self.polled.as_ref())
    }

    /// Whether its end was not polled yet.
    fn is_moving(&self) -> bool {
        self.polled.as_ref().is_none_or(ShownStatus::is_moving)
    }

    fn is_shown(&self) -> bool {
        browser::find(&selector(JOB, &self.id)).is_some()
    }

    /// Its title on the page, or on the earlier one.
    fn title(&self) -> String {
        let shown = browser::find(&selector("data-title-of", &self.id)).or_else(|| {
            let row = browser::find(&[".job-row ", &selector(JOB, &self.id)].concat())?.closest(".job-row");
            browser::find_in(&row.ok()??, ".job-title")
        });
        shown.and_then(|title| title.text_content()).unwrap_or_else(|| self.title.clone())
    }
}
