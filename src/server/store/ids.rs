//! Ids that sort in the order in which they were made, whatever the clock does meanwhile.

use std::panic::AssertUnwindSafe;
use std::sync::Mutex;

use sqlx::AnyPool;
use uuid::{ContextV7, Timestamp, Uuid};

use super::StoreError;

/// Never goes back: while the clock is behind the last id, it counts on from there.
static CONTEXT: Mutex<AssertUnwindSafe<ContextV7>> = Mutex::new(AssertUnwindSafe(ContextV7::new()));

/// A new id that sorts after all earlier ones of this process, and after those of earlier ones on the same ledger.
pub(super) fn new_id() -> String {
    Uuid::new_v7(Timestamp::now(&CONTEXT)).to_string()
}

/// Has new ids sort after those in the ledger, which may be ahead of a clock that was set back between two starts.
pub(super) async fn go_on_after(pool: &AnyPool) -> Result<(), StoreError> {
    // Whatever gets an id for people to see gets a line in the history with it.
    let last: Option<String> = sqlx::query_scalar("SELECT MAX(id) FROM job_events").fetch_one(pool).await?;
    let last = last.and_then(|id| Uuid::parse_str(&id).ok()).and_then(|id| id.get_timestamp());
    if let Some((seconds, nanos)) = last.map(|at| at.to_unix()) {
        // A millisecond later: within one, the order is known to the process alone that made it.
        let (seconds, nanos) =
            if nanos < 999_000_000 { (seconds, nanos + 1_000_000) } else { (seconds + 1, 0) };
        let _ = Timestamp::from_unix(&CONTEXT, seconds, nanos);
    }
    Ok(())
}
