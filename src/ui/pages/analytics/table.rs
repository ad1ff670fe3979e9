//! The table of pages as the upstream gives it, in its order; and the way through a table's pages.

use leptos::prelude::*;

use crate::model::views::{PageViews, Views};
use crate::ui::charts::number::{ai_share, grouped};
use crate::ui::charts::{bar, scale};
use crate::ui::components::icon::{self, icon};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::markup::{Markup, markup};
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
) -> Markup {
    let first = query.offset() + 1;
    let last = query.offset() + rows as i64;
    let of = all.map(|all| format!(" of {}", grouped(all))).unwrap_or_default();
    let place = if last < first { "No more rows".to_owned() } else { format!("Rows {first} to {last}{of}") };
    let turn = |turns: bool, by: i64, rel: &str, name: &str| match turns {
        false => Markup::default(),
        true => markup(
            r#"<a class="button" rel="{}" href="{}">{}</a>"#,
            &[&rel, &query.on_page(query.page + by).href(project), &name],
        ),
    };
    let sizes: Markup = SIZES
        .into_iter()
        .map(|size| choice(query.sized(size).href(project), &size.to_string(), size == query.limit))
        .collect();
    markup(
        r#"<nav class="pager" aria-label="Pages of the table"><span class="pager-place numeric">{}</span>{}{}<div class="sizes"><span id="sizes">Rows per page</span> <ul class="segments" aria-labelledby="sizes">{}</ul></div></nav>"#,
        &[&place, &turn(query.page > 1, -1, "prev", "Previous"), &turn(has_more, 1, "next", "Next"), &sizes],
    )
}

/// A link among several of which one is chosen.
pub(super) fn choice(href: String, name: &str, chosen: bool) -> Markup {
    match chosen {
        true => markup(r#"<li><a href="{}" data-noscroll aria-current="true">{}</a></li>"#, &[&href, &name]),
        false => markup(r#"<li><a href="{}" data-noscroll>{}</a></li>"#, &[&href, &name]),
    }
}
