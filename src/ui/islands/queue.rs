//! What lets the queue be changed without leaving it, around the list that the server renders: posts its forms, says what they did, and
//! asks in place before a prompt is cancelled. Needs [`super::live::LiveState`], which brings the list up to date and keeps the focus.

use leptos::ev::{MouseEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, HtmlFormElement};
use serde::Deserialize;

use crate::ui::charts::number::counted;
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;

/// What is read of the queue that the server answers with.
#[derive(Deserialize)]
struct Left {
    waiting: Vec<Entry>,
}

#[derive(Deserialize)]
struct Entry {
    message: String,
}

#[island]
pub fn QueueMoves(children: Children) -> impl IntoView {
    let live = use_context::<LiveState>();
    let said = RwSignal::new(String::new());
    let is_busy = StoredValue::new(false);
    let submit = move |event: SubmitEvent| {
        event.prevent_default();
        let form = event.target().and_then(|target| target.dyn_into::<HtmlFormElement>().ok());
        let (Some(form), Some(live), false) = (form, live, is_busy.get_value()) else { return };
        let Some(fields) = browser::fields(&form, &event) else { return };
        let message = browser::value_of(&form, "message");
        let path = form.get_attribute("action").unwrap_or_default();
        is_busy.set_value(true);
        spawn_local(async move {
            let answer = browser::post::<Left>(&path, &fields).await.answer;
            is_busy.set_value(false);
            match answer {
                Ok(left) => said.set(outcome(&left, &message)),
                Err(error) => live.toasts.say(error.message, "", None),
            }
            // The question is answered.
            ask(live, browser::here().split('?').next().unwrap_or_default());
        });
    };
    let click = move |event: MouseEvent| {
        let plain = event.button() == 0
            && !(event.ctrl_key() || event.meta_key() || event.shift_key() || event.alt_key());
        let target = event.target().and_then(|target| target.dyn_into::<Element>().ok());
        let link = target.and_then(|target| target.closest("a[data-ask]").ok().flatten());
        if let (Some(link), Some(live), true) = (link, live, plain) {
            event.prevent_default();
            ask(live, &link.get_attribute("href").unwrap_or_default());
        }
    };
    view! {
        <p class="visually-hidden" role="status">{Signal::derive(move || said.get())}</p>
        <div on:submit=submit on:click=click>{children()}</div>
    }
}

/// Shows the queue of `address`, which names the prompt that is about to be cancelled.
fn ask(live: LiveState, address: &str) {
    browser::replace_address(address);
    live.hurry();
}

/// What a change did, for those who do not see it: where the prompt is now, or what is left.
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
    fn a_change_is_said_by_the_place_of_its_prompt() {
        let left = Left { waiting: ["a", "b"].map(|message| Entry { message: message.to_owned() }).into() };
        assert_eq!(outcome(&left, "b"), "Now 2 of 2");
        assert_eq!(outcome(&left, "c"), "2 prompts in the queue");
    }
}
