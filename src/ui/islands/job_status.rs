//! The state of a job and, in a list, the link to its pull request, kept current. Needs [`super::live::LiveState`] to change; without
//! it, it shows what the server rendered.

use leptos::prelude::*;

use crate::model::job::JobBadge;
use crate::ui::components::badge::badge;
use crate::ui::components::pull_request::pull_request;
use crate::ui::islands::live::LiveState;

/// `with_link`: whether the pull request is shown beside the state.
#[island]
pub fn JobStatus(status: JobBadge, with_link: bool) -> impl IntoView {
    let status = match use_context::<LiveState>() {
        Some(live) => live.watch(status),
        None => ArcRwSignal::new(status),
    };
    let link = {
        let status = status.clone();
        let link = move || status.read().pr_link.as_deref().map(|link| pull_request(link, "row-link"));
        with_link.then(|| view! { <span class="job-link">{link}</span> })
    };
    view! {
        {move || badge(&status.read())}
        {link}
    }
}
