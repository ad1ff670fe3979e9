//! A job as a row of a list.

use leptos::prelude::*;

use crate::model::job::{DeliveryState, Job};
use crate::model::links;
use crate::ui::charts::number::counted;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::job_status::job_status;
use crate::ui::components::tag_link::tag_link;
use crate::ui::components::time::ago;

/// How many tags a row shows.
const TAGS: usize = 1;

/// `check`: the checkbox of the row, if any.
pub fn job_row(job: &Job, check: impl IntoView) -> impl IntoView {
    let project = job.project.as_str();
    let author = links::with_query(&links::jobs(project), &[("author", &job.author)]);
    view! {
        <li class="job-row" data-key=job.id.to_string()>
            {check.into_view()}
            <a class="job-title row-target" dir="auto" data-title-of=job.id.to_string() href=links::job(project, job.id.as_str())>
                {job.title().to_owned()}
            </a>
            <span class="job-tags">{tags(job)}</span>
            {job_status(&job.badge(), true)}
            <a class="job-author" href=author title="Jobs of this person">{job.author.clone()}</a>
            <span class="job-age">{ago(job.created_at)}</span>
        </li>
    }
}

/// A warning about the follow-ups that the badge does not show.
fn follow_up_problem(job: &Job) -> Option<&'static str> {
    let mut states = job.follow_ups.iter().map(|follow_up| follow_up.state);
    let last = states.clone().next_back();
    match last {
        _ if states.any(|state| state == DeliveryState::Unknown) => Some(" unknown"),
        Some(DeliveryState::Rejected) => Some(" not accepted"),
        _ => None,
    }
}

fn tags(job: &Job) -> AnyView {
    let project = job.project.as_str();
    let labels = job.paths.iter().take(1).chain(job.tags.iter().take(TAGS));
    let labels = labels.map(|label| tag_link(project, label)).collect_view().into_any();
    let more = job.paths.len().saturating_sub(1) + job.tags.len().saturating_sub(TAGS);
    let rest = (more > 0).then(|| view! { <span class="faint">{format!("+{more}")}</span> }.into_any());
    let follow_ups = job.follow_ups.len() as u64;
    let conversation = (follow_ups > 0).then(|| {
        view! {
            <span class="faint with-icon" title=counted(follow_ups, "follow-up", "follow-ups")>
                {icon(icon::COMMENT)} {follow_ups.to_string()} {follow_up_problem(job)}
            </span>
        }
        .into_any()
    });
    let batch = job.batch.as_ref().map(|batch| {
        let href = links::batch(job.project.as_str(), batch.as_str());
        view! { <a class="tag" href=href>"Batch"</a> }.into_any()
    });
    [Some(labels), rest, batch, conversation].into_iter().flatten().collect_view().into_any()
}
