//! Looks up similar jobs when typing pauses and before sending. Asks once for confirmation, only if the same work is already in
//! progress.

use std::rc::Rc;

use leptos::mount::mount_to;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlElement;
use send_wrapper::SendWrapper;

use crate::ui::components::similar_jobs::similar_jobs;
use crate::ui::islands::prompt_form::{Check, PromptForm, Written};
use crate::ui::islands::{browser, morph};
use crate::ui::marks::{SIMILAR, SIMILAR_CONFIRMATION};
use api::jobs::SimilarJobs;
use model::similar::SimilarJob;

/// The id of the button of the confirmation.
const SEND_ANYWAY: &str = "start-anyway";

#[derive(Clone, Copy)]
pub(super) struct Similar {
    form: PromptForm,
    /// The text and pages that were looked up last.
    checked: StoredValue<Option<Written>>,
    /// The text and pages that the user confirmed.
    confirmed: StoredValue<Option<Written>>,
    /// The button that the confirmation presses again, while it is shown.
    asking: RwSignal<Option<SendWrapper<Option<HtmlElement>>>>,
    /// The text and pages that it is about.
    unconfirmed: StoredValue<Option<Written>>,
}

impl Similar {
    pub(super) fn start(form: PromptForm) {
        let this = Self {
            form,
            checked: StoredValue::new(None),
            confirmed: StoredValue::new(None),
            asking: RwSignal::new(None),
            unconfirmed: StoredValue::new(None),
        };
        browser::effect(move || {
            form.pauses.track();
            let written = form.written();
            if this.checked.with_value(|checked| checked.as_ref() != Some(&written)) {
                spawn_local(async move {
                    this.look_up(&written).await;
                });
            }
        });
        if let Some(place) = SIMILAR_CONFIRMATION.element() {
            mount_to(place.unchecked_into(), move || this.confirmation()).forget();
        }
        let check: Check = Rc::new(move |written, pressed| Box::pin(this.may_be_sent(written, pressed)));
        form.check.set_value(Some(SendWrapper::new(check)));
    }

    fn confirmation(self) -> impl IntoView {
        let confirm = move |_| {
            let pressed = self.asking.get_untracked().and_then(|pressed| pressed.take());
            self.confirmed.set_value(self.unconfirmed.get_value());
            self.asking.set(None);
            self.form.submit(pressed.as_ref());
        };
        view! {
            <div class="notice notice-warn" role="alert" hidden=move || self.asking.read().is_none()>
                <div>
                    <p>"A similar job is running. Start anyway?"</p>
                    // Not a submit button, because Enter in another field would press it.
                    <button id=SEND_ANYWAY type="button" class="button" on:click=confirm>"Start anyway"</button>
                </div>
            </div>
        }
    }

    /// The jobs similar to `written`, which are shown unless it changed meanwhile.
    async fn look_up(self, written: &Written) -> Vec<SimilarJob> {
        let (prompt, paths) = written;
        let project = self.form.project();
        let found = if prompt.trim().is_empty() && paths.is_empty() {
            Vec::new()
        } else {
            let fields = browser::fields_of(&[("project", &project), ("prompt", prompt), ("paths", paths)]);
            // A failed lookup does not prevent sending.
            browser::post(SimilarJobs::PATH, &fields).await.result.unwrap_or_default()
        };
        if self.form.written() == *written {
            morph::show(SIMILAR.name(), || similar_jobs(&project, "Similar jobs", &found));
            if self.checked.with_value(|checked| checked.as_ref() != Some(written)) {
                self.checked.set_value(Some(written.clone()));
                self.asking.set(None);
            }
        }
        found
    }

    /// Whether `written` can be sent now. If not, asks for a confirmation.
    async fn may_be_sent(self, written: Written, pressed: Option<HtmlElement>) -> bool {
        if self.confirmed.with_value(|confirmed| confirmed.as_ref() == Some(&written)) {
            return true;
        }
        // Another tab may have started the same draft since the last lookup.
        let found = self.look_up(&written).await;
        if !found.iter().any(SimilarJob::is_running_already) || self.form.is_discarded() {
            return true;
        }
        self.unconfirmed.set_value(Some(written));
        self.asking.set(Some(SendWrapper::new(pressed)));
        // When it is shown.
        browser::after(0, || {
            browser::focus(SEND_ANYWAY);
        });
        false
    }
}
