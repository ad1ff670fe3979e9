//! The template picker: choosing a template, filling in its placeholders, and applying the text. Its links and GET
//! forms work without JavaScript; here their pages are fetched, and typed text is replaced only after confirmation.

use std::cell::RefCell;
use std::rc::Rc;

use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{
    Document, Element, Event, HtmlInputElement, HtmlTextAreaElement, MouseEvent, SubmitEvent,
};

use super::PROMPT;
use crate::model::template;
use crate::ui::islands::browser;
use crate::ui::islands::drafts::Draft;
use crate::ui::islands::live::{LiveState, forms};

/// The id of the element with the templates.
pub const PICKS: &str = "picks";
/// Attribute with the template's id on its link.
pub const PICK: &str = "data-pick";
/// The class of the form with a template's placeholders. Its `data-text` is the template.
pub const FILL: &str = "pick-fill";
/// The id of the element with that form and the question [`REPLACE`].
pub const FILLING: &str = "fill";
/// The id of the question whether to replace the text. Its button with [`PICK`] means yes, the other no.
pub const REPLACE: &str = "replace-question";
/// The id of the element with the name of the text's template and the link [`REMOVE`].
pub const TEMPLATE: &str = "template-name";
pub const REMOVE: &str = "template-remove";

struct Pick {
    live: LiveState,
    draft: Draft,
    /// The text and template id that wait for confirmation.
    waiting: RefCell<Option<(String, String)>>,
    /// The last text from a template, which may be replaced without confirmation.
    last: RefCell<String>,
}

pub(super) fn listen(live: &LiveState, draft: &Draft) {
    let is_filled = !draft.template().is_empty();
    let pick = Rc::new(Pick {
        live: live.clone(),
        draft: draft.clone(),
        waiting: RefCell::default(),
        last: RefCell::new(if is_filled { draft.text() } else { String::new() }),
    });
    let this = pick.clone();
    draft.on_change(move || this.name_template());
    if let Some(remove) = browser::by_id(REMOVE) {
        let draft = draft.clone();
        browser::on(&remove, "click", move |event: Event| {
            event.prevent_default();
            draft.forget_template();
        });
    }
    let (Some(picks), Some(filling)) = (browser::by_id(PICKS), browser::by_id(FILLING)) else { return };
    for place in [&picks, &filling] {
        let this = pick.clone();
        browser::on(place, "click", move |event: MouseEvent| this.clone().clicked(&event));
    }
    let this = pick.clone();
    browser::on(&filling, "input", move |_: Event| this.preview());
    browser::on(&filling, "submit", move |event: SubmitEvent| {
        let form = browser::submitted(&event).filter(|form| form.class_list().contains(FILL));
        let Some(form) = form else { return };
        let Some(fields) = browser::fields(&form, &event) else { return };
        event.prevent_default();
        let action = form.get_attribute("action").unwrap_or_default();
        pick.clone().open(forms::with_given(&action, &fields), true);
    });
}

impl Pick {
    fn clicked(self: Rc<Self>, event: &MouseEvent) {
        if let Some(link) = browser::target(event, "a[data-pick]").filter(|_| browser::is_plain(event)) {
            event.prevent_default();
            self.ask(None);
            return self.open(link.get_attribute("href").unwrap_or_default(), false);
        }
        let Some(button) = browser::target(event, &["#", REPLACE, " button"].concat()) else { return };
        let waiting = self.waiting.take();
        self.ask(None);
        if let Some((text, template)) = waiting.filter(|_| button.has_attribute(PICK)) {
            self.apply(&text, &template);
        }
    }

    /// Fetches the page at `address`, shows its templates, and offers its text if it has no placeholders or has values.
    fn open(self: Rc<Self>, address: String, has_values: bool) {
        spawn_local(async move {
            match browser::fetch_page(&address).await {
                Ok(page) => {
                    self.live.show(&page);
                    if has_values || form().is_none() {
                        self.offer(&page);
                    } else {
                        self.preview();
                        browser::find(&[".", FILL, " .field"].concat())
                            .map(|field| browser::focus(&field.id()));
                    }
                }
                // Navigate, as without JavaScript; the draft stays in this browser.
                Err(_) => browser::go(&address),
            }
        });
    }

    /// Fills what was typed into the template's placeholders, unless the prompt is somebody's own words.
    fn preview(&self) {
        let Some(form) = form() else { return };
        let written = self.draft.text();
        if !written.trim().is_empty() && written != *self.last.borrow() {
            return;
        }
        // The server refuses a prompt that is too long.
        let text = form.get_attribute("data-text").unwrap_or_default();
        let text = template::typed_into(&text, |name| {
            let field = browser::find_in(&form, &[".field[name=\"", name, "\"]"].concat())?;
            Some(field.dyn_into::<HtmlInputElement>().ok()?.value()).filter(|value| !value.is_empty())
        });
        self.last.replace(text.clone());
        self.draft.preview(&text, &chosen().unwrap_or_default());
    }

    /// Applies the text of `page`, or asks first if that replaces typed text.
    fn offer(&self, page: &Document) {
        let field = page.get_element_by_id(PROMPT).and_then(|it| it.dyn_into::<HtmlTextAreaElement>().ok());
        let (Some(field), Some(template)) = (field, chosen()) else { return };
        let (text, written) = (field.value(), self.draft.text());
        if written.trim().is_empty() || written == *self.last.borrow() || written == text {
            self.apply(&text, &template);
        } else {
            self.ask(Some((text, template)));
        }
    }

    fn apply(&self, text: &str, template: &str) {
        self.last.replace(text.to_owned());
        self.draft.fill(text, template);
    }

    fn ask(&self, waiting: Option<(String, String)>) {
        if let Some(question) = browser::by_id(REPLACE) {
            browser::toggle(&question, "hidden", waiting.is_none());
        }
        self.waiting.replace(waiting);
    }

    /// Shows the name of the text's template.
    fn name_template(&self) {
        let id = self.draft.template();
        let Some(place) = browser::by_id(TEMPLATE) else { return };
        let link = browser::all("a[data-pick]")
            .into_iter()
            .find(|link| link.get_attribute(PICK).as_ref() == Some(&id));
        let name = link.and_then(|link| link.text_content()).filter(|_| !id.is_empty());
        browser::toggle(&place, "hidden", name.is_none());
        if let (Some(name), Some(said)) = (name, browser::find_in(&place, "bdi")) {
            browser::set_text(&said, &name);
        }
    }
}

/// The form with the placeholders of the chosen template, if it has any.
fn form() -> Option<Element> {
    browser::find(&[".", FILL].concat())
}

/// The id of the chosen template.
fn chosen() -> Option<String> {
    browser::find("a[data-pick][aria-current]").and_then(|link| link.get_attribute(PICK))
}
