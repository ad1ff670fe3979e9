//! A notice while the page cannot be kept current.

use leptos::html;
use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;
use crate::ui::islands::morph;
use model::error::{AppError, ErrorCode};

#[island]
pub fn ConnectionProblem() -> impl IntoView {
    let region = NodeRef::<html::Div>::new();
    if let Some(live) = LiveState::here() {
        let problem = live.problem;
        browser::effect(move || {
            if let Some(region) = region.get() {
                morph::show_in(&region, || problem.get().as_ref().map(notice));
            }
        });
    }
    view! { <div node_ref=region role="status"></div> }
}

fn notice(error: &AppError) -> impl IntoView + use<> {
    let (text, next) = match error.code {
        ErrorCode::Unauthenticated => {
            ("Your session has ended. What you are writing is saved in this browser.", Some("Sign in again"))
        }
        // The page is of another person.
        ErrorCode::Conflict => (error.message.as_str(), Some("Reload")),
        // It could not be refreshed.
        ErrorCode::Busy => (error.message.as_str(), Some("Try again")),
        ErrorCode::Unreachable if !browser::is_online() => {
            ("You are offline: Docket cannot be reached. What you write is saved in this browser.", None)
        }
        ErrorCode::Unreachable => ("Docket cannot be reached. What you see may be old. Trying again.", None),
        _ => ("This page could not be updated. What you see may be old. Trying again.", None),
    };
    // Reloads the page. Sign-in returns here.
    let link = next.map(|next| view! { <a href="">{next}</a> });
    view! { <div class="notice notice-warn">{icon(icon::QUESTION)} <p>{text.to_owned()} " " {link}</p></div> }
}
