//! `/p/{project}/templates`: prompt templates, how their jobs ended, and the form for one of them (`?edit=`).

mod editor;
mod score;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::empty::{empty, learn_about};
use crate::ui::components::form::{confirm, post_form};
use crate::ui::components::icon::{self, icon};
use crate::ui::components::page_room::{Room, TEXT_MAX, beginning, escaped_len};
use crate::ui::components::read_only::read_only;
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::templates::{RemoveTemplate, all_templates};
use model::links;
use model::saved_template::SavedTemplate;
use model::template::{Piece, pieces, placeholders};

/// The elements around the text of a template: its name, its scorecard and its forms.
const AROUND: usize = 4 * 1024;

/// The element of a placeholder.
const PIECE: usize = 64;

/// The shown part of a text for which the page has no room.
const START: usize = 1_024;

#[component]
pub fn Templates() -> impl IntoView {
    match request::query().get("edit") {
        Some(_) if !request::session().can_start_jobs() => {
            let head = page_head("Templates", "Prompts to start from.", ());
            let why = "Changing templates needs the operator role. An administrator can give it to you.";
            view! { {head} {read_only(&request::project(), why)} }.into_any()
        }
        Some(template) => editor::editor(template, request::query().get("job")),
        None => list(),
    }
}

fn list() -> AnyView {
    let project = request::project();
    let may_edit = request::session().can_start_jobs();
    let refused = outcome_of(&[RemoveTemplate::PATH]);
    page(async move {
        let templates = all_templates(project.clone()).await?;
        let add = may_edit.then(|| {
            let href = links::edit_template(&project, None);
            view! { <a class="button button-primary" href=href>{icon(icon::PLUS)} "New template"</a> }
        });
        let content = if templates.is_empty() {
            none_yet(&project, may_edit)
        } else {
            let mut room = Room::of_page();
            let entries: Vec<_> =
                templates.iter().map(|template| entry(&project, template, may_edit, &mut room)).collect();
            view! {
                <ul class="templates" aria-label="Templates">{entries}</ul>
                <p class="hint">{score::EXPLAINED}</p>
            }
            .into_any()
        };
        Ok(view! {
            {page_head("Templates", "Prompts to start from, and how the jobs started from them ended.", add)}
            {refused}
            <div data-region="templates">{content}</div>
        }
        .into_any())
    })
}

fn entry(project: &str, template: &SavedTemplate, may_edit: bool, room: &mut Room) -> AnyView {
    room.use_up(AROUND);
    let actions = may_edit.then(|| actions(project, template));
    view! {
        <li class="template" data-key=template.id.to_string()>
            <div class="template-head">
                <h2 dir="auto">{template.name.clone()}</h2>
                {actions}
            </div>
            {text(&template.text, room)}
            {score::score(&template.score)}
        </li>
    }
    .into_any()
}

/// The text, or its beginning if the page would be too large with all of it.
fn text(text: &str, room: &mut Room) -> AnyView {
    let found = pieces(text);
    let size = escaped_len(text) + found.len() * PIECE;
    if size <= TEXT_MAX && room.take(size) {
        let whole = found.into_iter().map(piece).collect_view();
        return view! { <p class="template-text" dir="auto">{whole}</p> }.into_any();
    }
    let start = format!("{}…", beginning(text, START));
    view! {
        <p class="template-text" dir="auto">{start}</p>
        <p class="hint">"Only the beginning is shown, because the page would be too large with the whole text."</p>
    }
    .into_any()
}

fn piece(piece: Piece) -> AnyView {
    match piece {
        Piece::Text(text) => text.to_owned().into_any(),
        Piece::Placeholder { name, default: "" } => {
            view! { <code class="placeholder">{name.to_owned()}</code> }.into_any()
        }
        Piece::Placeholder { name, default } => {
            view! { <code class="placeholder">{name.to_owned()} " = " {default.to_owned()}</code> }.into_any()
        }
    }
}

fn actions(project: &str, template: &SavedTemplate) -> AnyView {
    let id = template.id.to_string();
    let many = (!placeholders(&template.text).is_empty()).then(|| {
        let href = links::new_batch_of(project, &id);
        view! { <a class="button" href=href>"Use for many pages"</a> }
    });
    let confirmation = view! {
        <p>"Its jobs keep their text. The figures about them are deleted."</p>
        <button type="submit" class="button" data-done="Template deleted">"Delete " <bdi>{template.name.clone()}</bdi></button>
    };
    let hidden = vec![("project", project.to_owned()), ("template", id.clone())];
    view! {
        <div class="actions">
            <a class="button row-target" href=links::new_job_by(project, &id, "")>
                "Use" <span class="visually-hidden">" " {template.name.clone()}</span>
            </a>
            {many}
            <a class="button" href=links::edit_template(project, Some(&id))>
                "Edit" <span class="visually-hidden">" " {template.name.clone()}</span>
            </a>
            {confirm("Delete…", post_form("stack", RemoveTemplate::PATH, hidden, confirmation))}
        </div>
    }
    .into_any()
}

fn none_yet(project: &str, may_edit: bool) -> AnyView {
    let href = links::edit_template(project, None);
    let step = may_edit.then(|| view! { <a class="button" href=href>"Create a template"</a> });
    empty(
        "No templates yet",
        "A template is a prompt that you use again, with placeholders such as {{page}} for what changes. Its figures show how its jobs end.",
        view! { {step} {learn_about("templates-and-batches", "templates and batches")} },
    ).into_any()
}
