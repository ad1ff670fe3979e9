//! Suggests known pages in fields with `list="known-pages"`: the last of the comma-separated paths is completed. Without
//! JavaScript these are plain fields.

use std::rc::Rc;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Event, HtmlInputElement};

use crate::ui::islands::{browser, morph};
use api::job_pages::SuggestPages;
use model::page_path::in_field;

/// The id of the list of suggestions.
pub const PAGES: &str = "known-pages";

/// How long typing has to pause, in milliseconds.
const PAUSE: u32 = 200;

#[island]
pub fn PageSuggestions(project: String) -> impl IntoView {
    if browser::IS_HERE {
        listen(project);
    }
    view! { <datalist id=PAGES></datalist> }
}

fn listen(project: String) {
    let edits = browser::Edits::default();
    let project = Rc::new(project);
    browser::on_window("input", move |event: Event| {
        let field = browser::target(&event, "input[list=known-pages]");
        let Some(field) = field.and_then(|field| field.dyn_into::<HtmlInputElement>().ok()) else { return };
        let project = project.clone();
        edits.after_pause(PAUSE, move |edit| {
            spawn_local(async move {
                let value = field.value();
                let (before, last) = split(&value);
                let fields = browser::fields_of(&[("project", &project), ("q", last)]);
                let pages = browser::post::<Vec<String>>(SuggestPages::PATH, &fields).await.result;
                if edit.is_latest() {
                    show(before, &pages.unwrap_or_default());
                }
            });
        });
    });
}

/// The text before the last path, and that path.
fn split(value: &str) -> (&str, &str) {
    let at = value.rfind(',').map_or(0, |comma| comma + 1);
    let at = at + value[at..].len() - value[at..].trim_start().len();
    (&value[..at], value[at..].trim_end())
}

fn show(before: &str, pages: &[String]) {
    let values: Vec<String> = pages.iter().map(|page| [before, &in_field(page)].concat()).collect();
    morph::show(PAGES, || {
        values.into_iter().map(|value| view! { <option value=value></option> }).collect_view()
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn last_path_is_completed() {
        assert_eq!(split("/gui"), ("", "/gui"));
        assert_eq!(split("/a, /gui "), ("/a, ", "/gui"));
        assert_eq!(split("/a,"), ("/a,", ""));
        assert_eq!(split(""), ("", ""));
    }
}
