//! The names that pages and islands share: attributes and ids that a page writes, and by which an island finds an element or reads its data. One
//! constant for each, so that a name exists once and a misspelled one does not compile.

use leptos::attr::AttributeValue;
use leptos::attr::custom::{CustomAttr, custom_attribute};
use leptos::prelude::document;
use leptos::web_sys::Element;

/// An attribute `data-…`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Mark(&'static str);

/// The id of an element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Id(&'static str);

/// The element of a row that gets the focus when the focused one is gone.
pub const NEXT_FOCUS: Mark = Mark("data-focus");

/// A time that the browser keeps current: its form, of `components::time`.
pub const TIME: Mark = Mark("data-time");
/// The box that selects all that match the filters: how many they are.
pub const MATCHES: Mark = Mark("data-matches");

/// The bar above a list with the number of new rows, and its button, which shows them.
pub const NEWS: Id = Id("list-news");
pub const SHOW_NEWS: Id = Id("show-news");

/// The dialog with the list of shortcuts.
pub const SHORTCUT_LIST: Id = Id("shortcuts");
/// The box that switches the shortcuts of a single key on or off.
pub const SHORTCUTS: Id = Id("shortcuts-on");
/// The forms that choose a theme and that sign out, and the button for notifications.
pub const THEME_FORM: Id = Id("theme-form");
pub const SIGN_OUT: Id = Id("sign-out");
pub const NOTIFY: Id = Id("notify");

/// The icon of the document.
pub const ICON: Id = Id("icon");

/// The report of page views, and above it the error if another one cannot be shown.
pub const REPORT: Id = Id("report");
pub const REPORT_PROBLEM: Id = Id("report-problem");

/// The list of jobs as a form, the number of selected ones, and the box for all rows of the page.
pub const BULK: Id = Id("bulk");
pub const BULK_COUNT: Id = Id("bulk-count");
pub const BULK_PAGE: Id = Id("bulk-all");

/// The link that opens days of a trend chart, its description, and the table of the same days.
pub const TREND_LINK: Id = Id("trend-link");
pub const TREND_READOUT: Id = Id("trend-readout");
pub const TREND_TABLE: Id = Id("trend-table");

/// The form of the chosen pages, its fields for pages without a row, their number, the number on the button, and the box for all rows of the page.
pub const PICKED: Id = Id("picked-pages");
pub const PICKED_ELSEWHERE: Id = Id("picked-elsewhere");
pub const PICKED_COUNT: Id = Id("picked-count");
pub const PICKED_NUMBER: Id = Id("picked-number");
pub const PICKED_PAGE: Id = Id("pick-all");

/// The form for a new job: the fields for its prompt and pages, and the elements with the pages detected in the prompt and with the unknown ones of the
/// field.
pub const PROMPT_FIELD: Id = Id("prompt");
pub const PAGES_FIELD: Id = Id("paths");
pub const DETECTED: Id = Id("detected");
pub const UNKNOWN_PAGES: Id = Id("unknown-pages");
/// Similar jobs.
pub const SIMILAR: Id = Id("similar");
/// The field for a follow-up, and the attribute of a link in a message that copies the message's text into it. Without JavaScript the link leads to a
/// page with the text in the field.
pub const FOLLOW_UP_FIELD: Id = Id("follow-up");
pub const AGAIN: Mark = Mark("data-again");
/// The field for the values of a batch. That for its prompt is [`PROMPT_FIELD`].
pub const VALUES_FIELD: Id = Id("values");

/// The templates beside the form for a new job, which are links. Their ids begin with the prefix, and end with that of the template.
pub const PICKS: Id = Id("picks");
pub const PICK_PREFIX: &str = "pick-";
/// The element with the form for the placeholders of the chosen template, that form, and the attribute with the template's text.
pub const FILLING: Id = Id("fill");
pub const FILL: Id = Id("fill-form");
pub const TEMPLATE_TEXT: Mark = Mark("data-text");
/// The place of the confirmation to apply a template to a prompt with text.
pub const TEMPLATE_CONFIRMATION: Id = Id("template-confirmation");
/// The element with the name of the text's template, the name, the field with its id, and the link to remove it.
pub const TEMPLATE: Id = Id("template");
pub const TEMPLATE_NAME: Id = Id("template-name");
pub const TEMPLATE_FIELD: Id = Id("template-id");
pub const REMOVE_TEMPLATE: Id = Id("template-remove");
/// The suggestions for fields with paths of pages.
pub const KNOWN_PAGES: Id = Id("known-pages");

impl Mark {
    pub const fn name(self) -> &'static str {
        self.0
    }

    /// The attribute with `value`, for a view: `<p {..MARK.is("a")}>`.
    pub fn is<V: AttributeValue>(self, value: V) -> CustomAttr<&'static str, V> {
        custom_attribute(self.0, value)
    }

    /// The attribute without a value, for a view: `<p {..MARK.here()}>`.
    pub fn here(self) -> CustomAttr<&'static str, &'static str> {
        self.is("")
    }

    /// Matches each element that has it.
    pub fn selector(self) -> String {
        ["[", self.0, "]"].concat()
    }

    /// Its value in `element`.
    pub fn of(self, element: &Element) -> Option<String> {
        element.get_attribute(self.0)
    }
}

impl Id {
    /// For a view: `<p id=ID.name()>`.
    pub const fn name(self) -> &'static str {
        self.0
    }

    pub fn is_of(self, element: &Element) -> bool {
        // Not `element.id()`: a field of a form named `id` would replace it.
        element.get_attribute("id").as_deref() == Some(self.0)
    }

    /// Matches the element.
    pub fn selector(self) -> String {
        ["#", self.0].concat()
    }

    /// The element with this id, in the browser.
    pub fn element(self) -> Option<Element> {
        document().get_element_by_id(self.0)
    }
}

#[cfg(test)]
mod tests {
    use leptos::prelude::*;

    use super::*;

    #[test]
    fn mark_is_an_attribute_of_a_view_and_its_selector() {
        let html = view! { <p class="a" {..MATCHES.is("1")} {..NEXT_FOCUS.here()}></p> }.to_html();
        assert_eq!(html, r#"<p data-matches="1" data-focus="" class="a"></p>"#);
        assert_eq!(MATCHES.selector(), "[data-matches]");
    }
}
