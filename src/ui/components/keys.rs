//! The keys of a keyboard shortcut.

use leptos::prelude::*;

/// The keys of a shortcut, separated by spaces.
pub fn keys(keys: &'static str) -> impl IntoView + use<> {
    let caps = keys.split(' ').filter(|key| !key.is_empty()).map(|key| view! { <kbd>{key}</kbd> });
    view! { <span class="keys">{caps.collect_view()}</span> }
}
