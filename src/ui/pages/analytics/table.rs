//! The table of pages with their bars, which the island [`PagedViews`] pages, sorts, searches and files by folder without leaving the page.
//! Every control is a link or a GET form.

mod controls;
mod pager;
mod rows;

use leptos::prelude::*;

use super::Asked;
use crate::model::analytics_query::AnalyticsQuery;
use crate::model::analytics_report::{PagesTable, TableSource};
use crate::model::day::Day;
use crate::ui::islands::paged_views::PagedViews;

/// What the table is about, whatever is paged and sorted.
struct About {
    project: String,
    /// The first and the last day, both inclusive.
    days: (Day, Day),
    may_start: bool,
}

/// What is shown: the answer to `query`.
struct Shown {
    query: AnalyticsQuery,
    table: PagesTable,
}

/// `table` is the answer to what was `asked`.
pub(super) fn table(asked: &Asked, table: PagesTable) -> AnyView {
    let Asked { project, query, session, .. } = asked;
    let about = About { project: project.clone(), days: asked.days(), may_start: session.can_start_jobs() };
    let shown = Shown { query: query.clone(), table };
    view! { <PagedViews><div data-region="table">{content(&about, &shown)}</div></PagedViews> }.into_any()
}

fn content(about: &About, shown: &Shown) -> AnyView {
    let empty = shown.table.rows.is_empty() && shown.query.page == 1;
    let table = match shown.table.source {
        TableSource::Daily { .. } if empty => controls::nothing_found(about, &shown.query),
        TableSource::Daily { .. } => rows::daily(about, shown),
        TableSource::Live { .. } => rows::live(about, shown),
    };
    view! {
        {controls::controls(about, shown)}
        {table}
        {pager::pager(about, shown)}
    }
    .into_any()
}
