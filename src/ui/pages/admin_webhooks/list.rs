//! The list of webhooks with their actions.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use super::add::events_fields;
use super::button;
use super::log::outcome;
use crate::ui::components::form::{confirm, post_form};
use crate::ui::components::localized::counted;
use crate::ui::components::menu::{MenuButton, menu};
use crate::ui::components::table::{ACTIONS, table};
use crate::ui::components::time::ago;
use api::webhooks::{
    ChooseWebhookEvents, DisableWebhook, EnableWebhook, RemoveWebhook, RenewWebhook, RetryAllDeliveries,
    TestWebhook,
};
use model::links;
use model::webhook::{Webhook, WebhookKind, Webhooks};

const COLUMNS: [&str; 6] = ["Address", "Project", "Events", "State", "Last event", ACTIONS];

/// `chosen`: the webhook whose log is shown.
pub(super) fn list(listed: Webhooks, chosen: Option<&str>) -> AnyView {
    if listed.webhooks.is_empty() {
        return view! { <p class="none group">"No webhooks yet. Add one below."</p> }.into_any();
    }
    let rows = listed.webhooks.into_iter().map(|webhook| row(webhook, chosen)).collect_view();
    view! { <div class="group">{table("Webhooks", &COLUMNS, rows)}</div> }.into_any()
}

fn row(webhook: Webhook, chosen: Option<&str>) -> AnyView {
    let id = webhook.id.to_string();
    let form = |path, label| button(path, "webhook", id.clone(), label);
    let kind = match webhook.kind {
        WebhookKind::Json => "JSON, signed",
        WebhookKind::Slack => "Slack",
    };
    let (state, switch) = match webhook.enabled {
        true => ("Enabled", form(DisableWebhook::PATH, "Disable")),
        false => ("Disabled", form(EnableWebhook::PATH, "Enable")),
    };
    let last = match webhook.last {
        Some(event) => view! { {outcome(&event)} ", " {ago(event.tried_at.unwrap_or(event.at))} }.into_any(),
        None => "None yet".into_any(),
    };
    let renew = (webhook.kind == WebhookKind::Json).then(|| {
        let form = form(RenewWebhook::PATH, "Create new secret");
        let hint = "The old secret signs, too, for 24 hours.";
        confirm("New secret…", view! { <p class="hint">{hint}</p> {form} })
    });
    let form_to_remove = form(RemoveWebhook::PATH, "Delete webhook");
    let remove =
        confirm("Delete…", view! { <p class="hint">"This also deletes its log."</p> {form_to_remove} });
    let again =
        (webhook.enabled && webhook.failed > 0).then(|| form(RetryAllDeliveries::PATH, "Send all again"));
    let failed = (webhook.failed > 0).then(|| {
        let events = counted(webhook.failed.into(), "event not delivered", "events not delivered");
        view! { <br /> <span class="soft">{events}</span> }
    });
    let is_shown = (chosen == Some(id.as_str())).then_some("true");
    let choose = view! {
        {events_fields(|event| webhook.events.contains(event))}
        <button type="submit" class="button">"Save events"</button>
    };
    let choose = post_form("stack", ChooseWebhookEvents::PATH, vec![("webhook", id.clone())], choose);
    let content = view! {
        <span aria-hidden="true">"⋯"</span>
        <span class="visually-hidden">"Actions of " {webhook.address.clone()}</span>
    };
    let button = MenuButton { class: "button", label: None, content: content.into_any() };
    let menu = menu(
        ["webhook-", &id].concat(),
        "more-menu",
        button,
        view! { {form(TestWebhook::PATH, "Send a test")} {again} {switch} {confirm("Events…", choose)} {renew} {remove} },
    );
    let actions = view! {
        <div class="actions">
            <a class="button" href=links::webhook_log(&id) aria-current=is_shown>"Log"</a>
            {menu}
        </div>
    };
    view! {
        <tr>
            <th scope="row">{webhook.address} " " <span class="faint">{kind}</span></th>
            <td data-label="Project">{webhook.project.to_string()}</td>
            <td data-label="Events"><span>{webhook.events.names()}</span></td>
            <td data-label="State">{state}</td>
            <td data-label="Last event"><span>{last} {failed}</span></td>
            <td>{actions}</td>
        </tr>
    }
    .into_any()
}
