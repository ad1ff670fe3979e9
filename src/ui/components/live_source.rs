//! The source of live figures: when they were fetched, and warnings if they are stale or corrected.

use leptos::prelude::*;

use crate::ui::components::time::ago;
use model::time::Timestamp;

/// `stale`: a refresh is pending or failed. `corrected`: invalid figures were corrected or left out.
pub fn live_source(fetched_at: Timestamp, stale: bool, corrected: bool) -> impl IntoView + use<> {
    let warning =
        stale.then(|| view! { <strong>"Showing cached data; refresh pending or failed. "</strong> });
    let note = corrected.then_some(". Some figures were invalid, and were corrected or left out.");
    view! { <p class="provenance">{warning} "Live from the platform, fetched " {ago(fetched_at)} {note}</p> }
}
