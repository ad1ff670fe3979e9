//! The frame around every page of a project: the navigation (on top of small screens), the page, and live updates.

mod account;
mod rail;
mod upstream_notice;

use futures::FutureExt;
use leptos::prelude::*;
use leptos_router::components::Outlet;

use crate::api::upstream::budgets;
use crate::error::{AppError, ErrorCode};
use crate::model::user::Role;
use crate::ui::components::failure::page_failure;
use crate::ui::components::meters;
use crate::ui::islands::live::{self, Live};
use crate::ui::islands::meters::Meters;
use crate::ui::islands::shortcuts::{self, Shortcuts};
use crate::ui::pages::page_head::title;
use crate::ui::pages::request::{self, AskedBudgets};

#[component]
pub fn Frame() -> impl IntoView {
    let (project, session) = (request::project(), request::session());
    let is_known = session.projects.iter().any(|known| known.id.as_str() == project);
    let may_start = session.can_start_jobs();
    let has_details = session.role == Role::Admin;
    let id = project.clone();
    // Loaded once, for the meters and the notice above the page. A failure does not prevent the page.
    let asked = async move {
        // See `request::page`.
        tokio::task::yield_now().await;
        if is_known { budgets(id).await.ok() } else { None }
    };
    let asked = asked.boxed().shared();
    provide_context(AskedBudgets(asked.clone()));
    let page = if is_known { view! { <Outlet /> }.into_any() } else { no_such_project() };
    let notice = {
        let asked = asked.clone();
        Suspend::new(async move {
            asked.await.and_then(|budgets| budgets.notice).map(upstream_notice::upstream_notice)
        })
    };
    let meters = {
        let project = project.clone();
        Suspend::new(async move {
            let budgets = asked.await;
            // Without budgets the meters are left out; forms report a spent budget themselves.
            let shown = budgets.map(|budgets| meters::meters(&project, &budgets, has_details));
            view! { <Meters project has_details><div id=meters::ID>{shown}</div></Meters> }
        })
    };
    view! {
        <a class="skip-link" href="#content">"Skip to content"</a>
        <Live project=project.clone()>
            <div class="frame">
                {rail::top(&project, &session)}
                <main id="content" class="page" tabindex="-1">
                    <div id=live::CONNECTION_PROBLEM role="status"></div>
                    <div data-region="platform">{notice}</div>
                    {page}
                </main>
                <footer class="rail-foot">
                    {meters}
                    {account::account(&session, true)}
                </footer>
            </div>
            <Shortcuts project may_start>{shortcuts::dialog()}</Shortcuts>
        </Live>
    }
}

/// The frame of account and administration pages, which belong to no project.
#[component]
pub fn SettingsFrame() -> impl IntoView {
    let session = request::session();
    view! {
        <a class="skip-link" href="#content">"Skip to content"</a>
        <div class="frame">
            {rail::settings(&session)}
            <main id="content" class="page" tabindex="-1">
                <Outlet />
            </main>
            <footer class="rail-foot">{account::account(&session, false)}</footer>
        </div>
    }
}

fn no_such_project() -> AnyView {
    request::set_status(ErrorCode::NotFound);
    let error = AppError::not_found("This project does not exist.");
    view! { {title("Not found")} {page_failure(&error)} }.into_any()
}
