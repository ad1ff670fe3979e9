//! Queries of page views, cached: identical queries share one upstream call and its answer while it is fresh. Must not
//! interpret the figures.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;
use tracing::Instrument;

use super::Upstream;
use super::governor::Governor;
use crate::error::{AppError, ErrorCode};
use crate::model::analytics_query::requested_days;
use crate::model::day::{Day, DayRange};
use crate::model::id::ProjectId;
use crate::model::page_views::FetchedPageViews;
use crate::model::paging::PageLimit;
use crate::server::process::clock::Clock;
use crate::server::telemetry::traces;

/// One distinct query.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PageViewsQuery {
    pub project: ProjectId,
    pub range: DayRange,
    pub limit: PageLimit,
    pub offset: u64,
}

/// The cached answers. Clones share them.
#[derive(Clone)]
pub struct PageViewsCache {
    upstream: Upstream,
    governor: Governor,
    clock: Clock,
    /// Fresh answers; also lets identical queries wait for one call.
    fresh: Cache<PageViewsQuery, FetchedPageViews>,
    /// The last good answers, however old.
    last_good: Cache<PageViewsQuery, FetchedPageViews>,
    /// Queries that failed recently: their last good answer is not refreshed at once.
    failed: Cache<PageViewsQuery, ()>,
}

const CACHED_QUESTIONS: u64 = 1_000;
/// The approximate maximum memory of each of the two caches.
const CACHED_BYTES: u64 = 32 * 1024 * 1024;
/// How long after a failure an old answer is returned without another call.
const AFTER_A_FAILURE: Duration = Duration::from_secs(60);

impl PageViewsQuery {
    /// Parses a query; both days inclusive, by default the last 28 days.
    pub fn parse(
        project: ProjectId,
        from: Option<&str>,
        to: Option<&str>,
        limit: Option<i64>,
        offset: Option<i64>,
        today: Day,
    ) -> Result<Self, AppError> {
        let limit = u32::try_from(limit.unwrap_or(PageLimit::DEFAULT.get().into())).unwrap_or(0);
        Ok(Self {
            project,
            range: Self::range(from, to, today)?,
            limit: PageLimit::try_from(limit).map_err(AppError::bad_input)?,
            offset: u64::try_from(offset.unwrap_or(0))
                .map_err(|_| AppError::bad_input("The offset is 0 or more rows."))?,
        })
    }

    /// The days from `from` to `to`, both inclusive; by default the last 28.
    pub fn range(from: Option<&str>, to: Option<&str>, today: Day) -> Result<DayRange, AppError> {
        requested_days(from, to, today).map_err(AppError::bad_input)
    }

    /// Without the days after today.
    pub fn until(self, today: Day) -> Result<Self, AppError> {
        let range = self.range.until(today);
        let range = range
            .ok_or_else(|| AppError::bad_input("These days are in the future. Page views end today."))?;
        Ok(Self { range, ..self })
    }
}

impl PageViewsCache {
    pub fn new(upstream: Upstream, governor: Governor, clock: Clock) -> Self {
        let answers = || Cache::builder().weigher(bytes).max_capacity(CACHED_BYTES);
        Self {
            fresh: answers().expire_after(Freshness { clock: clock.clone() }).build(),
            last_good: answers().build(),
            failed: Cache::builder().max_capacity(CACHED_QUESTIONS).time_to_live(AFTER_A_FAILURE).build(),
            upstream,
            governor,
            clock,
        }
    }

    /// The cached answer while it is fresh. An older one is returned at once as stale while a new one is fetched.
    /// Concurrent callers with the same query make one call, of the share of the `person` who is first.
    pub async fn answer(&self, question: PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        if let Some(fresh) = self.fresh.get(&question).await {
            return Ok(fresh);
        }
        let Some(old) = self.last_good.get(&question).await else {
            return self.ask_once(question, person).await;
        };
        if !self.failed.contains_key(&question) {
            let (answers, person) = (self.clone(), person.to_owned());
            let asked = async move { answers.ask_once(question, &person).await.ok() };
            tokio::spawn(asked.instrument(traces::work("refresh page views", None, None)).in_current_span());
        }
        Ok(FetchedPageViews { stale: true, ..old })
    }

    /// The last good answer, however old; fetched only if there is none.
    pub async fn known(&self, question: PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        match self.last_good.get(&question).await {
            Some(known) => Ok(known),
            None => self.ask_once(question, person).await,
        }
    }

    /// A new answer, which costs a call; if that fails, the last good one.
    pub async fn refreshed(
        &self,
        question: PageViewsQuery,
        person: &str,
    ) -> Result<FetchedPageViews, AppError> {
        self.fresh.invalidate(&question).await;
        let old = self.last_good.get(&question).await;
        match (self.ask_once(question, person).await, old) {
            (Err(_), Some(old)) => Ok(FetchedPageViews { stale: true, ..old }),
            (answer, _) => answer,
        }
    }

    async fn ask_once(&self, question: PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        loop {
            let mut asked = false;
            let ask = async {
                asked = true;
                self.ask(question.clone(), person).await
            };
            let answer = self.fresh.try_get_with(question.clone(), ask).await;
            match answer {
                // Of the share of somebody else, who was first.
                Err(error) if !asked && error.code == ErrorCode::BudgetSpent => {}
                answer => return answer.map_err(|error: Arc<AppError>| (*error).clone()),
            }
        }
    }

    async fn ask(&self, question: PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        let answer = self.ask_upstream(&question, person).await;
        match &answer {
            Ok(views) => self.last_good.insert(question, views.clone()).await,
            // Says nothing of the question: somebody else may have a share left.
            Err(error) if error.code == ErrorCode::BudgetSpent => {}
            Err(_) => self.failed.insert(question, ()).await,
        }
        answer
    }

    async fn ask_upstream(
        &self,
        question: &PageViewsQuery,
        person: &str,
    ) -> Result<FetchedPageViews, AppError> {
        let permit = self.governor.acquire_share(person).await?;
        let answer = self.upstream.page_views(permit, question).await.inspect_err(|error| {
            tracing::warn!(project = %question.project, %error, "page views could not be fetched");
        })?;
        Ok(FetchedPageViews {
            totals: answer.totals,
            views: answer.views,
            has_more: answer.has_more,
            fetched_at: self.clock.now(),
            stale: false,
            corrected: answer.corrected,
        })
    }
}

/// The approximate memory of an answer.
fn bytes(_: &PageViewsQuery, answer: &FetchedPageViews) -> u32 {
    let rows: usize = answer.views.iter().map(|row| size_of_val(row) + row.path.len()).sum();
    u32::try_from(size_of_val(answer) + rows).unwrap_or(u32::MAX)
}

/// How long an answer is fresh: 15 minutes if the range includes today, otherwise a day.
struct Freshness {
    clock: Clock,
}

impl Expiry<PageViewsQuery, FetchedPageViews> for Freshness {
    fn expire_after_create(
        &self,
        question: &PageViewsQuery,
        _: &FetchedPageViews,
        _: Instant,
    ) -> Option<Duration> {
        let minutes = if question.range.to() >= Day::of(self.clock.now()) { 15 } else { 24 * 60 };
        Some(Duration::from_secs(minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(
        from: Option<&str>,
        to: Option<&str>,
        limit: Option<i64>,
        offset: Option<i64>,
    ) -> Result<PageViewsQuery, AppError> {
        let today = "2026-11-21".parse().expect("a day");
        PageViewsQuery::parse("docs".parse().expect("an id"), from, to, limit, offset, today)
    }

    #[test]
    fn nothing_asked_is_the_last_28_days() {
        let question = parse(None, Some(""), None, None).expect("a question");
        assert_eq!(question.range.from().to_string(), "2026-10-25");
        assert_eq!(question.range.days(), 28);
        assert_eq!((question.limit.get(), question.offset), (50, 0));
    }

    #[test]
    fn days_after_today_are_left_out() {
        let today = "2026-11-21".parse().expect("a day");
        let until = |from, to| parse(Some(from), Some(to), None, None).and_then(|query| query.until(today));
        let query = until("2026-11-20", "2026-11-30").expect("a query");
        assert_eq!((query.range.to(), query.range.days()), (today, 2));
        assert!(until("2026-11-22", "2026-11-30").is_err_and(|error| error.code == ErrorCode::BadInput));
    }

    #[test]
    fn bad_input_is_refused_with_a_sentence() {
        let refused = [
            parse(Some("2026-02-30"), None, None, None),
            parse(Some("2026-03-02"), Some("2026-03-01"), None, None),
            parse(None, None, Some(0), None),
            parse(None, None, Some(251), None),
            parse(None, None, Some(i64::MAX), None),
            parse(None, None, None, Some(-1)),
        ];
        for question in refused {
            assert!(question.is_err_and(|error| error.message.ends_with('.') && error.code.status() == 400));
        }
    }
}
