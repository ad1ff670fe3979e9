//! Limits that the server is configured with, for the sentences that speak of them.

use leptos::prelude::*;

use crate::ui::charts::number::grouped;

/// The longest prompt, in characters. The server provides it when it renders a page.
#[derive(Clone, Copy)]
pub struct PromptMax(pub u32);

/// What a person can have done wrong in a form with a prompt; empty in the browser, where the server's answer says it.
pub fn prompt_mistake() -> String {
    let Some(PromptMax(most)) = use_context() else { return String::new() };
    format!(
        "The prompt needs between 1 and {} characters; each page needs a path that begins with a slash and has at most 500.",
        grouped(u64::from(most))
    )
}
