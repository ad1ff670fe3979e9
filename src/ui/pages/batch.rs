//! `/p/{project}/batches/{batch}`: each text before a batch is started, and how far it is afterwards.

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use crate::api::batches::{CancelBatch, GetBatch, StartBatch};
use crate::api::call::call;
use crate::model::batch::Batch;
use crate::ui::charts::number::counted;
use crate::ui::charts::scale::{length, per_mille};
use crate::ui::components::failure;
use crate::ui::components::job_row::job_row;
use crate::ui::components::loading::{self, suspended};
use crate::ui::components::moment::{ago, exactly};
use crate::ui::components::page_head::page_head;
use crate::ui::components::post_form::{Hidden, confirm, post_form, problems};
use crate::ui::components::submit_button::submit_button;
use crate::ui::erase::{Erase, effect};
use crate::model::links;
use crate::ui::state::badges::Badges;
use crate::ui::state::kept::Kept;
use crate::ui::state::live::Live;
use crate::ui::state::post::Post;
use crate::ui::state::{project, session};

/// Milliseconds between two looks at how far a batch is.
const LOOK: u32 = 5_000;

const MISTAKE: &str = "This batch cannot be queued as it is. Edit it first.";

/// Another batch is another page.
#[component]
pub fn BatchPage() -> impl IntoView {
    let params = use_params_map();
    let id = Memo::new(move |_| params.read().get("batch").unwrap_or_default());
    view! { {move || batch_page(project::current(), id.get())} }.into_any()
}

fn batch_page(project: String, id: String) -> AnyView {
    let batch = Kept::asking(move || call(GetBatch { project: project.clone(), batch: id.clone() }));
    let waits = StoredValue::new(false);
    batch.every(LOOK, move || waits.try_get_value().unwrap_or(false));
    let start = Post::to::<StartBatch>(MISTAKE);
    let cancel = Post::to::<CancelBatch>(MISTAKE);
    let live = Live::get();
    for post in [start, cancel] {
        effect(move || {
            if let Some(answer @ Ok(_)) = post.answer() {
                batch.hear(answer);
                live.hurry();
            }
        });
    }
    let session = session::get();
    let content = move || {
        let may_start = session::can_start_jobs(session);
        match batch.get() {
            None => ().into_any(),
            Some(Ok(batch)) => {
                waits.try_set_value(batch.waiting > 0);
                match batch.started_at {
                    None => preview(start, batch, may_start),
                    Some(_) => progress(cancel, batch, may_start),
                }
            }
            Some(Err(error)) => failure::panel(&error, batch.retry()),
        }
    };
    view! {
        {page_head("Batch", "Many jobs from one text, sent evenly through the queue".into_any(), ().into_any())}
        {problems(vec![start, cancel])}
        {suspended(loading::conversation, Arc::new(content))}
    }
    .into_any()
}

fn preview(start: Post, batch: Batch, may_start: bool) -> AnyView {
    let jobs = counted(u64::from(batch.total), "job", "jobs");
    let idle = format!("Queue {jobs}");
    let project = batch.project.as_str();
    let confirm = may_start.then(|| {
        // A second click finds the batch started, and changes nothing.
        let queue = view! { <button type="submit" class="button button-primary">{idle}</button> }.into_any();
        let edit = links::new_batch(project, batch.id.as_str());
        let edit = view! { <a class="button" href=edit>"Edit"</a> }.into_any();
        post_form("send", start, hidden(&batch), [queue, edit].collect_view().into_any())
    });
    let texts = batch.preview.into_iter().map(text).collect_view();
    view! {
        <p>"Nothing is queued yet. These are the texts, each for one job:"</p>
        {confirm}
        <ol class="previews" aria-label="Texts">{texts}</ol>
    }
    .into_any()
}

fn text(preview: String) -> AnyView {
    view! { <li class="message-text" dir="auto">{preview}</li> }.into_any()
}

fn progress(cancel: Post, batch: Batch, may_cancel: bool) -> AnyView {
    let badges = Badges::get();
    let bar = format!(
        r#"<rect class="meter-track" width="100%" height="100%"/><rect class="meter-used" width="{}" height="100%"/>"#,
        length(per_mille(u64::from(batch.sent), u64::from(batch.total)))
    );
    let waiting = counted(u64::from(batch.waiting), "prompt waits", "prompts wait");
    let left = (batch.waiting > 0).then(|| {
        view! {
            <p>
                <a href=links::queue(batch.project.as_str())>{waiting + " in the queue"}</a>
                {batch.expected_end.map(|_| ", the last one until ")} {batch.expected_end.map(exactly)} " "
                <a class="no-js" href="">"Refresh"</a>
            </p>
        }
        .into_any()
    });
    let stop = (may_cancel && batch.waiting > 0).then(|| stop(cancel, &batch));
    let rows = batch.jobs.iter().map(|job| job_row(job, badges.watch(job), ().into_any())).collect_view();
    view! {
        <div class="progress">
            <p>
                <strong>{format!("{} of {} sent", batch.sent, batch.total)}</strong> " · by " {batch.author}
                ", " {ago(batch.created_at)}
            </p>
            <svg class="meter-bar" aria-hidden="true" inner_html=bar></svg>
            {left} {stop}
            <details class="history">
                <summary>"The text"</summary>
                <p class="message-text" dir="auto">{batch.text}</p>
            </details>
        </div>
        <ul class="job-list" aria-label="Jobs of the batch">{rows}</ul>
    }
    .into_any()
}

fn stop(cancel: Post, batch: &Batch) -> AnyView {
    let says =
        view! { <p>"What was sent goes on. The texts of the others are kept, and never sent."</p> }.into_any();
    let content = [says, submit_button(cancel, "Cancel them", "Cancelling…")];
    confirm("Cancel what is not yet sent", cancel, hidden(batch), content.collect_view().into_any())
}

fn hidden(batch: &Batch) -> Hidden {
    vec![("project", batch.project.to_string()), ("batch", batch.id.to_string())]
}
