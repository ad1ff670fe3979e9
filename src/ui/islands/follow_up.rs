//! The box for a further prompt. It stays in reach at the foot of the screen, and what is typed in it stays while the page around it
//! changes: it must lie outside of the page's regions, or in an element that they keep.

use leptos::ev::{self, MouseEvent, SubmitEvent};
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::Element;
use serde::{Deserialize, Serialize};

use crate::api::jobs::SendFollowUp;
use crate::error::AppError;
use crate::model::budget::Meter;
use crate::model::job::DeliveryState;
use crate::ui::components::badge::delivery;
use crate::ui::islands::drafts::{Draft, DraftStart, OnPage};
use crate::ui::islands::live::LiveState;
use crate::ui::islands::prompt_field::{PromptField, prompt_field, prompt_notes};
use crate::ui::islands::sending::{Sending, budget, queue_choice};
use crate::ui::islands::{browser, json};

/// On a link in a message of the conversation: puts the message's text into the box. Without JavaScript the link leads to a page that
/// has it there.
pub const AGAIN: &str = "data-again";

/// What the box starts with.
#[derive(Clone, Serialize, Deserialize)]
pub struct FollowUpStart {
    pub job: String,
    pub draft: DraftStart,
    pub text: OnPage,
    /// What is left of the hour's follow-ups.
    pub left: Option<Meter>,
    /// Why it was refused before.
    pub problem: Option<AppError>,
}

/// What the answer says of the job.
#[derive(Deserialize)]
struct Sent {
    follow_ups: Vec<SentFollowUp>,
}

#[derive(Deserialize)]
struct SentFollowUp {
    state: DeliveryState,
}

#[island]
pub fn FollowUp(project: String, start: FollowUpStart) -> impl IntoView {
    let FollowUpStart { job, draft: start, text, left, problem } = start;
    let live = use_context::<LiveState>();
    let draft = Draft::of(&project, Some(&job));
    draft.begin(&start);
    let sending = Sending::to(SendFollowUp::PATH, draft, problem);
    let submit = move |event: SubmitEvent| {
        sending.submit(&event, move |answer, _| {
            let Some(live) = live else { return browser::go(&browser::here()) };
            let sent = json::from_str::<Sent>(&answer).ok();
            if let Some(state) = sent.and_then(|job| job.follow_ups.last().map(|sent| sent.state)) {
                live.toasts.say(format!("Follow-up: {}", delivery(state).1), "", None);
            }
            live.hurry();
        });
    };
    browser::on_window(ev::click, move |event| again(&event, draft));
    let field = PromptField {
        id: "follow-up",
        label: "Follow-up",
        placeholder: "Ask for a change, or answer the agent",
        rows: "2",
        text: text.text,
        draft,
    };
    view! {
        <div class="follow-up">
            {sending.problem()}
            <form class="follow-up-form" method="post" action=SendFollowUp::PATH on:submit=submit>
                <input type="hidden" name="project" value=project autocomplete="off" />
                <input type="hidden" name="job" value=job autocomplete="off" />
                <input type="hidden" name="intent" value=Signal::derive(move || draft.intent()) autocomplete="off" />
                {prompt_field(field)}
                <div class="actions">{sending.buttons("Send follow-up", "Sending…")}</div>
                {queue_choice(budget(left, |budgets| budgets.follow_ups))}
                <div class="follow-up-notes">{prompt_notes(draft, start.most)}</div>
            </form>
        </div>
    }
}

/// Fills the box with the text of a message, where a link asks for that.
fn again(event: &MouseEvent, draft: Draft) {
    if event.ctrl_key() || event.meta_key() || event.shift_key() {
        return;
    }
    let clicked = event.target().and_then(|target| target.dyn_into::<Element>().ok());
    let link = clicked.and_then(|clicked| clicked.closest(&["a[", AGAIN, "]"].concat()).ok().flatten());
    let message = link.and_then(|link| link.closest(".message").ok().flatten());
    let text = message.and_then(|message| message.query_selector(".message-text").ok().flatten());
    if let Some(text) = text.and_then(|text| text.text_content()) {
        event.prevent_default();
        draft.fill(&text, String::new());
    }
}
