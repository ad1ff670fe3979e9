//! Shows which pages of the project the prompt mentions, when typing pauses.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;

use crate::ui::islands::browser;
use crate::ui::islands::prompt_form::PromptForm;
use crate::ui::marks::DETECTED;
use api::job_pages::MentionedPages;
use model::page_path::words_with_a_path;

pub(super) fn start(form: PromptForm) {
    let latest = StoredValue::new(String::new());
    browser::effect(move || {
        form.pauses.track();
        let now = form.text.with_untracked(|text| words_with_a_path(text));
        if latest.with_value(|latest| *latest != now) {
            latest.set_value(now.clone());
            spawn_local(detect(form.project(), latest, now));
        }
    });
}

/// Shows the pages of the project that the words `now` mention, unless these changed meanwhile.
async fn detect(project: String, latest: StoredValue<String>, now: String) {
    let fields = browser::fields_of(&[("project", &project), ("prompt", &now)]);
    let known = match now.as_str() {
        "" => Vec::new(),
        _ => browser::post(MentionedPages::PATH, &fields).await.result.unwrap_or_default(),
    };
    if latest.try_with_value(|latest| *latest == now) == Some(true)
        && let Some(element) = DETECTED.element()
    {
        browser::set_text(&element, &detected(&known));
    }
}

/// A sentence with the pages that the prompt mentions; empty without any.
pub fn detected(pages: &[String]) -> String {
    if pages.is_empty() { String::new() } else { ["Detected in prompt: ", &pages.join(", ")].concat() }
}
