//! `docket copy`: copies all data into another database, and verifies that it is complete.

use crate::commands::print_line;
use base::clock::Clock;
use base::config::Database;
use store::Store;
use store::maintenance::copy::{Copied, Step, must_be_empty};

/// Copies `from`, which is only read, to `to`, which must be empty.
pub async fn copy(from: &Database, to: &Database) -> anyhow::Result<()> {
    let source = Store::open_to_read(&from.url).await?;
    source.must_be_ready_to_copy(Clock::system().now()).await?;
    // Checked before the migration, because the target may contain data of another version or program.
    must_be_empty(&to.url).await?;
    let target = Store::open_within(&to.url, to.patience, to.copy).await?;
    print_line(&format!("from {} to {}", from.redacted_url(), to.redacted_url()));
    let copied = source.copy_to(&target, |step| print_line(&line(&step))).await;
    source.close().await;
    target.close().await;
    let Copied { tables, rows } = copied?;
    print_line(&format!(
        "Copied {tables} tables with {rows} rows, which are equal on both sides. Set DOCKET_DATABASE_URL to the URL given as --to, and \
         start Docket. Never serve {} again: what waits in its queue would be sent twice.",
        from.redacted_url()
    ));
    Ok(())
}

fn line(step: &Step<'_>) -> String {
    match step {
        Step::Begun { tables, rows } => format!("tables  {tables}, with {rows} rows"),
        Step::Copying { table, rows, of } => {
            format!("copying {table}: {rows} of {of} rows ({}%)", percent(*rows, *of))
        }
        Step::Copied { table, rows } => format!("copied  {table}: {rows} of {rows} rows"),
        Step::Indexed { jobs, of } => format!("search  {jobs} of {of} jobs ({}%)", percent(*jobs, *of)),
        Step::Equal { table, rows, digest } => format!("equal   {table}: {rows} rows, SHA-256 {digest}"),
    }
}

fn percent(part: u64, whole: u64) -> u64 {
    (part * 100).checked_div(whole).unwrap_or(100)
}
