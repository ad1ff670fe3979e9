//! The not-found page, with status 404.

use leptos::prelude::*;

use crate::ui::components::icon::mark;
use crate::ui::pages::page_head::title;
use crate::ui::pages::request;
use model::error::ErrorCode;

#[component]
pub fn NotFound() -> impl IntoView {
    request::set_status(ErrorCode::NotFound);
    view! {
        {title("Not found")}
        <main class="lone">
            <div class="card">
                {mark()}
                <h1>"Page not found"</h1>
                <p>"The address may be mistyped, or the page was removed."</p>
                <a class="button" href="/">"Go to the overview"</a>
            </div>
        </main>
    }
}
