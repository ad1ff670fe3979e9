//! The queued prompts of a job: when each is sent, and what can be done about it.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::cost;
use crate::ui::components::form::{confirm, post_form};
use api::queue::{CancelQueued, MoveQueued, queued_prompts};
use model::error::AppError;
use model::job::{DeliveryState, Job, JobState};
use model::links;
use model::queue::QueuedPrompt;

/// The refresh interval while a prompt is in the queue, in seconds.
pub(super) const EVERY: &str = "30";

/// Those of the job, with their places in the queue.
pub(super) async fn of(job: &Job) -> Result<Vec<QueuedPrompt>, AppError> {
    let has_queued = job.state == JobState::Queued
        || job.follow_ups.iter().any(|sent| sent.state == DeliveryState::Queued);
    if has_queued { queued_prompts(job.project.as_str(), &job.id).await } else { Ok(Vec::new()) }
}

/// When the prompt at `position` of the job is sent; otherwise `else_text`.
pub(super) fn when(queued: &[QueuedPrompt], position: u32, else_text: &str) -> String {
    find(queued, position).and_then(|prompt| cost::wait(prompt.place)).unwrap_or_else(|| else_text.to_owned())
}

/// The link to the queue, and buttons to send the prompt first and to cancel it.
pub(super) fn choices(job: &Job, queued: &[QueuedPrompt], position: u32, may_send: bool) -> AnyView {
    let project = job.project.as_str();
    let prompt = find(queued, position).filter(|_| may_send);
    let hidden = |prompt: &QueuedPrompt, more: &[(&'static str, &str)]| {
        let own = [("project", project), ("message", prompt.message.as_str()), ("job", job.id.as_str())];
        own.iter().chain(more).map(|(name, value)| (*name, (*value).to_owned())).collect::<Vec<_>>()
    };
    let first = prompt.filter(|prompt| prompt.place.before > 0 && prompt.place.expected_at.is_some());
    let first = first.map(|prompt| {
        let button = view! { <button type="submit" class="button" data-done="Moved to the front of the queue">"Send first"</button> };
        post_form("", MoveQueued::PATH, hidden(prompt, &[("to", "first")]), button)
    });
    let cancel = prompt.map(|prompt| {
        let name = if position > 0 { "Cancel follow-up" } else { "Cancel job" };
        let content = view! {
            <p class="hint">"It will never be sent. Its text is saved."</p>
            <button type="submit" class="button">{name}</button>
        };
        confirm("Cancel…", post_form("stack", CancelQueued::PATH, hidden(prompt, &[]), content))
    });
    view! {
        <div class="choices">
            <a class="button" href=links::queue(project)>"View the queue"</a>
            {first}
            {cancel}
        </div>
    }
    .into_any()
}

fn find(queued: &[QueuedPrompt], position: u32) -> Option<&QueuedPrompt> {
    queued.iter().find(|prompt| prompt.position == position)
}
