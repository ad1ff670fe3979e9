#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use super::*;
use crate::model::views::ViewCounts;

const DAY: &str = "2026-11-10";

fn at(text: &str) -> Timestamp {
    text.parse().unwrap()
}

fn views(total: u64) -> ViewCounts {
    ViewCounts { human: total, ai: 0, total }
}

/// A reading of the day, all the views of which tell it from others.
fn read(begun_at: &str, total: u64) -> NewReading {
    let (day, begun_at) = (DAY.parse().unwrap(), at(begun_at));
    NewReading { day, begun_at, totals: views(total), rows: total, digest: total.to_string(), even: true }
}

/// The day after these readings, each written an instant after it began.
fn after(readings: &[NewReading]) -> ReadDay {
    let mut day = None;
    for new in readings.iter().cloned() {
        let Verdict::Take { agreed, settled_at, mark } = judge(day.as_ref(), &new, new.begun_at) else {
            continue;
        };
        let NewReading { day: of, begun_at: read_at, totals, rows, digest, .. } = new;
        day = Some(ReadDay { day: of, totals, rows, digest, read_at, agreed, settled_at, mark });
    }
    day.unwrap()
}

fn due(day: &ReadDay) -> Option<String> {
    due_at(day, day.read_at, Duration::ZERO).map(|due| due.to_string())
}

#[test]
fn today_is_read_again_every_hour_and_once_more_when_it_is_over() {
    let morning = after(&[read("2026-11-10T09:00:00Z", 1), read("2026-11-10T10:00:00Z", 1)]);
    assert_eq!((morning.agreed, morning.settled_at), (0, None), "part of a day agrees with nothing");
    assert_eq!(due(&morning).as_deref(), Some("2026-11-10T11:00:00Z"));
    let night = after(&[read("2026-11-10T23:40:00Z", 1)]);
    assert_eq!(due(&night).as_deref(), Some("2026-11-11T00:00:00Z"));
}

#[test]
fn a_day_settles_when_two_readings_after_its_end_agree() {
    let first = [read("2026-11-10T23:00:00Z", 5), read("2026-11-11T00:00:00Z", 5)];
    let day = after(&first);
    assert_eq!((day.agreed, day.settled_at), (1, None));
    assert_eq!(due(&day).as_deref(), Some("2026-11-11T06:00:00Z"));
    let [_, over] = first;
    let day = after(&[over.clone(), read("2026-11-11T06:00:00Z", 5)]);
    assert_eq!(day.settled_at, Some(at("2026-11-11T06:00:00Z")));
    assert_eq!(due(&day), None);
    let day = after(&[over.clone(), read("2026-11-11T06:00:00Z", 6), read("2026-11-11T12:00:00Z", 5)]);
    assert_eq!((day.agreed, day.settled_at), (1, None), "the last two differ");
    let day = after(&[over, read("2026-11-11T00:59:59Z", 5)]);
    assert_eq!((day.agreed, day.settled_at), (1, None), "less than an hour apart");
}

#[test]
fn a_reading_that_began_before_midnight_is_one_of_part_of_a_day() {
    let mut across = read("2026-11-10T23:59:59Z", 5);
    let verdict = judge(None, &across, at("2026-11-11T00:00:10Z"));
    assert_eq!(verdict, Verdict::Take { agreed: 0, settled_at: None, mark: None });
    across.begun_at = at("2026-11-11T00:00:00Z");
    let verdict = judge(None, &across, at("2026-11-11T00:00:10Z"));
    assert_eq!(verdict, Verdict::Take { agreed: 1, settled_at: None, mark: None });
}

#[test]
fn a_day_more_than_three_days_old_settles_with_its_next_reading() {
    assert_eq!(after(&[read("2026-11-13T23:59:59Z", 5)]).settled_at, None);
    let old = at("2026-11-14T00:00:00Z");
    assert_eq!(after(&[read("2026-11-14T00:00:00Z", 5)]).settled_at, Some(old));
    let differed = [read("2026-11-13T18:00:00Z", 4), read("2026-11-14T00:00:00Z", 5)];
    assert_eq!(after(&differed).settled_at, Some(old));
}

#[test]
fn a_day_that_does_not_add_up_is_marked_and_read_twice_at_most_once_it_is_old() {
    let uneven = |begun_at, total| NewReading { even: false, ..read(begun_at, total) };
    let day = after(&[uneven("2026-11-14T00:00:00Z", 5)]);
    assert_eq!((day.mark, day.settled_at), (Some(Mark::Uneven), None));
    assert_eq!(due(&day).as_deref(), Some("2026-11-14T06:00:00Z"));
    let day = after(&[uneven("2026-11-14T00:00:00Z", 5), uneven("2026-11-14T06:00:00Z", 6)]);
    assert_eq!((day.mark, day.settled_at), (Some(Mark::Uneven), Some(at("2026-11-14T06:00:00Z"))));
    let day = after(&[uneven("2026-11-14T00:00:00Z", 5), read("2026-11-14T06:00:00Z", 6)]);
    assert_eq!((day.mark, day.settled_at), (None, Some(at("2026-11-14T06:00:00Z"))));
}

#[test]
fn a_settled_day_that_differs_is_taken_anew_and_marked_unless_it_was_forgotten() {
    let settled = read("2026-11-14T00:00:00Z", 5);
    let same = after(&[settled.clone(), read("2026-11-21T00:00:00Z", 5)]);
    assert_eq!((same.mark, same.settled_at), (None, Some(settled.begun_at)));
    assert_eq!(same.read_at, at("2026-11-21T00:00:00Z"));
    let recounted = after(&[settled.clone(), read("2026-11-21T00:00:00Z", 7)]);
    assert_eq!((recounted.mark, recounted.totals), (Some(Mark::Recounted), views(7)));
    assert_eq!(due(&recounted), None);
    let forgotten = after(&[settled.clone(), read("2026-11-21T00:00:00Z", 0)]);
    assert_eq!((forgotten.mark, forgotten.totals), (None, views(5)));
    let again = after(&[settled, read("2026-11-21T00:00:00Z", 7), read("2026-12-21T00:00:00Z", 7)]);
    assert_eq!(again.mark, Some(Mark::Recounted), "a mark stays");
}

#[test]
fn every_week_the_settled_day_that_was_not_looked_at_for_longest_is_checked() {
    let day = |day: &str, read_at: &str| ReadDay {
        day: day.parse().unwrap(),
        read_at: at(read_at),
        settled_at: Some(at("2026-11-14T00:00:00Z")),
        ..after(&[read("2026-11-14T00:00:00Z", 5)])
    };
    let unsettled = ReadDay { settled_at: None, ..day("2026-11-13", "2026-11-13T12:00:00Z") };
    assert_eq!(to_check(&[], None, at("2026-12-01T00:00:00Z")), None);
    assert_eq!(to_check(std::slice::from_ref(&unsettled), None, at("2026-12-01T00:00:00Z")), None);
    let mut days =
        [unsettled, day("2026-11-10", "2026-11-14T00:00:00Z"), day("2026-11-09", "2026-11-14T00:00:00Z")];
    assert_eq!(to_check(&days, None, at("2026-11-20T23:59:59Z")), None);
    assert_eq!(to_check(&days, None, at("2026-11-21T00:00:00Z")), "2026-11-09".parse().ok());
    days[2].read_at = at("2026-11-21T00:00:00Z");
    let checked = Some(days[2].read_at);
    assert_eq!(to_check(&days, checked, at("2026-11-27T23:59:59Z")), None);
    assert_eq!(to_check(&days, checked, at("2026-11-28T00:00:00Z")), "2026-11-10".parse().ok());
}

#[test]
fn what_a_clock_far_ahead_has_settled_is_read_again_and_a_small_step_back_changes_nothing() {
    let ahead = after(&[read("2027-11-10T00:00:00Z", 0)]);
    assert!(ahead.settled_at.is_some());
    let now = at("2026-11-10T12:00:00Z");
    assert_eq!(due_at(&ahead, now, Duration::ZERO), Some(now));
    assert_eq!(
        judge(Some(&ahead), &read("2026-11-10T12:00:00Z", 0), now),
        Verdict::Take { agreed: 0, settled_at: None, mark: None }
    );
    let settled = after(&[read("2026-11-14T00:00:00Z", 5)]);
    assert_eq!(due_at(&settled, at("2026-11-13T00:00:00Z"), Duration::ZERO), None);
}

#[test]
fn reading_again_leaves_half_of_the_hour_to_days_that_were_never_read() {
    // 20,000 pages: 80 calls each for today and three days before it.
    let pace = pace(80, 1, 70);
    assert!(4 * 80 * 3_600 / pace.as_secs() <= 35, "{pace:?}");
    assert!(super::pace(3, 1, 70) < AGAIN_TODAY, "an ordinary site is read as often as can be");
    let day = after(&[read("2026-11-10T01:00:00Z", 5)]);
    let due = due_at(&day, day.read_at, pace).unwrap();
    assert_eq!(due, day.read_at.plus_seconds(pace.as_secs() as i64));
}
