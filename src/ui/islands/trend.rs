//! A trend as a chart: columns, and the numbers of the day that the pointer or the arrow keys point at. Complete as HTML; in the browser
//! it can be pointed at. Needs [`bar::patterns`](crate::ui::charts::bar::patterns) once on the page.

use leptos::ev::PointerEvent;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::Element;
use serde::{Deserialize, Serialize};

use crate::model::analytics_query::Form;
use crate::model::day::Day;
use crate::model::history::TrendPoint;
use crate::model::page_views::ViewCounts;
use crate::ui::charts::events::{self, Marks};
use crate::ui::charts::{columns, summary};

/// The points of a trend as numbers.
#[derive(Clone, Serialize, Deserialize)]
pub struct Points {
    from: Day,
    /// Days after `from`, how many days it stands for, human views, AI views.
    points: Vec<(u32, u32, u64, u64)>,
    /// Which of the points are still being counted.
    incomplete: Vec<usize>,
}

impl Points {
    /// Nothing where there are no points.
    pub fn of(points: &[TrendPoint]) -> Option<Self> {
        let from = points.first()?.day;
        let fields = |point: &TrendPoint| {
            let after = u32::try_from(point.day.days_since(from)).unwrap_or_default();
            (after, point.days, point.counts.human, point.counts.ai)
        };
        Some(Self {
            from,
            points: points.iter().map(fields).collect(),
            incomplete: (0..points.len()).filter(|at| points[*at].unfinished).collect(),
        })
    }

    fn read(&self) -> Vec<TrendPoint> {
        let point = |(at, &(after, days, human, ai)): (usize, &(u32, u32, u64, u64))| TrendPoint {
            day: self.from.plus_days(after.into()),
            days,
            counts: ViewCounts { human, ai, total: human.saturating_add(ai) },
            unfinished: self.incomplete.contains(&at),
        };
        self.points.iter().enumerate().map(point).collect()
    }
}

/// `summary` is what the chart shows in words, until a day is pointed at.
#[island]
pub fn Trend(points: Points, form: Form, summary: String, marks: Marks) -> impl IntoView {
    let points = points.read();
    let count = points.len();
    let last = count.saturating_sub(1);
    let scale = columns::scale_labels(&points, form);
    let picture = columns::picture(&points, form, summary.clone());
    let day_labels = columns::day_labels(&points);
    let points = StoredValue::new(points);
    let pointed = RwSignal::new(None::<usize>);
    let words = move |at: usize, words: fn(&TrendPoint) -> String| {
        points.with_value(|points| points.get(at).map(words))
    };
    let point_at = move |value: String| pointed.set(value.parse().ok());
    view! {
        <figure class="chart">
            {scale}
            <div class="chart-plot">
                <svg class="chart-under" aria-hidden="true">
                    {move || pointed.get().map(|at| columns::cursor(at, count))}
                </svg>
                {picture}
                <input
                    class="js-only"
                    type="range"
                    aria-label="Days"
                    aria-valuetext=move || words(pointed.get().unwrap_or(last), summary::days)
                    max=last.to_string()
                    prop:value=move || pointed.get().unwrap_or(last).to_string()
                    on:focus=move |event| point_at(event_target_value(&event))
                    on:input=move |event| point_at(event_target_value(&event))
                    on:pointermove=move |event| follow(pointed, count, &event)
                />
            </div>
            <div class="chart-below">{day_labels} {events::marks(&marks, count)}</div>
            <figcaption class="readout">
                <p role="status">
                    {move || pointed.get().and_then(|at| words(at, summary::readout)).unwrap_or_else(|| summary.clone())}
                </p>
            </figcaption>
        </figure>
    }
}

/// Points at the day below the pointer.
fn follow(pointed: RwSignal<Option<usize>>, count: usize, event: &PointerEvent) {
    let Some(plot) = event.target().and_then(|target| target.dyn_into::<Element>().ok()) else { return };
    let (x, width) = (event.offset_x().max(0) as usize, plot.client_width().max(1) as usize);
    let at = (x * count / width).min(count.saturating_sub(1));
    if pointed.get_untracked() != Some(at) {
        pointed.set(Some(at));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn points_survive_the_way_to_the_browser() {
        let day = |text: &str| text.parse().unwrap_or_else(|error| panic!("{error}"));
        let point = |text, days, unfinished| TrendPoint {
            day: day(text),
            days,
            counts: ViewCounts { human: 3, ai: 1, total: 4 },
            unfinished,
        };
        let all =
            [point("2026-10-28", 5, false), point("2026-11-02", 7, false), point("2026-11-09", 2, true)];
        let sent = Points::of(&all).expect("points");
        assert_eq!(sent.read(), all);
        assert!(Points::of(&[]).is_none());
    }
}
