//! The commands in `docs/operate/backups.md`, `upgrade.md` and `service.md`, run as documented except for addresses and paths.
//! `scripts/dist-test.sh` runs those that set up a socket, in a separate root folder.

use std::os::unix::fs::PermissionsExt;

use base::config::KEYS;
use store::Store;

use crate::databases::TestDatabase;
use crate::helpers::{Finished, Installation, Ledger, PASSWORD};

const BACKUPS: &str = include_str!("../../docs/operate/backups.md");
const SERVICE: &str = include_str!("../../docs/operate/service.md");
const UPGRADE: &str = include_str!("../../docs/operate/upgrade.md");

/// Replaces `systemctl`: one service, whose process id is in a file.
const SYSTEMCTL: &str = r#"#!/bin/sh -e
runs() { [ -d "/proc/$1" ] && ! grep -q '^State:.Z' "/proc/$1/status"; }
case $1 in
  start)
    "$INSTALLED" serve >log 2>&1 &
    echo $! >pid
    until grep -q listening log; do runs "$(cat pid)" || { cat log >&2; exit 1; }; sleep 0.05; done ;;
  stop)
    kill "$(cat pid)"
    while runs "$(cat pid)"; do sleep 0.05; done ;;
  reload)
    kill -HUP "$(cat pid)"
    until grep -q 'configuration was read again' log; do sleep 0.05; done ;;
esac
"#;

/// Replaces `journalctl`: `-u docket -n LINES`.
const JOURNALCTL: &str = r#"#!/bin/sh -e
[ "$1 $2 $3" = "-u docket -n" ]
tail -n "$4" log
"#;

/// The blocks of commands in a document.
fn blocks(document: &str) -> Vec<String> {
    let mut blocks = vec![String::new()];
    for line in document.lines() {
        match line.strip_prefix("    ") {
            Some(command) => *blocks.last_mut().unwrap() += &format!("{command}\n"),
            None => blocks.push(String::new()),
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

/// A machine with Docket and the programs of PostgreSQL on it.
struct Machine(Installation);

impl Machine {
    fn new() -> Self {
        let installation = Installation::in_file("http://127.0.0.1:9").set("DOCKET_ADMIN_PASSWORD", PASSWORD);
        let bin = installation.path("bin");
        std::fs::create_dir(&bin).unwrap();
        let docket = format!("#!/bin/sh\nexec {} \"$@\"\n", env!("CARGO_BIN_EXE_docket"));
        for (name, script) in [
            ("bin/docket", docket.as_str()),
            ("docket", &docket),
            ("docket-old", &docket),
            ("bin/systemctl", SYSTEMCTL),
            ("bin/journalctl", JOURNALCTL),
        ] {
            std::fs::write(installation.path(name), script).unwrap();
            std::fs::set_permissions(installation.path(name), PermissionsExt::from_mode(0o755)).unwrap();
        }
        let script = concat!(env!("CARGO_MANIFEST_DIR"), "/scripts/postgres.sh");
        let postgres = std::process::Command::new(script).arg("programs").output().unwrap();
        let postgres = String::from_utf8(postgres.stdout).unwrap();
        let path = format!("{}:{}:/usr/bin:/bin", bin.display(), postgres.trim());
        let installed = bin.join("docket").display().to_string();
        let configuration = installation.path("configuration.toml");
        std::fs::write(&configuration, "agent_per_hour = 50\n").unwrap();
        let configuration = configuration.display().to_string();
        Self(
            installation.set("PATH", &path).set("INSTALLED", &installed).set("DOCKET_CONFIG", &configuration),
        )
    }

    /// Runs a block, after replacing names that must all occur in it.
    #[track_caller]
    fn run(&self, block: &str, names: &[(&str, &str)]) -> Finished {
        let mut commands = block.to_owned();
        for (written, here) in names {
            assert!(commands.contains(written), "no {written} in {block}");
            commands = commands.replace(written, here);
        }
        let done = self.0.run_by(&format!("set -e\n{commands}"), &[]);
        assert_eq!(done.code, Some(0), "{block}\n{done:?}");
        done
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        // It may have stopped already.
        self.0.run_by("[ ! -e pid ] || systemctl stop docket", &[]);
    }
}

#[tokio::test]
async fn documented_backup_and_restore_commands_work() {
    let blocks = blocks(BACKUPS);
    let [settings, check, restore, dump, pg_restore, psql] = &blocks[..] else { panic!("{blocks:#?}") };
    for line in settings.lines() {
        let (variable, _) = line.strip_prefix("export ").unwrap().split_once('=').unwrap();
        assert!(KEYS.iter().any(|key| key.variable() == variable), "{variable}");
    }
    let machine = Machine::new();
    machine.run("systemctl start docket", &[]);
    machine.run("docket backup copy.db", &[]);
    let file = ("docket-2026-11-23T05-49-03Z.db", "copy.db");
    let checked = machine.run(check, &[file]);
    assert!(checked.stdout.contains("Nothing was changed"), "{checked:?}");
    let restored = machine.run(restore, &[file]);
    assert!(restored.stdout.contains("Restored"), "{restored:?}");

    let database = TestDatabase::of_server("").await;
    let store = Store::open(database.url()).await.unwrap();
    store.close().await;
    let ledger = Ledger::at(database.url());
    ledger
        .run(
            "INSERT INTO users (id, name, role, password_hash, created_at) VALUES ('u', 'ada', 'admin', '', 1);
             INSERT INTO jobs (id, project, state, created_at, changed_at) VALUES ('j-1', 'docs', 'queued', 1, 1);
             INSERT INTO messages (id, job_id, position, author_id, intent, prompt, state, created_at, due_at)
                 VALUES ('m-1', 'j-1', 0, 'u', 'i-1', 'Fix it', 'queued', 1, 1);
             INSERT INTO sessions (id_hash, data, created_at, last_used_at, expires_at, user_id) VALUES ('s', '', 1, 1, 9000000000000, 'u');
             INSERT INTO sign_in_steps VALUES ('token', 'u', '', '/', 0, 9000000000000);
             INSERT INTO passkey_challenges VALUES ('token', '', '{}', 9000000000000);
             INSERT INTO setup_links VALUES ('token', 9000000000000);
             INSERT INTO password_links VALUES ('u', 'token', 9000000000000, 'u');
             INSERT INTO api_tokens VALUES ('t', 'u', 'CI', 'hash', 'wxyz', 'jobs:read', '*', 1, 1700000000000, NULL, NULL, 0, NULL);
             INSERT INTO instances (id, started_at, seen_at, steady_since) VALUES ('another', 1, 1, 1);
             INSERT INTO history_lease VALUES (1, 'another', 9000000000000);
             INSERT INTO invitations (user_id, token_hash, expires_at) VALUES ('u', 'token', 9000000000000)",
        )
        .await;
    let url = ("postgres://docket@db.example.com/docket", database.url());
    machine.run(dump, &[url]);
    ledger.run("UPDATE jobs SET state = 'active'; DELETE FROM messages").await;
    machine.run(pg_restore, &[url]);
    assert_eq!(ledger.count("SELECT COUNT(*) FROM messages WHERE on_hold_since IS NULL").await, 1);
    machine.run(psql, &[url]);
    for rows in [
        "SELECT COUNT(*) FROM messages WHERE on_hold_since IS NULL OR on_hold_since < 1700000000000",
        "SELECT COUNT(*) FROM sessions",
        "SELECT COUNT(*) FROM sign_in_steps",
        "SELECT COUNT(*) FROM passkey_challenges",
        "SELECT COUNT(*) FROM setup_links",
        "SELECT COUNT(*) FROM password_links",
        "SELECT COUNT(*) FROM api_tokens WHERE revoked_at IS NULL",
        "SELECT COUNT(*) FROM instances",
        "SELECT COUNT(*) FROM history_lease",
        "SELECT COUNT(*) FROM invitations WHERE token_hash = 'token'",
        // They end now: retention removes the accounts of those that ended long ago.
        "SELECT COUNT(*) FROM invitations WHERE expires_at NOT BETWEEN 1700000000000 AND 8000000000000",
    ] {
        assert_eq!(ledger.count(rows).await, 0, "{rows}");
    }
    assert_eq!(ledger.count("SELECT COUNT(*) FROM jobs WHERE state = 'queued'").await, 1);
}

#[tokio::test]
async fn documented_upgrade_and_rollback_commands_work() {
    let blocks = blocks(UPGRADE);
    let [check, trial, upgrade, back] = &blocks[..] else { panic!("{blocks:#?}") };
    let machine = Machine::new();
    machine.run("systemctl start docket", &[]);
    let checked = machine.run(check, &[]);
    assert!(checked.stdout.contains("nothing is to be migrated"), "{checked:?}");
    machine.run(trial, &[]);
    let installed = machine.0.path("bin/docket").display().to_string();
    let installed = ("/usr/bin/docket", installed.as_str());
    machine.run(upgrade, &[installed]);
    let gone_back = machine.run(back, &[installed]);
    assert!(gone_back.stdout.contains("Restored"), "{gone_back:?}");
}

#[tokio::test]
async fn documented_reload_commands_work() {
    let blocks = blocks(SERVICE);
    let [change, _document_of_checks, _socket] = &blocks[..] else { panic!("{blocks:#?}") };
    let machine = Machine::new();
    machine.run("systemctl start docket", &[]);
    std::fs::write(machine.0.path("configuration.toml"), "agent_per_hour = 60\n").unwrap();
    let journal = machine.run(change, &[]).stdout;
    assert!(journal.contains("takes effect") && journal.contains("DOCKET_AGENT_PER_HOUR"), "{journal}");
}
