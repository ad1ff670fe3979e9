//! What was asked, by whom, what became of each prompt, and what the agent made of it.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::model::job::{DeliveryState, FollowUp, Job, JobState};
use crate::model::time::Timestamp;
use crate::ui::components::badge::delivery_badge;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::moment::ago;
use crate::ui::components::post_form::problems;
use crate::ui::erase::{Erase, handler};
use crate::model::links;
use crate::ui::pages::job::check::check_again;
use crate::ui::pages::job::deliveries;
use crate::ui::pages::job::head::again;
use crate::ui::pages::job::resolve;
use crate::ui::state::drafts::Draft;
use crate::ui::state::post::Post;

pub(super) fn conversation(job: &Job, may_send: bool, decide: Post, draft: Draft) -> AnyView {
    let asked = message(
        &job.author,
        job.created_at,
        &job.prompt,
        delivery_of(job),
        ().into_any(),
        deliveries::of(job, 0),
    );
    let explained = explained(job, may_send, decide);
    let follow_ups = job.follow_ups.iter().zip(1..).map(|(sent, position)| {
        let note = note(job, position, sent, may_send, decide, draft);
        let deliveries = deliveries::of(job, position);
        message(&sent.author, sent.created_at, &sent.prompt, sent.state, note, deliveries)
    });
    let follow_ups = follow_ups.collect_view();
    view! {
        {problems(vec![decide])}
        <ol class="messages" aria-label="Conversation">
            {asked}
            {follow_ups}
        </ol>
        {explained}
    }
    .into_any()
}

/// What the state of a follow-up means, where that is not plain, and what to do about it.
fn note(job: &Job, position: u32, sent: &FollowUp, may_send: bool, decide: Post, draft: Draft) -> AnyView {
    let explanation = match sent.state {
        DeliveryState::Queued => "It waits to be sent.",
        DeliveryState::Rejected => "The agent surely did not take this follow-up.",
        DeliveryState::Unknown => {
            "The agent may have taken this follow-up or not. See what it does before you decide."
        }
        _ => return ().into_any(),
    };
    let (project, reason) = (job.project.as_str(), sent.reason.clone());
    let way_on = match sent.state {
        DeliveryState::Queued => view! { <a href=links::queue(project)>"See the queue"</a> }.into_any(),
        DeliveryState::Rejected if may_send && job.remote.is_some() => edit_again(job, position, sent, draft),
        DeliveryState::Unknown if may_send => resolve::choices(decide, job, position, sent.attempt),
        _ => ().into_any(),
    };
    view! {
        <p class="hint">{explanation} " " {reason}</p>
        {way_on}
    }
    .into_any()
}

/// Fills the box below; without scripts the page comes back with it filled.
fn edit_again(job: &Job, position: u32, sent: &FollowUp, draft: Draft) -> AnyView {
    let href = links::with_query(
        &links::job(job.project.as_str(), job.id.as_str()),
        &[("again", &position.to_string())],
    );
    let text = sent.prompt.clone();
    let fill = handler(move |event: MouseEvent| {
        event.prevent_default();
        draft.fill(&text, String::new());
    });
    view! { <a class="button" href=href + "#follow-up" rel="external" on:click=fill>"Edit and send again"</a> }.into_any()
}

fn message(
    author: &str,
    at: Timestamp,
    text: &str,
    state: DeliveryState,
    note: AnyView,
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
                {note}
            </div>
        </li>
    }
    .into_any()
}

/// The delivery of the job's own prompt, read back from its state.
fn delivery_of(job: &Job) -> DeliveryState {
    match job.state {
        JobState::Queued => DeliveryState::Queued,
        JobState::Sending => DeliveryState::Sending,
        JobState::Rejected => DeliveryState::Rejected,
        JobState::Unknown => DeliveryState::Unknown,
        _ => DeliveryState::Accepted,
    }
}

/// What the state means, where that is not plain, and what to do about it.
fn explained(job: &Job, may_send: bool, decide: Post) -> AnyView {
    let has_request = job.remote.as_ref().is_some_and(|remote| remote.pr_link.is_some());
    let (class, outline, text) = match job.state {
        JobState::Queued => (
            "notice",
            icon::CLOCK,
            "Saved. It waits in the queue and is sent to the agent by itself, when its turn comes and the hour’s budget allows.",
        ),
        JobState::Sending => ("notice", icon::SENDING, "On its way to the agent."),
        JobState::Active => (
            "notice notice-busy",
            icon::ACTIVE,
            "The agent is working. This page keeps up by itself; you can leave it.",
        ),
        JobState::Completed if has_request => (
            "notice notice-ok",
            icon::CHECK,
            "The agent is done and opened a pull request. Read it there, or ask for more below.",
        ),
        JobState::Completed => (
            "notice",
            icon::CHECK,
            "The agent is done and changed no files. If you expected changes, say below what is missing.",
        ),
        JobState::Failed => (
            "notice notice-bad",
            icon::CROSS,
            "The agent met an error that it could not get over. Run it again, perhaps with a smaller task.",
        ),
        JobState::Archived => ("notice", icon::ARCHIVED, "This job was archived upstream."),
        JobState::Rejected => (
            "notice notice-bad",
            icon::REJECTED,
            "The agent surely did not take this job, so nothing runs. Your text is kept: edit it and send it again.",
        ),
        JobState::Unknown => (
            "notice notice-warn",
            icon::QUESTION,
            "The connection broke after the text went out, so the agent may be working on it or may never have seen it. Look for a new pull request before you decide: it is never sent twice by itself.",
        ),
        JobState::Other if !job.followed => (
            "notice notice-warn",
            icon::QUESTION,
            "Docket follows this job no more, so what became of it is not known. Look at the repository, or ask the platform once more.",
        ),
        JobState::Other => (
            "notice",
            icon::OTHER,
            "The upstream reports a status that Docket does not know; it keeps watching.",
        ),
    };
    let way_on = match job.state {
        JobState::Queued => {
            view! { <a class="button" href=links::queue(job.project.as_str())>"See the queue"</a> }.into_any()
        }
        JobState::Rejected if may_send => {
            view! { <a class="button" href=again(job)>"Edit and send again"</a> }.into_any()
        }
        JobState::Unknown if may_send => resolve::choices(decide, job, 0, job.attempt),
        JobState::Other if may_send && !job.followed => check_again(job),
        _ => ().into_any(),
    };
    view! {
        <div class=class>
            {icon(outline)}
            <div>
                <p>{text}</p>
                {job.reason.clone().map(|reason| view! { <p class="soft">{reason}</p> }.into_any())}
                {way_on}
            </div>
        </div>
    }
    .into_any()
}
