//! `/admin/audit`: who did what, when, from which IP address, and with what outcome.

use std::collections::BTreeMap;

use leptos::prelude::*;

use crate::ui::charts::number::grouped;
use crate::ui::components::empty::empty;
use crate::ui::components::notice::{Tone, notice, problem};
use crate::ui::components::table::table;
use crate::ui::components::time::ago;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::audit::audit_page;
use model::audit::{Action, AuditCheck, AuditPage, CountedEvents, Outcome, ROWS_OF_AN_HOUR, Record};
use model::audit_query::AuditQuery;
use model::links;

#[component]
pub fn Audit() -> impl IntoView {
    let fields = request::query();
    let query = AuditQuery::of(|name| fields.get(name));
    let head = page_head("Audit log", "Who did what, when and from where", ());
    let content = page(async move {
        let listed = audit_page(query.clone()).await?;
        Ok(view! {
            {checked(listed.check.as_ref(), &query)}
            {filters(&listed, &query)}
            <section class="group">
                <div class="section-head">
                    <h2>"Records"</h2>
                    {exports(&query)}
                </div>
                <p class="soft">
                    {format!(
                        "The first {ROWS_OF_AN_HOUR} events an hour of one person, action and outcome get a record each. Further ones are counted, and one record states their number an hour later.",
                    )}
                </p>
                {counted(&listed.counted)}
                {records(&listed, &query)}
            </section>
        }
        .into_any())
    });
    view! { {head} {content} }
}

/// The URL of the log with the filters of `query`.
fn href(query: &AuditQuery) -> String {
    links::audit(&query.query_string())
}

fn records(listed: &AuditPage, query: &AuditQuery) -> AnyView {
    if let Some(error) = &listed.problem {
        return problem(Some(error.message.clone())).into_any();
    }
    if listed.records.is_empty() {
        return none(query);
    }
    let rows = listed.records.iter().map(|record| row(record, &listed.titles));
    let heads = ["Time", "Who", "What", "Project", "Outcome"];
    view! {
        {table("Records", &heads, rows.collect_view())}
        {pager(listed.next, query)}
    }
    .into_any()
}

/// Events that are counted but not yet recorded.
fn counted(events: &[CountedEvents]) -> Option<AnyView> {
    let line = |events: &CountedEvents| {
        let who = if events.actor.is_empty() { "Unknown person".to_owned() } else { events.actor.clone() };
        let (action, outcome) = (action(&events.action), outcome(&events.outcome));
        view! {
            <li>
                <bdi>{who}</bdi>
                {format!(": {action}, {outcome}: {} more since ", grouped(events.count))}
                {ago(events.since)}
            </li>
        }
    };
    let lines = events.iter().map(line).collect_view();
    (!events.is_empty()).then(|| {
        let content = view! { <p>"Not recorded one by one:"</p> <ul class="counted-events">{lines}</ul> };
        notice(Tone::Plain, content).into_any()
    })
}

/// Names that this version does not recognize are shown unchanged.
fn action(word: &str) -> String {
    word.parse().map_or(word.to_owned(), |action: Action| action.title().to_owned())
}

fn outcome(word: &str) -> String {
    word.parse().map_or(word.to_owned(), |outcome: Outcome| outcome.title().to_owned())
}

fn exports(query: &AuditQuery) -> AnyView {
    let file = |kind| links::audit_export(&query.from_newest().query_string(), kind);
    view! {
        <p class="exports">
            "Export " <a href=file("csv") download="">"CSV"</a> " " <a href=file("json") download="">"JSON"</a>
        </p>
    }
    .into_any()
}

fn filters(listed: &AuditPage, query: &AuditQuery) -> AnyView {
    let same = |name: &String| (name.clone(), name.clone());
    let people = listed.people.iter().map(same);
    let actions = Action::all().map(|action| (action.as_str().to_owned(), action.title().to_owned()));
    let outcomes = [Outcome::Done, Outcome::Refused];
    let outcomes = outcomes.map(|outcome| (outcome.as_str().to_owned(), outcome.title().to_owned()));
    let projects = listed.projects.iter().map(|project| (project.id.to_string(), project.name.clone()));
    let all = query.is_filtered().then(|| view! { <a class="button" href=links::AUDIT>"All records"</a> });
    view! {
        <form class="record-filters" method="get" action=links::AUDIT role="search" aria-label="Records">
            {choice("person", "Person", "Anyone", &query.person, people)}
            {choice("action", "Action", "Any action", &query.action, actions)}
            {choice("outcome", "Outcome", "Any outcome", &query.outcome, outcomes)}
            {choice("project", "Project", "Any project", &query.project, projects)}
            {day("from", "From", &query.from)}
            {day("to", "To", &query.to)}
            <div class="actions">
                <button class="button" type="submit">"Show"</button>
                {all}
            </div>
        </form>
    }
    .into_any()
}

fn choice(
    name: &'static str,
    label: &'static str,
    all: &'static str,
    chosen: &str,
    options: impl IntoIterator<Item = (String, String)>,
) -> AnyView {
    let options = options.into_iter().map(|(value, text)| {
        let is_chosen = value == chosen;
        view! { <option value=value selected=is_chosen>{text}</option> }
    });
    view! {
        <div class="stack">
            <label class="field-label" for=name>{label}</label>
            <select class="field" id=name name=name>
                <option value="">{all}</option>
                {options.collect_view()}
            </select>
        </div>
    }
    .into_any()
}

fn day(name: &'static str, label: &'static str, value: &str) -> AnyView {
    view! {
        <div class="stack">
            <label class="field-label" for=name>{label}</label>
            <input class="field" id=name type="date" name=name value=value.to_owned() />
        </div>
    }
    .into_any()
}

fn row(record: &Record, titles: &BTreeMap<String, String>) -> AnyView {
    let who = if record.actor.is_empty() { "Unknown person".to_owned() } else { record.actor.clone() };
    let client_ip = (!record.client_ip.is_empty())
        .then(|| view! { " " <span class="faint">{record.client_ip.clone()}</span> });
    let (title, outcome) = (action(&record.action), outcome(&record.outcome));
    view! {
        <tr>
            <th scope="row">
                {ago(record.at)}
                <span class="faint">{format!("record {}", record.number)}</span>
            </th>
            <td data-label="Who"><span><bdi>{who}</bdi> {client_ip}</span></td>
            <td data-label="What"><span>{title} {about(record, titles)}</span></td>
            <td data-label="Project"><span>{record.project.clone()}</span></td>
            <td data-label="Outcome"><span>{outcome}</span></td>
        </tr>
    }
    .into_any()
}

/// The target of the action, as a link if it has a page, and the detail.
fn about(record: &Record, titles: &BTreeMap<String, String>) -> AnyView {
    let detail =
        (!record.detail.is_empty()).then(|| view! { " " <bdi class="soft">{record.detail.clone()}</bdi> });
    let subject = (!record.subject.is_empty()).then(|| subject(record, titles));
    view! { {subject} {detail} }.into_any()
}

fn subject(record: &Record, titles: &BTreeMap<String, String>) -> Option<AnyView> {
    let Record { action, project, subject, .. } = record;
    let (href, name) = match action.parse() {
        Ok(action) if Action::is_about_job(action) => {
            let name = titles.get(subject).map_or("Go to the job", String::as_str);
            (links::job(project, subject), name)
        }
        Ok(Action::BatchStart) => (links::batch(project, subject), "Go to the batch"),
        Ok(Action::TemplateAdd | Action::TemplateChange) => {
            (links::edit_template(project, Some(subject)), "Go to the template")
        }
        Ok(
            Action::WebhookAdd
            | Action::WebhookEvents
            | Action::WebhookSecret
            | Action::WebhookEnable
            | Action::WebhookDisable
            | Action::WebhookTest
            | Action::WebhookResend,
        ) => (links::webhook_log(subject), "Go to the webhook"),
        Ok(Action::TemplateRemove | Action::WebhookRemove) => return None,
        Ok(Action::AuditRemove) => {
            let number = subject.split(':').next().unwrap_or_default();
            return Some(format!(" up to record {number}").into_any());
        }
        _ => return Some(view! { " " <bdi>{subject.clone()}</bdi> }.into_any()),
    };
    Some(view! { " " <a href=href dir="auto">{name.to_owned()}</a> }.into_any())
}

fn pager(next: Option<i64>, query: &AuditQuery) -> AnyView {
    let newest = (!query.before.is_empty())
        .then(|| view! { <a class="button" href=href(&query.from_newest())>"Newest"</a> });
    let older =
        next.map(|next| view! { <a class="button" rel="next" href=href(&query.before(next))>"Older"</a> });
    view! {
        <nav class="pager" aria-label="Pages of the log">
            <span class="pager-position"></span>
            {newest}
            {older}
        </nav>
    }
    .into_any()
}

fn none(query: &AuditQuery) -> AnyView {
    match query.is_filtered() {
        true => empty(
            "No matching records",
            "No event matches these filters, or its record was removed because of its age.",
            view! { <a class="button" href=links::AUDIT>"All records"</a> },
        )
        .into_any(),
        false => {
            empty("No records yet", "Sign-ins, jobs, exports and settings are recorded here from now on.", ())
                .into_any()
        }
    }
}

/// The result of the verification, or the link to start it.
fn checked(check: Option<&AuditCheck>, query: &AuditQuery) -> AnyView {
    let Some(AuditCheck { removed_up_to, last, link, fault }) = check else {
        return view! {
            <p class="soft">
                "Each record carries a hash of itself and the one before it, so that changes and gaps are detected. "
                <a href=href(&query.checked())>"Check all records"</a>
            </p>
        }
        .into_any();
    };
    let removed = match removed_up_to {
        0 => String::new(),
        number => format!(" Records up to {number} were removed because of their age."),
    };
    match fault {
        Some(fault) => problem(Some(format!(
            "The audit log failed verification: {fault}. Something other than Docket changed the database. Compare it with a backup: docket audit verify --copy FILE.{removed}"
        )))
        .into_any(),
        None => {
            let sentence = format!("All records are whole and in order, up to record {last}.{removed}");
            let keep = view! {
                <p>{sentence}</p>
                <p class="soft">
                    "Store this elsewhere to check later that no record was cut off (" <code>"docket audit verify --since"</code> "):"
                </p>
                <p><code class="secret">{link.clone()}</code></p>
            };
            notice(Tone::Good, keep).into_any()
        }
    }
}
