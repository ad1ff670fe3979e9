//! Timestamps in any ISO 8601 format: basic, extended, week and ordinal dates, fractions, offsets. No text causes a
//! panic. Timestamps that the model cannot represent are rejected.

use serde_json::Value;
use time::format_description::well_known::Iso8601;
use time::{Date, OffsetDateTime, PrimitiveDateTime, Time};

use model::time::Timestamp;

/// The maximum length of a timestamp.
const MAX_BYTES: usize = 64;

/// Parses a timestamp. Without an offset it is UTC, a date is its start in UTC, and a leap second is the end of the
/// second before it.
pub(super) fn instant(value: &Value) -> Option<Timestamp> {
    // RFC 3339 allows lower-case separators; the only other letter is the W of a week date.
    let text = value.as_str().filter(|text| text.len() <= MAX_BYTES)?.trim().to_ascii_uppercase();
    let at = Timestamp::from_datetime(match text.split_once('T') {
        None => Date::parse(&text, &Iso8601::DATE).ok()?.with_time(Time::MIDNIGHT).assume_utc(),
        Some((_, time)) if time.contains(['Z', '+', '-']) => {
            OffsetDateTime::parse(&text, &Iso8601::PARSING).ok()?
        }
        Some(_) => PrimitiveDateTime::parse(&text, &Iso8601::PARSING).ok()?.assume_utc(),
    });
    // Years beyond four digits have no wire format.
    (at.to_string().parse() == Ok(at)).then_some(at)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;
    use time::UtcOffset;

    use super::*;

    fn read(text: &str) -> Option<String> {
        instant(&json!(text)).map(|at| at.to_string())
    }

    #[test]
    fn instant_is_parsed_in_every_format() {
        for text in [
            "2026-11-21T10:00:00Z",
            "2026-11-21T10:00Z",
            "20261121T100000Z",
            "20261121T1000Z",
            "2026-11-21T11:00:00+0100",
            "2026-11-21T11:00:00+01:00",
            "2026-11-21T11:00:00+01",
            "20261121T023000-0730",
            "2026-11-21T10:00:00.000000000Z",
            "2026-11-21T10:00:00,0Z",
            "2026-W47-6T10:00:00Z",
            "2026W476T100000Z",
            "2026-325T10:00:00Z",
            "2026325T100000Z",
            "2026-11-21t10:00:00z",
            "2026-11-21T10:00:00",
            " 2026-11-21T10:00:00Z\n",
        ] {
            assert_eq!(read(text).as_deref(), Some("2026-11-21T10:00:00Z"), "{text}");
        }
        assert_eq!(read("2026-11-21T10:00:00.25Z").as_deref(), Some("2026-11-21T10:00:00.250Z"));
        assert_eq!(read("2026-11-21T10.5Z").as_deref(), Some("2026-11-21T10:30:00Z"));
        assert_eq!(read("2026-11-21").as_deref(), Some("2026-11-21T00:00:00Z"));
    }

    #[test]
    fn invalid_instant_is_none() {
        for text in [
            "",
            "yesterday",
            "2026-02-30T10:00:00Z",
            "2026-13-01T10:00:00Z",
            "2026-W54-1T10:00:00Z",
            "2026-366T10:00:00Z",
            "2026-11-21T25:00:00Z",
            "2026-11-21T10:00:60Z",
            "2026-11-21T10:00:61Z",
            "2026-11-21T10:00:00+99:99",
            "+12026-11-21T10:00:00Z",
            "-2026-11-21T10:00:00Z",
            "0000-01-01T00:00:00+01:00",
            "9999-12-31T23:59:59-01:00",
            "T10:00:00Z",
            "Z",
            "2026",
            "1795255200",
        ] {
            assert_eq!(read(text), None, "{text}");
        }
        for value in [json!(null), json!(1_795_255_200), json!(["2026-11-21T10:00:00Z"]), json!({})] {
            assert_eq!(instant(&value), None, "{value}");
        }
    }

    #[test]
    fn leap_second_is_the_end_of_the_preceding_second() {
        assert_eq!(read("2016-12-31T23:59:60Z").as_deref(), Some("2016-12-31T23:59:59.999Z"));
        assert_eq!(read("2016-12-31T23:59:60.5Z").as_deref(), Some("2016-12-31T23:59:59.999Z"));
        assert_eq!(read("20170101T005960+0100").as_deref(), Some("2016-12-31T23:59:59.999Z"));
        assert_eq!(read("2016-12-31T12:59:60Z"), None);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn formatted_instant_is_parsed_back(
            seconds in -62_167_219_200_i64..253_402_300_800,
            offset in -23_i8..=23,
            minutes in 0_i8..60,
        ) {
            let at = Timestamp::from_millis(seconds * 1000);
            let offset = UtcOffset::from_hms(offset, minutes * offset.signum(), 0).expect("an offset");
            let Some(there) = at.to_datetime().checked_to_offset(offset) else { return Ok(()) };
            prop_assume!((0..=9999).contains(&there.year()) && there.to_iso_week_date().0 == there.year());
            let ((year, week, weekday), (hour, minute, second)) = (there.to_iso_week_date(), there.to_hms());
            let (month, day, ordinal, weekday) =
                (u8::from(there.month()), there.day(), there.ordinal(), weekday.number_from_monday());
            let sign = if offset.is_negative() { '-' } else { '+' };
            let (h, m) = (offset.whole_hours().unsigned_abs(), offset.minutes_past_hour().unsigned_abs());
            for text in [
                at.to_string(),
                format!("{year:04}-{month:02}-{day:02}T{hour:02}:{minute:02}:{second:02}{sign}{h:02}:{m:02}"),
                format!("{year:04}{month:02}{day:02}T{hour:02}{minute:02}{second:02}{sign}{h:02}{m:02}"),
                format!("{year:04}-W{week:02}-{weekday}T{hour:02}:{minute:02}:{second:02}{sign}{h:02}:{m:02}"),
                format!("{year:04}-{ordinal:03}T{hour:02}:{minute:02}:{second:02}.0{sign}{h:02}:{m:02}"),
            ] {
                prop_assert_eq!(instant(&json!(text)), Some(at), "{}", text);
            }
        }

        #[test]
        fn timestamp_like_text_does_not_panic(text in "[0-9TZtzW:.,+ -]{0,40}") {
            let at = instant(&json!(text));
            prop_assert!(at.is_none_or(|at| at.to_string().parse() == Ok(at)));
        }
    }
}
