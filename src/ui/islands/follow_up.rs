//! The form for a follow-up. It must be outside the page's regions or in an element with `data-keep`, so that its text survives
//! refreshes. The server renders the form (`pages::job::follow_up`).

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::web_sys::{MouseEvent, SubmitEvent};
use serde::Deserialize;

use crate::ui::components::badge::delivery;
use crate::ui::islands::live::LiveState;
use crate::ui::islands::prompt_form::{FormStart, Handlers, PromptForm, around};
use crate::ui::islands::{browser, json};
use crate::ui::marks::{AGAIN, FOLLOW_UP_FIELD};
use api::jobs::SendFollowUp;
use model::job::DeliveryState;

/// The part of the response that is used here.
#[derive(Deserialize)]
struct Sent {
    follow_ups: Vec<SentFollowUp>,
}

#[derive(Deserialize)]
struct SentFollowUp {
    state: DeliveryState,
}

/// `children` are the form.
#[island]
pub fn FollowUp(start: FormStart, children: Children) -> impl IntoView {
    let form = PromptForm::new(start, FOLLOW_UP_FIELD.name());
    let handlers = if browser::IS_HERE { Some(begin(form)) } else { None };
    around(form, "follow-up", handlers, children)
}

fn begin(form: PromptForm) -> Handlers {
    form.begin();
    let live = LiveState::here();
    if let Some(live) = &live {
        form.follow_budget(live, |budgets| budgets.follow_ups);
    }
    browser::on_window("click", move |event: MouseEvent| again(&event, form));
    Handlers { submit: submitted, click: |_, _| {} }
}

fn submitted(form: PromptForm, event: SubmitEvent) {
    let Some(attempt) = form.attempt(&event) else { return };
    let live = LiveState::here();
    spawn_local(async move {
        let Some(sent) = attempt.send(SendFollowUp::PATH, false).await else { return };
        let Some(live) = live else { return browser::go(&browser::here()) };
        let job = json::from_str::<Sent>(&sent.text).ok();
        if let Some(state) = job.and_then(|job| job.follow_ups.last().map(|sent| sent.state)) {
            live.toasts.announce("Follow-up:", delivery(state).1);
        }
        live.refresh_now();
    });
}

/// Copies the text of a clicked [`AGAIN`] link into the field.
fn again(event: &MouseEvent, form: PromptForm) {
    let link = browser::target(event, &AGAIN.selector()).filter(|_| browser::is_plain(event));
    if let Some(text) = link.and_then(|link| AGAIN.of(&link)) {
        event.prevent_default();
        form.fill(&text, "");
    }
}
