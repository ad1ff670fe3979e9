//! Calendar days and ranges of days. All days are UTC days.

use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};
use time::{Date, Duration, Month};

use crate::time::Timestamp;

/// A calendar day in UTC; `YYYY-MM-DD` on the wire.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema), schema(value_type = String, format = Date))]
#[serde(into = "String", try_from = "String")]
pub struct Day(Date);

/// The maximum length of a range that a person or a program requests. Every range of [`DayRange::new`] observes it.
pub const RANGE_MAX_DAYS: i64 = 1_100;

/// The first day whose year has four digits.
const FIRST: Date = match Date::from_ordinal_date(0, 1) {
    Ok(first) => first,
    Err(_) => Date::MIN,
};

/// A range of days, both ends **inclusive**, never empty.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[cfg_attr(feature = "server", derive(utoipa::ToSchema))]
#[serde(try_from = "Ends")]
pub struct DayRange {
    /// The first day (UTC).
    from: Day,
    /// The last day (UTC, inclusive).
    to: Day,
}

/// A range on the wire, not yet checked.
#[derive(Deserialize)]
struct Ends {
    from: Day,
    to: Day,
}

/// The error message for an invalid day or range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InvalidDay(String);

impl Day {
    /// The UTC day that contains `at`.
    pub fn of(at: Timestamp) -> Self {
        Self(at.to_datetime().date())
    }

    /// A day that the code names.
    pub(crate) const fn known(year: i32, month: Month, day: u8) -> Self {
        match Date::from_calendar_date(year, month, day) {
            Ok(date) => Self(date),
            Err(_) => panic!("there is no such day"),
        }
    }

    /// `days` later, or earlier if negative; clamped to the years 0 to 9999.
    pub fn plus_days(self, days: i64) -> Self {
        let end = if days < 0 { FIRST } else { Date::MAX };
        Self(self.0.checked_add(Duration::days(days)).unwrap_or(end).max(FIRST))
    }

    /// The start of the day, in UTC.
    pub fn start(self) -> Timestamp {
        Timestamp::from_datetime(self.0.midnight().assume_utc())
    }

    pub fn first_of_month(self) -> Self {
        Self(self.0.replace_day(1).unwrap_or(self.0))
    }

    pub fn first_of_quarter(self) -> Self {
        let before = (u8::from(self.0.month()) - 1) % 3;
        (0..before).fold(self.first_of_month(), |first, _| first.plus_days(-1).first_of_month())
    }

    /// `Mon` to `Sun`.
    pub fn weekday(self) -> &'static str {
        ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"]
            [usize::from(self.0.weekday().number_days_from_monday())]
    }

    /// `Nov 10`, where the year is obvious.
    pub fn month_and_day(self) -> String {
        const MONTHS: [&str; 12] =
            ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
        let (_, month, day) = self.0.to_calendar_date();
        format!("{} {day}", MONTHS[usize::from(u8::from(month)) - 1])
    }

    /// `Nov 10, 2026`.
    pub fn long(self) -> String {
        format!("{}, {}", self.month_and_day(), self.0.year())
    }

    /// `Tue, Nov 10, 2026`.
    pub fn with_weekday(self) -> String {
        format!("{}, {}", self.weekday(), self.long())
    }

    /// The Monday of its week.
    pub fn monday(self) -> Self {
        self.plus_days(-i64::from(self.0.weekday().number_days_from_monday()))
    }

    /// Whole days from `earlier` to this day; negative if it is later.
    pub fn days_since(self, earlier: Self) -> i64 {
        (self.0 - earlier.0).whole_days()
    }
}

impl DayRange {
    /// Both ends inclusive; `from` after `to`, and more than [`RANGE_MAX_DAYS`] days, are refused.
    pub fn new(from: Day, to: Day) -> Result<Self, InvalidDay> {
        let range = Self::spanning(from, to)
            .ok_or_else(|| InvalidDay("Start date must be before end date.".to_owned()))?;
        if range.days() > RANGE_MAX_DAYS {
            let message = "A range has at most 1,100 days. Choose a shorter range, or several.";
            return Err(InvalidDay(message.to_owned()));
        }
        Ok(range)
    }

    /// The days between two days that Docket has computed, of any length; `None` if `from` is after `to`. Not for input.
    pub fn spanning(from: Day, to: Day) -> Option<Self> {
        (from <= to).then_some(Self { from, to })
    }

    /// Parses two inclusive days.
    pub fn parse(from: &str, to: &str) -> Result<Self, InvalidDay> {
        Self::new(from.parse()?, to.parse()?)
    }

    /// The `days` days (at least one) that end with `last`.
    pub fn ending(last: Day, days: i64) -> Self {
        Self { from: last.plus_days(1 - days.max(1)), to: last }
    }

    pub fn from(self) -> Day {
        self.from
    }

    pub fn to(self) -> Day {
        self.to
    }

    /// The number of days, at least 1.
    pub fn days(self) -> i64 {
        self.to.days_since(self.from) + 1
    }

    /// The days up to `last`; `None` if all are later.
    pub fn until(self, last: Day) -> Option<Self> {
        (self.from <= last).then(|| Self { from: self.from, to: self.to.min(last) })
    }

    pub fn contains(self, day: Day) -> bool {
        self.from <= day && day <= self.to
    }

    /// These days as the fewest ranges, the oldest first.
    pub fn of_days(days: impl IntoIterator<Item = Day>) -> Vec<Self> {
        Self::merged(days.into_iter().map(|day| Self { from: day, to: day }))
    }

    /// The days of these ranges as the fewest ranges, the oldest first.
    pub fn merged(ranges: impl IntoIterator<Item = Self>) -> Vec<Self> {
        let mut sorted: Vec<Self> = ranges.into_iter().collect();
        sorted.sort_unstable_by_key(|range| range.from);
        let mut merged: Vec<Self> = Vec::new();
        for range in sorted {
            match merged.last_mut().filter(|last| range.from.days_since(last.to) <= 1) {
                Some(last) => last.to = last.to.max(range.to),
                None => merged.push(range),
            }
        }
        merged
    }

    /// The days that are not among `there`, as the fewest ranges, the oldest first. `there` is sorted.
    pub fn without(self, there: impl IntoIterator<Item = Day>) -> Vec<Self> {
        let mut missing = Vec::new();
        let mut next = self.from;
        for day in there.into_iter().filter(|day| self.contains(*day)) {
            missing.extend((next < day).then(|| Self { from: next, to: day.plus_days(-1) }));
            next = day.plus_days(1);
        }
        missing.extend(Self::spanning(next, self.to));
        missing
    }
}

impl fmt::Display for Day {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (year, month, day) = self.0.to_calendar_date();
        write!(f, "{year:04}-{:02}-{day:02}", u8::from(month))
    }
}

impl FromStr for Day {
    type Err = InvalidDay;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        let well_formed = text.len() == 10
            && text.bytes().enumerate().all(|(at, byte)| match at {
                4 | 7 => byte == b'-',
                _ => byte.is_ascii_digit(),
            });
        well_formed
            .then(|| {
                let year = text[..4].parse().ok()?;
                let month = Month::try_from(text[5..7].parse::<u8>().ok()?).ok()?;
                Date::from_calendar_date(year, month, text[8..].parse().ok()?).ok()
            })
            .flatten()
            .map(Self)
            .ok_or_else(|| {
                let shown: String = text.chars().take(20).collect();
                InvalidDay(format!("“{shown}” is not a valid date. Use the format 2026-11-21."))
            })
    }
}

impl From<Day> for String {
    fn from(day: Day) -> Self {
        day.to_string()
    }
}

impl TryFrom<String> for Day {
    type Error = InvalidDay;

    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse()
    }
}

impl TryFrom<Ends> for DayRange {
    type Error = InvalidDay;

    fn try_from(Ends { from, to }: Ends) -> Result<Self, Self::Error> {
        Self::new(from, to)
    }
}

impl fmt::Display for InvalidDay {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_are_the_fewest_ranges() {
        let november = |of: u32| day(&format!("2026-11-{of:02}"));
        let ranges = |days: &[u32]| DayRange::of_days(days.iter().map(|of| november(*of)));
        let range = |from, to| DayRange { from: november(from), to: november(to) };
        assert_eq!(ranges(&[]), []);
        assert_eq!(ranges(&[3, 4, 5, 9, 11, 12]), [range(3, 5), range(9, 9), range(11, 12)]);
        assert_eq!(DayRange::of_days([day("2026-10-31"), november(1)]).len(), 1);
        let apart = [range(11, 12), range(3, 8), range(4, 5), range(9, 9)];
        assert_eq!(DayRange::merged(apart), [range(3, 9), range(11, 12)]);
    }

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn only_valid_days_in_iso_format_are_parsed() {
        for text in ["2026-02-30", "2026-2-3", "26-02-03", "", "2026-02-03T00:00", "２026-02-0", "2026-13-01"]
        {
            assert!(text.parse::<Day>().is_err(), "{text}");
        }
        assert_eq!(day("2024-02-29").to_string(), "2024-02-29");
    }

    #[test]
    fn day_is_formatted_with_weekday_and_month() {
        let names = |text| (day(text).weekday(), day(text).month_and_day());
        assert_eq!(names("2026-11-10"), ("Tue", "Nov 10".to_owned()));
        assert_eq!(names("2024-02-29"), ("Thu", "Feb 29".to_owned()));
        assert_eq!(names("2027-01-03"), ("Sun", "Jan 3".to_owned()));
        assert_eq!(day("2027-01-03").with_weekday(), "Sun, Jan 3, 2027");
    }

    #[test]
    fn a_week_begins_on_monday() {
        assert_eq!(day("2026-11-22").monday(), day("2026-11-16"));
        assert_eq!(day("2026-11-16").monday(), day("2026-11-16"));
        assert_eq!(day("2026-01-01").monday(), day("2025-12-29"));
    }

    #[test]
    fn a_range_counts_both_ends() {
        let range = DayRange::ending(day("2026-03-01"), 7);
        assert_eq!(range.from(), day("2026-02-23"));
        assert_eq!(range.days(), 7);
        assert!(range.contains(range.from()) && range.contains(range.to()));
    }

    #[test]
    fn range_until_a_day_ends_at_that_day() {
        let range = DayRange::ending(day("2026-03-03"), 3);
        let until = |last| range.until(day(last)).map(|range| (range.from(), range.to()));
        assert_eq!(until("2026-03-02"), Some((day("2026-03-01"), day("2026-03-02"))));
        assert_eq!(until("2026-03-04"), Some((range.from(), range.to())));
        assert_eq!(until("2026-03-01").map(|(_, to)| to), Some(day("2026-03-01")));
        assert_eq!(until("2026-02-28"), None);
    }

    #[test]
    fn a_range_has_at_most_1100_days() {
        let last = day("2026-11-21");
        assert!(DayRange::new(last.plus_days(1 - RANGE_MAX_DAYS), last).is_ok());
        let refused = DayRange::new(last.plus_days(-RANGE_MAX_DAYS), last).map_err(|error| error.to_string());
        assert!(refused.is_err_and(|message| message.contains("1,100 days")));
        assert!(DayRange::parse("0001-01-01", "9999-12-31").is_err());
        let json = |range: &str| serde_json::from_str::<DayRange>(range).map(DayRange::days).ok();
        assert_eq!(json(r#"{"from": "2026-11-20", "to": "2026-11-21"}"#), Some(2));
        assert_eq!(json(r#"{"from": "0001-01-01", "to": "2026-11-21"}"#), None);
    }

    #[test]
    fn days_of_a_range_that_are_not_there_are_ranges() {
        let range = DayRange::ending(day("2026-03-05"), 5);
        for there in 0..1 << 5 {
            let is_there = |n: i64| there & (1 << n) != 0;
            let present = (0..5).filter(|n| is_there(*n)).map(|n| range.from().plus_days(n));
            let missing = range.without(present);
            let listed: Vec<i64> = (0..5)
                .filter(|n| missing.iter().any(|part| part.contains(range.from().plus_days(*n))))
                .collect();
            assert_eq!(listed, (0..5).filter(|n| !is_there(*n)).collect::<Vec<_>>(), "{there:05b}");
            let are_apart = missing.windows(2).all(|pair| pair[0].to().plus_days(1) < pair[1].from());
            assert!(are_apart, "{missing:?}");
        }
    }

    #[test]
    fn every_computed_day_has_a_year_of_four_digits() {
        let (first, last) = (day("0000-01-01"), day("9999-12-31"));
        assert_eq!((first.plus_days(-1), first.plus_days(-9_999_999), first.monday()), (first, first, first));
        assert_eq!((last.plus_days(1), last.plus_days(9_999_999)), (last, last));
        assert_eq!(DayRange::ending(day("0000-01-03"), 28), DayRange { from: first, to: day("0000-01-03") });
        let second = day("0000-01-02");
        let rest = DayRange { from: second, to: second };
        assert_eq!(DayRange { from: first, to: second }.without([first]), [rest]);
    }

    #[test]
    fn a_range_that_ends_before_it_starts_is_refused() {
        assert!(DayRange::new(day("2026-03-02"), day("2026-03-01")).is_err());
        assert!(DayRange::new(day("2026-03-01"), day("2026-03-01")).is_ok());
    }
}
