//! A strip over the page while it cannot be kept true by itself.

use leptos::prelude::*;

use crate::error::AppError;
use crate::ui::components::icon::{self, icon};
use crate::ui::erase::Erase;
use crate::ui::state::live::{Live, explain};

pub(super) fn strip(live: Live) -> AnyView {
    view! { <div role="status">{move || notice(live.trouble())}</div> }.erase()
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
