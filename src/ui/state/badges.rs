//! The state of every job that is on the page, kept true by one question for all of them.
//! Must not decide when to ask: `live` does.

use std::collections::BTreeMap;

use leptos::prelude::*;

use crate::api::call::call;
use crate::api::jobs::JobStatuses;
use crate::error::AppError;
use crate::model::id::JobId;
use crate::model::job::{Job, JobBadge};

/// How many jobs one question may name.
const MOST: usize = 200;

#[derive(Clone, Copy)]
pub struct Badges {
    watched: StoredValue<BTreeMap<JobId, Watched>>,
}

/// A job that is shown, or that was shown and still moves.
#[derive(Clone)]
struct Watched {
    title: String,
    badge: ArcRwSignal<JobBadge>,
    /// In how many places it is shown.
    places: u32,
}

/// A job that came to rest since the last question.
pub struct Settled {
    pub title: String,
    pub badge: JobBadge,
}

pub fn provide() {
    provide_context(Badges { watched: StoredValue::new(BTreeMap::new()) });
}

impl Badges {
    pub fn get() -> Self {
        expect_context()
    }

    /// The badge of `job`, kept true until the place that asks is gone; if the job moves still, until it rests.
    pub fn watch(self, job: &Job) -> ArcRwSignal<JobBadge> {
        let told = job.badge();
        let id = told.id.clone();
        let badge = self.watched.try_update_value(|watched| {
            let entry = watched.entry(id.clone()).or_insert_with(|| Watched {
                title: job.title().to_owned(),
                badge: ArcRwSignal::new(told.clone()),
                places: 0,
            });
            entry.places += 1;
            entry.badge.clone()
        });
        let badge = badge.unwrap_or_else(|| ArcRwSignal::new(told.clone()));
        if badge.read_untracked().changed_at < told.changed_at {
            badge.set(told);
        }
        on_cleanup(move || self.leave(&id));
        badge
    }

    /// The badge of a watched job as it is now.
    pub fn known(self, id: &JobId) -> Option<JobBadge> {
        self.watched.try_with_value(|watched| watched.get(id).map(|entry| entry.badge.get_untracked()))?
    }

    /// Whether a watched job will still change by itself.
    pub fn any_moving(self) -> bool {
        self.watched.try_with_value(|watched| watched.values().any(Watched::is_moving)).unwrap_or(false)
    }

    pub fn is_empty(self) -> bool {
        self.watched.try_with_value(BTreeMap::is_empty).unwrap_or(true)
    }

    /// Asks for all watched jobs at once, and says which of them came to rest.
    pub async fn ask(self, project: String) -> Result<Vec<Settled>, AppError> {
        let jobs = self.watched.try_with_value(question).unwrap_or_default();
        let answer = call(JobStatuses { project, jobs }).output().await?;
        Ok(answer.into_iter().filter_map(|badge| self.hear(badge)).collect())
    }

    fn hear(self, news: JobBadge) -> Option<Settled> {
        let watched = self.watched.try_with_value(|watched| watched.get(&news.id).cloned())??;
        let old = watched.badge.get_untracked();
        if old == news {
            return None;
        }
        watched.badge.set(news.clone());
        let settled = old.is_moving() && !news.is_moving();
        if settled && watched.places == 0 {
            self.watched.try_update_value(|watched| watched.remove(&news.id));
        }
        settled.then_some(Settled { title: watched.title, badge: news })
    }

    fn leave(self, id: &JobId) {
        self.watched.try_update_value(|watched| {
            if let Some(entry) = watched.get_mut(id) {
                entry.places = entry.places.saturating_sub(1);
                if entry.places == 0 && !entry.is_moving() {
                    watched.remove(id);
                }
            }
        });
    }
}

impl Watched {
    fn is_moving(&self) -> bool {
        self.badge.read_untracked().is_moving()
    }
}

/// The ids to ask for, comma-separated: what is shown before what only moves, newest first.
fn question(watched: &BTreeMap<JobId, Watched>) -> String {
    let mut ids: Vec<_> = watched.iter().rev().collect();
    ids.sort_by_key(|(_, entry)| entry.places == 0);
    ids.truncate(MOST);
    let ids: Vec<_> = ids.into_iter().map(|(id, _)| id.as_str()).collect();
    ids.join(",")
}
