//! The progress of the history, the missing days of a range, and requests for them. Makes no upstream calls.

use std::collections::HashSet;
use std::time::Duration;

use super::{History, backoff, finality};
use crate::retention;
use clients::upstream::governor::Scope;
use model::analytics::report::CountedSince;
use model::budget::Meter;
use model::day::{Day, DayRange};
use model::error::{AppError, ErrorCode};
use model::history::{FailingDay, HistoryState, Missing, StoredDays};
use model::id::ProjectId;
use model::limits::REQUESTED_DAYS;
use model::paging::PageLimit;
use model::time::Timestamp;
use store::Authority;
use store::StoreError;
use store::page_views::history::{Extent, FetchedDay};

const MOST_MARKED: u32 = 20;
/// How many days before the first one with views are examined.
const DAYS_BEFORE: i64 = 28;
/// The approximate duration of a call with the pause after it, while the budget has room.
const MILLIS_OF_A_CALL: u64 = 500;

/// Which days of a range are requested.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted {
    Missing,
    /// They are fetched again.
    Stored,
}

/// Days that have never been fetched, and the minimum number of calls for them.
#[derive(Debug, Clone, Copy)]
struct Remaining {
    days: u32,
    calls: u64,
}

/// What limits the calls of the history now.
#[derive(Debug, Clone, Copy)]
struct CallLimits {
    meter: Meter,
    /// When the circuit breaker closes, if it is open.
    circuit_open_until: Option<Timestamp>,
}

impl History {
    pub async fn state(&self, project: &ProjectId) -> Result<HistoryState, AppError> {
        let now = self.clock.now();
        let mut days = self.store.fetched_days(project, self.window(now)).await?;
        days.retain(|day| !finality::is_ahead(day, now));
        let final_days = days.iter().filter(|day| day.final_at.is_some()).count();
        let ends = self.store.history_ends(project).await?;
        let meter = self.governor.background_meter(&Scope::Analytics).await?;
        let limits = CallLimits { meter, circuit_open_until: self.circuit_open_until().await? };
        let remaining = self.remaining(project, now).await?;
        let (failing, failing_total) = self.failing(project, now).await?;
        let due = remaining.days > 0 || self.next(project, now).await?.is_some();
        Ok(HistoryState {
            days_wanted: self.days(),
            days_done: days.len() as u32,
            days_final: final_days as u32,
            first: ends.map(|(first, _)| first),
            last: ends.map(|(_, last)| last),
            calls_left: meter.left(),
            expected_end: self.expected_end(project, remaining, limits, now).await?,
            waiting: if due { self.waiting(project, limits, now) } else { None },
            marked: self.store.marked_days(project, MOST_MARKED).await?,
            marked_total: self.store.marked_days_total(project).await?,
            failing,
            failing_total,
        })
    }

    /// The newest days that failed since their last success, and how many there are.
    async fn failing(
        &self,
        project: &ProjectId,
        now: Timestamp,
    ) -> Result<(Vec<FailingDay>, u32), StoreError> {
        let failing = self.store.failing_days(project).await?;
        if failing.is_empty() {
            return Ok((Vec::new(), 0));
        }
        let total = failing.len() as u32;
        let requested = self.store.requested_days(project).await?;
        let mut shown = Vec::new();
        for failed in failing.into_iter().take(MOST_MARKED as usize) {
            let is_tried =
                requested.contains(&failed.day) || self.is_due_again(project, failed.day, now).await?;
            let next_try_at = if backoff::is_paused(&failed, now) { failed.next_try_at } else { now };
            shown.push(FailingDay {
                day: failed.day,
                attempts: failed.failures,
                cause: failed.cause,
                next_try_at: is_tried.then_some(next_try_at),
            });
        }
        Ok((shown, total))
    }

    /// Whether a day is fetched without a request.
    async fn is_due_again(&self, project: &ProjectId, day: Day, now: Timestamp) -> Result<bool, StoreError> {
        let before = self.before_window(now);
        if !self.window(now).contains(day) && !before.is_some_and(|before| before.contains(day)) {
            return Ok(false);
        }
        let is_recent = self.window(now).contains(day);
        let stored = self.store.fetched_days(project, DayRange::ending(day, 1)).await?;
        // A day before the window is fetched once, and again only while it may be empty by mistake.
        Ok(stored.first().is_none_or(|stored| {
            (is_recent || stored.empty.days > 0) && finality::due_at(stored, now, Duration::ZERO).is_some()
        }))
    }

    /// The requested days of a range, and whether each is stored.
    async fn requested_in(
        &self,
        project: &ProjectId,
        range: DayRange,
    ) -> Result<Vec<(Day, bool)>, StoreError> {
        let mut requested = self.store.requested_days(project).await?;
        requested.retain(|day| range.contains(*day));
        if requested.is_empty() {
            return Ok(Vec::new());
        }
        let stored: HashSet<Day> =
            self.store.fetched_days(project, range).await?.into_iter().map(|day| day.day).collect();
        Ok(requested.into_iter().map(|day| (day, stored.contains(&day))).collect())
    }

    /// The stored days of a range, and what fetching them again costs.
    pub async fn stored(&self, project: &ProjectId, range: DayRange) -> Result<StoredDays, AppError> {
        let none = StoredDays { days: 0, calls: 0, requested: 0 };
        let Some(range) = self.fetchable(range, self.clock.now()) else { return Ok(none) };
        let Extent { days, calls } = self.store.history_extent(project, range, PageLimit::MAX).await?;
        let requested = self.requested_in(project, range).await?;
        let requested = requested.into_iter().filter(|(_, is_stored)| *is_stored).count() as u32;
        Ok(StoredDays { days, calls, requested })
    }

    /// The missing days of a range, without days in the future or outside of the retention.
    pub async fn missing(&self, project: &ProjectId, range: DayRange) -> Result<Missing, AppError> {
        let now = self.clock.now();
        let retained_from = self.retained_from(range);
        let none = Missing { days: 0, calls: 0, requested: 0, scheduled: 0, retained_from };
        let Some(range) = self.fetchable(range, now) else { return Ok(none) };
        let days = self.days_missing(project, range).await?;
        if days == 0 {
            return Ok(none);
        }
        let calls = u32::try_from(self.calls_of(project, days).await?).unwrap_or(u32::MAX);
        let requested = self.requested_in(project, range).await?;
        let requested = requested.into_iter().filter(|(_, is_stored)| !is_stored).count() as u32;
        let scheduled = match DayRange::spanning(range.from().max(self.first_synced(now)), range.to()) {
            Some(part) if part == range => days,
            Some(part) => self.days_missing(project, part).await?,
            None => 0,
        };
        Ok(Missing { days, calls, requested, scheduled, retained_from })
    }

    /// The first day that is fetched without a request.
    fn first_synced(&self, now: Timestamp) -> Day {
        self.before_window(now).unwrap_or(self.window(now)).from()
    }

    /// Since when the platform counts views, as far as the stored days show it.
    pub async fn counted_since(&self, project: &ProjectId) -> Result<CountedSince, AppError> {
        let Some(first) = self.store.first_day_with_views(project).await? else {
            return Ok(CountedSince::Unknown);
        };
        let before = DayRange::ending(first.plus_days(-1), DAYS_BEFORE);
        let stored = self.store.fetched_days(project, before).await?;
        let empty =
            stored.iter().zip(1..).take_while(|(day, ago): &(_, i64)| is_empty(day, first.plus_days(-ago)));
        Ok(CountedSince::of(first, empty.count() as u32))
    }

    /// The error for a range whose missing days cannot all be fetched, because it begins before the retained days.
    pub fn not_fetchable(&self, range: DayRange, error: AppError) -> AppError {
        match self.retained_from(range) {
            Some(first) if error.code == ErrorCode::NotInHistory => AppError::new(
                ErrorCode::NotInHistory,
                format!(
                    "Days before {} are no longer in the daily history. Choose later days.",
                    first.long()
                ),
            ),
            _ => error,
        }
    }

    /// The first day that is stored, if the range begins before it.
    fn retained_from(&self, range: DayRange) -> Option<Day> {
        let first = retention::first_day(self.retained_days(), self.clock.now())?;
        (range.from() < first).then_some(first)
    }

    /// Requests that days of a range are fetched first.
    pub async fn request_days(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        range: DayRange,
        wanted: Wanted,
    ) -> Result<HistoryState, AppError> {
        let now = self.clock.now();
        if let Some(range) = self.fetchable(range, now) {
            let requested = self.store.requested_days(project).await?;
            let stored: HashSet<Day> =
                self.store.fetched_days(project, range).await?.into_iter().map(|day| day.day).collect();
            let days = (0..range.days()).map(|ago| range.to().plus_days(-ago));
            let days: Vec<Day> =
                days.filter(|day| stored.contains(day) == (wanted == Wanted::Stored)).collect();
            let count = days.len();
            if count + requested.iter().filter(|day| !range.contains(**day)).count()
                > REQUESTED_DAYS.most() as usize
            {
                return Err(AppError::bad_input(format!(
                    "At most {} days can be requested at once, and these are {count} days. Choose a shorter range, or wait.",
                    REQUESTED_DAYS.most()
                )));
            }
            self.store.add_requested_days(by, project, &days).await?;
            self.days_requested.notify_one();
        }
        self.state(project).await
    }

    /// The part of a range that is within the retention and not in the future.
    fn fetchable(&self, range: DayRange, now: Timestamp) -> Option<DayRange> {
        let first = retention::first_day(self.retained_days(), now).unwrap_or(range.from());
        DayRange::spanning(range.from().max(first), range.to().min(Day::of(now)))
    }

    /// The days still to be fetched for the first time: in the window, and requested ones before it.
    async fn remaining(&self, project: &ProjectId, now: Timestamp) -> Result<Remaining, StoreError> {
        let window = self.window(now);
        let requested = self.store.requested_days(project).await?;
        let beyond = requested.into_iter().filter(|day| *day < window.from()).count() as u32;
        let days = self.days_missing(project, window).await?.saturating_add(beyond);
        Ok(Remaining { days, calls: self.calls_of(project, days).await? })
    }

    async fn days_missing(&self, project: &ProjectId, range: DayRange) -> Result<u32, StoreError> {
        let Extent { days: here, .. } = self.store.history_extent(project, range, PageLimit::MAX).await?;
        Ok(u32::try_from(range.days()).unwrap_or(u32::MAX).saturating_sub(here))
    }

    /// The calls that fetching `days` days takes, if they are like the stored ones.
    async fn calls_of(&self, project: &ProjectId, days: u32) -> Result<u64, StoreError> {
        let ends = self.store.history_ends(project).await?;
        let each = match ends.and_then(|(first, last)| DayRange::spanning(first, last)) {
            Some(known) => {
                let known = self.store.history_extent(project, known, PageLimit::MAX).await?;
                known.calls.div_ceil(u64::from(known.days).max(1))
            }
            None => self
                .store
                .partial_day(project)
                .await?
                .map_or(1, |partial_day| u64::from(partial_day.pages) + 1),
        };
        Ok(each.saturating_mul(days.into()))
    }

    /// When all days will have been fetched once. Projects alternate, so each other project makes at most as many calls
    /// until then as this one.
    async fn expected_end(
        &self,
        project: &ProjectId,
        remaining: Remaining,
        limits: CallLimits,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let meter = limits.meter;
        if remaining.days == 0 || meter.limit == 0 {
            return Ok(None);
        }
        let mut calls = remaining.calls;
        for other in
            self.settings.current().projects.iter().map(|other| &other.id).filter(|other| *other != project)
        {
            calls = calls.saturating_add(self.remaining(other, now).await?.calls.min(remaining.calls));
        }
        let at_once = calls.min(meter.left().into());
        let waits = (calls - at_once).saturating_mul(3_600) / u64::from(meter.limit);
        let seconds = waits.saturating_add(at_once * MILLIS_OF_A_CALL / 1_000);
        let begin = self.resumes_at(project, limits, now).unwrap_or(now);
        Ok(Some(begin.plus_seconds(i64::try_from(seconds).unwrap_or(i64::MAX / 1000))))
    }

    /// When calls are possible again; `None` if they are now.
    fn resumes_at(&self, project: &ProjectId, limits: CallLimits, now: Timestamp) -> Option<Timestamp> {
        let backoff = self.backoff().of(project, now).map(|backoff| backoff.until);
        [limits.meter.next_fits_at, backoff, limits.circuit_open_until].into_iter().flatten().max()
    }

    /// The reason why nothing is being fetched now.
    fn waiting(&self, project: &ProjectId, limits: CallLimits, now: Timestamp) -> Option<String> {
        let meter = limits.meter;
        if meter.limit == 0 {
            return Some(
                "All calls are reserved for people, so none are left for the history. An administrator can lower DOCKET_ANALYTICS_RESERVE."
                    .to_owned(),
            );
        }
        let backoff = self.backoff().of(project, now).map(|backoff| backoff.cause.label());
        let why = match (meter.next_fits_at, backoff) {
            (Some(_), _) if meter.used < meter.limit => "The platform asked Docket to wait",
            (Some(_), _) => "The hourly calls for the history are used up",
            (None, Some(why)) => why,
            (None, None) if limits.circuit_open_until.is_some() => "The platform keeps failing",
            (None, None) => return None,
        };
        let at = self.resumes_at(project, limits, now)?.to_datetime();
        Some(format!("{why}. The next try is at {:02}:{:02} UTC.", at.hour(), at.minute()))
    }
}

/// Whether this is `day`, finally without views.
fn is_empty(stored: &FetchedDay, day: Day) -> bool {
    stored.day == day && stored.totals.total == 0 && stored.mark.is_none() && stored.final_at.is_some()
}
