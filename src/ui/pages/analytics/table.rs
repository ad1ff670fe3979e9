//! The table of pages as the upstream gives it, in its order; and the way through a table's pages.

use leptos::prelude::*;

use crate::model::views::{PageViews, Views};
use crate::ui::charts::number::{ai_share, grouped};
use crate::ui::charts::{bar, scale};
use crate::ui::components::icon::{self, icon};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::pages::analytics::query::{AnalyticsQuery, SIZES};

pub(super) fn table(project: &str, query: &AnalyticsQuery, answer: &Views, may_start: bool) -> AnyView {
    let longest = scale::longest(answer.views.iter().map(PageViews::counts));
    let first = query.offset() + 1;
    let rows =
        answer.views.iter().zip(first..).map(|(page, rank)| row(project, page, rank, longest, may_start));
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
                    <th scope="col" class="start"><span class="visually-hidden">"Job"</span></th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    }
    .erase()
}

fn row(project: &str, page: &PageViews, rank: i64, longest: u64, may_start: bool) -> AnyView {
    let counts = page.counts();
    let start = may_start.then(|| {
        let label = format!("Start a job about {}", page.path);
        view! {
            <a class="quiet row-target" href=links::new_job(project, "", &page.path) aria-label=label title="Start a job about this page">
                {icon(icon::PLUS)}
            </a>
        }
        .erase()
    });
    view! {
        <tr data-path=page.path.clone()>
            <td class="rank">{rank.to_string()}</td>
            <th scope="row" class="path">{page.path.clone()}</th>
            <td class="bars">{bar::stacked(counts, longest)}</td>
            <td class="numeric by-reader">{grouped(counts.human)}</td>
            <td class="numeric by-reader">{grouped(counts.ai)}</td>
            <td class="numeric">{grouped(counts.total)}</td>
            <td class="numeric share">{ai_share(counts)}</td>
            <td class="start">{start}</td>
        </tr>
    }
    .erase()
}

/// To the pages before and after, and to other page sizes. `rows` are on this one; `all` says how many there are, where that is
/// known.
pub(super) fn pager(
    project: &str,
    query: &AnalyticsQuery,
    rows: usize,
    has_more: bool,
    all: Option<u64>,
) -> AnyView {
    let first = query.offset() + 1;
    let last = query.offset() + rows as i64;
    let of = all.map(|all| format!(" of {}", grouped(all))).unwrap_or_default();
    let place = if last < first { "No more rows".to_owned() } else { format!("Rows {first} to {last}{of}") };
    let previous = (query.page > 1).then(|| query.on_page(query.page - 1).href(project));
    let next = has_more.then(|| query.on_page(query.page + 1).href(project));
    let sizes = SIZES.into_iter().map(|size| {
        let current = (size == query.limit).then_some("true");
        view! { <li><a href=query.sized(size).href(project) data-noscroll aria-current=current>{size.to_string()}</a></li> }.erase()
    });
    view! {
        <nav class="pager" aria-label="Pages of the table">
            <span class="pager-place numeric">{place}</span>
            {previous.map(|href| view! { <a class="button" rel="prev" href=href>"Previous"</a> }.erase())}
            {next.map(|href| view! { <a class="button" rel="next" href=href>"Next"</a> }.erase())}
            <div class="sizes"><span id="sizes">"Rows per page"</span> <ul class="segments" aria-labelledby="sizes">{sizes.collect_view()}</ul></div>
        </nav>
    }
    .erase()
}
