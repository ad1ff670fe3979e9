//! A trend: the chart, and the data as a table. Also used by the overview.

use leptos::either::Either;
use leptos::prelude::*;

use crate::ui::charts::events::{self, Marks};
use crate::ui::charts::number::{ai_share, counted};
use crate::ui::charts::{bar, columns, previous, summary};
use crate::ui::clock;
use crate::ui::components::localized::{self, cell};
use crate::ui::components::table;
use crate::ui::islands::trend::Trend as Plot;
use crate::ui::marks::{TREND_LINK, TREND_READOUT, TREND_TABLE};
use model::analytics::query::Form;
use model::analytics::trend::{Trend, TrendPoint, are_weeks};
use model::links;
use model::page_views::ViewCounts;

/// The most jobs, and the most notes, in a row of the table.
const TEXTS: usize = 3;

/// The most characters of a note in the table. The list of events has the whole.
const NOTE_CHARS: usize = 100;

/// The chart with its legend and its table; `None` without days. Needs [`bar::patterns`] once on the page.
pub(crate) fn trend(project: &str, shown: &Trend, form: Form) -> Option<AnyView> {
    let chart = chart(project, shown, form, &links::analytics(project))?;
    Some(view! { {chart} {legend(project, shown, form)} {as_table(shown, form)} }.into_any())
}

/// The legend of the chart.
pub(super) fn legend(project: &str, shown: &Trend, form: Form) -> AnyView {
    let marks = events::legend(&Marks::of(project, shown));
    bar::legend_of_trend(previous::lines(&shown.points, form), marks)
}

/// The chart alone. `base`: the URL that opens days of it, without days.
pub(super) fn chart(project: &str, shown: &Trend, form: Form, base: &str) -> Option<AnyView> {
    let points = &shown.points;
    let count = points.len();
    let last = points.last()?;
    let summary = summary::summary(points, form, clock::today());
    let scale = columns::scale_labels(points, form);
    let picture = columns::picture(points, form, summary.clone());
    let previous = previous::drawn(points, form);
    let day_labels = columns::day_labels(points);
    let marks = events::marks(&Marks::of(project, shown), count);
    let week_labels = columns::week_labels(points);
    let last_days = [summary::days(last), note(last, are_weeks(points)).unwrap_or_default()].concat();
    let base = base.to_owned();
    Some(
        view! {
            <figure class="chart">
                {scale}
                <Plot>
                    <svg class="chart-under" aria-hidden="true">
                        <rect class="chart-cursor" height="100%" width="0" />
                        <rect class="chart-chosen" height="100%" width="0" />
                    </svg>
                    {picture}
                    {previous}
                    <input
                        class="js-only"
                        type="range"
                        aria-label="Days"
                        aria-describedby="chart-keys"
                        aria-valuetext=last_days
                        max=count - 1
                        value=count - 1
                    />
                    <div class="chart-hit"></div>
                    <div class="chart-tip" aria-hidden="true"></div>
                    <a id=TREND_LINK.name() href=base hidden></a>
                </Plot>
                <div class="chart-below">{day_labels} {week_labels} {marks}</div>
                <figcaption class="readout">
                    <p id=TREND_READOUT.name() role="status">{summary}</p>
                    <p id="chart-keys" class="js-only">
                        "Enter opens the day. Shift with the arrow keys chooses days, and Enter opens them."
                    </p>
                </figcaption>
            </figure>
        }
        .into_any(),
    )
}

/// The table of the same days, from which the chart's tooltip is made.
pub(super) fn as_table(shown: &Trend, form: Form) -> AnyView {
    let are_weeks = are_weeks(&shown.points);
    let by_reader = form == Form::Side;
    let rows = shown.points.iter().map(|point| {
        let counts = point.counts;
        let note = note(point, are_weeks);
        let numbers = [counts.total, counts.human, counts.ai].map(|count| cell("numeric", count));
        let before = |of: fn(ViewCounts) -> u64| match point.previous {
            Some(before) => Either::Left(cell("numeric", of(before))),
            None => Either::Right(view! { <td class="numeric">"–"</td> }),
        };
        let before_by_reader = by_reader.then(|| [before(|counts| counts.human), before(|counts| counts.ai)]);
        view! {
            <tr>
                <th scope="row">{days(point)} {note}</th>
                {numbers}
                <td class="numeric">{ai_share(counts)}</td>
                {before(|counts| counts.total)}
                {before_by_reader}
                <td>{jobs(shown, point)}</td>
                <td>{notes(shown, point)}</td>
            </tr>
        }
    });
    let heads_by_reader = by_reader.then(|| {
        ["People, previous period", "AI, previous period"]
            .map(|name| view! { <th scope="col" class="numeric">{name}</th> })
    });
    let table = view! {
        <table id=TREND_TABLE.name() class="pages">
            <thead>
                <tr>
                    <th scope="col">"Day (UTC)"</th>
                    <th scope="col" class="numeric">"Views"</th>
                    <th scope="col" class="numeric">"People"</th>
                    <th scope="col" class="numeric">"AI"</th>
                    <th scope="col" class="numeric">"AI share"</th>
                    <th scope="col" class="numeric">"Previous period"</th>
                    {heads_by_reader}
                    <th scope="col">"Jobs"</th>
                    <th scope="col">"Notes"</th>
                </tr>
            </thead>
            <tbody>{rows.collect_view()}</tbody>
        </table>
    };
    view! {
        <details class="as-table">
            <summary>"Show as a table"</summary>
            {table::wide("Trend as a table", table)}
        </details>
    }
    .into_any()
}

/// ` (2 days, 1 day incomplete)` after the days of a week that has no more, and of a point with days that are incomplete or provisional.
fn note(point: &TrendPoint, are_weeks: bool) -> Option<String> {
    let short = point.is_short_week(are_weeks).then(|| counted(point.days.into(), "day", "days"));
    let (unfinished, provisional) = (point.unfinished_days, point.provisional_days);
    let provisional = provisional.saturating_sub(unfinished);
    let may_change = [("incomplete", unfinished), ("provisional", provisional)].into_iter();
    let may_change = may_change.filter(|(_, days)| *days > 0).map(|(what, days)| match are_weeks {
        true => format!("{} {what}", counted(days.into(), "day", "days")),
        false => what.to_owned(),
    });
    let before = match point.previous_provisional_days {
        0 => None,
        _ if !are_weeks => Some("compared day provisional".to_owned()),
        days => Some(format!("{} provisional", counted(days.into(), "compared day", "compared days"))),
    };
    let notes: Vec<_> = short.into_iter().chain(may_change).chain(before).collect();
    (!notes.is_empty()).then(|| format!(" ({})", notes.join(", ")))
}

/// The day of a point, or its first and last day.
fn days(point: &TrendPoint) -> AnyView {
    match point.days {
        0 | 1 => localized::with_weekday(point.day).into_any(),
        _ => localized::days(point.day, point.last_day()).into_any(),
    }
}

/// The titles of the jobs that finished on the days of a point.
fn jobs(shown: &Trend, point: &TrendPoint) -> String {
    let jobs = shown.markers.iter().filter(|job| point.contains(job.day));
    first(jobs.map(|job| job.title.clone()))
}

/// The notes on the days of a point, and what changed there about AI.
fn notes(shown: &Trend, point: &TrendPoint) -> String {
    let notes = shown.annotations.iter().filter(|note| point.contains(note.day));
    let changes = shown.ai_changes().filter(|change| point.contains(change.day));
    first(notes.map(|note| short(&note.text)).chain(changes.map(|change| change.what.to_owned())))
}

/// The first texts, and the number of the others.
fn first(texts: impl Iterator<Item = String>) -> String {
    let mut texts: Vec<_> = texts.collect();
    let more = texts.len().saturating_sub(TEXTS) as u64;
    texts.truncate(TEXTS);
    texts.extend((more > 0).then(|| counted(more, "more", "more")));
    texts.join("; ")
}

fn short(text: &str) -> String {
    match text.char_indices().nth(NOTE_CHARS) {
        Some((end, _)) => [text[..end].trim_end(), "…"].concat(),
        None => text.to_owned(),
    }
}
