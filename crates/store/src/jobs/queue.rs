//! The queue: its order, its next message, and the gap between two prompts that leave it.

use sqlx::{Any, AnyConnection, AssertSqlSafe, Row, Transaction};

use super::lifecycle::Transition;
use super::messages::{DueMessage, Intent, nothing_before_it};
use super::{lifecycle, messages};
use crate::dialect::select::{bind_projects, sql_placeholders};
use crate::platform::budget::{self, ScopeLimit};
use crate::{Authority, Change, Store, StoreError, audit, instant, optional_word, word};
use base::work::Work;
use model::audit::{Action, AuditEvent};
use model::id::{BatchId, JobId, MessageId, ProjectId};
use model::job::{EXCERPT_CHARS, Reason, ReasonCode, cut};
use model::lifecycle::DeliveryStep;
use model::queue::{Move, Pace};
use model::time::Timestamp;
use model::user::Project;

/// After this long, a prompt that left the queue no longer blocks later ones. Longer than any delivery takes.
const LONGEST_DELIVERY_MILLIS: i64 = 600_000;

/// A queued message, as the queue page shows it.
#[derive(Debug)]
pub struct QueuedMessage {
    pub message: MessageId,
    pub job: JobId,
    pub position: i64,
    pub prompt: String,
    pub author: String,
    pub created_at: Timestamp,
    pub in_queue: bool,
    /// Whether an earlier message of its job must be sent first.
    pub is_blocked: bool,
    /// Whether an administrator must release it first.
    pub is_on_hold: bool,
    /// It is not sent before.
    pub due_at: Timestamp,
    pub batch: Option<BatchId>,
}

impl Store {
    /// The next message of each queue of `projects`, without those that the platform just refused; in the queues of `batches_last`, one of a
    /// batch only if there is no other.
    pub async fn queue_heads(
        &self,
        projects: &[Project],
        batches_last: &[ProjectId],
        now: Timestamp,
    ) -> Result<Vec<DueMessage>, StoreError> {
        let statement = format!(
            "SELECT q.id, q.project, q.position FROM (
                 SELECT m.id, j.project, m.position, ROW_NUMBER() OVER (
                     PARTITION BY j.project, CASE WHEN m.position > 0 THEN 1 ELSE 0 END
                     ORDER BY CASE WHEN j.batch_id IS NOT NULL AND j.project IN ({}) THEN 1 ELSE 0 END, m.rank, m.id) AS nth
                 FROM messages m JOIN jobs j ON j.id = m.job_id
                 WHERE m.state = 'queued' AND m.in_queue = 1 AND m.on_hold_since IS NULL AND m.due_at <= $1
                     AND j.project IN ({}) AND {}) q
             WHERE q.nth = 1",
            sql_placeholders(projects.len() + 2, batches_last.len()),
            sql_placeholders(2, projects.len()),
            nothing_before_it()
        );
        let heads = sqlx::query(AssertSqlSafe(statement)).bind(now.as_millis());
        let heads = bind_projects(heads, projects);
        let heads = batches_last.iter().fold(heads, |heads, project| heads.bind(project.as_str()));
        heads.fetch_all(&self.pool).await?.iter().map(messages::due).collect()
    }

    /// How many queued messages each project has that is not one of `projects`.
    pub async fn queued_outside(&self, projects: &[Project]) -> Result<Vec<(String, i64)>, StoreError> {
        let statement = format!(
            "SELECT j.project, COUNT(*) FROM messages m JOIN jobs j ON j.id = m.job_id
             WHERE m.state = 'queued' AND j.project NOT IN ({}) GROUP BY j.project ORDER BY j.project",
            sql_placeholders(1, projects.len())
        );
        let rows =
            bind_projects(sqlx::query(AssertSqlSafe(statement)), projects).fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok((row.try_get(0)?, row.try_get(1)?))).collect()
    }

    /// Puts a message that could not be sent at once in the queue; `false` if it is there already, or may not be there.
    pub async fn enqueue(&self, work: &Work, message_id: &str) -> Result<bool, StoreError> {
        let enqueued = sqlx::query(
            "UPDATE messages SET in_queue = 1 WHERE id = $1 AND state = 'queued' AND in_queue = 0 AND may_queue = 1",
        )
        .bind(message_id)
        .execute(self.write(work).statement())
        .await?;
        Ok(enqueued.rows_affected() == 1)
    }

    /// Rejects a message that could not be sent at once and may not be queued; `false` if it is another one, or was claimed meanwhile.
    pub async fn reject_unsent(
        &self,
        work: &Work,
        message_id: &str,
        reason: Reason<'_>,
        now: Timestamp,
    ) -> Result<bool, StoreError> {
        let mut tx = self.write(work).begin().await?.tx;
        let row = sqlx::query(AssertSqlSafe(format!(
            "{} WHERE m.id = $1 AND m.state = 'queued' AND m.in_queue = 0 AND m.may_queue = 0 AND m.on_hold_since IS NULL",
            messages::SELECT_INTENT
        )))
        .bind(message_id)
        .fetch_optional(&mut *tx)
        .await?;
        let Some(row) = row else { return Ok(false) };
        let rejected = Transition::new(DeliveryStep::RejectUnsent).because(reason);
        let is_rejected = lifecycle::apply(&mut tx, &messages::intent(&row)?, &rejected, now).await?;
        tx.commit().await?;
        Ok(is_rejected)
    }

    /// Messages of `projects` that may not be queued and were not sent since `before`, except those that an administrator released.
    pub async fn unsent_since(
        &self,
        projects: &[Project],
        before: Timestamp,
    ) -> Result<Vec<String>, StoreError> {
        let statement = format!(
            "SELECT m.id FROM messages m JOIN jobs j ON j.id = m.job_id
             WHERE m.state = 'queued' AND m.in_queue = 0 AND m.may_queue = 0 AND m.on_hold_since IS NULL AND m.released_at IS NULL
                 AND m.created_at < $1 AND j.project IN ({}) ORDER BY m.id LIMIT 100",
            sql_placeholders(2, projects.len())
        );
        let unsent = sqlx::query(AssertSqlSafe(statement)).bind(before.as_millis());
        let rows = bind_projects(unsent, projects).fetch_all(&self.pool).await?;
        rows.iter().map(|row| Ok(row.try_get("id")?)).collect()
    }

    /// The pace of the queue of a limit.
    pub async fn pace(&self, limited: &ScopeLimit, now: Timestamp) -> Result<Pace, StoreError> {
        let mut connection = self.pool.acquire().await?;
        pace(&mut connection, limited, now.as_millis()).await
    }

    /// When the next message may leave the queue of a limit, if that is after `now`.
    pub async fn queue_paused_until(
        &self,
        limited: &ScopeLimit,
        now: Timestamp,
    ) -> Result<Option<Timestamp>, StoreError> {
        let leaves_at = Timestamp::from_millis(self.pace(limited, now).await?.leaves_at());
        Ok(Some(leaves_at).filter(|at| *at > now))
    }

    /// The queued messages of `project`: each queue in order, then messages that wait for an earlier one of their job. Prompts are truncated.
    /// Those that the platform just refused are last, because they wait. `batches_last`: the order of a queue in which those of batches are sent after
    /// the others.
    pub async fn queued(
        &self,
        project: &ProjectId,
        batches_last: bool,
        now: Timestamp,
    ) -> Result<Vec<QueuedMessage>, StoreError> {
        let rows = sqlx::query(AssertSqlSafe(queued_statement()))
            .bind(project.as_str())
            .bind(i64::from(batches_last))
            .bind(now.as_millis())
            .fetch_all(&self.pool)
            .await?;
        rows.iter()
            .map(|row| {
                let mut prompt = row.try_get("prompt")?;
                cut(&mut prompt);
                Ok(QueuedMessage {
                    message: word(row, "id")?,
                    job: word(row, "job_id")?,
                    position: row.try_get("position")?,
                    prompt,
                    author: row.try_get("author")?,
                    created_at: instant(row, "created_at")?,
                    in_queue: row.try_get::<i64, _>("in_queue")? == 1,
                    is_blocked: row.try_get::<i64, _>("is_blocked")? == 1,
                    is_on_hold: row.try_get::<i64, _>("on_hold")? == 1,
                    due_at: instant(row, "due_at")?,
                    batch: optional_word(row, "batch_id")?,
                })
            })
            .collect()
    }

    /// Whether the message exists in the project, in any state.
    pub async fn has_message(&self, project: &ProjectId, message: &MessageId) -> Result<bool, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.id = $1 AND j.project = $2",
        )
        .bind(message.as_str())
        .bind(project.as_str())
        .fetch_one(&self.pool)
        .await?;
        Ok(count == 1)
    }

    /// Moves a message within its queue; `false` if it is no longer in the queue.
    pub async fn move_in_queue(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        message: &MessageId,
        to: Move,
    ) -> Result<bool, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let rows: Vec<(String, i64, String)> = sqlx::query_as(
            "SELECT m.id, m.rank, m.job_id FROM messages m JOIN jobs j ON j.id = m.job_id
             WHERE j.project = $1 AND m.state = 'queued' AND m.in_queue = 1
             AND CASE WHEN m.position > 0 THEN 1 ELSE 0 END =
                 (SELECT CASE WHEN position > 0 THEN 1 ELSE 0 END FROM messages WHERE id = $2)
             ORDER BY m.rank, m.id",
        )
        .bind(project.as_str())
        .bind(message.as_str())
        .fetch_all(&mut *tx)
        .await?;
        let line: Vec<_> = rows.into_iter().map(|(id, rank, job)| RankedMessage { id, rank, job }).collect();
        let Some(at) = line.iter().position(|queued| queued.id == message.as_str()) else { return Ok(false) };
        match to {
            Move::First => rank(&mut tx, message.as_str(), line[0].rank - 1).await?,
            Move::Up if at > 0 => swap(&mut tx, &line[at - 1], &line[at]).await?,
            Move::Down if at + 1 < line.len() => swap(&mut tx, &line[at], &line[at + 1]).await?,
            // Already first or last.
            Move::Up | Move::Down => return Ok(true),
        }
        let event = AuditEvent::new(Action::QueueMove).in_project(project).on(&line[at].job);
        audit::record_often(&mut tx, &by, &event.with_detail(to.as_str()), now).await?;
        tx.commit().await?;
        Ok(true)
    }

    /// Cancels queued messages of the project; returns how many were still queued.
    pub async fn cancel(
        &self,
        by: Authority<'_>,
        project: &ProjectId,
        chosen: &[MessageId],
        reason: &str,
    ) -> Result<usize, StoreError> {
        let Change { mut tx, by, now } = self.write(by).begin().await?;
        let mut cancelled = 0;
        for message in chosen {
            let row = sqlx::query(AssertSqlSafe(format!(
                "{} WHERE m.id = $1 AND j.project = $2 AND m.state = 'queued'",
                messages::SELECT_INTENT
            )))
            .bind(message.as_str())
            .bind(project.as_str())
            .fetch_optional(&mut *tx)
            .await?;
            let Some(row) = row else { continue };
            let transition =
                Transition::new(DeliveryStep::Cancel).because(ReasonCode::Cancelled.with(reason)).by(&by);
            cancelled +=
                usize::from(lifecycle::apply(&mut tx, &messages::intent(&row)?, &transition, now).await?);
        }
        tx.commit().await?;
        Ok(cancelled)
    }
}

async fn pace(connection: &mut AnyConnection, limited: &ScopeLimit, now: i64) -> Result<Pace, StoreError> {
    let per_hour = limited.limit;
    // A time further ahead than possible was written before a clock rollback.
    let full_at: Option<i64> = sqlx::query_scalar(
        "SELECT ends_at FROM queue_pauses WHERE scope = $1 AND ends_at > $2 AND ends_at <= $3",
    )
    .bind(limited.pace_scope())
    .bind(now)
    .bind(now + Pace::longest_millis(per_hour))
    .fetch_optional(connection)
    .await?;
    Ok(Pace { per_hour, full_at: full_at.unwrap_or(now) })
}

/// The queued messages of a project, with prompts cut to the displayed length.
pub(crate) fn queued_statement() -> String {
    let (chars, nothing_before_it) = (EXCERPT_CHARS + 1, nothing_before_it());
    format!(
        "SELECT m.id, m.job_id, m.position, SUBSTR(m.prompt, 1, {chars}) AS prompt, m.created_at, m.due_at,
                 m.in_queue, u.name AS author, j.batch_id, CASE WHEN m.on_hold_since IS NULL THEN 0 ELSE 1 END AS on_hold,
                 CASE WHEN {nothing_before_it} THEN 0 ELSE 1 END AS is_blocked
             FROM messages m JOIN jobs j ON j.id = m.job_id JOIN users u ON u.id = m.author_id
             WHERE m.state = 'queued' AND j.project = $1
             ORDER BY m.in_queue DESC, CASE WHEN m.position > 0 THEN 1 ELSE 0 END,
                 CASE WHEN m.due_at > $3 THEN 1 ELSE 0 END, CASE WHEN j.batch_id IS NOT NULL THEN $2 ELSE 0 END, m.rank, m.id"
    )
}

/// Removes a message from its queue after its call was counted, if no other message is being sent and the pace allows it.
pub(crate) async fn dequeue(
    tx: &mut Transaction<'static, Any>,
    intent: &Intent,
    limited: &ScopeLimit,
    now: Timestamp,
) -> Result<bool, StoreError> {
    let now = now.as_millis();
    let pace = pace(tx, limited, now).await?;
    let in_delivery: i64 = sqlx::query_scalar(
        "SELECT COUNT(*) FROM messages m JOIN jobs j ON j.id = m.job_id
         WHERE m.state = 'sending' AND m.in_queue = 1 AND m.id <> $1 AND j.project = $2
         AND CASE WHEN m.position > 0 THEN 1 ELSE 0 END = $3 AND m.sent_at <= $4 AND m.sent_at > $5",
    )
    .bind(&intent.message_id)
    .bind(intent.project.as_str())
    .bind(i64::from(intent.position > 0))
    .bind(now)
    .bind(now - LONGEST_DELIVERY_MILLIS)
    .fetch_one(&mut **tx)
    .await?;
    if in_delivery > 0 || pace.leaves_at() > now {
        return Ok(false);
    }
    let used = budget::used_in(tx, limited, now).await?;
    sqlx::query(
        "INSERT INTO queue_pauses (scope, ends_at) VALUES ($1, $2)
         ON CONFLICT (scope) DO UPDATE SET ends_at = excluded.ends_at",
    )
    .bind(limited.pace_scope())
    .bind(pace.after(now, used).full_at)
    .execute(&mut **tx)
    .await?;
    Ok(true)
}

/// A message with its rank in the queue.
struct RankedMessage {
    id: String,
    rank: i64,
    job: String,
}

async fn swap(
    tx: &mut Transaction<'static, Any>,
    a: &RankedMessage,
    b: &RankedMessage,
) -> Result<(), StoreError> {
    rank(tx, &a.id, b.rank).await?;
    rank(tx, &b.id, a.rank).await
}

async fn rank(tx: &mut Transaction<'static, Any>, message: &str, rank: i64) -> Result<(), StoreError> {
    sqlx::query("UPDATE messages SET rank = $2 WHERE id = $1")
        .bind(message)
        .bind(rank)
        .execute(&mut **tx)
        .await?;
    Ok(())
}
