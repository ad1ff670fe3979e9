//! `docket audit verify`: verifies the audit log. Read-only; works while the server runs.

use std::path::PathBuf;

use anyhow::{Context, bail};

use crate::commands::print_line;
use base::config::Database;
use base::config::redacted_url;
use service::audit::check::{Comparison, VerifiedLog, against_copy, against_note};
use store::audit::ChainLink;
use store::audit::verify::ChainCheck;
use store::{self, Store};

/// Other data to compare the log with.
pub struct Verify {
    /// A backup of the database.
    pub copy: Option<PathBuf>,
    /// The last record of an earlier run.
    pub since: Option<ChainLink>,
}

/// Prints the result of each check; fails unless all succeed.
pub async fn verify(database: &Database, against: Verify) -> anyhow::Result<()> {
    let (store, check) = read(&database.url, "log").await?;
    let mut good = check.fault.is_none();
    if let Some(noted) = against.since {
        let comparison = against_note(&store, &check, &noted).await?;
        good &= print_comparison(&format!("record {} as it was noted", noted.number), &comparison);
    }
    if let Some(file) = against.copy {
        let (copy, copied) = read(&store::url_of(&file)?, "copy").await?;
        good &= copied.fault.is_none();
        if good {
            let log = VerifiedLog { store: &store, check: &check };
            let copy = VerifiedLog { store: &copy, check: &copied };
            good &= print_comparison("log and copy", &against_copy(log, copy).await?);
        }
        copy.close().await;
    }
    store.close().await;
    if !good {
        bail!("the audit log failed verification");
    }
    print_line(&format!("last    {}", check.last));
    Ok(())
}

async fn read(url: &str, what: &str) -> anyhow::Result<(Store, ChainCheck)> {
    let store = Store::open_to_read(url).await?;
    let check = store
        .verify_audit()
        .await
        .with_context(|| format!("no audit log can be read in {}", redacted_url(url)))?;
    let (removed, last) = (check.removed.number, check.last.number);
    if removed > 0 {
        print_line(&format!("ok      {what}: records 1 to {removed} were removed by retention"));
    }
    match &check.fault {
        Some(fault) => print_line(&format!("BROKEN  {what}: {fault}")),
        None if last == removed => print_line(&format!("ok      {what}: no records")),
        None => {
            print_line(&format!("ok      {what}: records {} to {last} are whole and in order", removed + 1))
        }
    }
    Ok((store, check))
}

fn print_comparison(what: &str, comparison: &Comparison) -> bool {
    let word = if comparison.is_good() { "ok    " } else { "BROKEN" };
    print_line(&format!("{word}  {what}: {comparison}"));
    comparison.is_good()
}
