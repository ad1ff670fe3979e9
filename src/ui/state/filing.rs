//! Putting jobs away, bringing them back and tagging them from a page that stays, with an undo of the last thing done.
//! A button's own `formaction` says which of them it is; without JavaScript the browser goes there.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::web_sys::FormData;

use crate::api::call::read;
use crate::api::filing::{ArchiveJobs, TagJobs, UnarchiveJobs, UntagJobs};
use crate::error::AppError;
use crate::model::job::Filed;
use crate::ui::erase::handler;
use crate::ui::state::browser;
use crate::ui::state::post::{Post, fields};

pub const ARCHIVE: &str = ArchiveJobs::PATH;
pub const UNARCHIVE: &str = UnarchiveJobs::PATH;
pub const TAG: &str = TagJobs::PATH;
pub const UNTAG: &str = UntagJobs::PATH;

/// What each does, how that is said, and what undoes it.
const ACTIONS: [(&str, &str, &str); 4] = [
    (ARCHIVE, "archived", UNARCHIVE),
    (UNARCHIVE, "brought back", ARCHIVE),
    (TAG, "tagged", UNTAG),
    (UNTAG, "untagged", TAG),
];

const MISTAKE: &str =
    "Choose at least one job, and a tag of 1 to 40 letters, digits, hyphens, underscores, dots or spaces.";

/// What was done last.
#[derive(Clone)]
pub struct Done {
    /// `archived`, for instance.
    pub what: &'static str,
    /// How many jobs it changed, and their ids, comma-separated.
    pub count: u64,
    pub jobs: String,
    /// The endpoint that undoes it.
    pub undo: &'static str,
    pub tag: String,
}

#[derive(Clone, Copy)]
pub struct Filing {
    done: RwSignal<Option<Done>>,
    problem: RwSignal<Option<AppError>>,
    pending: StoredValue<bool>,
    changed: Callback<()>,
}

impl Filing {
    /// `changed` runs after each change, to show it.
    pub fn new(changed: Callback<()>) -> Self {
        let posts = [
            Post::to::<ArchiveJobs>(MISTAKE),
            Post::to::<UnarchiveJobs>(MISTAKE),
            Post::to::<TagJobs>(MISTAKE),
            Post::to::<UntagJobs>(MISTAKE),
        ];
        let refused = posts.into_iter().find_map(Post::problem);
        Self {
            done: RwSignal::new(None),
            problem: RwSignal::new(refused),
            pending: StoredValue::new(false),
            changed,
        }
    }

    pub fn done(self) -> Option<Done> {
        self.done.get()
    }

    pub fn problem(self) -> Option<AppError> {
        self.problem.get()
    }

    /// For `on:submit` of each form that files.
    pub fn submitting(self) -> Box<dyn FnMut(SubmitEvent)> {
        handler(move |event| self.submit(&event))
    }

    fn submit(self, event: &SubmitEvent) {
        let Some((form, fields)) = fields(event) else { return };
        let pressed = event.submitter().and_then(|button| button.get_attribute("formaction"));
        let target = pressed.or_else(|| form.get_attribute("action"));
        let Some((url, what, undo)) = ACTIONS.into_iter().find(|(url, ..)| target.as_deref() == Some(*url))
        else {
            return;
        };
        event.prevent_default();
        // A second press would find nothing left to do, and say so in place of the undo.
        if self.pending.get_value() {
            return;
        }
        self.pending.set_value(true);
        let tag = FormData::new_with_form(&form)
            .ok()
            .and_then(|data| data.get("tag").as_string())
            .unwrap_or_default();
        browser::post(url, fields, move |answer| {
            self.pending.try_set_value(false);
            match read::<Filed>(&answer) {
                Ok(Filed { jobs }) => {
                    let count = jobs.len() as u64;
                    let jobs = jobs.iter().map(|job| job.as_str()).collect::<Vec<_>>().join(",");
                    self.problem.try_set(None);
                    self.done.try_set(Some(Done { what, count, jobs, undo, tag }));
                    // What was typed and ticked has been done; elements that are shown again would keep it.
                    form.reset();
                    self.changed.run(());
                }
                Err(error) => {
                    self.problem.try_set(Some(error));
                }
            }
        });
    }
}
