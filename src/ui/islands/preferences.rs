//! How this browser shows Docket: light or dark, notifications, and the way to the list of shortcuts. The last two need
//! [`super::live::LiveState`], and are not there without it.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::live::LiveState;
use crate::ui::islands::{browser, shortcuts};

#[island]
pub fn Preferences() -> impl IntoView {
    let live = use_context::<LiveState>();
    view! {
        <button
            type="button"
            class="quiet js-only"
            title="Light or dark (.)"
            aria-label="Switch between light and dark"
            on:click=|_| browser::toggle_theme()
        >
            {icon(icon::MOON)}
        </button>
        {live.map(|live| view! {
            <button
                type="button"
                class="quiet js-only"
                title="Notify me in this browser"
                aria-label="Notify me in this browser"
                aria-pressed=Signal::derive(move || live.notifications.are_wanted().then_some("true").or(Some("false")))
                on:click=move |_| live.notifications.toggle(move |said| live.toasts.say(said, "", None))
            >
                {icon(icon::BELL)}
            </button>
            <button
                type="button"
                class="quiet js-only"
                title="Keyboard shortcuts (?)"
                aria-label="Keyboard shortcuts"
                on:click=|_| shortcuts::open_help()
            >
                {icon(icon::QUESTION)}
            </button>
        })}
    }
}
