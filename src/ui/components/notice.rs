//! A notice: what happened, what it means, and what to do.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use model::links;

/// The label of the link to the job whose path is in a sentence.
const NAMED_JOB: &str = "View the job";

/// The severity of a notice.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Tone {
    Plain,
    Busy,
    Good,
    Warning,
    Bad,
}

/// `content` with the icon and color of its `tone`. Screen readers announce [`Tone::Bad`] at once, others politely.
pub fn notice<C: IntoView>(tone: Tone, content: C) -> impl IntoView + use<C> {
    let (class, outline, role) = match tone {
        Tone::Plain => ("notice", icon::CLOCK, "status"),
        Tone::Busy => ("notice notice-busy", icon::ACTIVE, "status"),
        Tone::Good => ("notice notice-ok", icon::CHECK, "status"),
        Tone::Warning => ("notice notice-warn", icon::QUESTION, "status"),
        Tone::Bad => ("notice notice-bad", icon::CROSS, "alert"),
    };
    view! { <div class=class role=role>{icon(outline)} <div>{content.into_view()}</div></div> }
}

/// The error of a form, with a link instead of the path of a job at its end; `None` without an error.
pub fn problem(sentence: Option<String>) -> Option<impl IntoView + use<>> {
    sentence.map(|sentence| {
        let named = links::named_in(&sentence);
        let link = named.map(|(_, job)| view! { <a class="button" href=job.to_owned()>{NAMED_JOB}</a> });
        let text = named.map_or_else(|| sentence.clone(), |(text, _)| [text, "."].concat());
        notice(Tone::Bad, view! { <p>{text}</p> {link} })
    })
}
