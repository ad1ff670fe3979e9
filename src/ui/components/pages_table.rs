//! The table of pages with their bars, and its controls: links and a GET form. Rendered by the server with the page, and by the island
//! `paged_views` from each further answer.

mod controls;
mod pager;
mod rows;

use leptos::either::EitherOf3;
use leptos::prelude::*;

use crate::model::analytics_query::AnalyticsQuery;
use crate::model::analytics_report::{PagesTable, TableSource};
use crate::model::day::Day;

/// Links of this class are followed in place.
const IN_PLACE: &str = "in-place";
/// The id of the element that holds the table.
pub const ID: &str = "pages-table";
/// The id of the heading, which is scrolled to when a page is turned.
pub const HEADING: &str = "table";
/// The id of the name of the open folder.
pub const FOLDER: &str = "folder";
/// The id of the search field.
pub const SEARCH: &str = "q";
/// The id of the words that say which rows are shown.
pub const PLACE: &str = "place";
/// The id of the place for what went wrong.
pub const PROBLEM: &str = "table-problem";

/// What the table is about, whatever is paged and sorted.
#[derive(Clone)]
pub struct About {
    pub project: String,
    /// The first and the last day, both inclusive.
    pub days: (Day, Day),
    pub may_start: bool,
}

/// What is shown: the answer to `query`.
#[derive(Clone)]
pub struct Shown {
    pub query: AnalyticsQuery,
    pub table: PagesTable,
}

/// To be put into the element [`ID`].
pub fn pages_table(about: &About, shown: &Shown) -> impl IntoView + use<> {
    let empty = shown.table.rows.is_empty() && shown.query.page == 1;
    let table = match shown.table.source {
        TableSource::Daily { .. } if empty => EitherOf3::A(controls::nothing_found(about, &shown.query)),
        TableSource::Daily { .. } => EitherOf3::B(rows::daily(about, shown)),
        TableSource::Live { .. } => EitherOf3::C(rows::live(about, shown)),
    };
    view! {
        {controls::controls(about, shown)}
        {table}
        {pager::pager(about, shown)}
        <div id=PROBLEM></div>
    }
}
