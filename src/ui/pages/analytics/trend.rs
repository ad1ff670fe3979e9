//! A trend: the chart, its legend, and the data as a table. Also used by the overview.

use leptos::prelude::*;

use crate::model::analytics_query::Form;
use crate::model::history::{Trend, TrendPoint};
use crate::ui::charts::events::Marks;
use crate::ui::charts::number::grouped;
use crate::ui::charts::{bar, summary};
use crate::ui::islands::trend::{Points, Trend as TrendChart};

/// `None` without days. Needs [`bar::patterns`] once on the page.
pub(in crate::ui::pages) fn trend(project: &str, shown: &Trend, form: Form) -> Option<AnyView> {
    let points = Points::of(&shown.points)?;
    let summary = summary::summary(&shown.points);
    let marks = Marks::of(project, shown);
    Some(
        view! {
            <TrendChart points form summary marks />
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
