//! The keys of a keyboard shortcut.

use leptos::prelude::*;

/// The keys of a shortcut, separated by spaces, in an element of their own.
pub fn keys(keys: &'static str) -> impl IntoView + use<> {
    view! { <span class="keys">{caps(keys)}</span> }
}

/// As [`keys`], without that element.
pub fn caps(keys: &'static str) -> impl IntoView + use<> {
    let caps = keys.split(' ').filter(|key| !key.is_empty()).map(|key| view! { <kbd>{key}</kbd> });
    caps.collect_view()
}
