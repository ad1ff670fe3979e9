//! The webhook outbox: events that commit together with the reported change, and the results of their deliveries.

use sqlx::any::AnyRow;
use sqlx::{Any, Row, Transaction};

use crate::dialect::select::{bind_projects, sql_placeholders};
use crate::jobs::job;
use crate::jobs::messages::Intent;
use crate::{
    Authority, Change, Store, StoreError, audit, instant, new_id, optional_instant, optional_word, word,
};
use base::work::Work;
use model::audit::{Action, Actor, AuditEvent};
use model::id::{JobId, MessageId, ProjectId, WebhookId};
use model::job::{Job, JobState};
use model::pull_request::PullRequestEvent;
use model::time::Timestamp;
use model::title::title;
use model::user::Project;
use model::webhook::{
    ChosenEvents, EVENT_DAYS, TEST_EVENT, TITLE_MAX_CHARS, WebhookDelivery, WebhookKind, WebhookOutcome,
    event,
};

/// The number of finished events that are stored per webhook, whatever their outcome.
const FINISHED_MAX: i64 = 50;

/// The number of undelivered events that are stored per webhook, the newest ones of [`EVENT_DAYS`].
const UNDELIVERED_MAX: i64 = 5_000;

/// An expression: whether a row is an event that can be sent again with all others. The argument is a placeholder for the first time that counts.
pub(super) fn is_undelivered(since: &str) -> String {
    format!("outcome = 'given_up' AND next_try_at IS NULL AND event <> '{TEST_EVENT}' AND at >= {since}")
}

/// An expression: the id of the last of so many newest events of the webhook `$1`, or a lower one if it has fewer.
fn newest(events: i64) -> String {
    let last = events - 1;
    format!(
        "COALESCE((SELECT id FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY id DESC LIMIT 1 OFFSET {last}), '')"
    )
}

/// The first time of the events that are stored.
pub(super) fn stored_since(now: Timestamp) -> Timestamp {
    now.plus_seconds(-i64::from(EVENT_DAYS) * 86_400)
}

/// A due event, with the URL and format for its delivery.
#[derive(Clone)]
pub struct DueEvent {
    pub id: WebhookId,
    pub webhook: WebhookId,
    pub project: ProjectId,
    pub kind: WebhookKind,
    pub address: String,
    pub secret: String,
    /// The secret before, and until when it signs, too.
    pub old_secret: Option<(String, Timestamp)>,
    pub event: String,
    pub at: Timestamp,
    /// `None` for a test.
    pub job: Option<EventJob>,
    /// The follow-up of the job that it is about.
    pub follow_up: Option<EventFollowUp>,
    /// Attempts so far.
    pub attempts: i64,
    planned_at: i64,
}

/// A job as it was when it finished.
#[derive(Clone)]
pub struct EventJob {
    pub id: JobId,
    pub title: String,
    pub author: String,
    pub state: JobState,
    pub pr_link: Option<String>,
    /// Whether the platform publishes the changes of its project without pull requests.
    pub is_direct: bool,
}

/// The follow-up that an event is about.
#[derive(Clone)]
pub struct EventFollowUp {
    pub id: MessageId,
    /// 1 for the first one of its job.
    pub number: i64,
}

/// The result of sending all events again that were not delivered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RevivedEvents {
    NoSuchWebhook,
    /// The webhook gets no events.
    Disabled,
    Revived(u64),
}

/// The result of one attempt.
pub struct WebhookAttempt {
    pub outcome: WebhookOutcome,
    pub status: Option<u16>,
    pub note: Option<String>,
    pub next_try_at: Option<Timestamp>,
}

const SELECT_DUE: &str = "SELECT e.*, w.project, w.kind, w.url, w.secret, w.old_secret, w.old_secret_until,
         (SELECT COUNT(*) FROM direct_projects d WHERE d.project = w.project AND d.is_direct = 1) AS is_direct
     FROM webhook_deliveries e JOIN webhooks w ON w.id = e.webhook_id";

/// Inserts one event for each enabled webhook of the project of `job`, which has just finished.
pub(crate) async fn job_finished(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    now: Timestamp,
) -> Result<(), StoreError> {
    let of_job = |job: &Job| event(job.state, job.remote.as_ref().map(|remote| remote.status.as_str()));
    insert(tx, job, of_job, None, now).await
}

/// Inserts one event for each enabled webhook of the project of a follow-up that ended without being accepted.
pub(crate) async fn follow_up_ended(
    tx: &mut Transaction<'static, Any>,
    follow_up: &Intent,
    event: &'static str,
    now: Timestamp,
) -> Result<(), StoreError> {
    insert(tx, &follow_up.job, |_| Some(event), Some(follow_up), now).await
}

/// Inserts one event for each enabled webhook of the project of `job`, whose pull request has changed.
pub(crate) async fn pull_request_changed(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    event: PullRequestEvent,
    now: Timestamp,
) -> Result<(), StoreError> {
    insert(tx, job, |_| Some(event.as_str()), None, now).await
}

/// `event`: `None` if nothing is to be reported.
async fn insert(
    tx: &mut Transaction<'static, Any>,
    job: &JobId,
    event: impl Fn(&Job) -> Option<&'static str>,
    follow_up: Option<&Intent>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let webhooks = sqlx::query(
        "SELECT w.id, w.events FROM webhooks w JOIN jobs j ON j.project = w.project
         WHERE j.id = $1 AND w.disabled_at IS NULL ORDER BY w.id",
    )
    .bind(job.as_str())
    .fetch_all(&mut **tx)
    .await?;
    if webhooks.is_empty() {
        return Ok(());
    }
    let row = sqlx::query(sqlx::AssertSqlSafe(format!("{} WHERE j.id = $1", job::select_job())))
        .bind(job.as_str())
        .fetch_one(&mut **tx)
        .await?;
    let job = job::job(&row)?;
    let Some(event) = event(&job) else { return Ok(()) };
    let gets = |row: &AnyRow| {
        let events = ChosenEvents::stored(&row.try_get::<String, _>("events")?);
        Ok::<_, StoreError>(events.has(event).then_some(row.try_get::<String, _>("id")?))
    };
    let webhooks = webhooks.iter().map(gets).collect::<Result<Vec<_>, _>>()?;
    // What the platform says now, and no pull request of an earlier answer.
    let named = job.remote.as_ref().filter(|remote| !remote.pr_link_is_earlier);
    let pr_link = named.and_then(|remote| remote.pr_link.as_ref());
    for webhook in webhooks.into_iter().flatten() {
        sqlx::query(
            "INSERT INTO webhook_deliveries
             (id, webhook_id, event, at, job_id, title, author, job_state, pr_link, follow_up, position, outcome, attempts, next_try_at)
             VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, 'waiting', 0, $4)",
        )
        .bind(new_id())
        .bind(webhook)
        .bind(event)
        .bind(now.as_millis())
        .bind(job.id.as_str())
        .bind(title(&job.prompt).chars().take(TITLE_MAX_CHARS).collect::<String>())
        .bind(&job.author)
        .bind(job.state.as_str())
        .bind(pr_link)
        .bind(follow_up.map(|follow_up| follow_up.message_id.as_str()))
        .bind(follow_up.map(|follow_up| follow_up.position))
        .execute(&mut **tx)
        .await?;
    }
    Ok(())
}

impl Store {
    /// Inserts a test event, claimed by the caller until `lease`; `None` if there is no such webhook.
    pub async fn insert_test_event(
        &self,
        by: Authority<'_>,
        webhook: &WebhookId,
        lease: Timestamp,
    ) -> Result<Option<WebhookId>, StoreError> {
        let id = new_id();
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let inserted = sqlx::query(
            "INSERT INTO webhook_deliveries (id, webhook_id, event, at, outcome, attempts, next_try_at)
             SELECT $1, id, $3, $4, 'waiting', 0, $5 FROM webhooks WHERE id = $2",
        )
        .bind(&id)
        .bind(webhook.as_str())
        .bind(TEST_EVENT)
        .bind(now.as_millis())
        .bind(lease.as_millis())
        .execute(&mut *tx)
        .await?;
        let id: WebhookId = id.parse().map_err(|_| StoreError::Corrupt(id))?;
        if inserted.rows_affected() != 1 {
            return Ok(None);
        }
        record_sending(&mut tx, Action::WebhookTest, &id, &by, now).await?;
        tx.commit().await?;
        Ok(Some(id))
    }

    /// Makes a finished event pending again, claimed by the caller until `lease`.
    pub async fn revive_event(
        &self,
        by: Authority<'_>,
        id: &WebhookId,
        lease: Timestamp,
    ) -> Result<(), StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        sqlx::query(
            "UPDATE webhook_deliveries SET outcome = 'waiting', attempts = 0, next_try_at = $2
             WHERE id = $1 AND next_try_at IS NULL",
        )
        .bind(id.as_str())
        .bind(lease.as_millis())
        .execute(&mut *tx)
        .await?;
        record_sending(&mut tx, Action::WebhookResend, id, &by, now).await?;
        Ok(tx.commit().await?)
    }

    /// Makes all undelivered events of a webhook pending again. They are due at once. [`Store::due_events`] returns them one by one, the oldest first.
    pub async fn revive_undelivered(
        &self,
        by: Authority<'_>,
        webhook: &WebhookId,
    ) -> Result<RevivedEvents, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let row = sqlx::query("SELECT project, disabled_at FROM webhooks WHERE id = $1")
            .bind(webhook.as_str())
            .fetch_optional(&mut *tx)
            .await?;
        let Some(row) = row else { return Ok(RevivedEvents::NoSuchWebhook) };
        if row.try_get::<Option<i64>, _>("disabled_at")?.is_some() {
            return Ok(RevivedEvents::Disabled);
        }
        let revive = format!(
            "UPDATE webhook_deliveries SET outcome = 'waiting', attempts = 0, next_try_at = $2, status = NULL, note = NULL
             WHERE webhook_id = $1 AND {}",
            is_undelivered("$3")
        );
        let revived = sqlx::query(sqlx::AssertSqlSafe(revive))
            .bind(webhook.as_str())
            .bind(now.as_millis())
            .bind(stored_since(now).as_millis())
            .execute(&mut *tx)
            .await?
            .rows_affected();
        let event = AuditEvent::new(Action::WebhookResendAll).in_project(&word(&row, "project")?).on(webhook);
        audit::record(&mut tx, &by, &event.with_detail(format!("{revived} events")), now).await?;
        tx.commit().await?;
        Ok(RevivedEvents::Revived(revived))
    }

    /// The oldest due event of each webhook of `projects`. A plan later than `latest` was made before a clock rollback, and counts as due.
    pub async fn due_events(
        &self,
        projects: &[Project],
        now: Timestamp,
        latest: Timestamp,
    ) -> Result<Vec<DueEvent>, StoreError> {
        let due = sqlx::query(sqlx::AssertSqlSafe(format!(
            "{SELECT_DUE} WHERE e.id IN (
                 SELECT MIN(id) FROM webhook_deliveries WHERE next_try_at <= $1 OR next_try_at > $2 GROUP BY webhook_id)
             AND w.project IN ({})",
            sql_placeholders(3, projects.len())
        )));
        let due = due.bind(now.as_millis()).bind(latest.as_millis());
        bind_projects(due, projects).fetch_all(&self.pool).await?.iter().map(due_event).collect()
    }

    /// A pending event, whether it is due or not.
    pub async fn waiting_event(&self, id: &WebhookId) -> Result<Option<DueEvent>, StoreError> {
        let sql = format!("{SELECT_DUE} WHERE e.id = $1 AND e.next_try_at IS NOT NULL");
        let row = sqlx::query(sqlx::AssertSqlSafe(sql)).bind(id.as_str()).fetch_optional(&self.pool).await?;
        row.as_ref().map(due_event).transpose()
    }

    /// Claims an attempt. If its result is never recorded, the event is due again at `lease`.
    pub async fn claim_event(
        &self,
        work: &Work,
        due: &DueEvent,
        lease: Timestamp,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let claimed = sqlx::query(
            "UPDATE webhook_deliveries SET attempts = attempts + 1, tried_at = $4, next_try_at = $3, status = NULL, note = NULL
             WHERE id = $1 AND next_try_at = $2",
        )
        .bind(due.id.as_str())
        .bind(due.planned_at)
        .bind(lease.as_millis())
        .bind(now.as_millis())
        .execute(self.write(work).statement())
        .await?;
        Ok(claimed.rows_affected() == 1)
    }

    /// Records the result of a claimed attempt, and deletes old finished events.
    pub async fn record_attempt(
        &self,
        work: &Work,
        due: &DueEvent,
        attempt: &WebhookAttempt,
    ) -> Result<(), StoreError> {
        // An event that was abandoned meanwhile, because the webhook was disabled, stays abandoned unless it was delivered.
        sqlx::query(
            "UPDATE webhook_deliveries SET outcome = $3, status = $4, note = $5, next_try_at = $6
             WHERE id = $1 AND attempts = $2 AND (next_try_at IS NOT NULL OR $3 = 'delivered')",
        )
        .bind(due.id.as_str())
        .bind(due.attempts + 1)
        .bind(attempt.outcome.as_str())
        .bind(attempt.status.map(i64::from))
        .bind(&attempt.note)
        .bind(attempt.next_try_at.map(Timestamp::as_millis))
        .execute(self.write(work).statement())
        .await?;
        let old = format!(
            "DELETE FROM webhook_deliveries WHERE webhook_id = $1 AND next_try_at IS NULL AND id < {} AND NOT ({} AND id >= {})",
            newest(FINISHED_MAX),
            is_undelivered("$2"),
            newest(UNDELIVERED_MAX)
        );
        sqlx::query(sqlx::AssertSqlSafe(old))
            .bind(due.webhook.as_str())
            .bind(stored_since(work.now()).as_millis())
            .execute(self.write(work).statement())
            .await?;
        Ok(())
    }

    /// The newest events of a webhook.
    pub async fn webhook_log(&self, webhook: &WebhookId) -> Result<Vec<WebhookDelivery>, StoreError> {
        let rows =
            sqlx::query("SELECT * FROM webhook_deliveries WHERE webhook_id = $1 ORDER BY id DESC LIMIT $2")
                .bind(webhook.as_str())
                .bind(FINISHED_MAX)
                .fetch_all(&self.pool)
                .await?;
        rows.iter().map(delivery).collect()
    }

    /// An event, and its webhook.
    pub async fn webhook_event(
        &self,
        id: &WebhookId,
    ) -> Result<Option<(WebhookId, WebhookDelivery)>, StoreError> {
        let row = sqlx::query("SELECT * FROM webhook_deliveries WHERE id = $1").bind(id.as_str());
        let row = row.fetch_optional(&self.pool).await?;
        row.map(|row| Ok((word(&row, "webhook_id")?, delivery(&row)?))).transpose()
    }
}

pub(crate) fn delivery(row: &AnyRow) -> Result<WebhookDelivery, StoreError> {
    let job: Option<String> = row.try_get("job_id")?;
    let attempts: i64 = row.try_get("attempts")?;
    let status: Option<i64> = row.try_get("status")?;
    Ok(WebhookDelivery {
        id: word(row, "id")?,
        event: row.try_get("event")?,
        at: instant(row, "at")?,
        job: job.map(|_| word(row, "job_id")).transpose()?,
        title: row.try_get("title")?,
        outcome: word(row, "outcome")?,
        attempts: u32::try_from(attempts).unwrap_or(u32::MAX),
        tried_at: optional_instant(row, "tried_at")?,
        status: status.and_then(|status| u16::try_from(status).ok()),
        note: row.try_get("note")?,
        next_try_at: optional_instant(row, "next_try_at")?,
    })
}

fn due_event(row: &AnyRow) -> Result<DueEvent, StoreError> {
    let job: Option<String> = row.try_get("job_id")?;
    Ok(DueEvent {
        id: word(row, "id")?,
        webhook: word(row, "webhook_id")?,
        project: word(row, "project")?,
        kind: word(row, "kind")?,
        address: row.try_get("url")?,
        secret: row.try_get("secret")?,
        old_secret: old_secret(row)?,
        event: row.try_get("event")?,
        at: instant(row, "at")?,
        job: job.map(|_| event_job(row)).transpose()?,
        follow_up: event_follow_up(row)?,
        attempts: row.try_get("attempts")?,
        planned_at: row.try_get("next_try_at")?,
    })
}

fn event_job(row: &AnyRow) -> Result<EventJob, StoreError> {
    Ok(EventJob {
        id: word(row, "job_id")?,
        title: row.try_get("title")?,
        author: row.try_get("author")?,
        state: word(row, "job_state")?,
        pr_link: row.try_get("pr_link")?,
        is_direct: row.try_get::<i64, _>("is_direct")? > 0,
    })
}

fn event_follow_up(row: &AnyRow) -> Result<Option<EventFollowUp>, StoreError> {
    let Some(id) = optional_word(row, "follow_up")? else { return Ok(None) };
    Ok(Some(EventFollowUp { id, number: row.try_get("position")? }))
}

fn old_secret(row: &AnyRow) -> Result<Option<(String, Timestamp)>, StoreError> {
    let secret: Option<String> = row.try_get("old_secret")?;
    Ok(secret.zip(optional_instant(row, "old_secret_until")?))
}

/// Records that a person triggered the delivery of an event, if the event exists.
async fn record_sending(
    tx: &mut Transaction<'static, Any>,
    action: Action,
    event: &WebhookId,
    by: &Actor,
    now: Timestamp,
) -> Result<(), StoreError> {
    let row = sqlx::query(
        "SELECT w.id, w.project FROM webhook_deliveries e JOIN webhooks w ON w.id = e.webhook_id WHERE e.id = $1",
    )
    .bind(event.as_str())
    .fetch_optional(&mut **tx)
    .await?;
    let Some(row) = row else { return Ok(()) };
    let webhook: WebhookId = word(&row, "id")?;
    let event = AuditEvent::new(action).in_project(&word(&row, "project")?).on(webhook);
    audit::record(tx, by, &event, now).await
}
