//! Changes the queue in place, around the list that the server renders: posts its forms, announces the result, and asks for
//! confirmation before a prompt is cancelled. Needs [`super::live::LiveState`] to refresh the list.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::web_sys::{MouseEvent, SubmitEvent};
use serde::Deserialize;

use crate::ui::charts::number::counted;
use crate::ui::islands::browser;
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

/// `children`: the list, in a region.
#[island]
pub fn QueueMoves(children: Children) -> impl IntoView {
    let announced = RwSignal::new(String::new());
    let is_busy = RwSignal::new(false);
    let live = LiveState::here();
    let moves = live.clone();
    let submitted = move |event: SubmitEvent| {
        let Some((live, form)) = moves.clone().zip(browser::submitted(&event)) else { return };
        let message = browser::value_of(&form, "message");
        if message.is_empty() {
            // `live::forms` sends the form that tries the whole queue.
            return;
        }
        event.prevent_default();
        let Some(fields) = browser::fields(&form, &event).filter(|_| !is_busy.get_untracked()) else {
            return;
        };
        let path = form.get_attribute("action").unwrap_or_default();
        is_busy.set(true);
        spawn_local(async move {
            match browser::post::<Left>(&path, &fields).await.result {
                Ok(left) => announced.set(outcome(&left, &message)),
                Err(error) => live.toasts.show(&error.message, "", None),
            }
            is_busy.set(false);
            // Closes the confirmation.
            show_queue(&live, browser::here().split('?').next().unwrap_or_default());
        });
    };
    let asked = move |event: MouseEvent| {
        let link = browser::target(&event, "a[data-ask]").filter(|_| browser::is_plain(&event));
        if let Some((live, link)) = live.as_ref().zip(link) {
            event.prevent_default();
            show_queue(live, &link.get_attribute("href").unwrap_or_default());
        }
    };
    view! {
        <p class="visually-hidden" role="status">{announced}</p>
        <div on:submit=submitted on:click=asked>{children()}</div>
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
        Some(at) => format!("Now {} of {count}", at + 1),
        None => format!("{} in the queue", counted(count as u64, "prompt", "prompts")),
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
