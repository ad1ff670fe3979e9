//! What is shown instead of what could not be had: a sentence, and a next step.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::error::{AppError, ErrorCode};
use crate::ui::components::icon::{self, icon};
use crate::ui::erase::{Erase, handler};
use crate::ui::state::response::set_status;

/// In place of content that could not be loaded. `retry` asks again without leaving the page.
pub fn panel(error: &AppError, retry: Callback<()>) -> AnyView {
    set_status(error.code);
    let heading = match error.code {
        ErrorCode::NotFound => "Not found",
        ErrorCode::Unauthenticated => "You are signed out",
        ErrorCode::Forbidden => "Not allowed",
        ErrorCode::BadInput => "That cannot be shown",
        ErrorCode::BudgetSpent => "The hour’s budget is spent",
        _ => "This could not be loaded",
    };
    let way_on = match error.code {
        ErrorCode::NotFound | ErrorCode::Forbidden => {
            view! { <a class="button" href="/">"Go to the overview"</a> }.erase()
        }
        ErrorCode::Unauthenticated => {
            view! { <a class="button" href="/login" rel="external">"Sign in"</a> }.erase()
        }
        // Without JavaScript the link loads the page again.
        _ => view! {
            <a class="button" href="" rel="external" on:click=handler(move |event: MouseEvent| {
                event.prevent_default();
                retry.run(());
            })>"Try again"</a>
        }
        .erase(),
    };
    view! {
        <div class="failure" role="alert">
            {icon(icon::CROSS)}
            <div>
                <h2>{heading}</h2>
                <p>{error.message.clone()}</p>
                {way_on}
            </div>
        </div>
    }
    .erase()
}

/// Above a form whose post failed; nothing where it did not.
pub fn of_form(error: Option<AppError>) -> AnyView {
    match error {
        None => ().into_any(),
        Some(error) => view! {
            <div class="notice notice-bad" role="alert">
                {icon(icon::CROSS)} <p>{error.message}</p>
            </div>
        }
        .erase(),
    }
}
