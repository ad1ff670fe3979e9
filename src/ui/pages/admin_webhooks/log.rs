//! What became of the last events of a webhook.

use leptos::prelude::*;

use super::button;
use crate::model::webhook::{DeliveryOutcome, WebhookDelivery};
use crate::ui::components::moment::exactly;

use crate::ui::state::post::Post;

pub(super) fn log(events: Vec<WebhookDelivery>, retry: Post) -> AnyView {
    let body = match events.is_empty() {
        true => {
            view! { <p class="none">"Nothing was to be told yet. Send a test to see it arrive."</p> }.into_any()
        }
        false => view! {
            <table class="status-table" aria-labelledby="log">
                <thead>
                    <tr>
                        <th scope="col">"Event"</th>
                        <th scope="col">"Time"</th>
                        <th scope="col">"Tries"</th>
                        <th scope="col">"Answer"</th>
                        <th scope="col">"Next try"</th>
                        <th scope="col"><span class="visually-hidden">"Actions"</span></th>
                    </tr>
                </thead>
                <tbody>{events.into_iter().map(|event| row(event, retry)).collect_view()}</tbody>
            </table>
        }
        .into_any(),
    };
    view! {
        <section class="group">
            <h2 id="log">"Log"</h2>
            {body}
            <p class="faint">"The last 50 events. An event that arrives twice has the same id."</p>
        </section>
    }
    .into_any()
}

fn row(event: WebhookDelivery, retry: Post) -> AnyView {
    let answer = outcome(&event);
    let next = event.next_try_at.map_or_else(|| "None".into_any(), exactly);
    view! {
        <tr data-outcome=event.outcome.as_str()>
            <th scope="row">{event.event}</th>
            <td data-label="Time">{exactly(event.at)}</td>
            <td data-label="Tries">{event.attempts.to_string()}</td>
            <td data-label="Answer"><span>{answer} " " <span class="soft">{event.note}</span></span></td>
            <td data-label="Next try">{next}</td>
            <td>{button(retry, "delivery", event.id.to_string(), "Send again")}</td>
        </tr>
    }
    .into_any()
}

/// How it stands with an event, in a few words.
pub(super) fn outcome(event: &WebhookDelivery) -> String {
    let word = match event.outcome {
        DeliveryOutcome::Delivered => "Delivered",
        DeliveryOutcome::GivenUp => "Given up",
        DeliveryOutcome::Waiting if event.attempts == 0 => "Not sent yet",
        DeliveryOutcome::Waiting => "Not delivered yet",
    };
    match event.status {
        Some(status) => format!("{word} ({status})"),
        None => word.to_owned(),
    }
}
