//! An error in place of content that could not be loaded: a sentence and a next step.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use model::error::{AppError, ErrorCode};

/// The heading of an error.
pub const fn heading(code: ErrorCode) -> &'static str {
    match code {
        ErrorCode::NotFound => "Not found",
        ErrorCode::Unauthenticated => "You are signed out",
        ErrorCode::Forbidden => "Not allowed",
        ErrorCode::BadInput => "That cannot be shown",
        ErrorCode::BudgetSpent => "The hourly budget is used up",
        _ => "This could not be loaded",
    }
}

/// The error in place of a whole page.
pub fn page_failure(error: &AppError) -> AnyView {
    failed(error, view! { <h1>{heading(error.code)}</h1> })
}

/// The error in place of a part of a page.
pub fn failure(error: &AppError) -> AnyView {
    failed(error, view! { <h2>{heading(error.code)}</h2> })
}

fn failed(error: &AppError, heading: impl IntoView) -> AnyView {
    let (href, step) = match error.code {
        ErrorCode::NotFound | ErrorCode::Forbidden => ("/", "Go to the overview"),
        ErrorCode::Unauthenticated => ("/login", "Sign in"),
        // Reloads the page.
        _ => ("", "Try again"),
    };
    view! {
        <div class="failure" role="alert">
            {icon(icon::CROSS)}
            <div>
                {heading.into_view()}
                <p>{error.message.clone()}</p>
                <a class="button" href=href>{step}</a>
            </div>
        </div>
    }
    .into_any()
}
