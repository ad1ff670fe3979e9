//! The prompts with their authors and deliveries, and the agent's result.

use leptos::prelude::*;

use crate::model::job::{
    DeliveryState, FollowUp, Job, JobState, PromptOutcome, PromptResult, began_at, results,
};
use crate::model::links;
use crate::model::time::Timestamp;
use crate::ui::components::badge::delivery_badge;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::long_text::long_text;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::time::{ago, duration, elapsed};
use crate::ui::pages::job::check::check_again;
use crate::ui::pages::job::deliveries;
use crate::ui::pages::job::facts::{outcome, usual};
use crate::ui::pages::job::head::{again_link, is_title, offers_again};
use crate::ui::pages::job::resolve;
use crate::ui::pages::markdown::{Origin, has_markup, markdown};

/// `as_source`: prompts as plain text instead of Markdown. `remote_id`: the id typed into a refused form.
pub(super) fn conversation(job: &Job, as_source: bool, may_send: bool, remote_id: &str) -> AnyView {
    let mut results = results(job).into_iter();
    // A short prompt is the page's title.
    let prompt = Some(job.prompt.as_str()).filter(|prompt| !is_title(prompt));
    let page = links::job(job.project.as_str(), job.id.as_str());
    let first_prompt = SentPrompt {
        author: &job.author,
        at: job.created_at,
        text: prompt,
        page: &page,
        as_source,
        state: delivery_of(job),
        deliveries: deliveries::of(job, 0),
        result: results.next().flatten(),
        name: "result of the first prompt".to_owned(),
    };
    let first_prompt = first_prompt.view(());
    let follow_ups = job.follow_ups.iter().zip(1..).zip(results).map(|((sent, position), result)| {
        let follow_up = SentPrompt {
            author: &sent.author,
            at: sent.created_at,
            text: Some(&sent.prompt),
            page: &page,
            as_source,
            state: sent.state,
            deliveries: deliveries::of(job, position),
            result,
            name: format!("result of follow-up {position}"),
        };
        follow_up.view(note(job, position, sent, may_send))
    });
    view! {
        <ol class="messages" aria-label="Conversation">
            {first_prompt}
            {follow_ups.collect_view()}
        </ol>
        {explained(job, may_send, remote_id)}
    }
    .into_any()
}

/// The explanation of a follow-up's state, if it needs one, and the next step.
fn note(job: &Job, position: u32, sent: &FollowUp, may_send: bool) -> AnyView {
    let explanation = match sent.state {
        DeliveryState::Queued => "It is in the queue.",
        DeliveryState::Cancelled => "",
        DeliveryState::Rejected => "The agent did not accept this follow-up.",
        // The reason explains it.
        DeliveryState::Unknown => "",
        _ => return ().into_any(),
    };
    let (project, reason) = (job.project.as_str(), sent.reason.clone());
    let way_on = match sent.state {
        DeliveryState::Queued => view! { <a href=links::queue(project)>"View the queue"</a> }.into_any(),
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

/// Fills the form below: see [`crate::ui::islands::follow_up::AGAIN`].
fn edit_again(job: &Job, position: u32, sent: &FollowUp) -> AnyView {
    let page = links::job(job.project.as_str(), job.id.as_str());
    let href = links::with_query(&page, &[("again", &position.to_string())]) + "#follow-up";
    view! { <a class="button" href=href data-again=sent.prompt.clone()>"Edit and send again"</a> }.into_any()
}

/// A prompt and its result.
struct SentPrompt<'a> {
    author: &'a str,
    at: Timestamp,
    /// `None` if the page's title contains it.
    text: Option<&'a str>,
    /// The path of the job's page.
    page: &'a str,
    as_source: bool,
    state: DeliveryState,
    deliveries: AnyView,
    result: Option<PromptResult>,
    /// The accessible name of the result, which distinguishes its link from others.
    name: String,
}

impl SentPrompt<'_> {
    /// The link between Markdown and its source.
    fn other_form(&self) -> Option<AnyView> {
        self.text.filter(|text| has_markup(text))?;
        let (name, source) = if self.as_source { ("View formatted", "") } else { ("View source", "on") };
        let href = links::with_query(self.page, &[("source", source)]);
        Some(view! { <a class="faint" href=href>{name}</a> }.into_any())
    }

    fn view(self, note: impl IntoView) -> AnyView {
        let initial: String = self.author.chars().take(1).flat_map(char::to_uppercase).collect();
        let other_form = self.other_form();
        view! {
            <li class="message">
                <span class="avatar" aria-hidden="true">{initial}</span>
                <div class="message-body">
                    <p class="message-head"><strong>{self.author.to_owned()}</strong> {ago(self.at)}</p>
                    {self.text.map(|text| shown(text, self.as_source))}
                    <div class="message-foot">{delivery_badge(self.state)} {self.deliveries} {other_form}</div>
                    {note.into_view()}
                    {self.result.as_ref().map(|brought| result(brought, &self.name))}
                </div>
            </li>
        }
        .into_any()
    }
}

/// A prompt or follow-up.
fn shown(text: &str, as_source: bool) -> AnyView {
    long_text(text, |part| {
        let part = match as_source {
            true => part.to_owned().into_any(),
            false => markdown(part, Origin::Person),
        };
        view! { <div class="message-text" class:message-source=as_source dir="auto">{part}</div> }.into_any()
    })
}

/// The result of a prompt, and how long it took.
fn result(result: &PromptResult, name: &str) -> AnyView {
    let shape = match &result.outcome {
        PromptOutcome::PullRequest(_) | PromptOutcome::SamePullRequest(_) => icon::PULL_REQUEST,
        PromptOutcome::NoChanges | PromptOutcome::Finished => icon::CHECK,
        PromptOutcome::Failed => icon::CROSS,
    };
    // The link contains the icon itself.
    let shape = (!matches!(result.outcome, PromptOutcome::PullRequest(_))).then(|| icon(shape));
    let is_failed = result.outcome == PromptOutcome::Failed;
    let took = duration(result.ended_at.as_millis() - result.began_at.as_millis());
    view! {
        <p class="turn-result" data-failed=is_failed.then_some("")>
            {shape} {outcome(&result.outcome, name)} <span class="faint">" · " {took}</span>
        </p>
    }
    .into_any()
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

/// The explanation of the state, if it needs one, and the next step.
fn explained(job: &Job, may_send: bool, remote_id: &str) -> AnyView {
    let has_request = job.remote.as_ref().is_some_and(|remote| remote.pr_link.is_some());
    let (tone, text) = match job.state {
        JobState::Queued => (
            Tone::Plain,
            "Saved, and in the queue. Docket sends it after the prompts before it, when the hourly budget has room.",
        ),
        JobState::Sending => (Tone::Plain, "Sending to the agent."),
        JobState::Active => (Tone::Busy, "Running."),
        // The result explains it.
        JobState::Completed if has_request => return ().into_any(),
        JobState::Completed => (
            Tone::Plain,
            "The agent finished without changing any files. If you expected changes, send a follow-up that says what is missing.",
        ),
        JobState::Failed => (
            Tone::Bad,
            "The agent failed. Run the job again, perhaps with a smaller task, or send a follow-up.",
        ),
        JobState::Archived => (Tone::Plain, "This job was archived on the platform."),
        JobState::Rejected => {
            (Tone::Bad, "The job was not started. Your text is saved. Edit it and send it again.")
        }
        JobState::Cancelled => {
            (Tone::Plain, "The prompt was cancelled before it was sent. Its text is saved.")
        }
        // The reason explains it.
        JobState::Unknown => (Tone::Warning, ""),
        JobState::Other if !job.tracked => (
            Tone::Warning,
            "Docket stopped tracking this job, so its outcome is unknown. Look at the repository, or check again.",
        ),
        JobState::Other => {
            (Tone::Plain, "The platform reports a status that Docket does not know. Docket keeps checking.")
        }
    };
    let way_on = match job.state {
        JobState::Queued => {
            view! { <a class="button" href=links::queue(job.project.as_str())>"View the queue"</a> }
                .into_any()
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
    let text = (!text.is_empty()).then(|| view! { <p>{text} " " {updates}</p> });
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
        <p class="hint">"Running jobs can't be canceled. A follow-up can give the agent another task."</p>
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
