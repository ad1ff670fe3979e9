//! The webhooks of a project.

pub mod events;

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::{Authority, Change, Store, StoreError, audit, instant, limits, new_id, word};
use base::work::Work;
use model::audit::{Action, Actor, AuditEvent};
use model::id::{ProjectId, WebhookId};
use model::limits::WEBHOOKS;
use model::time::Timestamp;
use model::webhook::{ChosenEvents, OLD_SECRET_HOURS, Webhook, WebhookKind};

impl Store {
    /// `secret` is empty for kinds that are not signed.
    pub async fn add_webhook(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        kind: WebhookKind,
        url: &str,
        secret: &str,
        events: &ChosenEvents,
    ) -> Result<WebhookId, StoreError> {
        let id = new_id();
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let there = sqlx::query_scalar("SELECT COUNT(*) FROM webhooks WHERE project = $1");
        limits::leave_room(&WEBHOOKS, there.bind(project.as_str()).fetch_one(&mut *tx).await?)?;
        sqlx::query(
            "INSERT INTO webhooks (id, project, kind, url, secret, created_at, events) VALUES ($1, $2, $3, $4, $5, $6, $7)",
        )
        .bind(&id)
        .bind(project.as_str())
        .bind(kind.as_str())
        .bind(url)
        .bind(secret)
        .bind(now.as_millis())
        .bind(events.to_string())
        .execute(&mut *tx)
        .await?;
        let event =
            AuditEvent::new(Action::WebhookAdd).in_project(project).on(&id).with_detail(kind.as_str());
        audit::commit(tx, &by, &event, now).await?;
        id.parse().map_err(|_| StoreError::Corrupt(id))
    }

    /// All webhooks, oldest first, each with its full URL.
    pub async fn webhooks(&self) -> Result<Vec<Webhook>, StoreError> {
        let rows = sqlx::query("SELECT * FROM webhooks ORDER BY id").fetch_all(&self.pool).await?;
        let mut webhooks = rows.iter().map(webhook).collect::<Result<Vec<_>, _>>()?;
        let newest = sqlx::query(
            "SELECT * FROM webhook_deliveries WHERE id IN (
                 SELECT MAX(id) FROM webhook_deliveries WHERE attempts > 0 GROUP BY webhook_id)",
        )
        .fetch_all(&self.pool)
        .await?;
        for row in &newest {
            let owner: WebhookId = word(row, "webhook_id")?;
            if let Some(webhook) = webhooks.iter_mut().find(|webhook| webhook.id == owner) {
                webhook.last = Some(events::delivery(row)?);
            }
        }
        Ok(webhooks)
    }

    /// How many events of each webhook were not delivered and are not tried any more; those without any are omitted.
    pub async fn undelivered_events(&self, now: Timestamp) -> Result<Vec<(WebhookId, u32)>, StoreError> {
        let undelivered = format!(
            "SELECT webhook_id, COUNT(*) AS events FROM webhook_deliveries WHERE {} GROUP BY webhook_id",
            events::is_undelivered("$1")
        );
        let rows = sqlx::query(AssertSqlSafe(undelivered)).bind(events::stored_since(now).as_millis());
        let rows = rows.fetch_all(&self.pool).await?;
        let count = |row: &AnyRow| {
            let events = u32::try_from(row.try_get::<i64, _>("events")?).unwrap_or(u32::MAX);
            Ok::<_, StoreError>((word(row, "webhook_id")?, events))
        };
        rows.iter().map(count).collect()
    }

    /// Enables a webhook, or disables it at a given time and abandons its pending events. `false` if there is no such webhook.
    pub async fn set_webhook_disabled(
        &self,
        by: Authority<'_>,
        id: &WebhookId,
        disabled_at: Option<Timestamp>,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let found = sqlx::query("UPDATE webhooks SET disabled_at = $2 WHERE id = $1 RETURNING project")
            .bind(id.as_str())
            .bind(disabled_at.map(Timestamp::as_millis))
            .fetch_optional(&mut *tx)
            .await?;
        let Some(found) = found else { return Ok(false) };
        if disabled_at.is_some() {
            sqlx::query(
                "UPDATE webhook_deliveries SET outcome = 'given_up', next_try_at = NULL,
                 note = 'The webhook was disabled before this was delivered.'
                 WHERE webhook_id = $1 AND next_try_at IS NOT NULL",
            )
            .bind(id.as_str())
            .execute(&mut *tx)
            .await?;
        }
        let action = if disabled_at.is_some() { Action::WebhookDisable } else { Action::WebhookEnable };
        changed(&mut tx, action, id, &found, &by, now).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Restricts a webhook to types of events, from the next event on. `false` if there is no such webhook.
    pub async fn set_webhook_events(
        &self,
        by: Authority<'_>,
        id: &WebhookId,
        events: &ChosenEvents,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let found = sqlx::query("UPDATE webhooks SET events = $2 WHERE id = $1 RETURNING project")
            .bind(id.as_str())
            .bind(events.to_string())
            .fetch_optional(&mut *tx)
            .await?;
        let Some(found) = found else { return Ok(false) };
        changed(&mut tx, Action::WebhookEvents, id, &found, &by, now).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Replaces the secret of a webhook that has one; the old one signs, too, for [`OLD_SECRET_HOURS`]. `false` if there is no such webhook.
    pub async fn set_webhook_secret(
        &self,
        by: Authority<'_>,
        id: &WebhookId,
        secret: &str,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let found = sqlx::query(
            "UPDATE webhooks SET secret = $2, old_secret = secret, old_secret_until = $3
             WHERE id = $1 AND secret <> '' RETURNING project",
        )
        .bind(id.as_str())
        .bind(secret)
        .bind(now.plus_seconds(i64::from(OLD_SECRET_HOURS) * 3_600).as_millis())
        .fetch_optional(&mut *tx)
        .await?;
        let Some(found) = found else { return Ok(false) };
        changed(&mut tx, Action::WebhookSecret, id, &found, &by, now).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Removes the old secrets that do not sign any more.
    pub async fn forget_old_secrets(&self, work: &Work, now: Timestamp) -> Result<(), StoreError> {
        sqlx::query(
            "UPDATE webhooks SET old_secret = NULL, old_secret_until = NULL WHERE old_secret_until <= $1",
        )
        .bind(now.as_millis())
        .execute(self.write(work).statement())
        .await?;
        Ok(())
    }

    /// Deletes a webhook and its log; `false` if there is none.
    pub async fn remove_webhook(&self, by: Authority<'_>, id: &WebhookId) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        sqlx::query("DELETE FROM webhook_deliveries WHERE webhook_id = $1")
            .bind(id.as_str())
            .execute(&mut *tx)
            .await?;
        let found = sqlx::query("DELETE FROM webhooks WHERE id = $1 RETURNING project")
            .bind(id.as_str())
            .fetch_optional(&mut *tx)
            .await?;
        let Some(found) = found else { return Ok(false) };
        changed(&mut tx, Action::WebhookRemove, id, &found, &by, now).await?;
        tx.commit().await?;
        Ok(true)
    }
}

/// Records a change to a webhook; `row` has its project.
async fn changed(
    tx: &mut Transaction<'static, Any>,
    action: Action,
    id: &WebhookId,
    row: &AnyRow,
    by: &Actor,
    now: Timestamp,
) -> Result<(), StoreError> {
    let event = AuditEvent::new(action).in_project(&word(row, "project")?).on(id);
    audit::record(tx, by, &event, now).await
}

fn webhook(row: &AnyRow) -> Result<Webhook, StoreError> {
    Ok(Webhook {
        id: word(row, "id")?,
        project: word(row, "project")?,
        kind: word(row, "kind")?,
        address: row.try_get("url")?,
        events: ChosenEvents::stored(&row.try_get::<String, _>("events")?),
        enabled: row.try_get::<Option<i64>, _>("disabled_at")?.is_none(),
        created_at: instant(row, "created_at")?,
        failed: 0,
        last: None,
    })
}
