//! The form for a follow-up. It must be outside the page's regions or in an element with `data-keep`, so that its text survives
//! refreshes. The server renders the form (`pages::job::follow_up`).

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::web_sys::MouseEvent;
use serde::Deserialize;

use crate::ui::components::badge::delivery;
use crate::ui::islands::drafts::{Draft, DraftStart};
use crate::ui::islands::live::LiveState;
use crate::ui::islands::{browser, json, sending};
use api::jobs::SendFollowUp;
use model::job::DeliveryState;

/// Attribute of a link in a message that copies the message's text into the field. Without JavaScript it leads to a page with
/// the text in the field.
pub const AGAIN: &str = "data-again";
/// The id of the field.
pub const FIELD: &str = "follow-up";

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
pub fn FollowUp(project: String, job: String, draft: DraftStart, children: Children) -> impl IntoView {
    if browser::IS_HERE {
        begin(&project, &job, &draft);
    }
    children()
}

fn begin(project: &str, job: &str, start: &DraftStart) {
    let Some(draft) = Draft::of(project, Some(job), FIELD, start) else { return };
    let live = LiveState::here();
    if let Some(live) = &live {
        sending::update_choice(live, &draft, |budgets| budgets.follow_ups);
    }
    sending::listen(
        SendFollowUp::PATH,
        &draft,
        || true,
        move |text, _| {
            let Some(live) = &live else { return browser::go(&browser::here()) };
            let sent = json::from_str::<Sent>(&text).ok();
            if let Some(state) = sent.and_then(|job| job.follow_ups.last().map(|sent| sent.state)) {
                live.toasts.announce("Follow-up:", delivery(state).1);
            }
            live.refresh_now();
        },
    );
    browser::on_window("click", move |event: MouseEvent| again(&event, &draft));
}

/// Copies the text of a clicked [`AGAIN`] link into the field.
fn again(event: &MouseEvent, draft: &Draft) {
    let link = browser::target(event, &["a[", AGAIN, "]"].concat()).filter(|_| browser::is_plain(event));
    if let Some(text) = link.and_then(|link| link.get_attribute(AGAIN)) {
        event.prevent_default();
        draft.fill(&text, "");
    }
}
