//! The content of the command palette: its field, and pages, actions and projects with their keys. Only browsers render it, when it is
//! opened the first time: without scripts nobody can open it, and it would be a tenth of each page. Ids are literal here, so that elements
//! without variables are one string in the module that browsers download.

use leptos::prelude::*;

use crate::ui::components::palette::{group, option};
use crate::ui::islands::browser;
use model::links;

/// The links to the same section of the other projects, in the navigation.
const OTHER_PROJECTS: &str = "#projects a:not([aria-current])";

/// What decides which pages and actions there are.
#[derive(Clone)]
pub struct Reach {
    /// Empty if there is none.
    pub project: String,
    pub may_start: bool,
    pub is_admin: bool,
}

/// Name, kind, URL and keys of an option.
type Entry = (String, &'static str, String, &'static str);

impl Reach {
    fn actions(&self) -> Vec<Entry> {
        let project = self.project.as_str();
        if project.is_empty() || !self.may_start {
            return Vec::new();
        }
        vec![
            entry("New job", links::new_job(project, "", ""), "c"),
            entry("New batch", links::new_batch(project, ""), ""),
            entry("Import a job", links::import_job(project), ""),
            entry("New template", links::edit_template(project, None), ""),
        ]
    }

    fn pages(&self) -> Vec<Entry> {
        let project = self.project.as_str();
        let mut pages = Vec::new();
        if !project.is_empty() {
            pages.extend([
                entry("Overview", links::overview(project), "g o"),
                entry("Jobs", links::jobs(project), "g j"),
                entry("Analytics", links::analytics(project), "g a"),
                entry("Templates", links::templates(project), "g t"),
                entry("Batches", links::batches(project), ""),
                entry("Queue", links::queue(project), ""),
                entry("Notifications", links::notifications(project, false), ""),
            ]);
        }
        let mut others =
            vec![("Help", links::HELP), ("Account", links::ACCOUNT), ("API tokens", links::TOKENS)];
        if self.is_admin {
            others.extend([
                ("People", links::USERS),
                ("Platform", links::UPSTREAM),
                ("Webhooks", links::WEBHOOKS),
                ("All API tokens", links::ALL_TOKENS),
                ("Audit log", links::AUDIT),
            ]);
        }
        pages.extend(others.into_iter().map(|(name, href)| entry(name, href.to_owned(), "")));
        pages
    }
}

fn entry(name: &'static str, href: String, keys: &'static str) -> Entry {
    (name.to_owned(), "", href, keys)
}

pub(super) fn content(reach: &Reach) -> impl IntoView + use<> {
    let others = other_projects();
    view! {
        <input
            id="palette-field"
            class="field"
            type="text"
            role="combobox"
            aria-label="Command or destination"
            aria-expanded="true"
            aria-controls="palette-options"
            aria-autocomplete="list"
            placeholder="Search pages, jobs, templates and actions"
            maxlength="200"
            autocomplete="off"
            autocapitalize="none"
            spellcheck="false"
        />
        <div id="palette-options" class="palette-options" role="listbox" aria-label="Results">
            {group("Commands", view! { {options("action", reach.actions())} {theme_button()} {help_button()} })}
            {group("Places", options("page", reach.pages()))}
            <div id="palette-found" class="contents" role="presentation"></div>
            {(!others.is_empty()).then(|| group("Elsewhere", options("project", others)))}
        </div>
        <p id="palette-count" class="palette-none" role="status"></p>
        <p class="palette-keys faint" aria-hidden="true">
            <span class="keys"><kbd>"↑"</kbd><kbd>"↓"</kbd></span>
            " Choose "
            <span class="keys"><kbd>"Enter"</kbd></span>
            " Open "
            <span class="keys"><kbd>"Esc"</kbd></span>
            " Close"
        </p>
    }
}

fn other_projects() -> Vec<Entry> {
    let links = browser::all(OTHER_PROJECTS);
    let links = links.iter().map(|link| {
        let href = link.get_attribute("href").unwrap_or_default();
        (link.text_content().unwrap_or_default(), "Project", href, "")
    });
    links.collect()
}

fn options(kind: &'static str, entries: Vec<Entry>) -> Vec<impl IntoView + use<>> {
    let options = entries.into_iter().enumerate().map(|(at, (name, detail, href, keys))| {
        let id = ["palette-", kind, "-", &at.to_string()].concat();
        option(id, href, name, detail.to_owned(), None, keys)
    });
    options.collect()
}

/// [`crate::ui::islands::buttons`] handles clicks on it and on the next one.
fn theme_button() -> impl IntoView {
    view! {
        <button id="palette-theme" type="button" class="palette-option" role="option" tabindex="-1" aria-selected="false" data-button="theme">
            <span class="palette-name">"Switch between light and dark"</span>
            <span></span>
            <span class="keys"><kbd>"Period"</kbd></span>
        </button>
    }
}

fn help_button() -> impl IntoView {
    view! {
        <button id="palette-help" type="button" class="palette-option" role="option" tabindex="-1" aria-selected="false" data-button="help">
            <span class="palette-name">"Keyboard shortcuts"</span>
            <span></span>
            <span class="keys"><kbd>"?"</kbd></span>
        </button>
    }
}
