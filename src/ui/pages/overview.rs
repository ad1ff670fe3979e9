//! `/p/{project}`: what runs now, what needs a person, what finished recently, and the week's page views.

mod groups;
mod week;

use futures::{join, try_join};
use leptos::prelude::*;

use crate::api::jobs::list_jobs;
use crate::api::upstream::budgets;
use crate::error::AppError;
use crate::model::job::JobPage;
use crate::model::job_query::JobQuery;
use crate::ui::clock;
use crate::ui::components::new_job_link::new_job_link;
use crate::ui::components::waiting::waiting_link;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};

#[component]
pub fn Overview() -> impl IntoView {
    let (project, session) = (request::project(), request::session());
    let today = clock::today();
    page(async move {
        let lists = async {
            try_join!(
                first_page(&project, JobQuery::default().with("status", "active")),
                first_page(&project, JobQuery::default().with("needs", "attention")),
                first_page(&project, JobQuery::default().with("pr", "yes").with("sort", "changed")),
                budgets(project.clone()),
            )
        };
        let (lists, report) = join!(lists, week::ask(&project, today));
        let (active, needing, changed, budgets) = lists?;
        let waiting = (budgets.waiting > 0).then(|| waiting_link(&project, budgets.waiting));
        let may_start = session.can_start_jobs();
        let new_job = may_start.then(|| new_job_link(&project));
        Ok(view! {
            {page_head("Overview", view! { "What runs, what needs you, and who reads " {waiting} }, new_job)}
            <div class="overview">
                <div>
                    {groups::running(&project, &active, may_start)}
                    {groups::needs_you(&project, &needing)}
                    {groups::finished(&project, &changed)}
                </div>
                {week::week(&project, report)}
            </div>
        }
        .into_any())
    })
}

async fn first_page(project: &str, query: JobQuery) -> Result<JobPage, AppError> {
    list_jobs(project.to_owned(), query, None, None).await
}
