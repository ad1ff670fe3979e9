//! The search, the filters and the sort of the list of jobs.

use leptos::prelude::*;

use crate::model::job::{JobPage, JobState};
use crate::model::job_query::JobQuery;
use crate::model::links;
use crate::ui::charts::number::grouped;
use crate::ui::components::badge::{name, shape};
use crate::ui::components::icon::{self, icon};
use crate::ui::pages::jobs::query::href;

/// The on/off filters: field, value and label.
const SWITCHES: [(&str, &str, &str); 4] = [
    ("needs", "attention", "Needs attention"),
    ("pr", "yes", "With pull request"),
    ("pr", "no", "Without pull request"),
    ("archived", "yes", "Archived here"),
];

const ORDERS: [(&str, &str); 3] = [("", "Newest"), ("oldest", "Oldest"), ("changed", "Last changed")];

/// `me`: the name of the signed-in person.
pub(super) fn filters(project: &str, query: &JobQuery, page: &JobPage, me: &str) -> AnyView {
    view! {
        <div class="filters">
            {search(project, query)}
            {states(project, query, page)}
            <div class="filter-line">
                {switches(project, query, page.attention, me)}
                {orders(project, query)}
            </div>
            {others(project, query)}
            {lifted(project, query, "author", "Started by", "show everyone’s")}
            {lifted(project, query, "tag", "Tagged", "show all tags")}
        </div>
    }
    .into_any()
}

fn states(project: &str, query: &JobQuery, page: &JobPage) -> AnyView {
    let total: u64 = page.counts.values().sum();
    let chips = JobState::ALL.into_iter().filter_map(|state| {
        let is_selected = query.status == state.as_str();
        let count = page.counts.get(&state).copied().unwrap_or(0);
        if !is_selected && count == 0 {
            return None;
        }
        // Choosing the current filter again removes it.
        let href = href(project, &query.with("status", if is_selected { "" } else { state.as_str() }));
        Some(view! {
            <li>
                <a class="chip" href=href data-state=state.as_str() aria-current=is_selected.then_some("true")>
                    {icon(shape(state))} {name(state)} <span class="count">{grouped(count)}</span>
                </a>
            </li>
        })
    });
    let all = href(project, &query.with("status", ""));
    view! {
        <ul class="chips" aria-label="Filter by state">
            <li>
                <a class="chip" href=all aria-current=query.status.is_empty().then_some("true")>
                    "All" <span class="count">{grouped(total)}</span>
                </a>
            </li>
            {chips.collect_view()}
        </ul>
    }
    .into_any()
}

fn switches(project: &str, query: &JobQuery, attention: u64, me: &str) -> AnyView {
    let mine = (!me.is_empty()).then_some(("author", me, "Mine"));
    let chips = mine.into_iter().chain(SWITCHES).map(|(field, value, name)| {
        let is_on = query.values().contains(&(field, value));
        let href = href(project, &query.with(field, if is_on { "" } else { value }));
        let count =
            (field == "needs").then(|| view! { <span class="count">{grouped(attention)}</span> }.into_any());
        view! { <li><a class="chip" href=href aria-current=is_on.then_some("true")>{name} {count}</a></li> }
            .into_any()
    });
    view! { <ul class="chips" aria-label="More filters">{chips.collect_view()}</ul> }.into_any()
}

fn orders(project: &str, query: &JobQuery) -> AnyView {
    let orders = ORDERS.map(|(sort, name)| {
        let is_chosen = query.sort == sort;
        let href = href(project, &query.with("sort", sort));
        view! { <a href=href aria-current=is_chosen.then_some("true")>{name}</a> }.into_any()
    });
    view! { <nav class="segments" aria-label="Order">{orders.into_iter().collect_view()}</nav> }.into_any()
}

fn search(project: &str, query: &JobQuery) -> AnyView {
    view! {
        <form class="search" method="get" action=links::jobs(project) role="search">
            {kept(query, &["q"])}
            {icon(icon::SEARCH)}
            <label class="visually-hidden" for="q">"Search jobs"</label>
            <input
                id="q"
                class="field"
                type="search"
                name="q"
                maxlength="500"
                autocomplete="off"
                placeholder="Search prompts and follow-ups"
                value=query.q.clone()
            />
            <button type="submit" class="visually-hidden">"Search"</button>
        </form>
    }
    .into_any()
}

/// The filters without a chip, as a form.
fn others(project: &str, query: &JobQuery) -> AnyView {
    let field = |name: &'static str, label: &'static str, value: &str| {
        let value = value.to_owned();
        view! {
            <label class="with-icon">
                {label} <input class="field" name=name maxlength="500" autocomplete="off" value=value />
            </label>
        }
        .into_any()
    };
    view! {
        <details class="keep">
            <summary>"By page, tag or person"</summary>
            <form class="keep-form" method="get" action=links::jobs(project)>
                {kept(query, &["author", "tag"])}
                {field("tag", "Page or tag", &query.tag)}
                {field("author", "Person", &query.author)}
                <button type="submit" class="button">"Filter"</button>
            </form>
        </details>
    }
    .into_any()
}

/// The hidden fields of a form: the whole query except its own fields.
fn kept(query: &JobQuery, own: &[&str]) -> AnyView {
    let rest = query.values().into_iter().filter(|(field, _)| !own.contains(field));
    rest.map(|(field, value)| view! { <input type="hidden" name=field value=value.to_owned() /> }.into_any())
        .collect_view()
        .into_any()
}

/// A filter that a link from another page set, with a link to remove it.
fn lifted(project: &str, query: &JobQuery, field: &str, what: &'static str, lift: &'static str) -> AnyView {
    let Some((_, value)) =
        query.values().into_iter().find(|(name, value)| *name == field && !value.is_empty())
    else {
        return ().into_any();
    };
    let href = href(project, &query.with(field, ""));
    view! {
        <p class="lifted">
            {what} " " <strong>{value.to_owned()}</strong> " · " <a href=href>{lift}</a>
        </p>
    }
    .into_any()
}
