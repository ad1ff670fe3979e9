//! The command palette: a dialog with a field and its options. The options are a file of their own, which the browser loads when the palette
//! is opened the first time ([`options`]); what is typed meanwhile counts.

mod entries;
mod options;

use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Event, HtmlDialogElement};

use crate::ui::islands::browser;
pub use entries::Reach;

/// Shown if the file with the options cannot be loaded: the server is unreachable, or was upgraded.
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
        loading: RwSignal::new(Loading::NotYet),
    };
    if browser::IS_HERE {
        listen(palette, Reach { project, may_start, is_admin });
    }
    let OpenPalette { dialog, field, rest, typed, loading, .. } = palette;
    view! {
        <dialog node_ref=dialog class="dialog palette" aria-label="Command palette" closedby="any">
            <input
                node_ref=field
                class="field"
                type="text"
                role="combobox"
                aria-label="Command or destination"
                aria-expanded=move || if loading.get() == Loading::Done { "true" } else { "false" }
                aria-controls=move || (loading.get() == Loading::Done).then_some(options::LIST)
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
            <p class="palette-none" role="status" hidden=move || loading.get() == Loading::Done>
                {move || if loading.get() == Loading::Failed { NOT_LOADED } else { "Loading…" }}
            </p>
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
    loading: RwSignal<Loading>,
}

/// Whether the options are there.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Loading {
    NotYet,
    Begun,
    Done,
    Failed,
}

fn listen(palette: OpenPalette, reach: Reach) {
    let of_button = reach.clone();
    browser::on_key(&window(), move |key| {
        let is_ours = (key.ctrl_key() || key.meta_key()) && !key.shift_key() && !key.alt_key();
        if is_ours && key.name.eq_ignore_ascii_case("k") {
            key.prevent_default();
            palette.toggle(&reach);
        }
    });
    browser::on_window("click", move |event: Event| {
        if browser::target(&event, "[data-button=palette]").is_some() {
            palette.toggle(&of_button);
        }
    });
}

impl OpenPalette {
    fn toggle(self, reach: &Reach) {
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
        self.opened.update(|opened| *opened = opened.wrapping_add(1));
        // Nothing is lost if a browser refuses: the palette has only links of pages.
        let _ = dialog.show_modal();
        if matches!(self.loading.get_untracked(), Loading::NotYet | Loading::Failed) {
            self.load(reach.clone());
        }
    }

    fn load(self, reach: Reach) {
        let (Some(dialog), Some(field), Some(rest)) =
            (self.dialog.get_untracked(), self.field.get_untracked(), self.rest.get_untracked())
        else {
            return;
        };
        let parts = options::Parts { dialog, field, reach, typed: self.typed, opened: self.opened };
        self.loading.set(Loading::Begun);
        spawn_local(async move {
            let loaded = options::show(rest.into(), parts).await;
            self.loading.set(if loaded.is_ok() { Loading::Done } else { Loading::Failed });
        });
    }
}
