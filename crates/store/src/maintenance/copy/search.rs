//! The search index, which is not copied: triggers of the target build it from the texts, and it is then checked against them.

use sqlx::{AnyConnection, AssertSqlSafe};

use super::{CopyError, Step};
use crate::StoreError;
use crate::dialect::{Dialect, Texts};

/// How many jobs one statement indexes.
const JOBS_AT_ONCE: i64 = 1_000;
/// How many jobs are indexed between two progress reports.
const REPORT_EVERY: u64 = 10_000;

/// Indexes the texts of all jobs. Changes nothing else: the triggers write values that exist already.
pub(super) async fn index(
    to: &mut AnyConnection,
    report: &mut impl FnMut(Step<'_>),
) -> Result<(), StoreError> {
    let of: i64 = sqlx::query_scalar("SELECT COUNT(*) FROM listed_jobs").fetch_one(&mut *to).await?;
    let (mut jobs, of, mut last) = (0, of.unsigned_abs(), i64::MIN);
    loop {
        let up_to: Option<i64> = sqlx::query_scalar(
            "SELECT MAX(number) FROM (SELECT number FROM listed_jobs WHERE number > $1 ORDER BY number LIMIT $2) AS next",
        )
        .bind(last)
        .bind(JOBS_AT_ONCE)
        .fetch_one(&mut *to)
        .await?;
        let Some(up_to) = up_to else { break };
        // The trigger of `texts` runs for any new value. A job without texts has no entry.
        let indexed = sqlx::query(
            "UPDATE listed_jobs SET texts = texts WHERE number > $1 AND number <= $2
             AND EXISTS (SELECT 1 FROM messages m WHERE m.job_id = listed_jobs.job_id)",
        )
        .bind(last)
        .bind(up_to)
        .execute(&mut *to)
        .await?;
        let before = jobs;
        (jobs, last) = (jobs + indexed.rows_affected(), up_to);
        if jobs / REPORT_EVERY > before / REPORT_EVERY && jobs < of {
            report(Step::Indexed { jobs, of });
        }
    }
    report(Step::Indexed { jobs, of: jobs });
    Ok(())
}

/// Checks that the index finds exactly the jobs with texts, by each of their texts.
pub(super) async fn check(to: &mut AnyConnection, dialect: Dialect) -> Result<(), CopyError> {
    for texts in [Texts::Words, Texts::Characters] {
        let entries = dialect.entries(texts);
        let wrong = match texts {
            Texts::Words => {
                format!("{entries} <> (SELECT COUNT(*) FROM messages m WHERE m.job_id = l.job_id)")
            }
            Texts::Characters => format!("({entries} > 0) <> (l.unspaced = 1)"),
        };
        // Each is a look-up by number: for a join, SQLite would compare every job with every entry.
        let wrong = format!(
            "SELECT COUNT(*) FILTER (WHERE {wrong}) + ABS({} - CAST(COALESCE(SUM({entries}), 0) AS BIGINT))
             FROM listed_jobs l",
            dialect.all_entries(texts)
        );
        let jobs: i64 =
            sqlx::query_scalar(AssertSqlSafe(wrong)).fetch_one(&mut *to).await.map_err(StoreError::from)?;
        if jobs > 0 {
            return Err(CopyError::NotIndexed { jobs });
        }
    }
    Ok(())
}
