//! The form for a template, new or known.

use leptos::prelude::*;

use crate::api::call::call;
use crate::api::templates::{GetTemplateForm, SaveTemplate};
use crate::model::saved_template::TemplateForm;
use crate::ui::components::failure;
use crate::ui::components::loading::{self, loaded};
use crate::ui::components::page_head::page_head;
use crate::ui::components::prompt_field::as_content;
use crate::ui::components::submit_button::submit_button;

use crate::model::links;
use crate::ui::state::asked::Asked;
use crate::ui::state::post::Post;

const MISTAKE: &str = "A template has a name of its own with 1 to 80 characters, and a text no longer than a prompt. It has at most 20 places, none of them called from, prompt or template.";

/// `template` as it stands in the address: an id, or `new`.
pub(super) fn editor(project: String, template: String) -> AnyView {
    let id = Some(template).filter(|id| id != "new");
    let title = if id.is_some() { "Edit template" } else { "New template" };
    let form = {
        let project = project.clone();
        Asked::once(move || call(GetTemplateForm { project: project.clone(), template: id.clone() }))
    };
    let save = Post::to::<SaveTemplate>(MISTAKE);
    let places = view! {
        "Places for what changes stand in double braces, such as " <code>"{{page}}"</code> "."
    };
    view! {
        {page_head(title, places.into_any(), ().into_any())}
        {loaded(form, loading::conversation, move |form| fields(&project, form, save))}
    }
    .into_any()
}

fn fields(project: &str, form: TemplateForm, save: Post) -> AnyView {
    view! {
        {move || failure::of_form(save.problem())}
        <form class="stack template-form" method="post" action=save.url on:submit=save.submitting()>
            <input type="hidden" name="project" value=project.to_owned() />
            <input type="hidden" name="template" value=form.id.map(String::from).unwrap_or_default() />
            <label class="field-label" for="name">"Name"</label>
            <input id="name" class="field" name="name" value=form.name maxlength="80" dir="auto" required autocomplete="off" />
            <label class="field-label" for="text">"Text"</label>
            <textarea
                id="text"
                name="text"
                class="field prompt"
                rows="10"
                dir="auto"
                required
                placeholder="Check {{page}} against the current SDK and fix every step that no longer works."
                inner_html=as_content(&form.text)
            ></textarea>
            <div class="send">
                {submit_button(save, "Save template", "Saving…")}
                <a class="button" href=links::templates(project)>"Cancel"</a>
            </div>
        </form>
    }
    .into_any()
}
