//! The templates beside the form: choosing one, filling in its placeholders, and putting the text into the prompt. Without JavaScript
//! these are links and a form of the GET method; with it, nothing that was typed is replaced unasked.

use std::collections::BTreeMap;

use leptos::ev::{MouseEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlFormElement;
use serde::{Deserialize, Serialize};

use crate::model::links;
use crate::model::template::{filled, placeholders};
use crate::ui::islands::browser;
use crate::ui::islands::drafts::Draft;

/// The placeholder that is about a page, as the address calls it.
const PAGE: &str = "page";

/// The page that the job is about, in the address.
const PATH: &str = "path";

/// A template as it is offered.
#[derive(Clone, Serialize, Deserialize)]
pub struct Pickable {
    pub id: String,
    pub name: String,
    pub text: String,
}

/// What is offered, and what the address says of it.
#[derive(Clone, Default, Serialize, Deserialize)]
pub struct PickStart {
    pub templates: Vec<Pickable>,
    /// The id of the template in the address.
    pub asked: String,
    /// The values of the placeholders in the address, and its page.
    pub given: Vec<(String, String)>,
}

impl PickStart {
    /// The text of the template in the address, with the values in the address; nothing if there is none.
    pub fn filled(&self) -> Option<String> {
        let template = self.template(&self.asked)?;
        let values: Vec<_> =
            placeholders(&template.text).into_iter().map(|place| (place, self.value(place))).collect();
        Some(filled(&template.text, &values.into_iter().filter(|(_, value)| !value.is_empty()).collect()))
    }

    fn template(&self, id: &str) -> Option<&Pickable> {
        self.templates.iter().find(|template| template.id == id)
    }

    /// What the address says of a placeholder. The page it is about is the one the job is about.
    fn value(&self, place: &str) -> &str {
        match (self.given(place), place) {
            ("", PAGE) => self.given(PATH),
            (value, _) => value,
        }
    }

    fn given(&self, name: &str) -> &str {
        self.given.iter().find(|(given, _)| given == name).map_or("", |(_, value)| value)
    }
}

/// What was picked, and what is asked about it.
#[derive(Clone, Copy)]
pub(super) struct Pick {
    project: StoredValue<String>,
    start: StoredValue<PickStart>,
    draft: Draft,
    /// The id of the template whose placeholders are shown.
    shown: RwSignal<String>,
    /// A text that would replace what somebody wrote, and the id of its template.
    waiting: RwSignal<Option<(String, String)>>,
    /// The last text that came from a template: that is nobody's work.
    last: StoredValue<String>,
}

impl Pick {
    pub(super) fn of(project: &str, start: PickStart, draft: Draft) -> Self {
        Self {
            project: StoredValue::new(project.to_owned()),
            draft,
            shown: RwSignal::new(start.asked.clone()),
            waiting: RwSignal::new(None),
            last: StoredValue::new(start.filled().unwrap_or_default()),
            start: StoredValue::new(start),
        }
    }

    /// In the form: which template the text came from, and how to say that it did not.
    pub(super) fn field(self) -> AnyView {
        let plain = links::new_job(&self.project.get_value(), "", "");
        let forget = move |event: MouseEvent| {
            event.prevent_default();
            self.draft.template().set(String::new());
            self.draft.keep();
        };
        let shown = move || {
            let id = self.draft.template().get();
            let name =
                self.start.with_value(|start| start.template(&id).map(|template| template.name.clone()))?;
            Some(view! {
                <p class="hint">
                    <input type="hidden" name="template_id" value=id />
                    "Template: "
                    <bdi>{name}</bdi>
                    " · "
                    <a href=plain.clone() on:click=forget>"Remove"</a>
                </p>
            })
        };
        view! { {shown} }.into_any()
    }

    /// Beside the form: every template, with the placeholders of the chosen one.
    pub(super) fn panel(self) -> AnyView {
        let templates = self.start.with_value(|start| start.templates.clone());
        if templates.is_empty() {
            let all = links::templates(&self.project.get_value());
            return view! {
                <h2>"Templates"</h2>
                <p>"Save a text that you need again as a " <a href=all>"template"</a> "."</p>
            }
            .into_any();
        }
        let entries: Vec<_> = templates.into_iter().map(|template| self.entry(template)).collect();
        view! {
            <h2>"Templates"</h2>
            <ul class="picks">{entries}</ul>
            {move || self.question()}
        }
        .into_any()
    }

    fn entry(self, template: Pickable) -> AnyView {
        let path = self.start.with_value(|start| start.given(PATH).to_owned());
        let href = links::new_job_by(&self.project.get_value(), &template.id, &path);
        let name = template.name.clone();
        let template = StoredValue::new(template);
        let is_shown = move || template.with_value(|template| *self.shown.read() == template.id);
        let choose = move |event: MouseEvent| {
            event.prevent_default();
            self.waiting.set(None);
            let Pickable { id, text, .. } = template.get_value();
            if placeholders(&text).is_empty() {
                self.bring(text, id.clone());
            }
            self.shown.set(id);
        };
        let form = move || is_shown().then(|| self.places(template));
        view! {
            <li>
                <a href=href dir="auto" aria-current=move || is_shown().then_some("true") on:click=choose>{name}</a>
                {form}
            </li>
        }
        .into_any()
    }

    /// A field for each placeholder.
    fn places(self, template: StoredValue<Pickable>) -> AnyView {
        let names: Vec<String> = template
            .with_value(|template| placeholders(&template.text).into_iter().map(str::to_owned).collect());
        if names.is_empty() {
            return ().into_any();
        }
        let action = links::new_job(&self.project.get_value(), "", "");
        let path = self.start.with_value(|start| start.given(PATH).to_owned());
        let keeps_path = !path.is_empty() && !names.iter().any(|name| name == PATH);
        let path = keeps_path.then(|| view! { <input type="hidden" name=PATH value=path /> });
        let fields: Vec<_> = names.iter().map(|name| self.place(name)).collect();
        let fill = move |event: SubmitEvent| {
            let Some(form) = event.target().and_then(|target| target.dyn_into::<HtmlFormElement>().ok())
            else {
                return;
            };
            event.prevent_default();
            let values: Vec<_> =
                names.iter().map(|name| (name.as_str(), browser::value_of(&form, name))).collect();
            let given = values.iter().filter(|(_, value)| !value.is_empty());
            let given: BTreeMap<_, _> = given.map(|(name, value)| (*name, value.as_str())).collect();
            let (text, id) =
                template.with_value(|template| (filled(&template.text, &given), template.id.clone()));
            self.bring(text, id);
        };
        view! {
            <form class="stack" method="get" action=action on:submit=fill>
                <input type="hidden" name="template" value=template.with_value(|template| template.id.clone()) />
                {path}
                {fields}
                <button type="submit" class="button">"Fill in the prompt"</button>
            </form>
        }
        .into_any()
    }

    fn place(self, name: &str) -> AnyView {
        let id = ["place-", name].concat();
        let value = self.start.with_value(|start| start.value(name).to_owned());
        view! {
            <label class="field-label" for=id.clone()>{name.to_owned()}</label>
            <input id=id class="field" name=name.to_owned() value=value dir="auto" autocomplete="off" />
        }
        .into_any()
    }

    /// Puts a text into the prompt, or asks first where that would replace what somebody wrote.
    fn bring(self, text: String, template: String) {
        let written = self.draft.written().map(|(text, _)| text).unwrap_or_default();
        if written.trim().is_empty() || written == self.last.get_value() || written == text {
            self.put(text, template);
        } else {
            self.waiting.set(Some((text, template)));
        }
    }

    fn put(self, text: String, template: String) {
        self.waiting.set(None);
        self.draft.fill(&text, template);
        self.last.set_value(text);
    }

    fn question(self) -> Option<AnyView> {
        let (text, template) = self.waiting.get()?;
        let replace = move |_| self.put(text.clone(), template.clone());
        let question = view! {
            <div class="notice notice-warn" role="alert">
                <div>
                    <p>"This replaces what you wrote."</p>
                    <div class="choices">
                        <button type="button" class="button" on:click=replace>"Replace it"</button>
                        <button type="button" class="button" on:click=move |_| self.waiting.set(None)>"Keep my text"</button>
                    </div>
                </div>
            </div>
        };
        Some(question.into_any())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_address_fills_a_template() {
        let text = "Check {{page}} for {{audience}}".to_owned();
        let template = Pickable { id: "1".to_owned(), name: "Check".to_owned(), text };
        let given = vec![("path".to_owned(), "/a".to_owned()), ("audience".to_owned(), String::new())];
        let mut start = PickStart { templates: vec![template], asked: "1".to_owned(), given };
        assert_eq!(start.filled().as_deref(), Some("Check /a for {{audience}}"));
        start.asked = "2".to_owned();
        assert_eq!(start.filled(), None);
    }
}
