//! Says of figures that they come live from the platform, and how far they can be relied on.

use leptos::prelude::*;

use crate::model::time::Timestamp;
use crate::ui::components::time::ago;

/// `stale`: newer figures are asked for, or cannot be had. `corrected`: some made no sense as they came.
pub fn live_source(fetched_at: Timestamp, stale: bool, corrected: bool) -> impl IntoView + use<> {
    let warning =
        stale.then(|| view! { <strong>"Showing cached data; refresh pending or failed. "</strong> });
    let note =
        corrected.then_some(". Some figures came in an impossible form and were corrected or left out.");
    view! { <p class="provenance">{warning} "Live from the platform, fetched " {ago(fetched_at)} {note}</p> }
}
