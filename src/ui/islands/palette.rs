//! The command palette: a dialog with a field and its options. The options are in the part of the module that is loaded on demand
//! ([`browser::on_demand`]), when the palette is opened; what is typed meanwhile counts.

mod entries;
mod options;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Event, HtmlDialogElement};

use crate::ui::islands::browser;
use crate::ui::islands::browser::on_demand::{self, Loading};
pub use entries::Reach;

/// Shown if the part with the options cannot be loaded: the server is unreachable, or was upgraded.
const NOT_LOADED: &str =
    "The commands could not be loaded. Open this again in a moment. If that does not help, reload the page.";

/// Opens on Ctrl or Cmd+K, and by elements with `data-button="palette"`.
#[island]
pub fn Palette(project: String, may_start: bool, is_admin: bool) -> impl IntoView {
    let palette = OpenPalette {
        dialog: NodeRef::new(),
        field: NodeRef::new(),
        rest: NodeRef::new(),
        typed: RwSignal::new(String::new()),
        opened: RwSignal::new(0),
        is_complete: RwSignal::new(false),
        is_begun: StoredValue::new(false),
        is_entered: RwSignal::new(false),
    };
    if browser::IS_HERE {
        listen(palette, Reach { project, may_start, is_admin });
    }
    let OpenPalette { dialog, field, rest, typed, is_complete, .. } = palette;
    let has_failed = move || matches!(on_demand::loading(), Loading::Failed { .. });
    view! {
        <dialog node_ref=dialog class="dialog palette" aria-label="Command palette" closedby="any">
            // It fills the dialog, so that a click on the dialog itself is one beside it.
            <div class="pad">
                <input
                    node_ref=field
                    class="field"
                    type="text"
                    role="combobox"
                    aria-label="Command or destination"
                    aria-expanded="false"
                    aria-autocomplete="list"
                    placeholder="Search pages, jobs, templates and actions"
                    maxlength="200"
                    autocomplete="off"
                    autocapitalize="none"
                    spellcheck="false"
                    prop:value=typed
                    on:input:target=move |event| typed.set(event.target().value())
                />
                <div node_ref=rest class="contents"></div>
                <p class="palette-none" role="status" hidden=is_complete>
                    {move || if has_failed() { NOT_LOADED } else { "Loading…" }}
                </p>
            </div>
        </dialog>
    }
}

/// The parts of the palette that are on every page. Its options need them.
#[derive(Clone, Copy)]
struct OpenPalette {
    dialog: NodeRef<html::Dialog>,
    field: NodeRef<html::Input>,
    /// Where the options are shown.
    rest: NodeRef<html::Div>,
    typed: RwSignal<String>,
    /// How often it was opened.
    opened: RwSignal<u32>,
    /// Whether the options are shown.
    is_complete: RwSignal<bool>,
    /// Whether they are shown, or about to be.
    is_begun: StoredValue<bool>,
    /// Whether Enter was pressed before there was an option.
    is_entered: RwSignal<bool>,
}

fn listen(palette: OpenPalette, reach: Reach) {
    browser::on_key(&window(), move |key| {
        let is_ours = (key.ctrl_key() || key.meta_key()) && !key.shift_key() && !key.alt_key();
        if is_ours && key.name.eq_ignore_ascii_case("k") {
            key.prevent_default();
            palette.toggle();
        } else if key.name == "Enter" && !palette.is_complete.get_untracked() {
            palette.is_entered.set(true);
        }
    });
    browser::effect(move || {
        // Also if the options come after a message that they did not.
        if palette.opened.get() > 0 && on_demand::loading() == Loading::Done {
            palette.complete(&reach);
        }
    });
    browser::on_window("click", move |event: Event| {
        if browser::target(&event, "[data-button=palette]").is_some() || palette.is_beside(&event) {
            palette.toggle();
        }
    });
}

impl OpenPalette {
    /// Whether a click is beside the open dialog, on its backdrop. Safari does not know `closedby`.
    fn is_beside(self, event: &Event) -> bool {
        let dialog = self.dialog.get_untracked().filter(|dialog| dialog.open());
        dialog.is_some_and(|dialog| event.target() == Some(dialog.into()))
    }

    fn toggle(self) {
        let Some(dialog) = self.dialog.get_untracked() else { return };
        if dialog.open() {
            return dialog.close();
        }
        // Two modal dialogs would overlap.
        for other in browser::all("dialog[open]") {
            if let Ok(other) = other.dyn_into::<HtmlDialogElement>() {
                other.close();
            }
        }
        self.typed.set(String::new());
        self.is_entered.set(false);
        on_demand::load();
        self.opened.update(|opened| *opened = opened.wrapping_add(1));
        // Nothing is lost if a browser refuses: the palette has only links of pages.
        let _ = dialog.show_modal();
    }

    /// Shows the options once.
    fn complete(self, reach: &Reach) {
        let (Some(dialog), Some(field), Some(rest)) =
            (self.dialog.get_untracked(), self.field.get_untracked(), self.rest.get_untracked())
        else {
            return;
        };
        if self.is_begun.get_value() {
            return;
        }
        self.is_begun.set_value(true);
        let reach = reach.clone();
        let Self { typed, opened, is_entered, .. } = self;
        let parts = options::Parts { dialog, field, reach, typed, opened, is_entered };
        spawn_local(async move {
            let shown = options::show(rest.into(), parts).await;
            self.is_complete.set(shown.is_ok());
        });
    }
}
