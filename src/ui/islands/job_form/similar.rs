//! What resembles the text that is being written. Asked for when the typing pauses and before sending; only where the same
//! work is under way already does the form ask a person, once, and never more than that.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;

use crate::api::jobs::SimilarJobs;
use crate::model::page_path;
use crate::model::similar::SimilarJob;
use crate::model::trigrams::COMPARED_CHARS;
use crate::ui::components::similar_jobs::similar_jobs;
use crate::ui::islands::browser;
use crate::ui::islands::drafts::Draft;

type Written = (String, String);

/// What a text and its pages are compared by: of a long text, its beginning and all its pages are enough.
pub fn compared(prompt: &str, paths: &str) -> (String, String) {
    let pages = page_path::of_job(page_path::typed(paths).unwrap_or_default(), prompt);
    (prompt.chars().take(COMPARED_CHARS).collect(), pages.join(","))
}

#[derive(Clone, Copy)]
pub(super) struct Similar {
    project: StoredValue<String>,
    draft: Draft,
    found: RwSignal<Vec<SimilarJob>>,
    /// What `found` is about.
    checked: StoredValue<Option<Written>>,
    is_checking: StoredValue<bool>,
    /// What a person wants to start anyway.
    confirmed: StoredValue<Option<Written>>,
    is_asking: RwSignal<bool>,
    anyway: NodeRef<leptos::html::Button>,
}

impl Similar {
    /// `found`: what is known of the text that the form begins with.
    pub(super) fn to(project: &str, draft: Draft, found: Vec<SimilarJob>) -> Self {
        let similar = Self {
            project: StoredValue::new(project.to_owned()),
            draft,
            found: RwSignal::new(found),
            checked: StoredValue::new(None),
            is_checking: StoredValue::new(false),
            confirmed: StoredValue::new(None),
            is_asking: RwSignal::new(false),
            anyway: NodeRef::new(),
        };
        Effect::new(move |_| {
            draft.track_pauses();
            let written =
                draft.written().filter(|written| similar.checked.get_value().as_ref() != Some(written));
            if let Some(written) = written {
                spawn_local(similar.check(written));
            }
        });
        similar
    }

    async fn check(self, written: Written) {
        let (prompt, paths) = &written;
        let found = if prompt.trim().is_empty() && paths.is_empty() {
            Vec::new()
        } else {
            let (prompt, paths) = compared(prompt, paths);
            let project = self.project.get_value();
            let fields = browser::fields_of(&[("project", &project), ("prompt", &prompt), ("paths", &paths)]);
            // What could not be found out keeps nobody from sending.
            browser::post(SimilarJobs::PATH, &fields).await.answer.unwrap_or_default()
        };
        if self.draft.written().as_ref() == Some(&written) {
            self.found.set(found);
            let written = Some(written);
            if self.checked.get_value() != written {
                self.is_asking.set(false);
                self.checked.set_value(written);
            }
        }
    }

    /// Whether the text can be sent now. If not, it is looked up first and then submitted again, or a person is asked.
    pub(super) fn may_be_sent(self) -> bool {
        let written = self.draft.written();
        if written == self.confirmed.get_value() {
            return true;
        }
        if written != self.checked.get_value() {
            self.check_and_send(written);
            return false;
        }
        if !self.found.read_untracked().iter().any(SimilarJob::is_running_already) {
            return true;
        }
        self.is_asking.set(true);
        // What is hidden still takes no focus.
        browser::after(0, move || {
            if let Some(anyway) = self.anyway.get_untracked() {
                let _ = anyway.focus();
            }
        });
        false
    }

    fn check_and_send(self, written: Option<Written>) {
        let Some(written) = written.filter(|_| !self.is_checking.get_value()) else { return };
        self.is_checking.set_value(true);
        spawn_local(async move {
            self.check(written).await;
            self.is_checking.set_value(false);
            self.draft.submit();
        });
    }

    pub(super) fn notice(self) -> AnyView {
        let jobs = move || {
            self.project.with_value(|project| similar_jobs(project, "Similar jobs", &self.found.read()))
        };
        // Not a button that submits: Enter in another field would press it.
        let start = move |_| {
            self.confirmed.set_value(self.draft.written());
            self.draft.submit();
        };
        view! {
            <div aria-live="polite">{jobs}</div>
            <div class="notice notice-warn" role="alert" hidden=move || !self.is_asking.get()>
                <div>
                    <p>"A similar job is running. Start anyway?"</p>
                    <button type="button" class="button" node_ref=self.anyway on:click=start>"Start anyway"</button>
                </div>
            </div>
        }
        .into_any()
    }
}
