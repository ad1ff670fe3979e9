//! `/docs/api`: the reference of the JSON API, with the reader's server and project in its examples.

use leptos::prelude::*;

use crate::ui::components::icon::{self, icon};
use crate::ui::pages::copy_button::{Copied, copy_button};
use crate::ui::pages::frame::LastProject;
use crate::ui::pages::markdown::{Origin, markdown};
use crate::ui::pages::page_head::page_head;
use model::api_reference::{Endpoint, Group, Object, Reference};
use model::links;

/// The reference, and the URL of this server. The router provides it for this page.
#[derive(Clone)]
pub struct ApiReferenceText {
    pub reference: &'static Reference,
    pub origin: String,
}

/// The ids of the sections that are not about endpoints.
const OBJECTS: &str = "objects";
const ERRORS: &str = "errors";

#[component]
pub fn ApiReference() -> impl IntoView {
    let introduction = view! {
        <span>
            "For scripts, with an "
            <a href=links::TOKENS>"API token"</a>
            ". The same as "
            <a href=links::OPENAPI rel="external">"OpenAPI 3.1"</a>
            "."
        </span>
    };
    let project = use_context::<LastProject>().map(|LastProject(project)| project).unwrap_or_default();
    let text = use_context::<ApiReferenceText>().map(|ApiReferenceText { reference, origin }| {
        let groups = reference.groups.iter().map(|group| endpoints(group, &origin, &project));
        view! {
            {contents(reference)}
            <article class="markdown">
                {markdown(&reference.introduction, Origin::Docket)}
                <p>
                    "The examples use variables: "
                    <code>"DOCKET_TOKEN"</code>
                    " is a token, "
                    <code>"KEY"</code>
                    " a new text for each request, and "
                    <code>"JOB"</code>
                    " and "
                    <code>"BATCH"</code>
                    " are ids. "
                    <a href=format!("#{ERRORS}")>"Errors"</a>
                    " are the same for all endpoints."
                </p>
                {groups.collect_view()}
                {heading(OBJECTS, "Objects")}
                {reference.objects.iter().map(object).collect_view()}
                {heading(ERRORS, "Errors")}
                {markdown(&reference.errors, Origin::Docket)}
            </article>
        }
    });
    view! {
        {page_head("JSON API", introduction, ())}
        <div class="reference">{text}</div>
    }
}

fn contents(reference: &Reference) -> impl IntoView + use<> {
    let groups = reference.groups.iter().map(|group| {
        let endpoints = group.endpoints.iter().map(|endpoint| {
            let path = endpoint.path.trim_start_matches("/api/v1").replace("/projects/{project}/", "/");
            let href = format!("#{}", id_of(endpoint));
            view! { <li><a href=href><small>{endpoint.method.clone()}</small>" "{path}</a></li> }
        });
        view! {
            <li>
                <a href=format!("#{}", slug(&group.name))>{group.name.clone()}</a>
                <ul>{endpoints.collect_view()}</ul>
            </li>
        }
    });
    view! {
        <nav aria-label="Contents">
            <ul>
                {groups.collect_view()}
                <li><a href=format!("#{OBJECTS}")>"Objects"</a></li>
                <li><a href=format!("#{ERRORS}")>"Errors"</a></li>
            </ul>
        </nav>
    }
}

fn endpoints(group: &Group, origin: &str, project: &str) -> impl IntoView + use<> {
    let endpoints = group.endpoints.iter().map(|endpoint| {
        let id = id_of(endpoint);
        let response =
            endpoint.response.as_ref().map(|json| code("Response", json.replace("{project}", project)));
        view! {
            <h3 id=id.clone()>
                <a href=format!("#{id}")>{endpoint.method.clone()}" "<code>{endpoint.path.clone()}</code></a>
            </h3>
            {markdown(&endpoint.text, Origin::Docket)}
            {code("Request", endpoint.command(origin, project))}
            {response}
        }
    });
    view! {
        {heading(&slug(&group.name), &group.name)}
        {endpoints.collect_view()}
    }
}

fn object(object: &Object) -> impl IntoView + use<> {
    view! {
        <h3 id=object.name.clone()><a href=format!("#{}", object.name)>{object.name.clone()}</a></h3>
        {markdown(&object.text, Origin::Docket)}
    }
}

/// A heading that is a link to itself.
fn heading(id: &str, name: &str) -> impl IntoView + use<> {
    view! { <h2 id=id.to_owned()><a href=format!("#{id}")>{name.to_owned()}</a></h2> }
}

/// Text to copy.
fn code(name: &'static str, text: String) -> impl IntoView + use<> {
    let label = view! { {icon(icon::COPY)}<span class="visually-hidden">"Copy "{name.to_lowercase()}</span> };
    view! {
        <figure>
            <figcaption class="with-icon">{name}{copy_button("quiet", Copied::Text(text.clone()), "Copied", label)}</figcaption>
            <pre tabindex="0"><code>{text}</code></pre>
        </figure>
    }
}

fn id_of(endpoint: &Endpoint) -> String {
    slug(&format!("{} {}", endpoint.method, endpoint.path.trim_start_matches("/api/v1/")))
}

/// `get-projects-project-jobs`.
fn slug(name: &str) -> String {
    let words = name.split(|letter: char| !letter.is_ascii_alphanumeric()).filter(|word| !word.is_empty());
    words.collect::<Vec<_>>().join("-").to_lowercase()
}
