//! The last events of a webhook.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::button;
use crate::ui::components::table::{ACTIONS, table};
use crate::ui::components::time::{ago, ahead};
use api::webhooks::RetryDelivery;
use model::links;
use model::webhook::{WebhookDelivery, WebhookOutcome};

const COLUMNS: [&str; 7] = ["Event", "Job", "Time", "Attempts", "Response", "Next attempt", ACTIONS];

/// `project`: the webhook's project.
pub(super) fn log(events: Vec<WebhookDelivery>, project: String) -> AnyView {
    let body = match events.is_empty() {
        true => view! { <p class="none">"No events yet. Send a test to see one arrive."</p> }.into_any(),
        false => table("Log", &COLUMNS, events.into_iter().map(|event| row(event, &project)).collect_view()),
    };
    view! {
        <section class="group">
            <h2>"Log"</h2>
            {body}
            <p class="faint">
                "The last 50 events. An event that is sent twice has the same id. Events that were not delivered are stored for 30 days, and can be sent again."
            </p>
        </section>
    }
    .into_any()
}

fn row(event: WebhookDelivery, project: &str) -> AnyView {
    let job = job(&event, project);
    let response = outcome(&event);
    let next = event.next_try_at.map_or_else(|| "None".into_any(), |at| ahead(at).into_any());
    view! {
        <tr>
            <th scope="row">{event.event}</th>
            <td data-label="Job"><span>{job}</span></td>
            <td data-label="Time">{ago(event.at)}</td>
            <td data-label="Attempts">{event.attempts.to_string()}</td>
            <td data-label="Response"><span>{response} " " <span class="soft">{event.note}</span></span></td>
            <td data-label="Next attempt">{next}</td>
            <td>{button(RetryDelivery::PATH, "delivery", event.id.to_string(), "Send again")}</td>
        </tr>
    }
    .into_any()
}

/// The job of an event, with its title at that time.
fn job(event: &WebhookDelivery, project: &str) -> AnyView {
    let Some(job) = &event.job else { return "None, this is a test".into_any() };
    let title = event.title.clone().filter(|title| !title.is_empty()).unwrap_or_else(|| job.to_string());
    view! { <a href=links::job(project, job.as_str()) dir="auto">{title}</a> }.into_any()
}

/// The state of an event as a label.
pub(super) fn outcome(event: &WebhookDelivery) -> String {
    let word = match event.outcome {
        WebhookOutcome::Delivered => "Delivered",
        WebhookOutcome::GivenUp => "Failed",
        WebhookOutcome::Waiting => "Pending",
    };
    match event.status {
        Some(status) => format!("{word} ({status})"),
        None => word.to_owned(),
    }
}
