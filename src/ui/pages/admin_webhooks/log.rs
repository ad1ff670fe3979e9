//! The last events of a webhook.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::button;
use crate::api::webhooks::RetryDelivery;
use crate::model::webhook::{DeliveryOutcome, WebhookDelivery};
use crate::ui::components::moment::exactly;
use crate::ui::components::table::{Column, status_table};

const COLUMNS: [Column; 6] = [
    Column::Text("Event"),
    Column::Text("Time"),
    Column::Text("Attempts"),
    Column::Text("Answer"),
    Column::Text("Next attempt"),
    Column::Actions,
];

pub(super) fn log(events: Vec<WebhookDelivery>) -> AnyView {
    let body = match events.is_empty() {
        true => view! { <p class="none">"No events yet. Send a test to see one arrive."</p> }.into_any(),
        false => status_table("Log", &COLUMNS, events.into_iter().map(row).collect()),
    };
    view! {
        <section class="group">
            <h2>"Log"</h2>
            {body}
            <p class="faint">"The last 50 events. An event that is sent twice has the same id."</p>
        </section>
    }
    .into_any()
}

fn row(event: WebhookDelivery) -> Vec<AnyView> {
    let answer = outcome(&event);
    let next = event.next_try_at.map_or_else(|| "None".into_any(), exactly);
    vec![
        event.event.into_any(),
        exactly(event.at),
        event.attempts.to_string().into_any(),
        view! { {answer} " " <span class="soft">{event.note}</span> }.into_any(),
        next,
        button(RetryDelivery::PATH, "delivery", event.id.to_string(), "Send again"),
    ]
}

/// The state of an event, in a few words.
pub(super) fn outcome(event: &WebhookDelivery) -> String {
    let word = match event.outcome {
        DeliveryOutcome::Delivered => "Delivered",
        DeliveryOutcome::GivenUp => "Failed",
        DeliveryOutcome::Waiting => "Pending",
    };
    match event.status {
        Some(status) => format!("{word} ({status})"),
        None => word.to_owned(),
    }
}
