//! An executor for single statements that write: each is a transaction of its own, which takes the write lock like any other.

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use sqlx::any::{AnyQueryResult, AnyRow, AnyStatement, AnyTypeInfo};
use sqlx::{Any, AnyPool, Either, Execute, Executor, SqlStr, Transaction};

use super::{Area, Dialect};
use crate::server::store::authorization::Authorization;

/// Replaces the pool in `execute` and similar calls. In SQLite a single statement is a transaction and needs no other.
pub(crate) struct Writer<'p> {
    pub(crate) dialect: Dialect,
    pub(crate) pool: &'p AnyPool,
    pub(crate) area: Area,
    /// Checked in the transaction of the statement.
    pub(crate) authorization: Option<Authorization>,
}

impl std::fmt::Debug for Writer<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Writer").field("area", &self.area).finish_non_exhaustive()
    }
}

impl Writer<'_> {
    /// Whether a statement needs no lock besides its own transaction.
    fn is_alone(&self) -> bool {
        self.authorization.is_none() && (self.dialect == Dialect::Sqlite || matches!(self.area, Area::Apart))
    }

    /// A transaction for the statement. Fails if the request is no longer authorized.
    pub(crate) async fn begin(&self) -> Result<Transaction<'static, Any>, sqlx::Error> {
        let mut tx = self.dialect.begin(self.pool, self.area).await?;
        if let Some(authorization) = &self.authorization {
            authorization.check(&mut tx).await?;
        }
        Ok(tx)
    }
}

impl<'p> Executor<'p> for Writer<'p> {
    type Database = Any;

    fn fetch_many<'e, 'q: 'e, E>(
        self,
        query: E,
    ) -> BoxStream<'e, Result<Either<AnyQueryResult, AnyRow>, sqlx::Error>>
    where
        'p: 'e,
        E: 'q + Execute<'q, Any>,
    {
        if self.is_alone() {
            return self.pool.fetch_many(query);
        }
        let results = async move {
            let mut tx = self.begin().await?;
            let results: Vec<_> = tx.fetch_many(query).try_collect().await?;
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
        if self.is_alone() {
            return self.pool.fetch_optional(query);
        }
        Box::pin(async move {
            let mut tx = self.begin().await?;
            let row = tx.fetch_optional(query).await?;
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
        self.pool.prepare_with(sql, parameters)
    }
}
