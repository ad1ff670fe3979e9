//! Further ways to come to jobs, for those who may start them.

use std::sync::Arc;

use leptos::prelude::*;

use crate::ui::components::loading::{nothing, suspended};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::session::{self, AskedSession};

pub fn other_ways(project: &str, session: AskedSession) -> AnyView {
    let (batch, adopt) = (links::new_batch(project, ""), links::adopt(project));
    let content = move || match session::can_start_jobs(session) {
        true => [("Adopt", &adopt), ("Batch", &batch)]
            .map(|(name, href)| view! { <a class="button" href=href.clone()>{name}</a> }.erase())
            .collect_view()
            .into_any(),
        false => ().into_any(),
    };
    suspended(nothing, Arc::new(content))
}
