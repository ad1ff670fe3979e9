//! A timestamp as a relative time or as the full time. `islands::live` localizes both in the browser.

use leptos::prelude::*;

use crate::model::time::Timestamp;

use crate::ui::clock;

/// A relative time, such as `3 min ago`, with the full time on hover.
pub fn ago(at: Timestamp) -> impl IntoView + use<> {
    view! { <time datetime=at.to_string() data-age="" title=utc_minute(at)>{age(at, clock::now())}</time> }
}

/// The full time.
pub fn exact_time(at: Timestamp) -> impl IntoView + use<> {
    view! { <time datetime=at.to_string() data-exact="">{utc_minute(at)}</time> }
}

/// `2026-11-21 10:05 UTC`.
pub fn utc_minute(at: Timestamp) -> String {
    let text = at.to_string();
    format!("{} {} UTC", text.get(..10).unwrap_or(&text), text.get(11..16).unwrap_or_default())
}

/// The age in the largest unit that fits; after 30 days the date.
pub fn age(at: Timestamp, now: Timestamp) -> String {
    let seconds = now.seconds_since(at);
    let (number, unit) = match seconds {
        0..60 => return "just now".to_owned(),
        60..3600 => (seconds / 60, "min"),
        3600..86_400 => (seconds / 3600, "h"),
        86_400..2_592_000 => (seconds / 86_400, "d"),
        _ => {
            let text = at.to_string();
            return text.get(..10).unwrap_or(&text).to_owned();
        }
    };
    format!("{number} {unit} ago")
}

/// The time until `at`, rounded up to minutes: `4 min`.
pub fn until(at: Timestamp, now: Timestamp) -> String {
    format!("{} min", (at.seconds_since(now) + 59) / 60)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_age_is_said_in_the_largest_unit_that_fits() {
        let at = Timestamp::from_millis(1_795_000_000_000);
        let said = |seconds| age(at, at.plus_seconds(seconds));
        assert_eq!(said(-5), "just now");
        assert_eq!(said(59), "just now");
        assert_eq!(said(60), "1 min ago");
        assert_eq!(said(3599), "59 min ago");
        assert_eq!(said(7200), "2 h ago");
        assert_eq!(said(86_400 * 29), "29 d ago");
        assert_eq!(said(86_400 * 30), "2026-11-18");
    }

    #[test]
    fn the_server_says_minutes_in_utc() {
        assert_eq!(utc_minute(Timestamp::from_millis(1_795_000_000_123)), "2026-11-18 11:06 UTC");
    }

    #[test]
    fn a_wait_is_never_said_too_short() {
        let now = Timestamp::from_millis(0);
        assert_eq!(until(now.plus_seconds(61), now), "2 min");
        assert_eq!(until(now, now), "0 min");
    }
}
