//! The choices about a delivery whose outcome is not known. Each confirms in place, without scripts too.

use leptos::prelude::*;

use crate::model::job::Job;
use crate::ui::components::badge::name;
use crate::ui::components::post_form::{confirm, id_field};
use crate::ui::components::submit_button::submit_button;
use crate::ui::erase::{Erase, effect};
use crate::ui::state::live::Live;
use crate::ui::state::post::Post;
use crate::ui::state::toasts::Toasts;

/// What a person can have done wrong here.
pub(super) const MISTAKE: &str = "An id of the platform is 1 to 200 characters, without blanks, slashes, percent signs, question marks or hashes.";

/// Hands each decided job to `decided`.
pub(super) fn follow(decide: Post, decided: impl Fn(Job) + 'static) {
    let (live, toasts) = (Live::get(), Toasts::get());
    effect(move || {
        if let Some(Ok(job)) = decide.outcome::<Job>() {
            toasts.say(format!("Job: {}", name(job.state)), None);
            decided(job);
            live.hurry();
        }
    });
}

/// About the message at `position` of the job.
pub(super) fn choices(decide: Post, job: &Job, position: u32, attempt: u32) -> AnyView {
    let choice = |outcome: &str, name, content: [AnyView; 2]| {
        let hidden = vec![
            ("project", job.project.to_string()),
            ("job", job.id.to_string()),
            ("message", position.to_string()),
            ("attempt", attempt.to_string()),
            ("outcome", outcome.to_owned()),
        ];
        confirm(name, decide, hidden, content.collect_view().into_any())
    };
    let says = |text: &'static str| view! { <p>{text}</p> }.into_any();
    let (name, started) = match position {
        0 => (
            "It was started: enter its id",
            [id_field(), submit_button(decide, "Follow this job", "Looking…")],
        ),
        _ => (
            "It was taken",
            [
                says("Nothing is sent. Docket watches the job for what comes of it."),
                submit_button(decide, "It was taken", "Saving…"),
            ],
        ),
    };
    let again = [
        says(
            "The same text goes out once more. If the first one was taken after all, the agent does the work twice.",
        ),
        submit_button(decide, "Send it again", "Sending…"),
    ];
    view! {
        <div class="decide">
            {choice("not_started", "It was not started: send again", again)} {choice("started", name, started)}
        </div>
    }
    .into_any()
}
