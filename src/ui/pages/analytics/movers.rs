//! The largest changes against the previous period: a short list for each kind.

use leptos::prelude::*;

use crate::model::history::{Movers, PageRow};
use crate::model::page_views::ViewCounts;
use crate::ui::charts::number::{ai_share, change, counted, grouped};
use crate::ui::pages::analytics::AnalyticsPage;

/// The number of rows per list.
const ROWS: usize = 5;

/// The heading, the rows, and the label of a row.
type Kind<'a> = (&'static str, &'a [PageRow], fn(&PageRow) -> String);

pub(super) fn movers(asked: &AnalyticsPage, movers: &Movers) -> AnyView {
    let kinds: [Kind; 5] = [
        ("Rising", &movers.risen, difference),
        ("Falling", &movers.fallen, difference),
        ("AI share changed", &movers.shifted, |row| moved(row.previous.unwrap_or_default(), row.compared())),
        ("New", &movers.new, |row| counted(row.counts.total, "view", "views")),
        ("No views any more", &movers.quiet, |row| {
            format!("{} before", grouped(row.previous.unwrap_or_default().total))
        }),
    ];
    let kinds = kinds.into_iter().filter(|(_, rows, _)| !rows.is_empty()).map(|(name, rows, what)| {
        let rows = rows.iter().take(ROWS).map(|row| {
            let href = asked.query.about(Some(&row.path)).href(&asked.project);
            view! { <li><a href=href>{row.path.clone()}</a> " " <span class="numeric">{what(row)}</span></li> }
        });
        view! { <section><h2>{name}</h2><ul>{rows.collect_view()}</ul></section> }
    });
    view! { <div class="movers">{kinds.collect_view()}</div> }.into_any()
}

/// `12% → 31%`.
pub(super) fn moved(before: ViewCounts, after: ViewCounts) -> String {
    format!("{} → {}", ai_share(before), ai_share(after))
}

/// `+1,234 (+12%)`.
fn difference(row: &PageRow) -> String {
    let (now, before) = (row.compared().total, row.previous.unwrap_or_default().total);
    let sign = if now < before { '−' } else { '+' };
    format!("{sign}{} ({})", grouped(now.abs_diff(before)), change(now, before))
}
