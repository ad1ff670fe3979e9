//! `/`: goes to the first project, or to sign-in.

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::components::Redirect;

use crate::error::{AppError, ErrorCode};
use crate::ui::components::failure;
use crate::ui::components::loading::{nothing, suspended};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::session;

const NO_PROJECT: &str = "The projects that you may see are not here any more. Ask an administrator.";

#[component]
pub fn Home() -> impl IntoView {
    let session = session::provide();
    let content = move || {
        let target = match session.get() {
            None => return ().into_any(),
            Some(Ok(session)) => session
                .projects
                .first()
                .map(|project| links::overview(project.id.as_str()))
                .ok_or_else(|| AppError::new(ErrorCode::Forbidden, NO_PROJECT)),
            Some(Err(error)) if error.code == ErrorCode::Unauthenticated => Ok("/login".to_owned()),
            Some(Err(error)) => Err(error),
        };
        match target {
            Ok(path) => view! { <Redirect path /> }.into_any(),
            Err(error) => failure::panel(&error, session.retry()),
        }
    };
    view! { <main class="lone">{suspended(nothing, Arc::new(content))}</main> }.erase()
}
