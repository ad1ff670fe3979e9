//! Normalizes texts that an earlier version stored: prompts, follow-ups, and the pages and tags of jobs. A step reads the rows after the last checked
//! one, and changes each unnormalized row in a short transaction of its own.

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Row};

use crate::server::nfc::nfc;
use crate::server::process::blocking;
use crate::server::store::{Store, StoreError};
use crate::server::work::Work;

/// How many messages a step reads.
const MESSAGES: usize = 50;
/// How many jobs a step reads the pages and tags of.
const JOBS: usize = 200;

/// A text that is not normalized.
struct Message {
    id: String,
    job_id: String,
    position: i64,
    prompt: String,
}

/// The table of the pages or tags of jobs.
#[derive(Clone, Copy)]
struct LabelTable {
    table: &'static str,
    /// The column that the list filters by.
    key: &'static str,
    /// The displayed column.
    shown: &'static str,
}

const LABELS: [LabelTable; 2] = [
    LabelTable { table: "job_paths", key: "path", shown: "path" },
    LabelTable { table: "job_tags", key: "folded", shown: "tag" },
];

impl Store {
    /// Normalizes the names of all accounts, because sign-in uses the normalized name. A name stays if another account has its normalized form.
    pub async fn normalize_usernames(&self, work: &Work) -> Result<(), StoreError> {
        for user in self.users().await? {
            let normalized = nfc(&user.name);
            if normalized == user.name {
                continue;
            }
            sqlx::query("UPDATE users SET name = $2 WHERE id = $1 AND NOT EXISTS (SELECT 1 FROM users WHERE name = $2)")
                .bind(&user.id)
                .bind(&*normalized)
                .execute(self.write(work).statement())
                .await?;
        }
        Ok(())
    }

    /// Normalizes some prompts and follow-ups; returns `false` when none are left.
    pub async fn normalize_messages(&self, work: &Work) -> Result<bool, StoreError> {
        let rows = self
            .after_the_last("messages", "SELECT id, job_id, position, prompt FROM messages", "id", MESSAGES)
            .await?;
        let Some(last) = rows.last() else { return Ok(false) };
        let last: String = last.try_get("id")?;
        let messages = rows.iter().map(message).collect::<Result<Vec<_>, _>>()?;
        // For many long texts this takes a while.
        let texts = blocking::run(usize::MAX, move || {
            messages
                .into_iter()
                .filter_map(|message| {
                    let normalized = nfc(&message.prompt).into_owned();
                    (normalized != message.prompt).then_some((message, normalized))
                })
                .collect::<Vec<_>>()
        });
        for (message, normalized) in texts.await {
            if message.position == 0 {
                self.index_follow_ups(work, &message.job_id).await?;
            }
            sqlx::query("UPDATE messages SET prompt = $2 WHERE id = $1 AND prompt = $3")
                .bind(message.id)
                .bind(normalized)
                .bind(message.prompt)
                .execute(self.write(work).statement())
                .await?;
        }
        self.set_last(work, "messages", &last).await?;
        Ok(true)
    }

    /// Normalizes the pages and tags of some jobs; returns `false` when none are left.
    pub async fn normalize_labels(&self, work: &Work) -> Result<bool, StoreError> {
        let rows = self.after_the_last("jobs", "SELECT id FROM jobs", "id", JOBS).await?;
        let (Some(first), Some(last)) = (rows.first(), rows.last()) else { return Ok(false) };
        let (first, last): (String, String) = (first.try_get("id")?, last.try_get("id")?);
        for labels in LABELS {
            let LabelTable { table, key, shown } = labels;
            let sql = format!(
                "SELECT job_id, {key} AS label, {shown} AS shown FROM {table} WHERE job_id BETWEEN $1 AND $2"
            );
            let rows = sqlx::query(AssertSqlSafe(sql)).bind(&first).bind(&last).fetch_all(&self.pool).await?;
            for row in &rows {
                self.normalize_label(work, labels, row).await?;
            }
        }
        self.set_last(work, "jobs", &last).await?;
        Ok(true)
    }

    /// Gives each follow-up of a job its own entry in the index. Earlier versions indexed it in the entry of the prompt, which is about to be written
    /// again.
    async fn index_follow_ups(&self, work: &Work, job_id: &str) -> Result<(), StoreError> {
        let follow_ups: Vec<String> = sqlx::query_scalar(
            "SELECT id FROM messages WHERE job_id = $1 AND position > 0 ORDER BY position",
        )
        .bind(job_id)
        .fetch_all(&self.pool)
        .await?;
        for id in follow_ups {
            sqlx::query("UPDATE messages SET prompt = prompt WHERE id = $1")
                .bind(id)
                .execute(self.write(work).statement())
                .await?;
        }
        Ok(())
    }

    /// Replaces a page or tag of a job, unless the job has the normalized one too.
    async fn normalize_label(
        &self,
        work: &Work,
        LabelTable { table, key, shown }: LabelTable,
        row: &AnyRow,
    ) -> Result<(), StoreError> {
        let text = |column: &str| row.try_get::<String, _>(column);
        let (job, label, seen) = (text("job_id")?, text("label")?, text("shown")?);
        let (normalized, normalized_seen) = (nfc(&label), nfc(&seen));
        if normalized == label && normalized_seen == seen {
            return Ok(());
        }
        let mut tx = self.write(work).begin().await?.tx;
        let removed = format!("DELETE FROM {table} WHERE job_id = $1 AND {key} = $2");
        let removed = sqlx::query(AssertSqlSafe(removed)).bind(&job).bind(&label).execute(&mut *tx).await?;
        if removed.rows_affected() == 1 {
            let columns = if key == shown { key.to_owned() } else { format!("{key}, {shown}") };
            let values = if key == shown { "$2" } else { "$2, $3" };
            let added = format!(
                "INSERT INTO {table} (job_id, {columns}) VALUES ($1, {values}) ON CONFLICT (job_id, {key}) DO NOTHING"
            );
            let added = sqlx::query(AssertSqlSafe(added)).bind(&job).bind(&*normalized);
            let added = if key == shown { added } else { added.bind(&*normalized_seen) };
            added.execute(&mut *tx).await?;
        }
        Ok(tx.commit().await?)
    }

    async fn after_the_last(
        &self,
        name: &str,
        select: &str,
        key: &str,
        most: usize,
    ) -> Result<Vec<AnyRow>, StoreError> {
        let sql = format!(
            "{select} WHERE {key} > COALESCE((SELECT last FROM normalized_texts WHERE name = $1), '')
             ORDER BY {key} LIMIT {most}"
        );
        Ok(sqlx::query(AssertSqlSafe(sql)).bind(name).fetch_all(&self.pool).await?)
    }

    async fn set_last(&self, work: &Work, name: &str, last: &str) -> Result<(), StoreError> {
        sqlx::query(
            "INSERT INTO normalized_texts (name, last) VALUES ($1, $2)
             ON CONFLICT (name) DO UPDATE SET last = excluded.last",
        )
        .bind(name)
        .bind(last)
        .execute(self.write(work).statement())
        .await?;
        Ok(())
    }
}

fn message(row: &AnyRow) -> Result<Message, StoreError> {
    Ok(Message {
        id: row.try_get("id")?,
        job_id: row.try_get("job_id")?,
        position: row.try_get("position")?,
        prompt: row.try_get("prompt")?,
    })
}
