//! [`Store::write`], the only way to write: each write names on whose authority it runs. A request's authorization is checked in the transaction of the
//! write, because its account, session or API token may have changed since it was admitted.

use futures::future::BoxFuture;
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use sqlx::any::{AnyQueryResult, AnyRow, AnyStatement, AnyTypeInfo};
use sqlx::{Any, Either, Execute, Executor, SqlStr, Transaction};

use super::accounts::Proof;
use super::audit::Observed;
use super::authorization::Authorization;
use super::dialect::{Area, Dialect, Pool};
use super::page_views::history::must_not_have_lost_the_lease;
use super::{Store, StoreError};
use base::boxed::Boxed;
use base::work::Work;
use model::audit::Actor;
use model::time::Timestamp;

/// On whose authority something is written.
#[derive(Clone, Copy)]
pub enum Authority<'a> {
    /// An admitted request. The transaction fails with [`StoreError::Revoked`] if the request would not be admitted any more.
    Request(&'a Authorization),
    /// A background task or a command.
    Docket(&'a Work),
    /// What a person does in a test, without a request.
    #[cfg(test)]
    Test(&'a Actor, Timestamp),
}

/// A transaction that writes, with who writes and when. Dropped without a commit, it changes nothing.
pub(crate) struct Change {
    pub tx: Transaction<'static, Any>,
    pub by: Actor,
    pub now: Timestamp,
}

/// A write that has not begun.
pub(crate) struct Write<'p> {
    statement: Statement<'p>,
    authority: Authority<'p>,
}

/// An executor for a single statement that writes: the statement runs in a transaction of its own, which takes the write lock like any other.
pub(crate) struct Statement<'p> {
    dialect: Dialect,
    pool: &'p Pool,
    area: Area,
    check: Check<'p>,
}

/// What a transaction checks at its start.
#[derive(Clone, Copy)]
enum Check<'p> {
    Request(&'p Authorization),
    Nothing,
}

impl Store {
    /// A write to the ledger.
    pub(crate) fn write<'p>(&'p self, authority: impl Into<Authority<'p>>) -> Write<'p> {
        self.write_in(Area::Ledger, authority.into())
    }

    /// A write to the tables of page views by day only.
    pub(crate) fn write_history<'p>(&'p self, work: &'p Work) -> Write<'p> {
        self.write_in(Area::History, work.into())
    }

    pub(crate) fn write_in<'p>(&'p self, area: Area, authority: Authority<'p>) -> Write<'p> {
        let check = match authority {
            Authority::Request(authorization) => Check::Request(authorization),
            Authority::Docket(_) => Check::Nothing,
            #[cfg(test)]
            Authority::Test(..) => Check::Nothing,
        };
        Write { statement: Statement { area, check, ..self.unchecked() }, authority }
    }

    /// A write to the rows that grant access.
    pub(crate) fn write_proven(&self, _: Proof) -> Statement<'_> {
        self.unchecked()
    }

    /// A write to the audit log only.
    pub(crate) fn write_observed(&self, _: Observed) -> Statement<'_> {
        self.unchecked()
    }

    fn unchecked(&self) -> Statement<'_> {
        Statement { dialect: self.dialect, pool: &self.pool, area: Area::Ledger, check: Check::Nothing }
    }

    /// A transaction for fetched page views. Fails if another process has the lease.
    pub(crate) async fn begin_fetched(&self, work: &Work) -> Result<Transaction<'static, Any>, StoreError> {
        let mut tx = self.write_history(work).begin().await?.tx;
        must_not_have_lost_the_lease(&mut tx, self.instance()).await?;
        Ok(tx)
    }

    /// A single statement that counts something, such as an attempt or a call. Requests cause it whether they are admitted or not. The commit does not
    /// wait for the disk.
    pub(crate) fn counter(&self) -> Statement<'_> {
        Statement { pool: &self.counts, ..self.unchecked() }
    }

    /// As [`Self::counter`], for a row that a single statement reads and changes. Such a statement needs no write lock.
    pub(crate) fn apart(&self) -> Statement<'_> {
        Statement { area: Area::Apart, ..self.counter() }
    }
}

impl Authority<'_> {
    /// Who writes.
    pub fn actor(&self) -> Actor {
        match self {
            Self::Request(authorization) => authorization.actor(),
            Self::Docket(work) => work.actor().clone(),
            #[cfg(test)]
            Self::Test(by, _) => (*by).clone(),
        }
    }

    /// The time of the write.
    pub fn now(&self) -> Timestamp {
        match self {
            Self::Request(authorization) => authorization.now(),
            Self::Docket(work) => work.now(),
            #[cfg(test)]
            Self::Test(_, now) => *now,
        }
    }
}

impl<'a> From<&'a Authorization> for Authority<'a> {
    fn from(authorization: &'a Authorization) -> Self {
        Self::Request(authorization)
    }
}

impl<'a> From<&'a Work> for Authority<'a> {
    fn from(work: &'a Work) -> Self {
        Self::Docket(work)
    }
}

impl<'p> Write<'p> {
    /// Begins a transaction. It takes the write lock of its area first, so a concurrent write cannot make it fail halfway.
    pub(crate) async fn begin(self) -> Result<Change, StoreError> {
        let tx = self.statement.begin().await?;
        Ok(Change { tx, by: self.authority.actor(), now: self.authority.now() })
    }

    /// For a write that is a single statement.
    pub(crate) fn statement(self) -> Statement<'p> {
        self.statement
    }
}

impl Statement<'_> {
    pub(crate) fn begin(&self) -> Boxed<'_, Transaction<'static, Any>, sqlx::Error> {
        Box::pin(async move {
            let mut tx = self.dialect.begin(self.pool, self.area).await?;
            if let Check::Request(authorization) = self.check {
                authorization.check(&mut tx).await?;
            }
            Ok(tx)
        })
    }

    /// Whether the statement needs no lock and no check besides its own transaction. In SQLite it is a transaction.
    fn is_alone(&self) -> bool {
        let is_checked = matches!(self.check, Check::Request(_));
        !is_checked && (self.dialect == Dialect::Sqlite || matches!(self.area, Area::Apart))
    }
}

impl std::fmt::Debug for Statement<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statement").field("area", &self.area).finish_non_exhaustive()
    }
}

impl<'p> Executor<'p> for Statement<'p> {
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
