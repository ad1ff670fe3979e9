//! The navigation: the product's logo, the project and links to its pages.

use leptos::prelude::*;

use super::tools;
use crate::ui::charts::number::grouped;
use crate::ui::components::icon::{self, icon, mark};
use crate::ui::components::menu::{MenuButton, menu};
use crate::ui::pages::request;
use model::links;
use model::user::{CurrentSession, Project, Role};

/// Whether Docket is connected to a code host, so that there are reviews. The router provides it.
#[derive(Clone, Copy)]
pub struct HasReviews;

/// The navigation. `settings`: with the links to the account and administration pages.
pub(super) fn top(project: &str, session: &CurrentSession, settings: bool) -> AnyView {
    let overview = if project.is_empty() { "/".to_owned() } else { links::overview(project) };
    let here = request::path();
    let of_project = (!project.is_empty()).then(|| {
        view! {
            <ul class="nav">
                {item(overview.clone(), true, icon::OVERVIEW, "Overview")}
                {item_of(is_in_jobs(project), links::jobs(project), icon::JOBS, "Jobs", None)}
                {item_of(here == links::queue(project), links::queue(project), icon::CLOCK, "Queue", Some(queued()))}
                {use_context::<HasReviews>().map(|_| reviews(project))}
                {item(links::analytics(project), false, icon::ANALYTICS, "Analytics")}
                {item(links::templates(project), false, icon::TEMPLATES, "Templates")}
            </ul>
        }
    });
    view! {
        <header class="rail-top">
            <a class="brand" href=overview>{mark()} <span>"Docket"</span></a>
            {tools::tools(project)}
            {projects(project, &session.projects)}
            <nav aria-label="Main">{of_project} {settings.then(|| self::settings(session))}</nav>
        </header>
    }
    .into_any()
}

fn settings(session: &CurrentSession) -> AnyView {
    let administration = (session.role == Role::Admin).then(|| {
        [
            (links::USERS, icon::PEOPLE, "People"),
            (links::UPSTREAM, icon::SERVER, "Platform"),
            (links::WEBHOOKS, icon::WEBHOOK, "Webhooks"),
            (links::ALL_TOKENS, icon::KEYS, "All API tokens"),
            (links::AUDIT, icon::LOG, "Audit log"),
        ]
        .map(|(href, outline, name)| item(href.to_owned(), false, outline, name))
        .into_iter()
        .collect_view()
    });
    view! {
        <h2 class="nav-title" id="settings-title">"Settings"</h2>
        <ul class="nav nav-settings" aria-labelledby="settings-title">
            {item(links::ACCOUNT.to_owned(), true, icon::PERSON, "Account")}
            {item(links::TOKENS.to_owned(), true, icon::KEY, "API tokens")} {administration}
        </ul>
    }
    .into_any()
}

fn item(href: String, exact: bool, outline: &'static str, name: &'static str) -> AnyView {
    let is_here = if exact { request::path() == href } else { is_within(&href) };
    item_of(is_here, href, outline, name, None)
}

/// `count`: the content after the name.
fn item_of(
    is_here: bool,
    href: String,
    outline: &'static str,
    name: &'static str,
    count: Option<AnyView>,
) -> AnyView {
    view! {
        <li>
            <a href=href aria-current=is_here.then_some("page")>
                {icon(outline)} <span>{name}</span> {count}
            </a>
        </li>
    }
    .into_any()
}

/// Whether the page is the list of jobs, a job, or a batch.
fn is_in_jobs(project: &str) -> bool {
    is_within(&links::jobs(project)) || is_within(&links::batches(project))
}

/// Whether the page is at `path` or below it.
fn is_within(path: &str) -> bool {
    request::path().strip_prefix(path).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// The number of prompts in the queue, if there are any.
fn queued() -> AnyView {
    let budgets = request::budgets();
    Suspend::new(async move {
        let queued = budgets.await.map_or(0, |budgets| budgets.waiting);
        let count =
            (queued > 0).then(|| view! { " " <span class="nav-count">{grouped(queued.into())}</span> });
        view! { <span data-region="queued" data-key="queued">{count}</span> }
    })
    .into_any()
}

/// With the number of pull requests that wait for a reviewer.
fn reviews(project: &str) -> AnyView {
    let budgets = request::budgets();
    let count = Suspend::new(async move {
        let waiting = budgets.await.and_then(|budgets| budgets.reviews).filter(|waiting| *waiting > 0);
        waiting.map(|waiting| view! { " " <span class="nav-count">{grouped(waiting.into())}</span> })
    });
    let count = view! { <span data-region="reviews" data-key="reviews">{count}</span> }.into_any();
    let href = links::reviews(project);
    item_of(request::path() == href, href, icon::PULL_REQUEST, "Reviews", Some(count))
}

/// The name of the project, with links to the same section of the others.
fn projects(current: &str, projects: &[Project]) -> AnyView {
    let name =
        projects.iter().find(|project| project.id.as_str() == current).map(|project| project.name.clone());
    let name = name.unwrap_or_else(|| current.to_owned());
    if projects.len() < 2 {
        return view! { <span class="project-name">{name}</span> }.into_any();
    }
    let here = request::path();
    let entries = projects.iter().map(|project| {
        let is_current = (project.id.as_str() == current).then_some("true");
        let href = links::section(project.id.as_str(), &here);
        view! { <li><a href=href aria-current=is_current>{project.name.clone()}</a></li> }
    });
    let content = view! {
        <span class="visually-hidden">"Project: "</span>
        <span class="project-name">{name}</span>
        {icon(icon::CHEVRON)}
    };
    let button = MenuButton { class: "switcher-button", label: None, content: content.into_any() };
    menu("projects", "switcher", button, view! { <ul>{entries.collect_view()}</ul> })
}
