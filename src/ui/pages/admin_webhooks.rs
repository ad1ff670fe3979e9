//! `/admin/webhooks`: notifications to other systems when jobs finish, for administrators. With `?webhook=`, the log of one.

mod add;
mod list;
mod log;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::post_form;
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::webhooks::{
    AddWebhook, ChooseWebhookEvents, DisableWebhook, EnableWebhook, RemoveWebhook, RenewWebhook,
    RetryAllDeliveries, RetryDelivery, TestWebhook, list_webhooks, webhook_deliveries,
};

/// The forms of the page, except a failed [`AddWebhook`].
const FORMS: [&str; 9] = [
    AddWebhook::PATH,
    ChooseWebhookEvents::PATH,
    EnableWebhook::PATH,
    DisableWebhook::PATH,
    RemoveWebhook::PATH,
    RenewWebhook::PATH,
    TestWebhook::PATH,
    RetryDelivery::PATH,
    RetryAllDeliveries::PATH,
];

#[component]
pub fn AdminWebhooks() -> impl IntoView {
    let chosen = request::query().get("webhook");
    let projects = request::session().projects;
    let not_added = request::flash(AddWebhook::PATH).filter(|message| message.outcome.is_err());
    let message = outcome_of(&FORMS).filter(|_| not_added.is_none());
    page(async move {
        let listed = list_webhooks().await?;
        let log = match &chosen {
            Some(webhook) => {
                let events = webhook_deliveries(webhook.clone()).await?;
                let of = listed.webhooks.iter().find(|listed| listed.id.as_str() == webhook);
                Some(log::log(events, of.map(|of| of.project.to_string()).unwrap_or_default()))
            }
            None => None,
        };
        Ok(view! {
            {page_head("Webhooks", "Notify other systems when jobs finish.", ())}
            {message}
            {list::list(listed, chosen.as_deref())}
            {log}
            {add::form(projects, not_added.as_ref())}
            {rules()}
        }
        .into_any())
    })
}

/// What an author of a receiver has to know.
fn rules() -> AnyView {
    view! {
        <section class="group narrow">
            <h2>"For receivers"</h2>
            <ul class="list-disc ps-5">
                <li>"Answer with a 2xx status within 10 seconds. Otherwise the event is sent again for about nine hours."</li>
                <li>"Events can arrive twice and out of order: compare “at”, and ignore an id that you know."</li>
                <li>"Refuse a request whose Webhook-Timestamp is more than 5 minutes old."</li>
                <li>"For 24 hours after a new secret, Webhook-Signature has two signatures. Accept a request if one of them is right."</li>
                <li>"Ignore types that you do not know. Later versions send more of them."</li>
            </ul>
        </section>
    }
    .into_any()
}

/// A form with only a button, for the item with this `id`.
fn button(path: &'static str, field: &'static str, id: String, label: &'static str) -> AnyView {
    post_form("", path, vec![(field, id)], view! { <button type="submit" class="button">{label}</button> })
        .into_any()
}
