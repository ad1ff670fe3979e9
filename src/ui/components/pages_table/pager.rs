//! The pager below the rows: their range (a live region), previous and next page, and page sizes.

use leptos::prelude::*;

use super::controls::choice;
use super::{About, POSITION, Shown};
use crate::ui::charts::number::grouped;
use crate::ui::components::localized::written;
use model::analytics::query::AnalyticsQuery;
use model::analytics::report::{PagesTable, TableSource};

/// The page sizes to choose from.
const SIZES: [i64; 4] = [25, 50, 100, 250];

pub(super) fn pager(about: &About, Shown { query, table }: &Shown) -> impl IntoView + use<> {
    let project = about.project.as_str();
    let range = range(query, table);
    let link = |id: &'static str, by: i64, name: &'static str| {
        let href = query.on_page(query.page + by).href(project);
        view! { <a id=id class="button" rel=id href=href>{name}</a> }
    };
    let has_more = table.has_more(query.offset().unsigned_abs());
    let sizes = SIZES.map(|size| {
        choice(format!("size-{size}"), query.sized(size).href(project), size.to_string(), size == query.limit)
    });
    view! {
        <nav class="pager" aria-label="Pages of the table">
            <span id=POSITION class="pager-position numeric" role="status" tabindex="-1">{written(range)}</span>
            {(query.page > 1).then(|| link("prev", -1, "Previous"))}
            {has_more.then(|| link("next", 1, "Next"))}
            <div class="sizes">
                <span id="sizes">"Rows per page"</span>
                <ul class="segments" aria-labelledby="sizes">{sizes}</ul>
            </div>
        </nav>
    }
}

/// `Rows 51 to 100 of 1,234`.
fn range(query: &AnalyticsQuery, table: &PagesTable) -> String {
    let before = query.offset().unsigned_abs();
    let range = |rows| format!("Rows {} to {}", grouped(before + 1), grouped(before + rows));
    match (table.rows.len() as u64, table.source) {
        (0, _) => "No more rows".to_owned(),
        (rows, TableSource::Daily { rows: all, .. }) => format!("{} of {}", range(rows), grouped(all)),
        (rows, TableSource::Live { .. }) => range(rows),
    }
}
