//! Trends as text: one point, and the whole chart. Pure.

use crate::ui::charts::number::{ai_share, counted, grouped};
use crate::ui::charts::previous::lines;
use model::analytics::query::Form;
use model::analytics::trend::{TrendPoint, are_weeks, short_weeks};
use model::day::Day;
use model::page_views::ViewCounts;

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
    let unfinished = points.iter().filter(|point| point.unfinished);
    let unfinished: Vec<_> = unfinished.map(|point| incomplete(point, today)).collect();
    format!(
        "By {by}, {} to {}: {}, {} by AI agents{}.{}{short}{}",
        first.day.long(),
        last.last_day().long(),
        counted(all.total, "view", "views"),
        ai_share(all),
        most.unwrap_or_default(),
        before(points, form),
        unfinished.concat(),
    )
}

/// What the lines of the compared period show; empty without a line.
fn before(points: &[TrendPoint], form: Form) -> String {
    if lines(points, form).is_empty() {
        return String::new();
    }
    let ViewCounts { human, ai, total } = points.iter().filter_map(|point| point.previous).sum();
    match form {
        Form::Stacked => format!(" A line shows the views before: {}.", grouped(total)),
        Form::Side => {
            format!(" Two lines show the views before: {} by people, {} by AI.", grouped(human), grouped(ai))
        }
    }
}

fn incomplete(point: &TrendPoint, today: Day) -> String {
    match point.day <= today && today <= point.last_day() {
        true => " Today is incomplete.".to_owned(),
        false => format!(" Incomplete: {}.", days(point)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(day: &str, days: u32, human: u64, ai: u64) -> TrendPoint {
        let day = day.parse().unwrap_or_else(|error| panic!("{error}"));
        let counts = ViewCounts { human, ai, total: human + ai };
        TrendPoint { day, days, counts, unfinished: false, provisional: false, previous: None }
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
        let unfinished = |day, days| TrendPoint { unfinished: true, ..point(day, days, 1, 0) };
        let end = |last: TrendPoint| summary(&[point("2026-11-10", 1, 3, 0), last], Form::Stacked, today());
        assert!(end(unfinished("2026-11-21", 1)).ends_with(" (3). Today is incomplete."));
        assert!(end(unfinished("2026-11-16", 6)).ends_with(" Today is incomplete."));
        assert!(end(unfinished("2026-11-20", 1)).ends_with(" (3). Incomplete: Fri, Nov 20, 2026."));
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
        assert!(text(Form::Stacked).ends_with(" (400). A line shows the views before: 100."));
        assert!(
            text(Form::Side).ends_with(" (400). Two lines show the views before: 80 by people, 2 by AI.")
        );
        assert!(!summary(&compared[..1], Form::Side, today()).contains("before"));
        let none = [point("2026-11-10", 1, 0, 0)];
        assert_eq!(
            summary(&none, Form::Stacked, today()),
            "By day, Nov 10, 2026 to Nov 10, 2026: 0 views, – by AI agents."
        );
    }
}
