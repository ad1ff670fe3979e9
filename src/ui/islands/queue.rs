//! Changes the queue in place, around the list that the server renders: posts its forms, announces the result, and asks for
//! confirmation before a prompt is cancelled. Needs [`super::live::LiveState`] to refresh the list.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::web_sys::{MouseEvent, SubmitEvent};
use serde::Deserialize;

use crate::ui::charts::number::counted;
use crate::ui::islands::browser::{self, handler};
use crate::ui::islands::live::LiveState;

/// The part of the response that is used here.
#[derive(Deserialize)]
struct Left {
    waiting: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    message: String,
}

/// `children` are the list.
#[island]
pub fn QueueMoves(children: Children) -> impl IntoView {
    let live = LiveState::here();
    let moves = Moves { is_busy: RwSignal::new(false), result: RwSignal::new(String::new()) };
    let clicked = LiveState::handler(&live, ask);
    let submitted = handler(move |event| {
        if let Some(live) = &live {
            moves.submitted(live, &event);
        }
    });
    view! {
        // For screen readers.
        <p class="visually-hidden" role="status">{move || moves.result.get()}</p>
        <div on:submit=submitted on:click=clicked>{children()}</div>
    }
}

/// The changes of the queue, one at a time.
#[derive(Clone, Copy)]
struct Moves {
    is_busy: RwSignal<bool>,
    /// The result of the last one.
    result: RwSignal<String>,
}

impl Moves {
    fn submitted(self, live: &LiveState, event: &SubmitEvent) {
        let Some(form) = browser::submitted(event) else { return };
        let message = browser::value_of(&form, "message");
        if message.is_empty() {
            // `live::forms` sends the form that tries the whole queue.
            return;
        }
        event.prevent_default();
        if self.is_busy.get_untracked() {
            return;
        }
        let Some(fields) = browser::fields(&form, event) else { return };
        self.is_busy.set(true);
        let (live, path) = (live.clone(), form.get_attribute("action").unwrap_or_default());
        spawn_local(async move {
            let result = browser::post::<Left>(&path, &fields).await.result;
            self.is_busy.set(false);
            match result {
                Ok(left) => self.result.set(outcome(&left, &message)),
                Err(error) => live.toasts.warn(&error.message, "", None),
            }
            // Closes the confirmation.
            show_queue(&live, browser::here().split('?').next().unwrap_or_default());
        });
    }
}

/// Follows a link of the queue to itself, with or without the confirmation of a prompt.
fn ask(live: &LiveState, event: &MouseEvent) {
    let link = browser::target(event, "a[href]").filter(|_| browser::is_plain(event));
    let href = link.and_then(|link| link.get_attribute("href")).filter(|href| browser::is_here(href));
    if let Some(href) = href {
        event.prevent_default();
        show_queue(live, &href);
    }
}

/// Shows the queue at `url`, which may contain a prompt whose cancellation needs confirmation.
fn show_queue(live: &LiveState, url: &str) {
    browser::replace_url(url);
    live.refresh_now();
}

/// The result of a change: the prompt's new position, or the number of prompts left.
fn outcome(left: &Left, message: &str) -> String {
    let count = left.waiting.len();
    match left.waiting.iter().position(|entry| entry.message == message) {
        Some(at) => ["Now ", &(at + 1).to_string(), " of ", &count.to_string()].concat(),
        None => [&counted(count as u64, "prompt", "prompts"), " in the queue"].concat(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn announcement_has_the_new_position_of_the_prompt() {
        let left = Left { waiting: ["a", "b"].map(|message| Entry { message: message.to_owned() }).into() };
        assert_eq!(outcome(&left, "b"), "Now 2 of 2");
        assert_eq!(outcome(&left, "c"), "2 prompts in the queue");
    }
}
