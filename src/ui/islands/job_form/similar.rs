//! Looks up similar jobs when typing pauses and before sending. Asks once for confirmation, only if the same work is already in
//! progress.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::web_sys::Event;

use crate::ui::components::similar_jobs::similar_jobs;
use crate::ui::islands::drafts::Draft;
use crate::ui::islands::{browser, morph};
use api::jobs::SimilarJobs;
use model::similar::SimilarJob;

/// The ids of the element for similar jobs, of the confirmation to start anyway, and of its button.
pub const SIMILAR: &str = "similar";
pub const SIMILAR_CONFIRMATION: &str = "similar-asking";
pub const SEND_ANYWAY: &str = "start-anyway";

type Written = (String, String);

#[derive(Clone)]
pub(super) struct Similar(Rc<State>);

struct State {
    project: String,
    draft: Draft,
    found: RefCell<Vec<SimilarJob>>,
    /// The text and pages that `found` belongs to.
    checked: RefCell<Option<Written>>,
    is_checking: Cell<bool>,
    /// The text and pages that the user confirmed.
    confirmed: RefCell<Option<Written>>,
}

impl Similar {
    pub(super) fn new(project: &str, draft: &Draft) -> Self {
        let similar = Self(Rc::new(State {
            project: project.to_owned(),
            draft: draft.clone(),
            found: RefCell::default(),
            checked: RefCell::default(),
            is_checking: Cell::new(false),
            confirmed: RefCell::default(),
        }));
        let this = similar.clone();
        draft.on_pause(move || {
            let written = this.0.draft.written();
            if this.0.checked.borrow().as_ref() != Some(&written) {
                let this = this.clone();
                spawn_local(async move { this.check(written).await });
            }
        });
        if let Some(anyway) = browser::by_id(SEND_ANYWAY) {
            let this = similar.clone();
            browser::on::<Event>(&anyway, "click", move |_| {
                this.0.confirmed.replace(Some(this.0.draft.written()));
                this.0.draft.submit();
            });
        }
        similar
    }

    async fn check(&self, written: Written) {
        let (prompt, paths) = &written;
        let found = if prompt.trim().is_empty() && paths.is_empty() {
            Vec::new()
        } else {
            let fields =
                browser::fields_of(&[("project", &self.0.project), ("prompt", prompt), ("paths", paths)]);
            // A failed lookup does not prevent sending.
            browser::post(SimilarJobs::PATH, &fields).await.result.unwrap_or_default()
        };
        if self.0.draft.written() != written {
            return;
        }
        morph::show(SIMILAR, || similar_jobs(&self.0.project, "Similar jobs", &found));
        self.0.found.replace(found);
        if self.0.checked.replace(Some(written.clone())) != Some(written) {
            show_confirmation(false);
        }
    }

    /// Whether the form can be sent now. If not, shows the confirmation, or starts a lookup that submits the form again.
    pub(super) fn may_be_sent(&self) -> bool {
        let written = Some(self.0.draft.written());
        if written == *self.0.confirmed.borrow() {
            return true;
        }
        if written != *self.0.checked.borrow() {
            self.check_and_send(written);
            return false;
        }
        if !self.0.found.borrow().iter().any(SimilarJob::is_running_already) {
            return true;
        }
        show_confirmation(true);
        browser::focus(SEND_ANYWAY);
        false
    }

    fn check_and_send(&self, written: Option<Written>) {
        let Some(written) = written.filter(|_| !self.0.is_checking.replace(true)) else { return };
        let this = self.clone();
        spawn_local(async move {
            this.check(written).await;
            this.0.is_checking.set(false);
            this.0.draft.submit();
        });
    }
}

fn show_confirmation(is_shown: bool) {
    if let Some(confirmation) = browser::by_id(SIMILAR_CONFIRMATION) {
        browser::toggle(&confirmation, "hidden", !is_shown);
    }
}
