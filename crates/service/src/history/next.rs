//! The next page of a project to fetch.

use std::time::Duration;

use super::{History, backoff, finality};
use crate::retention;
use clients::upstream::governor::Scope;
use model::day::{Day, DayRange};
use model::id::ProjectId;
use model::paging::PageLimit;
use model::time::Timestamp;
use store::StoreError;
use store::page_views::history::{FailedDay, FetchedDay, PartialDay};

/// How long a partial fetch may pause and still continue: an hour for the budget, and another for failures. Pages
/// further apart may be inconsistent.
const PARTIAL_DAY_TTL_SECONDS: i64 = 2 * 3_600;

/// The next page to fetch.
pub(super) struct Next {
    pub(super) day: Day,
    /// The stored pages of the day; `None` at its beginning.
    pub(super) partial_day: Option<PartialDay>,
    /// The failures of the day since its last success.
    pub(super) failed: Option<FailedDay>,
    /// Whether a person requested the day.
    pub(super) is_requested: bool,
}

impl History {
    /// The next page to fetch for a project, if any is due. Order: a partial day, requested days, the newest missing or
    /// due day, the newest missing day before the window, the weekly check. After a requested day, the newest missing or
    /// due day comes first. Days that failed pause.
    pub(super) async fn next(&self, project: &ProjectId, now: Timestamp) -> Result<Option<Next>, StoreError> {
        let failing = self.store.failing_days(project).await?;
        let partial_day = self.store.partial_day(project).await?.filter(|partial_day| fits(partial_day, now));
        let day = match &partial_day {
            Some(partial_day) => Some((partial_day.day, false)),
            None => self.next_day(project, &failing, now).await?,
        };
        Ok(day.map(|(day, is_requested)| {
            let failed = failing.into_iter().find(|failed| failed.day == day);
            Next { day, partial_day, failed, is_requested }
        }))
    }

    /// The day, and whether it was requested.
    async fn next_day(
        &self,
        project: &ProjectId,
        failing: &[FailedDay],
        now: Timestamp,
    ) -> Result<Option<(Day, bool)>, StoreError> {
        let requested = self.store.requested_days(project).await?;
        let aside =
            |day: &Day| failing.iter().any(|failed| failed.day == *day && backoff::is_paused(failed, now));
        let is_retained =
            |day: &Day| retention::first_day(self.retained_days(), now).is_none_or(|first| *day >= first);
        let requested =
            requested.into_iter().find(|day| *day <= Day::of(now) && is_retained(day) && !aside(day));
        let requested = requested.map(|day| (day, true));
        if requested.is_some() && !self.requested_last.lock().contains(project) {
            return Ok(requested);
        }
        let window = self.window(now);
        let days = self.store.fetched_days(project, window).await?;
        let per_hour = self.governor.background_meter(&Scope::Analytics).await?.limit;
        let projects = self.settings.current().projects.len();
        let pace = |day: &FetchedDay| finality::pace(calls(day.rows), projects, per_hour);
        let missing_or_due = due_days(window, &days, now, pace).find(|day| !aside(day));
        let missing_or_due = missing_or_due.map(|day| (day, false)).or(requested);
        if missing_or_due.is_some() {
            return Ok(missing_or_due);
        }
        if let Some(before) = self.before_window(now) {
            let days = self.store.fetched_days(project, before).await?;
            // Fetched once, but a day without views again until that is certain.
            let is_stored = |day: &Day| days.iter().any(|here| here.day == *day && here.empty.days == 0);
            let next = due_days(before, &days, now, pace).find(|day| !is_stored(day) && !aside(day));
            if let Some(day) = next {
                return Ok(Some((day, false)));
            }
        }
        let checked = self.store.last_check(project, finality::latest(now)).await?;
        let to_check = finality::to_check(&days, checked, now).filter(|day| !aside(day));
        Ok(to_check.map(|day| (day, false)))
    }
}

/// The days of the window that are due or not among `days`, newest first. `days` must be newest first.
fn due_days(
    window: DayRange,
    days: &[FetchedDay],
    now: Timestamp,
    pace: impl Fn(&FetchedDay) -> Duration,
) -> impl Iterator<Item = Day> {
    let mut days = days.iter().peekable();
    (0..window.days()).map(move |ago| window.to().plus_days(-ago)).filter(move |day| {
        let here = days.next_if(|here| here.day == *day);
        here.is_none_or(|here| finality::due_at(here, now, pace(here)).is_some_and(|due| due <= now))
    })
}

/// The number of calls that a day with this many rows takes.
pub(super) fn calls(rows: u64) -> u32 {
    u32::try_from(rows.div_ceil(PageLimit::MAX.into())).unwrap_or(u32::MAX).max(1)
}

/// Whether a partial day can still be completed: all its pages are stored, or the last one is recent. False after a
/// large clock change in either direction.
fn fits(partial_day: &PartialDay, now: Timestamp) -> bool {
    let apart = (now.as_millis() - partial_day.last_at.as_millis()).unsigned_abs() / 1000;
    !partial_day.last.has_more || apart <= PARTIAL_DAY_TTL_SECONDS.unsigned_abs()
}
