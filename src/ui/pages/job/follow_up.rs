//! The box for a further prompt. It stays in reach at the foot of the screen.

use leptos::prelude::*;

use crate::api::jobs::SendFollowUp;
use crate::model::job::{Job, JobForm};
use crate::ui::components::failure;
use crate::ui::components::prompt_field::{PromptField, prompt_field};
use crate::ui::state::drafts::Draft;

pub(super) fn follow_up(send: ServerAction<SendFollowUp>, job: &Job, form: JobForm, draft: Draft) -> AnyView {
    let (project, id) = (job.project.to_string(), job.id.to_string());
    let intent = form.intent.to_string();
    let answer = send.value();
    let pending = send.pending();
    let field = PromptField {
        id: "follow-up",
        label: "Follow-up",
        placeholder: "Ask for a change, or answer the agent",
        rows: 2,
        text: form.draft,
        draft,
    };
    view! {
        <div class="follow-up">
            {move || failure::of_form(answer.get().and_then(Result::err))}
            <ActionForm action=send attr:class="follow-up-form">
                <input type="hidden" name="project" value=project />
                <input type="hidden" name="job" value=id />
                <input type="hidden" name="intent" value=intent autocomplete="off" />
                {prompt_field(field)}
                <button type="submit" class="button button-primary" disabled=move || pending.get()>
                    {move || if pending.get() { "Sending…" } else { "Send follow-up" }}
                </button>
            </ActionForm>
        </div>
    }
    .into_any()
}
