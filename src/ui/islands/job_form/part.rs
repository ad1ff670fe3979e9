//! The part of the form that is loaded on demand.

use leptos::prelude::*;
use leptos::wasm_split::{SplitLoaderError, wasm_split};

use super::pick::Pick;
use super::{detect, pages, similar, suggestions};
use crate::ui::islands::prompt_form::PromptForm;

/// Starts it once.
#[wasm_split(on_demand, wasm_split_path = leptos::wasm_split, fallible)]
pub(super) fn start(form: PromptForm) -> Result<(), SplitLoaderError> {
    if !form.has_part.get_value() {
        form.has_part.set_value(true);
        Pick::start(form);
        similar::start(form);
        detect::start(form);
        pages::start(form);
        suggestions::start(&form.project());
    }
    Ok(())
}
