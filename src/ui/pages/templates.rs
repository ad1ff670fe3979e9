//! `/p/{project}/templates`: texts to start from, how their jobs ended, and the form for one of them (`?edit=`).

mod editor;
mod score;

use leptos::prelude::*;

use crate::api::call::call;
use crate::api::templates::{ListTemplates, RemoveTemplate};
use crate::model::saved_template::SavedTemplate;
use crate::model::template::{Piece, pieces};
use crate::ui::components::empty::empty;
use crate::ui::components::failure;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::loading::{self, loaded, nothing, suspended};
use crate::ui::components::page_head::page_head;
use crate::ui::erase::{Erase, effect};
use crate::model::links;
use crate::ui::state::address;
use crate::ui::state::asked::Asked;
use crate::ui::state::post::Post;
use crate::ui::state::toasts::Toasts;
use crate::ui::state::{project, session};

/// Texts longer than this are not put into an address.
const ADDRESS_CHARS: usize = 1500;

const MISTAKE: &str = "The template could not be deleted.";

/// The list and the form are two pages: nothing of one is kept for the other.
#[component]
pub fn Templates() -> impl IntoView {
    let query = address::query();
    let edit = Memo::new(move |_| query.read().get("edit"));
    let page = move || match edit.get() {
        Some(template) => editor::editor(project::current(), template),
        None => list(project::current()),
    };
    view! { {page} }.into_any()
}

fn list(project: String) -> AnyView {
    let templates = {
        let project = project.clone();
        Asked::once(move || call(ListTemplates { project: project.clone() }))
    };
    let remove = Post::to::<RemoveTemplate>(MISTAKE);
    let toasts = Toasts::get();
    effect(move || {
        if let Some(Ok(())) = remove.outcome() {
            toasts.say("The template was deleted".to_owned(), None);
            templates.again();
        }
    });
    let session = session::get();
    let add = {
        let href = links::edit_template(&project, None);
        move || {
            match session::can_start_jobs(session) {
            true => view! { <a class="button button-primary" href=href.clone()>{icon(icon::PLUS)} "New template"</a> }.into_any(),
            false => ().into_any(),
        }
        }
    };
    let shown = move |templates: Vec<SavedTemplate>| {
        let may_edit = session::can_start_jobs(session);
        if templates.is_empty() {
            return none_yet(&project, may_edit);
        }
        let entries = templates.iter().map(|template| entry(&project, template, remove, may_edit));
        view! {
            <ul class="templates" aria-label="Templates">{entries.collect_view()}</ul>
            <p class="hint">{score::EXPLAINED}</p>
        }
        .into_any()
    };
    view! {
        {page_head("Templates", "Texts to start from, and how the jobs that came from them ended".into_any(), suspended(nothing, std::sync::Arc::new(add)))}
        {move || failure::of_form(remove.problem())}
        {loaded(templates, loading::rows, shown)}
    }
    .into_any()
}

fn entry(project: &str, template: &SavedTemplate, remove: Post, may_edit: bool) -> AnyView {
    let actions = may_edit.then(|| actions(project, template, remove));
    view! {
        <li class="template">
            <div class="template-head">
                <h2 dir="auto">{template.name.clone()}</h2>
                {actions}
            </div>
            <p class="template-text" dir="auto">{pieces(&template.text).into_iter().map(piece).collect_view()}</p>
            {score::score(&template.score)}
        </li>
    }
    .into_any()
}

fn piece(piece: Piece) -> AnyView {
    match piece {
        Piece::Text(text) => text.to_owned().into_any(),
        Piece::Place(name) => view! { <code class="place">{name.to_owned()}</code> }.into_any(),
    }
}

fn actions(project: &str, template: &SavedTemplate, remove: Post) -> AnyView {
    let id = template.id.to_string();
    let many = (template.text.chars().count() <= ADDRESS_CHARS).then(|| {
        let href = links::new_batch_of(project, &template.text, &id);
        view! { <a class="button" href=href>"Use for many pages"</a> }.into_any()
    });
    view! {
        <div class="actions">
            <a class="button row-target" href=links::new_job_by(project, &id, "")>
                "Use" <span class="visually-hidden">" " {template.name.clone()}</span>
            </a>
            {many}
            <a class="button" href=links::edit_template(project, Some(&id))>
                "Edit" <span class="visually-hidden">" " {template.name.clone()}</span>
            </a>
            <details class="delete">
                <summary class="button">"Delete…"</summary>
                <form method="post" action=remove.url on:submit=remove.submitting()>
                    <input type="hidden" name="project" value=project.to_owned() />
                    <input type="hidden" name="template" value=id />
                    <p>"Its jobs keep their text. Its scorecard goes with it."</p>
                    <button type="submit" class="button">
                        "Delete " <bdi>{template.name.clone()}</bdi>
                    </button>
                </form>
            </details>
        </div>
    }
    .into_any()
}

fn none_yet(project: &str, may_edit: bool) -> AnyView {
    let href = links::edit_template(project, None);
    let step =
        may_edit.then(|| view! { <a class="button" href=href>"Write the first one"</a> }.into_any()).into_any();
    empty(
        "No templates yet",
        "A template is a text that you need again, with places such as {{page}} for what changes. Its scorecard shows how its jobs end.",
        step,
    )
}
