//! One step: one call for one page; the day is written after its last page. `finality` decides whether it replaces the
//! stored day.

use tracing::Instrument;

use super::next::Next;
use super::{History, Step, backoff, finality};
use base::tasks::Task;
use base::traces;
use clients::upstream::UpstreamError;
use clients::upstream::decode::PageViewsResponse;
use clients::upstream::governor::{Permit, Scope};
use clients::upstream::page_views::PageViewsQuery;
use model::day::{Day, DayRange};
use model::error::ErrorCode;
use model::history::{FetchFailure, Mark};
use model::id::ProjectId;
use model::paging::PageLimit;
use model::time::Timestamp;
use model::upstream::Operation;
use store::StoreError;
use store::page_views::history::{FailedDay, FetchedPage, PartialDay, Written};

/// The maximum number of pages of one day; an upstream that reports more is in error.
const MOST_PAGES: u32 = 400;

impl History {
    /// Makes the most urgent call of the next project, if the background budget has room for it.
    pub async fn step(&self) -> anyhow::Result<Step> {
        let mut next_project = self.next_project.lock().await;
        let now = self.clock.now();
        let mut earliest: Option<Timestamp> = None;
        let projects = self.settings.current().projects;
        for at in (0..projects.len()).map(|n| (*next_project + n) % projects.len()) {
            let project = &projects[at].id;
            let backoff = self.backoff().of(project, now).map(|backoff| backoff.until);
            if let Some(until) = backoff {
                earliest = Some(earliest.map_or(until, |earliest| earliest.min(until)));
                continue;
            }
            let next = match self.next(project, now).await {
                Ok(Some(next)) => next,
                Ok(None) => continue,
                Err(error) if error.concerns_values() => {
                    tracing::error!(%project, %error, "the next day of the history could not be determined");
                    self.backoff().project_failed(project, FetchFailure::NotStored, now);
                    continue;
                }
                Err(error) => return Err(error.into()),
            };
            let step = self.fetch(project, next).await?;
            if !matches!(step, Step::Wait(_)) {
                *next_project = at + 1;
            }
            return Ok(step);
        }
        Ok(Step::Wait(earliest))
    }

    async fn fetch(&self, project: &ProjectId, next: Next) -> anyhow::Result<Step> {
        // The process may have restarted between the last page and writing the day.
        if next.partial_day.as_ref().is_some_and(|partial_day| !partial_day.last.has_more) {
            return self.write(project, next.day, next.failed.as_ref()).await;
        }
        let permit = match self.governor.acquire_in_background(&Scope::Analytics).await {
            Ok(permit) => permit,
            Err(error) if error.code == ErrorCode::DatabaseUnavailable => return Err(error.into()),
            Err(_) => return Ok(Step::Wait(self.room_at().await?)),
        };
        // Before the call, because views that are counted later may be missing in the response.
        let requested_at = self.clock.now();
        let step = async {
            match self.fetch_page(permit, project, &next).await {
                Ok(response) => self.store_response(project, next, response, requested_at).await,
                Err(error) => self.failed(project, next, &error).await,
            }
        };
        step.instrument(traces::work("fetch page views", Some(project.as_str()), None)).await
    }

    async fn fetch_page(
        &self,
        permit: Permit,
        project: &ProjectId,
        next: &Next,
    ) -> Result<PageViewsResponse, UpstreamError> {
        let limit = PageLimit::LARGEST;
        let pages = next.partial_day.as_ref().map_or(0, |partial_day| partial_day.pages);
        let query = PageViewsQuery {
            project: project.clone(),
            range: Some(DayRange::ending(next.day, 1)),
            limit,
            offset: u64::from(pages) * u64::from(limit.get()),
        };
        let _awaited = self.tasks.awaits(Task::History);
        self.upstream.page_views(permit, &query).await
    }

    async fn store_response(
        &self,
        project: &ProjectId,
        Next { day, partial_day, failed, is_requested }: Next,
        response: PageViewsResponse,
        requested_at: Timestamp,
    ) -> anyhow::Result<Step> {
        self.backoff().succeeded(project);
        if partial_day.is_none() {
            self.fetched(project, is_requested);
        }
        let page = page_to_store(project, day, partial_day.as_ref(), response);
        if partial_day.is_none() {
            self.store.drop_partial_day(&self.work, project).await?;
        }
        let number = partial_day.map_or(0, |partial_day| partial_day.pages);
        self.store.store_page(&self.work, project, day, number, &page, requested_at).await?;
        let mut failed = failed;
        // The page that failed was fetched after all: failures of a day are counted in a row.
        let is_over =
            |failed: &FailedDay| backoff::retains_pages(failed) && failed.cause != FetchFailure::NotStored;
        if number > 0 && failed.as_ref().is_some_and(is_over) {
            self.store.forget_failing_day(&self.work, project, day).await?;
            failed = None;
        }
        if page.has_more {
            return Ok(Step::FetchedPage);
        }
        self.write(project, day, failed.as_ref()).await
    }

    async fn write(&self, project: &ProjectId, day: Day, failed: Option<&FailedDay>) -> anyhow::Result<Step> {
        let now = self.clock.now();
        let written = self
            .store
            .write_day(&self.work, project, day, |before, new| finality::decide(before, new, now))
            .await;
        let written = match written {
            Err(error) if error.concerns_values() => {
                tracing::error!(%project, %day, %error, "a day of the history could not be stored");
                let failed = backoff::next_failure(failed, day, FetchFailure::NotStored, now);
                self.store.drop_partial_day(&self.work, project).await?;
                self.store.record_failing_day(&self.work, project, failed).await?;
                return Ok(Step::Failed);
            }
            written => written?,
        };
        report(project, day, &written);
        Ok(Step::Wrote(day))
    }

    async fn failed(&self, project: &ProjectId, next: Next, error: &UpstreamError) -> anyhow::Result<Step> {
        let Next { day, partial_day, failed, is_requested } = next;
        tracing::warn!(%project, %day, %error, "could not fetch a day of the history");
        if matches!(error, UpstreamError::LimitReached { .. }) {
            return Ok(Step::Wait(self.room_at().await?));
        }
        let (now, cause) = (self.clock.now(), backoff::cause(error));
        self.fetched(project, is_requested);
        if backoff::concerns_project(error) {
            // Perhaps only this day is refused: a request for it ends as one for a failing day.
            if is_requested && matches!(error, UpstreamError::Refused { status: 403 | 404, .. }) {
                let failed = backoff::next_failure(failed.as_ref(), day, cause, now);
                self.store.record_failing_day(&self.work, project, failed).await?;
            }
            // Its pages stay for a while.
            self.backoff().project_failed(project, cause, now);
            return Ok(Step::Failed);
        }
        let failed = backoff::next_failure(failed.as_ref(), day, cause, now);
        let mut has_pages = partial_day.is_some();
        if has_pages && !backoff::retains_pages(&failed) {
            self.store.drop_partial_day(&self.work, project).await?;
            has_pages = false;
        }
        self.store.record_failing_day(&self.work, project, failed).await?;
        self.backoff().day_failed(project, &failed, has_pages, now);
        Ok(Step::Failed)
    }

    /// Remembers whether the last day of a project was a requested one.
    fn fetched(&self, project: &ProjectId, is_requested: bool) {
        let mut requested_last = self.requested_last.lock();
        if is_requested {
            requested_last.insert(project.clone());
        } else {
            requested_last.remove(project);
        }
    }

    /// The time from which the budget has room, no pause is active and the circuit breaker is closed, as far as known.
    pub(super) async fn room_at(&self) -> anyhow::Result<Option<Timestamp>> {
        let room = self.governor.background_meter(&Scope::Analytics).await?.next_fits_at;
        Ok(room.max(self.circuit_open_until().await?))
    }

    /// The time until which the circuit breaker for page views is open.
    pub(super) async fn circuit_open_until(&self) -> Result<Option<Timestamp>, StoreError> {
        let now = self.clock.now();
        let until = self.governor.health().report().await?.open_until(Operation::Views, now);
        Ok(until.filter(|until| *until > now))
    }
}

/// The part of a response to store. Regardless of the upstream, no page follows an empty or repeated one, or the
/// maximum number of pages. The sums then show missing rows.
fn page_to_store(
    project: &ProjectId,
    day: Day,
    partial_day: Option<&PartialDay>,
    response: PageViewsResponse,
) -> FetchedPage {
    let PageViewsResponse { totals, mut views, has_more, corrected } = response;
    // PostgreSQL does not accept NUL in texts.
    for view in views.iter_mut().filter(|view| view.path.contains('\0')) {
        view.path = view.path.replace('\0', "\u{fffd}");
    }
    let repeated = partial_day.is_some_and(|partial_day| partial_day.last.views == views);
    let many = partial_day.is_some_and(|partial_day| partial_day.pages + 1 >= MOST_PAGES);
    let endless = has_more && (views.is_empty() || repeated || many);
    if endless {
        tracing::warn!(%project, %day, rows = views.len(), repeated, "the upstream reports rows without end");
    }
    FetchedPage { totals, views, has_more: has_more && !endless, corrected }
}

fn report(project: &ProjectId, day: Day, Written { before, after }: &Written) {
    let Some(after) = after else {
        tracing::warn!(%project, %day, "the upstream returned no views for a day that had some; keeping them");
        return;
    };
    let (rows, is_final) = (after.rows, after.final_at.is_some());
    tracing::debug!(%project, %day, rows, is_final, "a day of the history was fetched");
    let was = before.as_ref().filter(|before| before.final_at.is_some() && before.digest != after.digest);
    if let Some(was) = was {
        let (before, after) = (was.totals.total, after.totals.total);
        tracing::warn!(%project, %day, before, after, "the upstream changed the views of a final day");
    }
    if after.mark == Some(Mark::Uneven) && before.as_ref().is_none_or(|before| before.mark != after.mark) {
        tracing::warn!(%project, %day, "a day's rows do not add up to its totals");
    }
}
