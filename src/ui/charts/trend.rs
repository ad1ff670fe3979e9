//! A trend as people meet it: the picture, what a pointer or the arrow keys point at in words, and all of it as a table.
//! [`plot`] draws it, on the server; [`trend`] shows what was drawn.

use std::sync::Arc;

use leptos::ev::PointerEvent;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::Element;

use crate::model::drawn::Plot;
use crate::model::history::{Trend, TrendPoint};
use crate::model::views::ViewCounts;
use crate::ui::charts::columns::{self, Form};
use crate::ui::charts::number::{ai_share, counted, grouped};
use crate::ui::charts::{bar, events};
use crate::ui::erase::{Erase, handler};
use crate::ui::markup::{Markup, markup};

/// `project` is for links to the jobs that are marked.
pub fn plot(project: &str, trend: &Trend, form: Form) -> Plot {
    let points = &trend.points;
    Plot {
        scale: columns::scale_labels(form.ticks(points)).into_html(),
        picture: columns::picture(points, form).into_html(),
        below: below(project, trend).into_html(),
        table: as_table(points).into_html(),
        summary: summary(points),
        readouts: points.iter().map(said).collect(),
    }
}

/// Needs [`bar::patterns`] once on the page.
pub fn trend(plot: Plot) -> AnyView {
    let Plot { scale, picture, below, table, summary, readouts } = plot;
    let readouts: Arc<[String]> = readouts.into();
    let count = readouts.len();
    let last = count.saturating_sub(1);
    let pointed = RwSignal::new(None::<usize>);
    let cursor = move || {
        let cursor = pointed.get().map(|at| columns::cursor(at, count));
        cursor.unwrap_or_default().into_html()
    };
    let readout = {
        let (readouts, summary) = (readouts.clone(), summary.clone());
        move || pointed.get().and_then(|at| readouts.get(at).cloned()).unwrap_or_else(|| summary.clone())
    };
    let days = move || {
        let readout = readouts.get(pointed.get().unwrap_or(last))?;
        readout.split(": ").next().map(str::to_owned)
    };
    view! {
        <figure class="chart">
            <svg class="chart-scale" aria-hidden="true" inner_html=scale></svg>
            <div class="chart-plot">
                <svg class="chart-under" aria-hidden="true" inner_html=cursor></svg>
                <svg role="img" aria-label=summary inner_html=picture></svg>
                <input
                    class="js-only"
                    type="range"
                    aria-label="Days"
                    aria-valuetext=days
                    max=last.to_string()
                    prop:value=move || pointed.get().unwrap_or(last).to_string()
                    on:focus=handler(move |event| point_at(pointed, event_target_value(&event)))
                    on:input=handler(move |event| point_at(pointed, event_target_value(&event)))
                    on:pointermove=handler(move |event| follow(pointed, count, &event))
                />
            </div>
            <div class="chart-below" inner_html=below></div>
            <figcaption class="readout"><p role="status">{readout}</p></figcaption>
        </figure>
        <div inner_html=bar::legend().into_html()></div>
        <details class="as-table" inner_html=table></details>
    }
    .into_any()
}

fn point_at(pointed: RwSignal<Option<usize>>, value: String) {
    pointed.set(value.parse().ok());
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

fn below(project: &str, trend: &Trend) -> Markup {
    let days = columns::day_labels(&trend.points);
    markup(
        r#"<svg class="chart-days" aria-hidden="true">{}</svg>{}"#,
        &[&days, &events::marks(project, trend)],
    )
}

/// `Tue 2026-11-10: 1,234 human, 567 AI`.
fn said(point: &TrendPoint) -> String {
    let ViewCounts { human, ai, .. } = point.counts;
    let unfinished = if point.unfinished { ", still being counted" } else { "" };
    format!("{}: {} human, {} AI{unfinished}", named(point), grouped(human), grouped(ai))
}

fn named(point: &TrendPoint) -> String {
    let TrendPoint { day, days, .. } = *point;
    match days {
        0 | 1 => format!("{} {day}", day.weekday()),
        _ => format!("{day} to {}", day.plus_days(i64::from(days) - 1)),
    }
}

/// What the picture shows, in a sentence.
fn summary(points: &[TrendPoint]) -> String {
    let (Some(first), Some(last)) = (points.first(), points.last()) else {
        return "No days to show.".to_owned();
    };
    let all: ViewCounts = points.iter().map(|point| point.counts).sum();
    let by = if points.iter().any(|point| point.days > 1) { "week" } else { "day" };
    let to = last.day.plus_days(i64::from(last.days.max(1)) - 1);
    let most = points.iter().max_by_key(|point| point.counts.total).filter(|point| point.counts.total > 0);
    let most = most.map(|most| format!("; most on {} ({})", named(most), grouped(most.counts.total)));
    let unfinished = points.iter().any(|point| point.unfinished);
    format!(
        "By {by}, {} to {to}: {}, {} by AI agents{}.{}",
        first.day,
        counted(all.total, "view", "views"),
        ai_share(all),
        most.unwrap_or_default(),
        if unfinished { " What is drawn lighter is still being counted." } else { "" },
    )
}

fn as_table(points: &[TrendPoint]) -> Markup {
    let rows: Markup = points
        .iter()
        .map(|point| {
            let ViewCounts { human, ai, total } = point.counts;
            let note = if point.unfinished { " (still being counted)" } else { "" };
            let numbers = [human, ai, total].map(grouped);
            markup(
                r#"<tr><th scope="row">{}{}</th><td class="numeric">{}</td><td class="numeric">{}</td><td class="numeric">{}</td></tr>"#,
                &[&named(point), &note, &numbers[0], &numbers[1], &numbers[2]],
            )
        })
        .collect();
    markup(
        r#"<summary>Show as a table</summary><table class="pages"><thead><tr><th scope="col">Day (UTC)</th><th scope="col" class="numeric">Human</th><th scope="col" class="numeric">AI</th><th scope="col" class="numeric">Views</th></tr></thead><tbody>{}</tbody></table>"#,
        &[&rows],
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(day: &str, days: u32, human: u64, ai: u64) -> TrendPoint {
        let day = day.parse().unwrap_or_else(|error| panic!("{error}"));
        let counts = ViewCounts { human, ai, total: human + ai };
        TrendPoint { day, days, counts, unfinished: false }
    }

    #[test]
    fn a_point_is_read_out_with_its_weekday() {
        let day = point("2026-11-10", 1, 1234, 567);
        assert_eq!(said(&day), "Tue 2026-11-10: 1,234 human, 567 AI");
        let today = TrendPoint { unfinished: true, ..day };
        assert_eq!(said(&today), "Tue 2026-11-10: 1,234 human, 567 AI, still being counted");
        assert_eq!(said(&point("2026-11-02", 7, 1, 0)), "2026-11-02 to 2026-11-08: 1 human, 0 AI");
    }

    #[test]
    fn the_picture_is_summed_up_in_a_sentence() {
        let days = [point("2026-11-10", 1, 300, 100), point("2026-11-11", 1, 10, 5)];
        assert_eq!(
            summary(&days),
            "By day, 2026-11-10 to 2026-11-11: 415 views, 25% by AI agents; most on Tue 2026-11-10 (400)."
        );
        let none = [point("2026-11-10", 1, 0, 0)];
        assert_eq!(summary(&none), "By day, 2026-11-10 to 2026-11-10: 0 views, – by AI agents.");
    }
}
