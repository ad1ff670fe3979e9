//! The template picker: choosing a template and filling in its placeholders. Its links and GET forms work without JavaScript.
//! Here the template is applied to the prompt in place, after a confirmation if the prompt has the user's own text. The fields
//! write into the prompt.

use leptos::mount::mount_to;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Document, Element, Event, HtmlInputElement};
use send_wrapper::SendWrapper;

use super::{VALUE_PREFIX, has_typed_values, is_changed, template_fields};
use crate::ui::islands::prompt_form::PromptForm;
use crate::ui::islands::{browser, morph};
use crate::ui::marks::{
    FILL, FILLING, PICK_PREFIX, PICKS, TEMPLATE, TEMPLATE_CONFIRMATION, TEMPLATE_FIELD, TEMPLATE_NAME,
    TEMPLATE_TEXT,
};
use model::batch::PAGE;
use model::error::ErrorCode;
use model::page_path;
use model::template::Slots;

/// The id of the button that replaces the prompt.
const REPLACE: &str = "template-replace";

#[derive(Clone, Copy)]
pub(super) struct Pick {
    form: PromptForm,
    /// The page with the template that waits for the confirmation.
    waiting: RwSignal<Option<SendWrapper<Document>>>,
    /// The last prompt that consists of a template only. It may be replaced without a confirmation.
    last: StoredValue<String>,
    slots: StoredValue<Slots>,
    /// The value of the field of `{{page}}`, which is one of the pages of the job.
    page: StoredValue<String>,
}

impl Pick {
    pub(super) fn start(form: PromptForm) {
        let rendered = filled("", |field| field.default_value());
        let text = form.text.get_untracked();
        let last = if rendered.text() == text { text.clone() } else { String::new() };
        let mut slots = Slots::default();
        slots.follow(&text, &rendered);
        let this = Self {
            form,
            waiting: RwSignal::new(None),
            last: StoredValue::new(last),
            slots: StoredValue::new(slots),
            page: StoredValue::new(page_of(|field| field.default_value())),
        };
        this.apply_typed_values();
        this.listen();
    }

    /// Writes values into the prompt that were typed before this part was there.
    fn apply_typed_values(self) {
        let before = self.form.text.get_untracked();
        for field in template_fields().iter().filter(|field| is_changed(field)) {
            self.write(field);
        }
        if self.form.is_being_sent() && self.form.text.with_untracked(|text| *text != before) {
            self.form.applied_to.set_value(Some(before));
        }
    }

    fn listen(self) {
        browser::on_window("input", move |event: Event| {
            if browser::target(&event, &FILLING.selector()).is_some() {
                self.write(&event_target(&event));
            }
        });
        browser::effect(move || {
            let (text, template) = (self.form.text.get(), self.form.template.get());
            self.changed(&text);
            name(&template);
        });
        browser::effect(move || {
            let url = self.form.picked.get();
            if !url.is_empty() {
                spawn_local(self.fetch(url));
            }
        });
        if let Some(place) = TEMPLATE_CONFIRMATION.element() {
            mount_to(place.unchecked_into(), move || self.confirmation()).forget();
        }
    }

    /// Fetches the page of the clicked template, unless another one is clicked meanwhile. It is applied at once to a prompt without the user's own
    /// text.
    async fn fetch(self, url: String) {
        let page = browser::fetch_page(&url).await;
        if self.form.picked.get_untracked() != url {
            return;
        }
        match page {
            Ok(page) if self.has_own_text() => {
                self.waiting.set(Some(SendWrapper::new(page)));
                // When it is shown.
                browser::after(0, || {
                    browser::focus(REPLACE);
                });
            }
            Ok(page) => self.apply(&page, ""),
            Err(error) if matches!(error.code, ErrorCode::Unreachable | ErrorCode::Conflict) => {
                self.form.show_problem(Some(&error));
            }
            // Navigate, as without JavaScript; the draft stays in this browser.
            Err(_) => browser::go(&url),
        }
    }

    fn has_own_text(self) -> bool {
        let text = self.form.text.get_untracked();
        !text.trim().is_empty() && self.last.with_value(|last| *last != text)
    }

    fn confirmation(self) -> impl IntoView {
        let replace = move |_| self.answered(true, "");
        let insert = move |_| {
            let written = self.form.text.get_untracked();
            self.answered(true, &[written.trim_end(), "\n\n"].concat());
        };
        view! {
            <div class="notice notice-warn template-confirmation" role="alert" hidden=move || self.waiting.read().is_none()>
                <div>
                    <p>"The prompt already has text. Replace it with the template, or insert the template below it?"</p>
                    <div class="choices">
                        <button type="button" id=REPLACE class="button" on:click=replace>"Replace"</button>
                        <button type="button" class="button" on:click=insert>"Insert below"</button>
                        <button type="button" class="button" on:click=move |_| self.answered(false, "")>"Cancel"</button>
                    </div>
                </div>
            </div>
        }
    }

    /// Applies the template that waits, behind the text `before`.
    fn answered(self, is_wanted: bool, before: &str) {
        let page = self.waiting.get_untracked();
        self.waiting.set(None);
        match page.filter(|_| is_wanted) {
            Some(page) => self.apply(&page, before),
            None => self.form.focus(),
        }
    }

    /// Shows the template of `page`, and puts its text after `before` into the prompt.
    fn apply(self, page: &Document, before: &str) {
        let has_values = has_typed_values();
        for id in [PICKS, FILLING] {
            if let (Some(old), Some(new)) = (id.element(), page.get_element_by_id(id.name())) {
                morph::morph(&old, &new, &mut Vec::new());
            }
        }
        self.waiting.set(None);
        self.page.set_value(page_of(HtmlInputElement::value));
        let filled = filled(before, HtmlInputElement::value);
        let (text, template) = (filled.text().to_owned(), chosen());
        self.slots.set_value(filled);
        let is_own = self.has_own_text();
        self.last.set_value(if before.is_empty() { text.clone() } else { String::new() });
        // *Undo* restores the user's own text, and what was written into the fields.
        if is_own || has_values {
            self.form.fill(&text, &template);
        } else {
            self.form.preview(&text, &template);
        }
        let field = template_fields().into_iter().find(|field| self.has_slot(field));
        match field {
            Some(field) => drop(field.focus()),
            None => self.form.focus(),
        }
    }

    fn has_slot(self, field: &HtmlInputElement) -> bool {
        self.slots.with_value(|slots| slots.has(&placeholder(field)))
    }

    /// Writes the value of an edited field into the prompt.
    fn write(self, field: &HtmlInputElement) {
        let (name, value) = (placeholder(field), field.value());
        if name == PAGE {
            let (old, new) = (self.page.get_value(), value.trim().to_owned());
            self.form.set_pages(&page_path::replaced(&self.form.pages.get_untracked(), &old, &new));
            self.page.set_value(new);
        }
        let is_last = self.last.with_value(|last| self.form.text.with_untracked(|text| text == last));
        self.slots.update_value(|slots| slots.fill(&name, &value));
        // The server refuses a prompt that is too long.
        let text = self.slots.with_value(|slots| slots.text().to_owned());
        if is_last {
            self.last.set_value(text.clone());
        }
        self.form.preview(&text, &self.form.template.get_untracked());
    }

    /// Handles an edit of the prompt: shows only fields with a slot in it.
    fn changed(self, text: &str) {
        let rendered = filled("", HtmlInputElement::value);
        self.slots.update_value(|slots| {
            if slots.text() != text {
                slots.follow(text, &rendered);
            }
        });
        let mut is_any = false;
        for field in template_fields() {
            self.slots.update_value(|slots| slots.add_other_slots(&placeholder(&field)));
            let has_slot = self.has_slot(&field);
            is_any |= has_slot;
            show(field.parent_element(), has_slot);
        }
        show(FILL.element(), is_any);
    }
}

/// Shows the name of the text's template, and puts its id into the form.
fn name(template: &str) {
    let link = browser::by_id(&[PICK_PREFIX, template].concat());
    let name = link.and_then(|link| link.text_content()).filter(|_| !template.is_empty());
    show(TEMPLATE.element(), name.is_some());
    if let Some(label) = TEMPLATE_NAME.element() {
        browser::set_text(&label, &name.unwrap_or_default());
    }
    let field = TEMPLATE_FIELD.element().and_then(|field| field.dyn_into::<HtmlInputElement>().ok());
    if let Some(field) = field {
        field.set_value(template);
        field.set_disabled(template.is_empty());
    }
}

fn show(element: Option<Element>, is_shown: bool) {
    if let Some(element) = element {
        browser::toggle(&element, "hidden", !is_shown);
    }
}

/// The chosen template after `before`, filled with the values of its fields.
fn filled(before: &str, value: impl Fn(&HtmlInputElement) -> String) -> Slots {
    let text = FILLING.element().and_then(|filling| TEMPLATE_TEXT.of(&filling));
    let fields = template_fields();
    Slots::of(before, &text.unwrap_or_default(), |name| {
        let field = fields.iter().find(|field| placeholder(field) == name)?;
        Some(value(field)).filter(|value| !value.is_empty())
    })
}

/// The value of the field for `{{page}}`; empty without one.
fn page_of(value: impl Fn(&HtmlInputElement) -> String) -> String {
    let field = template_fields().into_iter().find(|field| placeholder(field) == PAGE);
    field.map(|field| value(&field).trim().to_owned()).unwrap_or_default()
}

/// The name of the placeholder of a field.
fn placeholder(field: &HtmlInputElement) -> String {
    let name = field.name();
    name.strip_prefix(VALUE_PREFIX).unwrap_or(&name).to_owned()
}

/// The id of the chosen template.
fn chosen() -> String {
    let link = browser::find(&[&PICKS.selector(), " [aria-current]"].concat());
    let id = link.map(|link| link.id()).unwrap_or_default();
    id.strip_prefix(PICK_PREFIX).unwrap_or_default().to_owned()
}
