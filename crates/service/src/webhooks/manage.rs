//! Administration of webhooks: adding, changing, testing, and their delivery logs.

use base64::Engine;
use base64::engine::general_purpose::STANDARD;

use super::Webhooks;
use super::body::SECRET_PREFIX;
use super::deliver::leased;
use clients::webhook::address;
use model::error::AppError;
use model::id::{ProjectId, WebhookId};
use model::webhook::{ChosenEvents, NewSecret, WebhookDelivery, WebhookKind, Webhooks as Listed};
use store::Authority;
use store::StoreError;
use store::webhooks::events::RevivedEvents;

impl Webhooks {
    /// All webhooks, without the secret parts of their URLs.
    pub async fn list(&self) -> Result<Listed, AppError> {
        let mut webhooks = self.store.webhooks().await?;
        let undelivered = self.store.undelivered_events(self.clock.now()).await?;
        for webhook in &mut webhooks {
            let events = undelivered.iter().find(|(id, _)| *id == webhook.id);
            webhook.failed = events.map_or(0, |(_, events)| *events);
            webhook.address = address::shown(&webhook.address, webhook.kind);
        }
        Ok(Listed { webhooks, next: None })
    }

    pub async fn add(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        kind: WebhookKind,
        address: &str,
        events: &ChosenEvents,
    ) -> Result<NewSecret, AppError> {
        let url = address::parse(address, self.allowed)?;
        let secret = (kind == WebhookKind::Json).then(new_secret);
        let text = secret.as_deref().unwrap_or_default();
        let id = self.store.add_webhook(by, project, kind, url.as_str(), text, events).await?;
        tracing::info!(webhook = %id, %project, address = address::shown(url.as_str(), kind), "webhook added");
        Ok(NewSecret { id, secret })
    }

    /// Restricts a webhook to types of events.
    pub async fn choose_events(
        &self,
        by: Authority<'_>,
        webhook: &WebhookId,
        events: &ChosenEvents,
    ) -> Result<(), AppError> {
        found(self.store.set_webhook_events(by, webhook, events).await)
    }

    /// Creates a new secret. The old one signs, too, for a day.
    pub async fn renew(&self, by: Authority<'_>, webhook: &WebhookId) -> Result<NewSecret, AppError> {
        let secret = new_secret();
        found(self.store.set_webhook_secret(by, webhook, &secret).await)?;
        tracing::info!(%webhook, "webhook has a new secret");
        Ok(NewSecret { id: webhook.clone(), secret: Some(secret) })
    }

    pub async fn enable(&self, by: Authority<'_>, webhook: &WebhookId) -> Result<(), AppError> {
        found(self.store.set_webhook_disabled(by, webhook, None).await)
    }

    pub async fn disable(&self, by: Authority<'_>, webhook: &WebhookId) -> Result<(), AppError> {
        let now = self.clock.now();
        found(self.store.set_webhook_disabled(by, webhook, Some(now)).await)
    }

    pub async fn remove(&self, by: Authority<'_>, webhook: &WebhookId) -> Result<(), AppError> {
        found(self.store.remove_webhook(by, webhook).await)?;
        tracing::info!(%webhook, "webhook removed");
        Ok(())
    }

    /// Sends a test once, and returns its result.
    pub async fn test(&self, by: Authority<'_>, webhook: &WebhookId) -> Result<WebhookDelivery, AppError> {
        let now = self.clock.now();
        let id = self.store.insert_test_event(by, webhook, leased(now)).await?;
        let id = id.ok_or_else(missing)?;
        Ok(self.tried(&id).await?.1)
    }

    /// The newest events of a webhook, newest first.
    pub async fn log(&self, webhook: &WebhookId) -> Result<Vec<WebhookDelivery>, AppError> {
        Ok(self.store.webhook_log(webhook).await?)
    }

    /// Sends a delivered or given-up event again, or a pending one at once. Returns its webhook and the result.
    pub async fn send_again(
        &self,
        by: Authority<'_>,
        event: &WebhookId,
    ) -> Result<(WebhookId, WebhookDelivery), AppError> {
        self.store.revive_event(by, event, leased(self.clock.now())).await?;
        self.tried(event).await
    }

    /// Sends all events of a webhook again that were not delivered, the oldest first. Returns how many there are.
    pub async fn send_all_again(&self, by: Authority<'_>, webhook: &WebhookId) -> Result<u64, AppError> {
        match self.store.revive_undelivered(by, webhook).await? {
            RevivedEvents::Revived(events) => {
                self.delivered.notify_one();
                Ok(events)
            }
            RevivedEvents::Disabled => Err(AppError::conflict("This webhook is disabled. Enable it first.")),
            RevivedEvents::NoSuchWebhook => Err(missing()),
        }
    }

    async fn tried(&self, event: &WebhookId) -> Result<(WebhookId, WebhookDelivery), AppError> {
        self.deliver_now(event).await.map_err(|error| {
            tracing::error!(%event, error = format!("{error:#}"), "a webhook delivery failed");
            AppError::database_unavailable()
        })?;
        self.store.webhook_event(event).await?.ok_or_else(missing)
    }
}

/// 256 random bits, as Standard Webhooks writes them.
fn new_secret() -> String {
    format!("{SECRET_PREFIX}{}", STANDARD.encode(rand::random::<[u8; 32]>()))
}

fn found(found: Result<bool, StoreError>) -> Result<(), AppError> {
    if found? { Ok(()) } else { Err(missing()) }
}

fn missing() -> AppError {
    AppError::not_found("This webhook or event no longer exists.")
}
