//! The box for a further prompt. It stays in reach at the foot of the screen.

use leptos::prelude::*;

use crate::model::job::{Job, JobForm};
use crate::ui::components::prompt_field::{PromptField, prompt_field, prompt_notes};
use crate::ui::components::submit_button::submit_button;
use crate::ui::components::{failure, queue_choice};

use crate::ui::state::budget;
use crate::ui::state::drafts::Draft;
use crate::ui::state::post::Post;

/// `again`: a text to begin with in place of the kept one.
pub(super) fn follow_up(send: Post, job: &Job, form: JobForm, draft: Draft, again: Option<&str>) -> AnyView {
    let (project, id) = (job.project.to_string(), job.id.to_string());
    let intent = form.intent.to_string();
    let text = again.map_or_else(|| form.draft.clone(), str::to_owned);
    let field = PromptField {
        id: "follow-up",
        label: "Follow-up",
        placeholder: "Ask for a change, or answer the agent",
        rows: "2",
        text: draft.rendering(&form, text),
        draft,
    };
    view! {
        <div class="follow-up">
            {move || failure::of_form(send.problem())}
            <form class="follow-up-form" method="post" action=send.url on:submit=send.submitting()>
                <input type="hidden" name="project" value=project />
                <input type="hidden" name="job" value=id />
                <input type="hidden" name="intent" value=intent autocomplete="off" />
                {prompt_field(field)}
                <div class="actions">
                    {submit_button(send, "Send follow-up", "Sending…")} {queue_choice::button(send)}
                </div>
                {queue_choice::checkbox(budget::get(), |budgets| budgets.follow_ups)}
                <div class="follow-up-notes">{prompt_notes(draft, form.prompt_max)}</div>
            </form>
        </div>
    }
    .into_any()
}
