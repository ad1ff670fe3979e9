//! The link "Start a job about this page", which puts the page's figures into the prompt.

use leptos::prelude::*;

use crate::ui::charts::number::{change, counted, grouped};
use crate::ui::components::icon::{self, icon};
use model::day::Day;
use model::links;
use model::page_views::ViewCounts;

/// A documentation page and its views.
pub struct PageFigures<'a> {
    pub path: &'a str,
    pub counts: ViewCounts,
    /// Total views now and in the previous period.
    pub change: Option<(u64, u64)>,
    /// The first and the last day of the figures; `None` for all time.
    pub days: Option<(Day, Day)>,
}

/// `words`: the text beside the icon. It may be empty, because the link has an accessible name.
pub fn page_job_link(
    project: &str,
    page: &PageFigures,
    class: &'static str,
    words: &'static str,
) -> impl IntoView + use<> {
    let href = links::new_job(project, &prompt(page), page.path);
    let label = format!("Start a job about {}", page.path);
    view! { <a class=class href=href aria-label=label title="Start a job about this page">{icon(icon::PLUS)} {words}</a> }
}

/// The figures of the page, for the agent; the user adds the instructions.
fn prompt(PageFigures { path, counts, change: changed, days }: &PageFigures) -> String {
    let changed = changed.filter(|(_, before)| *before > 0);
    let changed = changed.map(|(now, before)| format!(" ({} against the days before)", change(now, before)));
    let days = days.map_or_else(|| " in all".to_owned(), |(from, to)| format!(" from {from} to {to}"));
    format!(
        "{path} had {}{}{days}: {} by people, {} by AI agents.\n\n",
        counted(counts.total, "view", "views"),
        changed.unwrap_or_default(),
        grouped(counts.human),
        grouped(counts.ai),
    )
}
