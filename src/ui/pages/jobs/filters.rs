//! The search and the filter chips over the list of jobs.

use std::collections::BTreeMap;
use std::sync::Arc;

use leptos::prelude::*;

use crate::model::job::{JobBadge, JobState};
use crate::ui::charts::number::grouped;
use crate::ui::components::badge::{name, shape};
use crate::ui::components::icon::{self, icon};
use crate::ui::components::search_form;
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::pages::jobs::query::JobsQuery;

/// The shown jobs, each with the state it had when it was counted.
pub(super) type Shown = Vec<(JobState, ArcRwSignal<JobBadge>)>;

pub(super) fn filters(
    project: &str,
    query: &JobsQuery,
    counts: BTreeMap<JobState, u64>,
    shown: Shown,
) -> AnyView {
    let total: u64 = counts.values().sum();
    let selected = query.status.clone();
    let counts = Arc::new(counts);
    let shown = Arc::new(shown);
    let chips = JobState::ALL.into_iter().map(|state| {
        let is_selected = selected.as_deref() == Some(state.as_str());
        let (counts, shown) = (counts.clone(), shown.clone());
        let count = move || now_in(state, counts.get(&state).copied().unwrap_or(0), &shown);
        let is_needed = {
            let count = count.clone();
            move || is_selected || count() > 0
        };
        // Choosing the chosen one again lifts the filter.
        let href = query.with_status((!is_selected).then_some(state.as_str())).href(project);
        view! {
            <li hidden=move || !is_needed()>
                <a class="chip" href=href data-state=state.as_str() aria-current=is_selected.then_some("true")>
                    {icon(shape(state))} {name(state)} <span class="count">{move || grouped(count())}</span>
                </a>
            </li>
        }
        .erase()
    });
    view! {
        <div class="filters">
            {search(project, query)}
            <ul class="chips" aria-label="Filter by state">
                <li>
                    <a class="chip" href=query.with_status(None).href(project) aria-current=selected.is_none().then_some("true")>
                        "All" <span class="count">{grouped(total)}</span>
                    </a>
                </li>
                {chips.collect_view()}
            </ul>
            {query.author.clone().map(|author| by_author(project, query, author))}
        </div>
    }
    .erase()
}

fn search(project: &str, query: &JobsQuery) -> AnyView {
    view! {
        <form class="search" method="get" action=links::jobs(project) role="search" on:submit=search_form::navigating()>
            <input type="hidden" name="status" value=query.status.clone().unwrap_or_default() />
            <input type="hidden" name="author" value=query.author.clone().unwrap_or_default() />
            {icon(icon::SEARCH)}
            <label class="visually-hidden" for="q">"Search jobs"</label>
            <input
                id="q"
                class="field"
                type="search"
                name="q"
                placeholder="Search prompts and follow-ups"
                value=query.q.clone().unwrap_or_default()
                prop:value=query.q.clone().unwrap_or_default()
            />
            <button type="submit" class="visually-hidden">"Search"</button>
        </form>
    }
    .erase()
}

fn by_author(project: &str, query: &JobsQuery, author: String) -> AnyView {
    let lifted = JobsQuery { author: None, cursor: None, ..query.clone() }.href(project);
    view! {
        <p class="lifted">
            "Started by " <strong>{author}</strong> " · " <a href=lifted>"show everyone’s"</a>
        </p>
    }
    .erase()
}

/// How many jobs are in `state` now: those counted, corrected by what changed on the page since.
fn now_in(state: JobState, counted: u64, shown: &Shown) -> u64 {
    let changes = shown.iter().filter_map(|(then, badge)| {
        let now = badge.read().state;
        (*then != now).then_some((*then, now))
    });
    corrected(state, counted, changes)
}

fn corrected(state: JobState, counted: u64, changes: impl Iterator<Item = (JobState, JobState)>) -> u64 {
    changes.fold(counted, |count, (then, now)| {
        let left = u64::from(then == state);
        let came = u64::from(now == state);
        count.saturating_sub(left) + came
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_finishes_on_the_page_changes_the_counts() {
        let changes = [(JobState::Active, JobState::Completed), (JobState::Queued, JobState::Active)];
        let count = |state, counted| corrected(state, counted, changes.into_iter());
        assert_eq!(count(JobState::Active, 1), 1);
        assert_eq!(count(JobState::Completed, 5), 6);
        assert_eq!(count(JobState::Queued, 1), 0);
        assert_eq!(count(JobState::Failed, 2), 2);
    }
}
