//! The days of a query of page views.

use super::choice::Compare;
use crate::ParseError;
use crate::day::{Day, DayRange, InvalidDay};
use crate::preset::Preset;

/// The days that a query is about.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Span {
    Days(Days),
    /// Everything that the platform has counted. Only the platform knows it.
    AllTime,
}

/// A range of days, and how the query names it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Days {
    range: DayRange,
    named: Named,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Named {
    /// By a preset, which follows the calendar.
    Preset(Preset),
    /// By these ends. The other end follows the calendar.
    Ends { from: bool, to: bool },
}

impl Span {
    /// The name of [`Span::AllTime`] in URLs and saved views.
    pub const ALL_TIME: &str = "all";

    /// Parses the fields of a query. A name precedes the ends.
    pub fn of(
        name: Option<&str>,
        from: Option<&str>,
        to: Option<&str>,
        today: Day,
    ) -> Result<Self, ParseError> {
        match name {
            Some(name) => Self::parse(name, today),
            None => Days::parse(from, to, today).map(Self::Days).map_err(|error| error.to_string().into()),
        }
    }

    /// Parses the name of a preset, or [`Self::ALL_TIME`].
    pub fn parse(name: &str, today: Day) -> Result<Self, ParseError> {
        match name.trim() {
            Self::ALL_TIME => Ok(Self::AllTime),
            name => Ok(Days::of(name.parse()?, today).into()),
        }
    }

    /// A range of days; `None` for all time.
    pub fn days(self) -> Option<Days> {
        match self {
            Self::Days(days) => Some(days),
            Self::AllTime => None,
        }
    }

    /// The requested days up to `today`; an error if all are later, and for all time.
    pub fn until(self, today: Day) -> Result<DayRange, ParseError> {
        match self {
            Self::Days(days) => days.until(today),
            Self::AllTime => Err("Only the platform knows the figures of all time. Choose days.".into()),
        }
    }

    /// The period that these days are compared with unless another one is chosen: whole weeks before for a month of the calendar.
    pub fn default_compare(self) -> Compare {
        match self.days().and_then(Days::preset) {
            Some(Preset::MonthToDate | Preset::LastMonth) => Compare::Month,
            _ => Compare::default(),
        }
    }

    /// The name of the preset, or of all time. `None` for the default preset, and for days that are named by their ends.
    pub fn word(self) -> Option<&'static str> {
        match self {
            Self::Days(days) => days.preset().filter(|preset| *preset != Preset::DEFAULT).map(Preset::word),
            Self::AllTime => Some(Self::ALL_TIME),
        }
    }
}

impl From<Days> for Span {
    fn from(days: Days) -> Self {
        Self::Days(days)
    }
}

impl Days {
    /// Both ends inclusive; by default up to `today`, and as many days as the default preset has.
    pub fn new(from: Option<Day>, to: Option<Day>, today: Day) -> Result<Self, InvalidDay> {
        if from.is_none() && to.is_none() {
            return Ok(Self::of(Preset::DEFAULT, today));
        }
        let last = to.unwrap_or(today);
        let range = DayRange::new(from.unwrap_or(Preset::DEFAULT.range(last).from()), last)?;
        Ok(Self { range, named: Named::Ends { from: from.is_some(), to: to.is_some() } })
    }

    /// The same of texts. An empty one names no day.
    pub fn parse(from: Option<&str>, to: Option<&str>, today: Day) -> Result<Self, InvalidDay> {
        let day =
            |text: Option<&str>| text.filter(|text| !text.is_empty()).map(str::parse::<Day>).transpose();
        Self::new(day(from)?, day(to)?, today)
    }

    pub fn of(preset: Preset, today: Day) -> Self {
        Self { range: preset.range(today), named: Named::Preset(preset) }
    }

    /// The preset that names these days.
    pub fn preset(self) -> Option<Preset> {
        match self.named {
            Named::Preset(preset) => Some(preset),
            Named::Ends { .. } => None,
        }
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
        matches!(self.named, Named::Ends { from: true, .. }).then(|| self.range.from())
    }

    /// The last day, if the query names it.
    pub fn named_to(self) -> Option<Day> {
        matches!(self.named, Named::Ends { to: true, .. }).then(|| self.range.to())
    }
}

/// These days, named by both ends.
impl From<DayRange> for Days {
    fn from(range: DayRange) -> Self {
        Self { range, named: Named::Ends { from: true, to: true } }
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
    fn name_of_a_preset_or_of_all_time_is_parsed() {
        for preset in Preset::ALL {
            let span = Span::parse(preset.word(), today()).unwrap_or_else(|error| panic!("{error}"));
            assert_eq!(span, Days::of(preset, today()).into());
            assert_eq!(span.word(), Some(preset.word()).filter(|_| preset != Preset::DEFAULT));
        }
        assert_eq!(Span::parse("all", today()), Ok(Span::AllTime));
        assert_eq!((Span::AllTime.word(), Span::AllTime.days()), (Some("all"), None));
        let refused = Span::parse("week", today()).map_err(|error| error.to_string());
        assert_eq!(
            refused,
            Err("The days are today, 7, 28, 90, month, last-month, last-quarter or all.".to_owned())
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
