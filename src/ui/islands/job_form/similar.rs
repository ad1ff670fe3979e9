//! Looks up similar jobs when typing pauses, and when the server warned about one.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;

use crate::ui::components::similar_jobs::similar_jobs;
use crate::ui::islands::prompt_form::{PromptForm, Written};
use crate::ui::islands::{browser, morph};
use crate::ui::marks::SIMILAR;
use api::jobs::SimilarJobs;
use model::error::ErrorCode;
use model::similar::SimilarJob;

pub(super) fn start(form: PromptForm) {
    // The text and pages that were looked up last.
    let latest = StoredValue::new(None);
    browser::effect(move || {
        form.pauses.track();
        let is_warned = form.refused.get() == Some(ErrorCode::SimilarJob);
        let written = form.written();
        if is_warned || latest.with_value(|latest| latest.as_ref() != Some(&written)) {
            latest.set_value(Some(written.clone()));
            spawn_local(look_up(form, written));
        }
    });
}

/// Shows the jobs similar to `written`, unless it changed meanwhile.
async fn look_up(form: PromptForm, written: Written) {
    let (prompt, paths) = &written;
    let project = form.project();
    let found: Vec<SimilarJob> = if prompt.trim().is_empty() && paths.is_empty() {
        Vec::new()
    } else {
        let fields = browser::fields_of(&[("project", &project), ("prompt", prompt), ("paths", paths)]);
        browser::post(SimilarJobs::PATH, &fields).await.result.unwrap_or_default()
    };
    if form.written() == written {
        morph::show(SIMILAR.name(), || similar_jobs(&project, "Similar jobs", &found));
    }
}
