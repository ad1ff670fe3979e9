//! Times, in one style: relative within a week, then the date; the full time on hover. The server writes UTC; `islands::live`
//! replaces it in the user's locale and time zone. Each is one string, which takes less time than an element; it needs no escaping.

use leptos::prelude::*;
use leptos::tachys::html::InertElement;

use crate::ui::clock;
use crate::ui::marks::TIME;
use model::day::Day;
use model::time::Timestamp;

/// The forms of [`TIME`]: those of [`ago`], [`ahead`] and [`elapsed`].
pub const PAST: &str = "past";
pub const AHEAD: &str = "ahead";
pub const ELAPSED: &str = "elapsed";

/// Times further away than this are dates, in seconds.
const WEEK: i64 = 7 * 86_400;

/// A past time: `3 min ago`.
pub fn ago(at: Timestamp) -> InertElement {
    let text = age(at, clock::now()).unwrap_or_else(|| date(at));
    time(at, Some(PAST), &text)
}

/// How long something has lasted: `for 3 days`, and after a week `since Nov 21, 2026`.
pub fn lasting(at: Timestamp) -> InertElement {
    time(at, None, &lasting_text(at, clock::now()))
}

fn lasting_text(at: Timestamp, now: Timestamp) -> String {
    match age(at, now) {
        Some(age) => match age.strip_suffix(" ago") {
            Some(age) => ["for ", age].concat(),
            None => "for less than a minute".to_owned(),
        },
        None => ["since ", &date(at)].concat(),
    }
}

/// A future time: `in 3 min`.
pub fn ahead(at: Timestamp) -> InertElement {
    let text = wait(at, clock::now()).unwrap_or_else(|| date(at));
    time(at, Some(AHEAD), &text)
}

/// As [`ago`], in the shortest form: `9m`. A part of a row: [`SHORT`] matches it.
pub fn short_age(at: Timestamp) -> InertElement {
    time(at, None, &short(at, clock::now()))
}

/// `form`: that of the text by which the browser replaces it.
fn time(at: Timestamp, form: Option<&'static str>, text: &str) -> InertElement {
    let title = full(at);
    let form = form.map(|form| format!(r#" {}="{form}""#, TIME.name())).unwrap_or_default();
    InertElement::new(format!(r#"<time datetime="{at}"{form} title="{title}">{text}</time>"#))
}

/// The time since `at`, which keeps counting. Screen readers do not announce each step.
pub fn elapsed(at: Timestamp) -> impl IntoView + use<> {
    let millis = clock::now().as_millis() - at.as_millis();
    view! { <time role="timer" datetime=at.to_string() {..TIME.is(ELAPSED)}>{duration(millis)}</time> }
}

/// A duration: seconds up to two minutes, else in two units: `4 min 20 s`.
pub fn duration(millis: i64) -> String {
    let seconds = (millis.max(0) + 500) / 1000;
    match seconds {
        0..120 => format!("{seconds} s"),
        120..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        _ => format!("{} h {} min", seconds / 3600, seconds / 60 % 60),
    }
}

/// Matches the times in the form of [`short`]: those of rows, which are many, need no attribute.
pub const SHORT: &str = ".job-row > time";

/// The age in one unit; after 30 days in months, after a year in years.
pub fn short(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.seconds_since(at);
    let (number, unit) = match seconds {
        ..60 => return "now".to_owned(),
        60..3600 => (seconds / 60, "m"),
        3600..86_400 => (seconds / 3600, "h"),
        86_400..2_592_000 => (seconds / 86_400, "d"),
        2_592_000..31_536_000 => (seconds / 2_592_000, "mo"),
        _ => (seconds / 31_536_000, "y"),
    };
    format!("{number}{unit}")
}

/// `Nov 21, 2026`, in UTC.
pub fn date(at: Timestamp) -> String {
    Day::of(at).long()
}

/// `Nov 21, 2026, 10:05:31 UTC`.
pub fn full(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{}, {} UTC", date(at), text.get(11..19).unwrap_or_default())
}

/// The age in the largest unit that fits; `None` after a week.
pub fn age(at: Timestamp, now: Timestamp) -> Option<String> {
    let seconds = now.seconds_since(at);
    let (number, unit) = match seconds {
        0..60 => return Some("just now".to_owned()),
        60..3600 => (seconds / 60, "min"),
        3600..86_400 => (seconds / 3600, "h"),
        86_400..172_800 => (1, "day"),
        172_800..WEEK => (seconds / 86_400, "days"),
        _ => return None,
    };
    Some(format!("{number} {unit} ago"))
}

/// The time until `at`, rounded up; `None` if it is more than a week away.
pub fn wait(at: Timestamp, now: Timestamp) -> Option<String> {
    let seconds = at.seconds_since(now);
    let (unit, name) = match seconds {
        0 => return Some("now".to_owned()),
        1..3600 => (60, "min"),
        3600..86_400 => (3600, "h"),
        86_400 => (86_400, "day"),
        86_401..WEEK => (86_400, "days"),
        _ => return None,
    };
    Some(format!("in {} {name}", (seconds + unit - 1) / unit))
}

/// The time until `at`, rounded up to minutes: `4 min`, `1 h 45 min`.
pub fn until(at: Timestamp, now: Timestamp) -> String {
    let minutes = ((at.seconds_since(now) + 59) / 60).max(1);
    let (hours, rest) = ((minutes / 60).to_string(), (minutes % 60).to_string());
    match (minutes / 60, minutes % 60) {
        (0, _) => rest + " min",
        (_, 0) => hours + " h",
        _ => [&hours, " h ", &rest, " min"].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const AT: Timestamp = Timestamp::from_millis(1_795_000_000_123);

    #[test]
    fn wait_has_its_length_or_after_a_week_its_beginning() {
        let formatted = |seconds| lasting_text(AT, AT.plus_seconds(seconds));
        assert_eq!(
            [5, 3600, 3 * 86_400, 8 * 86_400].map(formatted),
            ["for less than a minute", "for 1 h", "for 3 days", &["since ", &date(AT)].concat()]
        );
    }

    #[test]
    fn age_uses_the_largest_unit_up_to_a_week() {
        let formatted = |seconds| age(AT, AT.plus_seconds(seconds));
        assert_eq!(formatted(-5).as_deref(), Some("just now"));
        assert_eq!(formatted(59).as_deref(), Some("just now"));
        assert_eq!(formatted(60).as_deref(), Some("1 min ago"));
        assert_eq!(formatted(3599).as_deref(), Some("59 min ago"));
        assert_eq!(formatted(7200).as_deref(), Some("2 h ago"));
        assert_eq!(formatted(86_400 * 7 - 1).as_deref(), Some("6 days ago"));
        assert_eq!(formatted(86_400 * 2 - 1).as_deref(), Some("1 day ago"));
        assert_eq!(formatted(86_400 * 7), None);
    }

    #[test]
    fn duration_is_in_seconds_or_two_units() {
        assert_eq!(duration(-5), "0 s");
        assert_eq!(duration(400), "0 s");
        assert_eq!(duration(61_400), "61 s");
        assert_eq!(duration(260_000), "4 min 20 s");
        assert_eq!(duration(3_720_000), "1 h 2 min");
    }

    #[test]
    fn a_short_age_has_one_unit() {
        let formatted = |seconds| short(AT, AT.plus_seconds(seconds));
        assert_eq!([-5, 59, 60, 7200].map(formatted), ["now", "now", "1m", "2h"]);
        assert_eq!([86_400 * 29, 86_400 * 30, 86_400 * 800].map(formatted), ["29d", "1mo", "2y"]);
    }

    #[test]
    fn future_time_is_rounded_up() {
        let formatted = |seconds| wait(AT.plus_seconds(seconds), AT);
        assert_eq!(formatted(-5).as_deref(), Some("now"));
        assert_eq!(formatted(61).as_deref(), Some("in 2 min"));
        assert_eq!(formatted(3601).as_deref(), Some("in 2 h"));
        assert_eq!(formatted(86_400).as_deref(), Some("in 1 day"));
        assert_eq!(formatted(86_401).as_deref(), Some("in 2 days"));
        assert_eq!(formatted(86_400 * 7), None);
    }

    #[test]
    fn server_formats_times_in_utc() {
        assert_eq!((date(AT).as_str(), full(AT).as_str()), ("Nov 18, 2026", "Nov 18, 2026, 11:06:40 UTC"));
    }

    #[test]
    fn wait_is_rounded_up_to_minutes() {
        let now = Timestamp::from_millis(0);
        assert_eq!(until(now.plus_seconds(61), now), "2 min");
        assert_eq!(until(now.plus_seconds(1), now), "1 min");
        assert_eq!(until(now, now), "1 min", "less than a minute");
        assert_eq!(until(now.plus_seconds(3_600), now), "1 h");
        assert_eq!(until(now.plus_seconds(6_290), now), "1 h 45 min");
    }
}
