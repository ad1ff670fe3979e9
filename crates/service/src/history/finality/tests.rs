#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use proptest::prelude::*;

use super::*;
use model::page_views::ViewCounts;

const DAY: &str = "2026-11-10";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn views(total: u64) -> ViewCounts {
    ViewCounts { human: total, ai: 0, total }
}

/// A fetch of the day; different totals give different digests.
fn fetched(begun_at: &str, total: u64) -> NewFetch {
    let (day, begun_at) = (DAY.parse().unwrap(), at(begun_at));
    let (totals, digest) = (views(total), total.to_string());
    NewFetch { day, begun_at, totals, sums: totals, rows: total, digest, even: true }
}

/// The day after these fetches, each written when it began.
fn after(fetches: &[NewFetch]) -> FetchedDay {
    let mut day = None;
    for new in fetches.iter().cloned() {
        day = written(day, new);
    }
    day.unwrap()
}

/// The day after one more fetch, written when it began.
fn written(before: Option<FetchedDay>, new: NewFetch) -> Option<FetchedDay> {
    match decide(before.as_ref(), &new, new.begun_at) {
        DayDecision::Keep { final_at, mark, empty } => {
            before.map(|before| FetchedDay { fetched_at: new.begun_at, final_at, mark, empty, ..before })
        }
        DayDecision::Replace { equal_fetches, final_at, mark, empty } => {
            let NewFetch { day, begun_at: fetched_at, totals, rows, digest, .. } = new;
            Some(FetchedDay { day, totals, rows, digest, fetched_at, equal_fetches, final_at, mark, empty })
        }
    }
}

fn due(day: &FetchedDay) -> Option<String> {
    due_at(day, day.fetched_at, Duration::ZERO).map(|due| due.to_string())
}

#[test]
fn today_is_refetched_hourly_and_after_its_end() {
    let morning = after(&[fetched("2026-11-10T09:00:00Z", 1), fetched("2026-11-10T10:00:00Z", 1)]);
    assert_eq!((morning.equal_fetches, morning.final_at), (0, None), "part of a day agrees with nothing");
    assert_eq!(due(&morning).as_deref(), Some("2026-11-10T11:00:00Z"));
    let night = after(&[fetched("2026-11-10T23:40:00Z", 1)]);
    assert_eq!(due(&night).as_deref(), Some("2026-11-11T00:00:00Z"));
}

#[test]
fn day_is_final_when_two_fetches_after_its_end_agree() {
    let first = [fetched("2026-11-10T23:00:00Z", 5), fetched("2026-11-11T00:00:00Z", 5)];
    let day = after(&first);
    assert_eq!((day.equal_fetches, day.final_at), (1, None));
    assert_eq!(due(&day).as_deref(), Some("2026-11-11T06:00:00Z"));
    let [_, over] = first;
    let day = after(&[over.clone(), fetched("2026-11-11T06:00:00Z", 5)]);
    assert_eq!(day.final_at, Some(at("2026-11-11T06:00:00Z")));
    assert_eq!(due(&day), None);
    let day = after(&[over.clone(), fetched("2026-11-11T06:00:00Z", 6), fetched("2026-11-11T12:00:00Z", 5)]);
    assert_eq!((day.equal_fetches, day.final_at), (1, None), "the last two differ");
    let day = after(&[over, fetched("2026-11-11T00:59:59Z", 5)]);
    assert_eq!((day.equal_fetches, day.final_at), (1, None), "less than an hour apart");
}

#[test]
fn fetch_begun_before_midnight_is_partial() {
    let mut across = fetched("2026-11-10T23:59:59Z", 5);
    let decision = decide(None, &across, at("2026-11-11T00:00:10Z"));
    assert_eq!(
        decision,
        DayDecision::Replace { equal_fetches: 0, final_at: None, mark: None, empty: EmptyFetches::default() }
    );
    across.begun_at = at("2026-11-11T00:00:00Z");
    let decision = decide(None, &across, at("2026-11-11T00:00:10Z"));
    assert_eq!(
        decision,
        DayDecision::Replace { equal_fetches: 1, final_at: None, mark: None, empty: EmptyFetches::default() }
    );
}

#[test]
fn day_older_than_three_days_is_final_after_one_fetch() {
    assert_eq!(after(&[fetched("2026-11-13T23:59:59Z", 5)]).final_at, None);
    let old = at("2026-11-14T00:00:00Z");
    assert_eq!(after(&[fetched("2026-11-14T00:00:00Z", 5)]).final_at, Some(old));
    let differed = [fetched("2026-11-13T18:00:00Z", 4), fetched("2026-11-14T00:00:00Z", 5)];
    assert_eq!(after(&differed).final_at, Some(old));
}

#[test]
fn old_day_with_wrong_sums_is_marked_and_refetched_once() {
    let uneven = |begun_at, total| NewFetch { even: false, ..fetched(begun_at, total) };
    let day = after(&[uneven("2026-11-14T00:00:00Z", 5)]);
    assert_eq!((day.mark, day.final_at), (Some(Mark::Uneven), None));
    assert_eq!(due(&day).as_deref(), Some("2026-11-14T06:00:00Z"));
    let day = after(&[uneven("2026-11-14T00:00:00Z", 5), uneven("2026-11-14T06:00:00Z", 6)]);
    assert_eq!((day.mark, day.final_at), (Some(Mark::Uneven), Some(at("2026-11-14T06:00:00Z"))));
    let day = after(&[uneven("2026-11-14T00:00:00Z", 5), fetched("2026-11-14T06:00:00Z", 6)]);
    assert_eq!((day.mark, day.final_at), (None, Some(at("2026-11-14T06:00:00Z"))));
}

#[test]
fn changed_final_day_is_replaced_and_marked_unless_emptied() {
    let final_day = fetched("2026-11-14T00:00:00Z", 5);
    let same = after(&[final_day.clone(), fetched("2026-11-21T00:00:00Z", 5)]);
    assert_eq!((same.mark, same.final_at), (None, Some(final_day.begun_at)));
    assert_eq!(same.fetched_at, at("2026-11-21T00:00:00Z"));
    let recounted = after(&[final_day.clone(), fetched("2026-11-21T00:00:00Z", 7)]);
    assert_eq!((recounted.mark, recounted.totals), (Some(Mark::Recounted), views(7)));
    assert_eq!(due(&recounted), None);
    let forgotten = after(&[final_day.clone(), fetched("2026-11-21T00:00:00Z", 0)]);
    assert_eq!((forgotten.mark, forgotten.totals), (None, views(5)));
    let again = after(&[final_day, fetched("2026-11-21T00:00:00Z", 7), fetched("2026-12-21T00:00:00Z", 7)]);
    assert_eq!(again.mark, Some(Mark::Recounted), "a mark stays");
}

#[test]
fn weekly_check_refetches_the_least_recently_fetched_final_day() {
    let day = |day: &str, fetched_at: &str| FetchedDay {
        day: day.parse().unwrap(),
        fetched_at: at(fetched_at),
        final_at: Some(at("2026-11-14T00:00:00Z")),
        ..after(&[fetched("2026-11-14T00:00:00Z", 5)])
    };
    let not_final = FetchedDay { final_at: None, ..day("2026-11-13", "2026-11-13T12:00:00Z") };
    assert_eq!(to_check(&[], None, at("2026-12-01T00:00:00Z")), None);
    assert_eq!(to_check(std::slice::from_ref(&not_final), None, at("2026-12-01T00:00:00Z")), None);
    let mut days =
        [not_final, day("2026-11-10", "2026-11-14T00:00:00Z"), day("2026-11-09", "2026-11-14T00:00:00Z")];
    assert_eq!(to_check(&days, None, at("2026-11-20T23:59:59Z")), None);
    assert_eq!(to_check(&days, None, at("2026-11-21T00:00:00Z")), "2026-11-09".parse().ok());
    days[2].fetched_at = at("2026-11-21T00:00:00Z");
    let checked = Some(days[2].fetched_at);
    assert_eq!(to_check(&days, checked, at("2026-11-27T23:59:59Z")), None);
    assert_eq!(to_check(&days, checked, at("2026-11-28T00:00:00Z")), "2026-11-10".parse().ok());
}

#[test]
fn day_finalized_by_a_wrong_clock_is_refetched() {
    let ahead = after(&[fetched("2027-11-10T00:00:00Z", 5)]);
    assert!(ahead.final_at.is_some());
    let now = at("2026-11-10T12:00:00Z");
    assert_eq!(due_at(&ahead, now, Duration::ZERO), Some(now));
    assert_eq!(
        decide(Some(&ahead), &fetched("2026-11-10T12:00:00Z", 3), now),
        DayDecision::Replace { equal_fetches: 0, final_at: None, mark: None, empty: EmptyFetches::default() }
    );
    let final_day = after(&[fetched("2026-11-14T00:00:00Z", 5)]);
    assert_eq!(due_at(&final_day, at("2026-11-13T00:00:00Z"), Duration::ZERO), None);
}

#[test]
fn refetching_uses_at_most_half_of_the_hourly_budget() {
    // 20,000 pages: 80 calls each for today and the three days before it.
    let pace = pace(80, 1, 70);
    assert!(4 * 80 * 3_600 / pace.as_secs() <= 35, "{pace:?}");
    assert!(super::pace(3, 1, 70) < AGAIN_TODAY, "an ordinary site is read as often as can be");
    let day = after(&[fetched("2026-11-10T01:00:00Z", 5)]);
    let due = due_at(&day, day.fetched_at, pace).unwrap();
    assert_eq!(due, day.fetched_at.plus_seconds(pace.as_secs() as i64));
}

#[test]
fn empty_responses_replace_views_on_the_third_day() {
    let mut fetches = vec![fetched("2026-11-11T00:00:00Z", 5_000)];
    for (begun_at, total, mark) in [
        ("2026-11-11T06:00:00Z", 5_000, Mark::Empty),
        ("2026-11-11T12:00:00Z", 5_000, Mark::Empty),
        ("2026-11-12T00:00:00Z", 5_000, Mark::Empty),
        ("2026-11-13T00:00:00Z", 0, Mark::Emptied),
    ] {
        fetches.push(fetched(begun_at, 0));
        let day = after(&fetches);
        assert_eq!((day.totals.total, day.mark), (total, Some(mark)), "{begun_at}");
    }
    assert_eq!(after(&fetches).final_at, Some(at("2026-11-13T00:00:00Z")));
    fetches.insert(3, fetched("2026-11-11T18:00:00Z", 5_000));
    assert_eq!(after(&fetches).totals.total, 5_000, "views between them begin the count again");
}

#[test]
fn rows_of_zeros_and_a_wrong_clock_erase_no_views() {
    let day = after(&[fetched("2026-11-11T00:00:00Z", 5_000)]);
    let now = at("2026-11-11T06:00:00Z");
    let zeros = NewFetch { rows: 7, ..fetched("2026-11-11T06:00:00Z", 0) };
    assert!(matches!(decide(Some(&day), &zeros, now), DayDecision::Keep { mark: Some(Mark::Empty), .. }));
    let no_rows = NewFetch { rows: 0, even: false, ..fetched("2026-11-11T06:00:00Z", 5_000) };
    assert!(matches!(decide(Some(&day), &no_rows, now), DayDecision::Keep { .. }));
    // Totals are missing in this response, and its rows have views.
    let no_totals = NewFetch { totals: views(0), even: false, ..fetched("2026-11-11T06:00:00Z", 6_000) };
    let decision = decide(Some(&day), &no_totals, now);
    assert!(matches!(decision, DayDecision::Replace { mark: Some(Mark::Uneven), .. }), "{decision:?}");
    let ahead = after(&[fetched("2027-11-11T00:00:00Z", 5_000)]);
    let kept = decide(Some(&ahead), &fetched("2026-11-11T06:00:00Z", 0), now);
    assert!(matches!(kept, DayDecision::Keep { final_at: None, .. }), "{kept:?}");
}

#[test]
fn old_day_without_views_is_final_on_the_third_day() {
    let mut fetches = vec![fetched("2026-11-20T10:00:00Z", 0)];
    let day = after(&fetches);
    assert_eq!((day.final_at, day.mark), (None, None));
    assert_eq!(due(&day).as_deref(), Some("2026-11-21T10:00:00Z"), "once a day, not every six hours");
    fetches.push(fetched("2026-11-21T10:00:00Z", 0));
    assert_eq!(after(&fetches).final_at, None);
    fetches.push(fetched("2026-11-22T10:00:00Z", 0));
    let day = after(&fetches);
    assert_eq!((day.final_at, day.mark), (Some(at("2026-11-22T10:00:00Z")), None));
}

proptest! {
    /// Whatever the platform returns, at any times.
    #[test]
    fn views_become_zero_only_after_empty_responses_on_three_days(
        fetches in prop::collection::vec((0_i64..40, prop::bool::weighted(0.6), 1_u64..4), 1..30)
    ) {
        let (mut now, mut day, mut empty_on) = (at("2026-11-10T08:00:00Z"), None, Vec::new());
        for (hours, is_empty, total) in fetches {
            now = now.plus_seconds(hours * 3_600);
            let new = NewFetch { begun_at: now, ..fetched("2026-11-10T08:00:00Z", if is_empty { 0 } else { total }) };
            if is_empty {
                empty_on.push(Day::of(now));
                empty_on.retain(|on| *on > new.day);
                empty_on.dedup();
            } else {
                empty_on.clear();
            }
            let before: Option<FetchedDay> = day;
            let after = written(before.clone(), new).unwrap();
            let had_views = before.is_some_and(|before| before.totals.total > 0);
            if after.totals.total == 0 && (had_views || after.final_at.is_some()) {
                prop_assert!(empty_on.len() >= 3, "{empty_on:?}");
                prop_assert!(!had_views || after.mark == Some(Mark::Emptied));
            }
            if is_empty && had_views && after.totals.total > 0 && after.final_at.is_none() {
                prop_assert_eq!(after.mark, Some(Mark::Empty));
            }
            day = Some(after);
        }
    }
}
