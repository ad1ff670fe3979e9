//! What came of filing jobs, with a way to undo it.

use leptos::prelude::*;

use crate::ui::charts::number::counted;
use crate::ui::components::failure;
use crate::ui::components::icon::{self, icon};
use crate::ui::erase::Erase;
use crate::ui::state::filing::Filing;

/// Always on the page, so that screen readers hear what is put into it.
pub fn filed(filing: Filing, project: String) -> AnyView {
    let outcome = move || {
        let Some(done) = filing.done() else { return ().into_any() };
        let said = match done.count {
            0 => "Nothing had to be changed.".to_owned(),
            count => format!("{} {}.", counted(count, "job", "jobs"), done.what),
        };
        let undo = (done.count > 0).then(|| {
            view! {
                <form method="post" action=done.undo on:submit=filing.submitting()>
                    <input type="hidden" name="project" value=project.clone() />
                    <input type="hidden" name="jobs" value=done.jobs />
                    <input type="hidden" name="tag" value=done.tag />
                    <button type="submit" class="button">"Undo"</button>
                </form>
            }
            .erase()
        });
        view! { <div class="notice notice-ok filed">{icon(icon::CHECK)} <p>{said}</p> {undo}</div> }.erase()
    };
    view! {
        <div role="status">{move || outcome()}</div>
        {move || failure::of_form(filing.problem())}
    }
    .erase()
}
