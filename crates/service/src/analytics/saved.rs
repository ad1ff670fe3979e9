//! The analytics page's queries as stored in saved views.

use crate::analytics::table_query::TableQuery;
use clients::upstream::page_views::PageViewsQuery;
use model::analytics::query::AnalyticsQuery;
use model::day::Day;
use model::error::AppError;
use model::id::ProjectId;
use model::selection::Selection;

/// The maximum length of a stored query.
const QUERY_MAX_BYTES: usize = 2_000;

/// The canonical form of `query_string`, which comes from the analytics page or is already canonical. Validates without
/// an upstream call.
pub fn to_saved(today: Day, project: &ProjectId, query_string: &str) -> Result<String, AppError> {
    let query = AnalyticsQuery::of_saved(given(query_string), today);
    let (from, to) = (query.from.as_deref(), query.to.as_deref());
    let views =
        PageViewsQuery::parse(project.clone(), from, to, Some(query.limit), Some(query.offset()), today)?;
    TableQuery::parse(views, query.q.as_deref(), query.folder.as_deref(), query.sort.as_deref())?;
    Selection::parse(query.path.as_deref())?;
    let saved = query.to_saved(today);
    if saved.len() > QUERY_MAX_BYTES {
        return Err(AppError::bad_input("This view is too long to save. Use a shorter search or path."));
    }
    Ok(saved)
}

fn given(query_string: &str) -> impl Fn(&str) -> Option<String> {
    let fields: Vec<_> =
        url::form_urlencoded::parse(query_string.trim_start_matches('?').as_bytes()).into_owned().collect();
    move |name| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.clone())
}
