//! Suggests known pages in fields with paths: the last of the comma-separated paths is completed. Without JavaScript these are plain fields.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{Element, Event, HtmlInputElement};

use crate::ui::islands::{browser, morph};
use crate::ui::marks::KNOWN_PAGES;
use api::job_pages::SuggestPages;
use model::page_path::in_field;

/// How long typing has to pause, in milliseconds.
const PAUSE: u32 = 200;

pub(super) fn start(project: &str) {
    let (edits, project) = (browser::Edits::default(), project.to_owned());
    let suggest = move |field: Option<Element>| {
        let Some(field) = field.and_then(|field| field.dyn_into::<HtmlInputElement>().ok()) else { return };
        let project = project.clone();
        edits.after_pause(PAUSE, move |edit| spawn_local(complete(project, field, edit)));
    };
    let selector = ["input[list=", KNOWN_PAGES.name(), "]"].concat();
    // Somebody types already.
    let typing = document().active_element();
    suggest(typing.filter(|typing| typing.matches(&selector).unwrap_or(false)));
    browser::on_window("input", move |event: Event| suggest(browser::target(&event, &selector)));
}

/// Shows suggestions for the text of `field`, unless another edit followed.
async fn complete(project: String, field: HtmlInputElement, edit: browser::Edit) {
    let value = field.value();
    let (before, last) = split(&value);
    let fields = browser::fields_of(&[("project", &project), ("q", last)]);
    let pages = browser::post::<Vec<String>>(SuggestPages::PATH, &fields).await.result;
    if edit.is_latest() {
        show(before, &pages.unwrap_or_default());
    }
}

/// The text before the last path, and that path.
fn split(value: &str) -> (&str, &str) {
    let at = value.rfind(',').map_or(0, |comma| comma + 1);
    let at = at + value[at..].len() - value[at..].trim_start().len();
    (&value[..at], value[at..].trim_end())
}

fn show(before: &str, pages: &[String]) {
    let values: Vec<String> = pages.iter().map(|page| [before, &in_field(page)].concat()).collect();
    morph::show(KNOWN_PAGES.name(), || {
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
