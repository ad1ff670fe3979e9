//! Marks below a trend: jobs that finished, the team's notes, and changes of what counts as AI. The assignment of marks to days is pure and tested.

use leptos::prelude::*;
use serde::{Deserialize, Serialize};

use crate::ui::charts::columns::middle;
use crate::ui::charts::number::counted;
use model::analytics::trend::{Trend, TrendPoint};
use model::day::Day;
use model::links;

/// The id of the list of events on the page.
pub const LIST: &str = "events";

/// The shapes of the marks.
const JOB: &str = "M0 2l7 12h-14z";
const NOTE: &str = "M0 2l6 6l-6 6l-6-6z";

/// One mark below the columns: a link to the event, or to the list if there are several.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// The index of the point above it.
    pub at: usize,
    pub href: String,
    pub title: String,
}

/// The marks of a trend, with one row per kind.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Marks {
    pub jobs: Vec<Mark>,
    pub notes: Vec<Mark>,
}

impl Marks {
    pub fn of(project: &str, trend: &Trend) -> Self {
        let jobs = trend.markers.iter().map(|job| {
            (
                job.day,
                links::job(project, job.job.as_str()),
                match job.merged {
                    true => format!("Merged {}: {}", job.day.long(), job.title),
                    false => format!("Job finished {}: {}", job.day.long(), job.title),
                },
            )
        });
        let notes = trend.annotations.iter().map(|note| {
            (note.day, format!("#{LIST}"), format!("Note on {}: {}", note.day.long(), note.text))
        });
        let changes = trend.ai_changes().map(|change| {
            (change.day, format!("#{LIST}"), format!("Note on {}: {}", change.day.long(), change.what))
        });
        Self {
            jobs: row(&trend.points, jobs, "jobs"),
            notes: row(&trend.points, notes.chain(changes), "notes"),
        }
    }
}

/// The rows of marks below `count` columns; empty rows are omitted.
pub fn marks(marks: &Marks, count: usize) -> AnyView {
    let row = |name: &'static str, marks: &[Mark], path: &'static str| {
        let links = marks.iter().map(|Mark { at, href, title }| {
            view! {
                <svg class="chart-mark" x=middle(*at, count)>
                    <a href=href.clone() aria-label=title.clone()>
                        <title>{title.clone()}</title>
                        <path d=path />
                    </a>
                </svg>
            }
        });
        (!marks.is_empty()).then(
            || view! { <svg class="chart-marks" role="group" aria-label=name>{links.collect_view()}</svg> },
        )
    };
    view! {
        {row("Jobs that finished", &marks.jobs, JOB)}
        {row("Notes", &marks.notes, NOTE)}
    }
    .into_any()
}

/// What the marks mean, as items of the chart's legend. Empty without marks.
pub fn legend(marks: &Marks) -> AnyView {
    let item = |class: &'static str, path: &'static str, name: &'static str| {
        view! {
            <li>
                <svg class=class viewBox="-8 0 16 16" aria-hidden="true"><path d=path /></svg>
                {name}
            </li>
        }
    };
    let jobs = (!marks.jobs.is_empty()).then(|| item("swatch chart-mark", JOB, "Job finished"));
    let notes = (!marks.notes.is_empty()).then(|| item("swatch chart-mark chart-note", NOTE, "Note"));
    view! { {jobs} {notes} }.into_any()
}

fn row(points: &[TrendPoint], events: impl Iterator<Item = (Day, String, String)>, many: &str) -> Vec<Mark> {
    let mut groups: Vec<Vec<(String, String)>> = vec![Vec::new(); points.len()];
    for (day, href, title) in events {
        let at = points.partition_point(|point| point.day <= day);
        if let Some(group) = at.checked_sub(1).and_then(|at| groups.get_mut(at)) {
            group.push((href, title));
        }
    }
    let mark = |(at, mut group): (usize, Vec<(String, String)>)| {
        let several = group.len() as u64;
        let (href, title) = group.pop()?;
        Some(match several {
            1 => Mark { at, href, title },
            _ => Mark { at, href: format!("#{LIST}"), title: counted(several, "", many) + " here" },
        })
    };
    groups.into_iter().enumerate().filter_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::analytics::trend::{Annotation, Marker};
    use model::page_views::ViewCounts;

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn trend(days: &[&str], jobs: &[&str], notes: &[&str]) -> Trend {
        let points = days.iter().map(|text| TrendPoint {
            day: day(text),
            days: 1,
            counts: ViewCounts::default(),
            unfinished_days: 0,
            provisional_days: 0,
            previous: None,
            previous_provisional_days: 0,
        });
        let job = || "01920000-0000-7000-8000-000000000000".parse().unwrap_or_else(|_| panic!("an id"));
        let marker =
            |text: &&str| Marker { day: day(text), job: job(), title: "Fix <it>".to_owned(), merged: false };
        let note = |text: &&str| Annotation {
            id: "n".to_owned(),
            day: day(text),
            text: "Release \"3\"".to_owned(),
            author: "ada".to_owned(),
        };
        Trend {
            points: points.collect(),
            markers: jobs.iter().map(marker).collect(),
            annotations: notes.iter().map(note).collect(),
            markers_total: jobs.len() as u64,
            annotations_total: notes.len() as u64,
        }
    }

    #[test]
    fn mark_of_a_job_is_below_its_day_and_links() {
        let trend = trend(&["2026-11-01", "2026-11-02"], &["2026-11-02"], &[]);
        let found = Marks::of("docs", &trend);
        assert_eq!(found.jobs[0].at, 1);
        assert_eq!(found.jobs[0].title, "Job finished Nov 2, 2026: Fix <it>");
        let html = marks(&found, 2).to_html();
        assert!(
            html.contains(r#"x="75.000%""#) && html.contains(r#"href="/p/docs/jobs/01920000-"#),
            "{html}"
        );
        assert!(
            html.contains("Fix &lt;it&gt;") && !html.contains("<it>") && !html.contains("Notes"),
            "{html}"
        );
    }

    #[test]
    fn several_events_on_a_day_are_one_mark() {
        let found = Marks::of("docs", &trend(&["2026-11-01"], &["2026-11-01"; 2], &["2026-11-01"]));
        let several = Mark { at: 0, href: "#events".to_owned(), title: "2 jobs here".to_owned() };
        assert_eq!(found.jobs, [several]);
        assert_eq!(found.notes[0].title, "Note on Nov 1, 2026: Release \"3\"");
    }

    #[test]
    fn legend_has_the_shapes_of_the_marks_that_are_shown() {
        let days = ["2026-11-01", "2026-11-02"];
        for (jobs, notes, expected) in [
            (&[][..], &[][..], [false, false]),
            (&["2026-11-01"], &[], [true, false]),
            (&["2026-11-01"], &["2026-11-02"], [true, true]),
        ] {
            let html = legend(&Marks::of("docs", &trend(&days, jobs, notes))).to_html();
            assert_eq!([JOB, NOTE].map(|shape| html.contains(shape)), expected, "{html}");
            assert_eq!(["Job finished", "Note"].map(|name| html.contains(name)), expected, "{html}");
        }
    }

    #[test]
    fn events_before_the_first_day_are_not_marked() {
        assert_eq!(Marks::of("docs", &trend(&["2026-11-02"], &["2026-11-01"], &[])), Marks::default());
    }
}
