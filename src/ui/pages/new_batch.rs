//! `/p/{project}/jobs/batch`: a prompt template and a list of values. The next page shows each prompt before anything is queued.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos_router::params::ParamsMap;

use crate::ui::charts::number::grouped;
use crate::ui::clock;
use crate::ui::components::form::of_person;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::read_only::read_only;
use crate::ui::islands::batch_form::{BatchForm, TEXT_DRAFT};
use crate::ui::islands::prompt_form::{DraftNotes, FormStart, PrefilledText, SendButtons};
use crate::ui::marks::{PROMPT_FIELD, VALUES_FIELD};
use crate::ui::pages::fetch_days::{MissingDays, days_are_missing, fetch_days};
use crate::ui::pages::form_key::form_key;
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::prompt_form::{PromptField, other_version, problem, prompt_field};
use crate::ui::pages::request::{self, page};
use crate::ui::pages::unstarted_batches;
use api::analytics;
use api::batches::{DiscardBatch, PrepareBatch, UseTemplate, batch_form, unstarted_batches};
use api::templates::template_texts;
use model::analytics::query::{AnalyticsQuery, MATCHING, PICK, PICKED_MAX};
use model::analytics::report::MatchingPages;
use model::batch::{UnstartedBatch, quoted};
use model::error::{AppError, ErrorCode};
use model::links;
use model::saved_template::TemplateText;
use model::template::placeholders;
use model::url_encoding::with_query;

#[component]
pub fn NewBatch() -> impl IntoView {
    let (project, query) = (request::project(), request::query());
    let (may_start, person) = (request::session().can_start_jobs(), request::person());
    let (prompt, from) = (query.get("prompt").unwrap_or_default(), query.get("from"));
    let template = query.get("template").unwrap_or_default();
    let picked = picked_pages(query.get_all(PICK).unwrap_or_default());
    let matching = query.get(MATCHING);
    let refused = [PrepareBatch::PATH, UseTemplate::PATH].into_iter().find_map(request::flash);
    let refused = refused.filter(|message| message.outcome.is_err());
    let not_discarded = outcome_of(&[DiscardBatch::PATH]);
    let key = key_of(&query);
    page(async move {
        let head = page_head(
            "New batch",
            "The same task for many pages. You see each prompt before anything is queued.",
            (),
        );
        if !may_start {
            return Ok(view! { {head} {read_only(&project, "Starting jobs needs the operator role. An administrator can give it to you.")} }.into_any());
        }
        let (pages, selection) = match matching {
            Some(query) => match matching_pages(&project, &query).await? {
                Selected::Pages(pages) => (pages.paths.clone(), first_of(&pages, "pages that match")),
                Selected::Missing(days) => (Vec::new(), Some(not_selected(&project, &query, &days))),
            },
            None => (picked.paths.clone(), first_of(&picked, "pages")),
        };
        let templates = template_texts(project.clone()).await.unwrap_or_default();
        let chosen = templates.iter().find(|known| known.id.as_str() == template);
        let prompt = match chosen {
            Some(chosen) if prompt.is_empty() => chosen.text.clone(),
            _ => prompt,
        };
        let pages = pages.iter().map(|page| quoted(page)).collect::<Vec<_>>().join("\n");
        let form = batch_form(project.clone(), from).await?;
        let unstarted = not_started(&project, &unstarted_batches(project.clone()).await?);
        let (text, values, template) = match &refused {
            Some(refused) => {
                let typed = |name| refused.typed(name).to_owned();
                (typed("prompt"), typed("values"), typed("template_id"))
            }
            None if !pages.is_empty() => (prompt, pages, template),
            None if prompt.is_empty() => {
                (form.text, form.values, form.template.map(String::from).unwrap_or_default())
            }
            None => (prompt, form.values, template),
        };
        let choice = choice(&templates, &template);
        let prefill = PrefilledText { text: text.clone(), template: template.clone() };
        let text = prompt_field(&PromptField {
            id: PROMPT_FIELD.name(),
            name: "prompt",
            label: "Prompt template",
            placeholder: "Check {{page}} against version 3 of the SDK, and fix every step that no longer works.",
            rows: "5",
            text: &text,
            autofocus: true,
        });
        let values = prompt_field(&PromptField {
            id: VALUES_FIELD.name(),
            name: "values",
            label: "Values, one line per job",
            placeholder: "/quickstart\n/guides/webhooks",
            rows: "8",
            text: &values,
            autofocus: false,
        });
        let why = problem(refused.as_ref().and_then(|refused| refused.problem()));
        let start = FormStart {
            person,
            project: project.clone(),
            job: Some(TEXT_DRAFT.to_owned()),
            intent: form.intent.to_string(),
            template: template.clone(),
            key,
            prefill,
            goes_first: refused.is_some(),
            ..FormStart::default()
        };
        Ok(view! {
            {head}
            {not_discarded}
            {selection}
            <div class="columns">
                <div>
                    <div data-region="unstarted" data-when="posted">{unstarted}</div>
                    <BatchForm start>
                        {why}
                        <form class="stack" method="post" action=PrepareBatch::PATH>
                            {of_person()}
                            <input type="hidden" name="project" value=project autocomplete="off" />
                            <input type="hidden" name="intent" value=form.intent.to_string() autocomplete="off" />
                            <input type="hidden" name="template_id" value=template autocomplete="off" />
                            {choice}
                            {other_version(PROMPT_FIELD)}
                            {text}
                            {other_version(VALUES_FIELD)}
                            {values}
                            <div class="send">
                                <SendButtons idle="Preview".to_owned() busy="Preview".to_owned() />
                                <DraftNotes is_draft=false />
                            </div>
                        </form>
                    </BatchForm>
                </div>
                {advice()}
            </div>
        }
        .into_any())
    })
}

/// The key of the form that this URL prefills: that of another URL has drafts of its own.
fn key_of(query: &ParamsMap) -> String {
    let prefills = |name: &str| ["prompt", "template", "from", PICK, MATCHING].contains(&name);
    let given = query.clone().into_iter().filter(|(name, value)| prefills(name) && !value.is_empty());
    let given: Vec<_> = given.collect();
    form_key(&given.iter().map(|(name, value)| (&**name, value.as_str())).collect::<Vec<_>>())
}

/// The person's batches that are not started, folded; empty without any.
fn not_started(project: &str, batches: &[UnstartedBatch]) -> Option<AnyView> {
    (!batches.is_empty()).then(|| {
        view! {
            <details class="other-drafts">
                <summary>{format!("Batches that are not started ({})", batches.len())}</summary>
                {unstarted_batches::list(project, batches)}
            </details>
        }
        .into_any()
    })
}

/// The pages that were picked, up to [`PICKED_MAX`].
fn picked_pages(mut paths: Vec<String>) -> MatchingPages {
    let total = paths.len() as u64;
    paths.truncate(PICKED_MAX);
    MatchingPages { paths, total }
}

/// What *Select all pages that match* selects.
enum Selected {
    /// At most [`PICKED_MAX`].
    Pages(MatchingPages),
    /// None: days of the query are missing from the daily history.
    Missing(MissingDays),
}

/// The pages that match a query of the pages table.
async fn matching_pages(project: &str, query: &str) -> Result<Selected, AppError> {
    let (fields, today) = (request::read(query), clock::today());
    let query = AnalyticsQuery::of(|name| fields.get(name), today);
    let query = query.map_err(|invalid| invalid.problem)?.sized(PICKED_MAX as i64);
    let range = query.range(today);
    match (analytics::matching_pages(project, query).await, range) {
        (Err(error), Some(range)) if error.code == ErrorCode::NotInHistory => {
            let wanted = MissingDays::load(project, range).await?;
            wanted.filter(|days| days.missing.retained_from.is_none()).map(Selected::Missing).ok_or(error)
        }
        (pages, _) => pages.map(Selected::Pages),
    }
}

/// Why no page is selected, with the button that fetches the missing days.
fn not_selected(project: &str, query: &str, days: &MissingDays) -> AnyView {
    let back = with_query(&links::new_batch(project, ""), &[(MATCHING, query)]);
    let text = view! {
        <p>
            <strong>{days_are_missing(days.missing.days)}</strong>
            " from the daily history, so no pages are selected. Fetch them, and load this page again."
        </p>
        {fetch_days(project, days, &back, true)}
    };
    notice(Tone::Warning, text).into_any()
}

/// That these are more pages than a batch has jobs.
fn first_of(MatchingPages { paths, total }: &MatchingPages, pages: &str) -> Option<AnyView> {
    let selected = paths.len() as u64;
    (*total > selected).then(|| {
        let text = format!("The first {} of {} {pages} are selected.", grouped(selected), grouped(*total));
        notice(Tone::Warning, view! { <p>{text}</p> }).into_any()
    })
}

/// The templates to start with, as a part of the form: *Use template* submits all fields. Empty without a template for many pages.
fn choice(templates: &[TemplateText], chosen: &str) -> Option<AnyView> {
    let many: Vec<_> = templates.iter().filter(|known| !placeholders(&known.text).is_empty()).collect();
    if many.is_empty() {
        return None;
    }
    let options = many.into_iter().map(|known| {
        let id = known.id.to_string();
        let is_chosen = id == chosen;
        view! { <option value=id selected=is_chosen>{known.name.clone()}</option> }
    });
    Some(
        view! {
            <div class="template-choice">
                <label class="field-label" for="template-choice">"Template"</label>
                <select id="template-choice" class="field" name="template" autocomplete="off">
                    <option value="">"None"</option>
                    {options.collect_view()}
                </select>
                <button class="button" type="submit" formaction=UseTemplate::PATH formnovalidate>"Use template"</button>
            </div>
        }
        .into_any(),
    )
}

fn advice() -> AnyView {
    view! {
        <aside class="advice" aria-label="How a batch works">
            <h2>"How a batch works"</h2>
            <ul>
                <li>"A placeholder is a name in double braces, such as " <code>"{{page}}"</code> "."</li>
                <li>
                    "A placeholder may have a default value: " <code>"{{version=3.2}}"</code>
                    ". A line may leave out all values that have a default."
                </li>
                <li>"Each line of the list makes one job. A batch has at most 200 jobs."</li>
                <li>
                    "For several placeholders, separate the values on a line with commas, semicolons or tabs, in the order in which the placeholders first appear."
                </li>
                <li>
                    "The list is CSV: put a value that contains a comma or a line break in quotes, such as " <code>"\"Install, then configure\""</code> ". Write a quote inside such a value twice."
                </li>
                <li>"A first line with the names of the placeholders makes no job."</li>
                <li>"The value of " <code>"{{page}}"</code> " becomes the job’s page."</li>
                <li>"The jobs go into the queue. Up to 10 are sent at once while more than half of the hourly budget is free. The others follow evenly."</li>
            </ul>
        </aside>
    }
    .into_any()
}
