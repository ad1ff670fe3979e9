//! The prompts with their authors and deliveries, and the agent's result.

use std::ops::Range;

use leptos::prelude::*;

use crate::ui::charts::number::counted;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::page_room::{Room, escaped_len};
use crate::ui::components::time::elapsed;
use crate::ui::marks::AGAIN;
use crate::ui::pages::job::check::check_again;
use crate::ui::pages::job::facts::usual;
use crate::ui::pages::job::fit::{Fitted, fit};
use crate::ui::pages::job::head::{again_link, is_title, offers_again};
use crate::ui::pages::job::sent_prompt::{OtherForm, SentPrompt};
use crate::ui::pages::job::{deliveries, queued, resolve};
use model::job::{DeliveryState, FollowUp, Job, JobState, ShownFollowUps, began_at, results};
use model::links;
use model::queue::QueuedPrompt;

/// The elements around a follow-up's text, without the texts in them.
const AROUND: usize = 4 * 1024;

/// A longer text is not in the button that copies it into the form: the button leads to a page with the text in the form.
const AGAIN_MAX: usize = 4 * 1024;

/// The follow-ups that the page shows, and its form for prompts.
#[derive(Clone, Copy)]
pub(super) struct Shown {
    pub(super) follow_ups: ShownFollowUps,
    /// Prompts as plain text instead of Markdown.
    pub(super) as_source: bool,
}

/// The prompts of a job that fit into its page.
pub(super) struct Conversation<'a> {
    job: &'a Job,
    shown: Shown,
    /// The positions of the shown follow-ups.
    pub(super) range: Range<usize>,
    prompts: Fitted,
}

impl<'a> Conversation<'a> {
    /// Fits the prompts into the room of the page.
    pub(super) fn of(job: &'a Job, shown: Shown, room: &mut Room) -> Self {
        // A short prompt is the page's title.
        let first = Some(job.prompt.as_str()).filter(|prompt| !is_title(prompt));
        let range = shown.follow_ups.range(job.follow_ups.len());
        let around = |index: usize, sent: &FollowUp| {
            let reason = sent.reason.as_deref().map_or(0, escaped_len);
            AROUND
                + AGAIN_MAX.min(escaped_len(&sent.prompt))
                + reason
                + deliveries::size(job, index as u32 + 1)
        };
        let follow_ups: Vec<_> = range
            .clone()
            .map(|index| (&job.follow_ups[index], index))
            .map(|(sent, index)| (sent.prompt.as_str(), around(index, sent)))
            .collect();
        let prompts = fit(first, &follow_ups, shown.as_source, room);
        let range = range.end - prompts.follow_ups.len()..range.end;
        Self { job, shown, range, prompts }
    }

    /// `remote_id`: the id typed into a refused form. `queued`: the prompts in the queue.
    pub(super) fn view(self, may_send: bool, remote_id: &str, queued: &[QueuedPrompt]) -> AnyView {
        let Self { job, shown, range, prompts } = self;
        let mut results = results(job);
        let mut result = |position: usize| results.get_mut(position).and_then(Option::take);
        let other_form = other_form(job, shown);
        let first_prompt = SentPrompt {
            author: &job.author,
            at: job.created_at,
            text: prompts.first,
            other_form: &other_form,
            state: delivery_of(job),
            deliveries: deliveries::of(job, 0),
            result: result(0),
            name: "result of the first prompt".to_owned(),
        };
        let first_prompt = first_prompt.view(());
        let follow_ups = range.clone().zip(prompts.follow_ups).map(|(index, text)| {
            let (sent, position) = (&job.follow_ups[index], index as u32 + 1);
            let follow_up = SentPrompt {
                author: &sent.author,
                at: sent.created_at,
                text: Some(text),
                other_form: &other_form,
                state: sent.state,
                deliveries: deliveries::of(job, position),
                result: result(index + 1),
                name: format!("result of follow-up {position}"),
            };
            follow_up.view(note(job, position, sent, may_send, queued))
        });
        let follow_ups = follow_ups.collect_view();
        view! {
            <ol class="messages" aria-label="Conversation">
                {first_prompt}
                {earlier(job, shown, &range)}
                {follow_ups}
                {later(job, shown, &range)}
            </ol>
            {explained(job, may_send, remote_id, queued)}
        }
        .into_any()
    }
}

/// The link to the follow-ups before the shown ones, if there are any.
fn earlier(job: &Job, shown: Shown, range: &Range<usize>) -> Option<AnyView> {
    let number = counted(range.start as u64, "earlier follow-up", "earlier follow-ups");
    let href = part_of(job, shown, &(range.start + 1).to_string());
    (range.start > 0).then(|| step(href, "Show earlier", number))
}

/// The link to the last follow-ups, if they are not shown.
fn later(job: &Job, shown: Shown, range: &Range<usize>) -> Option<AnyView> {
    let hidden = job.follow_ups.len() - range.end;
    let number = counted(hidden as u64, "later follow-up", "later follow-ups");
    (hidden > 0).then(|| step(part_of(job, shown, ""), "Show the latest", number))
}

fn step(href: String, name: &'static str, number: String) -> AnyView {
    view! { <li class="message-gap"><a class="button" href=href>{name}</a> <span class="faint">{number}</span></li> }
        .into_any()
}

/// The page with the follow-ups before the one with this number.
fn part_of(job: &Job, shown: Shown, before: &str) -> String {
    let page = links::job(job.project.as_str(), job.id.as_str());
    let source = if shown.as_source { "on" } else { "" };
    links::with_query(&page, &[("before", before), ("source", source)])
}

/// The page with the prompts in the other form, Markdown or source.
fn other_form(job: &Job, shown: Shown) -> OtherForm {
    let page = links::job(job.project.as_str(), job.id.as_str());
    let (name, source) = if shown.as_source { ("View formatted", "") } else { ("View source", "on") };
    let before = shown.follow_ups.before().map(|before| before.to_string()).unwrap_or_default();
    OtherForm { name, href: links::with_query(&page, &[("before", &before), ("source", source)]) }
}

/// The explanation of a follow-up's state, if it needs one, and the next step.
fn note(job: &Job, position: u32, sent: &FollowUp, may_send: bool, queued: &[QueuedPrompt]) -> AnyView {
    let explanation = match sent.state {
        DeliveryState::Queued => queued::when(queued, position, "It is in the queue."),
        DeliveryState::Cancelled => String::new(),
        DeliveryState::Rejected => "The agent did not accept this follow-up.".to_owned(),
        // The reason explains it.
        DeliveryState::Unknown => String::new(),
        _ => return ().into_any(),
    };
    let reason = sent.reason.clone();
    let way_on = match sent.state {
        DeliveryState::Queued => queued::choices(job, queued, position, may_send),
        DeliveryState::Rejected | DeliveryState::Cancelled if may_send && job.remote.is_some() => {
            edit_again(job, position, sent)
        }
        DeliveryState::Unknown if may_send => resolve::choices(job, position, sent.attempt, ""),
        _ => ().into_any(),
    };
    let advice = (sent.state == DeliveryState::Unknown).then(|| resolve::advice(job));
    view! {
        <p class="hint">{explanation} " " {reason}</p>
        {advice}
        {way_on}
    }
    .into_any()
}

/// Fills the form below: see [`AGAIN`].
fn edit_again(job: &Job, position: u32, sent: &FollowUp) -> AnyView {
    let page = links::job(job.project.as_str(), job.id.as_str());
    let href = links::with_query(&page, &[("again", &position.to_string())]) + "#follow-up";
    let text = Some(&sent.prompt).filter(|text| escaped_len(text) <= AGAIN_MAX).cloned();
    view! { <a class="button" {..AGAIN.is(text)} href=href>"Edit and send again"</a> }.into_any()
}

/// The delivery of the job's first prompt, derived from the job's state.
fn delivery_of(job: &Job) -> DeliveryState {
    match job.state {
        JobState::Queued => DeliveryState::Queued,
        JobState::Sending => DeliveryState::Sending,
        JobState::Rejected => DeliveryState::Rejected,
        JobState::Cancelled => DeliveryState::Cancelled,
        JobState::Unknown => DeliveryState::Unknown,
        _ => DeliveryState::Accepted,
    }
}

/// The explanation of an archived job with this outcome before.
const fn archived(outcome: Option<JobState>) -> &'static str {
    match outcome {
        Some(JobState::Completed) => "The agent completed this job. It was archived on the platform later.",
        Some(JobState::Failed) => "The agent failed. The job was archived on the platform later.",
        _ => "This job was archived on the platform. Docket saw no result before.",
    }
}

/// The explanation of the state, if it needs one, and the next step.
fn explained(job: &Job, may_send: bool, remote_id: &str, queued: &[QueuedPrompt]) -> AnyView {
    let has_request = job.remote.as_ref().is_some_and(|remote| remote.pr_link.is_some());
    // The advice is for people who can follow it.
    let (tone, text, advice) = match job.state {
        JobState::Queued => (Tone::Plain, "Saved, and in the queue.", ""),
        JobState::Sending => (Tone::Plain, "Sending to the agent.", ""),
        JobState::Active => (Tone::Busy, "Running.", ""),
        // The result explains it.
        JobState::Completed if has_request => return ().into_any(),
        JobState::Completed if job.is_direct => (
            Tone::Plain,
            "The agent finished. The platform publishes changes of this project directly, without a pull request.",
            "",
        ),
        JobState::Completed => (
            Tone::Plain,
            "The agent finished, and the platform named no pull request. Probably no file had to change; if the platform publishes changes of this project directly, they may be online.",
            " If you expected changes, send a follow-up that says what is missing.",
        ),
        JobState::Failed => (
            Tone::Bad,
            "The agent failed.",
            " Run the job again, perhaps with a smaller task, or send a follow-up.",
        ),
        JobState::Archived => (Tone::Plain, archived(job.earlier_outcome), ""),
        JobState::Rejected => {
            (Tone::Bad, "The job was not started. Its text is saved.", " Edit it and send it again.")
        }
        JobState::Cancelled => {
            (Tone::Plain, "The prompt was cancelled before it was sent. Its text is saved.", "")
        }
        // The reason explains it.
        JobState::Unknown => (Tone::Warning, "", ""),
        JobState::Other if !job.tracked => (
            Tone::Warning,
            "Docket stopped tracking this job, so its outcome is unknown.",
            " Look at the repository, or check again.",
        ),
        JobState::Other => (
            Tone::Plain,
            "The platform reports a status that Docket does not know. Docket keeps checking.",
            "",
        ),
    };
    let advice = if may_send { advice } else { "" };
    let way_on = match job.state {
        JobState::Queued => {
            let when = queued::when(
                queued,
                0,
                "Docket sends it after the prompts before it, when the hourly budget has room.",
            );
            view! { <p>{when}</p> {queued::choices(job, queued, 0, may_send)} }.into_any()
        }
        JobState::Active => running(job),
        _ if may_send && offers_again(job) => {
            view! { <p>{again_link(job, "button button-primary")}</p> }.into_any()
        }
        JobState::Unknown => {
            let choices = may_send.then(|| resolve::choices(job, 0, job.attempt, remote_id));
            view! { {resolve::advice(job)} {choices} }.into_any()
        }
        JobState::Other if may_send && !job.tracked => check_again(job),
        _ => ().into_any(),
    };
    let reason = match job.state {
        JobState::Failed => Some(last_words(job)),
        _ => job.reason.clone(),
    };
    let reason = reason.map(|reason| view! { <p class:soft=!text.is_empty()>{reason}</p> });
    let updates = (job.state == JobState::Active).then(|| {
        view! {
            <span class="js-only">"This page updates automatically; you can leave it."</span>
            <span class="no-js">"Refresh the page to see the result; you can leave it."</span>
        }
    });
    let text = (!text.is_empty()).then(|| view! { <p>{text} {advice} " " {updates}</p> });
    notice(tone, view! { {text} {reason} {way_on} }).into_any()
}

/// How long the agent has been working, how long it usually takes, and why it cannot be stopped.
fn running(job: &Job) -> AnyView {
    let position =
        job.history.iter().rev().find(|entry| entry.state.is_accepted()).map_or(0, |entry| entry.message);
    let so_far = began_at(&job.history, position)
        .map(|began| view! { <p>"Running for " {elapsed(began)} {job.usual_millis.map(|millis| format!(", {}", usual(millis)))}</p> });
    view! {
        {so_far}
        <p class="hint">"Running jobs can’t be cancelled. A follow-up can give the agent another task."</p>
    }
    .into_any()
}

/// The platform's last message about a failed job.
fn last_words(job: &Job) -> String {
    let message = match (&job.reason, &job.remote) {
        (Some(reason), _) => reason.clone(),
        (None, Some(remote)) => remote.status.clone(),
        (None, None) => return "The platform gave no reason.".to_owned(),
    };
    format!("The platform reported: “{message}”")
}
