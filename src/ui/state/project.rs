//! The project of the page. It stays the same for as long as the frame does: going to another project loads a new page.

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;

#[derive(Clone)]
struct CurrentProject(String);

/// Reads the project from the address; what is below the frame asks [`current`].
pub fn provide() -> String {
    let project = use_params_map().read_untracked().get("project").unwrap_or_default();
    provide_context(CurrentProject(project.clone()));
    project
}

/// The id of the project, as it stands in the address.
pub fn current() -> String {
    expect_context::<CurrentProject>().0
}
