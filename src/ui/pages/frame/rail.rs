//! The navigation: the product's logo, the project and links to its pages.

use leptos::prelude::*;

use crate::model::links;
use crate::model::user::{CurrentSession, Project, Role};
use crate::ui::components::icon::{self, icon, mark};
use crate::ui::pages::request;

pub(super) fn top(project: &str, session: &CurrentSession) -> AnyView {
    let overview = links::overview(project);
    view! {
        <header class="rail-top">
            <a class="brand" href=overview.clone()>{mark()} <span>"Docket"</span></a>
            {menu(project, &session.projects)}
            <nav aria-label="Main">
                <ul class="nav">
                    {item(overview, true, icon::OVERVIEW, "Overview")}
                    {item(links::jobs(project), false, icon::JOBS, "Jobs")}
                    {item(links::analytics(project), false, icon::ANALYTICS, "Analytics")}
                    {item(links::templates(project), false, icon::TEMPLATES, "Templates")}
                </ul>
            </nav>
        </header>
    }
    .into_any()
}

/// The navigation of pages that belong to no project.
pub(super) fn settings(session: &CurrentSession) -> AnyView {
    let administration = (session.role == Role::Admin).then(|| {
        [
            (links::USERS, icon::PERSON, "People"),
            (links::UPSTREAM, icon::ANALYTICS, "Platform"),
            (links::WEBHOOKS, icon::SENDING, "Webhooks"),
            (links::AUDIT, icon::CLOCK, "Audit log"),
        ]
        .map(|(href, outline, name)| item(href.to_owned(), true, outline, name))
        .into_iter()
        .collect_view()
    });
    view! {
        <header class="rail-top">
            <a class="brand" href="/">{mark()} <span>"Docket"</span></a>
            <nav aria-label="Main">
                <ul class="nav">
                    <li><a href="/">{icon(icon::OVERVIEW)} <span>"Projects"</span></a></li>
                    {item(links::ACCOUNT.to_owned(), true, icon::PERSON, "Account")}
                    {administration}
                </ul>
            </nav>
        </header>
    }
    .into_any()
}

fn item(href: String, exact: bool, outline: &'static str, name: &'static str) -> AnyView {
    let here = request::path();
    let below = here.strip_prefix(href.as_str()).is_some_and(|rest| rest.starts_with('/'));
    let is_here = here == href || (below && !exact);
    view! { <li><a href=href aria-current=is_here.then_some("page")>{icon(outline)} <span>{name}</span></a></li> }.into_any()
}

/// The name of the project, with links to the others.
fn menu(current: &str, projects: &[Project]) -> AnyView {
    let name =
        projects.iter().find(|project| project.id.as_str() == current).map(|project| project.name.clone());
    let name = name.unwrap_or_else(|| current.to_owned());
    if projects.len() < 2 {
        return view! { <span class="project-name">{name}</span> }.into_any();
    }
    let entries = projects.iter().map(|project| {
        let is_current = (project.id.as_str() == current).then_some("true");
        let href = links::overview(project.id.as_str());
        view! { <li><a href=href aria-current=is_current>{project.name.clone()}</a></li> }
    });
    view! {
        <details class="switcher">
            <summary>
                <span class="visually-hidden">"Project: "</span>
                <span class="project-name">{name}</span>
                {icon(icon::CHEVRON)}
            </summary>
            <ul class="menu">{entries.collect_view()}</ul>
        </details>
    }
    .into_any()
}
