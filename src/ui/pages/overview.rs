//! `/p/{project}`: jobs that need attention, running and recently finished ones, and the week's page views.

mod checklist;
mod groups;
mod week;

use futures::join;
use leptos::prelude::*;

use crate::ui::clock;
use crate::ui::components::waiting::waiting_link;
use crate::ui::components::ways_to_start::ways_to_start;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::checklist::checklist;
use api::jobs::jobs_overview;
use model::user::Role;

#[component]
pub fn Overview() -> impl IntoView {
    let (project, session) = (request::project(), request::session());
    let today = clock::today();
    page(async move {
        let (jobs, report, budgets) =
            join!(jobs_overview(project.clone()), week::load(&project, today), request::page_budgets());
        let jobs = jobs?;
        let unread = budgets.map_or(0, |found| found.unread_jobs);
        let waiting = budgets.map(|found| found.budgets.waiting).filter(|waiting| *waiting > 0);
        let waiting = waiting.map(|waiting| waiting_link(&project, waiting));
        let may_start = session.can_start_jobs();
        // The page is useful without it.
        let steps = match session.role == Role::Admin {
            true => checklist().await.ok().flatten(),
            false => None,
        };
        let steps = steps.map(|steps| checklist::checklist(&project, steps));
        let new_job = may_start.then(|| ways_to_start(&project));
        Ok(view! {
            {page_head("Overview", view! { {waiting} }, new_job)}
            <div class="overview">
                <div data-region="jobs" data-follows=jobs.revision.to_string()>
                    {steps}
                    {groups::new(&project, &jobs.new, unread, may_start)}
                    {groups::attention(&project, &jobs, may_start)}
                    {groups::running(&project, &jobs, may_start)}
                    {groups::finished(&project, &jobs)}
                </div>
                {week::week(&project, report)}
            </div>
        }
        .into_any())
    })
}
