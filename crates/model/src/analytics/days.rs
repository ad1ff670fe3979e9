//! The days of a query of page views.

use crate::ParseError;
use crate::day::{Day, DayRange, InvalidDay};
use crate::preset::Preset;

/// A range of days, and which of its ends the query names. The other ends follow the calendar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    range: DayRange,
    names_from: bool,
    names_to: bool,
}

impl Days {
    /// Both ends inclusive; by default up to `today`, and as many days as the default preset has.
    pub fn new(from: Option<Day>, to: Option<Day>, today: Day) -> Result<Self, InvalidDay> {
        let last = to.unwrap_or(today);
        let range = DayRange::new(from.unwrap_or(Preset::DEFAULT.range(last).from()), last)?;
        Ok(Self { range, names_from: from.is_some(), names_to: to.is_some() })
    }

    /// The same of texts. An empty one names no day.
    pub fn parse(from: Option<&str>, to: Option<&str>, today: Day) -> Result<Self, InvalidDay> {
        let day =
            |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::parse::<Day>).transpose();
        Self::new(day(from)?, day(to)?, today)
    }

    /// The days of a preset. A query names no day of the default one.
    pub fn of(preset: Preset, today: Day) -> Self {
        let is_named = preset != Preset::DEFAULT;
        Self { range: preset.range(today), names_from: is_named, names_to: is_named }
    }

    /// All requested days, also those in the future.
    pub fn range(self) -> DayRange {
        self.range
    }

    /// The requested days up to `today`; an error if all are later.
    pub fn until(self, today: Day) -> Result<DayRange, ParseError> {
        let range = self.range.until(today);
        range.ok_or("These days are in the future. Page views end today.".into())
    }

    /// The first day, if the query names it.
    pub fn named_from(self) -> Option<Day> {
        self.names_from.then(|| self.range.from())
    }

    /// The last day, if the query names it.
    pub fn named_to(self) -> Option<Day> {
        self.names_to.then(|| self.range.to())
    }
}

/// These days, by their names.
impl From<DayRange> for Days {
    fn from(range: DayRange) -> Self {
        Self { range, names_from: true, names_to: true }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn today() -> Day {
        "2026-11-21".parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn parse(from: Option<&str>, to: Option<&str>) -> Result<Days, InvalidDay> {
        Days::parse(from, to, today())
    }

    #[test]
    fn query_without_days_has_the_last_28() {
        let days = parse(None, Some("")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((days.range().from().to_string().as_str(), days.range().days()), ("2026-10-25", 28));
        assert_eq!(
            (days.named_from(), days.named_to(), days),
            (None, None, Days::of(Preset::DEFAULT, today()))
        );
    }

    #[test]
    fn query_names_only_the_given_ends() {
        let november = parse(Some("2026-11-01"), None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((november.range().days(), november.named_to()), (21, None));
        let earlier = parse(None, Some("2026-11-10")).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((earlier.range().days(), earlier.named_from()), (28, None));
        assert_eq!(Days::from(earlier.range()).named_from(), Some(earlier.range().from()));
    }

    #[test]
    fn days_after_today_are_left_out() {
        let until = |from, to| parse(Some(from), Some(to)).map(|days| days.until(today()));
        let Ok(Ok(range)) = until("2026-11-20", "2026-11-30") else { panic!("a range") };
        assert_eq!((range.to(), range.days()), (today(), 2));
        assert!(until("2026-11-22", "2026-11-30").is_ok_and(|range| range.is_err()));
    }

    #[test]
    fn invalid_days_are_refused_with_a_sentence() {
        for (from, to) in [("2026-02-30", ""), ("2026-03-02", "2026-03-01"), ("2026-11-22", ""), ("x", "")] {
            let refused = parse(Some(from), Some(to)).map_err(|error| error.to_string());
            assert!(refused.is_err_and(|message| message.ends_with('.')), "{from} {to}");
        }
    }
}
