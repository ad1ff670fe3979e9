//! The compared period of a trend: lines over the columns, with gaps where it has no figures.

use leptos::prelude::*;

use crate::ui::charts::columns::{PARTS, ticks};
use crate::ui::charts::scale::per_mille;
use crate::ui::charts::ticks::Ticks;
use model::analytics::query::Form;
use model::analytics::trend::TrendPoint;
use model::page_views::ViewCounts;

/// A line of the compared period.
pub struct Line {
    pub class: &'static str,
    pub name: &'static str,
    views: fn(ViewCounts) -> u64,
}

const PREVIOUS: Line = Line { class: "previous-line", name: "Previous period", views: ViewCounts::readers };
const PREVIOUS_PEOPLE: Line = Line {
    class: "previous-line previous-human",
    name: "People, previous period",
    views: |counts| counts.human,
};
const PREVIOUS_AI: Line =
    Line { class: "previous-line previous-ai", name: "AI, previous period", views: |counts| counts.ai };

/// The lines of the compared period that are drawn: one for stacked columns, otherwise one for people and one for AI. None unless two
/// neighboring points have one.
pub fn lines(points: &[TrendPoint], form: Form) -> &'static [Line] {
    let are_drawn = points.windows(2).any(|pair| pair.iter().all(|point| point.previous.is_some()));
    match form {
        _ if !are_drawn => &[],
        Form::Stacked => &[PREVIOUS],
        Form::Side => &[PREVIOUS_PEOPLE, PREVIOUS_AI],
    }
}

/// The [`lines`] over the columns, with gaps where the compared period has no figures.
pub fn drawn(points: &[TrendPoint], form: Form) -> Option<AnyView> {
    let lines = lines(points, form);
    let ticks = ticks(form, points);
    let parts: Vec<_> = lines.iter().flat_map(|line| polylines(points, ticks, line)).collect();
    let view_box = format!("0 0 {} 1000", points.len() * PARTS);
    (!lines.is_empty()).then(|| {
        view! {
            <svg class="chart-previous" viewBox=view_box preserveAspectRatio="none" aria-hidden="true">
                {parts}
            </svg>
        }
        .into_any()
    })
}

/// The parts of a line between its gaps.
fn polylines(points: &[TrendPoint], ticks: Ticks, line: &Line) -> Vec<AnyView> {
    let place = |(at, point): (usize, &TrendPoint)| {
        let top = 1000 - per_mille((line.views)(point.previous?), ticks.top);
        Some(format!("{},{top}", at * PARTS + PARTS / 2))
    };
    let places: Vec<Option<String>> = points.iter().enumerate().map(place).collect();
    let parts = places.chunk_by(|a, b| a.is_some() && b.is_some()).filter(|part| part.len() > 1);
    let polyline = |part: &[Option<String>]| {
        let points = part.iter().flatten().map(String::as_str).collect::<Vec<_>>().join(" ");
        view! { <polyline class=line.class points=points /> }.into_any()
    };
    parts.map(polyline).collect()
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
            unfinished_days: 0,
            provisional_days: 0,
            previous: None,
            previous_provisional_days: 0,
        };
        counts.iter().enumerate().map(point).collect()
    }

    #[test]
    fn line_of_the_compared_period_has_a_gap_where_days_are_left_out() {
        let with = |known: &[bool]| {
            let mut points = points(&vec![(300, 100); known.len()]);
            for (point, known) in points.iter_mut().zip(known) {
                point.previous = known.then_some(ViewCounts { human: 40, ai: 40, total: 80 });
            }
            drawn(&points, Form::Stacked).map(|line| line.to_html())
        };
        let html = with(&[true, true, false, true, true]).unwrap_or_default();
        assert_eq!(html.matches("<polyline").count(), 2, "{html}");
        assert!(with(&[true, false, true]).is_none());
    }

    #[test]
    fn compared_period_is_a_line_through_the_centers() {
        let mut points = points(&[(300, 100), (0, 0), (10, 0)]);
        assert!(drawn(&points, Form::Stacked).is_none());
        points[0].previous = Some(ViewCounts { human: 400, ai: 400, total: 800 });
        points[1].previous = Some(ViewCounts::default());
        assert_eq!(ticks(Form::Stacked, &points).top, 800);
        let line = drawn(&points, Form::Stacked).map(|line| line.to_html()).unwrap_or_default();
        assert!(
            line.contains(r#"viewBox="0 0 30 1000""#) && line.contains(r#"points="5,0 15,1000""#),
            "{line}"
        );
    }

    #[test]
    fn side_by_side_people_and_ai_have_a_line_each() {
        let mut points = points(&[(300, 100), (200, 100), (100, 100)]);
        for (point, human) in points.iter_mut().zip([300, 200]) {
            point.previous = Some(ViewCounts { human, ai: 150, total: human + 150 });
        }
        let names = |form| lines(&points, form).iter().map(|line| line.name).collect::<Vec<_>>();
        assert_eq!(names(Form::Stacked), ["Previous period"]);
        assert_eq!(names(Form::Side), ["People, previous period", "AI, previous period"]);
        // The scale is of the larger count, not of the sum.
        assert_eq!(ticks(Form::Side, &points).top, 300);
        let html = drawn(&points, Form::Side).map(|lines| lines.to_html()).unwrap_or_default();
        let drawn: Vec<_> = html.split("<polyline").skip(1).collect();
        assert_eq!(drawn.len(), 2, "{html}");
        assert!(drawn[0].contains("previous-human") && drawn[0].contains("5,0 15,333"), "{html}");
        assert!(drawn[1].contains("previous-ai") && drawn[1].contains("5,500 15,500"), "{html}");
    }
}
