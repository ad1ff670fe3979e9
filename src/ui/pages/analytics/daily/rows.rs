//! The table of pages and folders: heads that sort, and a row for each. As text.

use crate::model::history::{PageRow, PagesReport, Sort};
use crate::ui::charts::number::{ai_share, change, counted, grouped, share};
use crate::ui::charts::{bar, scale};
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::daily::Page;
use crate::ui::pages::analytics::start::{self, About};

pub(super) fn table(page: &Page, pages: &PagesReport) -> Markup {
    let longest = scale::longest(pages.rows.iter().map(|row| row.counts));
    let rows: Markup =
        pages.rows.iter().map(|row| self::row(page, row, longest, pages.totals.total)).collect();
    let head = |by, class, name| head(page, by, class, name);
    let heads = [
        head(Sort::Path, "", "Page"),
        markup(r#"<th scope="col" class="bars">Human and AI</th>"#, &[]),
        head(Sort::Human, "numeric by-reader", "Human"),
        head(Sort::Ai, "numeric by-reader", "AI"),
        head(Sort::Total, "numeric", "Views"),
        markup(r#"<th scope="col" class="numeric share">Of all</th>"#, &[]),
        head(Sort::Share, "numeric share", "AI share"),
        head(Sort::Change, "numeric", "Change"),
        markup(r#"<th scope="col" class="start"><span class="visually-hidden">Job</span></th>"#, &[]),
    ];
    let heads: Markup = heads.into_iter().collect();
    markup(
        r#"<table class="pages daily"><caption class="visually-hidden">Views of each page</caption><thead><tr>{}</tr></thead><tbody>{}</tbody></table>"#,
        &[&heads, &rows],
    )
}

/// The head of a column: a link that sorts by it, or turns the order round.
fn head(page: &Page, by: Sort, class: &str, name: &str) -> Markup {
    let order = page.query.order();
    let href = page.query.sorted(by).href(page.project);
    // Paths go up and numbers down, unless reversed.
    let (direction, arrow) = match order.by == by {
        false => {
            return markup(
                r#"<th scope="col" class="{}"><a href="{}" data-noscroll>{}</a></th>"#,
                &[&class, &href, &name],
            );
        }
        true if order.reversed == (by == Sort::Path) => ("descending", "↓"),
        true => ("ascending", "↑"),
    };
    markup(
        r#"<th scope="col" class="{}" aria-sort="{}"><a href="{}" data-noscroll>{} <span aria-hidden="true">{}</span></a></th>"#,
        &[&class, &direction, &href, &name, &arrow],
    )
}

fn row(page: &Page, row: &PageRow, longest: u64, all: u64) -> Markup {
    let counts = row.counts;
    let changed = match row.previous {
        Some(before) => change(row.compared().total, before.total),
        None => "–".to_owned(),
    };
    let numbers = [counts.human, counts.ai, counts.total].map(grouped);
    markup(
        r#"<tr data-path="{}"><th scope="row" class="path">{}</th><td class="bars">{}</td><td class="numeric by-reader">{}</td><td class="numeric by-reader">{}</td><td class="numeric">{}</td><td class="numeric share">{}</td><td class="numeric share">{}</td><td class="numeric">{}</td><td class="start">{}</td></tr>"#,
        &[
            &row.path,
            &name(page, row),
            &bar::drawn(counts, longest),
            &numbers[0],
            &numbers[1],
            &numbers[2],
            &share(counts.total, all),
            &ai_share(counts),
            &changed,
            &about(row).map(|about| start::in_row(page, &about, false)).unwrap_or_default(),
        ],
    )
}

/// A page leads to its own view, a folder opens.
fn name(page: &Page, row: &PageRow) -> Markup {
    let Page { project, query, .. } = *page;
    match (row.pages, row.path.strip_suffix("/*")) {
        (Some(pages), Some(folder)) => markup(
            r#"<a class="row-target" href="{}" data-noscroll>{}</a> <span class="faint">{}</span>"#,
            &[
                &query.unsearched().in_folder(Some(folder)).href(project),
                &row.path,
                &counted(pages.into(), "page", "pages"),
            ],
        ),
        _ => {
            let href = query.on_page(1).about(Some(&row.path)).href(project);
            markup(r#"<a class="row-target" href="{}">{}</a>"#, &[&href, &row.path])
        }
    }
}

/// What a job about a page can be told of it; nothing of a folder.
pub(super) fn about(row: &PageRow) -> Option<About<'_>> {
    let change = row
        .previous
        .filter(|before| before.total > 0)
        .map(|before| change(row.compared().total, before.total));
    row.pages.is_none().then_some(About { path: &row.path, counts: row.counts, change })
}
