//! Scripts the DOM: shows changes by others in the project. A region with `data-follows` has the revision that it was rendered from. With
//! `data-when="posted"` too, its rows are updated in place, and new rows wait behind a bar.

use leptos::web_sys::{Document, Element};

use crate::ui::components::list_news::show_news;
use crate::ui::islands::{browser, morph};
use crate::ui::marks::NEWS;

const FOLLOWS: &str = "data-follows";

/// The revision that this page shows; `None` without a region that follows the project.
pub(super) fn seen() -> Option<String> {
    browser::find("[data-follows]").and_then(|region| region.get_attribute(FOLLOWS))
}

/// Whether rows of `region` are added and removed only on the user's request.
pub(super) fn waits(region: &Element) -> bool {
    region.has_attribute(FOLLOWS) && region.has_attribute("data-when") && !rows(region).is_empty()
}

/// Updates the rows of `region` to those of `now` without adding, removing or moving any. Shows the number of new rows in the
/// bar. Returns the rows that are not in `now`.
pub(super) fn merge(region: &Element, now: &Element, fresh: &mut Vec<Element>) -> Vec<Element> {
    let (mut new, mut after_the_last) = (0, 0);
    let mut missing = rows(region);
    for row in rows(now) {
        let key = key(&row);
        missing.retain(|shown| self::key(shown) != key);
        match with_key(region, &key) {
            Some(old) => {
                new += std::mem::take(&mut after_the_last);
                morph::morph(&old, &row, fresh);
            }
            None => after_the_last += 1,
        }
    }
    for folded in browser::all_in(now, "summary[data-key]") {
        if let Some(old) = with_key(region, &key(&folded)) {
            morph::morph(&old, &folded, fresh);
        }
    }
    // Rows after the last one may only have moved here from the next page.
    if browser::find_in(region, "a[rel=next]").is_none() {
        new += after_the_last;
    }
    if let Some(bar) = NEWS.element().filter(|bar| region.contains(Some(bar))) {
        let has_news = new > 0 || !missing.is_empty();
        morph::show_in(&bar, || has_news.then(|| show_news(new)));
    }
    browser::set(region, FOLLOWS, now.get_attribute(FOLLOWS).as_deref());
    missing
}

/// Updates `missing` rows to those of `changed`, the list of all jobs that begins with the last changed ones: they no longer match the filters, or are on
/// another page now.
pub(super) fn update(missing: &[Element], changed: &Document, fresh: &mut Vec<Element>) {
    let Some(list) = changed.document_element() else { return };
    for row in missing.iter().filter(|row| row.is_connected()) {
        if let Some(now) = with_key(&list, &key(row)) {
            morph::morph(row, &now, fresh);
        }
    }
}

fn with_key(element: &Element, key: &str) -> Option<Element> {
    browser::find_in(element, &["[data-key=\"", key, "\"]"].concat())
}

fn rows(region: &Element) -> Vec<Element> {
    browser::all_in(region, ".job-row[data-key]")
}

fn key(row: &Element) -> String {
    row.get_attribute("data-key").unwrap_or_default()
}
