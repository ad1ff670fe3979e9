//! What is shown for an address that leads nowhere, with the status 404.

use leptos::prelude::*;

use crate::error::ErrorCode;
use crate::ui::components::icon::mark;
use crate::ui::erase::Erase;
use crate::ui::state::{response, title};

#[component]
pub fn NotFound() -> impl IntoView {
    response::set_status(ErrorCode::NotFound);
    title::set("Not found");
    view! {
        <main class="lone">
            <div class="card">
                {mark()}
                <h1>"Nothing is here"</h1>
                <p>"The address may be mistyped, or what it led to is gone."</p>
                <a class="button" href="/">"Go to the overview"</a>
            </div>
        </main>
    }
    .erase()
}
