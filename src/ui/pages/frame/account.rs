//! The signed-in person, sign-out, and the theme.

use leptos::prelude::*;

use crate::model::links;
use crate::model::user::CurrentSession;
use crate::ui::islands::preferences::Preferences;
use crate::ui::islands::sign_out::SignOut;

pub(super) fn account(session: &CurrentSession) -> AnyView {
    view! {
        <div class="account">
            <a class="who" href=links::ACCOUNT>
                <span class="who-name">{session.username.clone()}</span>
                <span class="faint">{session.role.as_str()}</span>
            </a>
            <Preferences />
            <SignOut />
        </div>
    }
    .into_any()
}
