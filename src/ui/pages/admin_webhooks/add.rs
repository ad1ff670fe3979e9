//! The form that adds a webhook.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::{of_person, submit_button};
use crate::ui::pages::outcome::outcome;
use api::webhooks::AddWebhook;
use model::flash::FlashMessage;
use model::user::Project;
use model::webhook::CHOICES;

/// The formats, with their posted values and labels.
const FORMATS: [(&str, &str); 2] =
    [("json", "JSON, signed with HMAC-SHA-256"), ("slack", "A message for Slack or a compatible service")];

/// The choice of events, as checkboxes; `is_chosen` of a type.
pub(super) fn events_fields(is_chosen: impl Fn(&str) -> bool) -> AnyView {
    let choices = CHOICES.map(|(event, name)| {
        view! {
            <label class="choice">
                <input type="checkbox" name="events" value=event checked=is_chosen(event) autocomplete="off" />
                {name}
                " "
                <code class="faint">{event}</code>
            </label>
        }
    });
    view! {
        <fieldset>
            <legend class="field-label">"Events"</legend>
            <p class="hint">"Without a choice, all of them and those of later versions."</p>
            {choices.into_iter().collect_view()}
        </fieldset>
    }
    .into_any()
}

/// `refused`: the error of the last attempt, with its fields.
pub(super) fn form(projects: Vec<Project>, refused: Option<&FlashMessage>) -> AnyView {
    let typed = |name: &str| refused.map(|refused| refused.typed(name).to_owned()).unwrap_or_default();
    let (chosen, format) = (typed("project"), typed("kind"));
    let events = refused.map(|refused| refused.list_typed("events")).unwrap_or_default();
    let projects = projects.into_iter().map(|project| {
        let is_chosen = project.id.as_str() == chosen;
        view! { <option value=project.id.to_string() selected=is_chosen>{project.name}</option> }
    });
    let formats =
        FORMATS.map(|(value, name)| view! { <option value=value selected=value == format>{name}</option> });
    view! {
        <section class="group narrow">
            <h2>"Add a webhook"</h2>
            {refused.and_then(outcome)}
            <form class="stack" method="post" action=AddWebhook::PATH>
                {of_person()}
                <label class="field-label" for="project">"Project"</label>
                <select id="project" class="field" name="project">{projects.collect_view()}</select>
                <label class="field-label" for="kind">"Format"</label>
                <select id="kind" class="field" name="kind">{formats.into_iter().collect_view()}</select>
                <label class="field-label" for="address">"Address"</label>
                <input
                    id="address"
                    class="field"
                    type="url"
                    name="address"
                    value=typed("address")
                    placeholder="https://hooks.example.com/docket"
                    required
                    autocomplete="off"
                    spellcheck="false"
                    aria-describedby="address-hint"
                />
                <p class="hint" id="address-hint">
                    "Docket sends each job that ends, is cancelled or needs attention, and each follow-up that is cancelled or not accepted: its title, author, state and links."
                </p>
                <details open=!events.is_empty()>
                    <summary>"Choose events"</summary>
                    {events_fields(|event| events.contains(&event))}
                </details>
                {submit_button("Add webhook")}
            </form>
        </section>
    }
    .into_any()
}
