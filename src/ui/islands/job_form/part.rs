//! The part of the form that is loaded on demand.

use leptos::prelude::*;
use leptos::wasm_split::{SplitLoaderError, wasm_split};

use super::pick::Pick;
use super::similar::Similar;
use super::{detect, suggestions};
use crate::ui::islands::prompt_form::PromptForm;

/// Starts it once.
#[wasm_split(on_demand, wasm_split_path = leptos::wasm_split, fallible)]
pub(super) fn start(form: PromptForm) -> Result<(), SplitLoaderError> {
    if form.check.with_value(Option::is_none) {
        // First, because the check makes the form send.
        Pick::start(form);
        Similar::start(form);
        detect::start(form);
        suggestions::start(&form.project());
    }
    Ok(())
}
