//! Page views: live from the platform, and from the daily history.

#![expect(clippy::too_many_arguments, reason = "they are the fields of a public endpoint")]

use leptos::prelude::*;

#[cfg(feature = "ssr")]
use clients::upstream::page_views::PageViewsQuery;
#[cfg(feature = "ssr")]
use model::analytics::agreement::AgreementReport;
use model::analytics::effect::JobEffects;
use model::analytics::pages::PagesReport;
#[cfg(feature = "ssr")]
use model::analytics::report::{AnalyticsReport, MatchingPages};
use model::analytics::trend::Trend;
#[cfg(feature = "ssr")]
use model::analytics::{
    choice::{Compare, Order, Readers, Tab},
    days::{Days, Span},
    query::AnalyticsQuery,
};
use model::error::AppError;
use model::page_views::FetchedPageViews;
#[cfg(feature = "ssr")]
use model::{day::DayRange, id::JobId, links, paging::Paging, user::Role};
#[cfg(feature = "ssr")]
use service::analytics::table_query::{TableQuery, word};
#[cfg(feature = "ssr")]
use service::response_size::shortened;
#[cfg(feature = "ssr")]
use web::auth::guard;
#[cfg(feature = "ssr")]
use web::auth::roles::PageData;
#[cfg(feature = "ssr")]
use web::request::forms;

/// Page views from the upstream. `from` and `to` are inclusive UTC days (`YYYY-MM-DD`), by default the last 28 days; `days` names
/// a preset in place of them, or `all` for everything that the platform has counted;
/// `limit` is 1..=250 (50), `offset` from 0 (0). `refresh` bypasses the cache, which costs a call; it
/// needs the operator role.
#[server(name = GetViews, prefix = "/api", endpoint = "analytics/views")]
pub async fn views(
    project: String,
    from: Option<String>,
    to: Option<String>,
    limit: Option<i64>,
    offset: Option<i64>,
    refresh: Option<bool>,
    days: Option<String>,
) -> Result<FetchedPageViews, AppError> {
    let (caller, state) = guard::of::<GetViews>()?;
    let project = caller.project(&project)?;
    let span = Span::of(days.as_deref(), from.as_deref(), to.as_deref(), state.today())?;
    let range = span.days().map(Days::range);
    let query = PageViewsQuery::new(project, range, Paging::parse(limit, offset)?);
    let (views, person) = (&state.page_views, &caller.user.id);
    let found = match refresh.unwrap_or(false) {
        true => {
            caller.must_be(Role::Operator)?;
            views.refreshed(query, person).await?
        }
        false => views.get(query, person).await?,
    };
    Ok(shortened::views(found))
}

/// The report of the analytics page: from the daily history if it contains the whole range, otherwise live, if the query is about all pages. No endpoint
/// returns it.
#[cfg(feature = "ssr")]
pub async fn report_of(project: &str, query: AnalyticsQuery) -> Result<AnalyticsReport, AppError> {
    let (caller, state) = guard::of_page(PageData::AnalyticsReport)?;
    let project = caller.project(project)?;
    state.reports.report(&caller, &project, query).await
}

/// The pages that match a query of the analytics page, from the daily history only. No endpoint returns them.
#[cfg(feature = "ssr")]
pub async fn matching_pages(project: &str, query: AnalyticsQuery) -> Result<MatchingPages, AppError> {
    let (caller, state) = guard::of_page(PageData::AnalyticsReport)?;
    let project = caller.project(project)?;
    state.reports.matching_pages(&caller, &project, query).await
}

/// A table of pages from the daily history. `q`: part of the path, ignoring the case of ASCII letters; `folder`: `/` or
/// `/guides` lists its direct entries, by default all pages are listed; `sort`: an `Order` (`total`); `compare`: a `Compare`
/// (`previous`); `tab`: a `Tab` (`all`); `readers`: the `Readers` whose views the changes of `sort` and `tab` are about (`all`). The other parameters are as for [`views`].
#[server(name = GetPages, prefix = "/api", endpoint = "analytics/pages")]
pub async fn pages(
    project: String,
    from: Option<String>,
    to: Option<String>,
    q: Option<String>,
    folder: Option<String>,
    sort: Option<String>,
    compare: Option<String>,
    tab: Option<String>,
    limit: Option<i64>,
    offset: Option<i64>,
    readers: Option<String>,
) -> Result<PagesReport, AppError> {
    let (caller, state) = guard::of::<GetPages>()?;
    let project = caller.project(&project)?;
    let days = Days::parse(from.as_deref(), to.as_deref(), state.today())?;
    let query = TableQuery::new(project, days.range(), Paging::parse(limit, offset)?)
        .narrowed(q.as_deref(), folder.as_deref())?
        .sorted(Order::parse(sort.as_deref())?)
        .compared(
            word(compare.as_deref(), Compare::default())?,
            word(tab.as_deref(), Tab::default())?,
            word(readers.as_deref(), Readers::default())?,
        );
    let _permit = caller.query_permit().await?;
    Ok(shortened::pages(state.analytics.pages(&query).await?))
}

/// Views by day, or by week above 120 days, with job markers and annotations: of the whole project, of the page `path`,
/// or of a folder (`/guides/*`); with those of the compared period, by default the previous one.
#[server(name = GetTrend, prefix = "/api", endpoint = "analytics/trend")]
pub async fn trend(
    project: String,
    from: String,
    to: String,
    path: Option<String>,
    compare: Option<String>,
) -> Result<Trend, AppError> {
    let (caller, state) = guard::of::<GetTrend>()?;
    let project = caller.project(&project)?;
    let range = Days::parse(Some(&from), Some(&to), state.today())?.range();
    let _permit = caller.query_permit().await?;
    let compare = word(compare.as_deref(), Compare::default())?;
    Ok(shortened::trend(state.analytics.trend(&project, range, compare, path.as_deref()).await?))
}

/// Views of the first ten pages of a completed job in whole weeks before and after it finished, and the number of its pages; none for a job in another
/// state, or without a pull request in a project that uses them.
#[server(name = GetJobEffects, prefix = "/api", endpoint = "analytics/job")]
pub async fn job_effects(project: String, job: String) -> Result<JobEffects, AppError> {
    let (caller, state) = guard::of::<GetJobEffects>()?;
    let project = caller.project(&project)?;
    let job: JobId = job.parse()?;
    let _permit = caller.query_permit().await?;
    state.analytics.job_effects(&project, &job).await
}

/// What is known about the agreement of a range with the platform; an error if the range is invalid. Makes no call. No endpoint returns it.
#[cfg(feature = "ssr")]
pub async fn agreement_of(
    project: &str,
    range: Result<DayRange, AppError>,
) -> Result<AgreementReport, AppError> {
    let (caller, state) = guard::of_page(PageData::Agreement)?;
    let project = caller.project(project)?;
    state.agreements.report(&caller, &project, range?).await
}

/// Fetches the platform's answer for a range whose days are all in the daily history, in at most three calls. The page that shows both makes no
/// call. `from` and `to` are inclusive UTC days (`YYYY-MM-DD`). For administrators. A plain form is redirected to that page.
#[server(name = ComparePlatform, prefix = "/api", endpoint = "analytics/compare")]
pub async fn compare_platform(project: String, from: String, to: String) -> Result<(), AppError> {
    let (caller, state) = guard::of::<ComparePlatform>()?;
    let project = caller.project(&project)?;
    let range = DayRange::parse(&from, &to)?;
    state.agreements.fetch(&caller, &project, range).await?;
    forms::redirect_to(&links::agreement_over(project.as_str(), range));
    Ok(())
}
