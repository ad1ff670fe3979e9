//! How the jobs created from a template ended.

use leptos::prelude::*;

use crate::ui::charts::number::{grouped, share as percent};
use crate::ui::components::time::duration;
use model::saved_template::{Merges, Scorecard};

/// The explanation of the scorecard, below the list.
pub(super) const EXPLAINED: &str = "A run is a job that the agent accepted. Percentages are of the runs that are completed or failed, even if archived on the platform later. The time is the median from acceptance to the first result. Merged is the share of pull requests whose state is known.";

pub(super) fn score(score: &Scorecard) -> AnyView {
    if score.runs == 0 {
        return view! { <p class="score faint">"No runs yet"</p> }.into_any();
    }
    let share = |name: &'static str, part: u64| {
        (score.finished > 0).then(|| figure(name, percent(part, score.finished)))
    };
    view! {
        <dl class="score">
            {figure("Runs", grouped(score.runs))}
            {share("Pull request", score.with_pull_request)}
            {(score.published_directly > 0).then(|| share("Published directly", score.published_directly))}
            {share("No change", score.without_change)}
            {share("Failed", score.failed)}
            {(score.finished == 0).then(|| figure("Finished", "none yet".to_owned()))}
            {score.median_millis.map(|millis| figure("Median time", duration(millis)))}
            {score.merges.map(merges)}
        </dl>
    }
    .into_any()
}

/// The share of merged pull requests, and how long a merge takes.
fn merges(merges: Merges) -> AnyView {
    let time = merges.median_millis.map(|millis| figure("Median time to merge", days(millis)));
    view! { {figure("Merged", percent(merges.merged, merges.tracked))} {time} }.into_any()
}

/// A duration of hours or days.
fn days(millis: i64) -> String {
    match millis / 3_600_000 {
        hours @ 48.. => format!("{} days", hours / 24),
        _ => duration(millis),
    }
}

fn figure(name: &'static str, value: String) -> AnyView {
    view! { <div><dt>{name}</dt> <dd>{value}</dd></div> }.into_any()
}
