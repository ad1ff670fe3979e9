//! Outgoing webhooks. For administrators. Forms come back to the page of the webhooks.

use leptos::prelude::*;

use crate::error::AppError;
use crate::model::webhook::{NewSecret, WebhookDelivery, Webhooks};
#[cfg(feature = "ssr")]
use crate::server::auth::guard;

#[cfg(feature = "ssr")]
const PAGE: &str = "/admin/webhooks";

/// All webhooks; with the secret that the caller has just made, once.
#[server(name = GetWebhooks, prefix = "/api", endpoint = "webhooks/list")]
pub async fn list_webhooks() -> Result<Webhooks, AppError> {
    let caller = guard::of::<GetWebhooks>()?;
    caller.panel.webhooks.list(&caller.user.id).await
}

/// Adds a webhook to a project. `kind` is `json` or `slack`; the secret in the answer is shown once.
#[server(prefix = "/api", endpoint = "webhooks/add")]
pub async fn add_webhook(project: String, kind: String, address: String) -> Result<NewSecret, AppError> {
    let caller = guard::of::<AddWebhook>()?;
    let project = caller.project(&project)?;
    let made = caller.panel.webhooks.add(&caller.actor(), &project, &kind, &address).await?;
    leptos_axum::redirect(PAGE);
    Ok(made)
}

/// Makes a new secret for a webhook that has one; it is shown once.
#[server(prefix = "/api", endpoint = "webhooks/renew")]
pub async fn renew_webhook(webhook: String) -> Result<NewSecret, AppError> {
    let caller = guard::of::<RenewWebhook>()?;
    let made = caller.panel.webhooks.renew(&caller.actor(), &webhook).await?;
    leptos_axum::redirect(PAGE);
    Ok(made)
}

/// From now on it is told again.
#[server(prefix = "/api", endpoint = "webhooks/enable")]
pub async fn enable_webhook(webhook: String) -> Result<(), AppError> {
    let caller = guard::of::<EnableWebhook>()?;
    caller.panel.webhooks.enable(&caller.actor(), &webhook).await?;
    leptos_axum::redirect(PAGE);
    Ok(())
}

/// From now on it is not told, nor of what waits.
#[server(prefix = "/api", endpoint = "webhooks/disable")]
pub async fn disable_webhook(webhook: String) -> Result<(), AppError> {
    let caller = guard::of::<DisableWebhook>()?;
    caller.panel.webhooks.disable(&caller.actor(), &webhook).await?;
    leptos_axum::redirect(PAGE);
    Ok(())
}

/// Forgets a webhook and its log.
#[server(prefix = "/api", endpoint = "webhooks/remove")]
pub async fn remove_webhook(webhook: String) -> Result<(), AppError> {
    let caller = guard::of::<RemoveWebhook>()?;
    caller.panel.webhooks.remove(&caller.actor(), &webhook).await?;
    leptos_axum::redirect(PAGE);
    Ok(())
}

/// Sends a test, once, and gives what came of it.
#[server(prefix = "/api", endpoint = "webhooks/test")]
pub async fn test_webhook(webhook: String) -> Result<WebhookDelivery, AppError> {
    let caller = guard::of::<TestWebhook>()?;
    let tried = caller.panel.webhooks.test(&caller.actor(), &webhook).await?;
    leptos_axum::redirect(&format!("{PAGE}?webhook={webhook}"));
    Ok(tried)
}

/// The last 50 events of a webhook, the newest first.
#[server(name = GetWebhookDeliveries, prefix = "/api", endpoint = "webhooks/deliveries")]
pub async fn webhook_deliveries(webhook: String) -> Result<Vec<WebhookDelivery>, AppError> {
    guard::of::<GetWebhookDeliveries>()?.panel.webhooks.log(&webhook).await
}

/// Sends an event again, under the same id.
#[server(prefix = "/api", endpoint = "webhooks/retry")]
pub async fn retry_delivery(delivery: String) -> Result<WebhookDelivery, AppError> {
    let caller = guard::of::<RetryDelivery>()?;
    let (webhook, tried) = caller.panel.webhooks.send_again(&caller.actor(), &delivery).await?;
    leptos_axum::redirect(&format!("{PAGE}?webhook={webhook}"));
    Ok(tried)
}
