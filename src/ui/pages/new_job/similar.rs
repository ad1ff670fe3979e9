//! What resembles the text that is being written. Asked for when the typing pauses and before sending; only where the same
//! work is under way already does the form ask a person, once, and never more than that.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::api::call::call;
use crate::api::jobs::SimilarJobs;
use crate::model::likeness::COMPARED_CHARS;
use crate::model::page_path;
use crate::model::similar::SimilarJob;
use crate::ui::components::similar_jobs::similar_jobs;
use crate::ui::erase::{Erase, effect, handler};
use crate::ui::state::browser;
use crate::ui::state::drafts::Draft;
use crate::ui::state::post::Post;

type Written = (String, String);

#[derive(Clone, Copy)]
pub(super) struct Similar {
    project: StoredValue<String>,
    draft: Draft,
    found: RwSignal<Vec<SimilarJob>>,
    /// What `found` is about.
    checked: StoredValue<Option<Written>>,
    checking: StoredValue<bool>,
    /// What a person wants to start anyway.
    confirmed: StoredValue<Option<Written>>,
    asking: RwSignal<bool>,
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
            checking: StoredValue::new(false),
            confirmed: StoredValue::new(None),
            asking: RwSignal::new(false),
            anyway: NodeRef::new(),
        };
        effect(move || {
            draft.track_pauses();
            let written =
                draft.written().filter(|written| similar.checked.get_value().as_ref() != Some(written));
            if let Some(written) = written {
                spawn_local(async move { similar.check(written).await });
            }
        });
        similar
    }

    async fn check(self, written: Written) {
        let (prompt, paths) = written.clone();
        let found = match self.project.try_get_value() {
            Some(project) if !prompt.trim().is_empty() || !paths.is_empty() => {
                // Of a long text, its beginning and all its pages are enough.
                let pages = page_path::of_job(page_path::typed(&paths).unwrap_or_default(), &prompt);
                let prompt = Some(prompt.chars().take(COMPARED_CHARS).collect());
                let paths = Some(pages.join(","));
                call(SimilarJobs { project, prompt, paths }).output().await
            }
            _ => Ok(Vec::new()),
        };
        if self.draft.written().as_ref() == Some(&written) {
            // What could not be found out keeps nobody from sending.
            self.found.try_set(found.unwrap_or_default());
            let written = Some(written);
            if self.checked.try_get_value() != Some(written.clone()) {
                self.asking.try_set(false);
                self.checked.try_set_value(written);
            }
        }
    }

    /// For `on:submit` of the form that `create` posts.
    pub(super) fn submitting(self, create: Post) -> Box<dyn FnMut(SubmitEvent)> {
        let mut submit = create.submitting();
        handler(move |event: SubmitEvent| {
            if event.default_prevented() || self.may_be_sent() {
                submit(event);
            } else {
                event.prevent_default();
            }
        })
    }

    fn may_be_sent(self) -> bool {
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
        self.asking.set(true);
        // What is hidden still takes no focus.
        browser::after(0, move || {
            if let Some(anyway) = self.anyway.try_get_untracked().flatten() {
                let _ = anyway.focus();
            }
        });
        false
    }

    fn check_and_send(self, written: Option<Written>) {
        let Some(written) = written.filter(|_| !self.checking.get_value()) else { return };
        self.checking.set_value(true);
        spawn_local(async move {
            self.check(written).await;
            self.checking.try_set_value(false);
            self.draft.submit();
        });
    }

    pub(super) fn notice(self) -> AnyView {
        let project = self.project.get_value();
        let jobs = move || similar_jobs(&project, "Similar jobs", &self.found.read());
        // Not a button that submits: Enter in another field would press it.
        let start = handler(move |_: leptos::ev::MouseEvent| {
            self.confirmed.set_value(self.draft.written());
            self.draft.submit();
        });
        view! {
            <div aria-live="polite">{move || jobs()}</div>
            <div class="notice notice-warn" role="alert" hidden=move || !self.asking.get()>
                <div>
                    <p>"A similar job is running. Start anyway?"</p>
                    <button type="button" class="button" node_ref=self.anyway on:click=start>"Start anyway"</button>
                </div>
            </div>
        }
        .into_any()
    }
}
