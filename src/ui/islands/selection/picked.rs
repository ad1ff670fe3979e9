//! The chosen pages of the pages table. They stay chosen in this tab when the table is paged, sorted or searched.

use leptos::web_sys::SubmitEvent;

use super::{List, Selected, Selection};
use crate::ui::charts::number::counted;
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;
use crate::ui::marks::{PICKED, PICKED_COUNT, PICKED_ELSEWHERE, PICKED_NUMBER, PICKED_PAGE};
use model::analytics::query::{MATCHING, PICK};
use model::links;

pub(super) const LIST: List = List { form: PICKED, row: PICK, page: PICKED_PAGE, has_other_pages: true };

/// The key of the chosen pages in `sessionStorage`.
pub fn key(project: &str) -> String {
    ["docket.picked/", project].concat()
}

/// Begins with the pages that were chosen in this tab or that the server rendered as chosen.
pub(super) fn start(selection: Selection, live: LiveState, project: &str) {
    let key = key(project);
    let stored = browser::stored_for_tab(&key).unwrap_or_default();
    let show = move |selected: &Selected, count| {
        if let Selected::Rows(pages) = selected {
            browser::store_for_tab(&key, &pages.join("\n"));
        }
        show(count);
    };
    selection.start(live, stored.lines().map(str::to_owned).collect(), Box::new(show));
}

fn show(count: u64) {
    let pages = counted(count, "page selected", "pages selected");
    let texts = [
        (PICKED_COUNT, if count == 0 { "" } else { &pages }),
        (PICKED_NUMBER, &counted(count, "page", "pages")),
        // The server's fields for browsers without scripts.
        (PICKED_ELSEWHERE, ""),
    ];
    for (id, text) in texts {
        if let Some(element) = id.element() {
            browser::set_text(&element, text);
        }
    }
}

/// Opens the form for a batch about the chosen pages, also those without a row.
pub(super) fn open(selection: Selection, event: &SubmitEvent) {
    let Some(form) = browser::submitted(event).filter(|form| PICKED.is_of(form)) else { return };
    event.prevent_default();
    let selected = selection.now();
    let fields = match &selected {
        Selected::Rows(pages) => pages.iter().map(|page| (PICK, page.as_str())).collect(),
        Selected::Matching(query) => vec![(MATCHING, query.as_str())],
    };
    let action = form.get_attribute("action").unwrap_or_default();
    browser::go(&links::with_query(&action, &fields));
}
