//! A button that copies a text. Says so in a toast where there is a [`LiveState`].

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;

/// `label` is what the button does, `copied` what is said once it did.
#[island]
pub fn CopyButton(text: String, label: String, copied: String) -> impl IntoView {
    let live = use_context::<LiveState>();
    let copy = move |_| {
        browser::copy(&text);
        if let Some(live) = live {
            live.toasts.say(copied.clone(), "", None);
        }
    };
    view! {
        <button type="button" class="quiet js-only" aria-label=label title="Copy" on:click=copy>
            {icon(icon::COPY)}
        </button>
    }
}
