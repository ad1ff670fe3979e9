//! What happened on the days of a trend, marked below its columns: jobs that finished, and notes of the team's own. Pure.

use crate::model::day::Day;
use crate::model::history::{Trend, TrendPoint};
use crate::ui::charts::columns::middle;
use crate::ui::charts::number::counted;
use crate::model::links;
use crate::ui::markup::{Markup, markup};

/// Where the list of jobs and notes stands on the page.
pub const LIST: &str = "events";

/// A row of marks for jobs, and one for notes; nothing where there are none.
pub fn marks(project: &str, trend: &Trend) -> Markup {
    let jobs = trend.markers.iter().map(|job| {
        (job.day, links::job(project, job.job.as_str()), format!("Job finished {}: {}", job.day, job.title))
    });
    let notes = trend
        .annotations
        .iter()
        .map(|note| (note.day, format!("#{LIST}"), format!("Note on {}: {}", note.day, note.text)));
    let rows = [
        ("Jobs that finished", row(&trend.points, jobs, "jobs")),
        ("Notes", row(&trend.points, notes, "notes")),
    ];
    rows.into_iter().map(|(name, row)| framed(name, row)).collect()
}

fn framed(name: &str, marks: Vec<Markup>) -> Markup {
    if marks.is_empty() {
        return Markup::default();
    }
    let marks: Markup = marks.into_iter().collect();
    markup(r#"<svg class="chart-marks" role="group" aria-label="{}">{}</svg>"#, &[&name, &marks])
}

/// One mark for each point on which something happened: a link to it, or to the list where it is more than one thing.
fn row(
    points: &[TrendPoint],
    events: impl Iterator<Item = (Day, String, String)>,
    many: &'static str,
) -> Vec<Markup> {
    let mut places: Vec<Vec<(String, String)>> = vec![Vec::new(); points.len()];
    for (day, href, title) in events {
        let at = points.partition_point(|point| point.day <= day);
        if let Some(place) = at.checked_sub(1).and_then(|at| places.get_mut(at)) {
            place.push((href, title));
        }
    }
    let mark = |(at, place): (usize, Vec<(String, String)>)| {
        let (href, title) = match place.as_slice() {
            [] => return None,
            [(href, title)] => (href.clone(), title.clone()),
            several => (format!("#{LIST}"), counted(several.len() as u64, "", many) + " here"),
        };
        let path = if many == "jobs" { "M0 2l7 12h-14z" } else { "M0 2l6 6l-6 6l-6-6z" };
        Some(markup(
            r#"<svg class="chart-mark" x="{}"><a href="{}" aria-label="{}"><title>{}</title><path d="{}"/></a></svg>"#,
            &[&middle(at, points.len()), &href, &title, &title, &path],
        ))
    };
    places.into_iter().enumerate().filter_map(mark).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::history::{Annotation, Marker};
    use crate::model::views::ViewCounts;

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn trend(days: &[&str], jobs: &[&str], notes: &[&str]) -> Trend {
        let points = days.iter().map(|text| TrendPoint {
            day: day(text),
            days: 1,
            counts: ViewCounts::default(),
            unfinished: false,
        });
        let job = || "01920000-0000-7000-8000-000000000000".parse().unwrap_or_else(|_| panic!("an id"));
        let marker = |text: &&str| Marker { day: day(text), job: job(), title: "Fix <it>".to_owned() };
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
        }
    }

    #[test]
    fn a_job_is_marked_below_its_day_and_links_to_itself() {
        let html = marks("docs", &trend(&["2026-11-01", "2026-11-02"], &["2026-11-02"], &[])).into_html();
        assert!(html.contains(r#"x="75.000%"><a href="/p/docs/jobs/01920000-"#), "{html}");
        assert!(html.contains("<title>Job finished 2026-11-02: Fix &lt;it&gt;</title>"), "{html}");
        assert!(!html.contains("Notes"), "{html}");
    }

    #[test]
    fn several_on_one_day_are_one_mark_that_leads_to_the_list() {
        let html = marks("docs", &trend(&["2026-11-01"], &["2026-11-01"; 2], &["2026-11-01"])).into_html();
        assert!(html.contains(r##"<a href="#events" aria-label="2 jobs here">"##), "{html}");
        assert!(html.contains(r#"aria-label="Note on 2026-11-01: Release &quot;3&quot;""#), "{html}");
    }

    #[test]
    fn what_happened_before_the_first_day_is_not_marked() {
        assert_eq!(marks("docs", &trend(&["2026-11-02"], &["2026-11-01"], &[])), Markup::default());
    }
}
