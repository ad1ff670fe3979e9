//! A person's batches that are prepared but not started: each can be continued or discarded, with and without JavaScript.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::{confirm, post_form};
use crate::ui::components::time::ago;
use api::batches::DiscardBatch;
use model::batch::UnstartedBatch;
use model::links;

/// The list, with the links and forms.
pub(super) fn list(project: &str, batches: &[UnstartedBatch]) -> AnyView {
    let entries = batches.iter().map(|batch| entry(project, batch)).collect_view();
    view! { <ul aria-label="Batches that are not started">{entries}</ul> }.into_any()
}

fn entry(project: &str, batch: &UnstartedBatch) -> AnyView {
    let hidden = vec![("project", project.to_owned()), ("batch", batch.id.to_string())];
    let button = view! { <button type="submit" class="button" data-done="Batch discarded">"Discard this batch"</button> };
    let values = batch.values.lines().map(str::trim).filter(|line| !line.is_empty());
    let values = values.collect::<Vec<_>>().join(" · ");
    view! {
        <li data-key=batch.id.to_string()>
            <p class="other-draft-text" dir="auto">{batch.name.clone()}</p>
            <p class="hint unstarted-values" dir="auto">{values}</p>
            <p class="hint">"Prepared " {ago(batch.prepared_at)}</p>
            <div class="choices">
                <a class="button" href=links::batch(project, batch.id.as_str())>"Continue"</a>
                {confirm("Discard…", post_form("stack", DiscardBatch::PATH, hidden, button))}
            </div>
        </li>
    }
    .into_any()
}
