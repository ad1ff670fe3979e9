//! Jobs as rows of a list.

use std::collections::BTreeMap;

use leptos::prelude::*;

use crate::model::excerpt::SearchWords;
use crate::model::job::{BatchSummary, DeliveryState, Job};
use crate::model::links;
use crate::ui::charts::number::counted as counted_text;
use crate::ui::components::batch_progress::RESOLVED;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::job_status::job_status;
use crate::ui::components::localized::{counted, number};
use crate::ui::components::marked::marked;
use crate::ui::components::tag_link::tag_link;
use crate::ui::components::time::short_age;

/// The matches of a search.
#[derive(Default)]
pub struct Found<'a> {
    pub words: SearchWords,
    /// By the id of a job, an excerpt with a match outside the beginning of its title.
    pub excerpts: Option<&'a BTreeMap<String, String>>,
}

/// A job or several jobs of a batch, as one row.
pub enum Entry<'a> {
    Job(&'a Job),
    /// Its jobs in the list, in the list's order.
    Batch(&'a BatchSummary, Vec<&'a Job>),
}

/// The rows of a list of jobs. The jobs of each of `batches` are one row, at the position of the first one.
pub fn folded<'a>(jobs: &'a [Job], batches: &'a [BatchSummary]) -> Vec<Entry<'a>> {
    let mut entries: Vec<Entry> = Vec::with_capacity(jobs.len());
    for job in jobs {
        let batch = batches.iter().find(|batch| job.batch.as_ref() == Some(&batch.id));
        let entry = entries.iter_mut().find_map(|entry| match entry {
            Entry::Batch(known, jobs) if batch.is_some_and(|batch| batch.id == known.id) => Some(jobs),
            _ => None,
        });
        match (batch, entry) {
            (_, Some(jobs)) => jobs.push(job),
            (Some(batch), None) => entries.push(Entry::Batch(batch, vec![job])),
            (None, None) => entries.push(Entry::Job(job)),
        }
    }
    entries
}

/// `before`: the checkbox of the row, if any. `after`: the content at its end, as [`row_end`].
pub fn job_row<B: IntoView, A: IntoView>(job: &Job, before: B, after: A) -> impl IntoView + use<B, A> {
    found_row(job, before, after, &Found::default())
}

/// The content at the end of a row.
pub fn row_end<C: IntoView>(content: C) -> impl IntoView + use<C> {
    view! { <span class="row-end">{content.into_view()}</span> }
}

/// As [`job_row`], with the matches of a search marked.
pub fn found_row<B: IntoView, A: IntoView>(
    job: &Job,
    before: B,
    after: A,
    found: &Found,
) -> impl IntoView + use<B, A> {
    let project = job.project.as_str();
    let author = links::with_query(&links::jobs(project), &[("author", &job.author)]);
    let excerpt = found.excerpts.and_then(|excerpts| excerpts.get(job.id.as_str()));
    let excerpt = excerpt.map(|excerpt| {
        view! { <span class="job-excerpt" dir="auto">{marked(excerpt, &found.words)}</span> }
    });
    view! {
        <li class="job-row" data-key=job.id.to_string()>
            {before.into_view()}
            <span class="job-main">
                <a class="job-title row-target" dir="auto" data-title-of=job.id.to_string() href=links::job(project, job.id.as_str())>
                    {marked(job.title(), &found.words)}
                </a>
                {excerpt}
            </span>
            <span class="job-tags">{labels(job)}</span>
            {job_status(&job.badge(), true)}
            <a class="job-author" href=author title=job.author.clone()>
                <span aria-hidden="true">{initials(&job.author)}</span>
                <span class="visually-hidden">{job.author.clone()}</span>
            </a>
            <span class="job-age">{short_age(job.created_at)}</span>
            {after.into_view()}
        </li>
    }
}

/// The jobs of a batch on a page as one row, which opens. `rows` are its jobs `here`; others may not match the filters, or are
/// on another page.
pub fn batch_row<R: IntoView>(
    project: &str,
    batch: &BatchSummary,
    here: u64,
    is_open: bool,
    rows: R,
) -> impl IntoView + use<R> {
    let all = batch.jobs + batch.retried;
    let is_whole = here == all;
    let part = (!is_whole).then(|| view! { " · " {number(here)} " on this page" });
    let key = format!("batch-{}", batch.id);
    let summary = format!("{key}-summary");
    let href = links::batch(project, batch.id.as_str());
    view! {
        <li class="batch-row" data-key=key>
            <details open=is_open>
                <summary class="row-target" data-key=summary>
                    {icon(icon::CHEVRON)}
                    <span class="batch-name" dir="auto">{batch.name.clone()}</span>
                    <span class="batch-facts">
                        <span class="batch-separator">" · "</span>
                        {batch_facts(batch)}
                        {part}
                    </span>
                </summary>
                <ul>{rows.into_view()}</ul>
                <p class="batch-link">
                    <a href=href>"Open the batch" {(!is_whole).then(|| view! { " with all " {number(all)} " jobs" })}</a>
                </p>
            </details>
        </li>
    }
}

/// A batch as one row that links to its page.
pub fn batch_link_row(project: &str, batch: &BatchSummary) -> impl IntoView + use<> {
    let href = links::batch(project, batch.id.as_str());
    view! {
        <li class="job-row batch-link-row" data-key=format!("batch-{}", batch.id)>
            <span class="badge">{icon(icon::JOBS)} <span class="badge-word">"Batch"</span></span>
            <span class="job-main">
                <a class="job-title row-target" dir="auto" href=href>{batch.name.clone()}</a>
            </span>
            <span class="row-end batch-facts">{batch_facts(batch)}</span>
        </li>
    }
}

/// `8 of 10 · 3 pull requests · 1 resolved by a retry · 2 need attention`.
fn batch_facts(batch: &BatchSummary) -> impl IntoView + use<> {
    let requests = (batch.pull_requests > 0).then(|| {
        view! { " · " {counted(batch.pull_requests, "pull request", "pull requests")} }
    });
    let resolved = (batch.resolved > 0).then(|| view! { " · " {number(batch.resolved)} " " {RESOLVED} });
    let attention = (batch.attention > 0).then(|| {
        let words = if batch.attention == 1 { "needs attention" } else { "need attention" };
        view! { " · " <span class="batch-attention">{number(batch.attention)} " " {words}</span> }
    });
    view! { {number(batch.finished)} " of " {number(batch.jobs)} {requests} {resolved} {attention} }
}

/// Up to two initials of a name.
pub fn initials(name: &str) -> String {
    let mut words = name.split(|c: char| !c.is_alphanumeric()).filter(|word| !word.is_empty());
    let (first, last) = (words.next().unwrap_or(name), words.next_back());
    let letters: String = match last {
        Some(last) => first.chars().take(1).chain(last.chars().take(1)).collect(),
        None => first.chars().take(2).collect(),
    };
    letters.to_uppercase()
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

/// The first page or tag, the number of further ones, and the number of follow-ups.
fn labels(job: &Job) -> AnyView {
    let project = job.project.as_str();
    let mut labels = job.paths.iter().chain(&job.tags);
    let first = labels.next().map(|label| tag_link(project, label));
    let rest: Vec<&str> = labels.map(String::as_str).collect();
    let rest = (!rest.is_empty()).then(|| {
        view! { <span class="faint job-more" title=rest.join(", ")>{format!("+{}", rest.len())}</span> }
    });
    let follow_ups = job.follow_ups.len() as u64;
    let conversation = (follow_ups > 0).then(|| {
        view! {
            <span class="faint with-icon" title=counted_text(follow_ups, "follow-up", "follow-ups")>
                {icon(icon::COMMENT)} {follow_ups.to_string()} {follow_up_problem(job)}
            </span>
        }
    });
    view! { {first} {rest} {conversation} }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn name_is_shortened_to_two_initials() {
        assert_eq!(
            ["jonas", "Ada Lovelace", "writer-1a2b", "x", "", "mary.ann.smith"].map(initials),
            ["JO", "AL", "W1", "X", "", "MS"]
        );
    }
}
