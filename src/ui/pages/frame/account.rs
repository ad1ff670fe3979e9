//! The signed-in person, sign-out, and the theme.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::session::Logout;
use crate::model::links;
use crate::model::user::CurrentSession;
use crate::ui::components::icon::{self, icon};
use crate::ui::islands::buttons::{self, Buttons};

/// `has_live`: whether there is a `Live` island around it, which notifications and the list of shortcuts need.
pub(super) fn account(session: &CurrentSession, has_live: bool) -> AnyView {
    let of_live = has_live.then(|| {
        [
            button(buttons::NOTIFY, "Notify me in this browser", "Notify me in this browser", icon::BELL),
            button(buttons::HELP, "Keyboard shortcuts (?)", "Keyboard shortcuts", icon::QUESTION),
        ]
    });
    view! {
        <div class="account">
            <a class="who" href=links::ACCOUNT>
                <span class="who-name">{session.username.clone()}</span>
                <span class="faint">{session.role.as_str()}</span>
            </a>
            {button(buttons::THEME, "Light or dark (.)", "Switch between light and dark", icon::MOON)}
            {of_live}
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
    let pressed = (what == buttons::NOTIFY).then_some("false");
    view! {
        <button type="button" class="quiet js-only" data-button=what title=title aria-label=label aria-pressed=pressed>
            {icon(outline)}
        </button>
    }
}
