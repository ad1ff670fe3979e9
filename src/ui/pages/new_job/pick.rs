//! The templates beside the form: choosing one, naming what stands in its places, and filling the prompt with it. Without
//! JavaScript these are links and a form of the GET method; with it, nothing that was typed is replaced unasked.

use std::collections::BTreeMap;

use leptos::ev::{MouseEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{FormData, HtmlFormElement};
use leptos_router::params::ParamsMap;

use crate::model::saved_template::SavedTemplate;
use crate::model::template::{filled, places};
use crate::ui::erase::{Erase, handler};
use crate::model::links;
use crate::ui::state::drafts::Draft;

/// The place that is about a page, as the address calls it.
const PAGE: &str = "page";

/// What was picked, and what is asked about it.
#[derive(Clone, Copy)]
pub(super) struct Pick {
    project: StoredValue<String>,
    /// The places' values in the address, and its page.
    given: StoredValue<ParamsMap>,
    draft: Draft,
    /// The id of the template whose places are shown.
    shown: RwSignal<String>,
    /// The project's templates, by id.
    names: StoredValue<BTreeMap<String, String>>,
    /// A text that would replace what somebody wrote, and the id of its template.
    waiting: RwSignal<Option<(String, String)>>,
    /// The last text that came from a template: that is nobody's work.
    last: StoredValue<String>,
}

impl Pick {
    pub(super) fn of(project: &str, query: &ParamsMap, draft: Draft) -> Self {
        Self {
            project: StoredValue::new(project.to_owned()),
            given: StoredValue::new(query.clone()),
            draft,
            shown: RwSignal::new(query.get("template").unwrap_or_default()),
            names: StoredValue::new(BTreeMap::new()),
            waiting: RwSignal::new(None),
            last: StoredValue::new(String::new()),
        }
    }

    /// The text of the template in the address, with the values in the address; nothing if there is none.
    pub(super) fn filled(self, templates: &[SavedTemplate]) -> Option<String> {
        let names = templates.iter().map(|template| (template.id.to_string(), template.name.clone()));
        self.names.set_value(names.collect());
        let asked = self.given.with_value(|given| given.get("template"))?;
        let template = templates.iter().find(|template| template.id.as_str() == asked)?;
        let values: Vec<_> =
            places(&template.text).into_iter().map(|place| (place, self.value(place))).collect();
        let values = values.iter().map(|(place, value)| (*place, value.as_str()));
        let text = filled(&template.text, &values.filter(|(_, value)| !value.is_empty()).collect());
        self.last.set_value(text.clone());
        Some(text)
    }

    /// The id of the template in the address; empty if there is none of that id.
    pub(super) fn asked(self) -> String {
        let asked = self.shown.get_untracked();
        if self.names.with_value(|names| names.contains_key(&asked)) { asked } else { String::new() }
    }

    /// In the form: which template the text came from, and how to say that it did not.
    pub(super) fn field(self) -> AnyView {
        let plain = links::new_job(&self.project.get_value(), "", "");
        let shown = move || {
            let id = self.draft.template().get();
            let name = self.names.with_value(|names| names.get(&id).cloned())?;
            let forget = handler(move |event: MouseEvent| {
                event.prevent_default();
                self.draft.template().set(String::new());
                self.draft.keep();
            });
            Some(
                view! {
                    <p class="hint">
                        <input type="hidden" name="template_id" value=id />
                        "From the template “" <bdi>{name}</bdi> "” · "
                        <a href=plain.clone() on:click=forget>"not any more"</a>
                    </p>
                }
                .into_any(),
            )
        };
        view! { {move || shown().into_any()} }.into_any()
    }

    /// Beside the form: every template, with the places of the chosen one.
    pub(super) fn panel(self, templates: Vec<SavedTemplate>) -> AnyView {
        let all = links::templates(&self.project.get_value());
        if templates.is_empty() {
            return view! {
                <h2>"Templates"</h2>
                <p>"Save a text that you need again as a " <a href=all>"template"</a> "."</p>
            }
            .into_any();
        }
        let entries = templates.into_iter().map(|template| self.entry(template)).collect_view();
        view! {
            <h2>"Templates"</h2>
            <ul class="picks">{entries}</ul>
            {move || self.question()}
        }
        .into_any()
    }

    fn entry(self, template: SavedTemplate) -> AnyView {
        let id = template.id.to_string();
        let path = self.given.with_value(|given| given.get("path")).unwrap_or_default();
        let href = links::new_job_by(&self.project.get_value(), &id, &path);
        let name = template.name.clone();
        let is_shown = {
            let id = id.clone();
            Memo::new(move |_| *self.shown.read() == id)
        };
        let template = StoredValue::new(template);
        let choose = handler(move |event: MouseEvent| {
            event.prevent_default();
            self.waiting.set(None);
            let template = template.get_value();
            if places(&template.text).is_empty() {
                self.bring(template.text.clone(), template.id.to_string());
            }
            self.shown.set(template.id.to_string());
        });
        let form = move || if is_shown.get() { self.places(&template.get_value()) } else { ().into_any() };
        view! {
            <li>
                <a href=href rel="external" dir="auto" aria-current=move || is_shown.get().then_some("true") on:click=choose>{name}</a>
                {move || form()}
            </li>
        }
        .into_any()
    }

    /// A field for each place.
    fn places(self, template: &SavedTemplate) -> AnyView {
        let names: Vec<String> = places(&template.text).into_iter().map(str::to_owned).collect();
        if names.is_empty() {
            return ().into_any();
        }
        let project = self.project.get_value();
        let path = self.given.with_value(|given| given.get("path")).unwrap_or_default();
        let keeps_path = !path.is_empty() && !names.iter().any(|name| name == "path");
        let path = keeps_path.then(|| view! { <input type="hidden" name="path" value=path /> }.into_any());
        let fields = names.iter().map(|name| self.place(name)).collect_view();
        let id = template.id.to_string();
        let template = StoredValue::new(template.clone());
        let fill = handler(move |event: SubmitEvent| {
            let Some(values) = values_of(&event, &names) else { return };
            event.prevent_default();
            let values = values.iter().map(|(name, value)| (name.as_str(), value.as_str()));
            let template = template.get_value();
            self.bring(filled(&template.text, &values.collect()), template.id.to_string());
        });
        view! {
            <form class="stack" method="get" action=links::new_job(&project, "", "") on:submit=fill>
                <input type="hidden" name="template" value=id />
                {path}
                {fields}
                <button type="submit" class="button">"Fill in the prompt"</button>
            </form>
        }
        .into_any()
    }

    fn place(self, name: &str) -> AnyView {
        let id = format!("place-{name}");
        view! {
            <label class="field-label" for=id.clone()>{name.to_owned()}</label>
            <input id=id class="field" name=name.to_owned() value=self.value(name) dir="auto" autocomplete="off" />
        }
        .into_any()
    }

    /// What the address says of a place. The page it is about is the one the job is about.
    fn value(self, place: &str) -> String {
        self.given.with_value(|given| {
            let page = || given.get("path").filter(|_| place == PAGE);
            given.get(place).filter(|value| !value.is_empty()).or_else(page).unwrap_or_default()
        })
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

    fn question(self) -> AnyView {
        let Some((text, template)) = self.waiting.get() else { return ().into_any() };
        let replace = handler(move |_: MouseEvent| self.put(text.clone(), template.clone()));
        let keep = handler(move |_: MouseEvent| self.waiting.set(None));
        view! {
            <div class="notice notice-warn" role="alert">
                <div>
                    <p>"This replaces what you wrote."</p>
                    <div class="choices">
                        <button type="button" class="button" on:click=replace>"Replace it"</button>
                        <button type="button" class="button" on:click=keep>"Keep my text"</button>
                    </div>
                </div>
            </div>
        }
        .into_any()
    }
}

/// What was typed into the places; those left empty are left out.
fn values_of(event: &SubmitEvent, names: &[String]) -> Option<BTreeMap<String, String>> {
    let form = event.target()?.dyn_into::<HtmlFormElement>().ok()?;
    let fields = FormData::new_with_form(&form).ok()?;
    let value = |name: &String| Some((name.clone(), fields.get(name).as_string()?));
    Some(names.iter().filter_map(value).filter(|(_, value)| !value.is_empty()).collect())
}
