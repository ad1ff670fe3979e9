//! The command palette: pages, actions and projects, with their keys. Templates and jobs come from the server when it is open.

use leptos::prelude::*;

use crate::model::links;
use crate::model::user::{CurrentSession, Role};
use crate::ui::components::palette::{keys, option};
use crate::ui::islands::{buttons, palette};
use crate::ui::pages::request;

/// Name, URL and keys of a page.
type Entry = (&'static str, String, &'static str);

/// `project` is empty if there is none.
pub(super) fn dialog(project: &str, session: &CurrentSession) -> AnyView {
    let mut actions: Vec<Entry> = Vec::new();
    let mut pages: Vec<Entry> = Vec::new();
    if !project.is_empty() {
        if session.can_start_jobs() {
            actions.push(("New job", links::new_job(project, "", ""), "c"));
            actions.push(("New batch", links::new_batch(project, ""), ""));
            actions.push(("Import a job", links::import_job(project), ""));
            actions.push(("New template", links::edit_template(project, None), ""));
        }
        pages.push(("Overview", links::overview(project), "g o"));
        pages.push(("Jobs", links::jobs(project), "g j"));
        pages.push(("Analytics", links::analytics(project), "g a"));
        pages.push(("Templates", links::templates(project), "g t"));
        pages.push(("Batches", links::batches(project), ""));
        pages.push(("Queue", links::queue(project), ""));
        pages.push(("Notifications", links::notifications(project, false), ""));
    }
    pages.push(("Help", links::HELP.to_owned(), ""));
    pages.push(("Account", links::ACCOUNT.to_owned(), ""));
    if session.role == Role::Admin {
        for (name, href) in [
            ("People", links::USERS),
            ("Platform", links::UPSTREAM),
            ("Webhooks", links::WEBHOOKS),
            ("Audit log", links::AUDIT),
        ] {
            pages.push((name, href.to_owned(), ""));
        }
    }
    let here = request::path();
    let others = session.projects.iter().filter(|other| other.id.as_str() != project).enumerate().map(
        |(at, other)| {
            let href = links::section(other.id.as_str(), &here);
            option(format!("palette-project-{at}"), href, other.name.clone(), "Project".to_owned(), None, "")
        },
    );
    let others: Vec<_> = others.collect();
    view! {
        <dialog id=palette::DIALOG class="dialog palette" aria-label="Command palette" closedby="any">
            <input
                id=palette::FIELD
                class="field"
                type="text"
                role="combobox"
                aria-label="Command or destination"
                aria-expanded="true"
                aria-controls=palette::OPTIONS
                aria-autocomplete="list"
                placeholder="Search pages, jobs, templates and actions"
                maxlength="200"
                autocomplete="off"
                autocapitalize="none"
                spellcheck="false"
            />
            <div id=palette::OPTIONS class="palette-options" role="listbox" aria-label="Results">
                {group("Commands", "action", actions, buttons_of_page())}
                {group("Places", "page", pages, ())}
                <div id=palette::FOUND class="contents" role="presentation"></div>
                {(!others.is_empty()).then(|| labelled("Elsewhere", others))}
            </div>
            <p id=palette::COUNT class="palette-none" role="status"></p>
            <p class="palette-keys faint" aria-hidden="true">
                {keys("↑ ↓")} " Choose " {keys("Enter")} " Open " {keys("Esc")} " Close"
            </p>
        </dialog>
    }
    .into_any()
}

fn group(name: &'static str, kind: &'static str, entries: Vec<Entry>, more: impl IntoView) -> AnyView {
    let options = entries.into_iter().enumerate().map(|(at, (name, href, keys))| {
        option(format!("palette-{kind}-{at}"), href, name.to_owned(), String::new(), None, keys)
    });
    labelled(name, view! { {options.collect_view()} {more.into_view()} })
}

fn labelled(name: &'static str, options: impl IntoView) -> AnyView {
    view! {
        <div role="group" aria-label=name>
            <p class="palette-group" aria-hidden="true">{name}</p>
            {options.into_view()}
        </div>
    }
    .into_any()
}

fn buttons_of_page() -> impl IntoView {
    let button = |id: &'static str, what: &'static str, name: &'static str, shortcut: &'static str| {
        view! {
            <button id=id type="button" class="palette-option" role="option" tabindex="-1" aria-selected="false" data-button=what>
                <span class="palette-name">{name}</span>
                <span></span>
                {keys(shortcut)}
            </button>
        }
    };
    view! {
        {button("palette-theme", buttons::THEME, "Switch between light and dark", "Period")}
        {button("palette-help", buttons::HELP, "Keyboard shortcuts", "?")}
    }
}
