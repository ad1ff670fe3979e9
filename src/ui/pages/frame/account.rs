//! The signed-in person, sign-out, and the theme.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::of_person;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::unmarked::unmarked;
use crate::ui::islands::buttons::Buttons;
use crate::ui::look::Look;
use crate::ui::marks::{SIGN_OUT, THEME_FORM};
use api::session::Logout;
use model::links;
use model::user::CurrentSession;

pub(super) fn account(session: &CurrentSession) -> AnyView {
    let account = unmarked(view! {
        <div class="account">
            <p class="who">
                <span class="who-name">{session.username.clone()}</span>
                <span class="faint">{session.role.as_str()}</span>
            </p>
            {themes()}
            <a class="quiet" href=links::HELP title="Help">{icon(icon::QUESTION)}</a>
            <form method="post" action=Logout::PATH id=SIGN_OUT.name()>
                {of_person()}
                <button type="submit" class="quiet" title="Sign out">
                    {icon(icon::SIGN_OUT)}
                </button>
            </form>
        </div>
    });
    view! { {account} <Buttons /> }.into_any()
}

/// The choice of the theme.
fn themes() -> AnyView {
    let chosen = use_context::<Look>().and_then(|look| look.theme).unwrap_or_default();
    let options = [("", "System"), ("light", "Light"), ("dark", "Dark")]
        .map(|(value, name)| view! { <option value=value selected=value == chosen>{name}</option> });
    view! {
        <form id=THEME_FORM.name() class="js-only" data-plain="">
            <select class="field theme" name="theme" aria-label="Theme" title="Theme (.)" autocomplete="off">
                {options.into_iter().collect_view()}
            </select>
        </form>
    }
    .into_any()
}
