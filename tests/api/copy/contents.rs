//! Reads the contents of a database without Docket's code.

use std::collections::BTreeMap;

use sqlx::any::AnyRow;
use sqlx::{AssertSqlSafe, Column, Connection, Row};

use crate::databases::TestDatabase;
use crate::helpers::Ledger;

/// Rows that an app stores only for a short time.
pub(super) const FILLING: [&str; 27] = [
    "INSERT INTO second_factors (user_id, secret, created_at, last_step, proposed_by) SELECT id, 'JBSWY3DP', 1, 0, 'hash' FROM users WHERE name = 'vera'",
    "INSERT INTO recovery_codes (user_id, code_hash) SELECT id, 'hash' FROM users WHERE name = 'vera'",
    "INSERT INTO sign_in_steps SELECT 'token', id, '', '/p/docs', 0, 1 FROM users WHERE name = 'vera'",
    "INSERT INTO passkeys SELECT 'p-1', id, 'credential', 'Schlüssel', '{}', 9007199254740993, 1, NULL FROM users WHERE name = 'otto'",
    "INSERT INTO api_tokens SELECT 't-1', id, 'Schlüssel', 'hash', 'wxyz', 'jobs:read', '*', 1, 9007199254740993, NULL, NULL, 1, NULL FROM users WHERE name = 'otto'",
    "INSERT INTO passkey_challenges VALUES ('token', '192.0.2.7', '{}', 1)",
    "INSERT INTO identities SELECT 'https://id.example', 'subject', id FROM users WHERE name = 'otto'",
    "INSERT INTO password_links SELECT id, 'hash', 1, id FROM users WHERE name = 'olga'",
    "INSERT INTO setup_links VALUES ('token', 1)",
    "INSERT INTO drafts SELECT id, 'docs', '', 'An unsent text', 1, '', '', '', 'an intent' FROM users WHERE name = 'olga'",
    "INSERT INTO partial_days VALUES ('docs', '2026-11-20', 0, '{}', 1)",
    "INSERT INTO requested_days VALUES ('docs', '2026-10-01', 1)",
    "INSERT INTO failing_days VALUES ('docs', '2026-10-02', 2, 'failed', 1)",
    "INSERT INTO history_lease VALUES (1, 'a process that ended', 1)",
    "INSERT INTO seen_changes SELECT id, 'docs', 1, 1, 0, 0 FROM users WHERE name = 'vera'",
    "INSERT INTO archived_notifications SELECT u.id, j.id, 1 FROM users u, jobs j WHERE u.name = 'vera'",
    "INSERT INTO upstream_pauses VALUES ('of-a-test', 1)",
    "INSERT INTO platform_notices VALUES ('docs', 'no_credits', 1)",
    "INSERT INTO direct_projects VALUES ('of-a-test', 1, 1)",
    "INSERT INTO upstream_circuits VALUES ('of-a-test', 3, NULL)",
    "INSERT INTO code_hosts VALUES ('https://github.example', 1, 5000, 4999, 2, 3, 'it failed (502)', 4, 1, 'failing', 'acme/docs#7')",
    "INSERT INTO rate_limits VALUES ('account 7', 1)",
    "INSERT INTO queue_pauses VALUES ('of-a-test', 1)",
    "INSERT INTO audit_counts VALUES ('', '', 'sign_in', 'refused', '', '192.0.2.7', 1, -9223372036854775807)",
    "INSERT INTO removed_intents VALUES ('somebody', 'an intent')",
    "INSERT INTO removed_rows VALUES ('jobs', 3)",
    "INSERT INTO normalized_texts VALUES ('messages', 'an id')",
];

/// All rows of each table, except for the search index, in an order that is the same for both databases.
pub(super) async fn contents(url: &str) -> BTreeMap<String, Vec<String>> {
    let tables = if url.starts_with("sqlite:") {
        "SELECT name FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%!_words%' ESCAPE '!'
             AND name NOT LIKE '%!_characters%' ESCAPE '!'
             AND name NOT LIKE '!_sqlx%' ESCAPE '!'"
    } else {
        "SELECT CAST(tablename AS TEXT) FROM pg_tables WHERE schemaname = 'public' AND tablename NOT LIKE '%!_words' ESCAPE '!'
             AND tablename NOT LIKE '%!_characters' ESCAPE '!' AND tablename NOT LIKE '!_sqlx%' ESCAPE '!'"
    };
    let mut connection = Ledger::at(url).connection().await;
    let tables: Vec<String> = sqlx::query_scalar(tables).fetch_all(&mut connection).await.unwrap();
    let mut contents = BTreeMap::new();
    for table in tables {
        // These rows belong to processes, and are not copied.
        let rows = if ["history_lease", "instances"].contains(&table.as_str()) {
            "SELECT 'a process' AS holder"
        } else {
            &format!("SELECT * FROM {table}")
        };
        let rows = sqlx::query(AssertSqlSafe(rows.to_owned())).fetch_all(&mut connection).await.unwrap();
        let mut rows: Vec<String> = rows.iter().map(row).collect();
        rows.sort();
        contents.insert(table, rows);
    }
    connection.close().await.unwrap();
    contents
}

/// Checks that a database has these contents.
pub(super) async fn assert_contents(url: &str, expected: &BTreeMap<String, Vec<String>>) {
    let found = contents(url).await;
    assert_eq!(found.keys().collect::<Vec<_>>(), expected.keys().collect::<Vec<_>>());
    for (table, rows) in &found {
        assert_eq!(*rows, expected[table], "{table} of {url}");
    }
}

/// The names and values of a row.
fn row(row: &AnyRow) -> String {
    let value = |column: &str| {
        let number = row.try_get::<Option<i64>, _>(column).map(|value| format!("{value:?}"));
        let text = |_| row.try_get::<Option<String>, _>(column).map(|value| format!("{value:?}"));
        let bytes = |_| row.try_get::<Option<Vec<u8>>, _>(column).map(|value| format!("{value:?}"));
        number.or_else(text).or_else(bytes).unwrap()
    };
    let mut named: Vec<String> =
        row.columns().iter().map(|column| format!("{}: {}", column.name(), value(column.name()))).collect();
    named.sort();
    named.join(", ")
}

/// Adds a trigger by which indexing a job changes another table.
pub(super) async fn meddle(database: &TestDatabase) {
    let meddling = if database.url().starts_with("sqlite:") {
        "CREATE TRIGGER meddle AFTER UPDATE OF texts ON listed_jobs BEGIN UPDATE templates SET name = name || '!'; END"
    } else {
        "CREATE FUNCTION meddle() RETURNS TRIGGER LANGUAGE plpgsql AS $$
             BEGIN UPDATE templates SET name = name || '!'; RETURN NULL; END $$;
         CREATE TRIGGER meddle AFTER UPDATE OF texts ON listed_jobs FOR EACH ROW EXECUTE FUNCTION meddle()"
    };
    Ledger::at(database.url()).run(meddling).await;
}

/// Reverts [`meddle`].
pub(super) async fn stop_meddling(database: &TestDatabase) {
    let stop = if database.url().starts_with("sqlite:") {
        "DROP TRIGGER meddle"
    } else {
        "DROP FUNCTION meddle() CASCADE"
    };
    Ledger::at(database.url()).run(stop).await;
}
