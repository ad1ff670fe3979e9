//! The form for a new or existing template.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::{as_content, post_form, submit_button};
use crate::ui::pages::outcome::outcome;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::jobs::shown_job;
use api::templates::{SaveTemplate, get_template_form};
use model::job::ShownFollowUps;
use model::links;

/// From the URL: `template`, an id or `new`; `job`, whose prompt is the text of a new template.
pub(super) fn editor(template: String, job: Option<String>) -> AnyView {
    let project = request::project();
    let id = Some(template).filter(|id| id != "new");
    let refused = request::flash(SaveTemplate::PATH).filter(|message| message.outcome.is_err());
    page(async move {
        let title = if id.is_some() { "Edit template" } else { "New template" };
        let form = get_template_form(project.clone(), id).await?;
        let (name, text) = match &refused {
            Some(refused) => (refused.typed("name").to_owned(), refused.typed("text").to_owned()),
            None => match job.filter(|_| form.id.is_none()) {
                Some(job) => {
                    (form.name, shown_job(project.clone(), &job, ShownFollowUps::default()).await?.prompt)
                }
                None => (form.name, form.text),
            },
        };
        let hint = view! { "Use " <code>"{{page}}"</code> " for variables, and " <code>"{{version=3.2}}"</code> " for one with a default value." };
        let fields = view! {
            <label class="field-label" for="name">"Name"</label>
            <input id="name" class="field" name="name" value=name maxlength="80" dir="auto" required autocomplete="off" />
            <label class="field-label" for="text">"Text"</label>
            <textarea
                id="text"
                name="text"
                class="field prompt"
                rows="10"
                dir="auto"
                required
                placeholder="Check {{page}} against the current SDK and fix every step that no longer works."
                inner_html=as_content(&text)
            ></textarea>
            <div class="send">
                {submit_button("Save template")}
                <a class="button" href=links::templates(&project)>"Cancel"</a>
            </div>
        };
        let hidden = vec![("project", project), ("template", form.id.map(String::from).unwrap_or_default())];
        Ok(view! {
            {page_head(title, hint, ())}
            {refused.as_ref().and_then(outcome)}
            {post_form("stack template-form", SaveTemplate::PATH, hidden, fields)}
        }
        .into_any())
    })
}
