//! The table of pages as the upstream gives it, in its order; and the way through a table's pages. As text.

use crate::model::views::{PageViews, Views};
use crate::ui::charts::number::{ai_share, grouped};
use crate::ui::charts::{bar, scale};
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::daily::Page;
use crate::ui::pages::analytics::query::AnalyticsQuery;
use crate::ui::pages::analytics::start::{self, About};

/// The page sizes that are offered.
const SIZES: [i64; 4] = [25, 50, 100, 250];

pub(super) fn table(page: &Page, answer: &Views) -> Markup {
    let longest = scale::longest(answer.views.iter().map(PageViews::counts));
    let first = page.query.offset() + 1;
    let rows: Markup =
        answer.views.iter().zip(first..).map(|(views, rank)| row(page, views, rank, longest)).collect();
    markup(
        r##"<table class="pages"><caption class="visually-hidden">Views of each page</caption><thead><tr><th scope="col" class="rank">#</th><th scope="col">Page</th><th scope="col" class="bars">Human and AI</th><th scope="col" class="numeric by-reader">Human</th><th scope="col" class="numeric by-reader">AI</th><th scope="col" class="numeric">Views</th><th scope="col" class="numeric share">AI share</th><th scope="col" class="start"><span class="visually-hidden">Job</span></th></tr></thead><tbody>{}</tbody></table>"##,
        &[&rows],
    )
}

fn row(page: &Page, views: &PageViews, rank: i64, longest: u64) -> Markup {
    let counts = views.counts();
    let about = About { path: &views.path, counts, change: None };
    let numbers = [counts.human, counts.ai, counts.total].map(grouped);
    markup(
        r#"<tr data-path="{}"><td class="rank">{}</td><th scope="row" class="path">{}</th><td class="bars">{}</td><td class="numeric by-reader">{}</td><td class="numeric by-reader">{}</td><td class="numeric">{}</td><td class="numeric share">{}</td><td class="start">{}</td></tr>"#,
        &[
            &views.path,
            &rank.to_string(),
            &views.path,
            &bar::drawn(counts, longest),
            &numbers[0],
            &numbers[1],
            &numbers[2],
            &ai_share(counts),
            &start::in_row(page, &about, true),
        ],
    )
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
