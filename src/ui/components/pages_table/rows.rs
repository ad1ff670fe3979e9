//! The rows: of the daily history with sortable headings, or of live figures in the platform's order.

use leptos::either::Either;
use leptos::prelude::*;

use super::{About, Shown};
use crate::ui::charts::bar::bar;
use crate::ui::charts::number::{ai_share, change, change_beside, counted, grouped, moved, sign};
use crate::ui::charts::scale::longest;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::localized::{cell, number};
use crate::ui::components::page_job_link::{PageFigures, page_job_link};
use crate::ui::marks::{MATCHES, PICKED, PICKED_PAGE};
use model::analytics::choice::Sort;
use model::analytics::query::{AnalyticsQuery, MATCHING, PICK, PICKED_MAX};
use model::analytics::report::{TableRow, TableSource};
use model::links;

pub(super) fn daily(about: &About, shown: &Shown) -> impl IntoView + use<> {
    let (project, query) = (about.project.as_str(), &shown.query);
    let longest = longest(shown.table.rows.iter().map(|row| row.counts));
    let head = |by, class, name| head(project, query, by, class, name);
    let rows = shown.table.rows.iter().map(|row| {
        let counts = row.counts;
        let (difference, changed) = match row.change {
            None => (Either::Left("–"), Either::Left("–".to_owned())),
            Some((now, before)) => {
                let readers = query.readers;
                let changed = match query.tab.is_of_share() {
                    true => Either::Left(moved(before, now)),
                    false => Either::Right(view! {
                        {change(readers.of(now), readers.of(before))}
                        " "
                        <small class="faint">{change_beside(readers, now, before)}</small>
                    }),
                };
                (Either::Right(difference(readers.of(now), readers.of(before))), changed)
            }
        };
        view! {
            <tr data-path=row.path.clone() data-key=row.path.clone()>
                {pick(about, query, row)}
                <th scope="row" class="path">{bar(counts, longest)} {name(project, query, row)} {open_request(about, row)}</th>
                {numbers(row)}
                <td class="numeric">{difference}</td>
                <td class="numeric">{changed}</td>
                <td class="start">{row.pages.is_none().then(|| actions(about, shown, row, "quiet"))}</td>
            </tr>
        }
    });
    let changed = match query.tab {
        // The rows show the change of the AI share, which is the order of these tabs.
        tab if tab.is_of_share() => {
            let sorted = query.order().is_none().then_some("↓");
            Either::Left(head_cell(
                query.on_tab(tab).href(project),
                "numeric moved",
                "AI share change",
                sorted,
            ))
        }
        _ => Either::Right(head(Sort::Change, "numeric moved", "Change %")),
    };
    view! {
        <table class="pages daily">
            <caption class="visually-hidden">"Views of each page"</caption>
            <thead>
                <tr>
                    {pick_head(about)}
                    {head(Sort::Path, "of-path", "Page")}
                    {head(Sort::Human, "numeric", "People")}
                    {head(Sort::Ai, "numeric", "AI")}
                    {head(Sort::Total, "numeric", "Views")}
                    {head(Sort::Share, "numeric", "AI share")}
                    {head(Sort::Difference, "numeric", "Change")}
                    {changed}
                    {actions_head()}
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
}

pub(super) fn live(about: &About, shown: &Shown) -> impl IntoView + use<> {
    let longest = longest(shown.table.rows.iter().map(|row| row.counts));
    let first = shown.query.offset() + 1;
    let rows = shown.table.rows.iter().zip(first..).map(|(row, rank)| {
        view! {
            <tr data-path=row.path.clone() data-key=row.path.clone()>
                {pick(about, &shown.query, row)}
                <td class="rank">{rank.to_string()}</td>
                <th scope="row" class="path">{bar(row.counts, longest)} <span>{row.path.clone()}</span> {open_request(about, row)}</th>
                {numbers(row)}
                <td class="start">{actions(about, shown, row, "quiet row-target")}</td>
            </tr>
        }
    });
    view! {
        <table class="pages live">
            <caption class="visually-hidden">"Views of each page"</caption>
            <thead>
                <tr>
                    {pick_head(about)}
                    <th scope="col" class="rank">"#"</th>
                    <th scope="col" class="of-path">"Page"</th>
                    <th scope="col" class="numeric">"People"</th>
                    <th scope="col" class="numeric">"AI"</th>
                    <th scope="col" class="numeric">"Views"</th>
                    <th scope="col" class="numeric">"AI share"</th>
                    {actions_head()}
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
}

fn numbers(row: &TableRow) -> impl IntoView + use<> {
    let counts = row.counts;
    let share = ai_share(counts);
    let written = share.clone();
    // The order of the headings.
    view! {
        {cell("numeric", counts.human)}
        {cell("numeric", counts.ai)}
        {cell("numeric", counts.total)}
        <td class="numeric" data-number=written>{share}</td>
    }
}

/// A column heading that sorts by the column, or reverses the order.
fn head(
    project: &str,
    query: &AnalyticsQuery,
    by: Sort,
    class: &'static str,
    name: &'static str,
) -> impl IntoView + use<> {
    // Paths sort ascending and numbers descending, unless reversed.
    let sorted = query
        .order()
        .filter(|order| order.by == by)
        .map(|order| if order.reversed == (by == Sort::Path) { "↓" } else { "↑" });
    head_cell(query.sorted(by).href(project), class, name, sorted)
}

/// `sorted`: an arrow in the direction of the order, if the rows are sorted by this column.
fn head_cell(
    href: String,
    class: &'static str,
    name: &'static str,
    sorted: Option<&'static str>,
) -> impl IntoView + use<> {
    let direction = sorted.map(|arrow| if arrow == "↓" { "descending" } else { "ascending" });
    let arrow = sorted.map(|arrow| view! { " " <span aria-hidden="true">{arrow}</span> });
    view! {
        <th scope="col" class=class aria-sort=direction>
            <a href=href>{name} {arrow}</a>
        </th>
    }
}

/// `+1,234`
fn difference(now: u64, before: u64) -> impl IntoView + use<> {
    view! { {sign(now, before)} {number(now.abs_diff(before))} }
}

fn actions_head() -> impl IntoView + use<> {
    view! { <th scope="col" class="start"><span class="visually-hidden">"Links"</span></th> }
}

fn pick_head(about: &About) -> Option<impl IntoView + use<>> {
    about
        .may_start
        .then(|| view! {
            <th scope="col" class="pick">
                <span class="no-js visually-hidden">"Select"</span>
                <input id=PICKED_PAGE.name() class="js-only" type="checkbox" form=PICKED.name() aria-label="Select all pages of this table" autocomplete="off" />
            </th>
        })
}

/// The checkbox of a page; a folder has none, because a job cannot be about it.
fn pick(about: &About, query: &AnalyticsQuery, row: &TableRow) -> Option<impl IntoView + use<>> {
    let is_picked = query.picked.contains(&row.path);
    let check = row.pages.is_none().then(|| {
        let label = format!("Select {}", row.path);
        view! {
            <input type="checkbox" form=PICKED.name() name=PICK value=row.path.clone() checked=is_picked aria-label=label autocomplete="off" />
        }
    });
    about.may_start.then(|| view! { <td class="pick">{check}</td> })
}

/// Below the rows: the choice of all pages that match, where the table has more than one page of them.
pub(super) fn matching(about: &About, Shown { query, table }: &Shown) -> Option<AnyView> {
    let TableSource::Daily { rows, .. } = table.source else { return None };
    if !about.may_start || query.folder.is_some() || rows <= table.rows.len() as u64 {
        return None;
    }
    let all = grouped(rows);
    if rows > PICKED_MAX as u64 {
        let hint =
            format!("{all} pages match. A batch has at most {PICKED_MAX}: search to select all that match.");
        return Some(view! { <p class="hint">{hint}</p> }.into_any());
    }
    let query_string = query.on_page(1).query_string();
    Some(
        view! {
            <label class="choice pick-matching">
                <input type="checkbox" form=PICKED.name() name=MATCHING value=query_string autocomplete="off" {..MATCHES.is(rows.to_string())} />
                {format!("Select all {all} pages that match")}
            </label>
        }
        .into_any(),
    )
}

/// A page links to its report, a folder to its content.
fn name(project: &str, query: &AnalyticsQuery, row: &TableRow) -> impl IntoView + use<> {
    match (row.pages, row.path.strip_suffix("/*")) {
        (Some(pages), Some(folder)) => {
            let href = query.unsearched().in_folder(Some(folder)).href(project);
            let pages = counted(pages.into(), "page", "pages");
            Either::Left(view! {
                <a class="row-target" href=href>{row.path.clone()}</a>
                " "
                <span class="faint">{pages}</span>
            })
        }
        _ => {
            let href = query.on_page(1).about(Some(&row.path)).href(project);
            Either::Right(view! { <a class="row-target" href=href>{row.path.clone()}</a> })
        }
    }
}

/// The open pull request that changes the page, if there is one.
fn open_request(about: &About, row: &TableRow) -> Option<impl IntoView + use<>> {
    let page = about.changed.iter().find(|page| page.path == row.path)?;
    let title = format!("An open pull request ({}) changes this page", page.changed_by);
    let href = links::job(&about.project, page.job.as_str());
    Some(
        view! { <a class="open-request" data-pr="open" href=href title=title.clone() aria-label=title>{page.changed_by.clone()}</a> },
    )
}

/// The published page, the page's jobs, and a new job with the link's `class`.
fn actions(about: &About, shown: &Shown, row: &TableRow, class: &'static str) -> impl IntoView + use<> {
    let path = &row.path;
    let published = about.site.as_ref().and_then(|site| super::published(site, path)).map(|href| {
        let label = format!("Open the published page {path}");
        view! {
            <a class="quiet" href=href target="_blank" rel="noreferrer" aria-label=label title="Open the published page">
                {icon(icon::EXTERNAL)}
            </a>
        }
    });
    let jobs = links::jobs_about(&about.project, path);
    let start = about.may_start.then(|| {
        let page = PageFigures::of(row, shown.table.comparison.as_ref(), about.days);
        page_job_link(&about.project, &page, class, "")
    });
    let label = format!("Jobs about {path}");
    view! {
        {published}
        <a class="quiet" href=jobs aria-label=label title="Jobs about this page">{icon(icon::JOBS)}</a>
        {start}
    }
}
