//! The rows: of the daily history with sortable headings, or of live figures in the platform's order.

use leptos::either::Either;
use leptos::prelude::*;

use super::{About, IN_PLACE, Shown};
use crate::model::analytics_query::AnalyticsQuery;
use crate::model::analytics_report::TableRow;
use crate::model::history::Sort;
use crate::ui::charts::bar::bar;
use crate::ui::charts::number::{ai_share, change, counted, grouped, share};
use crate::ui::charts::scale::longest;
use crate::ui::components::page_job_link::{PageFigures, page_job_link};

pub(super) fn daily(about: &About, shown: &Shown) -> impl IntoView + use<> {
    let (project, query) = (about.project.as_str(), &shown.query);
    let longest = longest(shown.table.rows.iter().map(|row| row.counts));
    let all = shown.table.views;
    let head = |by, class, name| head(project, query, (by, class, name));
    let rows = shown.table.rows.iter().map(|row| {
        let counts = row.counts;
        let changed = row.change.map_or("–".to_owned(), |(now, before)| change(now, before));
        view! {
            <tr data-path=row.path.clone()>
                <th scope="row" class="path">{name(project, query, row)}</th>
                {numbers(row, longest)}
                <td class="numeric share">{share(counts.total, all)}</td>
                <td class="numeric share">{ai_share(counts)}</td>
                <td class="numeric">{changed}</td>
                <td class="start">{row.pages.is_none().then(|| start(about, row, "quiet"))}</td>
            </tr>
        }
    });
    view! {
        <table class="pages daily">
            <caption class="visually-hidden">"Views of each page"</caption>
            <thead>
                <tr>
                    {head(Sort::Path, "", "Page")}
                    <th scope="col" class="bars">"Human and AI"</th>
                    {head(Sort::Human, "numeric by-reader", "Human")}
                    {head(Sort::Ai, "numeric by-reader", "AI")}
                    {head(Sort::Total, "numeric", "Views")}
                    <th scope="col" class="numeric share">"Of all"</th>
                    {head(Sort::Share, "numeric share", "AI share")}
                    {head(Sort::Change, "numeric", "Change")}
                    {job_head()}
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
            <tr data-path=row.path.clone()>
                <td class="rank">{rank.to_string()}</td>
                <th scope="row" class="path">{row.path.clone()}</th>
                {numbers(row, longest)}
                <td class="numeric share">{ai_share(row.counts)}</td>
                <td class="start">{start(about, row, "quiet row-target")}</td>
            </tr>
        }
    });
    view! {
        <table class="pages">
            <caption class="visually-hidden">"Views of each page"</caption>
            <thead>
                <tr>
                    <th scope="col" class="rank">"#"</th>
                    <th scope="col">"Page"</th>
                    <th scope="col" class="bars">"Human and AI"</th>
                    <th scope="col" class="numeric by-reader">"Human"</th>
                    <th scope="col" class="numeric by-reader">"AI"</th>
                    <th scope="col" class="numeric">"Views"</th>
                    <th scope="col" class="numeric share">"AI share"</th>
                    {job_head()}
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
}

/// The bar of a row and its numbers.
fn numbers(row: &TableRow, longest: u64) -> impl IntoView + use<> {
    let counts = row.counts;
    view! {
        <td class="bars">{bar(counts, longest)}</td>
        <td class="numeric by-reader">{grouped(counts.human)}</td>
        <td class="numeric by-reader">{grouped(counts.ai)}</td>
        <td class="numeric">{grouped(counts.total)}</td>
    }
}

/// A column heading that sorts by the column, or reverses the order.
fn head(
    project: &str,
    query: &AnalyticsQuery,
    (by, class, name): (Sort, &'static str, &'static str),
) -> impl IntoView + use<> {
    let order = query.order();
    // Paths sort ascending and numbers descending, unless reversed.
    let sorted = (order.by == by).then(|| match order.reversed == (by == Sort::Path) {
        true => ("descending", "↓"),
        false => ("ascending", "↑"),
    });
    let arrow = sorted.map(|(_, arrow)| view! { " " <span aria-hidden="true">{arrow}</span> });
    view! {
        <th scope="col" class=class aria-sort=sorted.map(|(direction, _)| direction)>
            <a class=IN_PLACE href=query.sorted(by).href(project)>{name} {arrow}</a>
        </th>
    }
}

fn job_head() -> impl IntoView + use<> {
    view! { <th scope="col" class="start"><span class="visually-hidden">"Job"</span></th> }
}

/// A page links to its report, a folder to its content.
fn name(project: &str, query: &AnalyticsQuery, row: &TableRow) -> impl IntoView + use<> {
    match (row.pages, row.path.strip_suffix("/*")) {
        (Some(pages), Some(folder)) => {
            let href = query.unsearched().in_folder(Some(folder)).href(project);
            let pages = counted(pages.into(), "page", "pages");
            Either::Left(view! {
                <a class=format!("row-target {IN_PLACE}") href=href>{row.path.clone()}</a>
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

fn start(about: &About, row: &TableRow, class: &'static str) -> Option<impl IntoView + use<>> {
    let page = PageFigures { path: &row.path, counts: row.counts, change: row.change, days: about.days };
    about.may_start.then(|| page_job_link(&about.project, &page, class, ""))
}
