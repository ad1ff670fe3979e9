//! Limits how many expensive queries each person runs at once, so that one person's searches do not block other
//! people's pages. Each function of the store that may read much data requires a [`QueryPermit`].

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use parking_lot::Mutex;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::waits::Waits;
use model::error::{AppError, ErrorCode};

/// The maximum number of concurrent queries of one person.
const CONCURRENCY_LIMIT: usize = 2;

/// The permits of all people, by their ids. Clones share them.
#[derive(Clone)]
pub struct QueryPermits {
    people: Arc<Mutex<HashMap<String, Arc<Semaphore>>>>,
    patience: Duration,
}

/// The permission for one query at a time, until it is dropped.
pub struct QueryPermit {
    _permit: OwnedSemaphorePermit,
}

/// The permits of one person, for work that outlives their request.
#[derive(Clone)]
pub struct UserPermits {
    permits: QueryPermits,
    user_id: String,
}

impl Default for QueryPermits {
    fn default() -> Self {
        Self::new(Waits::default().turn)
    }
}

impl QueryPermits {
    /// `patience`: how long a query waits for the person's earlier ones. Pages run several.
    pub fn new(patience: Duration) -> Self {
        Self { people: Arc::default(), patience }
    }

    /// Waits for a permit of this person. Fails with 503 if their earlier queries take too long.
    pub async fn acquire(&self, user_id: &str) -> Result<QueryPermit, AppError> {
        let permits = {
            let mut people = self.people.lock();
            // Removes people without a running query.
            people.retain(|_, permits| {
                Arc::strong_count(permits) > 1 || permits.available_permits() < CONCURRENCY_LIMIT
            });
            let new = || Arc::new(Semaphore::new(CONCURRENCY_LIMIT));
            people.entry(user_id.to_owned()).or_insert_with(new).clone()
        };
        let permit = tokio::time::timeout(self.patience, permits.acquire_owned()).await;
        let permit = permit.ok().and_then(Result::ok).ok_or_else(|| {
            AppError::new(
                ErrorCode::Busy,
                "Your earlier searches and reports are still running. Try again when they are finished.",
            )
        })?;
        Ok(QueryPermit { _permit: permit })
    }

    pub fn of(&self, user_id: &str) -> UserPermits {
        UserPermits { permits: self.clone(), user_id: user_id.to_owned() }
    }
}

impl UserPermits {
    /// Like [`QueryPermits::acquire`].
    pub async fn acquire(&self) -> Result<QueryPermit, AppError> {
        self.permits.acquire(&self.user_id).await
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn third_query_of_a_person_waits_and_others_run() {
        let mut permits = QueryPermits { patience: Duration::from_millis(20), ..QueryPermits::default() };
        let mine = [permits.acquire("ada").await, permits.acquire("ada").await]
            .map(|permit| permit.expect("a permit"));
        let third = permits.acquire("ada").await.err().expect("no third permit");
        assert_eq!(third.code, ErrorCode::Busy);
        assert!(permits.acquire("olga").await.is_ok());
        permits.patience = Duration::from_secs(60);
        let (waited, ()) = futures::join!(permits.acquire("ada"), async { drop(mine) });
        drop(waited.expect("a permit after an earlier query has ended"));
        assert!(permits.acquire("vera").await.is_ok());
        assert_eq!(permits.people.lock().len(), 1, "people are stored");
    }
}
