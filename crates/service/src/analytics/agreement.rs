//! Compares the daily history with the platform's own answer for the same range. Only [`Agreements::fetch`] makes calls; this process has the
//! answer in memory afterwards.

use std::sync::Arc;

use quick_cache::sync::Cache;

use super::Analytics;
use super::known_figures::KnownFigures;
use super::period::{Period, provisional, updated_at};
use crate::caller::Caller;
use crate::history::History;
use base::blocking;
use clients::upstream::page_views::{PageViewsCache, PageViewsQuery};
use model::analytics::agreement::{Agreement, AgreementReport, AgreementResult, CALLS_MAX, StoredRange};
use model::analytics::choice::Compare;
use model::analytics::report::MissingReport;
use model::day::DayRange;
use model::error::{AppError, ErrorCode};
use model::id::ProjectId;
use model::page_views::FetchedPageViews;
use model::paging::{PageLimit, Paging};
use store::page_views::queries::{Snapshot, StoredDay};

/// The maximum number of answers in memory. Each has at most 750 rows.
const ANSWERS_MAX: usize = 16;

/// The comparisons with the platform. Clones share the answers.
#[derive(Clone)]
pub struct Agreements {
    analytics: Analytics,
    history: History,
    page_views: PageViewsCache,
    answers: Arc<Cache<(ProjectId, DayRange), Arc<Answer>>>,
}

/// The platform's first rows of a range, fetched in one go.
struct Answer {
    views: FetchedPageViews,
    /// Why a further call was not made, or failed.
    stopped: Option<String>,
}

impl Agreements {
    pub fn new(analytics: Analytics, history: History, page_views: PageViewsCache) -> Self {
        Self { analytics, history, page_views, answers: Arc::new(Cache::new(ANSWERS_MAX)) }
    }

    /// What is known about a range. Makes no call.
    pub async fn report(
        &self,
        caller: &Caller,
        project: &ProjectId,
        range: DayRange,
    ) -> Result<AgreementReport, AppError> {
        let _permit = caller.query_permit().await?;
        match self.stored(project, range).await {
            Err(error) if error.code == ErrorCode::NotInHistory => {}
            report => return report,
        }
        let missing = self.history.missing(project, range).await?;
        if missing.days == 0 || missing.retained_from.is_some() {
            // They were stored meanwhile, or cannot be fetched.
            let report = self.stored(project, range).await;
            return report.map_err(|error| self.history.not_fetchable(range, error));
        }
        let history = self.history.state(project).await?;
        Ok(AgreementReport::Missing(Box::new(MissingReport { history, missing })))
    }

    async fn stored(&self, project: &ProjectId, range: DayRange) -> Result<AgreementReport, AppError> {
        let answer = self.answers.get(&(project.clone(), range));
        Ok(AgreementReport::Stored(Box::new(self.analytics.stored_range(project, range, answer).await?)))
    }

    /// Fetches the platform's answer for a range: its first rows, in [`CALLS_MAX`] calls or fewer, without those that are repeated.
    ///
    /// # Errors
    /// `NotInHistory`, without a call, if a day of the range is not stored; the error of the first call. After that one, an error ends the answer.
    pub async fn fetch(&self, caller: &Caller, project: &ProjectId, range: DayRange) -> Result<(), AppError> {
        self.analytics.must_be_stored(caller, project, range).await?;
        let answer = self.ask(caller, project, range).await?;
        self.answers.insert((project.clone(), range), Arc::new(answer));
        Ok(())
    }

    async fn ask(&self, caller: &Caller, project: &ProjectId, range: DayRange) -> Result<Answer, AppError> {
        let [first, others @ ..] = queries(project, range);
        let mut views = self.page_views.fetched(first, &caller.user.id).await?;
        let mut stopped = None;
        for query in others {
            if !views.has_more {
                break;
            }
            match self.page_views.fetched(query, &caller.user.id).await {
                Ok(next) => {
                    views.views.extend(next.views);
                    views.has_more = next.has_more;
                    views.corrected |= next.corrected;
                }
                Err(error) => {
                    stopped = Some(error.message);
                    break;
                }
            }
        }
        Ok(Answer { views, stopped })
    }
}

/// The queries for the platform's answer, in the order of its rows.
fn queries(project: &ProjectId, range: DayRange) -> [PageViewsQuery; CALLS_MAX] {
    let limit = PageLimit::LARGEST;
    std::array::from_fn(|page| {
        let offset = page as u64 * u64::from(limit.get());
        PageViewsQuery::new(project.clone(), Some(range), Paging { limit, offset })
    })
}

impl Analytics {
    /// # Errors
    /// `NotInHistory` if a day of the range is not stored.
    async fn must_be_stored(
        &self,
        caller: &Caller,
        project: &ProjectId,
        range: DayRange,
    ) -> Result<(), AppError> {
        let _permit = caller.query_permit().await?;
        Period::read(&mut self.store.snapshot(project).await?, range).await?;
        Ok(())
    }

    /// The stored days of a range, compared with the platform's `answer`.
    ///
    /// # Errors
    /// `NotInHistory` if a day of the range is not stored.
    async fn stored_range(
        &self,
        project: &ProjectId,
        range: DayRange,
        answer: Option<Arc<Answer>>,
    ) -> Result<StoredRange, AppError> {
        let mut snapshot = self.store.snapshot(project).await?;
        let days = snapshot.days(range).await?;
        let period = Period::of(range, days.clone())?;
        let result = match answer {
            None => None,
            Some(answer) => {
                let fetched_at = answer.views.fetched_at;
                let is_outdated = days.iter().any(|day| day.fetched_at > fetched_at);
                let known = self.figures_of(snapshot, project, range, days).await?;
                let stopped = answer.stopped.clone();
                let corrected = answer.views.corrected;
                let agreement = compared(known, answer).await;
                Some(AgreementResult { agreement, fetched_at, corrected, stopped, is_outdated })
            }
        };
        Ok(StoredRange {
            updated_at: updated_at(period.days()),
            provisional_days: DayRange::of_days(provisional(period.days())),
            marked: period.marked(),
            result,
        })
    }

    /// The figures of each page, from the cache if they are of these days.
    async fn figures_of(
        &self,
        mut snapshot: Snapshot,
        project: &ProjectId,
        range: DayRange,
        days: Vec<StoredDay>,
    ) -> Result<Arc<KnownFigures>, AppError> {
        if let Some(known) = self.known.get(project, range, Compare::None, &days) {
            return Ok(known);
        }
        let known = KnownFigures::read(&mut snapshot, range, Compare::None, days).await?;
        Ok(self.known.put(project, range, Compare::None, known))
    }
}

async fn compared(known: Arc<KnownFigures>, answer: Arc<Answer>) -> Agreement {
    let pages = known.paths.len();
    let compare = move || {
        let KnownFigures { period, paths, figures, .. } = &*known;
        blocking::must_be_apart(paths.len());
        let counted = paths.names().iter().zip(&figures.counts);
        let viewed = counted.filter_map(|(path, counts)| Some((path.as_str(), (*counts)?)));
        Agreement::of(period.totals(), viewed, &answer.views)
    };
    blocking::run(pages, compare).await
}
