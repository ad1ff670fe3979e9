//! The message for viewers instead of a form.

use leptos::prelude::*;

use crate::model::links;
use crate::ui::components::empty::empty;

/// `what`: a sentence about the required role.
pub fn read_only(project: &str, what: &'static str) -> AnyView {
    let back = view! { <a class="button" href=links::jobs(project)>"View jobs"</a> };
    empty("Your role is read-only", what, back).into_any()
}
