//! Changes the queue in place, around the list that the server renders: posts its forms, announces the result, and asks for
//! confirmation before a prompt is cancelled. Needs [`super::live::LiveState`] to refresh the list.

use std::cell::Cell;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::web_sys::{MouseEvent, SubmitEvent};
use serde::Deserialize;

use crate::ui::charts::number::counted;
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;

/// The id of the live region for screen readers that announces a change.
pub const ANNOUNCEMENT: &str = "queue-announcement";
/// The id of the element with the list.
pub const LIST: &str = "queue-list";

/// The part of the response that is used here.
#[derive(Deserialize)]
struct Left {
    waiting: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    message: String,
}

/// `children` are the elements [`ANNOUNCEMENT`] and [`LIST`].
#[island]
pub fn QueueMoves(children: Children) -> impl IntoView {
    if let Some(live) = LiveState::here() {
        listen(&live);
    }
    children()
}

fn listen(live: &LiveState) {
    let Some(list) = browser::by_id(LIST) else { return };
    let is_busy = Rc::new(Cell::new(false));
    let here = live.clone();
    browser::on(&list, "submit", move |event: SubmitEvent| {
        let Some(form) = browser::submitted(&event) else { return };
        let message = browser::value_of(&form, "message");
        if message.is_empty() {
            // `live::forms` sends the form that tries the whole queue.
            return;
        }
        event.prevent_default();
        let Some(fields) = browser::fields(&form, &event).filter(|_| !is_busy.replace(true)) else { return };
        let path = form.get_attribute("action").unwrap_or_default();
        let (live, is_busy) = (here.clone(), is_busy.clone());
        spawn_local(async move {
            let result = browser::post::<Left>(&path, &fields).await.result;
            is_busy.set(false);
            match result {
                Ok(left) => {
                    if let Some(region) = browser::by_id(ANNOUNCEMENT) {
                        browser::set_text(&region, &outcome(&left, &message));
                    }
                }
                Err(error) => live.toasts.show(&error.message, "", None),
            }
            // Closes the confirmation.
            show_queue(&live, browser::here().split('?').next().unwrap_or_default());
        });
    });
    let live = live.clone();
    browser::on(&list, "click", move |event: MouseEvent| {
        if let Some(link) = browser::target(&event, "a[data-ask]").filter(|_| browser::is_plain(&event)) {
            event.prevent_default();
            show_queue(&live, &link.get_attribute("href").unwrap_or_default());
        }
    });
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
