//! The notice with the version of the draft that another tab saved. It is in the part that is loaded on demand; both versions are stored without it.

use leptos::mount::mount_to;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::wasm_split::{SplitLoaderError, wasm_split};
use leptos::web_sys::HtmlElement;

use super::{PromptForm, Version};
use crate::ui::islands::browser;
use crate::ui::islands::browser::on_demand::{self, Loading};

/// The id of the element in which another version of the text in a field is shown.
pub fn other_version_of(field: &str) -> String {
    ["other-", field].concat()
}

/// Shows the notice as soon as there is another version and the part is there.
pub(super) fn show_when_needed(form: PromptForm) {
    let is_shown = StoredValue::new(false);
    browser::effect(move || {
        if form.other.read().is_none() || is_shown.get_value() {
            return;
        }
        on_demand::load();
        let place = browser::by_id(&other_version_of(form.field));
        let place = place.and_then(|place| place.dyn_into::<HtmlElement>().ok());
        if let Some(place) = place.filter(|_| on_demand::loading() == Loading::Done) {
            is_shown.set_value(true);
            spawn_local(async move {
                let shown = show(place, form).await;
                is_shown.try_set_value(shown.is_ok());
            });
        }
    });
}

#[wasm_split(on_demand, wasm_split_path = leptos::wasm_split, fallible)]
fn show(place: HtmlElement, form: PromptForm) -> Result<(), SplitLoaderError> {
    mount_to(place, move || move || form.other.get().map(|version| notice(form, version))).forget();
    Ok(())
}

fn notice(form: PromptForm, Version { text, pages, .. }: Version) -> impl IntoView {
    view! {
        <div class="notice notice-warn" role="alert">
            <div>
                <p>"This draft was changed in another tab. Your version is below. This is the other version:"</p>
                <div class="draft-other-text" dir="auto" tabindex="0">{text}</div>
                <p class="hint draft-other-pages" dir="auto">{pages}</p>
                <button type="button" class="button" on:click=move |_| form.use_other()>"Use this version"</button>
            </div>
        </div>
    }
}
