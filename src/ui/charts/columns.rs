//! A column chart of human and AI views by day. Positions are pure, tested, and in percent, so that the chart fits any
//! width.

use leptos::prelude::*;
use leptos::tachys::html::InertElement;

use crate::ui::charts::number::{counted, grouped};
use crate::ui::charts::scale::{Stack, length, per_mille, position, visible};
use crate::ui::charts::ticks::{self, Ticks};
use crate::ui::locale::SHORT;
use model::analytics::query::Form;
use model::analytics::trend::{TrendPoint, are_weeks, short_weeks};
use model::day::Day;
use model::page_views::ViewCounts;

/// The number of parts of a day's band, of which the first and the last stay empty.
pub(super) const PARTS: usize = 10;

/// One part of a column, as SVG lengths.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Part {
    class: &'static str,
    x: String,
    width: String,
    y: String,
    height: String,
}

/// The scale for all `points`.
pub fn ticks(form: Form, points: &[TrendPoint]) -> Ticks {
    let height = |counts: ViewCounts| match form {
        Form::Stacked => counts.readers(),
        Form::Side => counts.human.max(counts.ai),
    };
    let counts = points.iter().flat_map(|point| [Some(point.counts), point.previous]);
    Ticks::up_to(counts.flatten().map(height).max().unwrap_or(0))
}

/// The grid lines, and a column per point; `summary` describes the chart as text.
pub fn picture(points: &[TrendPoint], form: Form, summary: String) -> AnyView {
    let ticks = ticks(form, points);
    let lines = ticks.values().map(|value| {
        let y = from_top(value, ticks);
        view! { <line class="chart-line" x2="100%" y1=y.clone() y2=y /> }
    });
    let are_weeks = are_weeks(points);
    let columns = points
        .iter()
        .enumerate()
        .map(|(at, point)| column(point, are_weeks, parts(point.counts, (at, points.len()), ticks, form)));
    view! {
        <svg role="img" aria-label=summary>
            {lines.collect_view()} {columns.collect_view()}
        </svg>
    }
    .into_any()
}

/// As one string, because a chart has many; it contains only numbers and days.
fn column(point: &TrendPoint, are_weeks: bool, parts: [Part; 2]) -> InertElement {
    let [human, ai] = parts.map(|Part { class, x, width, y, height }| {
        format!(r#"<rect class="{class}" x="{x}" width="{width}" y="{y}" height="{height}"></rect>"#)
    });
    let class = match (point.unfinished_days > 0, point.is_short_week(are_weeks)) {
        (true, _) => r#" class="unfinished""#,
        (false, true) => r#" class="short-week""#,
        (false, false) => "",
    };
    let day = point.day;
    InertElement::new(format!(r#"<g{class} data-day="{day}">{human}{ai}</g>"#))
}

/// The labels of the grid lines.
pub fn scale_labels(points: &[TrendPoint], form: Form) -> AnyView {
    let ticks = ticks(form, points);
    let labels =
        ticks.values().map(|value| view! { <text x="100%" y=from_top(value, ticks) data-number=grouped(value)>{grouped(value)}</text> });
    view! { <svg class="chart-scale" aria-hidden="true">{labels.collect_view()}</svg> }.into_any()
}

/// The labels of days below the columns; every other one can be hidden on narrow screens.
pub fn day_labels(points: &[TrendPoint]) -> AnyView {
    let labels = named(points.len()).map(|(at, is_extra)| {
        let day = points.get(at).map(|point| point.day);
        let class = is_extra.then_some("every-other");
        view! {
            <text class=class x=middle(at, points.len()) y="14" data-date=SHORT data-day=day.map(|day| day.to_string())>
                {day.map(Day::month_and_day)}
            </text>
        }
    });
    view! { <svg class="chart-days" aria-hidden="true">{labels.collect_view()}</svg> }.into_any()
}

/// Below the columns: how many days the weeks at the ends have, if they have fewer than seven.
pub fn week_labels(points: &[TrendPoint]) -> Option<AnyView> {
    let labels: Vec<_> = short_weeks(points)
        .map(|(at, week)| {
            let (x, anchor) = if at == 0 { ("0", "start") } else { ("100%", "end") };
            view! { <text x=x y="13" text-anchor=anchor>{counted(week.days.into(), "day", "days")}</text> }
        })
        .collect();
    (!labels.is_empty())
        .then(|| view! { <svg class="chart-weeks" height="18" aria-hidden="true">{labels}</svg> }.into_any())
}

/// Where the bands of the points from `first` to `last` start, and their total width.
pub fn bands(first: usize, last: usize, count: usize) -> (String, String) {
    (position(first, count), position(last + 1 - first, count))
}

/// The center of the band of the point at `at`.
pub fn middle(at: usize, count: usize) -> String {
    position(2 * at + 1, 2 * count)
}

/// Which of `count` points are labeled, and which of these labels are hidden on narrow screens.
fn named(count: usize) -> impl Iterator<Item = (usize, bool)> {
    let every = ticks::every(count);
    (0..count).step_by(every).map(move |at| (at, !(at / every).is_multiple_of(2)))
}

fn parts(counts: ViewCounts, (at, count): (usize, usize), ticks: Ticks, form: Form) -> [Part; 2] {
    let parts = match form {
        Form::Stacked => {
            let Stack { human, ai } = Stack::of(counts, ticks.top);
            [("bar-human", 1, 8, human, 0), ("bar-ai", 1, 8, ai, human)]
        }
        Form::Side => {
            let [human, ai] = [counts.human, counts.ai].map(|part| visible(part, ticks.top));
            [("bar-human", 1, 4, human, 0), ("bar-ai", 5, 4, ai, 0)]
        }
    };
    parts.map(|(class, first, parts, tall, above)| Part {
        class,
        x: position(at * PARTS + first, count * PARTS),
        width: position(parts, count * PARTS),
        y: length(1000_u64.saturating_sub(tall + above)),
        height: length(tall),
    })
}

fn from_top(value: u64, ticks: Ticks) -> String {
    length(1000 - per_mille(value, ticks.top))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(counts: &[(u64, u64)]) -> Vec<TrendPoint> {
        let first: model::day::Day = "2026-11-01".parse().unwrap_or_else(|error| panic!("{error}"));
        let point = |(at, &(human, ai)): (usize, &(u64, u64))| TrendPoint {
            day: first.plus_days(at as i64),
            days: 1,
            counts: ViewCounts { human, ai, total: human + ai },
            unfinished_days: u32::from(at + 1 == counts.len()),
            provisional_days: 0,
            previous: None,
            previous_provisional_days: 0,
        };
        counts.iter().enumerate().map(point).collect()
    }

    fn part(class: &'static str, [x, width, y, height]: [&str; 4]) -> Part {
        Part { class, x: x.to_owned(), width: width.to_owned(), y: y.to_owned(), height: height.to_owned() }
    }

    #[test]
    fn stacked_ai_is_on_human_and_the_axis_fits_both() {
        let points = points(&[(300, 100), (0, 0)]);
        let scale = ticks(Form::Stacked, &points);
        assert_eq!(scale, Ticks { step: 100, top: 400 });
        let [human, ai] = parts(points[0].counts, (0, 2), scale, Form::Stacked);
        assert_eq!(human, part("bar-human", ["5.000%", "40.000%", "25.0%", "75.0%"]));
        assert_eq!(ai, part("bar-ai", ["5.000%", "40.000%", "0.0%", "25.0%"]));
    }

    #[test]
    fn side_by_side_columns_start_at_zero() {
        let points = points(&[(300, 100), (200, 150)]);
        let scale = ticks(Form::Side, &points);
        assert_eq!(scale.top, 300);
        let [human, ai] = parts(points[0].counts, (0, 2), scale, Form::Side);
        assert_eq!(human, part("bar-human", ["5.000%", "20.000%", "0.0%", "100.0%"]));
        assert_eq!(ai, part("bar-ai", ["25.000%", "20.000%", "66.7%", "33.3%"]));
    }

    #[test]
    fn picture_has_a_column_per_day_and_marks_the_unfinished() {
        let html = picture(&points(&[(300, 100), (0, 0)]), Form::Stacked, "By day".to_owned()).to_html();
        assert!(html.contains(r#"data-day="2026-11-01""#), "{html}");
        let unfinished = html.split("<g ").find(|column| column.contains(r#"data-day="2026-11-02""#));
        let tag = unfinished.and_then(|column| column.split('>').next()).unwrap_or_default();
        assert!(tag.contains(r#"class="unfinished""#), "{html}");
        assert_eq!(html.matches("unfinished").count(), 1, "{html}");
    }

    #[test]
    fn weeks_with_fewer_days_are_marked_and_labeled() {
        let mut weeks = points(&[(300, 100), (2_000, 500), (0, 0)]);
        for (week, (day, days)) in
            weeks.iter_mut().zip([("2026-07-25", 2), ("2026-07-27", 7), ("2026-08-03", 1)])
        {
            week.day = day.parse().unwrap_or_else(|error| panic!("{error}"));
            (week.days, week.unfinished_days) = (days, 0);
        }
        let html = picture(&weeks, Form::Stacked, String::new()).to_html();
        for (day, is_marked) in [("2026-07-25", true), ("2026-07-27", false), ("2026-08-03", true)] {
            let column = html.split("<g").find(|column| column.contains(&format!("data-day=\"{day}\"")));
            assert_eq!(
                column.is_some_and(|it| it.contains("class=\"short-week\"")),
                is_marked,
                "{day}: {html}"
            );
        }
        let labels = week_labels(&weeks).map(|labels| labels.to_html()).unwrap_or_default();
        let texts: Vec<_> = labels.split("<text ").skip(1).collect();
        assert!(
            texts.len() == 2 && texts[0].contains(">2 days<") && texts[1].contains(">1 day<"),
            "{labels}"
        );
        // Days are not short weeks.
        assert!(week_labels(&points(&[(1, 1); 28])).is_none());
    }

    #[test]
    fn few_days_are_labeled_and_half_on_a_phone() {
        let named: Vec<_> = named(28).collect();
        assert_eq!(named.len(), 7);
        assert_eq!(named.iter().filter(|(_, is_extra)| *is_extra).count(), 3);
        assert_eq!(middle(0, 28), "1.785%");
        let html = day_labels(&points(&[(1, 1); 28])).to_html();
        assert!(html.contains("Nov 1"), "{html}");
    }
}
