//! How many prompts wait, as the way to the queue.

use std::sync::Arc;

use leptos::prelude::*;

use crate::ui::charts::number::counted;
use crate::ui::components::loading::{nothing, suspended};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::budget::AskedBudget;

/// Nothing where nothing waits.
pub fn waiting(project: &str, budget: AskedBudget) -> AnyView {
    let project = project.to_owned();
    let content = move || match budget.get() {
        Some(Ok(budgets)) if budgets.waiting > 0 => waiting_link(&project, budgets.waiting),
        _ => ().into_any(),
    };
    suspended(nothing, Arc::new(content))
}

pub fn waiting_link(project: &str, waiting: u32) -> AnyView {
    let prompts = counted(u64::from(waiting), "prompt waits", "prompts wait");
    view! { <a href=links::queue(project)>{format!("{prompts} to be sent")}</a> }.erase()
}
