//! Connections for long queries, such as a search of all prompts. They are separate, so that sessions, polls and writes always find a free
//! connection. A query is stopped after a time limit, or when its caller is dropped (`dialect::interruption`).

use std::sync::Arc;

use sqlx::any::AnyRow;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::StoreError;
use super::dialect::select::Statement;
use super::dialect::{AT_ONCE, Connections, is_interruption};
use base::boxed::Boxed;
use base::query_permits::QueryPermit;
use base::waits::Waits;

/// Cloning gives another handle.
#[derive(Clone)]
pub(crate) struct QueryPool {
    connections: Connections,
    snapshots: Arc<Semaphore>,
    waits: Waits,
}

impl QueryPool {
    pub(crate) fn of(connections: Connections, waits: Waits) -> Self {
        Self { connections, snapshots: Arc::new(Semaphore::new(AT_ONCE as usize)), waits }
    }

    /// The only row of a query's result. The caller needs a permit of the requesting user.
    pub(crate) fn fetch_one<'a>(
        &'a self,
        _: &'a QueryPermit,
        query: Statement,
    ) -> Boxed<'a, AnyRow, StoreError> {
        Box::pin(async move {
            self.connections.fetch_one(query).await.map_err(|error| match error {
                sqlx::Error::PoolTimedOut => StoreError::Busy,
                error if is_interruption(&error) => StoreError::Stopped,
                error => error.into(),
            })
        })
    }

    /// A permit for a snapshot of the daily history, which uses one of the other connections for a while.
    pub(crate) async fn snapshot_permit(&self) -> Result<OwnedSemaphorePermit, StoreError> {
        let permit = tokio::time::timeout(self.waits.turn, self.snapshots.clone().acquire_owned()).await;
        permit.ok().and_then(Result::ok).ok_or(StoreError::Busy)
    }

    pub(crate) async fn close(&self) {
        self.connections.close().await;
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::work;
    use futures::future::join_all;
    use sqlx::Row;

    use std::time::Duration;

    use super::*;
    use crate::Store;
    use crate::tests::databases::TestDatabase;
    use crate::tests::{database, permit};

    fn statement(sql: &str) -> Statement {
        Statement::around(sql.to_owned(), [])
    }

    fn endless() -> Statement {
        statement("WITH RECURSIVE n (x) AS (SELECT 1 UNION ALL SELECT 1 FROM n) SELECT COUNT(*) FROM n")
    }

    /// A store, and the resources that must outlive it.
    async fn store() -> ((TestDatabase, tempfile::TempDir), Store) {
        let folder = tempfile::tempdir().expect("a folder");
        let database = database(&folder).await;
        let store = Store::open(database.url()).await.expect("a store");
        ((database, folder), store)
    }

    fn lasting(queries: &QueryPool, longest: Duration) -> QueryPool {
        QueryPool { connections: queries.connections.lasting(longest), ..queries.clone() }
    }

    #[tokio::test]
    async fn slow_query_is_stopped_and_its_connection_reused() {
        let (_folder, store) = store().await;
        let permit = permit().await;
        let queries = lasting(&store.queries, Duration::from_millis(50));
        for _ in 0..2 * AT_ONCE {
            let stopped = queries.fetch_one(&permit, endless()).await;
            assert!(matches!(stopped, Err(StoreError::Stopped)), "{:?}", stopped.err());
        }
        let row = queries.fetch_one(&permit, statement("SELECT '7'")).await.expect("a row");
        assert_eq!(row.try_get::<String, _>(0).expect("a text"), "7");
    }

    #[tokio::test]
    async fn abandoned_query_is_stopped() {
        let (_folder, store) = store().await;
        let permit = permit().await;
        let queries = lasting(&store.queries, Duration::from_secs(3_600));
        for _ in 0..2 * AT_ONCE {
            let result =
                tokio::time::timeout(Duration::from_millis(20), queries.fetch_one(&permit, endless())).await;
            assert!(result.is_err());
        }
        // Every connection was used; each is free again.
        assert!(queries.fetch_one(&permit, statement("SELECT '7'")).await.is_ok());
    }

    #[tokio::test]
    async fn long_queries_leave_other_connections_free() {
        let (_folder, store) = store().await;
        let permit = permit().await;
        let queries = lasting(&store.queries, Duration::from_secs(3_600));
        let many = join_all((0..16).map(|_| queries.fetch_one(&permit, endless())));
        let others = async {
            let project = "docs".parse().expect("a project");
            let mut snapshots = Vec::new();
            for _ in 0..AT_ONCE {
                snapshots.push(store.snapshot(&project).await.expect("a snapshot"));
            }
            for _ in 0..20 {
                store.ready().await.expect("a database that responds");
            }
            drop(store.write(&work()).begin().await.expect("a transaction").tx);
        };
        tokio::select! {
            _ = many => panic!("endless queries ended"),
            () = others => {}
        }
    }

    #[tokio::test]
    async fn query_connection_is_read_only() {
        let (_folder, store) = store().await;
        let permit = permit().await;
        let written = store.queries.fetch_one(&permit, statement("DELETE FROM jobs RETURNING id")).await;
        assert!(written.is_err_and(|error| error.to_string().replace('-', "").contains("readonly")));
    }
}
