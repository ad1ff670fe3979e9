//! `/admin/audit`: who did what, when, from where and with what outcome.

use crate::model::audit::{Action, Outcome, Record};
use crate::server::audit::page::AuditPage;
use crate::server::audit::question::AuditQuery;
use crate::server::store::audit::verify::Verdict;
use crate::ui::components::icon;
use crate::model::links;
use crate::ui::markup::{Markup, markup};
use crate::ui::pages::settings::notice;

pub fn drawn(page: &AuditPage) -> Markup {
    let body = match &page.records {
        Ok(records) if records.is_empty() => empty(&page.query),
        Ok(records) => markup(
            r#"<table class="status-table" aria-labelledby="records"><thead><tr><th scope="col">Time (UTC)</th><th scope="col">Who</th><th scope="col">What</th><th scope="col">Project</th><th scope="col">Outcome</th></tr></thead><tbody>{}</tbody></table>{}"#,
            &[&records.iter().map(row).collect::<Markup>(), &pager(page)],
        ),
        Err(refused) => notice::notice("bad", "alert", icon::CROSS, &refused.message, &Markup::default()),
    };
    let files = ["csv", "json"].map(|kind| links::audit_export(&page.query.without_place(), kind));
    markup(
        r#"{}{}<section class="group"><div class="section-head"><h2 id="records">Records</h2><p class="exports">Export <a href="{}" rel="external" download>CSV</a> <a href="{}" rel="external" download>JSON</a></p></div>{}</section>"#,
        &[&checked(page), &filters(page), &files[0], &files[1], &body],
    )
}

fn filters(page: &AuditPage) -> Markup {
    let query = &page.query;
    let people = page.people.iter().map(|name| (name.as_str(), name.as_str()));
    let actions = Action::all().map(|action| (action.as_str(), action.title()));
    let outcomes = [Outcome::Done, Outcome::Refused].map(|outcome| (outcome.as_str(), outcome.title()));
    let projects = page.projects.iter().map(|project| (project.id.as_str(), project.name.as_str()));
    let fields: Markup = [
        choice("person", "Person", "Everybody", &query.person, people),
        choice("action", "Action", "Every action", &query.action, actions),
        choice("outcome", "Outcome", "Every outcome", &query.outcome, outcomes),
        choice("project", "Project", "Every project", &query.project, projects),
        day("from", "From", &query.from),
        day("to", "To", &query.to),
    ]
    .into_iter()
    .collect();
    let all = match query.is_filtered() {
        true => markup(r#"<a class="button" href="{}">All records</a>"#, &[&links::AUDIT]),
        false => Markup::default(),
    };
    markup(
        r#"<form class="record-filters" method="get" action="{}" role="search" aria-label="Records">{}<div class="actions"><button class="button" type="submit">Show</button>{}</div></form>"#,
        &[&links::AUDIT, &fields, &all],
    )
}

fn choice<'a>(
    name: &'static str,
    label: &'static str,
    all: &'static str,
    chosen: &str,
    options: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Markup {
    let options = options.into_iter().map(|(value, text)| {
        let template = match value == chosen {
            true => r#"<option value="{}" selected>{}</option>"#,
            false => r#"<option value="{}">{}</option>"#,
        };
        markup(template, &[&value, &text])
    });
    markup(
        r#"<div class="stack"><label class="field-label" for="{}">{}</label><select class="field" id="{}" name="{}"><option value="">{}</option>{}</select></div>"#,
        &[&name, &label, &name, &name, &all, &options.collect::<Markup>()],
    )
}

fn day(name: &'static str, label: &'static str, value: &str) -> Markup {
    markup(
        r#"<div class="stack"><label class="field-label" for="{}">{}</label><input class="field" id="{}" type="date" name="{}" value="{}"></div>"#,
        &[&name, &label, &name, &name, &value],
    )
}

fn row(record: &Record) -> Markup {
    let at = record.at.to_string();
    let minute = at.get(..19).unwrap_or(&at).replace('T', " ");
    let who = if record.actor.is_empty() { "Nobody known" } else { &record.actor };
    let title = record.action.parse().map_or(record.action.as_str(), |action: Action| action.title());
    let outcome = record.outcome.parse().map_or(record.outcome.as_str(), |outcome: Outcome| outcome.title());
    let address = match record.address.is_empty() {
        true => Markup::default(),
        false => markup(r#" <span class="faint">{}</span>"#, &[&record.address]),
    };
    markup(
        r#"<tr data-action="{}" data-outcome="{}"><th scope="row"><time datetime="{}">{}</time><span class="faint">{}</span></th><td data-label="Who"><span><bdi>{}</bdi>{}</span></td><td data-label="What"><span>{}{}</span></td><td data-label="Project"><span>{}</span></td><td data-label="Outcome"><span>{}</span></td></tr>"#,
        &[
            &record.action,
            &record.outcome,
            &at,
            &minute,
            &format!("record {}", record.number),
            &who,
            &address,
            &title,
            &about(record),
            &record.project,
            &outcome,
        ],
    )
}

/// What it was done to, as a way there where there is one, and the rest that is to be said.
fn about(record: &Record) -> Markup {
    let Record { project, subject, detail, .. } = record;
    let said = match detail.is_empty() {
        true => Markup::default(),
        false => markup(r#" <bdi class="soft">{}</bdi>"#, &[detail]),
    };
    let subject = match record.action.parse() {
        _ if subject.is_empty() => Markup::default(),
        Ok(
            Action::JobStart
            | Action::FollowUp
            | Action::Resend
            | Action::Resolve
            | Action::Cancel
            | Action::Adopt,
        ) => to(&links::job(project, subject), "Go to the job"),
        Ok(Action::BatchStart) => to(&links::batch(project, subject), "Go to the batch"),
        Ok(Action::TemplateAdd | Action::TemplateChange) => {
            to(&links::edit_template(project, Some(subject)), "Go to the template")
        }
        Ok(
            Action::WebhookAdd
            | Action::WebhookSecret
            | Action::WebhookEnable
            | Action::WebhookDisable
            | Action::WebhookTest
            | Action::WebhookResend,
        ) => to(&links::webhook_log(subject), "Go to the webhook"),
        Ok(Action::TemplateRemove | Action::WebhookRemove) => Markup::default(),
        Ok(Action::AuditRemove) => {
            let number = subject.split(':').next().unwrap_or_default();
            markup(" up to record {}", &[&number])
        }
        _ => markup(" <bdi>{}</bdi>", &[subject]),
    };
    [subject, said].into_iter().collect()
}

fn to(href: &str, name: &'static str) -> Markup {
    markup(r#" <a href="{}">{}</a>"#, &[&href, &name])
}

fn pager(page: &AuditPage) -> Markup {
    let newest = match page.query.before.is_empty() {
        true => Markup::default(),
        false => {
            let href = links::audit(&page.query.without_place());
            markup(r#"<a class="button" href="{}">Newest</a>"#, &[&href])
        }
    };
    let older = page.next.map(|next| {
        let href = links::audit(&page.query.at(next));
        markup(r#"<a class="button" rel="next" href="{}">Older</a>"#, &[&href])
    });
    markup(
        r#"<nav class="pager" aria-label="Pages of the log"><span class="pager-place"></span>{}{}</nav>"#,
        &[&newest, &older.unwrap_or_default()],
    )
}

fn empty(query: &AuditQuery) -> Markup {
    match query.is_filtered() {
        true => markup(
            r#"<div class="empty"><h2>No record fits</h2><p>Nothing of the kind was done, or it was so long ago that its record was removed.</p><a class="button" href="{}">All records</a></div>"#,
            &[&links::AUDIT],
        ),
        false => markup(
            r#"<div class="empty"><h2>No records yet</h2><p>{}</p></div>"#,
            &[&"Sign-ins, jobs, exports and settings are written down here from now on."],
        ),
    }
}

/// Whether the chain holds, or the way to ask.
fn checked(page: &AuditPage) -> Markup {
    let Some(Verdict { removed, last, fault }) = &page.verdict else {
        return markup(
            r#"<p class="soft">Each record stands under a hash of itself and the one before, so that a change or a gap shows. <a href="{}">Check all records</a></p>"#,
            &[&links::audit(&page.query.checked())],
        );
    };
    let removed = match removed.number {
        0 => String::new(),
        number => format!(" Those up to record {number} were removed because of their age."),
    };
    match fault {
        Some(fault) => {
            let sentence = format!(
                "The log does not hold: {fault}. The database was changed by something else than Docket. Compare it with a backup: docket audit verify --copy FILE.{removed}"
            );
            notice::notice("bad", "alert", icon::CROSS, &sentence, &Markup::default())
        }
        None => {
            let sentence =
                format!("All records are whole and in order, up to record {}.{removed}", last.number);
            let keep = markup(
                r#"<p class="soft">Keep this elsewhere to see later that nothing was cut off (<code>docket audit verify --since</code>):</p><p><code class="secret">{}</code></p>"#,
                &[&last.to_string()],
            );
            notice::notice("ok", "status", icon::CHECK, &sentence, &keep)
        }
    }
}
