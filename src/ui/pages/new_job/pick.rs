//! The templates beside the form for a new job: links that choose one, and above the form a GET form for its placeholders. Each
//! leads to this page with the text in the form. The island `job_form` does the same in place.

use std::collections::BTreeSet;
use std::iter;

use leptos::prelude::*;

use crate::ui::islands::job_form::VALUE_PREFIX;
use crate::ui::marks::{
    FILL, FILLING, KNOWN_PAGES, PICK_PREFIX, PICKS, REMOVE_TEMPLATE, TEMPLATE, TEMPLATE_CONFIRMATION,
    TEMPLATE_FIELD, TEMPLATE_NAME, TEMPLATE_TEXT,
};
use model::batch::PAGE;
use model::links;
use model::saved_template::{RESERVED_PLACEHOLDERS, TemplateText};
use model::template::{Parsed, filled, placeholders};

/// The name of the job's page in the URL.
const PATH: &str = "path";

/// A template with more placeholders has no form. They are replaced in the prompt.
const FIELDS_MAX: usize = 100;

/// The templates, and the parameters of the URL.
pub(super) struct Pick {
    project: String,
    templates: Vec<TemplateText>,
    /// The id of the template in the URL.
    pub(super) template_id: String,
    /// The values of placeholders in the URL, and the page.
    given: Vec<(String, String)>,
}

impl Pick {
    /// `given`: the parameters of the URL; unknown ones are dropped.
    pub(super) fn of(
        project: String,
        templates: Vec<TemplateText>,
        template_id: String,
        given: impl Iterator<Item = (String, String)>,
    ) -> Self {
        let names: BTreeSet<&str> = templates.iter().flat_map(|it| placeholders(&it.text)).collect();
        let is_used =
            |name: &str| name == PATH || names.contains(name.strip_prefix(VALUE_PREFIX).unwrap_or(name));
        let given = given
            .filter(|(name, _)| is_used(name) && !RESERVED_PLACEHOLDERS.contains(&name.as_str()))
            .collect();
        Self { project, templates, template_id, given }
    }

    /// The text of the chosen template, filled with the values in the URL. Unfilled if the result would be longer than a
    /// prompt's `most` characters. `None` without a template.
    pub(super) fn filled(&self, most: u32) -> Option<String> {
        let template = self.template(&self.template_id)?;
        let values: Vec<_> =
            placeholders(&template.text).into_iter().map(|name| (name, self.value(name))).collect();
        let values = values.into_iter().filter(|(_, value)| !value.is_empty()).collect();
        Some(filled(&template.text, &values, most as usize).unwrap_or_else(|| template.text.clone()))
    }

    /// The template and the values in the URL, by name. A value has the same name with and without the prefix, unless it is not that of the job's page.
    pub(super) fn parts(&self) -> impl Iterator<Item = (&str, &str)> {
        let given = self.given.iter().map(|(given, value)| (key_name(given), value.as_str()));
        iter::once(("template", self.template_id.as_str())).chain(given)
    }

    /// The name of the template with this id.
    pub(super) fn name_of(&self, id: &str) -> Option<String> {
        self.template(id).map(|template| template.name.clone())
    }

    fn template(&self, id: &str) -> Option<&TemplateText> {
        self.templates.iter().find(|template| template.id.as_str() == id)
    }

    /// The value of a placeholder: of its field, or of a link with its plain name. `{{page}}` defaults to the job's page.
    fn value(&self, placeholder: &str) -> &str {
        let of_field = self.find(&[VALUE_PREFIX, placeholder].concat());
        match (of_field.unwrap_or_else(|| self.given(placeholder)), placeholder) {
            ("", PAGE) => self.given(PATH),
            (value, _) => value,
        }
    }

    /// The page in the field for `{{page}}` of the chosen template; empty without one.
    pub(super) fn page(&self) -> &str {
        let has_page =
            self.template(&self.template_id).is_some_and(|it| placeholders(&it.text).contains(&PAGE));
        Some(self.value(PAGE)).filter(|page| has_page && page.starts_with('/')).unwrap_or_default()
    }

    fn given(&self, name: &str) -> &str {
        self.find(name).unwrap_or_default()
    }

    fn find(&self, name: &str) -> Option<&str> {
        self.given.iter().find(|(given, _)| given == name).map(|(_, value)| value.as_str())
    }

    /// In the form: the name of the text's template, and a link to remove it.
    pub(super) fn field(&self, template: &str) -> AnyView {
        let name = self.name_of(template);
        let (is_none, id) = (name.is_none(), template.to_owned());
        view! {
            <p id=TEMPLATE.name() class="hint" hidden=is_none>
                <input id=TEMPLATE_FIELD.name() type="hidden" name="template_id" value=id disabled=is_none autocomplete="off" />
                "Template: "
                <bdi id=TEMPLATE_NAME.name()>{name.unwrap_or_default()}</bdi>
                " · "
                <a id=REMOVE_TEMPLATE.name() href=links::new_job(&self.project, "", "")>"Remove"</a>
            </p>
        }
        .into_any()
    }

    /// Beside the form: every template, with the placeholders of the chosen one.
    pub(super) fn panel(&self) -> AnyView {
        if self.templates.is_empty() {
            let all = links::templates(&self.project);
            return view! {
                <h2>"Templates"</h2>
                <p>"Save a text that you need again as a " <a href=all>"template"</a> "."</p>
            }
            .into_any();
        }
        let entries = self.templates.iter().map(|template| self.entry(template)).collect_view();
        view! {
            <h2>"Templates"</h2>
            <div id=PICKS.name()>
                <ul class="picks">{entries}</ul>
            </div>
        }
        .into_any()
    }

    fn entry(&self, template: &TemplateText) -> AnyView {
        let id = template.id.to_string();
        let href = links::new_job_by(&self.project, &id, self.given(PATH));
        let is_chosen = id == self.template_id;
        let id = [PICK_PREFIX, &id].concat();
        view! {
            <li>
                <a id=id href=href dir="auto" aria-current=is_chosen.then_some("true")>{template.name.clone()}</a>
            </li>
        }
        .into_any()
    }

    /// Whether the chosen template has placeholders.
    pub(super) fn has_placeholders(&self) -> bool {
        self.template(&self.template_id).is_some_and(|template| !placeholders(&template.text).is_empty())
    }

    /// Above the form: the placeholders of the chosen template, and where the browser asks what to do with a prompt that has other text.
    pub(super) fn fill(&self) -> AnyView {
        let template = self.template(&self.template_id);
        let form = template.and_then(|template| self.placeholder_form(template));
        view! {
            <div {..TEMPLATE_TEXT.is(template.map(|template| template.text.clone()))} id=FILLING.name()>{form}</div>
            <div id=TEMPLATE_CONFIRMATION.name() class="contents"></div>
        }
        .into_any()
    }

    /// A field for each placeholder, unless they are too many for a form. The prompt below is the preview.
    fn placeholder_form(&self, template: &TemplateText) -> Option<AnyView> {
        let Parsed { names, defaults, .. } = Parsed::of(&template.text);
        if names.is_empty() || names.len() > FIELDS_MAX {
            return None;
        }
        let path = self.given(PATH).to_owned();
        let path = (!path.is_empty()).then(|| view! { <input type="hidden" name=PATH value=path /> });
        let fields = names.into_iter().zip(defaults).enumerate().map(|(at, (name, default))| {
            let id = format!("placeholder-{name}");
            let value =
                Some(self.value(name)).filter(|value| !value.is_empty()).unwrap_or(default).to_owned();
            // An empty field uses the default.
            let default = Some(default.to_owned()).filter(|default| !default.is_empty());
            view! {
                <div>
                    <label class="field-label" for=id.clone()>{name.to_owned()}</label>
                    <input
                        id=id
                        class="field"
                        name=[VALUE_PREFIX, name].concat()
                        list={(name == PAGE).then_some(KNOWN_PAGES.name())}
                        value=value
                        placeholder=default
                        dir="auto"
                        autofocus={at == 0}
                        autocomplete="off"
                    />
                </div>
            }
        });
        Some(
            view! {
                <form
                    id=FILL.name()
                    class="pick-fill"
                    method="get"
                    action=links::new_job(&self.project, "", "")
                    aria-labelledby="fill-heading"
                >
                    <h2 id="fill-heading">"Fill in " <bdi>{template.name.clone()}</bdi></h2>
                    <input type="hidden" name="template" value=template.id.to_string() />
                    {path}
                    <div class="fill-fields">{fields.collect_view()}</div>
                    <div class="send">
                        <button type="submit" class="button">"Fill in the prompt"</button>
                        <span class="hint js-only">"The prompt below changes as you type."</span>
                    </div>
                </form>
            }
            .into_any(),
        )
    }
}

/// The name of a value in the key of the form.
fn key_name(given: &str) -> &str {
    given.strip_prefix(VALUE_PREFIX).filter(|name| *name != PATH).unwrap_or(given)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn url_parameters_fill_a_template() {
        let template = TemplateText {
            id: "01920000-0000-7000-8000-000000000000".parse().unwrap_or_else(|error| panic!("{error}")),
            name: "Check".to_owned(),
            text: "Check {{page}} for {{audience}} in {{version=3.2}}".to_owned(),
        };
        let template_id = template.id.to_string();
        let given = [("path", "/a"), ("audience", ""), ("unknown", "x")];
        let given = given.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let mut pick = Pick::of("docs".to_owned(), vec![template], template_id.clone(), given.into_iter());
        assert_eq!(pick.filled(99).as_deref(), Some("Check /a for {{audience}} in 3.2"));
        assert_eq!(pick.given("unknown"), "", "the form has no use for it");
        pick.template_id = "2".to_owned();
        assert_eq!(pick.filled(99), None);
        pick.template_id = template_id;
        assert_eq!(pick.filled(9).as_deref(), Some("Check {{page}} for {{audience}} in {{version=3.2}}"));
    }
}
