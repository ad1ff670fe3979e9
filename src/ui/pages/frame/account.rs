//! The signed-in person, sign-out, and the theme.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::session::Logout;
use crate::model::user::CurrentSession;
use crate::ui::components::icon::{self, icon};
use crate::ui::islands::buttons::{self, Buttons};

pub(super) fn account(session: &CurrentSession) -> AnyView {
    view! {
        <div class="account">
            <p class="who">
                <span class="who-name">{session.username.clone()}</span>
                <span class="faint">{session.role.as_str()}</span>
            </p>
            {button(buttons::THEME, "Light or dark (.)", "Switch between light and dark", icon::MOON)}
            {button(buttons::HELP, "Keyboard shortcuts (?)", "Keyboard shortcuts", icon::QUESTION)}
            // Left to the browser: the next page knows nothing of this one.
            <form method="post" action=Logout::PATH data-plain="" data-sign-out="">
                <button type="submit" class="quiet" title="Sign out">
                    {icon(icon::SIGN_OUT)} <span class="visually-hidden">"Sign out"</span>
                </button>
            </form>
        </div>
        <Buttons />
    }
    .into_any()
}

fn button(
    what: &'static str,
    title: &'static str,
    label: &'static str,
    outline: &'static str,
) -> impl IntoView {
    view! {
        <button type="button" class="quiet js-only" data-button=what title=title aria-label=label>
            {icon(outline)}
        </button>
    }
}
