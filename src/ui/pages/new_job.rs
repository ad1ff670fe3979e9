//! `/p/{project}/jobs/new`: the form that starts a job. The input survives errors, reloads and an expired session.

mod advice;
mod other_drafts;
mod pick;

use futures::join;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::cost;
use crate::ui::components::form::of_person;
use crate::ui::components::read_only::read_only;
use crate::ui::components::similar_jobs::similar_jobs as similar_notice;
use crate::ui::components::time::ago;
use crate::ui::islands::job_form::{JobForm, detected, unknown};
use crate::ui::islands::prompt_form::{DRAFT, DraftNotes, FORM, FormStart, PrefilledText};
use crate::ui::marks::{DETECTED, KNOWN_PAGES, PAGES_FIELD, PROMPT_FIELD, SIMILAR, UNKNOWN_PAGES};
use crate::ui::pages::form_key::form_key;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::prompt_form::{
    PromptField, base_field, form_start, is_full, other_version, place_if_full, problem, prompt_field,
    send_buttons,
};
use crate::ui::pages::request::{self, page};
use api::job_pages::{mentioned_pages, unknown_pages};
use api::jobs::{CreateJob, SaveDraft, job_form, shown_job, similar_jobs};
use api::templates::template_texts;
use model::budget::Meter;
use model::error::{AppError, ErrorCode};
use model::flash::FlashMessage;
use model::id::FormKey;
use model::job::{Job, JobForm as Blank, ShownFollowUps, cut};
use model::queue::QueuePlace;
use model::similar::SimilarJob;
use model::{links, page_path};
use other_drafts::other_drafts;
use pick::Pick;

const OPERATORS_ONLY: &str = "Starting jobs needs the operator role. An administrator can give it to you.";

/// The initial values of the form.
#[derive(Clone, Default)]
struct Text {
    prompt: String,
    pages: String,
    /// The id of its template; empty without one.
    template: String,
}

/// The prefill from the URL.
struct Prefill {
    prompt: String,
    path: String,
    /// The id of a job to copy from; empty without one.
    from: String,
}

#[component]
pub fn NewJob() -> impl IntoView {
    let (project, session, person) = (request::project(), request::session(), request::person());
    let query = request::query();
    let refused = [CreateJob::PATH, SaveDraft::PATH].into_iter().find_map(request::flash);
    page(async move {
        let head = page_head(
            "New job",
            "Tell the agent what to change. It works by itself and opens a pull request.",
            (),
        );
        if !session.can_start_jobs() {
            return Ok(view! { {head} {read_only(&project, OPERATORS_ONLY)} }.into_any());
        }
        let param = |name: &str| query.get(name).unwrap_or_default();
        let prefill = Prefill { prompt: param("prompt"), path: param("path"), from: param("from") };
        let templates = template_texts(project.clone()).await.unwrap_or_default();
        let given = query.clone().into_iter().map(|(name, value)| (name.into_owned(), value));
        let pick = Pick::of(project.clone(), templates, param("template"), given);
        // A draft from the list of other drafts, or the draft of the form that this URL prefills.
        let key = param("draft").parse::<FormKey>().map(String::from);
        let key = key.unwrap_or_else(|_| form_key(&prefill.parts(&pick)));
        let (form, budgets) = join!(job_form(project.clone(), None, Some(key.clone())), request::budgets());
        let form = form?;
        let copied = match prefill.from.as_str() {
            "" => None,
            job => Some(shown_job(project.clone(), job, ShownFollowUps::default()).await?),
        };
        let why = refused.as_ref().and_then(|refused| refused.problem().cloned());
        let is_confirmed = refused.as_ref().is_some_and(|refused| refused.typed("anyway") == "on");
        let similar = similar_to(&project, refused.as_ref(), why.as_ref()).await;
        let retried = copied.clone().filter(Job::is_retryable);
        let prefilled = prefilled(prefill, &pick, form.prompt_max, copied);
        let text = text(&form, refused.as_ref(), &prefilled);
        let creates = budgets.map(|budgets| budgets.creates);
        let is_full = is_full(creates, why.as_ref().map(|why| why.code));
        let start = FormStart {
            is_full,
            key: key.clone(),
            origin: form.draft_origin.clone(),
            template: text.template.clone(),
            prefill: PrefilledText { text: prefilled.prompt, template: prefilled.template },
            refused: why.as_ref().map(|why| why.code),
            ..form_start(&form, person, &project, &text.prompt, is_refused(refused.as_ref()))
        };
        // A failed lookup does not prevent the form.
        let detected = mentioned_pages(project.clone(), text.prompt.clone()).await.unwrap_or_default();
        let unknown = unknown_pages(project.clone(), text.pages.clone()).await.unwrap_or_default();
        let place = place_if_full(&project, false, is_full).await;
        let others = other_drafts(&project, &form.other_drafts, |id| pick.name_of(id));
        let (project, form, text, pick) = (project.as_str(), &form, &text, &pick);
        let fields = Fields {
            project,
            form,
            key: &key,
            text,
            pick,
            detected,
            unknown,
            retried,
            similar,
            why,
            is_confirmed,
            creates,
            place,
        };
        let (fields, templates) = (fields.view(&start), pick.panel());
        let fill = pick.fill();
        let advice = advice::advice(project);
        Ok(view! {
            {head}
            <datalist id=KNOWN_PAGES.name()></datalist>
            <JobForm start>
                <div>{others} {fill} {fields}</div>
                <aside class="advice" aria-label="Templates and advice">
                    {templates}
                    {advice}
                </aside>
            </JobForm>
        }
        .into_any())
    })
}

/// The content of the form.
struct Fields<'a> {
    project: &'a str,
    form: &'a Blank,
    /// The key of the prefilled form; empty without one.
    key: &'a str,
    text: &'a Text,
    pick: &'a Pick,
    /// The pages of the project that the prompt mentions.
    detected: Vec<String>,
    /// Those of its pages that are in no list of known ones.
    unknown: Vec<String>,
    /// The job that this one would retry.
    retried: Option<Job>,
    /// The similar jobs because of which the form was returned.
    similar: Vec<SimilarJob>,
    /// The error of the refused form.
    why: Option<AppError>,
    /// Whether the user confirmed an unfilled placeholder.
    is_confirmed: bool,
    /// The hourly budget of job starts.
    creates: Option<Meter>,
    /// The place in the queue of a job that is added to it now.
    place: Option<QueuePlace>,
}

impl Fields<'_> {
    /// The note that the form has a draft instead of the text in its URL.
    fn shows_draft(&self, draft: &FormStart) -> Option<AnyView> {
        let at = draft.saved_at.filter(|_| draft.is_draft)?;
        let prefill = &draft.prefill.text;
        (!prefill.is_empty() && *prefill != self.text.prompt).then(|| {
            view! { <p class="hint">"This is your draft, saved " {ago(at)} ". Discard it to start over."</p> }.into_any()
        })
    }

    /// What the job costs, or when it is sent from the queue. It is kept current.
    fn cost(&self) -> AnyView {
        let wait = self.place.and_then(cost::wait);
        let first = self.place.filter(|place| place.before > 0);
        let first = first.map(
            |_| view! { <button type="submit" class="link" name="first" value="on">"Send first"</button> },
        );
        let cost = wait.or_else(|| self.creates.map(cost::sentence));
        view! { <p class="cost" data-region="cost" data-every="30">{cost} " " {first}</p> }.into_any()
    }

    fn view(&self, draft: &FormStart) -> AnyView {
        let why = self.why.as_ref();
        // A plain form is returned once if there are similar jobs or one from its draft. Sending it again confirms.
        let warning_field = why.is_none_or(|why| why.code != ErrorCode::SimilarJob);
        let warning_field =
            warning_field.then(|| view! { <input type="hidden" name="similar" value="ask" /> });
        let retry = self.retried.as_ref().map(|job| {
            let href = links::job(self.project, job.id.as_str());
            let mut title = job.title();
            cut(&mut title);
            view! {
                <input type="hidden" name="retry_of" value=job.id.to_string() autocomplete="off" />
                <p class="hint">"Retry of " <a dir="auto" href=href>{title}</a></p>
            }
        });
        let field = PromptField {
            id: PROMPT_FIELD.name(),
            name: "prompt",
            label: "Prompt",
            placeholder: "Rewrite the quickstart for version 3 of the SDK. Keep the page’s structure, and mention the new sign-in.",
            rows: "10",
            text: &self.text.prompt,
            // A placeholder's field has the focus instead.
            autofocus: !self.pick.has_placeholders(),
        };
        view! {
            {problem(why)}
            <form class="stack" method="post" action=CreateJob::PATH>
                // The first button, which Enter in a field presses: it must not start the job.
                <button type="submit" disabled hidden></button>
                {of_person()}
                <input type="hidden" name="project" value=self.project.to_owned() autocomplete="off" />
                <input type="hidden" name="intent" value=self.form.intent.to_string() autocomplete="off" />
                <input type="hidden" name=FORM value=self.key.to_owned() autocomplete="off" />
                <input type="hidden" name=DRAFT value=self.form.draft_origin.clone() autocomplete="off" />
                {base_field(draft)}
                {warning_field}
                {retry}
                {self.pick.field(&self.text.template)}
                {other_version(PROMPT_FIELD)}
                {self.shows_draft(draft)}
                {prompt_field(&field)}
                <label class="field-label" for=PAGES_FIELD.name()>"Pages"</label>
                <input
                    id=PAGES_FIELD.name()
                    class="field"
                    name="paths"
                    list=KNOWN_PAGES.name()
                    value=self.text.pages.clone()
                    placeholder="/guides/quickstart, /api/authentication"
                    autocomplete="off"
                    spellcheck="false"
                    aria-describedby="paths-hint"
                />
                <p class="hint" id="paths-hint">
                    "Optional: the pages it is about, separated by commas. "
                    <span id=DETECTED.name() class="about">{detected(&self.detected)}</span>
                    " "
                    <span id=UNKNOWN_PAGES.name() role="status">{unknown(&self.unknown)}</span>
                </p>
                <div id=SIMILAR.name() aria-live="polite">
                    {similar_notice(self.project, "Similar jobs", &self.similar)}
                </div>
                <div class="send">
                    {send_buttons("Start job", "Starting…", self.is_confirmed)}
                    <span class="faint js-only"><kbd>"Ctrl"</kbd> " " <kbd>"Enter"</kbd></span>
                    {self.cost()}
                    <DraftNotes is_draft=draft.is_draft />
                </div>
            </form>
        }
        .into_any()
    }
}

impl Prefill {
    /// The prefilled values of the URL, by name. The form of another URL has another draft.
    fn parts<'a>(&'a self, pick: &'a Pick) -> Vec<(&'a str, &'a str)> {
        let own = [("prompt", self.prompt.as_str()), ("path", &self.path), ("from", &self.from)];
        own.into_iter().chain(pick.parts()).filter(|(_, value)| !value.is_empty()).collect()
    }
}

/// Whether the form was refused and is shown again with its text.
fn is_refused(refused: Option<&FlashMessage>) -> bool {
    refused.is_some_and(|refused| !refused.typed("prompt").is_empty())
}

/// The text from the URL. A page alone goes with a new text.
fn prefilled(prefill: Prefill, pick: &Pick, most: u32, copied: Option<Job>) -> Text {
    let given = |text: String| Some(text).filter(|text| !text.is_empty());
    let template = pick.filled(most);
    let template_id = || template.as_ref().map(|_| pick.template_id.clone()).unwrap_or_default();
    let text = match (given(prefill.prompt).or_else(|| template.clone()), copied) {
        (Some(prompt), _) => Text { prompt, pages: String::new(), template: template_id() },
        (None, Some(job)) => {
            let template = job.template.and_then(|template| template.id).map(String::from);
            Text {
                prompt: job.prompt,
                pages: page_path::field(&job.paths),
                template: template.unwrap_or_default(),
            }
        }
        (None, None) => Text::default(),
    };
    let page = given(pick.page().to_owned()).or_else(|| given(prefill.path));
    let pages = page.map_or(text.pages, |page| page_path::in_field(&page));
    Text { pages, ..text }
}

/// A refused text takes precedence over the form's draft, and the draft over the text from the URL.
fn text(form: &Blank, refused: Option<&FlashMessage>, prefilled: &Text) -> Text {
    if let Some(refused) = refused.filter(|_| is_refused(refused)) {
        return Text {
            prompt: refused.typed("prompt").replace("\r\n", "\n"),
            pages: refused.typed("paths").to_owned(),
            template: refused.typed("template_id").to_owned(),
        };
    }
    if form.draft_saved_at.is_some() {
        let (prompt, pages, template) = (&form.draft, &form.draft_paths, &form.draft_template);
        let [prompt, pages, template] = [prompt, pages, template].map(String::clone);
        return Text { prompt, pages, template };
    }
    prefilled.clone()
}

/// The similar jobs, if the form was returned because of them.
async fn similar_to(
    project: &str,
    refused: Option<&FlashMessage>,
    problem: Option<&AppError>,
) -> Vec<SimilarJob> {
    let has_similar = problem.is_some_and(|problem| problem.code == ErrorCode::SimilarJob);
    let Some(refused) = refused.filter(|_| has_similar) else { return Vec::new() };
    let [prompt, paths] = ["prompt", "paths"].map(|field| Some(refused.typed(field).to_owned()));
    similar_jobs(project.to_owned(), prompt, paths).await.unwrap_or_default()
}
