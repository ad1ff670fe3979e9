//! Human and AI views along the days, a column for each: the picture, as text. Pure: the same on the server and in the
//! browser, with positions in percent so that it fits any width.

use crate::model::history::TrendPoint;
use crate::model::views::ViewCounts;
use crate::ui::charts::number::grouped;
use crate::ui::charts::scale::{Stack, length, per_mille, position, visible};
use crate::ui::charts::ticks::{self, Ticks};
use crate::ui::markup::{Markup, markup};

/// How human and AI views stand in the column of a day.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Form {
    /// AI on top of human: what is read in all.
    #[default]
    Stacked,
    /// Next to each other: how they compare.
    Side,
}

/// A day's band is so many parts wide, of which the first and the last stay free.
const PARTS: usize = 10;

impl Form {
    /// What the axis must reach.
    pub fn ticks(self, points: &[TrendPoint]) -> Ticks {
        let height = |ViewCounts { human, ai, .. }: ViewCounts| match self {
            Self::Stacked => human.saturating_add(ai),
            Self::Side => human.max(ai),
        };
        Ticks::up_to(points.iter().map(|point| height(point.counts)).max().unwrap_or(0))
    }
}

/// Lines across, and a column for each point.
pub fn picture(points: &[TrendPoint], form: Form) -> Markup {
    let ticks = form.ticks(points);
    let lines = ticks.values().map(|value| {
        let y = from_top(value, ticks);
        markup(r#"<line class="chart-line" x2="100%" y1="{}" y2="{}"/>"#, &[&y, &y])
    });
    let columns = points.iter().enumerate().map(|(at, point)| column(point, at, points.len(), ticks, form));
    lines.chain(columns).collect()
}

/// The numbers beside the lines.
pub fn scale_labels(ticks: Ticks) -> Markup {
    let label =
        |value| markup(r#"<text x="100%" y="{}">{}</text>"#, &[&from_top(value, ticks), &grouped(value)]);
    ticks.values().map(label).collect()
}

/// The names of days below the columns; every other one can be left out where there is little room.
pub fn day_labels(points: &[TrendPoint]) -> Markup {
    let label = |(at, point): (usize, &TrendPoint)| {
        let class = if (at / ticks::every(points.len())).is_multiple_of(2) { "" } else { "every-other" };
        markup(
            r#"<text class="{}" x="{}" y="14">{}</text>"#,
            &[&class, &middle(at, points.len()), &point.day.month_and_day()],
        )
    };
    points.iter().enumerate().step_by(ticks::every(points.len())).map(label).collect()
}

/// A light behind the column of the point at `at`.
pub fn cursor(at: usize, count: usize) -> Markup {
    markup(
        r#"<rect class="chart-cursor" x="{}" width="{}" height="100%"/>"#,
        &[&position(at, count), &position(1, count)],
    )
}

/// Where the middle of the band of the point at `at` is.
pub fn middle(at: usize, count: usize) -> String {
    position(2 * at + 1, 2 * count)
}

fn column(point: &TrendPoint, at: usize, count: usize, ticks: Ticks, form: Form) -> Markup {
    let class = if point.unfinished { "unfinished" } else { "" };
    let parts = match form {
        Form::Stacked => {
            let Stack { human, ai } = Stack::of(point.counts, ticks.top);
            [("bar-human", 1, 8, human, 0), ("bar-ai", 1, 8, ai, human)]
        }
        Form::Side => {
            let [human, ai] = [point.counts.human, point.counts.ai].map(|part| visible(part, ticks.top));
            [("bar-human", 1, 4, human, 0), ("bar-ai", 5, 4, ai, 0)]
        }
    };
    let bars: Markup = parts
        .into_iter()
        .map(|(class, first, parts, tall, above)| {
            let x = position(at * PARTS + first, count * PARTS);
            let y = length(1000_u64.saturating_sub(tall + above));
            markup(
                r#"<rect class="{}" x="{}" width="{}" y="{}" height="{}"/>"#,
                &[&class, &x, &position(parts, count * PARTS), &y, &length(tall)],
            )
        })
        .collect();
    markup(r#"<g class="{}" data-day="{}">{}</g>"#, &[&class, &point.day.to_string(), &bars])
}

fn from_top(value: u64, ticks: Ticks) -> String {
    length(1000 - per_mille(value, ticks.top))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn points(counts: &[(u64, u64)]) -> Vec<TrendPoint> {
        let first: crate::model::day::Day = "2026-11-01".parse().unwrap_or_else(|error| panic!("{error}"));
        let point = |(at, &(human, ai)): (usize, &(u64, u64))| TrendPoint {
            day: first.plus_days(at as i64),
            days: 1,
            counts: ViewCounts { human, ai, total: human + ai },
            unfinished: at + 1 == counts.len(),
        };
        counts.iter().enumerate().map(point).collect()
    }

    #[test]
    fn ai_stands_on_human_and_the_axis_holds_both() {
        let points = points(&[(300, 100), (0, 0)]);
        assert_eq!(Form::Stacked.ticks(&points), Ticks { step: 100, top: 400 });
        let html = picture(&points, Form::Stacked).into_html();
        assert!(
            html.contains(concat!(
                r#"<g class="" data-day="2026-11-01">"#,
                r#"<rect class="bar-human" x="5.000%" width="40.000%" y="25.0%" height="75.0%"/>"#,
                r#"<rect class="bar-ai" x="5.000%" width="40.000%" y="0.0%" height="25.0%"/></g>"#,
            )),
            "{html}"
        );
        assert!(html.contains(r#"<g class="unfinished" data-day="2026-11-02">"#), "{html}");
    }

    #[test]
    fn side_by_side_each_stands_on_the_ground() {
        let points = points(&[(300, 100), (200, 150)]);
        assert_eq!(Form::Side.ticks(&points).top, 300);
        let html = picture(&points, Form::Side).into_html();
        assert!(
            html.contains(r#"<rect class="bar-human" x="5.000%" width="20.000%" y="0.0%" height="100.0%"/>"#),
            "{html}"
        );
        assert!(
            html.contains(r#"<rect class="bar-ai" x="25.000%" width="20.000%" y="66.7%" height="33.3%"/>"#),
            "{html}"
        );
    }

    #[test]
    fn few_days_are_named_and_half_of_them_on_a_phone() {
        let html = day_labels(&points(&[(1, 1); 28])).into_html();
        assert_eq!(html.matches("<text").count(), 7);
        assert_eq!(html.matches("every-other").count(), 3);
        assert!(html.contains(r#"x="1.785%" y="14">Nov 1</text>"#), "{html}");
    }
}
