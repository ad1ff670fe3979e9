//! `/p/{project}/batches/{batch}`: each text before a batch is started, and how far it is afterwards.

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

use crate::api::batches::{CancelBatch, GetBatch, StartBatch};
use crate::api::call::call;
use crate::model::batch::{Batch, Preview};
use crate::ui::charts::number::counted;
use crate::ui::charts::scale::{length, per_mille};
use crate::ui::components::failure;
use crate::ui::components::job_row::job_row;
use crate::ui::components::loading::{self, suspended};
use crate::ui::components::moment::{ago, exactly};
use crate::ui::components::page_head::page_head;
use crate::ui::components::submit_button::submit_button;
use crate::ui::erase::{Erase, effect};
use crate::ui::links;
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
        {move || failure::of_form(start.problem().or(cancel.problem()))}
        {suspended(loading::conversation, Arc::new(content))}
    }
    .erase()
}

fn preview(start: Post, batch: Batch, may_start: bool) -> AnyView {
    let jobs = counted(u64::from(batch.total), "job", "jobs");
    let idle = format!("Queue {jobs}");
    let project = batch.project.as_str();
    let confirm = may_start.then(|| {
        view! {
            <form class="send" method="post" action=start.url on:submit=start.submitting()>
                {hidden(&batch)}
                <button type="submit" class="button button-primary" disabled=move || start.is_pending()>{idle}</button>
                <a class="button" href=links::new_batch(project, batch.id.as_str())>"Edit"</a>
            </form>
        }
        .erase()
    });
    let texts = batch.preview.into_iter().map(text).collect_view();
    view! {
        <p>"Nothing is queued yet. These are the texts, each for one job:"</p>
        {confirm}
        <ol class="previews" aria-label="Texts">{texts}</ol>
    }
    .erase()
}

fn text(preview: Preview) -> AnyView {
    view! {
        <li>
            <code class="tag">{preview.value}</code>
            <p class="message-text">{preview.text}</p>
        </li>
    }
    .erase()
}

fn progress(cancel: Post, batch: Batch, may_cancel: bool) -> AnyView {
    let badges = Badges::get();
    let bar = format!(
        r#"<rect class="meter-track" width="100%" height="100%"/><rect class="meter-used" width="{}" height="100%"/>"#,
        length(per_mille(u64::from(batch.sent), u64::from(batch.total)))
    );
    let waiting = counted(u64::from(batch.waiting), "prompt waits", "prompts wait");
    let end =
        batch.expected_end.map(|at| view! { " · the last one is expected to go " {exactly(at)} }.into_any());
    let left = (batch.waiting > 0).then(|| {
        let stop = may_cancel.then(|| stop(cancel, &batch));
        view! {
            <p>
                <a href=links::queue(batch.project.as_str())>{waiting} " in the queue"</a> {end}
                " " <a class="no-js" href="">"Refresh"</a>
            </p>
            {stop}
        }
        .into_any()
    });
    let rows = batch.jobs.iter().map(|job| job_row(job, badges.watch(job))).collect_view();
    view! {
        <div class="progress">
            <p>
                <strong>{format!("{} of {} sent", batch.sent, batch.total)}</strong> " · by " {batch.author}
                ", " {ago(batch.created_at)}
            </p>
            <svg class="meter-bar" aria-hidden="true" inner_html=bar></svg>
            {left}
            <details class="history">
                <summary>"The text"</summary>
                <p class="message-text">{batch.text}</p>
            </details>
        </div>
        <ul class="job-list" aria-label="Jobs of the batch">{rows}</ul>
    }
    .erase()
}

fn stop(cancel: Post, batch: &Batch) -> AnyView {
    view! {
        <details class="confirm">
            <summary class="button">"Cancel what is not yet sent"</summary>
            <form class="stack" method="post" action=cancel.url on:submit=cancel.submitting()>
                {hidden(batch)} <p>"What was sent goes on. The texts of the others are kept, and never sent."</p>
                {submit_button(cancel, "Cancel them", "Cancelling…")}
            </form>
        </details>
    }
    .erase()
}

fn hidden(batch: &Batch) -> AnyView {
    view! {
        <input type="hidden" name="project" value=batch.project.to_string() />
        <input type="hidden" name="batch" value=batch.id.to_string() />
    }
    .into_any()
}
