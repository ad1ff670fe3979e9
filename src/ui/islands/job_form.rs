//! The form for a new job: drafts, templates, detected pages, similar jobs, cost, and sending. The server renders it
//! (`pages::new_job`).

mod pick;
mod similar;

use std::cell::RefCell;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;

use crate::ui::components::cost;
use crate::ui::islands::drafts::{Draft, DraftStart};
use crate::ui::islands::live::LiveState;
use crate::ui::islands::{browser, morph, sending};
use api::job_pages::MentionedPages;
use api::jobs::CreateJob;
use model::page_path::words_with_a_path;
use similar::Similar;

pub use pick::{FILL, FILLING, INSERT, PICK, PICKS, REMOVE, REPLACE, TEMPLATE, TEMPLATE_CONFIRMATION};
pub use similar::{SEND_ANYWAY, SIMILAR, SIMILAR_CONFIRMATION};

/// The id of the field with the prompt.
pub const PROMPT: &str = "prompt";
/// The id of the element with the pages detected in the prompt.
pub const DETECTED: &str = "detected";
/// The id of the element with the cost of the job.
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
    draft.go_to_end();
    let similar = Similar::new(project, &draft);
    sending::listen(
        CreateJob::PATH,
        &draft,
        move || similar.may_be_sent(),
        |_, redirect| browser::go(&redirect.unwrap_or_else(browser::here)),
    );
    pick::listen(&draft);
    if let Some(live) = LiveState::here() {
        sending::update_choice(&live, &draft, |budgets| budgets.creates);
        live.on_budgets(|budgets| morph::show(COST, || cost::sentence(budgets.creates)));
    }
    let (project, text, found) = (project.to_owned(), draft.clone(), Rc::new(RefCell::new(String::new())));
    draft.on_pause(move || {
        let now = words_with_a_path(&text.text());
        if now != found.replace(now.clone()) {
            spawn_local(detect(project.clone(), found.clone(), now));
        }
    });
}

/// Shows the pages of the project that the words `now` mention, unless `found` changed meanwhile.
async fn detect(project: String, found: Rc<RefCell<String>>, now: String) {
    let fields = browser::fields_of(&[("project", &project), ("prompt", &now)]);
    let known = match now.as_str() {
        "" => Vec::new(),
        _ => browser::post(MentionedPages::PATH, &fields).await.result.unwrap_or_default(),
    };
    if let Some(element) = browser::by_id(DETECTED).filter(|_| *found.borrow() == now) {
        browser::set_text(&element, &detected(&known));
    }
}

/// A sentence with the pages that the prompt mentions; empty without any.
pub fn detected(pages: &[String]) -> String {
    if pages.is_empty() { String::new() } else { ["Detected in prompt: ", &pages.join(", ")].concat() }
}
