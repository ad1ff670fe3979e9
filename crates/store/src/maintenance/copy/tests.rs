//! What a migration must preserve so that copies work. If a new table breaks a test, its comment explains what to change.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use crate::tests::work;
use std::collections::BTreeSet;

use tempfile::TempDir;

use super::*;
use crate::dialect::{Dialect, Kind};
use crate::tests::databases::TestDatabase;

/// A migrated database of each kind, independent of the one under test.
async fn both(folder: &TempDir) -> Vec<(TestDatabase, Store)> {
    let file = TestDatabase::of_file(&folder.path().join("ledger.db"));
    let mut both = Vec::new();
    for database in [file, TestDatabase::of_server("").await] {
        let store = Store::open(database.url()).await.unwrap();
        both.push((database, store));
    }
    both
}

fn names(tables: &[Table]) -> BTreeSet<&str> {
    tables.iter().map(|table| table.name.as_str()).collect()
}

/// If this fails, migrations of SQLite and PostgreSQL with the same number give different schemas.
#[tokio::test]
async fn both_schemas_have_the_same_tables_columns_keys_and_references() {
    let folder = TempDir::new().unwrap();
    let mut schemas = Vec::new();
    for (_database, store) in both(&folder).await {
        let mut tx = store.begin_to_read().await.unwrap();
        schemas.push(copied(store.dialect.tables(&mut tx).await.unwrap()));
    }
    assert_eq!(names(&schemas[0]), names(&schemas[1]));
    for (one, other) in schemas[0].iter().zip(&schemas[1]) {
        assert_eq!(one, other);
        assert!(!one.key.is_empty(), "{} has no primary key to order its rows by", one.name);
        let odd = one.columns.iter().find(|column| column.kind == Kind::Other);
        assert!(odd.is_none(), "{} has {odd:?}, of a type that is not copied", one.name);
    }
    assert!(schemas[0].len() > 35, "{:?}", names(&schemas[0]));
}

/// If this fails, a table in the list of exceptions does not exist any more, or SQLite has a full-text index that is not rebuilt.
#[tokio::test]
async fn uncopied_tables_exist_and_search_indexes_are_rebuilt() {
    let folder = TempDir::new().unwrap();
    for (_database, store) in both(&folder).await {
        let mut tx = store.begin_to_read().await.unwrap();
        let tables = store.dialect.tables(&mut tx).await.unwrap();
        let virtual_tables: Vec<String> = match store.dialect {
            Dialect::Sqlite => {
                let list = "SELECT name FROM pragma_table_list WHERE type = 'virtual' AND schema = 'main' ORDER BY name DESC";
                sqlx::query_scalar(list).fetch_all(&mut *tx).await.unwrap()
            }
            Dialect::Postgres => DERIVED.map(str::to_owned).to_vec(),
        };
        assert_eq!(virtual_tables, DERIVED);
        for (table, _) in OF_PROCESSES.iter().chain(&MADE_BY_MIGRATIONS) {
            assert!(names(&tables).contains(table), "{table} is not there");
        }
        let derived = names(&tables).into_iter().filter(|name| DERIVED.contains(name)).count();
        assert_eq!(derived, if store.dialect == Dialect::Postgres { DERIVED.len() } else { 0 });
    }
}

/// If this fails, a migration inserts rows: add them to `MADE_BY_MIGRATIONS`, or no new database counts as empty.
#[tokio::test]
async fn new_database_contains_only_rows_from_migrations() {
    let folder = TempDir::new().unwrap();
    for (_database, store) in both(&folder).await {
        let mut tx = store.begin_to_read().await.unwrap();
        let tables = store.dialect.tables(&mut tx).await.unwrap();
        assert_eq!(occupied(&mut tx, &tables).await.unwrap(), None);
        for (table, _) in MADE_BY_MIGRATIONS {
            let table = tables.iter().find(|there| there.name == table).unwrap();
            assert!(count(&mut tx, table).await.unwrap() > 0, "no migration makes rows of {}", table.name);
        }
    }
}

#[tokio::test]
async fn tables_come_after_the_tables_they_reference() {
    let folder = TempDir::new().unwrap();
    for (_database, store) in both(&folder).await {
        let mut tx = store.begin_to_read().await.unwrap();
        let tables = in_order(copied(store.dialect.tables(&mut tx).await.unwrap())).unwrap();
        let position = |name: &str| tables.iter().position(|table| table.name == name).unwrap();
        for table in &tables {
            for other in &table.refers_to {
                assert!(position(other) < position(&table.name), "{} before {other}", table.name);
            }
        }
        assert!(position("users") < position("batches") && position("batches") < position("jobs"));
    }
    let circle = ["a", "b"].map(|name| Table {
        name: name.to_owned(),
        refers_to: BTreeSet::from([if name == "a" { "b" } else { "a" }.to_owned()]),
        ..Table::default()
    });
    assert!(matches!(in_order(circle.to_vec()), Err(CopyError::OtherSchema(_))));
}

#[tokio::test]
async fn digest_changes_when_text_moves_between_values() {
    let folder = TempDir::new().unwrap();
    for (_database, store) in both(&folder).await {
        let mut digests = BTreeSet::new();
        let values = ["'ab', ''", "'a', 'b'", "'', 'ab'", "'a', 'B'", "'1', '2'", "'12', ''"];
        for values in values {
            let mut tx = store.write(&work()).begin().await.unwrap().tx;
            run(&mut tx, format!("INSERT INTO removed_intents (author_id, intent) VALUES ({values})"))
                .await
                .unwrap();
            let tables = store.dialect.tables(&mut tx).await.unwrap();
            let table = tables.iter().find(|table| table.name == "removed_intents").unwrap();
            digests.insert(digest(&mut tx, table).await.unwrap().to_string());
        }
        assert_eq!(digests.len(), values.len());
    }
}
