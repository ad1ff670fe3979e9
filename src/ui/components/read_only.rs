//! The message for viewers instead of a form.

use leptos::prelude::*;

use crate::ui::components::empty::empty;
use model::links;

/// `what`: a sentence about the required role.
pub fn read_only(project: &str, what: &'static str) -> AnyView {
    let back = view! { <a class="button" href=links::jobs(project)>"View jobs"</a> };
    empty("Your role is read-only", what, back).into_any()
}
