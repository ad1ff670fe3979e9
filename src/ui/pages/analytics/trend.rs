//! A trend: the chart, its legend, and the data as a table. Also used by the overview.

use leptos::prelude::*;

use crate::model::analytics_query::Form;
use crate::model::history::{Trend, TrendPoint};
use crate::ui::charts::events::{self, Marks};
use crate::ui::charts::number::grouped;
use crate::ui::charts::{bar, columns, summary};
use crate::ui::islands::trend::Trend as Pointing;

/// `None` without days. Needs [`bar::patterns`] once on the page.
pub(in crate::ui::pages) fn trend(project: &str, shown: &Trend, form: Form) -> Option<AnyView> {
    let points = &shown.points;
    let count = points.len();
    let last = points.last()?;
    let summary = summary::summary(points);
    let scale = columns::scale_labels(points, form);
    let picture = columns::picture(points, form, summary.clone());
    let day_labels = columns::day_labels(points);
    let marks = events::marks(&Marks::of(project, shown), count);
    let last_days = summary::days(last);
    Some(
        view! {
            <Pointing>
                <figure class="chart">
                {scale}
                <div class="chart-plot">
                    <svg class="chart-under" aria-hidden="true"><rect class="chart-cursor" height="100%" width="0" /></svg>
                    {picture}
                    <input
                        class="js-only"
                        type="range"
                        aria-label="Days"
                        aria-valuetext=last_days
                        max=count - 1
                        value=count - 1
                    />
                </div>
                <div class="chart-below">{day_labels} {marks}</div>
                <figcaption class="readout">
                    <p role="status">{summary}</p>
                </figcaption>
                </figure>
            </Pointing>
            {bar::legend()}
            {as_table(&shown.points)}
        }
        .into_any(),
    )
}

fn as_table(points: &[TrendPoint]) -> AnyView {
    let rows = points.iter().map(|point| {
        let counts = point.counts;
        let note = if point.unfinished { " (incomplete)" } else { "" };
        let numbers = [counts.human, counts.ai, counts.total]
            .map(|count| view! { <td class="numeric">{grouped(count)}</td> });
        view! { <tr><th scope="row">{summary::days(point) + note}</th>{numbers}</tr> }
    });
    view! {
        <details class="as-table">
            <summary>"Show as a table"</summary>
            <table class="pages">
                <thead>
                    <tr>
                        <th scope="col">"Day (UTC)"</th>
                        <th scope="col" class="numeric">"Human"</th>
                        <th scope="col" class="numeric">"AI"</th>
                        <th scope="col" class="numeric">"Views"</th>
                    </tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </details>
    }
    .into_any()
}
