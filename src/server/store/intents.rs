//! Intents: prompts committed before a byte is sent, claimed by exactly one sender, settled once.

use sqlx::any::AnyRow;
use sqlx::{Any, AssertSqlSafe, Row, Transaction};

use super::{Store, StoreError, audit, budget, jobs, new_id, queue, templates, webhook_events, word};
use crate::model::audit::{Action, Actor, Deed};
use crate::model::id::{BatchId, IntentId, JobId, ProjectId, TemplateId};
use crate::model::job::{DeliveryState, JobState, RemoteJob};
use crate::model::time::Timestamp;

/// What a person asked for: a new job, or (with `job`) a follow-up to one.
pub struct NewIntent<'a> {
    pub project: &'a ProjectId,
    pub job: Option<&'a JobId>,
    pub author: &'a Actor,
    pub intent: &'a IntentId,
    pub prompt: &'a str,
    pub paths: &'a [String],
    /// The template it came from, if that is still there.
    pub template: Option<&'a TemplateId>,
}

/// A committed intent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Intent {
    pub message_id: String,
    pub job: JobId,
    pub project: ProjectId,
    /// 0 starts the job, the others follow up.
    pub position: i64,
    pub prompt: String,
    pub state: DeliveryState,
    /// How often a person had it sent again.
    pub attempt: i64,
}

/// What came of trying to claim a queued message.
pub enum Claim {
    /// The caller, and nobody else, sends it now.
    Sending { intent: Intent, remote_id: Option<String> },
    /// The hour's budget is spent; the message stays queued.
    BudgetSpent,
    /// Somebody else has it, it is settled, or it is not its turn.
    Taken,
}

/// How a delivery ended.
pub enum Settlement<'a> {
    /// The upstream took it and answered with the job; read it again at the given instant.
    Accepted(&'a RemoteJob, Timestamp),
    /// The upstream surely did not take it.
    Rejected(&'a str),
    /// The upstream may have taken it.
    Unknown(&'a str),
}

/// The columns that [`from_row`] reads, of `messages` (as `m`) with its job (as `j`).
pub(super) const SELECT_INTENT: &str =
    "SELECT m.id, m.job_id, m.position, m.prompt, m.state, m.attempt, j.project
     FROM messages m JOIN jobs j ON j.id = m.job_id";

impl Store {
    /// The intent that this author already committed under this id.
    pub async fn find_intent(
        &self,
        author_id: &str,
        intent: &IntentId,
    ) -> Result<Option<Intent>, StoreError> {
        let row =
            sqlx::query(AssertSqlSafe(format!("{SELECT_INTENT} WHERE m.author_id = $1 AND m.intent = $2")))
                .bind(author_id)
                .bind(intent.as_str())
                .fetch_optional(&self.pool)
                .await?;
        row.as_ref().map(from_row).transpose()
    }

    /// Commits an intent as queued, to be sent at once, and gives its message id; nothing if the author's intent id is
    /// taken, or the job to follow up was not taken on.
    pub async fn insert_intent(
        &self,
        new: NewIntent<'_>,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        self.insert_one(new, Place::AtOnce, now).await
    }

    /// As [`Store::insert_intent`], to wait in line.
    pub async fn insert_in_line(
        &self,
        new: NewIntent<'_>,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        self.insert_one(new, Place::InLine(None), now).await
    }

    async fn insert_one(
        &self,
        new: NewIntent<'_>,
        place: Place<'_>,
        now: Timestamp,
    ) -> Result<Option<String>, StoreError> {
        let mut tx = self.begin().await?;
        let Some((message, job)) = insert(&mut tx, &new, place, now).await? else { return Ok(None) };
        let action = if new.job.is_some() { Action::FollowUp } else { Action::JobStart };
        let deed = Deed::new(action).in_project(new.project).on(job);
        audit::record(&mut tx, new.author, &deed, now).await?;
        tx.commit().await?;
        Ok(Some(message))
    }

    /// Whether a message is on its way: being sent, or queued with nothing before it that is not on its way itself.
    pub async fn is_on_its_way(&self, message_id: &str) -> Result<bool, StoreError> {
        let count: i64 = sqlx::query_scalar(
            "SELECT COUNT(*) FROM messages m WHERE m.id = $1 AND (m.state = 'sending'
             OR (m.state = 'queued' AND m.in_line = 0 AND NOT EXISTS (
                 SELECT 1 FROM messages b WHERE b.job_id = m.job_id AND b.position < m.position
                 AND (b.state = 'queued' OR (b.position = 0 AND b.state = 'unknown')))))",
        )
        .bind(message_id)
        .fetch_one(&self.pool)
        .await?;
        Ok(count == 1)
    }

    /// The project and position of a queued message, to know which budget pays for it.
    pub async fn queued_message(&self, message_id: &str) -> Result<Option<(ProjectId, i64)>, StoreError> {
        let row = sqlx::query(
            "SELECT j.project, m.position FROM messages m JOIN jobs j ON j.id = m.job_id
             WHERE m.id = $1 AND m.state = 'queued'",
        )
        .bind(message_id)
        .fetch_optional(&self.pool)
        .await?;
        row.map(|row| Ok((word(&row, "project")?, row.try_get("position")?))).transpose()
    }

    /// Turns a queued message whose turn it is into one that is being sent, and counts the call, in one commit.
    pub async fn claim(
        &self,
        message_id: &str,
        scope: &str,
        limit: u32,
        now: Timestamp,
    ) -> Result<Claim, StoreError> {
        let mut tx = self.begin().await?;
        let claimed = sqlx::query(AssertSqlSafe(format!(
            "UPDATE messages SET state = 'sending', sent_at = $2 WHERE id = $1 AND state = 'queued' AND {}",
            queue::NOTHING_BEFORE_IT
        )))
        .bind(message_id)
        .bind(now.as_millis())
        .execute(&mut *tx)
        .await?;
        if claimed.rows_affected() != 1 {
            return Ok(Claim::Taken);
        }
        if !budget::acquire_in(&mut tx, scope, limit, now).await? {
            return Ok(Claim::BudgetSpent);
        }
        let row = sqlx::query(
            "SELECT m.id, m.job_id, m.position, m.prompt, m.state, m.attempt, m.in_line, j.project, j.remote_id
             FROM messages m JOIN jobs j ON j.id = m.job_id WHERE m.id = $1",
        )
        .bind(message_id)
        .fetch_one(&mut *tx)
        .await?;
        let intent = from_row(&row)?;
        let in_line = row.try_get::<i64, _>("in_line")? == 1;
        if in_line && !queue::leave_line(&mut tx, &intent, scope, limit, now).await? {
            return Ok(Claim::Taken);
        }
        enter(&mut tx, &intent, DeliveryState::Sending, None, now).await?;
        tx.commit().await?;
        Ok(Claim::Sending { intent, remote_id: row.try_get("remote_id")? })
    }

    /// Records how the delivery of a message ended; once. Who sent it knows better than another process that found it
    /// being sent at its own start, and called it unknown.
    pub async fn settle(
        &self,
        intent: &Intent,
        end: &Settlement<'_>,
        now: Timestamp,
    ) -> Result<(), StoreError> {
        let (state, reason) = match end {
            Settlement::Accepted(..) => (DeliveryState::Accepted, None),
            Settlement::Rejected(reason) => (DeliveryState::Rejected, Some(*reason)),
            Settlement::Unknown(reason) => (DeliveryState::Unknown, Some(*reason)),
        };
        let mut tx = self.begin().await?;
        let settled = sqlx::query(
            "UPDATE messages SET state = $2, reason = $3, settled_at = $4
             WHERE id = $1 AND state IN ('sending', 'unknown') AND attempt = $5",
        )
        .bind(&intent.message_id)
        .bind(state.as_str())
        .bind(reason)
        .bind(now.as_millis())
        .bind(intent.attempt)
        .execute(&mut *tx)
        .await?;
        if settled.rows_affected() != 1 {
            return Ok(());
        }
        let before = jobs::state(&mut tx, &intent.job).await?;
        if let Settlement::Accepted(remote, next_read_at) = end {
            jobs::follow(&mut tx, &intent.job, remote, *next_read_at, now).await?;
        }
        enter(&mut tx, intent, state, reason, now).await?;
        if intent.position == 0 && state == DeliveryState::Rejected {
            queue::reject_follow_ups(&mut tx, &intent.job, now).await?;
        }
        let after = jobs::state(&mut tx, &intent.job).await?;
        if before.is_moving() && !after.is_moving() {
            if let Settlement::Accepted(remote, _) = end {
                let job = intent.job.as_str();
                jobs::record_event(&mut tx, job, intent.position, now, &remote.status, None).await?;
            }
            webhook_events::rested(&mut tx, &intent.job, now).await?;
        }
        tx.commit().await?;
        Ok(())
    }

    /// Messages that were being sent when the process ended. Nobody knows what became of them.
    pub async fn interrupted(&self) -> Result<Vec<Intent>, StoreError> {
        let rows =
            sqlx::query(AssertSqlSafe(format!("{SELECT_INTENT} WHERE m.state = 'sending' ORDER BY m.id")))
                .fetch_all(&self.pool)
                .await?;
        rows.iter().map(from_row).collect()
    }

    /// Queued messages to be sent at once whose time has come, oldest first.
    pub async fn due_messages(&self, now: Timestamp) -> Result<Vec<String>, StoreError> {
        Ok(sqlx::query_scalar(AssertSqlSafe(format!(
            "SELECT id FROM messages WHERE state = 'queued' AND in_line = 0 AND due_at <= $1 AND {}
             ORDER BY id LIMIT 100",
            queue::NOTHING_BEFORE_IT
        )))
        .bind(now.as_millis())
        .fetch_all(&self.pool)
        .await?)
    }
}

/// How a new message goes.
#[derive(Clone, Copy)]
pub(super) enum Place<'a> {
    AtOnce,
    /// In its turn; a new job may belong to a batch.
    InLine(Option<&'a BatchId>),
}

/// As [`Store::insert_intent`], within a transaction: gives the ids of message and job, and writes nothing into the audit
/// log. Nothing may be committed where it gives nothing.
pub(super) async fn insert(
    tx: &mut Transaction<'static, Any>,
    new: &NewIntent<'_>,
    place: Place<'_>,
    now: Timestamp,
) -> Result<Option<(String, String)>, StoreError> {
    let (job, position) = match new.job {
        Some(job) => (job.to_string(), next_position(tx, job).await?),
        None => (insert_job(tx, new, place, now).await?, 0),
    };
    let message_id = new_id();
    let inserted = sqlx::query(
        "INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at, in_line, rank)
         SELECT $1, $2, $3, $4, $5, $6, 'queued', $7, $7, $8,
             (SELECT COALESCE(MAX(rank), 0) + 1 FROM messages WHERE state = 'queued')
         WHERE NOT EXISTS (SELECT 1 FROM messages
             WHERE job_id = $2 AND position = 0 AND state IN ('rejected', 'unknown'))
         ON CONFLICT (author_id, intent) DO NOTHING",
    )
    .bind(&message_id)
    .bind(&job)
    .bind(position)
    .bind(&new.author.id)
    .bind(new.intent.as_str())
    .bind(new.prompt)
    .bind(now.as_millis())
    .bind(i64::from(matches!(place, Place::InLine(_))))
    .execute(&mut **tx)
    .await?;
    if inserted.rows_affected() == 0 {
        return Ok(None);
    }
    jobs::record_event(tx, &job, position, now, DeliveryState::Queued.as_str(), None).await?;
    Ok(Some((message_id, job)))
}

async fn insert_job(
    tx: &mut Transaction<'static, Any>,
    new: &NewIntent<'_>,
    place: Place<'_>,
    now: Timestamp,
) -> Result<String, StoreError> {
    let job = new_id();
    let batch = match place {
        Place::InLine(batch) => batch.map(BatchId::as_str),
        Place::AtOnce => None,
    };
    sqlx::query(
        "INSERT INTO jobs (id, project, state, created_at, changed_at, batch_id) VALUES ($1, $2, $3, $4, $4, $5)",
    )
    .bind(&job)
    .bind(new.project.as_str())
    .bind(JobState::Queued.as_str())
    .bind(now.as_millis())
    .bind(batch)
    .execute(&mut **tx)
    .await?;
    for path in new.paths {
        sqlx::query(
            "INSERT INTO job_paths (job_id, path) VALUES ($1, $2) ON CONFLICT (job_id, path) DO NOTHING",
        )
        .bind(&job)
        .bind(path)
        .execute(&mut **tx)
        .await?;
    }
    if let Some(template) = new.template {
        templates::record_use(tx, &job, template).await?;
    }
    Ok(job)
}

async fn next_position(tx: &mut Transaction<'static, Any>, job: &JobId) -> Result<i64, StoreError> {
    Ok(sqlx::query_scalar("SELECT COALESCE(MAX(position), 0) + 1 FROM messages WHERE job_id = $1")
        .bind(job.as_str())
        .fetch_one(&mut **tx)
        .await?)
}

/// Writes the new state of a delivery into the history and, for a job's first prompt, into the job.
pub(super) async fn enter(
    tx: &mut Transaction<'static, Any>,
    intent: &Intent,
    state: DeliveryState,
    reason: Option<&str>,
    now: Timestamp,
) -> Result<(), StoreError> {
    let job = intent.job.as_str();
    jobs::record_event(tx, job, intent.position, now, state.as_str(), reason).await?;
    sqlx::query("UPDATE jobs SET revision = revision + 1, changed_at = $2 WHERE id = $1")
        .bind(job)
        .bind(now.as_millis())
        .execute(&mut **tx)
        .await?;
    if intent.position == 0 && state != DeliveryState::Accepted {
        sqlx::query("UPDATE jobs SET state = $2, reason = $3 WHERE id = $1")
            .bind(job)
            .bind(JobState::of(state, None).as_str())
            .bind(reason)
            .execute(&mut **tx)
            .await?;
    }
    Ok(())
}

pub(super) fn from_row(row: &AnyRow) -> Result<Intent, StoreError> {
    Ok(Intent {
        message_id: row.try_get("id")?,
        job: word(row, "job_id")?,
        project: word(row, "project")?,
        position: row.try_get("position")?,
        prompt: row.try_get("prompt")?,
        state: word(row, "state")?,
        attempt: row.try_get("attempt")?,
    })
}
