//! The form that starts a job, as it is filled in: drafts, the template it is filled with, what is known of the prompt before it is sent,
//! what that costs, and sending it. The form itself is the server's (`pages::new_job`).

mod pick;
mod similar;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::jobs::CreateJob;
use crate::model::page_path;
use crate::ui::components::cost;
use crate::ui::islands::drafts::{Draft, DraftStart};
use crate::ui::islands::live::LiveState;
use crate::ui::islands::{browser, morph, sending};
use similar::Similar;

pub use pick::{FILL, PICK, PICKS, REMOVE, REPLACE, TEMPLATE};
pub use similar::{ANYWAY, ASKING, SIMILAR, compared};

/// The id of the field with the prompt.
pub const PROMPT: &str = "prompt";
/// The id of what says which pages are named in the prompt.
pub const DETECTED: &str = "detected";
/// The id of what says what starting the job costs.
pub const COST: &str = "cost";

/// `children` are the form and the templates beside it.
#[island]
pub fn JobForm(project: String, draft: DraftStart, children: Children) -> impl IntoView {
    if browser::IS_HERE {
        begin(&project, &draft);
    }
    children()
}

fn begin(project: &str, start: &DraftStart) {
    let Some(draft) = Draft::of(project, None, PROMPT, start) else { return };
    let similar = Similar::new(project, &draft);
    sending::listen(
        CreateJob::PATH,
        &draft,
        move || similar.may_be_sent(),
        |_, place| browser::go(&place.unwrap_or_else(browser::here)),
    );
    if let Some(live) = LiveState::here() {
        pick::listen(&live, &draft);
        sending::keep_choice(&live, &draft, |budgets| budgets.creates);
        live.on_budgets(|budgets| morph::show(COST, || cost::sentence(budgets.creates)));
    }
    let text = draft.clone();
    draft.on_pause(move || {
        if let Some(place) = browser::by_id(DETECTED) {
            browser::set_text(&place, &detected(&text.text()));
        }
    });
}

/// The pages that are named in a prompt.
pub fn detected(prompt: &str) -> String {
    match page_path::found_in(prompt).join(", ").as_str() {
        "" => String::new(),
        pages => ["Detected in prompt: ", pages].concat(),
    }
}
