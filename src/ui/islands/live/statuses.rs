//! Polls the status of every job on the page, and of jobs that were still active on the tab's previous page.

use leptos::server_fn::ServerFn;
use leptos::web_sys::{Element, Event};

use super::{LiveState, bell, news};
use crate::api::jobs::JobStatuses;
use crate::ui::components::job_status::{self, StatusVersion, linked_job_status};
use crate::ui::islands::{browser, morph};
use model::error::AppError;
use model::job::JobBadge;

/// The most jobs in one request.
const MOST: usize = 200;

/// A job on the page, or an active one of an earlier page of this tab.
#[derive(Clone)]
pub(super) struct WatchedJob {
    id: String,
    is_moving: bool,
    /// The version of the last status; `None` before the first response for a job of the earlier page.
    version: Option<StatusVersion>,
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

/// Adds the jobs on the page that are not watched yet.
pub(super) fn collect(live: &LiveState) {
    let mut watched = live.watched.borrow_mut();
    for shown in browser::all("[data-version]") {
        let Some(id) = shown.get_attribute(job_status::JOB) else { continue };
        if watched.iter().any(|job| job.id == id && job.version.is_some()) {
            continue;
        }
        watched.retain(|job| job.id != id);
        let version = shown_version(&shown);
        watched.push(WatchedJob {
            is_moving: version.as_ref().is_some_and(StatusVersion::is_moving),
            version,
            title: String::new(),
            id,
        });
    }
}

/// Whether any watched job is active.
pub(super) fn any_moving(live: &LiveState) -> bool {
    live.watched.borrow().iter().any(|job| job.is_moving)
}

/// Whether the agent or a person may change any watched job: all except untracked ones.
pub(super) fn any_may_change(live: &LiveState) -> bool {
    live.watched.borrow().iter().any(|job| !job.version.as_ref().is_some_and(StatusVersion::is_untracked))
}

/// Fetches the states of all watched jobs in one call and updates the page.
pub(super) async fn fetch(live: &LiveState) -> Result<StatusChanges, AppError> {
    let seen = news::seen();
    let fields =
        [("project", live.project()), ("jobs", &ids(live)), ("seen", &seen.clone().unwrap_or_default())];
    let reply = browser::post::<Vec<JobBadge>>(JobStatuses::PATH, &browser::fields_of(&fields)).await;
    let result = reply.result?;
    if let Some(unread) = reply.unread {
        bell::show(unread);
    }
    let is_outdated =
        reply.revision.is_some_and(|revision| seen.is_some_and(|seen| seen != revision.to_string()));
    let mut changes = StatusChanges { any_changed: false, is_outdated, finished: Vec::new() };
    let mut watched = live.watched.borrow_mut();
    for status in result {
        let Some(job) = watched.iter_mut().find(|job| job.id == status.id.as_str()) else { continue };
        let version = Some(StatusVersion::of(&status));
        show(&status, version.as_ref());
        if job.version == version {
            continue;
        }
        changes.any_changed = true;
        let was_moving = std::mem::replace(&mut job.is_moving, status.is_moving());
        let before = std::mem::replace(&mut job.version, version);
        let had_link = before.is_some_and(|before| before.has_link());
        if was_moving && !job.is_moving {
            changes.finished.push(Finished { title: job.title(), status, had_link });
        }
    }
    // A job that is no longer on the page is watched until it finishes.
    watched.retain(|job| job.is_moving || job.is_shown());
    Ok(changes)
}

/// Whether the status of this job is visible: its own page is open, or it is in the visible part of a list.
pub(super) fn is_in_view(id: &str) -> bool {
    let path = browser::here();
    let is_own_page = path.split(['?', '#']).next().is_some_and(|path| path.ends_with(id));
    is_own_page || browser::all(&live_badge(id)).iter().any(browser::is_in_view)
}

/// The version of a status on the page.
fn shown_version(status: &Element) -> Option<StatusVersion> {
    StatusVersion::parse(
        &status.get_attribute(job_status::STATE)?,
        &status.get_attribute(job_status::VERSION)?,
    )
}

/// Replaces older versions of the status on the page.
fn show(status: &JobBadge, version: Option<&StatusVersion>) {
    for shown in browser::all(&live_badge(status.id.as_str())) {
        if shown_version(&shown).as_ref() == version {
            continue;
        }
        let link = shown.next_element_sibling();
        let link = link.filter(|link| link.class_list().contains(job_status::LINK_CLASS));
        let update = |shown: Option<&Element>, now: Option<Element>| {
            if let (Some(shown), Some(now)) = (shown, now) {
                morph::morph(shown, &now, &mut Vec::new());
            }
        };
        morph::rendered(
            || linked_job_status(status),
            |now| {
                update(Some(&shown), now.first_element_child());
                update(link.as_ref(), now.last_element_child());
            },
        );
    }
}

/// Stores the active jobs for the next page of this tab.
pub(super) fn store(live: &LiveState) {
    let watched = live.watched.borrow();
    let moving: Vec<_> = watched
        .iter()
        .filter(|job| job.is_moving)
        .map(|job| [job.id.as_str(), " ", &job.title()].concat())
        .collect();
    browser::store_for_tab(&key(live), &moving.join("\n"));
}

/// Restores the active jobs of the tab's last page, and stores this page's when it is left.
pub(super) fn restore(live: &LiveState) {
    for line in browser::stored_for_tab(&key(live)).unwrap_or_default().lines() {
        let Some((id, title)) = line.split_once(' ') else { continue };
        live.watched.borrow_mut().push(WatchedJob {
            id: id.to_owned(),
            is_moving: true,
            version: None,
            title: title.to_owned(),
        });
    }
    collect(live);
    let live = live.clone();
    browser::on_window::<Event>("pagehide", move |_| store(&live));
}

fn key(live: &LiveState) -> String {
    ["docket.moving/", live.project()].concat()
}

/// The ids to request, comma-separated.
fn ids(live: &LiveState) -> String {
    let watched = live.watched.borrow();
    let ids: Vec<_> = watched.iter().rev().take(MOST).map(|job| job.id.as_str()).collect();
    ids.join(",")
}

/// The badges of a job that are kept current.
fn live_badge(id: &str) -> String {
    selector("data-job", id) + "[data-version]"
}

fn selector(attribute: &str, id: &str) -> String {
    ["[", attribute, "=\"", id, "\"]"].concat()
}

impl WatchedJob {
    fn is_shown(&self) -> bool {
        browser::find(&selector("data-job", &self.id)).is_some()
    }

    /// Its title on the page, or on the earlier one.
    fn title(&self) -> String {
        let shown = browser::find(&selector("data-title-of", &self.id)).or_else(|| {
            let row = browser::find(&live_badge(&self.id))?.closest(".job-row").ok()??;
            browser::find_in(&row, ".job-title")
        });
        shown.and_then(|title| title.text_content()).unwrap_or_else(|| self.title.clone())
    }
}
