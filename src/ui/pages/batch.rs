//! `/p/{project}/batches/{batch}`: each prompt before a batch is started, and its progress afterwards.

use std::ops::Range;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::charts::number::{counted, grouped};
use crate::ui::clock;
use crate::ui::components::batch_progress::{bar, figures};
use crate::ui::components::cost;
use crate::ui::components::form::{Hidden, confirm, post_form, submit_button};
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::page_room::{Room, beginning, escaped_len};
use crate::ui::components::table::table;
use crate::ui::components::time::{ago, ahead};
use crate::ui::pages::job_row::{job_row, row_end};
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::batches::{CancelBatch, RenameBatch, RetryFailed, StartBatch, batch};
use model::batch::{self, Batch, NAME_MAX_CHARS, PreviewLine};
use model::budget::Meter;
use model::job::Job;
use model::links;
use model::time::Timestamp;
use model::unfilled::warning;

/// The elements of a prompt in the preview, and of a value in it.
const PROMPT: usize = 256;
const VALUE: usize = 32;

/// The shown part of a prompt for which the page has no room.
const START: usize = 128;

#[component]
pub fn BatchPage() -> impl IntoView {
    let (project, id) = (request::project(), request::param("batch"));
    let may_start = request::session().can_start_jobs();
    let refused = outcome_of(&[StartBatch::PATH, CancelBatch::PATH, RenameBatch::PATH, RetryFailed::PATH]);
    let request_budgets = request::budgets();
    page(async move {
        let batch = batch(project, id).await?;
        let all = links::batches(batch.project.as_str());
        let rename = may_start.then(|| rename(&batch));
        let actions =
            view! { <div class="decide">{rename} <a class="button" href=all>"All batches"</a></div> };
        let context = match batch.started_at {
            None => view! { "Preview of a batch. Nothing is queued yet." }.into_any(),
            Some(at) => view! { <span>"Batch by " {batch.author.clone()} ", " {ago(at)}</span> }.into_any(),
        };
        let context = view! { <span data-region="batch-state">{context}</span> };
        let head = page_head(&batch.name, context, actions);
        let starts = request_budgets.await.map(|budgets| budgets.creates);
        let every = (batch.started_at.is_some() && batch.waiting > 0).then_some("5");
        let content = match batch.started_at {
            None => preview(batch, may_start, starts),
            Some(_) => progress(batch, may_start, starts),
        };
        Ok(view! {
            {head}
            {refused}
            <div data-region="batch" data-every=every>{content}</div>
        }
        .into_any())
    })
}

/// The form for the name. The browser posts it, because the name is also in the title of the document.
fn rename(batch: &Batch) -> AnyView {
    let name: String = batch.name.chars().take(NAME_MAX_CHARS).collect();
    let content = view! {
        <label class="field-label" for="batch-name">"Name"</label>
        <input
            id="batch-name"
            class="field"
            name="name"
            value=name
            maxlength=NAME_MAX_CHARS.to_string()
            dir="auto"
            autocomplete="off"
        />
        {submit_button("Save name")}
    };
    let form = post_form("stack", RenameBatch::PATH, hidden(batch), content);
    view! { <div data-plain="">{confirm("Rename…", form)}</div> }.into_any()
}

fn preview(batch: Batch, may_start: bool, starts: Option<Meter>) -> AnyView {
    let cost = starts.map(|starts| cost::of_batch(starts, batch.total));
    let end = batch.expected_end.map(|at| end(at, batch.usual_millis));
    let names: Vec<&str> = batch.unfilled.iter().map(String::as_str).collect();
    let unfilled = warning(&names).map(|message| {
        let text = format!("{message} Edit the batch, or start it anyway.");
        notice(Tone::Warning, view! { <p>{text}</p> })
    });
    let changed = changed_pages(&batch);
    let total = u64::from(batch.total);
    let start = format!(
        "Start batch for {} {}{}",
        grouped(total),
        batch::subject(&batch.text, total),
        if names.is_empty() { "" } else { " anyway" }
    );
    let confirm = may_start.then(|| {
        // A second click finds the batch started and changes nothing.
        let edit = links::new_batch(batch.project.as_str(), batch.id.as_str());
        let actions = view! { {submit_button(start)} <a class="button" href=edit>"Edit"</a> };
        post_form("send", StartBatch::PATH, hidden(&batch), actions)
    });
    let unknown = batch.lines.iter().filter(|line| line.is_unknown).count() as u64;
    let unknown = (unknown > 0).then(|| {
        let text = match unknown {
            1 => "1 page is not in the list of known pages. Check its path, unless it is new.".to_owned(),
            _ => format!(
                "{unknown} pages are not in the list of known pages. Check their paths, unless they are new."
            ),
        };
        notice(Tone::Warning, view! { <p>{text}</p> })
    });
    let prompts = prompts(batch.preview, &batch.lines);
    view! {
        {unfilled}
        {unknown}
        {changed}
        <p>{cost} " " {end}</p>
        <p>"These are the prompts, one per job:"</p>
        {confirm}
        <div class="previews">{prompts}</div>
    }
    .into_any()
}

/// The table of prompts, each with its line of the list and its page.
fn prompts(texts: Vec<String>, lines: &[PreviewLine]) -> AnyView {
    let has_pages = lines.iter().any(|line| line.page.is_some());
    let heads: &[&'static str] = if has_pages { &["Line", "Page", "Prompt"] } else { &["Line", "Prompt"] };
    let mut room = Room::of_page();
    let rows = texts.into_iter().zip(lines).map(|(text, line)| {
        let size = escaped_len(&text) + PROMPT + line.values.len() * VALUE;
        let size = size + line.page.as_deref().map_or(0, escaped_len);
        let (text, values) = match room.take(size) {
            true => (text, line.values.as_slice()),
            false => (format!("{}…", beginning(&text, START)), [].as_slice()),
        };
        let page = line.page.as_ref().map(|page| {
            let page = beginning(page, START).to_owned();
            let unknown = line.is_unknown.then(|| view! { " " <span class="stale">"Unknown page"</span> });
            view! { <td data-label="Page"><span><bdi>{page}</bdi> {unknown}</span></td> }
        });
        view! {
            <tr>
                <td data-label="Line">{line.number.to_string()}</td>
                {page}
                <td data-label="Prompt"><span class="message-source" dir="auto">{with_values(&text, values)}</span></td>
            </tr>
        }
    });
    table("Prompts", heads, rows.collect_view())
}

/// The text of a prompt with its values marked.
fn with_values(text: &str, values: &[Range<usize>]) -> AnyView {
    let (mut pieces, mut rest, mut at) = (Vec::new(), text, 0);
    for range in values {
        let (Some(before), Some(value)) = (text.get(at..range.start), text.get(range.clone())) else { break };
        pieces.push(view! { {before.to_owned()} <mark>{value.to_owned()}</mark> });
        (at, rest) = (range.end, &text[range.end..]);
    }
    view! { {pieces} {rest.to_owned()} }.into_any()
}

/// How many pages the warning about open pull requests names.
const CHANGED_NAMED: usize = 10;

/// The warning about pages that open pull requests change already.
fn changed_pages(batch: &Batch) -> Option<AnyView> {
    let project = batch.project.as_str();
    let named = batch.changed_pages.iter().take(CHANGED_NAMED).map(|page| {
        let href = links::job(project, page.job.as_str());
        view! { <li>"An open pull request (" <a href=href>{page.changed_by.clone()}</a> ") changes " <bdi>{page.path.clone()}</bdi></li> }
    });
    let more = batch.changed_pages.len().saturating_sub(CHANGED_NAMED);
    let more = (more > 0).then(|| view! { <li>{counted(more as u64, "more page", "more pages")}</li> });
    let list = view! { <ul>{named.collect_view()} {more}</ul> };
    (!batch.changed_pages.is_empty()).then(|| notice(Tone::Warning, list).into_any())
}

/// When the last prompt would be sent, and when its job should be finished.
fn end(last: Timestamp, usual_millis: Option<i64>) -> AnyView {
    let sent = match last.seconds_since(clock::now()) {
        ..60 => view! { "All are sent at once." }.into_any(),
        _ => view! { "The last one is sent " {ahead(last)} "." }.into_any(),
    };
    let finished = usual_millis.map(|usual| {
        let at = Timestamp::from_millis(last.as_millis() + usual);
        view! { " All should be finished " {ahead(at)} "." }
    });
    view! { {sent} {finished} }.into_any()
}

fn progress(batch: Batch, may_start: bool, starts: Option<Meter>) -> AnyView {
    let waiting = counted(u64::from(batch.waiting), "prompt", "prompts");
    let left = (batch.waiting > 0).then(|| {
        let end = batch.expected_end.map(|at| view! { ". Finishes sending " {ahead(at)} });
        view! {
            <p>
                <a href=links::queue(batch.project.as_str())>{waiting + " in the queue"}</a>
                {end} " " <a class="no-js" href="">"Refresh"</a>
            </p>
        }
    });
    let stop = (may_start && batch.waiting > 0).then(|| {
        let content = view! {
            <p>"Jobs that were sent continue. The other prompts stay in the batch and are never sent."</p>
            {submit_button("Cancel jobs")}
        };
        confirm("Cancel queued jobs…", post_form("stack", CancelBatch::PATH, hidden(&batch), content))
    });
    let retry = (may_start && !batch.retryable.is_empty()).then(|| retry(&batch, starts));
    let is_retried = |job: &&Job| batch.retried.contains(&job.id);
    let (retried, jobs): (Vec<&Job>, Vec<&Job>) = batch.jobs.iter().partition(is_retried);
    let rows = |jobs: Vec<&Job>| {
        // All rows have an end if one has, so that their columns align.
        let has_ends = jobs.iter().any(|job| job.is_resolved());
        let row = |job: &Job| job_row(job, has_ends.then(|| row_end(resolved(job))));
        jobs.into_iter().map(row).collect_view()
    };
    let retried = (!retried.is_empty()).then(|| {
        view! {
            <details class="history">
                <summary>{format!("{} retried", counted(retried.len() as u64, "job was", "jobs were"))}</summary>
                <ul class="job-list" aria-label="Retried jobs">{rows(retried)}</ul>
            </details>
        }
    });
    let rows = rows(jobs);
    view! {
        <div class="progress">
            <p><strong>{format!("{} of {} sent", batch.sent, batch.total)}</strong></p>
            {bar(&batch.progress)}
            {figures(&batch.progress)}
            {left}
            <div class="decide">{retry} {stop}</div>
            <details class="history">
                <summary>"Prompt template"</summary>
                <p class="message-text message-source" dir="auto">{batch.text.clone()}</p>
            </details>
        </div>
        <ul class="job-list" aria-label="Jobs of the batch">{rows}</ul>
        {retried}
    }
    .into_any()
}

/// The link to the retry that resolved the job; empty if none did.
fn resolved(job: &Job) -> Option<AnyView> {
    let retry = job.resolved_by.as_ref().filter(|_| job.is_resolved())?;
    let href = links::job(job.project.as_str(), retry.as_str());
    Some(view! { <a href=href>"Resolved by a retry"</a> }.into_any())
}

/// The form contains the jobs, so that submitting it twice does not retry the retries.
fn retry(batch: &Batch, starts: Option<Meter>) -> AnyView {
    let number = batch.retryable.len();
    let cost = starts.map(|starts| cost::of_batch(starts, number as u32));
    let jobs = counted(number as u64, "job", "jobs");
    let content = view! {
        <p>"Starts failed and rejected jobs again, with the same prompts. " {cost}</p>
        {submit_button(format!("Retry {jobs}"))}
    };
    let ids: Vec<&str> = batch.retryable.iter().map(|job| job.as_str()).collect();
    let mut fields = hidden(batch);
    fields.push(("jobs", ids.join(",")));
    confirm("Retry failed…", post_form("stack", RetryFailed::PATH, fields, content))
}

fn hidden(batch: &Batch) -> Hidden {
    vec![("project", batch.project.to_string()), ("batch", batch.id.to_string())]
}
