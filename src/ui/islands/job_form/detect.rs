//! Shows which pages of the project the prompt mentions, and which of the field for pages are unknown, when typing pauses.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;

use crate::ui::islands::browser;
use crate::ui::islands::prompt_form::PromptForm;
use crate::ui::marks::{DETECTED, Id, UNKNOWN_PAGES};
use api::job_pages::{MentionedPages, UnknownPages};
use model::page_path::words_with_a_path;

/// Looks pages up and shows them in a sentence.
#[derive(Clone, Copy)]
pub(super) struct Lookup {
    form: PromptForm,
    path: &'static str,
    field: &'static str,
    place: Id,
    sentence: fn(&[String]) -> String,
    /// The text that was looked up last.
    latest: StoredValue<String>,
}

pub(super) fn start(form: PromptForm) {
    let lookup = Lookup {
        form,
        path: MentionedPages::PATH,
        field: "prompt",
        place: DETECTED,
        sentence: detected,
        latest: StoredValue::new(String::new()),
    };
    browser::effect(move || {
        form.pauses.track();
        lookup.of(form.text.with_untracked(|text| words_with_a_path(text)));
    });
}

impl Lookup {
    pub(super) fn of_unknown(form: PromptForm) -> Self {
        Self {
            form,
            path: UnknownPages::PATH,
            field: "paths",
            place: UNKNOWN_PAGES,
            sentence: unknown,
            latest: StoredValue::new(String::new()),
        }
    }

    /// Shows the pages of `now`, unless they were looked up last.
    pub(super) fn of(self, now: String) {
        if self.latest.with_value(|latest| *latest != now) {
            self.latest.set_value(now.clone());
            spawn_local(self.show(now));
        }
    }

    /// Shows the pages of `now`, unless that changed meanwhile.
    async fn show(self, now: String) {
        let fields = browser::fields_of(&[("project", &self.form.project()), (self.field, &now)]);
        let pages: Vec<String> = match now.as_str() {
            "" => Vec::new(),
            _ => browser::post(self.path, &fields).await.result.unwrap_or_default(),
        };
        if self.latest.try_with_value(|latest| *latest == now) == Some(true)
            && let Some(element) = self.place.element()
        {
            browser::set_text(&element, &(self.sentence)(&pages));
        }
    }
}

/// A sentence with the pages that the prompt mentions; empty without any.
pub fn detected(pages: &[String]) -> String {
    if pages.is_empty() { String::new() } else { ["Detected in prompt: ", &pages.join(", ")].concat() }
}

/// A sentence with pages that are in no list of known pages; empty without any.
pub fn unknown(pages: &[String]) -> String {
    if pages.is_empty() {
        return String::new();
    }
    ["Not in the list of known pages: ", &pages.join(", "), ". Check the path, unless the page is new."]
        .concat()
}
