//! `docket restore`: replaces the configured database with a backup.

use std::path::PathBuf;

use crate::commands::print_line;
use crate::process::restore::{Done, Restore, advice_for_a_server};
use base::clock::Clock;
use base::config::Database;
use base::work::Docket;
use store::file_of;

pub struct Options {
    pub backup: PathBuf,
    pub accepts_broken_audit: bool,
    pub dry_run: bool,
}

pub async fn restore(database: &Database, options: Options, docket: &Docket) -> anyhow::Result<()> {
    let Some(target) = file_of(&database.url) else {
        return Err(advice_for_a_server(&database.redacted_url().to_string()).into());
    };
    let Options { backup, accepts_broken_audit, dry_run } = options;
    let restore = Restore { target: target.clone(), backup: backup.clone(), accepts_broken_audit, dry_run };
    let done = restore.run(&docket.command("docket restore", Clock::system())).await?;
    print_backup(&backup.display().to_string(), &done);
    if dry_run {
        print_line("Nothing was changed. Without --dry-run, that would be put back.");
        return Ok(());
    }
    match &done.before {
        Some(before) => print_line(&format!(
            "before  the database that was there is {0}; to go back to it: docket restore {0}",
            before.display()
        )),
        None => print_line("before  there was no database"),
    }
    print_line(&format!(
        "Restored {}. Start Docket; an administrator releases or cancels the prompts that are on hold, at /admin/users.",
        target.display()
    ));
    Ok(())
}

fn print_backup(backup: &str, Done { restored, audit_fault, .. }: &Done) {
    let made = restored.made_at.map_or("never used".to_owned(), |at| format!("last written at {at}"));
    print_line(&format!("backup  {backup}: whole, {made}, {} jobs", restored.jobs));
    match audit_fault {
        Some(fault) => print_line(&format!("BROKEN  audit log: {fault}")),
        None => print_line("ok      audit log: its records are whole and in order"),
    }
    print_line(&format!("on hold {} queued prompts, which may have been sent since", restored.on_hold));
    print_line(&format!("unknown {} prompts, which were being sent", restored.unknown));
    print_line(&format!(
        "ended   {} sessions, {} invite links and {} API tokens",
        restored.sessions, restored.invitations, restored.tokens
    ));
    if restored.events > 0 {
        print_line(&format!(
            "again   {} webhook events are delivered, perhaps a second time, with the ids that receivers know",
            restored.events
        ));
    }
}
