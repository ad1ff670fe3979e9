//! What a new migration must not break: whoever adds a table reads here what else it needs.

#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

use std::collections::BTreeSet;

use tempfile::TempDir;

use super::*;
use crate::server::store::dialect::{Dialect, Kind};
use crate::server::store::tests::databases::TestDatabase;

/// A migrated database of each kind, whichever is under test.
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

/// If this fails, a migration of SQLite and the one of PostgreSQL with the same number do not add up to the same.
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
        assert!(!one.key.is_empty(), "{} has no primary key, by which its rows are put in order", one.name);
        let odd = one.columns.iter().find(|column| column.kind == Kind::Other);
        assert!(odd.is_none(), "{} has {odd:?}, of a type that is not copied", one.name);
    }
    assert!(schemas[0].len() > 35, "{:?}", names(&schemas[0]));
}

/// If this fails, a table was left out that is not there any more, or SQLite has a full-text index that nothing makes anew.
#[tokio::test]
async fn what_is_not_copied_is_in_the_schema_and_every_index_of_the_search_is_made_anew() {
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

/// If this fails, a migration inserts rows: `MADE_BY_MIGRATIONS` has to say which, or no new database would be empty.
#[tokio::test]
async fn a_new_database_is_empty_but_for_what_migrations_make() {
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
async fn tables_come_after_those_that_they_refer_to() {
    let folder = TempDir::new().unwrap();
    for (_database, store) in both(&folder).await {
        let mut tx = store.begin_to_read().await.unwrap();
        let tables = in_order(copied(store.dialect.tables(&mut tx).await.unwrap())).unwrap();
        let place = |name: &str| tables.iter().position(|table| table.name == name).unwrap();
        for table in &tables {
            for other in &table.refers_to {
                assert!(place(other) < place(&table.name), "{} before {other}", table.name);
            }
        }
        assert!(place("users") < place("batches") && place("batches") < place("jobs"));
    }
    let circle = ["a", "b"].map(|name| Table {
        name: name.to_owned(),
        refers_to: BTreeSet::from([if name == "a" { "b" } else { "a" }.to_owned()]),
        ..Table::default()
    });
    assert!(matches!(in_order(circle.to_vec()), Err(CopyError::OtherSchema(_))));
}

#[tokio::test]
async fn rows_differ_whatever_is_moved_between_their_values() {
    let folder = TempDir::new().unwrap();
    for (_database, store) in both(&folder).await {
        let mut digests = BTreeSet::new();
        let values = ["'ab', ''", "'a', 'b'", "'', 'ab'", "'a', 'B'", "'1', '2'", "'12', ''"];
        for values in values {
            let mut tx = store.begin().await.unwrap();
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
