//! What changed most against the period before: a short list for each kind of change. As text.

use crate::model::history::{Movers, PageRow};
use crate::ui::charts::number::{change, counted, grouped};
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::analytics::daily::Page;
use crate::ui::pages::analytics::daily::one_page::moved;

/// How many rows of each kind are shown.
const ROWS: usize = 5;

/// Its name, its rows, and what is said of each.
type Kind<'a> = (&'static str, &'a [PageRow], fn(&PageRow) -> String);

/// Nothing where nothing moved.
pub(super) fn movers(page: &Page, movers: &Movers) -> Markup {
    let kinds: [Kind; 5] = [
        ("Read more", &movers.risen, difference),
        ("Read less", &movers.fallen, difference),
        ("AI share moved", &movers.shifted, |row| moved(row.previous.unwrap_or_default(), row.compared())),
        ("New", &movers.new, |row| counted(row.counts.total, "view", "views")),
        ("Gone quiet", &movers.quiet, |row| {
            format!("{} before", grouped(row.previous.unwrap_or_default().total))
        }),
    ];
    kinds
        .into_iter()
        .filter(|(_, rows, _)| !rows.is_empty())
        .map(|(name, rows, what)| {
            let rows: Markup = rows.iter().take(ROWS).map(|row| item(page, row, what(row))).collect();
            markup(r#"<section><h2>{}</h2><ul>{}</ul></section>"#, &[&name, &rows])
        })
        .collect()
}

fn item(page: &Page, row: &PageRow, what: String) -> Markup {
    let href = page.query.about(Some(&row.path)).href(page.project);
    markup(r#"<li><a href="{}">{}</a> <span class="numeric">{}</span></li>"#, &[&href, &row.path, &what])
}

/// `+1,234 (+12%)`.
fn difference(row: &PageRow) -> String {
    let (now, before) = (row.compared().total, row.previous.unwrap_or_default().total);
    let sign = if now < before { '−' } else { '+' };
    format!("{sign}{} ({})", grouped(now.abs_diff(before)), change(now, before))
}
