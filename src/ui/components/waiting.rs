//! The number of queued prompts, as a link to the queue.

use leptos::prelude::*;

use crate::ui::charts::number::counted;
use model::links;

pub fn waiting_link(project: &str, waiting: u32) -> impl IntoView + use<> {
    let prompts = counted(u64::from(waiting), "prompt queued", "prompts queued");
    view! { <a href=links::queue(project)>{prompts}</a> }
}
