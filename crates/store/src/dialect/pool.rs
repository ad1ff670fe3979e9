//! A pool of connections on which a statement has the settings of its pool, also if a connection pooler such as PgBouncer is in front of the server.
//! Such a pooler gives each transaction any of its connections to the server: settings of a session would reach other clients, and the two steps of
//! a statement with values could reach two servers. So each statement has a transaction there, which begins with the settings.

use std::ops::{Deref, DerefMut};
use std::sync::Arc;

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use sqlx::any::{AnyArguments, AnyQueryResult, AnyRow, AnyStatement, AnyTypeInfo};
use sqlx::error::BoxDynError;
use sqlx::pool::PoolConnection;
use sqlx::{
    Any, AnyConnection, AnyPool, AssertSqlSafe, Connection, Either, Execute, Executor, SqlStr, Transaction,
};

/// Removes statements that sqlx named and left in a server's session: it would use their names again. A pooler that supports named statements
/// has given them other names.
const FORGET: &str = "DO $$ DECLARE left_over TEXT; BEGIN
        FOR left_over IN SELECT name FROM pg_prepared_statements WHERE name LIKE 'sqlx!_s!_%' ESCAPE '!' LOOP
            EXECUTE format('DEALLOCATE %I', left_over);
        END LOOP;
    END $$";

/// How single statements begin, unless they need a snapshot.
const BEGIN: &str = "BEGIN ISOLATION LEVEL READ COMMITTED";

/// Cloning gives another handle.
#[derive(Clone)]
pub(crate) struct Pool {
    connections: AnyPool,
    /// The settings of each transaction, if a pooler is in front of the server.
    settings: Option<Arc<str>>,
}

impl Pool {
    /// Connections whose sessions have their settings.
    pub(super) fn direct(connections: AnyPool) -> Self {
        Self { connections, settings: None }
    }

    /// Connections to a pooler. Each transaction begins with `settings`.
    pub(super) fn pooled(connections: AnyPool, settings: &str) -> Self {
        Self { connections, settings: Some(settings.into()) }
    }

    /// A transaction that begins with the statement `begin`.
    pub(super) async fn begin_with(
        &self,
        begin: &'static str,
    ) -> Result<Transaction<'static, Any>, sqlx::Error> {
        match &self.settings {
            None => self.connections.begin_with(begin).await,
            Some(settings) => self.begin_pooled(format!("{begin}; {settings}; {FORGET}")).await,
        }
    }

    /// A connection for reading. A pooler gives it for one transaction.
    pub(crate) async fn acquire(&self) -> Result<Held, sqlx::Error> {
        match self.settings {
            None => self.connections.acquire().await.map(Held::Connection),
            Some(_) => self.begin_with(BEGIN).await.map(Held::Transaction),
        }
    }

    /// The only row of a statement, on a connection that [`Self::acquire_alone`] returned.
    pub(super) async fn fetch_one<'q>(
        &self,
        connection: &mut AnyConnection,
        query: impl Execute<'q, Any> + 'q,
    ) -> Result<AnyRow, sqlx::Error> {
        let Some(settings) = &self.settings else { return connection.fetch_one(query).await };
        let mut tx = connection.begin_with(AssertSqlSafe(format!("{BEGIN}; {settings}"))).await?;
        let row = tx.fetch_one(Unnamed(query)).await?;
        tx.commit().await?;
        Ok(row)
    }

    /// A connection for [`Self::fetch_one`].
    pub(super) async fn acquire_alone(&self) -> Result<PoolConnection<Any>, sqlx::Error> {
        self.connections.acquire().await
    }

    pub(crate) async fn close(&self) {
        self.connections.close().await;
    }

    /// How many connections are open, and how many of them are idle.
    pub(crate) fn size(&self) -> (u32, usize) {
        (self.connections.size(), self.connections.num_idle())
    }

    #[cfg(test)]
    pub(super) fn connections(&self) -> &AnyPool {
        &self.connections
    }

    #[cfg(test)]
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Any>, sqlx::Error> {
        self.begin_with("BEGIN").await
    }

    /// Runs to its end even if the caller is dropped, as [`whole`].
    async fn begin_pooled(&self, begin: String) -> Result<Transaction<'static, Any>, sqlx::Error> {
        let connections = self.connections.clone();
        whole(async move { connections.begin_with(AssertSqlSafe(begin)).await }).await
    }

    /// A transaction for one statement, which is not named.
    async fn begin_single(&self, settings: &str) -> Result<Transaction<'static, Any>, sqlx::Error> {
        self.begin_pooled(format!("{BEGIN}; {settings}")).await
    }
}

/// Runs to its end even if the caller is dropped: a connection with an abandoned `BEGIN` would return to the pool within a transaction.
pub(super) async fn whole<T: Send + 'static>(
    work: impl Future<Output = Result<T, sqlx::Error>> + Send + 'static,
) -> Result<T, sqlx::Error> {
    tokio::spawn(work).await.unwrap_or(Err(sqlx::Error::WorkerCrashed))
}

/// A connection, or one for a transaction that is rolled back when this is dropped.
pub(crate) enum Held {
    Connection(PoolConnection<Any>),
    Transaction(Transaction<'static, Any>),
}

impl Deref for Held {
    type Target = AnyConnection;

    fn deref(&self) -> &AnyConnection {
        match self {
            Self::Connection(connection) => connection,
            Self::Transaction(tx) => tx,
        }
    }
}

impl DerefMut for Held {
    fn deref_mut(&mut self) -> &mut AnyConnection {
        match self {
            Self::Connection(connection) => connection,
            Self::Transaction(tx) => tx,
        }
    }
}

/// A statement that the server forgets with the next one.
struct Unnamed<E>(E);

impl<'q, E: Execute<'q, Any>> Execute<'q, Any> for Unnamed<E> {
    fn sql(self) -> SqlStr {
        self.0.sql()
    }

    fn statement(&self) -> Option<&AnyStatement> {
        self.0.statement()
    }

    fn take_arguments(&mut self) -> Result<Option<AnyArguments>, BoxDynError> {
        self.0.take_arguments()
    }

    fn persistent(&self) -> bool {
        false
    }
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Pool").field("is_pooled", &self.settings.is_some()).finish_non_exhaustive()
    }
}

impl<'p> Executor<'p> for &'p Pool {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<AnyQueryResult, AnyRow>, sqlx::Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let Some(settings) = &self.settings else { return self.connections.fetch_many(query) };
        let results = async move {
            let mut tx = self.begin_single(settings).await?;
            let results: Vec<_> = tx.fetch_many(Unnamed(query)).try_collect().await?;
            tx.commit().await?;
            Ok::<_, sqlx::Error>(stream::iter(results).map(Ok))
        };
        stream::once(results).try_flatten().boxed()
    }

    fn fetch_optional<'e, 'q: 'e, E>(self, query: E) -> BoxFuture<'e, Result<Option<AnyRow>, sqlx::Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Any>,
    {
        let Some(settings) = &self.settings else { return self.connections.fetch_optional(query) };
        Box::pin(async move {
            let mut tx = self.begin_single(settings).await?;
            let row = tx.fetch_optional(Unnamed(query)).await?;
            tx.commit().await?;
            Ok(row)
        })
    }

    fn prepare_with<'e>(
        self,
        sql: SqlStr,
        parameters: &'e [AnyTypeInfo],
    ) -> BoxFuture<'e, Result<AnyStatement, sqlx::Error>>
    where
        'p: 'e,
    {
        self.connections.prepare_with(sql, parameters)
    }
}
