//! Queries of page views, cached: identical queries share one upstream call and its response while it is fresh.

use std::sync::Arc;
use std::time::{Duration, Instant};

use moka::Expiry;
use moka::future::Cache;
use quick_cache::sync::Cache as SmallCache;
use tracing::Instrument;

use super::Upstream;
use super::governor::Governor;
use base::clock::Clock;
use base::traces;
use model::day::{Day, DayRange};
use model::error::{AppError, ErrorCode};
use model::history::is_recent;
use model::id::ProjectId;
use model::page_views::FetchedPageViews;
use model::paging::{PageLimit, Paging};

/// One distinct query of the platform.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct PageViewsQuery {
    pub project: ProjectId,
    /// `None`: everything that the platform has counted.
    pub range: Option<DayRange>,
    pub limit: PageLimit,
    pub offset: u64,
}

/// The cached responses. Clones share them.
#[derive(Clone)]
pub struct PageViewsCache {
    upstream: Upstream,
    governor: Governor,
    clock: Clock,
    /// Fresh responses; also lets identical queries wait for one call.
    fresh: Cache<PageViewsQuery, FetchedPageViews>,
    /// The last good responses, however old.
    last_good: Cache<PageViewsQuery, FetchedPageViews>,
    /// When a query failed last, by the monotonic clock: its last good response is not refreshed at once.
    failed: Arc<SmallCache<PageViewsQuery, Duration>>,
}

const CACHED_QUERIES: usize = 1_000;
/// The approximate maximum memory of each of the two caches.
const CACHED_BYTES: u64 = 32 * 1024 * 1024;
/// How long after a failure an old response is returned without another call.
const AFTER_A_FAILURE: Duration = Duration::from_secs(60);

impl PageViewsQuery {
    /// `range`: `None` for everything that the platform has counted.
    pub fn new(project: ProjectId, range: Option<DayRange>, Paging { limit, offset }: Paging) -> Self {
        Self { project, range, limit, offset }
    }
}

impl PageViewsCache {
    pub fn new(upstream: Upstream, governor: Governor, clock: Clock) -> Self {
        let cache = || Cache::builder().weigher(bytes).max_capacity(CACHED_BYTES);
        Self {
            fresh: cache().expire_after(Freshness { clock: clock.clone() }).build(),
            last_good: cache().build(),
            failed: Arc::new(SmallCache::new(CACHED_QUERIES)),
            upstream,
            governor,
            clock,
        }
    }

    /// The cached response while it is fresh. An older one is returned at once as stale while a new one is fetched.
    /// Concurrent callers with the same query share one call, counted for the first `person`.
    pub async fn get(&self, query: PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        if let Some(fresh) = self.fresh.get(&query).await {
            return Ok(fresh);
        }
        let Some(old) = self.last_good.get(&query).await else {
            return self.load_once(query, person).await;
        };
        if !self.has_just_failed(&query) {
            let (views, person) = (self.clone(), person.to_owned());
            let refresh = async move { views.load_once(query, &person).await.ok() };
            tokio::spawn(
                refresh.instrument(traces::work("refresh page views", None, None)).in_current_span(),
            );
        }
        Ok(FetchedPageViews { stale: true, ..old })
    }

    /// The last good response, however old; fetched only if there is none.
    pub async fn known(&self, query: PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        match self.last_good.get(&query).await {
            Some(known) => Ok(known),
            None => self.load_once(query, person).await,
        }
    }

    /// A new response, which costs a call.
    pub async fn fetched(&self, query: PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        self.fresh.invalidate(&query).await;
        self.load_once(query, person).await
    }

    /// A new response, which costs a call; if that fails, the last good one.
    pub async fn refreshed(&self, query: PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        let old = self.last_good.get(&query).await;
        match (self.fetched(query, person).await, old) {
            (Err(_), Some(old)) => Ok(FetchedPageViews { stale: true, ..old }),
            (response, _) => response,
        }
    }

    fn has_just_failed(&self, query: &PageViewsQuery) -> bool {
        self.failed.get(query).is_some_and(|at| self.clock.elapsed() < at + AFTER_A_FAILURE)
    }

    async fn load_once(&self, query: PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        loop {
            let mut is_first = false;
            let load = async {
                is_first = true;
                self.load(query.clone(), person).await
            };
            let response = self.fresh.try_get_with(query.clone(), load).await;
            match response {
                // The share of another person, who was first, is spent.
                Err(error) if !is_first && error.code == ErrorCode::BudgetSpent => {}
                response => return response.map_err(|error: Arc<AppError>| (*error).clone()),
            }
        }
    }

    async fn load(&self, query: PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        let response = self.fetch(&query, person).await;
        match &response {
            Ok(views) => self.last_good.insert(query, views.clone()).await,
            // Unrelated to the query: another person may have a share left.
            Err(error) if error.code == ErrorCode::BudgetSpent => {}
            Err(_) => self.failed.insert(query, self.clock.elapsed()),
        }
        response
    }

    async fn fetch(&self, query: &PageViewsQuery, person: &str) -> Result<FetchedPageViews, AppError> {
        let permit = self.governor.acquire_share(person, &query.project).await?;
        let response = self.upstream.page_views(permit, query).await.inspect_err(|error| {
            tracing::warn!(project = %query.project, %error, "page views could not be fetched");
        })?;
        Ok(FetchedPageViews {
            totals: response.totals,
            views: response.views,
            has_more: response.has_more,
            fetched_at: self.clock.now(),
            stale: false,
            corrected: response.corrected,
        })
    }
}

/// The approximate memory of a response.
fn bytes(_: &PageViewsQuery, response: &FetchedPageViews) -> u32 {
    let rows: usize = response.views.iter().map(|row| size_of_val(row) + row.path.len()).sum();
    u32::try_from(size_of_val(response) + rows).unwrap_or(u32::MAX)
}

/// The lifetime of a fresh response: 15 minutes if the platform may still be counting the last day of the range, also if it has none; otherwise a day.
struct Freshness {
    clock: Clock,
}

impl Expiry<PageViewsQuery, FetchedPageViews> for Freshness {
    fn expire_after_create(
        &self,
        query: &PageViewsQuery,
        _: &FetchedPageViews,
        _: Instant,
    ) -> Option<Duration> {
        let today = Day::of(self.clock.now());
        let may_change = query.range.is_none_or(|range| is_recent(range.to(), today));
        let minutes = if may_change { 15 } else { 24 * 60 };
        Some(Duration::from_secs(minutes * 60))
    }
}

#[cfg(test)]
mod tests {
    use model::time::Timestamp;

    use super::*;

    #[test]
    fn response_is_fresh_for_15_minutes_until_three_days_are_over() {
        let noon: Timestamp = "2026-11-21T12:00:00Z".parse().unwrap_or_else(|_| panic!("a time"));
        let freshness = Freshness { clock: Clock::frozen(noon) };
        let response = FetchedPageViews {
            totals: Default::default(),
            views: Vec::new(),
            has_more: false,
            fetched_at: noon,
            stale: false,
            corrected: false,
        };
        let minutes = |range: Option<DayRange>| {
            let project = "docs".parse().unwrap_or_else(|error| panic!("{error}"));
            let query = PageViewsQuery::new(project, range, Paging::default());
            let lifetime = freshness.expire_after_create(&query, &response, Instant::now());
            lifetime.unwrap_or_default().as_secs() / 60
        };
        // A range into the future, today, yesterday, and the days before.
        let last = |days: i64| Some(DayRange::ending(Day::of(noon).plus_days(days), 28));
        let found = [2, 0, -1, -2, -3, -4, -28].map(|days| minutes(last(days)));
        assert_eq!(found, [15, 15, 15, 15, 15, 1_440, 1_440]);
        assert_eq!(minutes(None), 15, "all time");
    }
}
