//! The frame around every page of a project: the navigation (on top of small screens), the page, and live updates.

mod account;
mod rail;
pub(super) mod shortcut_list;
mod tools;
mod upstream_notice;

use futures::FutureExt;
use leptos::prelude::*;
use leptos_router::components::Outlet;

use self::shortcut_list::shortcut_list;
use crate::ui::components::icon::mark;
use crate::ui::islands::connection::ConnectionProblem;
use crate::ui::islands::live::Live;
use crate::ui::islands::meters::Meters;
use crate::ui::islands::palette::Palette;
use crate::ui::islands::shortcuts::Shortcuts;
use crate::ui::islands::toast_region::ToastRegion;
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::title;
use crate::ui::pages::request::{self, PendingBudgets};
use api::upstream::page_budgets;
use model::error::ErrorCode;
use model::flash::WRONG_CODES;
use model::links;
use model::user::{CurrentSession, Role};

pub use rail::HasReviews;

/// The project that this browser visited last, if this person may see it, otherwise the person's first project. The router
/// provides it.
#[derive(Clone)]
pub struct LastProject(pub String);

#[component]
pub fn Frame() -> impl IntoView {
    let (project, session) = (request::project(), request::session());
    let Some(known) = session.projects.iter().find(|known| known.id.as_str() == project) else {
        return no_such_project(&session);
    };
    let name = known.name.clone();
    let may_start = session.can_start_jobs();
    let is_admin = session.role == Role::Admin;
    let PendingBudgets(budgets) = provide_budgets(project.clone());
    let wrong_codes = outcome_of(&[WRONG_CODES]);
    let notice = {
        let (budgets, project) = (budgets.clone(), project.clone());
        Suspend::new(async move {
            let what = budgets.await.and_then(|found| found.budgets.notice);
            what.map(|what| upstream_notice::upstream_notice(&project, what))
        })
    };
    let meters = {
        let project = project.clone();
        Suspend::new(async move {
            let budgets = budgets.await;
            // Without budgets the meters are omitted; forms report a spent budget themselves.
            let rendered = budgets.map(|found| found.budgets);
            let details = is_admin.then(|| view! { <a href=links::UPSTREAM>"Details"</a> });
            view! { <Meters project rendered>{details}</Meters> }
        })
    };
    view! {
        <a class="skip-link" href="#content">"Skip to content"</a>
        <Live project=project.clone()>
            <div class="frame">
                {rail::top(&project, &session, false)}
                <main id="content" class="page" tabindex="-1">
                    <p class="print-only">{name}</p>
                    <ConnectionProblem />
                    {wrong_codes}
                    <div data-region="platform">{notice}</div>
                    <Outlet />
                </main>
                <footer class="rail-foot">
                    <ToastRegion />
                    {meters}
                    {account::account(&session)}
                </footer>
            </div>
            <Shortcuts project=project.clone() may_start>{shortcut_list()}</Shortcuts>
            <Palette project may_start is_admin />
        </Live>
    }
    .into_any()
}

/// The budgets of the project with the counts of the navigation, loaded once for the frame and its page. A failure does not prevent the page.
fn provide_budgets(project: String) -> PendingBudgets {
    let budgets = async move {
        // See `request::page`.
        tokio::task::yield_now().await;
        page_budgets(&project).await.ok()
    };
    let budgets = PendingBudgets(budgets.boxed().shared());
    provide_context(budgets.clone());
    budgets
}

/// The frame of account and administration pages. They belong to no project, so the navigation is that of the project visited
/// last in this browser. The browser posts their forms.
#[component]
pub fn SettingsFrame() -> impl IntoView {
    let session = request::session();
    let project = use_context::<LastProject>().map(|LastProject(project)| project).unwrap_or_default();
    if !project.is_empty() {
        provide_budgets(project.clone());
    }
    let may_start = session.can_start_jobs();
    let is_admin = session.role == Role::Admin;
    let wrong_codes = outcome_of(&[WRONG_CODES]);
    view! {
        <a class="skip-link" href="#content">"Skip to content"</a>
        <Live project=String::new()>
            <div class="frame">
                {rail::top(&project, &session, true)}
                <main id="content" class="page" tabindex="-1" data-plain="">
                    <ConnectionProblem />
                    {wrong_codes}
                    <Outlet />
                </main>
                <footer class="rail-foot"><ToastRegion /> {account::account(&session)}</footer>
            </div>
            <Shortcuts project=project.clone() may_start>{shortcut_list()}</Shortcuts>
            <Palette project may_start is_admin />
        </Live>
    }
}

/// A page of its own, without the navigation of a project. It is the same for a project that does not exist and for one that
/// this person may not see.
fn no_such_project(session: &CurrentSession) -> AnyView {
    request::set_status(ErrorCode::NotFound);
    let links = session.projects.iter().map(|project| {
        view! { <li><a href=links::overview(project.id.as_str())>{project.name.clone()}</a></li> }
    });
    view! {
        {title("Project not found")}
        <main class="lone">
            <div class="card">
                {mark()}
                <h1>"Project not found"</h1>
                <p>"The address may be mistyped, the project was removed, or you have no access to it."</p>
                {(!session.projects.is_empty()).then(|| view! { <h2>"Your projects"</h2> <ul class="project-links">{links.collect_view()}</ul> })}
            </div>
        </main>
    }
    .into_any()
}
