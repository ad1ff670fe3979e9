//! Compares the daily history with the platform's own answer for the same range. Only [`Agreements::fetch`] makes calls; the answer is in
//! the cache of page views afterwards.

use std::sync::Arc;

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

/// The comparisons with the platform.
#[derive(Clone)]
pub struct Agreements {
    analytics: Analytics,
    history: History,
    page_views: PageViewsCache,
}

impl Agreements {
    pub fn new(analytics: Analytics, history: History, page_views: PageViewsCache) -> Self {
        Self { analytics, history, page_views }
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
        if missing.days == 0 {
            // They were stored meanwhile, or cannot be fetched.
            return self.stored(project, range).await;
        }
        let history = self.history.state(project).await?;
        Ok(AgreementReport::Missing(Box::new(MissingReport { history, missing })))
    }

    async fn stored(&self, project: &ProjectId, range: DayRange) -> Result<AgreementReport, AppError> {
        let answer = self.answer(project, range).await;
        Ok(AgreementReport::Stored(Box::new(self.analytics.stored_range(project, range, answer).await?)))
    }

    /// Fetches the platform's answer for a range: its first rows, in at most [`CALLS_MAX`] calls.
    ///
    /// # Errors
    /// `NotInHistory`, without a call, if a day of the range is not stored.
    pub async fn fetch(&self, caller: &Caller, project: &ProjectId, range: DayRange) -> Result<(), AppError> {
        self.analytics.must_be_stored(caller, project, range).await?;
        for query in queries(project, range) {
            if !self.page_views.fetched(query, &caller.user.id).await?.has_more {
                break;
            }
        }
        Ok(())
    }

    /// The platform's answer, as far as it was fetched in one go: rows from before the first response would not fit to it.
    async fn answer(&self, project: &ProjectId, range: DayRange) -> Option<FetchedPageViews> {
        let mut queries = queries(project, range);
        let mut answer = self.page_views.cached(&queries.next()?).await?;
        for query in queries {
            if !answer.has_more {
                break;
            }
            let next = self.page_views.cached(&query).await;
            let Some(next) = next.filter(|next| next.fetched_at >= answer.fetched_at) else { break };
            answer.views.extend(next.views);
            answer.has_more = next.has_more;
            answer.corrected |= next.corrected;
        }
        Some(answer)
    }
}

/// The queries for the platform's answer, in the order of its rows.
fn queries(project: &ProjectId, range: DayRange) -> impl Iterator<Item = PageViewsQuery> + use<'_> {
    let limit = PageLimit::LARGEST;
    let offsets = (0..u64::from(CALLS_MAX)).map(move |page| page * u64::from(limit.get()));
    offsets.map(move |offset| PageViewsQuery::new(project.clone(), Some(range), Paging { limit, offset }))
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
        answer: Option<FetchedPageViews>,
    ) -> Result<StoredRange, AppError> {
        let mut snapshot = self.store.snapshot(project).await?;
        let days = snapshot.days(range).await?;
        let period = Period::of(range, days.clone())?;
        let result = match answer {
            None => None,
            Some(answer) => {
                let known = self.figures_of(snapshot, project, range, days).await?;
                Some(compared(known, answer).await)
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

async fn compared(known: Arc<KnownFigures>, answer: FetchedPageViews) -> AgreementResult {
    let (pages, fetched_at, corrected) = (known.paths.len(), answer.fetched_at, answer.corrected);
    let compare = move || {
        let KnownFigures { period, paths, figures, .. } = &*known;
        blocking::must_be_apart(paths.len());
        let counted = paths.names().iter().zip(&figures.counts);
        let viewed = counted.filter_map(|(path, counts)| Some((path.as_str(), (*counts)?)));
        Agreement::of(period.totals(), viewed, &answer)
    };
    AgreementResult { agreement: blocking::run(pages, compare).await, fetched_at, corrected }
}
