//! Similar jobs with their state, author and age.

use leptos::prelude::*;

use crate::ui::components::badge::name;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::time::ago;
use model::similar::SimilarJob;

use model::links;

/// `None` without similar jobs.
pub fn similar_jobs(
    project: &str,
    heading: &'static str,
    jobs: &[SimilarJob],
) -> Option<impl IntoView + use<>> {
    if jobs.is_empty() {
        return None;
    }
    let entries = jobs.iter().map(|job| entry(project, job)).collect_view();
    Some(view! {
        <div class="notice similar">
            {icon(icon::COPY)}
            <div>
                <p>{heading}</p>
                <ul>{entries}</ul>
            </div>
        </div>
    })
}

fn entry(project: &str, job: &SimilarJob) -> impl IntoView + use<> {
    let why = match (&job.page, job.same_text) {
        (Some(page), _) if job.changed_by.is_some() => {
            let request = job.changed_by.as_deref().unwrap_or_default();
            format!("An open pull request ({request}) changes {page}")
        }
        (_, true) => "nearly the same text".to_owned(),
        (Some(page), false) => format!("about {page}"),
        (None, false) => String::new(),
    };
    view! {
        <li>
            <span class="badge" data-job=job.id.to_string() data-status=job.state.as_str()>
                <span>{name(job.state)}</span>
            </span>
            <a href=links::job(project, job.id.as_str()) dir="auto">{job.title.clone()}</a>
            <span class="faint">{why} " · " {job.author.clone()} " · " {ago(job.created_at)}</span>
        </li>
    }
}
