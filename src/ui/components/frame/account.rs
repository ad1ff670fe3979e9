//! Who is signed in, the way out, and how the page looks.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::components::keys;
use crate::ui::components::loading::{nothing, suspended};
use crate::ui::erase::{Erase, handler};
use crate::ui::links;
use crate::ui::state::browser;
use crate::ui::state::drafts;
use crate::ui::state::notices::Notices;
use crate::ui::state::session::AskedSession;
use crate::ui::state::toasts::Toasts;

/// `has_keys` where the page listens to the keyboard.
pub(super) fn account(session: AskedSession, has_keys: bool) -> AnyView {
    let who = move || match session.get() {
        Some(Ok(session)) => view! {
            <a class="who" href=links::ACCOUNT>
                <span class="who-name">{session.username.clone()}</span>
                <span class="faint">{session.role.as_str()}</span>
            </a>
        }
        .erase(),
        _ => ().into_any(),
    };
    view! {
        <div class="account">
            {suspended(nothing, std::sync::Arc::new(who))}
            <button
                type="button"
                class="quiet js-only"
                title="Light or dark (.)"
                aria-label="Switch between light and dark"
                on:click=handler(|_| browser::toggle_theme())
            >
                {icon(icon::MOON)}
            </button>
            {has_keys.then(|| view! { {notifications()} {shortcuts()} }.into_any())}
            // A plain post: the next page knows nothing of this one.
            <form method="post" action="/api/session/logout" on:submit=handler(|_| drafts::forget_all())>
                <button type="submit" class="quiet" title="Sign out">
                    {icon(icon::SIGN_OUT)} <span class="visually-hidden">"Sign out"</span>
                </button>
            </form>
        </div>
    }
    .erase()
}

/// Only where toasts are shown: they say what came of it.
fn notifications() -> AnyView {
    let (notices, toasts) = (Notices::get(), Toasts::get());
    view! {
        <button
            type="button"
            class="quiet js-only"
            title="Notify me in this browser"
            aria-label="Notify me in this browser"
            aria-pressed=move || if notices.are_wanted() { "true" } else { "false" }
            on:click=handler(move |_| notices.toggle(move |said| toasts.say(said.to_owned(), None)))
        >
            {icon(icon::BELL)}
        </button>
    }
    .erase()
}

fn shortcuts() -> AnyView {
    view! {
        <button
            type="button"
            class="quiet js-only"
            title="Keyboard shortcuts (?)"
            aria-label="Keyboard shortcuts"
            on:click=handler(|_| keys::open_help())
        >
            {icon(icon::QUESTION)}
        </button>
    }
    .erase()
}
