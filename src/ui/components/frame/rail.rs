//! The top of the rail: the product's mark, the project and the way to each page.

use std::sync::Arc;

use leptos::prelude::*;
use leptos_router::components::Redirect;
use leptos_router::hooks::use_location;

use crate::error::ErrorCode;
use crate::model::user::{Project, Role};
use crate::ui::components::icon::{self, icon, mark};
use crate::ui::components::loading::{nothing, suspended};
use crate::ui::erase::Erase;
use crate::ui::links;
use crate::ui::state::session::AskedSession;

pub(super) fn top(project: &str, session: AskedSession) -> AnyView {
    let overview = links::overview(project);
    view! {
        <header class="rail-top">
            <a class="brand" href=overview.clone()>{mark()} <span>"Docket"</span></a>
            {switcher(project, session)}
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
    .erase()
}

/// In front of the pages that belong to no project.
pub(super) fn settings(session: AskedSession) -> AnyView {
    let administration = move || match session.get() {
        Some(Ok(session)) if session.role == Role::Admin => view! {
            {item(links::USERS.to_owned(), true, icon::PERSON, "People")}
            {item(links::UPSTREAM.to_owned(), true, icon::ANALYTICS, "Upstream")}
            {item(links::WEBHOOKS.to_owned(), true, icon::SENDING, "Webhooks")}
            {item(links::AUDIT.to_owned(), true, icon::CLOCK, "Audit log")}
        }
        .into_any(),
        _ => ().into_any(),
    };
    view! {
        <header class="rail-top">
            <a class="brand" href="/" rel="external">{mark()} <span>"Docket"</span></a>
            <nav aria-label="Main">
                <ul class="nav">
                    <li><a href="/" rel="external">{icon(icon::OVERVIEW)} <span>"Projects"</span></a></li>
                    {item(links::ACCOUNT.to_owned(), true, icon::PERSON, "Account")}
                    {suspended(nothing, Arc::new(administration))}
                </ul>
            </nav>
        </header>
    }
    .erase()
}

fn item(href: String, exact: bool, outline: &'static str, name: &'static str) -> AnyView {
    let pathname = use_location().pathname;
    let target = href.clone();
    let is_here = move || {
        let here = pathname.read();
        let below = here.strip_prefix(target.as_str()).is_some_and(|rest| rest.starts_with('/'));
        *here == target || (below && !exact)
    };
    view! { <li><a href=href aria-current=move || is_here().then_some("page")>{icon(outline)} <span>{name}</span></a></li> }.erase()
}

/// Which project this is, and the others. Signing in comes first where the session is over.
fn switcher(project: &str, session: AskedSession) -> AnyView {
    let current = project.to_owned();
    let location = use_location();
    let content = move || match session.get() {
        None => ().into_any(),
        Some(Ok(session)) => menu(&current, session.projects),
        Some(Err(error)) if error.code == ErrorCode::Unauthenticated => {
            let here = location.pathname.get_untracked() + "?" + &location.search.get_untracked();
            view! { <Redirect path=links::login(here.trim_end_matches('?')) /> }.erase()
        }
        Some(Err(_)) => view! { <span class="project-name">{current.clone()}</span> }.erase(),
    };
    suspended(nothing, Arc::new(content))
}

fn menu(current: &str, projects: Vec<Project>) -> AnyView {
    let name =
        projects.iter().find(|project| project.id.as_str() == current).map(|project| project.name.clone());
    let name = name.unwrap_or_else(|| current.to_owned());
    if projects.len() < 2 {
        return view! { <span class="project-name">{name}</span> }.erase();
    }
    let entries = projects.into_iter().map(|project| {
        let is_current = (project.id.as_str() == current).then_some("true");
        // Another project is another page altogether, with its own budget and badges.
        let href = links::overview(project.id.as_str());
        view! { <li><a href=href rel="external" aria-current=is_current>{project.name}</a></li> }.erase()
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
    .erase()
}
