//! A notice while the page cannot be kept current.

use leptos::html;
use leptos::mount::mount_to;
use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;
use model::error::{AppError, ErrorCode};

#[island]
pub fn ConnectionProblem() -> impl IntoView {
    let region = NodeRef::<html::Div>::new();
    if let Some(live) = LiveState::here() {
        let problem = live.problem;
        region.on_load(move |region| {
            mount_to(region.into(), move || move || problem.read().as_ref().map(notice)).forget();
        });
    }
    view! { <div node_ref=region role="status"></div> }
}

fn notice(error: &AppError) -> impl IntoView + use<> {
    let (text, sign_in) = match error.code {
        ErrorCode::Unauthenticated => {
            ("Your session has ended. What you are writing is saved in this browser.", true)
        }
        ErrorCode::Unreachable if !browser::is_online() => {
            ("You are offline: Docket cannot be reached. What you write is saved in this browser.", false)
        }
        ErrorCode::Unreachable => ("Docket cannot be reached. What you see may be old. Trying again.", false),
        _ => ("This page could not be updated. What you see may be old. Trying again.", false),
    };
    // Reloads the page. Sign-in returns here.
    let link = sign_in.then(|| view! { <a href="">"Sign in again"</a> });
    view! { <div class="notice notice-warn">{icon(icon::QUESTION)} <p>{text} " " {link}</p></div> }
}
