//! A strip over the page while it cannot be kept true by itself.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::budget::Budgets;
use crate::model::upstream::Notice;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::loading::{nothing, suspended};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::budget::AskedBudget;
use crate::ui::state::live::{Live, explain};

pub(super) fn strip(live: Live) -> AnyView {
    view! { <div role="status">{move || notice(live.trouble())}</div> }.erase()
}

/// What is the matter with the upstream, while what is stored is shown.
pub(super) fn of_upstream(budget: AskedBudget) -> AnyView {
    let content = move || match budget.get() {
        Some(Ok(Budgets { notice: Some(notice), .. })) => upstream_notice(notice),
        _ => ().into_any(),
    };
    suspended(nothing, std::sync::Arc::new(content))
}

fn upstream_notice(notice: Notice) -> AnyView {
    let (text, link) = match notice {
        Notice::Failing => (
            "The platform does not answer as it should. What is stored is shown; states and figures may be old.",
            None,
        ),
        Notice::KeyRefused => (
            "The platform refuses Docket’s key: nothing can be sent or read until it is replaced.",
            Some(view! { <a href=links::UPSTREAM>"Look at the upstream"</a> }.erase()),
        ),
    };
    view! {
        <div class="notice notice-warn" role="status">
            {icon(icon::QUESTION)}
            <p>{text} " " {link}</p>
        </div>
    }
    .erase()
}

fn notice(trouble: Option<AppError>) -> AnyView {
    let Some(error) = trouble else { return ().into_any() };
    let (text, sign_in) = explain(&error);
    // A whole new page: it comes back here after signing in.
    let link = sign_in.then(|| view! { <a href="" rel="external">"Sign in again"</a> }.erase());
    view! {
        <div class="notice notice-warn">
            {icon(icon::QUESTION)}
            <p>{text} " " {link}</p>
        </div>
    }
    .erase()
}
