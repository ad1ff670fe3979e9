//! Outgoing webhooks, for administrators. Forms return to the page of the webhooks.

use leptos::prelude::*;

use model::error::AppError;
#[cfg(feature = "ssr")]
use model::flash::Confirmation;
#[cfg(feature = "ssr")]
use model::links::{WEBHOOKS, webhook_log};
use model::webhook::{NewSecret, WebhookDelivery, Webhooks};
#[cfg(feature = "ssr")]
use service::response_size::shortened;
#[cfg(feature = "ssr")]
use web::auth::guard;
#[cfg(feature = "ssr")]
use web::request::{flash, forms};

#[cfg(feature = "ssr")]
const COPY: &str =
    "Copy its secret now: it is shown only once. Receivers use it to check that an event is from Docket.";

/// Every webhook. `cursor`: `next` of an earlier part.
#[server(name = GetWebhooks, prefix = "/api", endpoint = "webhooks/list")]
pub async fn get_webhooks(cursor: Option<String>) -> Result<Webhooks, AppError> {
    shortened::webhooks(list_webhooks().await?, cursor.as_deref())
}

/// As [`get_webhooks`], all at once for their page.
#[cfg(feature = "ssr")]
pub async fn list_webhooks() -> Result<Webhooks, AppError> {
    let (_, state) = guard::of::<GetWebhooks>()?;
    state.webhooks.list().await
}

/// Adds a webhook to a project. `kind` is `json` or `slack`; the secret in the response is shown once. `events`: types separated by commas, by default
/// all.
#[server(prefix = "/api", endpoint = "webhooks/add")]
pub async fn add_webhook(
    project: String,
    kind: String,
    address: String,
    #[server(default)] events: String,
) -> Result<NewSecret, AppError> {
    let (caller, state) = guard::of::<AddWebhook>()?;
    let project = caller.project(&project)?;
    let (kind, events) = (kind.parse()?, events.parse()?);
    let made = state.webhooks.add(caller.authority(), &project, kind, &address, &events).await?;
    flash::redirect_with(WEBHOOKS, confirmation("Webhook added.", &made));
    Ok(made)
}

/// Restricts a webhook to the types in `events`, separated by commas; without any it gets all. Events before the change stay as they are.
#[server(prefix = "/api", endpoint = "webhooks/events")]
pub async fn choose_webhook_events(
    webhook: String,
    #[server(default)] events: String,
) -> Result<(), AppError> {
    let (caller, state) = guard::of::<ChooseWebhookEvents>()?;
    let events = events.parse()?;
    state.webhooks.choose_events(caller.authority(), &webhook.parse()?, &events).await?;
    flash::redirect_with(WEBHOOKS, Confirmation::new("Events of the webhook changed."));
    Ok(())
}

/// Replaces the secret of a webhook that has one; the new one is shown once. The old one signs, too, for 24 hours.
#[server(prefix = "/api", endpoint = "webhooks/renew")]
pub async fn renew_webhook(webhook: String) -> Result<NewSecret, AppError> {
    let (caller, state) = guard::of::<RenewWebhook>()?;
    let made = state.webhooks.renew(caller.authority(), &webhook.parse()?).await?;
    flash::redirect_with(
        WEBHOOKS,
        confirmation("The webhook has a new secret. The old one signs, too, for 24 hours.", &made),
    );
    Ok(made)
}

#[server(prefix = "/api", endpoint = "webhooks/enable")]
pub async fn enable_webhook(webhook: String) -> Result<(), AppError> {
    let (caller, state) = guard::of::<EnableWebhook>()?;
    state.webhooks.enable(caller.authority(), &webhook.parse()?).await?;
    flash::redirect_with(WEBHOOKS, Confirmation::new("Webhook enabled."));
    Ok(())
}

/// Disables a webhook and abandons its pending events.
#[server(prefix = "/api", endpoint = "webhooks/disable")]
pub async fn disable_webhook(webhook: String) -> Result<(), AppError> {
    let (caller, state) = guard::of::<DisableWebhook>()?;
    state.webhooks.disable(caller.authority(), &webhook.parse()?).await?;
    flash::redirect_with(WEBHOOKS, Confirmation::new("Webhook disabled."));
    Ok(())
}

/// Deletes a webhook and its log.
#[server(prefix = "/api", endpoint = "webhooks/remove")]
pub async fn remove_webhook(webhook: String) -> Result<(), AppError> {
    let (caller, state) = guard::of::<RemoveWebhook>()?;
    state.webhooks.remove(caller.authority(), &webhook.parse()?).await?;
    flash::redirect_with(WEBHOOKS, Confirmation::new("Webhook deleted."));
    Ok(())
}

/// Sends a test once, and returns its result.
#[server(prefix = "/api", endpoint = "webhooks/test")]
pub async fn test_webhook(webhook: String) -> Result<WebhookDelivery, AppError> {
    let (caller, state) = guard::of::<TestWebhook>()?;
    let tried = state.webhooks.test(caller.authority(), &webhook.parse()?).await?;
    forms::redirect_to(&webhook_log(webhook.as_str()));
    Ok(tried)
}

/// The last 50 events of a webhook, newest first.
#[server(name = GetWebhookDeliveries, prefix = "/api", endpoint = "webhooks/deliveries")]
pub async fn webhook_deliveries(webhook: String) -> Result<Vec<WebhookDelivery>, AppError> {
    let (_, state) = guard::of::<GetWebhookDeliveries>()?;
    state.webhooks.log(&webhook.parse()?).await
}

/// Sends an event again, under the same id.
#[server(prefix = "/api", endpoint = "webhooks/retry")]
pub async fn retry_delivery(delivery: String) -> Result<WebhookDelivery, AppError> {
    let (caller, state) = guard::of::<RetryDelivery>()?;
    let (webhook, tried) = state.webhooks.send_again(caller.authority(), &delivery.parse()?).await?;
    forms::redirect_to(&webhook_log(webhook.as_str()));
    Ok(tried)
}

/// Sends all events of a webhook again that were not delivered within the last 30 days, the oldest first, each under its own id. Returns how many
/// there are.
#[server(prefix = "/api", endpoint = "webhooks/retry-all")]
pub async fn retry_all_deliveries(webhook: String) -> Result<u64, AppError> {
    let (caller, state) = guard::of::<RetryAllDeliveries>()?;
    let events = state.webhooks.send_all_again(caller.authority(), &webhook.parse()?).await?;
    let sentence = match events {
        0 => "Every event was delivered, or is still tried.".to_owned(),
        1 => "Docket sends 1 event again.".to_owned(),
        events => format!("Docket sends {events} events again, the oldest first."),
    };
    flash::redirect_with(WEBHOOKS, Confirmation::new(sentence));
    Ok(events)
}

/// The confirmation for a new webhook or secret, with the secret if there is one.
#[cfg(feature = "ssr")]
fn confirmation(sentence: &str, made: &NewSecret) -> Confirmation {
    match &made.secret {
        Some(secret) => Confirmation::new(format!("{sentence} {COPY}")).with_secret(secret.clone()),
        None => Confirmation::new(sentence),
    }
}
