//! The filter bar of the list: search, one menu for each filter, and the active filters. On a phone the menus are in one sheet.

use leptos::prelude::*;

use crate::ui::charts::number::grouped;
use crate::ui::components::badge::{self, name, shape};
use crate::ui::components::icon::{self, icon};
use crate::ui::components::localized::counter;
use crate::ui::components::pull_request;
use crate::ui::components::unmarked::unmarked;
use crate::ui::islands::live_search;
use crate::ui::pages::jobs::query::href;
use model::day::Day;
use model::job::JobState;
use model::job_list::{FacetValues, Facets, FilteredJobs, JobPage};
use model::job_query::{JobQuery, NO_CHANGES};
use model::links;
use model::pull_request::PullRequestFilter;
use model::tag::fold;

/// The id of the search field, the target of a skip link.
pub(super) const SEARCH: &str = live_search::FIELD;

/// The id of the menus, which are a sheet on a phone.
const MENUS: &str = "filter-menus";

const ORDERS: [(&str, &str); 3] = [("", "Newest"), ("oldest", "Oldest"), ("changed", "Last changed")];

/// An entry of a menu: its URL, whether it is active, its text, and its number of jobs.
struct Entry {
    href: String,
    is_on: bool,
    /// Whether it removes the filter.
    is_default: bool,
    text: String,
    count: Option<u64>,
    /// The status that it filters by, and its icon.
    status: Option<(&'static str, &'static str)>,
}

/// `me`: the name of the signed-in person.
pub(super) fn filters(project: &str, query: &JobQuery, jobs: &FilteredJobs, me: &str) -> AnyView {
    let FilteredJobs { page, facets, .. } = jobs;
    let applied = applied(project, query);
    let count =
        (!applied.is_empty()).then(|| view! { " " <span class="count">{applied.len().to_string()}</span> });
    let clear = (applied.len() > 1).then(|| {
        let href = href(project, &JobQuery::default().with("sort", &query.sort));
        view! { <li><a class="chip-clear" href=href>"Clear all"</a></li> }
    });
    let chips = (!applied.is_empty()).then(
        || view! { <ul class="chips filter-chips" aria-label="Applied filters">{applied} {clear}</ul> },
    );
    let menus = view! {
        <div id=MENUS class="filter-menus" popover="auto">
            {states(project, query, page, facets.archived)}
            {pull_requests(project, query, facets)}
            {people(project, query, facets, me)}
            {labels(project, query, "Page", "Filter by page", &facets.pages)}
            {labels(project, query, "Tag", "Filter by tag", &facets.tags)}
            {dates(project, query)}
        </div>
    };
    unmarked(view! {
        <div class="filter-bar">
            {search(project, query)}
            <button type="button" class="button filters-open" popovertarget=MENUS>"Filters" {count}</button>
            {menus}
            <a class="jobs-batches" href=links::batches(project)>"Batches"</a>
            {chips}
        </div>
    })
    .into_any()
}

/// The menu of orders, and the switch between dense and comfortable rows.
pub(super) fn orders(project: &str, query: &JobQuery, density: AnyView) -> AnyView {
    let orders = ORDERS.map(|(sort, text)| {
        let is_chosen = query.sort == sort;
        let href = href(project, &query.with("sort", sort));
        view! { <li><a href=href aria-current=is_chosen.then_some("true")>{text}</a></li> }
    });
    let now = ORDERS.into_iter().find(|(sort, _)| *sort == query.sort).map_or("Newest", |(_, text)| text);
    view! {
        <details class="filter-menu filter-menu-right" name="filter">
            <summary><span class="visually-hidden">"Sort: "</span> {now} {icon(icon::CHEVRON)}</summary>
            <div class="menu-panel">
                <ul aria-label="Sort">{orders.into_iter().collect_view()}</ul>
                {density}
            </div>
        </details>
    }
    .into_any()
}

fn search(project: &str, query: &JobQuery) -> AnyView {
    view! {
        <form class="search" method="get" action=links::jobs(project) role="search">
            {hidden_fields(query, &["q"])}
            {icon(icon::SEARCH)}
            <label class="visually-hidden" for=SEARCH>"Search jobs"</label>
            <input
                id=SEARCH
                class="field"
                type="search"
                name="q"
                maxlength="500"
                autocomplete="off"
                placeholder="Text, #256, branch, author or tag"
                title="Searches prompts, follow-ups, pull requests, platform ids, branches, authors, tags and pages"
                value=query.q.clone()
            />
            <button type="submit" class="visually-hidden">"Search"</button>
        </form>
    }
    .into_any()
}

fn states(project: &str, query: &JobQuery, page: &JobPage, archived: u64) -> AnyView {
    let total: u64 = page.counts.values().sum();
    let all = Entry {
        href: href(project, &query.with("status", "")),
        is_on: query.status.is_empty(),
        is_default: true,
        text: "All".to_owned(),
        count: Some(total),
        status: None,
    };
    let of_status = |status: &'static str, outline: &'static str, name: &str, count: u64| {
        (count > 0 || query.status == status).then(|| Entry {
            status: Some((status, outline)),
            ..option(project, query, "status", status, name, count)
        })
    };
    let states = JobState::ALL.into_iter().flat_map(|state| {
        let count = page.counts.get(&state).copied().unwrap_or(0);
        let no_changes = (state == JobState::Completed)
            .then(|| of_status(NO_CHANGES, icon::NO_CHANGES, badge::NO_CHANGES, page.no_changes));
        [of_status(state.as_str(), shape(state), name(state), count), no_changes.flatten()]
    });
    let states = states.flatten();
    let more = [
        option(project, query, "needs", "attention", "Needs attention", page.attention),
        option(project, query, "archived", "yes", "Archived in Docket", archived),
    ];
    menu("Status", "Filter by status", None, std::iter::once(all).chain(states).chain(more).collect())
}

fn pull_requests(project: &str, query: &JobQuery, facets: &Facets) -> AnyView {
    let of = [
        ("yes", "With pull request", facets.with_pull_request),
        ("no", "Without pull request", facets.without_pull_request),
    ];
    let counts = &facets.pull_requests;
    let kinds = PullRequestFilter::ALL.into_iter().filter_map(|kind| {
        let count = counts.iter().find(|(other, _)| *other == kind).map_or(0, |(_, jobs)| *jobs);
        let value = kind.as_str();
        (count > 0 || query.pr == value).then_some((value, pull_request::filter_name(kind), count))
    });
    let entries = of.into_iter().chain(kinds);
    let entries = entries.map(|(value, text, count)| option(project, query, "pr", value, text, count));
    menu("Pull request", "Filter by pull request", None, entries.collect())
}

fn people(project: &str, query: &JobQuery, facets: &Facets, me: &str) -> AnyView {
    let count =
        |of: &str| facets.people.first.iter().find(|(name, _)| name == of).map_or(0, |(_, jobs)| *jobs);
    let mine = (!me.is_empty()).then(|| option(project, query, "author", me, "Me", count(me)));
    let others = facets.people.first.iter().filter(|(name, _)| name != me);
    let others = others.map(|(name, jobs)| option(project, query, "author", name, name, *jobs));
    let entries = mine.into_iter().chain(others);
    let typed = Typed { project, query, field: "author", values: &facets.people };
    menu("Person", "Filter by person", Some(typed), entries.collect())
}

fn labels(
    project: &str,
    query: &JobQuery,
    what: &'static str,
    list: &'static str,
    values: &FacetValues,
) -> AnyView {
    let entries =
        values.first.iter().map(|(value, count)| option(project, query, "tag", value, value, *count));
    menu(what, list, Some(Typed { project, query, field: "tag", values }), entries.collect())
}

/// An entry that applies a filter, or removes it if it is active.
fn option(project: &str, query: &JobQuery, field: &str, value: &str, text: &str, count: u64) -> Entry {
    // Tags are compared without case, pages with it.
    let is_tag = field == "tag" && !value.starts_with('/');
    let is_same = |now: &str| now == value || (is_tag && fold(now) == fold(value));
    let is_on = query.values().iter().any(|(name, now)| *name == field && is_same(now));
    let href = href(project, &query.with(field, if is_on { "" } else { value }));
    Entry { href, is_on, is_default: false, text: text.to_owned(), count: Some(count), status: None }
}

/// The field for any value, which also narrows the entries.
struct Typed<'a> {
    project: &'a str,
    query: &'a JobQuery,
    field: &'static str,
    /// The values that the menu has entries for.
    values: &'a FacetValues,
}

impl Typed<'_> {
    /// That the menu does not have all values.
    fn cut(&self) -> Option<AnyView> {
        let FacetValues { first, total } = self.values;
        (*total > first.len() as u64).then(|| {
            let text = format!("The {} most common of {}. Type any other.", first.len(), grouped(*total));
            view! { <p class="hint">{text}</p> }.into_any()
        })
    }
}

/// Presets of the day on which jobs were created, and any days.
fn dates(project: &str, query: &JobQuery) -> AnyView {
    let entries = [("1d", "Today"), ("7d", "Last 7 days"), ("30d", "Last 30 days")].map(|(from, text)| {
        let is_on = query.from == from && query.to.is_empty();
        let href = href(project, &query.with("to", "").with("from", if is_on { "" } else { from }));
        Entry { href, is_on, is_default: false, text: text.to_owned(), count: None, status: None }
    });
    let day = |name: &'static str, label: &'static str, value: &str| {
        view! {
            <label for=name>{label}</label>
            <input id=name class="field" type="date" name=name value=value.to_owned() />
        }
    };
    let first = if query.from.ends_with('d') { "" } else { query.from.as_str() };
    let form = view! {
        <form class="custom-range" method="get" action=links::jobs(project)>
            {hidden_fields(query, &["from", "to"])}
            {day("from", "From", first)}
            {day("to", "To", &query.to)}
            <button type="submit" class="button">"Filter"</button>
            <p class="hint">"Days in UTC"</p>
        </form>
    };
    let is_on = !(query.from.is_empty() && query.to.is_empty());
    menu_of("Date", "Filter by date", is_on, Some(form.into_any()), entries.into(), None)
}

fn menu(title: &'static str, label: &'static str, typed: Option<Typed<'_>>, entries: Vec<Entry>) -> AnyView {
    let is_on = entries.iter().any(|entry| entry.is_on && !entry.is_default);
    let cut = typed.as_ref().and_then(Typed::cut);
    let form = typed.map(|Typed { project, query, field, .. }| {
        let what = format!("Type a {}", title.to_lowercase());
        view! {
            <form class="menu-form" method="get" action=links::jobs(project)>
                {hidden_fields(query, &[field])}
                <input class="field" name=field maxlength="500" autocomplete="off" aria-label=what.clone() placeholder=what />
                <button type="submit" class="button no-js">"Filter"</button>
            </form>
        }
        .into_any()
    });
    menu_of(title, label, is_on, form, entries, cut)
}

fn menu_of(
    title: &'static str,
    label: &'static str,
    is_on: bool,
    form: Option<AnyView>,
    entries: Vec<Entry>,
    cut: Option<AnyView>,
) -> AnyView {
    let entries = entries.into_iter().map(|Entry { href, is_on, text, count, status, .. }| {
        let (status, outline) = status.unzip();
        let count = count.map(|count| view! { " " {counter(count)} });
        view! {
            <li>
                <a href=href aria-current=is_on.then_some("true") data-state=status>
                    {outline.map(icon)} <bdi>{text}</bdi> {count}
                </a>
            </li>
        }
    });
    let class = if is_on { "filter-menu filter-menu-on" } else { "filter-menu" };
    view! {
        <details class=class name="filter">
            <summary>{title} {icon(icon::CHEVRON)}</summary>
            <div class="menu-panel">
                {form}
                <ul aria-label=label>{entries.collect_view()}</ul>
                {cut}
            </div>
        </details>
    }
    .into_any()
}

/// The active filters as chips that remove them.
fn applied(project: &str, query: &JobQuery) -> Vec<AnyView> {
    let text = |field: &str, value: &str| match (field, value) {
        ("status", NO_CHANGES) => badge::NO_CHANGES.to_owned(),
        ("status", value) => value.parse().map_or_else(|_| value.to_owned(), |state| name(state).to_owned()),
        ("q", value) => format!("“{value}”"),
        ("author", value) => format!("By {value}"),
        ("pr", "yes") => "With pull request".to_owned(),
        ("pr", "no") => "Without pull request".to_owned(),
        ("pr", value) => {
            value.parse().map_or_else(|_| value.to_owned(), |kind| pull_request::filter_name(kind).to_owned())
        }
        ("needs", _) => "Needs attention".to_owned(),
        ("archived", _) => "Archived in Docket".to_owned(),
        ("from", "1d") => "Today".to_owned(),
        ("from", value) => match value.strip_suffix('d') {
            Some(days) => format!("Last {days} days"),
            None => format!("From {}", long(value)),
        },
        ("to", value) => format!("Until {}", long(value)),
        (_, value) => value.to_owned(),
    };
    let given = query.values().into_iter().filter(|(field, value)| *field != "sort" && !value.is_empty());
    given
        .map(|(field, value)| {
            let href = href(project, &query.with(field, ""));
            view! {
                <li>
                    <a class="chip" href=href>
                        <span class="visually-hidden">"Remove the filter "</span>
                        <bdi class="chip-text">{text(field, value)}</bdi>
                        {icon(icon::CLOSE)}
                    </a>
                </li>
            }
            .into_any()
        })
        .collect()
}

/// `Nov 10, 2026`, or the text itself if it is no day.
fn long(day: &str) -> String {
    day.parse().map_or_else(|_| day.to_owned(), Day::long)
}

/// The hidden fields of a form: the whole query except its own fields.
fn hidden_fields(query: &JobQuery, own: &[&str]) -> AnyView {
    let rest = query.values().into_iter().filter(|(field, value)| !own.contains(field) && !value.is_empty());
    rest.map(|(field, value)| view! { <input type="hidden" name=field value=value.to_owned() /> })
        .collect_view()
        .into_any()
}
