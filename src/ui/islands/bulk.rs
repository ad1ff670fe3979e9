//! What can be done with many jobs at once: a bar that counts the chosen rows. The checkboxes in the rows are plain HTML of the form
//! [`FORM`], which the browser can post by itself; [`super::live::forms`] posts it where there is JavaScript.

use leptos::ev;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlInputElement;

use crate::api::archive_and_tags::{ArchiveJobs, TagJobs, UnarchiveJobs, UntagJobs};
use crate::ui::charts::number::grouped;
use crate::ui::components::icon::{self, icon};
use crate::ui::islands::browser;

/// The id of the form that the checkboxes belong to.
pub const FORM: &str = "bulk";

/// The class of the checkboxes.
const CHECK: &str = "job-check";

/// `put_away` where the list shows what was archived here.
#[island]
pub fn Bulk(project: String, put_away: bool) -> impl IntoView {
    let chosen = RwSignal::new(0_usize);
    let count = move || {
        // A form is reset after it has said so.
        browser::after(0, move || {
            chosen.try_set(checks().iter().filter(|check| check.checked()).count());
        });
    };
    let all = move |_| {
        let checks = checks();
        let every = checks.iter().all(HtmlInputElement::checked);
        checks.iter().for_each(|check| check.set_checked(!every));
        chosen.set(if every { 0 } else { checks.len() });
    };
    browser::on_window(ev::change, move |_| count());
    // What was ticked before the page was interactive, or that the browser ticked again on the way back.
    count();
    let (path, undo, words, done) = match put_away {
        true => (UnarchiveJobs::PATH, ArchiveJobs::PATH, "Restore", "restored"),
        false => (ArchiveJobs::PATH, UnarchiveJobs::PATH, "Archive", "archived"),
    };
    view! {
        <form id=FORM class="bulk" method="post" action=TagJobs::PATH data-done="tagged" data-undo=UntagJobs::PATH on:reset=move |_| count()>
            <input type="hidden" name="project" value=project />
            <button type="button" class="button js-only" on:click=all>"Select page"</button>
            <div class="bulk-actions">
                <span class="bulk-count js-only" role="status">{move || grouped(chosen.get() as u64)} " selected"</span>
                <button type="reset" class="button">"Clear"</button>
                <label class="visually-hidden" for="bulk-tag">"Tag"</label>
                <input id="bulk-tag" class="field bulk-tag" name="tag" maxlength="40" placeholder="Tag" autocomplete="off" />
                <button type="submit" class="button">"Add tag"</button>
                <button type="submit" class="button" formaction=path data-done=done data-undo=undo>
                    {icon(icon::ARCHIVED)} {words}
                </button>
            </div>
        </form>
    }
}

fn checks() -> Vec<HtmlInputElement> {
    if cfg!(feature = "ssr") {
        return Vec::new();
    }
    let found = document().get_elements_by_class_name(CHECK);
    (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect()
}
