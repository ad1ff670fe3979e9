//! The query of an analytics request. Days are UTC days: an instant with an offset is converted to UTC, and one without is read as UTC. The time of
//! day is dropped, because views are counted by whole days.

use std::ops::Range;

use serde::Deserialize;
use time::format_description::well_known::Iso8601;
use time::{Date, OffsetDateTime, PrimitiveDateTime, UtcOffset};

use super::day::Day;

const DEFAULT_LIMIT: usize = 50;
const LARGEST_LIMIT: usize = 250;

/// The query as received.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct RawViewsQuery {
    date_from: Option<String>,
    date_to: Option<String>,
    limit: Option<String>,
    offset: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct ViewsQuery {
    /// The end is exclusive. An open end is the earliest or latest possible day.
    pub(super) days: Range<Day>,
    /// 1 to 250.
    pub(super) limit: usize,
    pub(super) offset: usize,
}

impl ViewsQuery {
    /// # Errors
    /// Every problem of the query as text, not only the first.
    pub(super) fn parse(raw: &RawViewsQuery) -> Result<Self, Vec<String>> {
        let mut problems = Vec::new();
        let from = instant("dateFrom", raw.date_from.as_deref(), &mut problems);
        let to = instant("dateTo", raw.date_to.as_deref(), &mut problems);
        if let (Some(from), Some(to)) = (from, to)
            && from > to
        {
            problems.push("dateFrom must not be after dateTo".to_owned());
        }
        let limit = raw.limit.as_deref().map_or(Some(DEFAULT_LIMIT), |text| text.parse().ok());
        let limit = limit.filter(|limit| (1..=LARGEST_LIMIT).contains(limit));
        if limit.is_none() {
            problems.push(format!("limit must be a whole number from 1 to {LARGEST_LIMIT}"));
        }
        let offset = raw.offset.as_deref().map_or(Some(0), |text| text.parse().ok());
        if offset.is_none() {
            problems.push("offset must be a whole number, 0 or more".to_owned());
        }
        match (limit, offset) {
            (Some(limit), Some(offset)) if problems.is_empty() => {
                let start = from.map_or(Day(i64::MIN), Day::of_datetime);
                let end = to.map_or(Day(i64::MAX), Day::of_datetime);
                Ok(Self { days: start..end, limit, offset })
            }
            _ => Err(problems),
        }
    }
}

fn instant(name: &str, text: Option<&str>, problems: &mut Vec<String>) -> Option<OffsetDateTime> {
    let text = text?;
    let instant = parse_instant(text);
    if instant.is_none() {
        problems.push(format!("{name} must be an ISO 8601 date-time or YYYY-MM-DD"));
    }
    instant
}

fn parse_instant(text: &str) -> Option<OffsetDateTime> {
    if let Ok(at) = OffsetDateTime::parse(text, &Iso8601::PARSING) {
        return at.checked_to_offset(UtcOffset::UTC);
    }
    if let Ok(at) = PrimitiveDateTime::parse(text, &Iso8601::PARSING) {
        return Some(at.assume_utc());
    }
    let date = Date::parse(text, &Iso8601::PARSING).ok()?;
    Some(date.midnight().assume_utc())
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a test may panic")]
mod tests {
    use super::*;

    fn day(text: &str) -> Option<i64> {
        parse_instant(text).map(|at| Day::of_datetime(at).0)
    }

    #[test]
    fn days_and_instants_in_any_iso_form_are_parsed() {
        let noon = day("2026-03-01").unwrap();
        assert_eq!(noon, 20_513);
        for same in [
            "2026-03-01T00:00:00Z",
            "2026-03-01T23:59:59.999Z",
            "2026-03-01T12:00:00",
            "2026-03-01T12:00Z",
            "2026-03-02T01:30:00+02:00",
            "2026-02-28T20:00:00-05:00",
            "20260301T120000Z",
        ] {
            assert_eq!(day(same), Some(noon), "{same}");
        }
    }

    #[test]
    fn invalid_days_are_rejected_without_a_panic() {
        for text in [
            "",
            "2026",
            "2026-02-30",
            "2026-3-1",
            "01/03/2026",
            "2026-03-01T25:00:00Z",
            "now",
            "2026-03-01Z",
            "1772323200",
            "9999-12-31T23:59:59-10:00",
            "2026-03-01T00:00:00+99:00",
        ] {
            assert_eq!(day(text), None, "{text}");
        }
    }

    #[test]
    fn query_without_parameters_covers_all_days() {
        let query = ViewsQuery::parse(&RawViewsQuery::default()).unwrap();
        assert_eq!(query.days, Day(i64::MIN)..Day(i64::MAX));
        assert_eq!((query.limit, query.offset), (50, 0));
    }

    #[test]
    fn limit_and_offset_accept_their_extremes() {
        let parse = |limit: &str, offset: &str| {
            let (limit, offset) = (Some(limit.to_owned()), Some(offset.to_owned()));
            ViewsQuery::parse(&RawViewsQuery { limit, offset, ..RawViewsQuery::default() })
        };
        for (limit, offset) in [("1", "0"), ("250", "18446744073709551615")] {
            let query = parse(limit, offset).unwrap();
            assert_eq!(query.limit.to_string(), limit);
            assert_eq!(query.offset.to_string(), offset);
        }
        assert_eq!(parse("251", "x").unwrap_err().len(), 2);
    }
}
