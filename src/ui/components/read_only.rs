//! What is shown to a viewer in place of a form that they may not send.

use leptos::prelude::*;

use crate::model::links;
use crate::ui::components::empty::empty;

/// `what` needs a role that this person does not have.
pub fn read_only(project: &str, what: &'static str) -> AnyView {
    let back = view! { <a class="button" href=links::jobs(project)>"View jobs"</a> };
    empty("Your role is read-only", what, back).into_any()
}
