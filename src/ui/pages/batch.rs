//! `/p/{project}/batches/{batch}`: each prompt before a batch is started, and its progress afterwards.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::batches::{CancelBatch, StartBatch, batch};
use crate::model::batch::Batch;
use crate::model::budget::Meter;
use crate::model::links;
use crate::model::time::Timestamp;
use crate::ui::charts::number::counted;
use crate::ui::charts::scale::{length, per_mille};
use crate::ui::clock;
use crate::ui::components::cost;
use crate::ui::components::form::{Hidden, confirm, post_form, submit_button};
use crate::ui::components::job_row::job_row;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::time::{ago, ahead};
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};

#[component]
pub fn BatchPage() -> impl IntoView {
    let (project, id) = (request::project(), request::param("batch"));
    let may_start = request::session().can_start_jobs();
    let refused = outcome_of(&[StartBatch::PATH, CancelBatch::PATH]);
    let request_budgets = request::budgets();
    page(async move {
        let batch = batch(project, id).await?;
        let starts = request_budgets.await.map(|budgets| budgets.creates);
        let every = (batch.started_at.is_some() && batch.waiting > 0).then_some("5");
        let content = match batch.started_at {
            None => preview(batch, may_start, starts),
            Some(_) => progress(batch, may_start),
        };
        Ok(view! {
            {page_head("Batch", "Many jobs from one prompt template.", ())}
            {refused}
            <div data-region="batch" data-every=every>{content}</div>
        }
        .into_any())
    })
}

fn preview(batch: Batch, may_start: bool, starts: Option<Meter>) -> AnyView {
    let cost = starts.map(|starts| cost::of_batch(starts, batch.total));
    let end = batch.expected_end.map(|at| end(at, batch.usual_millis));
    let jobs = counted(u64::from(batch.total), "job", "jobs");
    let names: Vec<&str> = batch.unfilled.iter().map(String::as_str).collect();
    let unfilled = (!names.is_empty()).then(|| {
        let named = names.iter().map(|name| format!("{{{{{name}}}}}")).collect::<Vec<_>>().join(", ");
        let text =
            format!("Some prompts still have a placeholder: {named}. Edit the batch, or send them anyway.");
        notice(Tone::Warning, view! { <p>{text}</p> })
    });
    let queue = if names.is_empty() { format!("Queue {jobs}") } else { format!("Send anyway: queue {jobs}") };
    let confirm = may_start.then(|| {
        // A second click finds the batch started and changes nothing.
        let edit = links::new_batch(batch.project.as_str(), batch.id.as_str());
        let actions = view! { {submit_button(queue)} <a class="button" href=edit>"Edit"</a> };
        post_form("send", StartBatch::PATH, hidden(&batch), actions).into_any()
    });
    let prompts = batch
        .preview
        .into_iter()
        .map(|text| view! { <li class="message-text message-source" dir="auto">{text}</li> });
    view! {
        {unfilled}
        <p>{cost} " " {end}</p>
        <p>"Nothing is queued yet. These are the prompts, one per job:"</p>
        {confirm}
        <ol class="previews" aria-label="Prompts">{prompts.collect_view()}</ol>
    }
    .into_any()
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

fn progress(batch: Batch, may_cancel: bool) -> AnyView {
    let sent = length(per_mille(u64::from(batch.sent), u64::from(batch.total)));
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
    let stop = (may_cancel && batch.waiting > 0).then(|| {
        let content = view! {
            <p>"Jobs that were sent continue. The other prompts stay in the batch and are never sent."</p>
            {submit_button("Cancel jobs")}
        };
        confirm("Cancel queued jobs…", post_form("stack", CancelBatch::PATH, hidden(&batch), content))
    });
    let rows = batch.jobs.iter().map(|job| job_row(job, (), ())).collect_view();
    view! {
        <div class="progress">
            <p>
                <strong>{format!("{} of {} sent", batch.sent, batch.total)}</strong> " · by " {batch.author} ", "
                {ago(batch.created_at)}
            </p>
            <svg class="meter-bar" aria-hidden="true">
                <rect class="meter-track" width="100%" height="100%" />
                <rect class="meter-used" width=sent height="100%" />
            </svg>
            {left} {stop}
            <details class="history">
                <summary>"Prompt template"</summary>
                <p class="message-text message-source" dir="auto">{batch.text}</p>
            </details>
        </div>
        <ul class="job-list" aria-label="Jobs of the batch">{rows}</ul>
    }
    .into_any()
}

fn hidden(batch: &Batch) -> Hidden {
    vec![("project", batch.project.to_string()), ("batch", batch.id.to_string())]
}
