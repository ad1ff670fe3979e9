//! `/`: goes to the first project, or to sign-in.

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::components::Redirect;

use crate::error::ErrorCode;
use crate::ui::components::failure;
use crate::ui::components::loading::{nothing, suspended};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::session;

#[component]
pub fn Home() -> impl IntoView {
    let session = session::provide();
    let content = move || {
        let target = match session.get() {
            None => return ().into_any(),
            Some(Ok(session)) => session.projects.first().map(|project| links::overview(project.id.as_str())),
            Some(Err(error)) if error.code == ErrorCode::Unauthenticated => Some("/login".to_owned()),
            Some(Err(error)) => {
                return failure::panel(&error, session.retry());
            }
        };
        match target {
            Some(path) => view! { <Redirect path /> }.into_any(),
            None => ().into_any(),
        }
    };
    view! { <main class="lone">{suspended(nothing, Arc::new(content))}</main> }.erase()
}
