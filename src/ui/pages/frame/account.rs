//! Who is signed in, the way out, and how the page looks.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::session::Logout;
use crate::model::links;
use crate::model::user::CurrentSession;
use crate::ui::components::icon::{self, icon};
use crate::ui::islands::preferences::Preferences;

pub(super) fn account(session: &CurrentSession) -> AnyView {
    view! {
        <div class="account">
            <a class="who" href=links::ACCOUNT>
                <span class="who-name">{session.username.clone()}</span>
                <span class="faint">{session.role.as_str()}</span>
            </a>
            <Preferences />
            // Left to the browser: the next page knows nothing of this one.
            <form method="post" action=Logout::PATH data-plain="">
                <button type="submit" class="quiet" title="Sign out">
                    {icon(icon::SIGN_OUT)} <span class="visually-hidden">"Sign out"</span>
                </button>
            </form>
        </div>
    }
    .into_any()
}
