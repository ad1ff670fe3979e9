//! The template picker: choosing a template and filling in its placeholders. Its links and GET forms work without JavaScript.
//! Here the template is applied to the prompt in place, after a confirmation if the prompt has the user's own text. The fields
//! write into the prompt.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Document, Element, Event, HtmlInputElement, MouseEvent, SubmitEvent};

use super::PROMPT;
use crate::ui::islands::drafts::Draft;
use crate::ui::islands::{browser, morph};
use model::batch::PAGE;
use model::template::Slots;

/// The id of the element with the templates.
pub const PICKS: &str = "picks";
/// Attribute with the template's id on its link.
pub const PICK: &str = "data-pick";
/// The class of the form with a template's placeholders.
pub const FILL: &str = "pick-fill";
/// The id of the element with that form. Its `data-text` is the chosen template.
pub const FILLING: &str = "fill";
/// The id of the confirmation that asks how to apply a template to a prompt with text, and of its buttons.
pub const TEMPLATE_CONFIRMATION: &str = "template-confirmation";
pub const REPLACE: &str = "template-replace";
pub const INSERT: &str = "template-insert";
/// The id of the element with the name of the text's template and the link [`REMOVE`].
pub const TEMPLATE: &str = "template-name";
pub const REMOVE: &str = "template-remove";

struct Pick {
    draft: Draft,
    /// The page with the template that waits for the confirmation.
    waiting: RefCell<Option<Document>>,
    /// The last prompt that consists of a template only. It may be replaced without a confirmation.
    last: RefCell<String>,
    slots: RefCell<Slots>,
    /// The value of the field of `{{page}}`, which is one of the pages of the job.
    page: RefCell<String>,
}

pub(super) fn listen(draft: &Draft) {
    let filled = filled("");
    let is_filled = filled.text() == draft.text();
    let pick = Rc::new(Pick {
        draft: draft.clone(),
        waiting: RefCell::default(),
        last: RefCell::new(if is_filled { draft.text() } else { String::new() }),
        slots: RefCell::default(),
        page: RefCell::new(page_field()),
    });
    let this = pick.clone();
    draft.on_change(move || this.changed());
    if let Some(remove) = browser::by_id(REMOVE) {
        let draft = draft.clone();
        browser::on(&remove, "click", move |event: Event| {
            event.prevent_default();
            draft.forget_template();
        });
    }
    let (Some(picks), Some(filling), Some(confirmation)) =
        (browser::by_id(PICKS), browser::by_id(FILLING), browser::by_id(TEMPLATE_CONFIRMATION))
    else {
        return;
    };
    let this = pick.clone();
    browser::on(&picks, "click", move |event: MouseEvent| this.clone().clicked(&event));
    let this = pick.clone();
    browser::on(&confirmation, "click", move |event: Event| this.answered(&event));
    let this = pick.clone();
    browser::on(&filling, "input", move |event: Event| this.typed(&event));
    browser::on(&filling, "submit", move |event: SubmitEvent| {
        // The prompt already contains the values.
        event.prevent_default();
        browser::focus(PROMPT);
    });
}

impl Pick {
    /// Fetches the page of the clicked template. It is applied at once to a prompt without the user's own text.
    fn clicked(self: Rc<Self>, event: &MouseEvent) {
        let link = browser::target(event, "a[data-pick]").filter(|_| browser::is_plain(event));
        let Some(url) = link.and_then(|link| link.get_attribute("href")) else { return };
        event.prevent_default();
        spawn_local(async move {
            match browser::fetch_page(&url).await {
                Ok(page) => {
                    let written = self.draft.text();
                    if written.trim().is_empty() || written == *self.last.borrow() {
                        self.apply(&page, "");
                    } else {
                        self.waiting.replace(Some(page));
                        self.show_confirmation(true);
                        browser::focus(REPLACE);
                    }
                }
                // Navigate, as without JavaScript; the draft stays in this browser.
                Err(_) => browser::go(&url),
            }
        });
    }

    fn answered(&self, event: &Event) {
        let Some(button) = browser::target(event, "button") else { return };
        self.show_confirmation(false);
        let page = self.waiting.take();
        match (button.id().as_str(), page) {
            (REPLACE, Some(page)) => self.apply(&page, ""),
            (INSERT, Some(page)) => {
                let written = self.draft.text();
                self.apply(&page, &[written.trim_end(), "\n\n"].concat());
            }
            _ => {
                browser::focus(PROMPT);
            }
        }
    }

    fn show_confirmation(&self, is_shown: bool) {
        if let Some(confirmation) = browser::by_id(TEMPLATE_CONFIRMATION) {
            browser::toggle(&confirmation, "hidden", !is_shown);
        }
    }

    /// Shows the template of `page`, and puts its text after `before` into the prompt.
    fn apply(&self, page: &Document, before: &str) {
        for id in [PICKS, FILLING] {
            if let (Some(old), Some(new)) = (browser::by_id(id), page.get_element_by_id(id)) {
                morph::morph(&old, &new, &mut Vec::new());
            }
        }
        self.show_confirmation(false);
        self.page.replace(page_field());
        let filled = filled(before);
        let (text, template) = (filled.text().to_owned(), chosen());
        self.slots.replace(filled);
        let is_templates = self.draft.text() == *self.last.borrow();
        self.last.replace(if before.is_empty() { text.clone() } else { String::new() });
        // *Undo* restores the user's own text.
        if is_templates {
            self.draft.preview(&text, &template);
        } else {
            self.draft.fill(&text, &template);
        }
        let field = inputs().into_iter().find(|input| self.slots.borrow().has(&input.name()));
        browser::focus(&field.map_or_else(|| PROMPT.to_owned(), |field| field.id()));
    }

    /// Writes the value of an edited field into the prompt.
    fn typed(&self, event: &Event) {
        let field = event.target().and_then(|field| field.dyn_into::<HtmlInputElement>().ok());
        let Some(field) = field else { return };
        if field.name() == PAGE {
            let page = field.value().trim().to_owned();
            self.draft.replace_page(&self.page.replace(page.clone()), &page);
        }
        let is_last = self.draft.text() == *self.last.borrow();
        self.slots.borrow_mut().fill(&field.name(), &field.value());
        // The server refuses a prompt that is too long.
        let text = self.slots.borrow().text().to_owned();
        if is_last {
            self.last.replace(text.clone());
        }
        self.draft.preview(&text, &self.draft.template());
    }

    /// Handles an edit of the prompt: shows only fields with a slot in it.
    fn changed(&self) {
        self.name_template();
        let (mut slots, text) = (self.slots.borrow_mut(), self.draft.text());
        if slots.text() != text {
            slots.follow(&text, &filled(""));
        }
        let mut is_any = false;
        for input in inputs() {
            slots.add_other_slots(&input.name());
            let has_slot = slots.has(&input.name());
            is_any |= has_slot;
            if let Some(field) = input.parent_element() {
                browser::toggle(&field, "hidden", !has_slot);
            }
        }
        if let Some(form) = browser::find(&[".", FILL].concat()) {
            browser::toggle(&form, "hidden", !is_any);
        }
    }

    /// Shows the name of the text's template.
    fn name_template(&self) {
        let id = self.draft.template();
        let Some(element) = browser::by_id(TEMPLATE) else { return };
        let link = browser::all("a[data-pick]")
            .into_iter()
            .find(|link| link.get_attribute(PICK).as_ref() == Some(&id));
        let name = link.and_then(|link| link.text_content()).filter(|_| !id.is_empty());
        browser::toggle(&element, "hidden", name.is_none());
        if let (Some(name), Some(label)) = (name, browser::find_in(&element, "bdi")) {
            browser::set_text(&label, &name);
        }
    }
}

/// The chosen template after `before`, filled with the values of its fields.
fn filled(before: &str) -> Slots {
    let text = browser::by_id(FILLING).and_then(|filling| filling.get_attribute("data-text"));
    let inputs = inputs();
    Slots::of(before, &text.unwrap_or_default(), |name| {
        let input = inputs.iter().find(|input| input.name() == name)?;
        Some(input.value()).filter(|value| !value.is_empty())
    })
}

/// The value of the field for `{{page}}`; empty without one.
fn page_field() -> String {
    let field = inputs().into_iter().find(|input| input.name() == PAGE);
    field.map(|field| field.value().trim().to_owned()).unwrap_or_default()
}

/// The fields of the chosen template.
fn inputs() -> Vec<HtmlInputElement> {
    let found = browser::all(&[".", FILL, " .field"].concat());
    found.into_iter().filter_map(|field: Element| field.dyn_into().ok()).collect()
}

/// The id of the chosen template.
fn chosen() -> String {
    let link = browser::find("a[data-pick][aria-current]");
    link.and_then(|link| link.get_attribute(PICK)).unwrap_or_default()
}
