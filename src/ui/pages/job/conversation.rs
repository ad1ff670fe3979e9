//! The prompts with their authors and deliveries, and the agent's result.

use leptos::prelude::*;

use crate::model::job::{DeliveryState, FollowUp, Job, JobState};
use crate::model::links;
use crate::model::time::Timestamp;
use crate::ui::components::badge::delivery_badge;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::pull_request;
use crate::ui::components::time::ago;
use crate::ui::pages::job::check::check_again;
use crate::ui::pages::job::deliveries;
use crate::ui::pages::job::head::again;
use crate::ui::pages::job::resolve;

/// `remote_id`: the id typed into a refused form.
pub(super) fn conversation(job: &Job, may_send: bool, remote_id: &str) -> AnyView {
    let asked =
        message(&job.author, job.created_at, &job.prompt, delivery_of(job), (), deliveries::of(job, 0));
    let follow_ups = job.follow_ups.iter().zip(1..).map(|(sent, position)| {
        let note = note(job, position, sent, may_send);
        let deliveries = deliveries::of(job, position);
        message(&sent.author, sent.created_at, &sent.prompt, sent.state, note, deliveries)
    });
    view! {
        <ol class="messages" aria-label="Conversation">
            {asked}
            {follow_ups.collect_view()}
        </ol>
        {explained(job, may_send, remote_id)}
    }
    .into_any()
}

/// The meaning of a follow-up's state, if it needs an explanation, and what to do about it.
fn note(job: &Job, position: u32, sent: &FollowUp, may_send: bool) -> AnyView {
    let explanation = match sent.state {
        DeliveryState::Queued => "It is in the queue.",
        DeliveryState::Rejected => "The agent did not accept this follow-up.",
        DeliveryState::Unknown => {
            "The agent may or may not have received this follow-up. See what it does before you decide."
        }
        _ => return ().into_any(),
    };
    let (project, reason) = (job.project.as_str(), sent.reason.clone());
    let way_on = match sent.state {
        DeliveryState::Queued => view! { <a href=links::queue(project)>"View the queue"</a> }.into_any(),
        DeliveryState::Rejected if may_send && job.remote.is_some() => edit_again(job, position),
        DeliveryState::Unknown if may_send => resolve::choices(job, position, sent.attempt, ""),
        _ => ().into_any(),
    };
    view! {
        <p class="hint">{explanation} " " {reason}</p>
        {way_on}
    }
    .into_any()
}

/// Fills the form below: see [`crate::ui::islands::follow_up::AGAIN`].
fn edit_again(job: &Job, position: u32) -> AnyView {
    let page = links::job(job.project.as_str(), job.id.as_str());
    let href = links::with_query(&page, &[("again", &position.to_string())]) + "#follow-up";
    view! { <a class="button" href=href data-again="">"Edit and send again"</a> }.into_any()
}

fn message(
    author: &str,
    at: Timestamp,
    text: &str,
    state: DeliveryState,
    note: impl IntoView,
    deliveries: AnyView,
) -> AnyView {
    let initial: String = author.chars().take(1).flat_map(char::to_uppercase).collect();
    view! {
        <li class="message">
            <span class="avatar" aria-hidden="true">{initial}</span>
            <div class="message-body">
                <p class="message-head"><strong>{author.to_owned()}</strong> {ago(at)}</p>
                <p class="message-text" dir="auto">{text.to_owned()}</p>
                <div class="message-foot">{delivery_badge(state)} {deliveries}</div>
                {note.into_view()}
            </div>
        </li>
    }
    .into_any()
}

/// The delivery of the job's first prompt, derived from the job's state.
fn delivery_of(job: &Job) -> DeliveryState {
    match job.state {
        JobState::Queued => DeliveryState::Queued,
        JobState::Sending => DeliveryState::Sending,
        JobState::Rejected => DeliveryState::Rejected,
        JobState::Unknown => DeliveryState::Unknown,
        _ => DeliveryState::Accepted,
    }
}

/// The meaning of the state, if it needs an explanation, and what to do about it.
fn explained(job: &Job, may_send: bool, remote_id: &str) -> AnyView {
    let request = job.remote.as_ref().and_then(|remote| remote.pr_link.as_deref());
    let (tone, text) = match (job.state, request) {
        (JobState::Queued, _) => (
            Tone::Plain,
            "Saved, and in the queue. Docket sends it when its turn comes and the hourly budget has room.",
        ),
        (JobState::Sending, _) => (Tone::Plain, "Sending to the agent."),
        (JobState::Active, _) => {
            (Tone::Busy, "The agent is working. This page updates automatically; you can leave it.")
        }
        (JobState::Completed, Some(_)) => (Tone::Good, "opened. Review it, or send a follow-up."),
        (JobState::Completed, None) => (
            Tone::Plain,
            "The agent finished without changing any files. If you expected changes, send a follow-up that says what is missing.",
        ),
        (JobState::Failed, _) => {
            (Tone::Bad, "The agent failed. Run the job again, perhaps with a smaller task.")
        }
        (JobState::Archived, _) => (Tone::Plain, "This job was archived on the platform."),
        (JobState::Rejected, _) => {
            (Tone::Bad, "The job was not started. Your text is kept: edit it and send it again.")
        }
        (JobState::Unknown, _) => (
            Tone::Warning,
            "The connection broke after the text was sent, so the agent may be working on it or may never have received it. Look for a new pull request before you decide: Docket never sends it twice by itself.",
        ),
        (JobState::Other, _) if !job.followed => (
            Tone::Warning,
            "Docket stopped tracking this job, so its outcome is unknown. Look at the repository, or check again.",
        ),
        (JobState::Other, _) => {
            (Tone::Plain, "The platform reports a status that Docket does not know. Docket keeps checking.")
        }
    };
    let opened =
        request.filter(|_| job.state == JobState::Completed).map(|link| pull_request::label(link) + " ");
    let way_on = match job.state {
        JobState::Queued => {
            view! { <a class="button" href=links::queue(job.project.as_str())>"View the queue"</a> }
                .into_any()
        }
        JobState::Rejected if may_send => {
            view! { <a class="button" href=again(job)>"Edit and send again"</a> }.into_any()
        }
        JobState::Unknown if may_send => resolve::choices(job, 0, job.attempt, remote_id),
        JobState::Other if may_send && !job.followed => check_again(job),
        _ => ().into_any(),
    };
    let reason = job.reason.clone().map(|reason| view! { <p class="soft">{reason}</p> });
    notice(tone, view! { <p>{opened} {text}</p> {reason} {way_on} }).into_any()
}
