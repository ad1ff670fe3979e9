//! The way out. Whoever signs in next at this browser must not read the drafts that are kept in it.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::session::Logout;
use crate::ui::components::icon::{self, icon};
use crate::ui::islands::drafts;

#[island]
pub fn SignOut() -> impl IntoView {
    // Left to the browser: the next page knows nothing of this one.
    view! {
        <form method="post" action=Logout::PATH data-plain="" on:submit=|_| drafts::forget_all()>
            <button type="submit" class="quiet" title="Sign out">
                {icon(icon::SIGN_OUT)} <span class="visually-hidden">"Sign out"</span>
            </button>
        </form>
    }
}
