//! The fields for the role and the projects of a person, for an invitation and for the page of a person.

use leptos::prelude::*;

use model::people::Person;
use model::user::{Project, Role};

const ROLES: [(Role, &str); 3] = [
    (Role::Viewer, "Viewer (read-only)"),
    (Role::Operator, "Operator (also starts jobs)"),
    (Role::Admin, "Administrator (also manages people and settings)"),
];

/// The values of the fields for a person's access.
pub(super) struct Choice<'a> {
    pub(super) role: &'a str,
    /// `all` or `selected`.
    pub(super) access: &'a str,
    /// The ids of the selected projects.
    pub(super) chosen: Vec<&'a str>,
}

/// The role and the projects of a person. `of` makes the ids of one form unique; `unknown` are selected projects that are not configured.
pub(super) fn access_fields(
    of: &str,
    choice: &Choice<'_>,
    projects: &[Project],
    unknown: &[&str],
    has_groups: bool,
) -> AnyView {
    let Choice { role, access, ref chosen } = *choice;
    let (legend, hint) = match has_groups {
        false => ("Project access", "Administrators always see all projects."),
        true => (
            "Project access besides their groups",
            "Their groups decide at each sign-in; what you select here is added. Administrators always see all projects.",
        ),
    };
    let id = format!("role-{of}");
    let options = ROLES.map(|(each, meaning)| {
        view! { <option value=each.as_str() selected=each.as_str() == role>{meaning}</option> }
    });
    let known = projects.iter().map(|project| (project.id.to_string(), project.name.clone()));
    let unknown = unknown.iter().map(|id| ((*id).to_owned(), not_configured(id)));
    let words = ProjectWords { legend, all: "All projects", hint: Some(hint) };
    view! {
        <label class="field-label" for=id.clone()>"Role"</label>
        <select id=id class="field" name="role">{options.into_iter().collect_view()}</select>
        {project_fields(words, access, chosen, known.chain(unknown))}
    }
    .into_any()
}

/// The words around a choice of projects.
pub(super) struct ProjectWords {
    pub(super) legend: &'static str,
    /// The label of the choice of all projects.
    pub(super) all: &'static str,
    pub(super) hint: Option<&'static str>,
}

/// The choice of all projects (`access` is `all`), or of the `chosen` ones of `projects`, each with its id and its label.
pub(super) fn project_fields(
    words: ProjectWords,
    access: &str,
    chosen: &[&str],
    projects: impl Iterator<Item = (String, String)>,
) -> AnyView {
    let radio = |value: &'static str, label: &'static str| {
        view! {
            <label class="choice">
                <input type="radio" name="access" value=value checked={value == access} required />
                " "
                {label}
            </label>
        }
    };
    let boxes = projects.map(|(value, label)| {
        let checked = chosen.contains(&value.as_str());
        view! {
            <label class="choice">
                <input type="checkbox" name="projects" value=value checked=checked />
                " "
                {label}
            </label>
        }
    });
    view! {
        <fieldset>
            <legend class="field-label">{words.legend}</legend>
            {radio("all", words.all)}
            {radio("selected", "Selected projects")}
            <div class="selection">{boxes.collect_view()}</div>
            {words.hint.map(|hint| view! { <p class="hint">{hint}</p> })}
        </fieldset>
    }
    .into_any()
}

/// The ids of projects that an administrator assigned and that are not configured.
pub(super) fn unknown<'a>(person: &'a Person, projects: &'a [Project]) -> impl Iterator<Item = &'a str> {
    let given = person.projects.iter().flatten().map(String::as_str);
    given.filter(|id| projects.iter().all(|project| project.id.as_str() != *id))
}

pub(super) fn not_configured(id: &str) -> String {
    format!("{id} (not configured)")
}
