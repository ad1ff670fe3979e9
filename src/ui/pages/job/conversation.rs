//! What was asked, by whom, what became of each prompt, and what the agent made of it.

use leptos::prelude::*;

use crate::model::job::{DeliveryState, FollowUp, Job, JobState};
use crate::model::time::Timestamp;
use crate::ui::components::badge::delivery_badge;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::moment::ago;
use crate::ui::erase::Erase;
use crate::ui::pages::job::check::check_again;
use crate::ui::pages::job::head::again;

pub(super) fn conversation(job: &Job, may_send: bool) -> AnyView {
    let asked = message(&job.author, job.created_at, &job.prompt, delivery_of(job), None);
    let explained = explained(job, may_send);
    let follow_ups = job.follow_ups.iter().map(follow_up).collect_view();
    view! {
        <ol class="messages" aria-label="Conversation">
            {asked}
            {follow_ups}
        </ol>
        {explained}
    }
    .erase()
}

fn follow_up(sent: &FollowUp) -> AnyView {
    let explanation = match sent.state {
        DeliveryState::Rejected => Some(
            "The agent surely did not take this follow-up. Copy the text into the box below to send it again.",
        ),
        DeliveryState::Unknown => Some(
            "The agent may have taken this follow-up or not. See what it does before you send the text again.",
        ),
        _ => None,
    };
    let reason = explanation.map(|explanation| match &sent.reason {
        Some(reason) => format!("{explanation} {reason}"),
        None => explanation.to_owned(),
    });
    message(&sent.author, sent.created_at, &sent.prompt, sent.state, reason)
}

fn message(author: &str, at: Timestamp, text: &str, state: DeliveryState, note: Option<String>) -> AnyView {
    let initial: String = author.chars().take(1).flat_map(char::to_uppercase).collect();
    view! {
        <li class="message">
            <span class="avatar" aria-hidden="true">{initial}</span>
            <div class="message-body">
                <p class="message-head"><strong>{author.to_owned()}</strong> {ago(at)}</p>
                <p class="message-text">{text.to_owned()}</p>
                <div class="message-foot">{delivery_badge(state)}</div>
                {note.map(|note| view! { <p class="hint">{note}</p> }.erase())}
            </div>
        </li>
    }
    .erase()
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
fn explained(job: &Job, may_send: bool) -> AnyView {
    let has_request = job.remote.as_ref().is_some_and(|remote| remote.pr_link.is_some());
    let (class, outline, text) = match job.state {
        JobState::Queued => {
            ("notice", icon::CLOCK, "Saved. It is sent to the agent as soon as the hour’s budget allows.")
        }
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
            "The connection broke after the text went out, so the agent may be working on it or may never have seen it. Look for a new pull request before you run it again: it is never sent twice by itself.",
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
    let edit = (may_send && job.state == JobState::Rejected)
        .then(|| view! { <a class="button" href=again(job)>"Edit and send again"</a> }.erase());
    let check = (may_send && job.state == JobState::Other && !job.followed).then(|| check_again(job));
    view! {
        <div class=class>
            {icon(outline)}
            <div>
                <p>{text}</p>
                {job.reason.clone().map(|reason| view! { <p class="soft">{reason}</p> }.erase())}
                {edit} {check}
            </div>
        </div>
    }
    .erase()
}
