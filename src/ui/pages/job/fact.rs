//! One fact in the lists beside the conversation.

use leptos::prelude::*;

/// Empty without a value.
pub(super) fn fact(name: &'static str, value: Option<AnyView>) -> AnyView {
    match value {
        Some(value) => view! { <div><dt>{name}</dt> <dd>{value}</dd></div> }.into_any(),
        None => ().into_any(),
    }
}
