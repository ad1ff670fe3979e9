//! `/p/{project}`: what runs now, what needs a person, what finished lately, and the week's readers.

mod groups;
#[cfg(feature = "ssr")]
pub mod week;

use leptos::prelude::*;

use crate::api::call::call;
use crate::api::jobs::ListJobs;
use crate::api::reading::GetReading;
use crate::model::day::DayRange;
use crate::model::job::JobPage;
use crate::model::job_query::JobQuery;
use crate::ui::components::loading::{self, loaded};
use crate::ui::components::new_job_link::new_job_link;
use crate::ui::components::page_head::page_head;
use crate::ui::components::waiting::waiting;
use crate::ui::erase::Erase;
use crate::ui::pages::analytics::drawn;
use crate::ui::state::asked::Asked;
use crate::ui::state::clock::Clock;
use crate::ui::state::{budget, project, session};

/// How many of the most read pages are shown.
const PAGES: i64 = 6;

#[component]
pub fn Overview() -> impl IntoView {
    let project = project::current();
    let active = asked(&project, JobQuery::default().with("status", "active"));
    let needing = asked(&project, JobQuery::default().with("needs", "attention"));
    let changed = asked(&project, JobQuery::default().with("pr", "yes").with("sort", "changed"));
    let range = DayRange::ending(Clock::get().today(), 7);
    let week = {
        let project = project.clone();
        Asked::once(move || {
            let query = format!("from={}&to={}&limit={PAGES}", range.from(), range.to());
            call(GetReading { project: project.clone(), query, part: Some("week".to_owned()) })
        })
    };
    let session = session::get();
    let new_job = new_job_link(&project, session);
    let context = view! { "What runs, what needs you, and who reads" {waiting(&project, budget::get())} };
    let (running, needs_you, finished) = {
        let (running, needs_you, finished) = (project.clone(), project.clone(), project.clone());
        (
            move |page| groups::running(&running, page, session::can_start_jobs(session)),
            move |page| groups::needs_you(&needs_you, page),
            move |page| groups::finished(&finished, page),
        )
    };
    view! {
        {page_head("Overview", context.into_any(), new_job)}
        <div class="overview">
            <div>
                {loaded(active, loading::rows, running)}
                {loaded(needing, loading::nothing, needs_you)}
                {loaded(changed, loading::nothing, finished)}
            </div>
            <section class="week" aria-labelledby="week">
                <h2 id="week">"Readers of the last 7 days"</h2>
                {loaded(week, loading::figures, drawn::page)}
            </section>
        </div>
    }
    .erase()
}

/// The first page of a list.
fn asked(project: &str, query: JobQuery) -> Asked<JobPage> {
    let project = project.to_owned();
    Asked::once(move || {
        call(ListJobs { project: project.clone(), query: query.clone(), cursor: None, page: None })
    })
}
