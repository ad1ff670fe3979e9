//! The form that adds a webhook.

use leptos::prelude::*;

use crate::model::user::Project;
use crate::ui::components::failure;
use crate::ui::components::submit_button::submit_button;

use crate::ui::state::post::Post;

/// What a person can have done wrong in it.
pub(super) const MISTAKE: &str = "The address must begin with https://, have no user or password in it, and not lead into a private network.";

pub(super) fn form(add: Post, projects: Vec<Project>) -> AnyView {
    let options = projects
        .into_iter()
        .map(|project| view! { <option value=project.id.to_string()>{project.name}</option> }.into_any())
        .collect_view();
    view! {
        <section class="group narrow">
            <h2>"Add a webhook"</h2>
            {move || failure::of_form(add.problem())}
            <form class="stack" method="post" action=add.url on:submit=add.submitting()>
                <label class="field-label" for="project">"Project"</label>
                <select id="project" class="field" name="project">{options}</select>
                <label class="field-label" for="kind">"Form"</label>
                <select id="kind" class="field" name="kind">
                    <option value="json">"JSON, signed with HMAC-SHA-256"</option>
                    <option value="slack">"A message for Slack, or what takes the same"</option>
                </select>
                <label class="field-label" for="address">"Address"</label>
                <input
                    id="address"
                    class="field"
                    type="url"
                    name="address"
                    placeholder="https://hooks.example.com/docket"
                    required
                    autocomplete="off"
                    spellcheck="false"
                    aria-describedby="address-hint"
                />
                <p class="hint" id="address-hint">
                    "Told of each job that completes, fails, is archived, is not taken or is given up: its title, author, state and links."
                </p>
                {submit_button(add, "Add webhook", "Adding…")}
            </form>
        </section>
    }
    .into_any()
}
