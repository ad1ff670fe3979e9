//! The field for pages: Enter adds the page, so that the next one can be typed, and pages in no list of known ones get a hint. Without JavaScript,
//! Enter does nothing, because the form's first button is disabled.

use leptos::ev::FocusEvent;
use leptos::prelude::*;

use super::detect::Lookup;
use crate::ui::islands::browser;
use crate::ui::islands::prompt_form::PromptForm;
use crate::ui::marks::PAGES_FIELD;

pub(super) fn start(form: PromptForm) {
    let Some(field) = PAGES_FIELD.element() else { return };
    let unknown = Lookup::of_unknown(form);
    browser::on_key(&field, move |key| {
        if key.name == "Enter" && !(key.ctrl_key() || key.meta_key()) {
            // After the browser applied a suggestion that Enter chose.
            browser::after(0, move || add(form, unknown));
        }
    });
    browser::on(&field, "blur", move |_: FocusEvent| unknown.of(written(&form.pages.get_untracked())));
    browser::effect(move || {
        form.pauses.track();
        let pages = form.pages.get_untracked();
        let is_typing = browser::focused().as_deref() == Some(PAGES_FIELD.name());
        unknown.of(written(if is_typing { complete(&pages) } else { &pages }));
    });
}

/// Completes the page that is being typed.
fn add(form: PromptForm, unknown: Lookup) {
    let written = written(&form.pages.get_untracked());
    if !written.is_empty() {
        form.set_pages(&[&written, ", "].concat());
        form.store_edit();
        unknown.of(written);
    }
}

/// The pages of the field, without what separates the next one.
fn written(pages: &str) -> String {
    pages.trim().trim_end_matches([',', ' ']).to_owned()
}

/// The pages before the one that is being typed.
fn complete(pages: &str) -> &str {
    pages.rsplit_once(',').map_or("", |(complete, _)| complete)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn page_is_complete_before_a_comma() {
        assert_eq!(["/a, /b, /c", "/a, ", "/a"].map(|pages| written(complete(pages))), ["/a, /b", "/a", ""]);
        assert_eq!(["/a, ", "/a", ", "].map(written), ["/a", "/a", ""]);
    }
}
