//! Trends as text: one point, and the whole chart. Pure.

use crate::ui::charts::number::{ai_share, counted, grouped};
use crate::ui::charts::previous::lines;
use model::analytics::query::Form;
use model::analytics::trend::{TrendPoint, are_weeks, short_weeks};
use model::day::Day;
use model::page_views::ViewCounts;

/// The most points that are named of those that have incomplete days.
const POINTS_NAMED: usize = 3;

/// `Tue, Nov 10, 2026`, or the first and the last of several days.
pub fn days(point: &TrendPoint) -> String {
    let TrendPoint { day, days, .. } = *point;
    match days {
        0 | 1 => day.with_weekday(),
        _ => format!("{} to {}", day.long(), point.last_day().long()),
    }
}

/// Describes the chart in sentences.
pub fn summary(points: &[TrendPoint], form: Form, today: Day) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return "No days to show.".to_owned();
    };
    let all: ViewCounts = points.iter().map(|point| point.counts).sum();
    let by = if are_weeks(points) { "week" } else { "day" };
    let most = points.iter().max_by_key(|point| point.counts.total).filter(|point| point.counts.total > 0);
    let most = most.map(|most| format!("; most on {} ({})", days(most), grouped(most.counts.total)));
    let short: Vec<_> = short_weeks(points)
        .map(|(_, week)| format!("{} ({})", days(week), counted(week.days.into(), "day", "days")))
        .collect();
    let short = match &short[..] {
        [] => String::new(),
        [week] => format!(" Short week: {week}."),
        weeks => format!(" Short weeks: {}.", weeks.join(" and ")),
    };
    format!(
        "By {by}, {} to {}: {}, {} by AI agents{}.{}{short}{}",
        first.day.long(),
        last.last_day().long(),
        counted(all.total, "view", "views"),
        ai_share(all),
        most.unwrap_or_default(),
        before(points, form),
        incomplete(points, today),
    )
}

/// What the lines of the compared period show; empty without a line.
fn before(points: &[TrendPoint], form: Form) -> String {
    if lines(points, form).is_empty() {
        return String::new();
    }
    let before: ViewCounts = points.iter().filter_map(|point| point.previous).sum();
    match form {
        Form::Stacked => {
            format!(" A line shows the previous period: {}.", counted(before.readers(), "view", "views"))
        }
        Form::Side => format!(
            " Two lines show the previous period: {} by people, {} by AI.",
            counted(before.human, "view", "views"),
            grouped(before.ai)
        ),
    }
}

/// ` Today is incomplete. Incomplete: Fri, Nov 20, 2026; 2 days of Nov 2, 2026 to Nov 8, 2026.`, and so for more points.
fn incomplete(points: &[TrendPoint], today: Day) -> String {
    let is_today = |point: &TrendPoint| point.unfinished_days > 0 && point.contains(today);
    let others = points.iter().map(|point| (point, point.unfinished_days - u32::from(is_today(point))));
    let others: Vec<_> = others.filter(|(_, count)| *count > 0).collect();
    let named = others.iter().take(POINTS_NAMED).map(|(point, count)| days_of(point, *count));
    let more: u64 = others.iter().skip(POINTS_NAMED).map(|(_, count)| u64::from(*count)).sum();
    let more = (more > 0).then(|| counted(more, "more day", "more days"));
    let named = named.chain(more).collect::<Vec<_>>().join("; ");
    let today = if points.iter().any(is_today) { " Today is incomplete." } else { "" };
    let others = if named.is_empty() { named } else { format!(" Incomplete: {named}.") };
    [today, &others].concat()
}

/// `Fri, Nov 20, 2026`, or how many days of a longer point.
fn days_of(point: &TrendPoint, count: u32) -> String {
    match count < point.days {
        true => format!("{} of {}", counted(count.into(), "day", "days"), days(point)),
        false => days(point),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(day: &str, days: u32, human: u64, ai: u64) -> TrendPoint {
        let day = day.parse().unwrap_or_else(|error| panic!("{error}"));
        let counts = ViewCounts { human, ai, total: human + ai };
        TrendPoint {
            day,
            days,
            counts,
            unfinished_days: 0,
            provisional_days: 0,
            previous: None,
            previous_provisional_days: 0,
        }
    }

    #[test]
    fn label_has_the_weekday_or_first_and_last_day() {
        assert_eq!(days(&point("2026-11-10", 1, 1234, 567)), "Tue, Nov 10, 2026");
        let week = point("2026-11-02", 7, 1, 0);
        assert_eq!(days(&week), "Nov 2, 2026 to Nov 8, 2026");
    }

    fn today() -> Day {
        "2026-11-21".parse().unwrap_or_else(|error| panic!("{error}"))
    }

    #[test]
    fn only_today_is_called_today() {
        let unfinished = |day, days| TrendPoint { unfinished_days: 1, ..point(day, days, 1, 0) };
        let end = |last: TrendPoint| summary(&[point("2026-11-10", 1, 3, 0), last], Form::Stacked, today());
        assert!(end(unfinished("2026-11-21", 1)).ends_with(" (3). Today is incomplete."));
        assert!(end(unfinished("2026-11-16", 6)).ends_with(" Today is incomplete."));
        assert!(end(unfinished("2026-11-20", 1)).ends_with(" (3). Incomplete: Fri, Nov 20, 2026."));
    }

    #[test]
    fn few_incomplete_days_are_named_and_weeks_have_their_number() {
        let with = |unfinished_days, point: TrendPoint| TrendPoint { unfinished_days, ..point };
        let end = |points: &[TrendPoint]| {
            let text = summary(points, Form::Stacked, today());
            text.split_once("). ").map(|(_, end)| end.to_owned()).unwrap_or_default()
        };
        let monday = |n: i64| today().monday().plus_days(-7 * n).to_string();
        let week = |n, unfinished| with(unfinished, point(&monday(n), 7, 10, 0));
        assert_eq!(end(&[week(1, 0), week(0, 1)]), "Today is incomplete.");
        assert_eq!(
            end(&[week(2, 1), week(1, 7), week(0, 3)]),
            "Today is incomplete. Incomplete: 1 day of Nov 2, 2026 to Nov 8, 2026; Nov 9, 2026 to Nov 15, 2026; \
             2 days of Nov 16, 2026 to Nov 22, 2026."
        );
        let days: Vec<_> = (1..=9).map(|n| with(1, point(&format!("2026-11-0{n}"), 1, n, 0))).collect();
        assert_eq!(
            end(&days),
            "Incomplete: Sun, Nov 1, 2026; Mon, Nov 2, 2026; Tue, Nov 3, 2026; 6 more days."
        );
        assert!(end(&days[..4]).ends_with("; 1 more day."));
    }

    #[test]
    fn summary_describes_the_chart_in_a_sentence() {
        let days = [point("2026-11-10", 1, 300, 100), point("2026-11-11", 1, 10, 5)];
        assert_eq!(
            summary(&days, Form::Stacked, today()),
            "By day, Nov 10, 2026 to Nov 11, 2026: 415 views, 25% by AI agents; most on Tue, Nov 10, 2026 (400)."
        );
        let weeks =
            [point("2026-07-25", 2, 1, 0), point("2026-07-27", 7, 9, 0), point("2026-08-03", 1, 1, 0)];
        assert_eq!(
            summary(&weeks, Form::Stacked, today()),
            "By week, Jul 25, 2026 to Aug 3, 2026: 11 views, 0% by AI agents; most on Jul 27, 2026 to Aug 2, 2026 (9). \
             Short weeks: Jul 25, 2026 to Jul 26, 2026 (2 days) and Mon, Aug 3, 2026 (1 day)."
        );
        let before = |mut point: TrendPoint| {
            point.previous = Some(ViewCounts { human: 40, ai: 1, total: 50 });
            point
        };
        let compared = days.map(before);
        let text = |form| summary(&compared, form, today());
        assert!(text(Form::Stacked).ends_with(" (400). A line shows the previous period: 82 views."));
        assert!(
            text(Form::Side)
                .ends_with(" (400). Two lines show the previous period: 80 views by people, 2 by AI.")
        );
        assert!(!summary(&compared[..1], Form::Side, today()).contains("previous"));
        let none = [point("2026-11-10", 1, 0, 0)];
        assert_eq!(
            summary(&none, Form::Stacked, today()),
            "By day, Nov 10, 2026 to Nov 10, 2026: 0 views, – by AI agents."
        );
    }
}
