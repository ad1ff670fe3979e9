//! The endpoints of page views. They read the daily history, and never call the platform.

use axum::extract::Path;
use axum::http::StatusCode;
use axum::response::Response;
use axum::{Extension, Json};
use serde::{Deserialize, Serialize};
use utoipa::{IntoParams, ToSchema};

use super::errors::{CursorErrors, SearchErrors};
use super::input::Fields;
use super::long_list::{LongBody, loaded};
use super::values::{CursorText, In, Offset, PageOrder, PagePath, RowLimit, Words};
use crate::auth::bearer::TokenCaller;
use crate::request::problem::Problem;
use model::analytics::days::Days;
use model::analytics::pages::PageRow;
use model::api_token::Scope;
use model::day::{Day, DayRange};
use model::error::AppError;
use model::id::ProjectId;
use model::page_views::{PageViews, ViewCounts};
use model::paging::{PageLimit, Paging};
use model::time::Timestamp;
use service::analytics::cursor::PageCursors;
use service::analytics::stored::{CountedDay, Coverage, StoredPages};
use service::analytics::table_query::TableQuery;
use service::response_size::Room;

const TAG: &str = "Page views";

/// The range and the filters of a table of pages.
#[derive(Default, Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListPageViews {
    /// The first day (UTC); by default 27 days before `to`. A range has at most 1,100 days.
    pub(super) from: Option<Day>,
    /// The last day (UTC, inclusive); by default today.
    pub(super) to: Option<Day>,
    /// A part of the path, ignoring the case of ASCII letters.
    #[param(inline)]
    pub(super) q: Option<Words>,
    /// By default `total`; `share` is that of AI, and `-` stands for the reverse order.
    #[param(inline)]
    pub(super) sort: Option<PageOrder>,
    /// How many pages.
    #[param(inline)]
    pub(super) limit: Option<RowLimit>,
    /// The number of pages to skip.
    #[param(inline)]
    pub(super) offset: Option<Offset>,
    /// `next_cursor` of the page before, with the same filters and with `from` and `to` of that page; without `offset`. If the figures changed
    /// since, the problem is `figures_changed`: start again without a cursor.
    #[param(inline)]
    pub(super) cursor: Option<CursorText>,
}

/// The pages of a project with their views.
#[derive(Serialize, ToSchema)]
pub(super) struct PageViewsPage {
    /// The first day.
    from: Day,
    /// The last day, inclusive.
    to: Day,
    /// Of the whole project, on all stored days of the range.
    totals: ViewCounts,
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schema(required = true, value_type = Vec<PageViews>)]
    rows: Option<Vec<PageViews>>,
    /// The number of pages that match.
    rows_total: u64,
    /// The `cursor` of the next pages; `null` on the last page.
    next_cursor: Option<String>,
    /// When the figures were updated: the fetch of the newest stored day.
    updated_at: Option<Timestamp>,
    /// The oldest fetch of a stored day of the range: final days are not fetched again.
    oldest_fetched_at: Option<Timestamp>,
    /// Days of the range that are not in the daily history: their views are not counted. The oldest first.
    missing_days: Vec<DayRange>,
    /// Days that may still change, because the platform may still be counting them. The oldest first.
    provisional_days: Vec<DayRange>,
    /// Whether no day is missing or provisional.
    complete: bool,
    /// The number of pages before these rows.
    #[serde(skip)]
    before: u64,
    #[serde(skip)]
    cursors: PageCursors,
}

/// The range of daily views.
#[derive(Deserialize, IntoParams)]
#[serde(deny_unknown_fields)]
#[into_params(parameter_in = Query)]
pub(super) struct ListDailyPageViews {
    /// The first day (UTC); by default 27 days before `to`. A range has at most 1,100 days.
    from: Option<Day>,
    /// The last day (UTC, inclusive); by default today.
    to: Option<Day>,
    /// A page, such as `/guides/auth`, or a folder, such as `/guides/*`; by default the whole project.
    #[param(inline)]
    path: Option<PagePath>,
}

/// Views by day.
#[derive(Serialize, ToSchema)]
pub(super) struct DailyPageViews {
    /// The stored days, the oldest first.
    days: Vec<DayOfViews>,
    /// When the figures were updated: the fetch of the newest stored day.
    updated_at: Option<Timestamp>,
    /// The oldest fetch of a stored day of the range: final days are not fetched again.
    oldest_fetched_at: Option<Timestamp>,
    /// Days of the range that are not in the daily history, the oldest first.
    missing_days: Vec<DayRange>,
    /// Days that may still change, because the platform may still be counting them. The oldest first.
    provisional_days: Vec<DayRange>,
    /// Whether no day is missing or provisional.
    complete: bool,
}

#[derive(Serialize, ToSchema)]
struct DayOfViews {
    day: Day,
    human: u64,
    ai: u64,
    total: u64,
    /// Whether the day may still change, because the platform may still be counting it.
    provisional: bool,
    /// Whether the day is final: not provisional.
    complete: bool,
}

/// Page views of a range, from the daily history.
#[utoipa::path(get, path = "/api/v1/projects/{project}/page-views", tag = TAG, security(("token" = ["analytics:read"])),
    params(("project" = String, Path), ListPageViews),
    responses((status = OK, body = PageViewsPage, description = "The page views."), CursorErrors))]
pub(super) async fn list_page_views(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
    Fields(wanted): Fields<ListPageViews>,
) -> Result<Response, Problem> {
    let mut page = find(&caller, &project, wanted).await?;
    let rows = page.take_rows();
    LongBody::object(&page, "rows", loaded(rows))?.respond(StatusCode::OK, &caller).await
}

impl PageViewsPage {
    /// Takes the rows out, which are then written apart from the other fields.
    fn take_rows(&mut self) -> Vec<PageViews> {
        self.rows.take().unwrap_or_default()
    }

    /// Removes the rows that do not fit into `room`. Returns the offset of the rows after those that remain.
    pub(super) fn shorten(&mut self, room: &mut Room) -> Option<u64> {
        let mut rows = self.take_rows();
        room.keep_first(&mut rows);
        self.with_rows(rows)
    }

    /// Sets the rows and the cursor of the rows after them. Returns the offset of those.
    fn with_rows(&mut self, rows: Vec<PageViews>) -> Option<u64> {
        let next = self.before.saturating_add(rows.len() as u64);
        let last = rows.last().filter(|_| next < self.rows_total);
        self.next_cursor = last.map(|last| self.cursors.after(&last.path));
        let has_more = last.is_some();
        self.rows = Some(rows);
        has_more.then_some(next)
    }
}

/// Page views by day, from the daily history.
#[utoipa::path(get, path = "/api/v1/projects/{project}/page-views/daily", tag = TAG, security(("token" = ["analytics:read"])),
    params(("project" = String, Path), ListDailyPageViews),
    responses((status = OK, body = DailyPageViews, description = "The page views by day."), SearchErrors))]
pub(super) async fn list_daily_page_views(
    Extension(caller): Extension<TokenCaller>,
    Path(project): Path<String>,
    Fields(wanted): Fields<ListDailyPageViews>,
) -> Result<Json<DailyPageViews>, Problem> {
    caller.needs(Scope::AnalyticsRead)?;
    let project = caller.project(&project)?;
    let state = &caller.state();
    let today = state.today();
    let range =
        Days::new(wanted.from, wanted.to, today).map_err(|error| AppError::from(error).about("from"))?;
    let range = range.range().until(today);
    let range = range.ok_or_else(|| AppError::bad_input("These days are in the future.").about("from"))?;
    let _permit = caller.caller().query_permit().await?;
    let path = wanted.path.map(String::from);
    let found = state.analytics.stored_days(&project, range, path.as_deref()).await?;
    let complete = found.coverage.is_complete();
    let Coverage { updated_at, oldest_fetched_at, missing_days, provisional_days } = found.coverage;
    let days = found.days.into_iter().map(Into::into).collect();
    Ok(Json(DailyPageViews { days, updated_at, oldest_fetched_at, missing_days, provisional_days, complete }))
}

/// Page views of a range.
pub(super) async fn find(
    caller: &TokenCaller,
    project: &str,
    wanted: ListPageViews,
) -> Result<PageViewsPage, Problem> {
    caller.needs(Scope::AnalyticsRead)?;
    let project = caller.project(project)?;
    let state = &caller.state();
    let cursor = wanted.cursor.clone().map(String::from);
    if cursor.is_some() && wanted.offset.is_some() {
        return Err(AppError::bad_input("Send “cursor” or “offset”, not both.").about("offset").into());
    }
    let query = table_query(project, wanted, state.today())?;
    let _permit = caller.caller().query_permit().await?;
    let found = state.analytics.stored_pages(&query, cursor.as_deref()).await?;
    let StoredPages { totals, rows, rows_total, before, cursors, coverage } = found;
    let complete = coverage.is_complete();
    let Coverage { updated_at, oldest_fetched_at, missing_days, provisional_days } = coverage;
    let mut page = PageViewsPage {
        from: query.range.from(),
        to: query.range.to(),
        totals,
        rows: None,
        rows_total,
        next_cursor: None,
        updated_at,
        oldest_fetched_at,
        missing_days,
        provisional_days,
        complete,
        before,
        cursors,
    };
    page.with_rows(rows.into_iter().map(views_of).collect());
    Ok(page)
}

fn table_query(project: ProjectId, wanted: ListPageViews, today: Day) -> Result<TableQuery, AppError> {
    let ListPageViews { from, to, q, sort, limit, offset, cursor: _ } = wanted;
    let days = Days::new(from, to, today).map_err(|error| AppError::from(error).about("from"))?;
    let days = days.until(today).map_err(|error| AppError::from(error).about("from"))?;
    let limit = PageLimit::try_from(limit.unwrap_or_default().get())?;
    let paging = Paging { limit, offset: offset.unwrap_or_default().get().into() };
    let query = TableQuery::new(project, days, paging).narrowed(q.map(String::from).as_deref(), None)?;
    Ok(query.sorted(sort.map(|In(order)| order)))
}

fn views_of(PageRow { path, counts: ViewCounts { human, ai, total }, .. }: PageRow) -> PageViews {
    PageViews { path, human, ai, total }
}

impl From<CountedDay> for DayOfViews {
    fn from(CountedDay { day, counts: ViewCounts { human, ai, total }, provisional }: CountedDay) -> Self {
        Self { day, human, ai, total, provisional, complete: !provisional }
    }
}
