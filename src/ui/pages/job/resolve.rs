//! The choices about a delivery whose outcome is not known. Each confirms in place, without scripts too.

use leptos::prelude::*;

use crate::model::job::Job;
use crate::ui::components::submit_button::submit_button;
use crate::ui::erase::{Erase, effect};
use crate::ui::state::live::Live;
use crate::ui::state::post::Post;

/// What a person can have done wrong here.
pub(super) const MISTAKE: &str = "An id of the platform is 1 to 200 characters, without blanks, slashes, percent signs, question marks or hashes.";

/// Hands each decided job to `decided`.
pub(super) fn follow(decide: Post, decided: impl Fn(Job) + 'static) {
    let live = Live::get();
    effect(move || {
        if let Some(Ok(job)) = decide.outcome() {
            decided(job);
            live.hurry();
        }
    });
}

/// About the message at `position` of the job.
pub(super) fn choices(decide: Post, job: &Job, position: u32, attempt: u32) -> AnyView {
    let again = view! {
        <p>"The same text goes out once more. If the first one was taken after all, the agent does the work twice."</p>
        {submit_button(decide, "Send it again", "Sending…")}
    };
    let (name, started) = match position {
        0 => {
            let id = view! {
                <label class="field-label" for="remote-id">"Id of the job on the platform"</label>
                <input id="remote-id" class="field" name="remote_id" required maxlength="200" autocomplete="off" spellcheck="false" />
                {submit_button(decide, "Follow this job", "Looking…")}
            };
            ("It was started: enter its id", id.into_any())
        }
        _ => {
            let taken = view! {
                <p>"Nothing is sent. Docket watches the job for what comes of it."</p>
                {submit_button(decide, "It was taken", "Saving…")}
            };
            ("It was taken", taken.into_any())
        }
    };
    view! {
        <div class="decide">
            {choice(decide, job, position, attempt, "not_started", "It was not started: send again", again.into_any())}
            {choice(decide, job, position, attempt, "started", name, started)}
        </div>
    }
    .erase()
}

fn choice(
    decide: Post,
    job: &Job,
    position: u32,
    attempt: u32,
    outcome: &'static str,
    name: &'static str,
    content: AnyView,
) -> AnyView {
    view! {
        <details class="confirm">
            <summary class="button">{name}</summary>
            <form class="stack" method="post" action=decide.url on:submit=decide.submitting()>
                <input type="hidden" name="project" value=job.project.to_string() />
                <input type="hidden" name="job" value=job.id.to_string() />
                <input type="hidden" name="message" value=position.to_string() />
                <input type="hidden" name="attempt" value=attempt.to_string() />
                <input type="hidden" name="outcome" value=outcome />
                {content}
            </form>
        </details>
    }
    .erase()
}
