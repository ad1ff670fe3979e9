//! The choices for a delivery with an unknown outcome. Each asks for confirmation in place, also without JavaScript.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::empty::learn_about;
use crate::ui::components::form::{confirm, id_field, post_form};
use crate::ui::components::icon::{self, icon};
use api::jobs::ResolveDelivery;
use model::job::{Job, safe_link};

/// What to check before the decision.
pub(super) fn advice(job: &Job) -> AnyView {
    let link = job.pull_requests_url.as_deref().and_then(safe_link).map(|href| {
        view! {
            ": "
            <a class="with-icon" href=href.to_owned() target="_blank" rel="noopener noreferrer">
                {icon(icon::PULL_REQUEST)} "Pull requests of the repository"
            </a>
        }
    });
    view! {
        <p>"Look for a new pull request before you decide" {link} ". Docket itself sends a prompt at most once."</p>
    }
    .into_any()
}

/// For the prompt at `position` of the job. `remote_id`: the id typed before.
pub(super) fn choices(job: &Job, position: u32, attempt: u32, remote_id: &str) -> AnyView {
    let choice = |outcome: &str, name, content: AnyView| {
        let hidden = vec![
            ("project", job.project.to_string()),
            ("job", job.id.to_string()),
            ("message", position.to_string()),
            ("attempt", attempt.to_string()),
            ("outcome", outcome.to_owned()),
        ];
        confirm(name, post_form("stack", ResolveDelivery::PATH, hidden, content))
    };
    let (name, started) = match position {
        0 => (
            "It was started: enter its id",
            view! { {id_field(remote_id.to_owned())} {button("Track this job", "Docket tracks this job now")} }.into_any(),
        ),
        _ => (
            "It was accepted",
            view! {
                <p>"Nothing is sent. Docket tracks the job from now on."</p>
                {button("It was accepted", "Marked as accepted")}
            }
            .into_any(),
        ),
    };
    let again = view! {
        <p>"The same text is sent once more. If the agent accepted the first one after all, it does the work twice."</p>
        {button("Send it again", "Sent again")}
    };
    view! {
        <div class="decide">
            {choice("not_started", "It was not started: send again", again.into_any())} {choice("started", name, started)}
        </div>
        {learn_about("job-states", "unknown outcomes")}
    }
    .into_any()
}

fn button(name: &'static str, done: &'static str) -> AnyView {
    view! { <button type="submit" class="button button-primary" data-done=done>{name}</button> }.into_any()
}
