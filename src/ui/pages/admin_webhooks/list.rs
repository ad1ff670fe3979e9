//! The webhooks there are, what can be done with each, and a secret that was just made.

use leptos::prelude::*;

use super::{Posts, button};
use crate::model::webhook::{Webhook, WebhookKind, Webhooks};
use crate::ui::components::icon::{self, icon};
use crate::ui::components::moment::ago;

use crate::model::links;
use crate::ui::pages::admin_webhooks::log::outcome;

/// `chosen`: the one whose log is shown.
pub(super) fn list(listed: Webhooks, chosen: Option<&str>, posts: Posts) -> AnyView {
    let secret = listed.secret.and_then(|made| made.secret).map(new_secret);
    if listed.webhooks.is_empty() {
        return view! { <p class="none group">"Nobody is told yet: add a webhook below."</p> }.into_any();
    }
    let rows: Vec<_> = listed.webhooks.into_iter().map(|webhook| row(webhook, chosen, posts)).collect();
    view! {
        {secret}
        <table class="status-table group" aria-label="Webhooks">
            <thead>
                <tr>
                    <th scope="col">"Address"</th>
                    <th scope="col">"Project"</th>
                    <th scope="col">"State"</th>
                    <th scope="col">"Last event"</th>
                    <th scope="col"><span class="visually-hidden">"Actions"</span></th>
                </tr>
            </thead>
            <tbody>{rows}</tbody>
        </table>
    }
    .into_any()
}

fn new_secret(secret: String) -> AnyView {
    view! {
        <div class="notice notice-ok" role="status">
            {icon(icon::CHECK)}
            <div>
                <p>"The new secret. Copy it now: it is shown this once. Receivers check with it that what they hear is from Docket."</p>
                <p><code class="secret">{secret}</code></p>
            </div>
        </div>
    }
    .into_any()
}

fn row(webhook: Webhook, chosen: Option<&str>, posts: Posts) -> AnyView {
    let id = webhook.id.to_string();
    let form = |post, label| button(post, "webhook", id.clone(), label);
    let kind = match webhook.kind {
        WebhookKind::Json => "JSON, signed",
        WebhookKind::Slack => "Slack",
    };
    let state = if webhook.enabled { "Enabled" } else { "Disabled" };
    let switch = match webhook.enabled {
        true => form(posts.disable, "Disable"),
        false => form(posts.enable, "Enable"),
    };
    let last = match webhook.last {
        Some(event) => view! { {outcome(&event)} " " {ago(event.tried_at.unwrap_or(event.at))} }.into_any(),
        None => "None yet".into_any(),
    };
    let renew = (webhook.kind == WebhookKind::Json).then(|| {
        confirmed(
            "New secret",
            "The old secret signs nothing from then on.",
            form(posts.renew, "Make a new secret"),
        )
    });
    let remove = confirmed("Delete", "Its log goes too.", form(posts.remove, "Delete it"));
    let is_shown = (chosen == Some(id.as_str())).then_some("true");
    view! {
        <tr>
            <th scope="row">{webhook.address} <span class="faint">{kind}</span></th>
            <td data-label="Project">{webhook.project.to_string()}</td>
            <td data-label="State">{state}</td>
            <td data-label="Last event"><span>{last}</span></td>
            <td>
                <div class="actions">
                    <a class="button" href=links::webhook_log(&id) aria-current=is_shown>"Log"</a>
                    {form(posts.test, "Send a test")}
                    {switch}
                    {renew}
                    {remove}
                </div>
            </td>
        </tr>
    }
    .into_any()
}

/// A button that asks once more, in its place.
fn confirmed(label: &'static str, warning: &'static str, form: AnyView) -> AnyView {
    view! {
        <details class="confirm">
            <summary class="button">{label}</summary>
            <p class="hint">{warning}</p>
            {form}
        </details>
    }
    .into_any()
}
