//! The reports of the analytics page and of the overview's week: from the daily history if it contains the whole range,
//! otherwise from the upstream, if the report is about all pages.

use crate::analytics::table_query::TableQuery;
use crate::analytics::{Analytics, Report};
use crate::caller::Caller;
use crate::history::History;
use base::clock::Clock;
use clients::upstream::page_views::{PageViewsCache, PageViewsQuery};
use model::ParseError;
use model::analytics::query::AnalyticsQuery;
use model::analytics::report::{
    AllTimeReport, AnalyticsReport, DailyReport, LiveReport, MatchingPages, MissingReport, OnePageReport,
};
use model::day::{Day, DayRange};
use model::error::{AppError, ErrorCode};
use model::id::ProjectId;
use model::page_views::FetchedPageViews;
use model::paging::Paging;

/// The reports of the analytics page.
#[derive(Clone)]
pub struct Reports {
    analytics: Analytics,
    history: History,
    page_views: PageViewsCache,
    clock: Clock,
}

impl Reports {
    pub fn new(analytics: Analytics, history: History, page_views: PageViewsCache, clock: Clock) -> Self {
        Self { analytics, history, page_views, clock }
    }

    /// The report for the filters of the analytics page.
    pub async fn report(
        &self,
        caller: &Caller,
        project: &ProjectId,
        query: AnalyticsQuery,
    ) -> Result<AnalyticsReport, AppError> {
        let request = self.request(caller, project, query);
        if request.query.is_of_all_time() {
            return Ok(AnalyticsReport::AllTime(Box::new(request.all_time().await?)));
        }
        match request.daily_if_stored().await? {
            Some(report) => Ok(report),
            None if request.query.needs_history() => request.missing().await,
            None => Ok(AnalyticsReport::Live(Box::new(request.live().await?))),
        }
    }

    /// The pages that match the filters, as the daily history has them; as many as the query's page has rows.
    ///
    /// # Errors
    /// `NotInHistory` if a day of the range is not stored.
    pub async fn matching_pages(
        &self,
        caller: &Caller,
        project: &ProjectId,
        query: AnalyticsQuery,
    ) -> Result<MatchingPages, AppError> {
        let table = self.request(caller, project, query).table_query()?;
        let _permit = caller.query_permit().await?;
        let pages = self.analytics.matching_pages(&table).await;
        pages.map_err(|error| self.history.not_fetchable(table.range, error))
    }

    fn request<'a>(
        &'a self,
        caller: &'a Caller,
        project: &'a ProjectId,
        query: AnalyticsQuery,
    ) -> ReportRequest<'a> {
        ReportRequest { services: self, caller, project, query, today: Day::of(self.clock.now()) }
    }
}

struct ReportRequest<'a> {
    services: &'a Reports,
    caller: &'a Caller,
    project: &'a ProjectId,
    query: AnalyticsQuery,
    today: Day,
}

impl ReportRequest<'_> {
    /// The report if the daily history contains every day of the range, otherwise `None`.
    async fn daily_if_stored(&self) -> Result<Option<AnalyticsReport>, AppError> {
        match self.daily().await {
            Err(error) if error.code == ErrorCode::NotInHistory => Ok(None),
            report => report.map(Some),
        }
    }

    async fn daily(&self) -> Result<AnalyticsReport, AppError> {
        let _permit = self.caller.query_permit().await?;
        let (analytics, query) = (&self.services.analytics, self.table_query()?);
        let range = query.range;
        if let Some(path) = &self.query.path {
            let pages = analytics.pages(&query).await?;
            let page = analytics.page(self.project, range, query.compare, path).await?;
            return Ok(AnalyticsReport::OnePage(Box::new(OnePageReport { pages, page })));
        }
        let Report { pages, trend } = analytics.report(&query).await?;
        Ok(AnalyticsReport::Daily(Box::new(DailyReport { pages, trend })))
    }

    /// The missing days; the report, if they were stored meanwhile.
    async fn missing(&self) -> Result<AnalyticsReport, AppError> {
        let history = &self.services.history;
        let range = self.range()?;
        let missing = history.missing(self.project, range).await?;
        if missing.days == 0 || missing.retained_from.is_some() {
            return self.daily().await.map_err(|error| history.not_fetchable(range, error));
        }
        let history = history.state(self.project).await?;
        Ok(AnalyticsReport::Missing(Box::new(MissingReport { history, missing })))
    }

    async fn live(&self) -> Result<LiveReport, AppError> {
        let history = &self.services.history;
        let views = self.views(Some(self.range()?)).await?;
        let missing = match self.query.range(self.today) {
            Some(range) => Some(history.missing(self.project, range).await?),
            None => None,
        };
        Ok(LiveReport { views, history: history.state(self.project).await?, missing })
    }

    /// Totals and pages of everything that the platform has counted.
    async fn all_time(&self) -> Result<AllTimeReport, AppError> {
        self.query.must_have_figures()?;
        let views = self.views(None).await?;
        let since = self.services.history.counted_since(self.project).await?;
        Ok(AllTimeReport { views, since })
    }

    /// `range`: `None` for all time.
    async fn views(&self, range: Option<DayRange>) -> Result<FetchedPageViews, AppError> {
        let query = PageViewsQuery::new(self.project.clone(), range, self.paging()?);
        let views = &self.services.page_views;
        // A page that refreshes itself makes no upstream call, however long it is open.
        match self.caller.is_refresh {
            true => views.known(query, &self.caller.user.id).await,
            false => views.get(query, &self.caller.user.id).await,
        }
    }

    fn table_query(&self) -> Result<TableQuery, AppError> {
        let given = &self.query;
        let query = TableQuery::new(self.project.clone(), self.range()?, self.paging()?);
        let query = query.narrowed(given.q.as_deref(), given.folder.as_deref())?;
        Ok(query.sorted(given.order()).compared(given.compare, given.tab, given.readers))
    }

    fn range(&self) -> Result<DayRange, ParseError> {
        self.query.days.until(self.today)
    }

    fn paging(&self) -> Result<Paging, ParseError> {
        Paging::parse(Some(self.query.limit), Some(self.query.offset()))
    }
}
