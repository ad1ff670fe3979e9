//! The chosen pages of the pages table. They stay chosen in this tab when the table is paged, sorted or searched.

use leptos::web_sys::SubmitEvent;

use super::{List, Selected, Selection};
use crate::ui::charts::number::{counted, grouped};
use crate::ui::islands::browser;
use crate::ui::islands::live::LiveState;
use crate::ui::marks::{PICKED, PICKED_COUNT, PICKED_ELSEWHERE, PICKED_NUMBER, PICKED_PAGE};
use model::analytics::query::{MATCHING, PICK, PICKED_MAX};
use model::links;

pub(super) const LIST: List = List { form: PICKED, row: PICK, page: PICKED_PAGE, has_other_pages: true };

/// The longest query of the form for a batch, in bytes: browsers send further headers, and Docket refuses more than 32 KiB of them.
const QUERY_MAX: usize = 24 * 1024;

/// The key of the chosen pages in `sessionStorage`.
pub fn key(project: &str) -> String {
    ["docket.picked/", project].concat()
}

/// Begins with the pages that were chosen in this tab or that the server rendered as chosen.
pub(super) fn start(selection: Selection, live: LiveState, project: &str) {
    let key = key(project);
    let stored = browser::stored_for_tab(&key).unwrap_or_default();
    let show = move |selected: &Selected, count| {
        let pages = match selected {
            Selected::Rows(pages) => pages.join("\n"),
            Selected::Matching(_) => String::new(),
        };
        browser::store_for_tab(&key, &pages);
        show(count, are_too_many(selected));
    };
    selection.start(live, stored.lines().map(str::to_owned).collect(), Box::new(show));
}

fn show(count: u64, are_too_many: bool) {
    let mut pages = counted(count, "page selected", "pages selected");
    if are_too_many {
        let most = grouped(PICKED_MAX as u64);
        pages =
            [&pages, ". A batch has at most ", &most, " pages, or fewer if their paths are long."].concat();
    }
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
    if let Some(start) = PICKED_NUMBER.element().and_then(|number| number.parent_element()) {
        browser::toggle(&start, "disabled", are_too_many);
    }
}

/// Whether no batch can be about all of them.
fn are_too_many(selected: &Selected) -> bool {
    let Selected::Rows(pages) = selected else { return false };
    pages.len() > PICKED_MAX || links::with_query("", &fields(selected)).len() > QUERY_MAX
}

/// The fields of the form for a batch.
fn fields(selected: &Selected) -> Vec<(&str, &str)> {
    match selected {
        Selected::Rows(pages) => pages.iter().map(|page| (PICK, page.as_str())).collect(),
        Selected::Matching(query) => vec![(MATCHING, query.as_str())],
    }
}

/// Opens the form for a batch about the chosen pages, also those without a row.
pub(super) fn open(selection: Selection, event: &SubmitEvent) {
    let Some(form) = browser::submitted(event).filter(|form| PICKED.is_of(form)) else { return };
    event.prevent_default();
    let action = form.get_attribute("action").unwrap_or_default();
    browser::go(&links::with_query(&action, &fields(&selection.now())));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_too_many_by_number_or_length() {
        let of = |count: usize, path: &str| are_too_many(&Selected::Rows(vec![path.to_owned(); count]));
        assert!(!of(PICKED_MAX, "/guides/webhooks"));
        assert!(of(PICKED_MAX + 1, "/"));
        assert!(of(PICKED_MAX, &"/guides".repeat(20)));
    }
}
