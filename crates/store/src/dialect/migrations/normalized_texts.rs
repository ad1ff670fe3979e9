//! The part of migration 121 that SQL cannot do: it normalizes the texts that versions before 0.1.0 stored. Later versions normalize texts when they
//! write them.

use sqlx::{Any, AssertSqlSafe, Transaction};

use crate::StoreError;
use base::nfc::nfc;

/// The number of the migration.
pub(super) const STEP: i64 = 121;

/// How many rows are read at once.
const ROWS: usize = 50;

/// A column with texts, of a table with ids.
#[derive(Clone, Copy)]
struct TextColumn {
    table: &'static str,
    column: &'static str,
    /// A condition of the change, with the new text as `$2`.
    condition: &'static str,
    /// A statement after a change of the row `$1`.
    after: Option<&'static str>,
}

const TEXTS: [TextColumn; 7] = [
    // Sign-in uses the normalized name. A name stays if another account has its normalized form.
    TextColumn {
        condition: "NOT EXISTS (SELECT 1 FROM users WHERE name = $2)",
        ..TextColumn::of("users", "name")
    },
    // Versions before 0.1.0 indexed a prompt and its follow-ups in one entry, which the change of the prompt replaces: all texts are indexed again.
    TextColumn {
        after: Some(
            "UPDATE listed_jobs SET texts = texts WHERE job_id = (SELECT job_id FROM messages WHERE id = $1)",
        ),
        ..TextColumn::of("messages", "prompt")
    },
    TextColumn::of("batches", "template"),
    TextColumn::of("batches", "list"),
    TextColumn::of("batches", "name"),
    TextColumn {
        condition: "NOT EXISTS (SELECT 1 FROM templates o WHERE o.project = templates.project AND o.name = $2)",
        ..TextColumn::of("templates", "name")
    },
    TextColumn::of("templates", "text"),
];

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

impl TextColumn {
    const fn of(table: &'static str, column: &'static str) -> Self {
        Self { table, column, condition: "1 = 1", after: None }
    }
}

pub(crate) async fn normalize(tx: &mut Transaction<'static, Any>) -> Result<(), StoreError> {
    for texts in TEXTS {
        normalize_texts(tx, texts).await?;
    }
    for labels in LABELS {
        normalize_labels(tx, labels).await?;
    }
    Ok(())
}

async fn normalize_texts(
    tx: &mut Transaction<'static, Any>,
    TextColumn { table, column, condition, after }: TextColumn,
) -> Result<(), StoreError> {
    let select = format!(
        "SELECT id, {column} FROM {table} WHERE id > $1 AND {} ORDER BY id LIMIT {ROWS}",
        is_not_ascii(column)
    );
    let update = format!("UPDATE {table} SET {column} = $2 WHERE id = $1 AND {condition}");
    let mut last = String::new();
    loop {
        let rows: Vec<(String, String)> =
            sqlx::query_as(AssertSqlSafe(select.clone())).bind(last).fetch_all(&mut **tx).await?;
        let Some((id, _)) = rows.last() else { return Ok(()) };
        last = id.clone();
        for (id, text) in &rows {
            let normalized = nfc(text);
            if normalized == *text {
                continue;
            }
            let changed = sqlx::query(AssertSqlSafe(update.clone())).bind(id).bind(&*normalized);
            changed.execute(&mut **tx).await?;
            if let Some(after) = after {
                sqlx::query(after).bind(id).execute(&mut **tx).await?;
            }
        }
    }
}

/// Replaces the pages or tags, unless their job has the normalized one too. The triggers of the job list handle new and removed rows only.
async fn normalize_labels(
    tx: &mut Transaction<'static, Any>,
    LabelTable { table, key, shown }: LabelTable,
) -> Result<(), StoreError> {
    let select = format!(
        "SELECT job_id, {key}, {shown} FROM {table} WHERE (job_id, {key}) > ($1, $2) AND {} ORDER BY job_id, {key} LIMIT {ROWS}",
        is_not_ascii(shown)
    );
    let delete = format!("DELETE FROM {table} WHERE job_id = $1 AND {key} = $2");
    let (columns, values) =
        if key == shown { (key.to_owned(), "$2") } else { (format!("{key}, {shown}"), "$2, $3") };
    let insert = format!(
        "INSERT INTO {table} (job_id, {columns}) VALUES ($1, {values}) ON CONFLICT (job_id, {key}) DO NOTHING"
    );
    let (mut last_job, mut last_key) = (String::new(), String::new());
    loop {
        let rows: Vec<(String, String, String)> = sqlx::query_as(AssertSqlSafe(select.clone()))
            .bind(last_job)
            .bind(last_key)
            .fetch_all(&mut **tx)
            .await?;
        let Some((job, label, _)) = rows.last() else { return Ok(()) };
        (last_job, last_key) = (job.clone(), label.clone());
        for (job, label, text) in &rows {
            let (normalized, normalized_text) = (nfc(label), nfc(text));
            if normalized == *label && normalized_text == *text {
                continue;
            }
            sqlx::query(AssertSqlSafe(delete.clone())).bind(job).bind(label).execute(&mut **tx).await?;
            let added = sqlx::query(AssertSqlSafe(insert.clone())).bind(job).bind(&*normalized);
            let added = if key == shown { added } else { added.bind(&*normalized_text) };
            added.execute(&mut **tx).await?;
        }
    }
}

/// Other texts are normalized.
fn is_not_ascii(column: &str) -> String {
    format!("OCTET_LENGTH({column}) <> LENGTH({column})")
}
