//! Jobs as rows of a list.

use std::collections::BTreeMap;

use leptos::either::Either;
use leptos::prelude::*;

use crate::ui::charts::number::counted as counted_text;
use crate::ui::components::batch_progress;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::localized::number;
use crate::ui::components::marked::marked;
use crate::ui::components::tag_link::tag_link_that_fits;
use crate::ui::components::time::short_age;
use crate::ui::components::unmarked::unmarked;
use crate::ui::pages::linked_status::{followed_job_status, linked_job_status};
use model::excerpt::SearchWords;
use model::job::{DeliveryState, Job};
use model::job_list::BatchSummary;
use model::links;

/// The matches of a search.
#[derive(Default)]
pub(super) struct Found<'a> {
    pub(super) words: SearchWords,
    /// By the id of a job, an excerpt with a match outside the beginning of its title.
    pub(super) excerpts: Option<&'a BTreeMap<String, String>>,
}

/// A job or several jobs of a batch, as one row.
pub(super) enum Entry<'a> {
    Job(&'a Job),
    /// Its jobs in the list, in the list's order.
    Batch(&'a BatchSummary, Vec<&'a Job>),
}

impl Entry<'_> {
    /// The number of its jobs in the list.
    pub(super) fn jobs(&self) -> usize {
        match self {
            Self::Job(_) => 1,
            Self::Batch(_, jobs) => jobs.len(),
        }
    }
}

/// The rows of a list of jobs. The jobs of each of `batches` are one row, at the position of the first one.
pub(super) fn folded<'a>(jobs: &'a [Job], batches: &'a [BatchSummary]) -> Vec<Entry<'a>> {
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

/// `after`: the content at its end, as [`row_end`].
pub(super) fn job_row<A: IntoView>(job: &Job, after: A) -> impl IntoView + use<A> {
    view! {
        <li class="job-row" data-key=key(job).to_owned()>
            {content(job, false, &Found::default(), linked_job_status(&job.badge()))}
            {after.into_view()}
        </li>
    }
}

/// The content at the end of a row.
pub(super) fn row_end<C: IntoView>(content: C) -> impl IntoView + use<C> {
    view! { <span class="row-end">{content.into_view()}</span> }
}

/// As [`job_row`], in a region that follows the project, with the matches of a search marked. `has_check`: with a checkbox, for the form around the list.
pub(super) fn found_row(job: &Job, has_check: bool, found: &Found) -> impl IntoView + use<> {
    let content = content(job, has_check, found, followed_job_status(&job.badge()));
    unmarked(view! { <li class="job-row" data-key=key(job).to_owned()>{content}</li> })
}

/// Distinguishes a job from others on a page: the random end of its id. A row has the whole id often enough.
fn key(job: &Job) -> &str {
    let id = job.id.as_str();
    id.rsplit_once('-').map_or(id, |(_, end)| end)
}

fn content<S: IntoView>(job: &Job, has_check: bool, found: &Found, status: S) -> impl IntoView + use<S> {
    let main = main(job, found);
    let main = match has_check {
        // The title is the name of the checkbox.
        true => {
            let id = job.id.to_string();
            Either::Left(view! { <label><input type="checkbox" name="jobs" value=id />{main}</label> })
        }
        false => Either::Right(main),
    };
    let author = links::with_query(&links::jobs(job.project.as_str()), &[("author", &job.author)]);
    view! {
        {main}
        <span class="job-tags">{labels(job)}</span>
        {status.into_view()}
        <a class="job-author" href=author title=job.author.clone() aria-label=job.author.clone()>{initials(&job.author)}</a>
        {short_age(job.created_at)}
    }
}

/// The title, which is the link of the row, and beside it an excerpt if the search matches the text only there.
fn main(job: &Job, found: &Found) -> impl IntoView + use<> {
    let href = links::job(job.project.as_str(), job.id.as_str());
    let title = view! { <a class="job-title" dir="auto" href=href>{marked(&job.title(), &found.words)}</a> };
    match found.excerpts.and_then(|excerpts| excerpts.get(job.id.as_str())) {
        Some(excerpt) => Either::Left(view! {
            <span class="job-main">
                {title}
                <span class="job-excerpt" dir="auto">{marked(excerpt, &found.words)}</span>
            </span>
        }),
        None => Either::Right(title),
    }
}

/// The jobs of a batch on a page as one row, which opens. `rows` are its jobs `here`; others may not match the filters, or are
/// on another page. `None` does not count those here.
pub(super) fn batch_row<R: IntoView>(
    project: &str,
    batch: &BatchSummary,
    here: Option<u64>,
    is_open: bool,
    rows: R,
) -> impl IntoView + use<R> {
    let all = batch.progress.jobs + batch.retried;
    let is_whole = here == Some(all);
    let part = here.filter(|here| *here != all).map(|here| view! { " · " {number(here)} " on this page" });
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
                        {batch_progress::summary(&batch.progress)}
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
pub(super) fn batch_link_row(project: &str, batch: &BatchSummary) -> impl IntoView + use<> {
    let href = links::batch(project, batch.id.as_str());
    view! {
        <li class="job-row batch-link-row" data-key=format!("batch-{}", batch.id)>
            <span class="badge">{icon(icon::JOBS)} <span>"Batch"</span></span>
            <a class="job-title" dir="auto" href=href>{batch.name.clone()}</a>
            <span class="row-end batch-facts">{batch_progress::summary(&batch.progress)}</span>
        </li>
    }
}

/// Up to two initials of a name.
pub(super) fn initials(name: &str) -> String {
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

/// How many characters of a label are never truncated: in a row with one label only, and beside other labels and follow-ups.
const FITS_ALONE: usize = 20;
const FITS_BESIDE_OTHERS: usize = 12;

/// The first page or tag, the number of further ones, and the number of follow-ups.
fn labels(job: &Job) -> AnyView {
    let mut labels = job.paths.iter().chain(&job.tags);
    let (first, rest): (_, Vec<&str>) = (labels.next(), labels.map(String::as_str).collect());
    let is_alone = rest.is_empty() && job.follow_ups.is_empty();
    let fits = if is_alone { FITS_ALONE } else { FITS_BESIDE_OTHERS };
    let first = first.map(|label| tag_link_that_fits(job.project.as_str(), label, fits));
    let rest = (!rest.is_empty()).then(|| {
        view! { <span class="faint job-more" title=rest.join(", ")>{format!("+{}", rest.len())}</span> }
    });
    let follow_ups = job.follow_ups_total();
    let conversation = (follow_ups > 0).then(|| {
        let text = format!("{follow_ups}{}", follow_up_problem(job).unwrap_or_default());
        view! {
            <span class="faint with-icon" title=counted_text(follow_ups, "follow-up", "follow-ups")>
                {icon(icon::COMMENT)} {text}
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
