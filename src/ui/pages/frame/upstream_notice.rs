//! The notice about a problem with the platform, while stored data is shown.

use leptos::prelude::*;

use crate::ui::components::notice::{Tone, notice};
use model::budget::Notice;
use model::links;

pub(super) fn upstream_notice(project: &str, what: Notice) -> AnyView {
    let (text, link) = match what {
        Notice::Failing => ("The platform is failing. You see stored data, which may be outdated.", None),
        Notice::NoCredits => (
            "The platform accepts no prompts: it has no AI credits, or could not check them. Prompts wait in the queue, and nothing is lost.",
            Some(view! { <a href=links::queue(project)>"View the queue"</a> }.into_any()),
        ),
        Notice::KeyRefused => (
            "The platform refuses Docket’s key: nothing can be sent or updated until it is replaced.",
            Some(view! { <a href=links::UPSTREAM>"View the platform’s state"</a> }.into_any()),
        ),
        Notice::OperationRefused => (
            "The platform refuses some requests of this project. Docket tries again with the next one, at most every five minutes. An administrator can see which.",
            None,
        ),
    };
    notice(Tone::Warning, view! { <p>{text} " " {link}</p> }).into_any()
}
