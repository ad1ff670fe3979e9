//! The same ledger on PostgreSQL, beside the SQLite file: measurements send the same queries to both. The server belongs to the measurement and has
//! PostgreSQL's defaults for memory.

use sqlx::{Connection, PgConnection};
use store::Store;

#[path = "../../tests/databases/mod.rs"]
mod databases;

use databases::TestDatabase;

/// A copy of `store` on PostgreSQL. It is removed with the handle.
pub(crate) async fn on_postgres(store: &Store) -> (Store, TestDatabase) {
    let database = TestDatabase::of_server("").await;
    let target = Store::open(database.url()).await.unwrap();
    store.copy_to(&target, |_| ()).await.unwrap();
    target.close().await;
    // A server does this by itself within minutes.
    let mut connection = PgConnection::connect(database.url()).await.unwrap();
    sqlx::raw_sql("VACUUM ANALYZE").execute(&mut connection).await.unwrap();
    connection.close().await.unwrap();
    // Opened again, as at the start of a server: the connections of the copy have cached the tables.
    (Store::open(database.url()).await.unwrap(), database)
}
