//! `/p/{project}/jobs/new`: the form that starts a job. The input survives errors, reloads and an expired session.

mod advice;

use futures::join;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::api::flash::FlashMessage;
use crate::api::jobs::{CreateJob, KeepDraft, get_job, job_form, similar_jobs};
use crate::api::templates::list_templates;
use crate::error::{AppError, ErrorCode};
use crate::model::job::{Job, JobForm as Blank};
use crate::model::page_path;
use crate::model::saved_template::{RESERVED_PLACEHOLDERS, SavedTemplate};
use crate::model::similar::SimilarJob;
use crate::model::template::placeholders;
use crate::ui::components::read_only::read_only;
use crate::ui::islands::drafts::{DraftStart, OnPage};
use crate::ui::islands::job_form::{JobForm, JobFormStart, PickStart, Pickable, compared};
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};

const OPERATORS_ONLY: &str = "Starting jobs needs the operator role. An administrator can give it to you.";

/// The initial values of the form.
struct Text {
    prompt: String,
    pages: String,
    /// The id of its template; empty without one.
    template: String,
    /// Whether it takes precedence over a draft in the browser.
    goes_first: bool,
}

/// The prefill from the address.
struct Prefill {
    prompt: String,
    path: String,
    /// The id of a job to copy from.
    from: Option<String>,
}

#[component]
pub fn NewJob() -> impl IntoView {
    let (project, session) = (request::project(), request::session());
    let query = request::query();
    let refused = [CreateJob::PATH, KeepDraft::PATH].into_iter().find_map(request::flash);
    page(async move {
        let head = page_head(
            "New job",
            "Tell the agent what to change. It works by itself and opens a pull request.",
            (),
        );
        if !session.can_start_jobs() {
            return Ok(view! { {head} {read_only(&project, OPERATORS_ONLY)} }.into_any());
        }
        let asked = |name: &str| query.get(name).unwrap_or_default();
        let prefill = Prefill { prompt: asked("prompt"), path: asked("path"), from: query.get("from") };
        let (form, templates, budgets) =
            join!(job_form(project.clone(), None), list_templates(project.clone()), request::budgets());
        let form = form?;
        let templates: Vec<_> = templates.unwrap_or_default().into_iter().map(pickable).collect();
        // The page ignores fields of the address that the form does not use.
        let is_used =
            |name: &str| name == "path" || templates.iter().any(|it| placeholders(&it.text).contains(&name));
        let given = query.clone().into_iter().map(|(name, value)| (name.into_owned(), value));
        let given = given
            .filter(|(name, _)| is_used(name) && !RESERVED_PLACEHOLDERS.contains(&name.as_str()))
            .collect();
        let pick = PickStart { given, templates, asked: asked("template") };
        let copied = match &prefill.from {
            Some(job) => Some(get_job(project.clone(), job.clone()).await?),
            None => None,
        };
        let problem = refused.as_ref().and_then(|refused| refused.problem().cloned());
        let similar = similar_to(&project, refused.as_ref(), problem.as_ref()).await;
        let text = text(&form, refused.as_ref(), prefill, &pick, copied);
        let start = JobFormStart {
            draft: DraftStart::of(&form, &text.prompt, text.goes_first),
            named: page_path::found_in(&text.prompt).join(", "),
            prompt: OnPage::new(text.prompt),
            pages: OnPage::new(text.pages),
            template: text.template,
            pick,
            similar,
            left: budgets.map(|budgets| budgets.creates),
            problem,
        };
        Ok(view! {
            {head}
            <JobForm project=project.clone() start>{advice::advice(&project)}</JobForm>
        }
        .into_any())
    })
}

/// A refused input takes precedence over the address, and that over the draft. A page in the address replaces the
/// draft's pages.
fn text(
    form: &Blank,
    refused: Option<&FlashMessage>,
    prefill: Prefill,
    pick: &PickStart,
    copied: Option<Job>,
) -> Text {
    if let Some(refused) = refused.filter(|refused| !refused.typed("prompt").is_empty()) {
        return Text {
            prompt: refused.typed("prompt").replace("\r\n", "\n"),
            pages: refused.typed("paths").to_owned(),
            template: refused.typed("template_id").to_owned(),
            goes_first: true,
        };
    }
    let template = pick.filled();
    let asked = || template.as_ref().map(|_| pick.asked.clone()).unwrap_or_default();
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    let brings_text = given(prefill.prompt).or_else(|| template.clone());
    let (prompt, pages, template, goes_first) = match (brings_text, copied) {
        (Some(text), _) => (text, String::new(), asked(), true),
        (None, Some(job)) => {
            let template = job.template.and_then(|template| template.id).map(String::from);
            (job.prompt, job.paths.join(", "), template.unwrap_or_default(), true)
        }
        (None, None) => (form.draft.clone(), form.draft_paths.clone(), form.draft_template.clone(), false),
    };
    Text { prompt, pages: given(prefill.path).unwrap_or(pages), template, goes_first }
}

/// The similar jobs, if the form was returned because of them.
async fn similar_to(
    project: &str,
    refused: Option<&FlashMessage>,
    problem: Option<&AppError>,
) -> Vec<SimilarJob> {
    let asks = problem.is_some_and(|problem| problem.code == ErrorCode::SimilarJob);
    let Some(refused) = refused.filter(|_| asks) else { return Vec::new() };
    let (prompt, paths) = compared(refused.typed("prompt"), refused.typed("paths"));
    similar_jobs(project.to_owned(), Some(prompt), Some(paths)).await.unwrap_or_default()
}

fn pickable(template: SavedTemplate) -> Pickable {
    Pickable { id: template.id.to_string(), name: template.name, text: template.text }
}
