//! The table of page views and its controls: links and GET forms, which the island `in_place` follows without leaving the page.

mod controls;
mod pager;
mod rows;

use leptos::either::EitherOf3;
use leptos::prelude::*;

use model::analytics::query::AnalyticsQuery;
use model::analytics::report::{PagesTable, TableSource};
use model::day::Day;
use model::similar::ChangedPage;
use model::url_encoding::encoded_path;

/// The id of the heading. A page change scrolls to it.
pub const HEADING: &str = "table";
/// The id of the name of the open folder.
pub const FOLDER: &str = "folder";
/// The id of the search field.
pub const SEARCH: &str = "q";
/// The id of the displayed range of rows.
pub const POSITION: &str = "pager-position";

/// The properties of the table that do not depend on the query.
pub struct About {
    pub project: String,
    /// The first and the last day, both inclusive; `None` for all time.
    pub days: Option<(Day, Day)>,
    pub may_start: bool,
    /// The URL of the published pages, to which a path is appended.
    pub site: Option<String>,
    /// The pages on this page of the table that open pull requests change.
    pub changed: Vec<ChangedPage>,
}

/// The query and its result.
pub struct Shown {
    pub query: AnalyticsQuery,
    pub table: PagesTable,
}

/// The URL of a published page; a folder, or a path without a slash, has none.
pub fn published(site: &str, path: &str) -> Option<String> {
    let is_page = path.starts_with('/') && !path.ends_with("/*");
    is_page.then(|| [site, &encoded_path(path)].concat())
}

/// The content of the element [`ID`].
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
        {rows::matching(about, shown)}
        {controls::below(shown)}
        {pager::pager(about, shown)}
    }
}
