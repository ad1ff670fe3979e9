//! The command palette: a dialog with a combobox and its options. Part of [`super::shortcuts::Shortcuts`], whose children
//! contain the empty dialog. The browser filters the options; the server finds templates and jobs when typing pauses.

mod content;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlDialogElement, HtmlElement, HtmlInputElement};

use crate::api::palette::FindInPalette;
use crate::ui::components::palette;
use crate::ui::islands::{browser, morph};
pub use content::Reach;
use model::palette::Found;

/// The ids of the dialog and its parts. [`content`] has them, too.
const DIALOG: &str = "palette";
const FIELD: &str = "palette-field";
/// The id of the server's results.
const FOUND: &str = "palette-found";
/// The id of the message without matches.
const COUNT: &str = "palette-count";

/// How long typing has to pause before a request, in milliseconds.
const PAUSE: u32 = 200;

/// The attribute of the option that Enter opens.
const CHOSEN: &str = "aria-selected";

/// The attribute with the words of the server's results.
const WORDS: &str = "data-words";

/// The dialog, which is filled when it is opened.
pub(super) fn empty_dialog() -> impl IntoView + use<> {
    view! { <dialog id=DIALOG class="dialog palette" aria-label="Command palette" closedby="any"></dialog> }
}

/// Opens the palette on Ctrl or Cmd+K.
pub(super) fn listen(reach: Reach) {
    let finder = Finder { reach, edits: browser::Edits::default() };
    let find = finder.clone();
    browser::on_key(&window(), move |key| {
        let is_ours = (key.ctrl_key() || key.meta_key()) && !key.shift_key() && !key.alt_key();
        if is_ours && key.name.eq_ignore_ascii_case("k") {
            key.prevent_default();
            open(&find);
        }
    });
    browser::on_window("click", move |event: Event| {
        if browser::target(&event, "[data-button=palette]").is_some() {
            open(&finder);
        }
    });
}

/// Renders the content and starts it.
fn fill(dialog: &HtmlDialogElement, finder: Finder) {
    morph::show_in(dialog, || content::content(&finder.reach));
    let Some(field) = field() else { return };
    browser::on(&field, "input", move |_: Event| {
        filter(false);
        finder.find_after(PAUSE);
    });
    browser::on_key(&field, |key| {
        if act(&key.name) {
            key.prevent_default();
        }
    });
    // A button does something on this page; a link leaves it.
    browser::on(dialog, "click", |event: Event| {
        if browser::target(&event, "button[role=option]").is_some() {
            close();
        }
    });
}

#[derive(Clone)]
struct Finder {
    /// Jobs and templates are found in its project.
    reach: Reach,
    /// Only the response to the last edit counts.
    edits: browser::Edits,
}

impl Finder {
    fn find_after(&self, millis: u32) {
        if self.reach.project.is_empty() {
            return;
        }
        let project = self.reach.project.clone();
        self.edits.after_pause(millis, move |edit| spawn_local(find(project, edit)));
    }
}

async fn find(project: String, edit: browser::Edit) {
    let words = field().map(|field| field.value()).unwrap_or_default();
    let fields = browser::fields_of(&[("project", &project), ("q", &words)]);
    // Without a response the pages and actions remain.
    let found = browser::post::<Found>(FindInPalette::PATH, &fields).await.result.unwrap_or_default();
    if edit.is_latest() {
        let none = found.jobs.is_empty() && found.templates.is_empty();
        morph::show(FOUND, || (!none).then(|| palette::found(found)));
        if let Some(element) = browser::by_id(FOUND) {
            browser::set(&element, WORDS, Some(&words));
        }
        filter(true);
    }
}

fn open(finder: &Finder) {
    let Some(dialog) = dialog() else { return };
    if dialog.open() {
        return close();
    }
    // Two modal dialogs would overlap.
    for other in browser::all("dialog[open]") {
        if let Ok(other) = other.dyn_into::<HtmlDialogElement>() {
            other.close();
        }
    }
    match field() {
        Some(field) => field.set_value(""),
        None => fill(&dialog, finder.clone()),
    }
    let _ = dialog.show_modal();
    filter(false);
    finder.find_after(0);
}

fn close() {
    if let Some(dialog) = dialog() {
        dialog.close();
    }
}

/// Handles a key in the field; returns whether it did.
fn act(key: &str) -> bool {
    let options = shown();
    let last = options.len().saturating_sub(1);
    let chosen = options.iter().position(|option| option.get_attribute(CHOSEN).as_deref() == Some("true"));
    let next = match (key, chosen) {
        ("ArrowDown", Some(at)) if at < last => at + 1,
        ("ArrowUp", Some(at)) if at > 0 => at - 1,
        ("ArrowUp", _) => last,
        ("ArrowDown", _) => 0,
        ("Enter", Some(at)) => {
            if let Some(option) = options.get(at).and_then(|option| option.dyn_ref::<HtmlElement>()) {
                option.click();
            }
            return true;
        }
        ("Enter", None) => return true,
        _ => return false,
    };
    choose(options.get(next));
    true
}

/// Shows the options that have all words of the field. Chooses the first one, unless the chosen one stays (`keep`). The
/// server's results for these words are not filtered again: a job may have them in its text.
fn filter(keep: bool) {
    let typed = field().map(|field| field.value()).unwrap_or_default();
    let is_answered =
        browser::by_id(FOUND).and_then(|element| element.get_attribute(WORDS)) == Some(typed.clone());
    let typed = browser::lowercase(&typed);
    let words: Vec<&str> = typed.split_whitespace().collect();
    for option in options() {
        let is_found = is_answered && option.closest(&["#", FOUND].concat()).ok().flatten().is_some();
        let text = browser::lowercase(&option.text_content().unwrap_or_default());
        browser::toggle(&option, "hidden", !is_found && !words.iter().all(|word| text.contains(*word)));
    }
    for group in browser::all("#palette-options [role=group]") {
        browser::toggle(&group, "hidden", browser::find_in(&group, "[role=option]:not([hidden])").is_none());
    }
    let shown = shown();
    let is_chosen = |option: &&Element| option.get_attribute(CHOSEN).as_deref() == Some("true");
    choose(shown.iter().find(is_chosen).filter(|_| keep).or(shown.first()));
    if let Some(count) = browser::by_id(COUNT) {
        browser::set_text(&count, if shown.is_empty() { "Nothing matches" } else { "" });
    }
}

fn choose(option: Option<&Element>) {
    for other in options() {
        browser::set(&other, CHOSEN, Some("false"));
    }
    if let Some(field) = field() {
        browser::set(&field, "aria-activedescendant", option.map(Element::id).as_deref());
    }
    if let Some(option) = option {
        browser::set(option, CHOSEN, Some("true"));
        browser::show_nearest(option);
    }
}

fn options() -> Vec<Element> {
    browser::all("#palette-options [role=option]")
}

fn shown() -> Vec<Element> {
    browser::all("#palette-options [role=option]:not([hidden])")
}

fn field() -> Option<HtmlInputElement> {
    browser::by_id(FIELD)?.dyn_into().ok()
}

fn dialog() -> Option<HtmlDialogElement> {
    browser::by_id(DIALOG)?.dyn_into().ok()
}
