//! The status of every job on the page, and of those that still moved when the reader left another page of this tab.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::LiveState;
use crate::api::jobs::JobStatuses;
use crate::error::AppError;
use crate::model::id::JobId;
use crate::model::job::{JobBadge, JobState};
use crate::model::time::Timestamp;
use crate::ui::islands::browser;

/// How many jobs one question may name.
const MOST: usize = 200;

/// A job that is on the page, or that was on an earlier page of this tab and still moves.
#[derive(Clone)]
pub(super) struct Watched {
    status: ArcRwSignal<JobBadge>,
    /// What it was called on that earlier page.
    title: String,
}

/// A job that finished since the last question.
pub(super) struct Finished {
    pub(super) title: String,
    pub(super) status: JobBadge,
}

pub(super) struct News {
    pub(super) any_changed: bool,
    pub(super) finished: Vec<Finished>,
}

type AllWatched = StoredValue<Vec<Watched>>;

/// The status of a job that is shown. One that is shown twice is watched once.
pub(super) fn watch(all: AllWatched, shown: JobBadge) -> ArcRwSignal<JobBadge> {
    let known = all.with_value(|all| all.iter().find(|job| job.is(&shown.id)).cloned());
    if let Some(known) = known {
        if known.status.read_untracked().changed_at < shown.changed_at {
            known.status.set(shown);
        }
        return known.status;
    }
    let status = ArcRwSignal::new(shown);
    all.update_value(|all| all.push(Watched { status: status.clone(), title: String::new() }));
    status
}

/// Whether a watched job will still change by itself.
pub(super) fn any_moving(all: AllWatched) -> bool {
    all.with_value(|all| all.iter().any(Watched::is_moving))
}

/// Asks for all watched jobs at once.
pub(super) async fn ask(all: AllWatched, project: String) -> Result<News, AppError> {
    let jobs = all.with_value(|all| question(all));
    let fields = browser::fields_of(&[("project", &project), ("jobs", &jobs)]);
    let answer = browser::post::<Vec<JobBadge>>(JobStatuses::PATH, &fields).await.answer?;
    let mut news = News { any_changed: false, finished: Vec::new() };
    for status in answer {
        let Some(job) = all.with_value(|all| all.iter().find(|job| job.is(&status.id)).cloned()) else {
            continue;
        };
        let before = job.status.get_untracked();
        if before == status {
            continue;
        }
        job.status.set(status.clone());
        news.any_changed = true;
        if before.is_moving() && !status.is_moving() {
            news.finished.push(Finished { title: job.title(), status });
        }
    }
    // What is gone from the page is of interest until it has finished.
    all.update_value(|all| all.retain(|job| job.is_moving() || is_shown(&job.id())));
    Ok(news)
}

/// Keeps what moves for the next page of this tab.
pub(super) fn keep(live: LiveState) {
    let moving = live.watched.with_value(|all| {
        all.iter()
            .filter(|job| job.is_moving())
            .map(|job| format!("{} {}", job.id(), job.title()))
            .collect::<Vec<_>>()
    });
    browser::store_for_tab(&key(live), &moving.join("\n"));
}

/// Takes up what moved on the last page of this tab, and keeps what moves on this one when it is left.
pub(super) fn remember(live: LiveState) {
    for line in browser::stored_for_tab(&key(live)).unwrap_or_default().lines() {
        let Some((id, title)) = line.split_once(' ') else { continue };
        let Ok(id) = id.parse::<JobId>() else { continue };
        let status = JobBadge {
            id,
            state: JobState::Active,
            status: None,
            pr_link: None,
            changed_at: Timestamp::from_millis(0),
            followed: true,
        };
        let job = Watched { status: ArcRwSignal::new(status), title: title.to_owned() };
        live.watched.update_value(|all| all.push(job));
    }
    browser::on_window(leptos::ev::pagehide, move |_| keep(live));
}

fn key(live: LiveState) -> String {
    format!("docket.moving/{}", live.project())
}

fn is_shown(id: &JobId) -> bool {
    document().query_selector(&format!("[data-job=\"{id}\"]")).ok().flatten().is_some()
}

/// The ids to ask for, comma-separated.
fn question(all: &[Watched]) -> String {
    let ids: Vec<_> = all.iter().rev().take(MOST).map(|job| job.id().to_string()).collect();
    ids.join(",")
}

impl Watched {
    fn id(&self) -> JobId {
        self.status.read_untracked().id.clone()
    }

    fn is(&self, id: &JobId) -> bool {
        self.status.read_untracked().id == *id
    }

    fn is_moving(&self) -> bool {
        self.status.read_untracked().is_moving()
    }

    /// As the page calls it, or else as an earlier one did.
    fn title(&self) -> String {
        let shown = document().query_selector(&format!("[data-title-of=\"{}\"]", self.id())).ok().flatten();
        shown.and_then(|title| title.text_content()).unwrap_or_else(|| self.title.clone())
    }
}
