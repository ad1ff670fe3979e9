//! The form for a new batch: drafts of its two texts in this browser until the preview is loaded. The server renders it
//! (`pages::new_batch`).

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::batches::PrepareBatch;
use crate::ui::islands::drafts::{Draft, DraftStart};
use crate::ui::islands::{browser, picked, sending};

/// The ids of the fields with the prompt template and with the values.
pub const PROMPT: &str = "prompt";
pub const VALUES: &str = "values";

/// `goes_first`: whether the texts in the URL take precedence over a draft. `children` are the form.
#[island]
pub fn BatchForm(project: String, goes_first: bool, children: Children) -> impl IntoView {
    if browser::IS_HERE {
        begin(&project, goes_first);
    }
    children()
}

fn begin(project: &str, goes_first: bool) {
    let start = DraftStart { goes_first, ..DraftStart::default() };
    let draft = |name: &str, field: &str| Draft::of(project, Some(name), field, &start);
    let (Some(text), Some(values)) = (draft("batch", PROMPT), draft("batch-values", VALUES)) else { return };
    let picked = picked::key(project);
    sending::listen(
        PrepareBatch::PATH,
        &text,
        || true,
        move |_, redirect| {
            values.sent();
            // The pages that were chosen for this batch.
            browser::store_for_tab(&picked, "");
            browser::go(&redirect.unwrap_or_default());
        },
    );
}
