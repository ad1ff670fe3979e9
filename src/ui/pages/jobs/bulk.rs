//! Filing many jobs at once: a checkbox in each row, and the bar with what can be done with the chosen ones. All of it is one
//! form, which the browser can post by itself.

use leptos::ev;
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{HtmlFormElement, HtmlInputElement};

use crate::ui::charts::number::grouped;
use crate::ui::components::icon::{self, icon};
use crate::ui::erase::{Erase, effect, handler};
use crate::ui::state::browser;
use crate::ui::state::filing::{self, Filing};

const FORM: &str = "bulk";
/// The class of the checkboxes.
const CHECK: &str = "job-check";

/// What chooses a row.
pub(super) fn check(job: &str, title: &str) -> AnyView {
    view! {
        <input
            type="checkbox"
            class="job-check row-link"
            name="jobs"
            value=job.to_owned()
            form=FORM
            autocomplete="off"
            aria-label=format!("Choose “{title}”")
        />
    }
    .erase()
}

/// `put_away` where the list shows what was archived here.
pub(super) fn bar(project: &str, filing: Filing, put_away: bool) -> AnyView {
    let chosen = RwSignal::new(0_usize);
    let counted = move |_| {
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
    effect(move || {
        let heard = window_event_listener(ev::change, counted);
        on_cleanup(move || heard.remove());
    });
    let (url, words) =
        if put_away { (filing::UNARCHIVE, "Bring back") } else { (filing::ARCHIVE, "Archive") };
    view! {
        <form id=FORM class="bulk" method="post" action=filing::TAG on:submit=filing.submitting() on:reset=handler(counted)>
            <input type="hidden" name="project" value=project.to_owned() />
            <button type="button" class="button js-only" on:click=handler(all)>"Select page"</button>
            <div class="bulk-actions">
                <span class="bulk-count js-only" role="status">{move || grouped(chosen.get() as u64)} " selected"</span>
                <button type="reset" class="button">"Clear"</button>
                <label class="visually-hidden" for="bulk-tag">"Tag"</label>
                <input id="bulk-tag" class="field bulk-tag" name="tag" maxlength="40" placeholder="Tag" autocomplete="off" />
                <button type="submit" class="button">"Add tag"</button>
                <button type="submit" class="button" formaction=url>{icon(icon::ARCHIVED)} {words}</button>
            </div>
        </form>
    }
    .erase()
}

/// Chooses nothing. Rows of another page take the place of the old ones, ticks and all.
pub(super) fn clear() {
    let form = document().get_element_by_id(FORM).and_then(|form| form.dyn_into::<HtmlFormElement>().ok());
    if let Some(form) = form {
        form.reset();
    }
}

fn checks() -> Vec<HtmlInputElement> {
    let found = document().get_elements_by_class_name(CHECK);
    (0..found.length()).filter_map(|at| found.item(at)?.dyn_into().ok()).collect()
}
