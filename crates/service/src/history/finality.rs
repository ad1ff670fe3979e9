//! When a day is fetched again, and when it is final. Pure. All days are UTC days.
//!
//! Today is fetched every hour. After its end it is fetched at once, then every six hours. It is final when two fetches
//! at least an hour apart agree. A day more than three days old is final with its next fetch, if its rows add up. Every
//! week, one final day is fetched again as a check.
//!
//! A response without views may be a fault of the upstream. It replaces views, or makes a day final, only after the
//! third day on which it is repeated.

use std::time::Duration;

use model::day::Day;
use model::history::{Mark, RECENT_DAYS, is_recent};
use model::time::Timestamp;
use store::page_views::history::{DayDecision, EmptyFetches, FetchedDay, NewFetch};

const AGAIN_TODAY: Duration = Duration::from_secs(3_600);
const AGAIN_RECENT: Duration = Duration::from_secs(6 * 3_600);
const AGAIN_EMPTY: Duration = Duration::from_secs(24 * 3_600);
/// Two fetches closer than this count as one.
const APART_SECONDS: i64 = 3_600;
/// The different days on which a day was empty until it counts as empty.
const EMPTY_DAYS: u32 = 3;
const BETWEEN_CHECKS_SECONDS: i64 = 7 * DAY_SECONDS;
/// A fetch further in the future than this was recorded by a wrong clock.
const AHEAD_SECONDS: i64 = DAY_SECONDS;
const DAY_SECONDS: i64 = 86_400;

/// Decides what to do with a fetched day, given the stored one.
pub(super) fn decide(before: Option<&FetchedDay>, new: &NewFetch, now: Timestamp) -> DayDecision {
    let had_views = before.is_some_and(|before| before.totals.total > 0 && before.rows > 0);
    // The times of a wrong clock do not count; the views do.
    let before = before.filter(|before| !is_ahead(before, now));
    let mark = (!new.even).then_some(Mark::Uneven);
    let empty = empty_fetches(before, new);
    if let Some(FetchedDay { digest, equal_fetches, final_at: Some(at), mark: old_mark, .. }) = before {
        return if *digest == new.digest {
            DayDecision::Replace {
                equal_fetches: equal_fetches.saturating_add(1),
                final_at: Some(*at),
                mark: *old_mark,
                empty,
            }
        } else if is_empty(new) && had_views {
            // An upstream that deletes old days has not recounted them to zero.
            DayDecision::Keep { final_at: Some(*at), mark: *old_mark, empty }
        } else {
            DayDecision::Replace {
                equal_fetches: 1,
                final_at: Some(*at),
                mark: mark.or(Some(Mark::Recounted)),
                empty,
            }
        };
    }
    let is_confirmed = empty.days >= EMPTY_DAYS;
    if is_empty(new) && had_views && !is_confirmed {
        return DayDecision::Keep { final_at: None, mark: Some(Mark::Empty), empty };
    }
    let equal_fetches = match before.filter(|before| before.digest == new.digest) {
        _ if !is_over(new.day, new.begun_at) => 0,
        Some(same)
            if same.equal_fetches > 0 && new.begun_at.seconds_since(same.fetched_at) >= APART_SECONDS =>
        {
            same.equal_fetches.saturating_add(1)
        }
        _ => 1,
    };
    let old = |at| !is_recent(new.day, Day::of(at));
    let old_enough = old(new.begun_at) && (new.even || before.is_some_and(|before| old(before.fetched_at)));
    let is_final = match is_empty(new) {
        true => is_confirmed,
        false => equal_fetches >= 2 || old_enough,
    };
    let emptied = before.and_then(|before| before.mark).filter(|mark| *mark == Mark::Emptied);
    let mark = match is_empty(new) && had_views {
        true => Some(Mark::Emptied),
        false => mark.or(emptied.filter(|_| is_empty(new))),
    };
    DayDecision::Replace { equal_fetches, final_at: is_final.then_some(now), mark, empty }
}

/// Whether a response has no views: no rows, or nothing but zeros.
fn is_empty(new: &NewFetch) -> bool {
    new.rows == 0 || (new.totals.total == 0 && new.sums.total == 0)
}

/// Counts each UTC day once. The first response with views ends the count.
fn empty_fetches(before: Option<&FetchedDay>, new: &NewFetch) -> EmptyFetches {
    if !is_empty(new) || !is_over(new.day, new.begun_at) {
        return EmptyFetches::default();
    }
    let on = Day::of(new.begun_at);
    let EmptyFetches { days, last } = before.map(|before| before.empty).unwrap_or_default();
    EmptyFetches { days: days.saturating_add(u32::from(last != Some(on))), last: Some(on) }
}

/// When a stored day is fetched again; `None` once it is final. `pace`: the shortest interval.
pub(super) fn due_at(day: &FetchedDay, now: Timestamp, pace: Duration) -> Option<Timestamp> {
    if is_ahead(day, now) {
        return Some(now);
    }
    if day.final_at.is_some() {
        return None;
    }
    let over = is_over(day.day, day.fetched_at);
    let is_old = !is_recent(day.day, Day::of(day.fetched_at));
    let again = match (over, is_old && day.empty.days > 0) {
        (false, _) => AGAIN_TODAY,
        // Another response without views counts on another day only.
        (true, true) => AGAIN_EMPTY,
        (true, false) => AGAIN_RECENT,
    };
    let pause = pace.max(again);
    let due = day.fetched_at.plus_seconds(i64::try_from(pause.as_secs()).unwrap_or(i64::MAX));
    Some(if over { due } else { due.min(end_of(day.day)) })
}

/// The shortest interval between two fetches of a day of `calls` calls, if `projects` of them share `per_hour`.
/// Refetching the four days that may change then uses at most half of the hourly calls.
pub(super) fn pace(calls: u32, projects: usize, per_hour: u32) -> Duration {
    let calls = u64::from(calls).saturating_mul(projects as u64).saturating_mul(2 * (RECENT_DAYS as u64 + 1));
    Duration::from_secs(calls.saturating_mul(3_600) / u64::from(per_hour.max(1)))
}

/// The final day of the window that is due for the weekly check, if any.
pub(super) fn to_check(days: &[FetchedDay], checked: Option<Timestamp>, now: Timestamp) -> Option<Day> {
    let final_days = || {
        let days = days.iter().filter(|day| !is_ahead(day, now));
        days.filter_map(|day| Some((day, day.final_at?)))
    };
    let last = checked.or_else(|| final_days().map(|(_, at)| at).min())?;
    let oldest = final_days().map(|(day, _)| day).min_by_key(|day| (day.fetched_at, day.day))?;
    (now.seconds_since(last) >= BETWEEN_CHECKS_SECONDS).then_some(oldest.day)
}

/// Whether a day was fetched before a large clock rollback. Its timestamps are meaningless then.
pub(super) fn is_ahead(day: &FetchedDay, now: Timestamp) -> bool {
    day.fetched_at > latest(now)
}

/// The latest plausible time of a fetch.
pub(super) fn latest(now: Timestamp) -> Timestamp {
    now.plus_seconds(AHEAD_SECONDS)
}

fn is_over(day: Day, at: Timestamp) -> bool {
    Day::of(at) > day
}

/// The first moment after a day.
fn end_of(day: Day) -> Timestamp {
    let epoch = Day::of(Timestamp::from_millis(0));
    Timestamp::from_millis(0).plus_seconds((day.days_since(epoch) + 1).saturating_mul(DAY_SECONDS))
}

#[cfg(test)]
#[path = "finality/tests.rs"]
mod tests;
