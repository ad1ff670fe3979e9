//! One job as a row of a list.

use leptos::prelude::*;

use crate::model::job::{Job, JobBadge};
use crate::ui::charts::number::counted;
use crate::ui::components::badge::job_badge;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::moment::ago;
use crate::ui::components::pull_request::pull_request;
use crate::ui::erase::Erase;
use crate::ui::links;

/// `badge` keeps the state true while the row is shown; the row never moves by itself.
pub fn job_row(job: &Job, badge: ArcRwSignal<JobBadge>) -> AnyView {
    let project = job.project.as_str();
    let author = links::with_query(&links::jobs(project), &[("author", &job.author)]);
    let link = {
        let badge = badge.clone();
        move || match badge.read().pr_link.as_deref() {
            Some(link) => pull_request(link, "row-link"),
            None => ().into_any(),
        }
    };
    view! {
        <li class="job-row">
            {job_badge(badge)}
            <a class="job-title row-target" href=links::job(project, job.id.as_str())>{job.title().to_owned()}</a>
            <span class="job-tags">{tags(job)}</span>
            <span class="job-link">{move || link()}</span>
            <a class="job-author" href=author title="Jobs of this person">{job.author.clone()}</a>
            <span class="job-age">{ago(job.created_at)}</span>
        </li>
    }
    .erase()
}

fn tags(job: &Job) -> AnyView {
    let more = job.paths.len().saturating_sub(1);
    let first = job.paths.first().map(|path| view! { <code class="tag">{path.clone()}</code> }.erase());
    let rest = (more > 0).then(|| view! { <span class="faint">{format!("+{more}")}</span> }.erase());
    let follow_ups = job.follow_ups.len() as u64;
    let conversation = (follow_ups > 0).then(|| {
        view! {
            <span class="faint with-icon" title=counted(follow_ups, "follow-up", "follow-ups")>
                {icon(icon::COMMENT)} {follow_ups.to_string()}
            </span>
        }
        .erase()
    });
    let batch = job.batch.as_ref().map(|batch| {
        let href = links::batch(job.project.as_str(), batch.as_str());
        view! { <a class="tag" href=href>"Batch"</a> }.erase()
    });
    [first, rest, batch, conversation].into_iter().flatten().collect_view().into_any()
}
