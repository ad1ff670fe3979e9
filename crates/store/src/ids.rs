//! Ids that sort in the order of creation, even after a clock rollback.

use std::panic::AssertUnwindSafe;
use std::sync::Mutex;
use std::sync::atomic::{AtomicI64, Ordering};

use super::dialect::Pool;
use time::{Duration, OffsetDateTime};
use uuid::{ContextV7, Timestamp, Uuid};

use super::StoreError;

/// Monotonic: while the clock is behind the last id, it counts up from that id.
static CONTEXT: Mutex<AssertUnwindSafe<ContextV7>> = Mutex::new(AssertUnwindSafe(ContextV7::new()));

/// How far the database's clock is ahead of this machine's, in milliseconds: ids of all processes follow the database's clock.
static AHEAD: AtomicI64 = AtomicI64::new(0);

/// A new id. It sorts after all earlier ids of this process, and of earlier processes on this database.
pub(crate) fn new_id() -> String {
    let now = OffsetDateTime::now_utc() + Duration::milliseconds(AHEAD.load(Ordering::Relaxed));
    let seconds = u64::try_from(now.unix_timestamp()).unwrap_or_default();
    Uuid::new_v7(Timestamp::from_unix(&CONTEXT, seconds, now.nanosecond())).to_string()
}

/// Makes new ids follow the database's clock, whose current time is `time`.
pub(crate) fn follow(time: model::time::Timestamp) {
    let ahead = time.to_datetime() - OffsetDateTime::now_utc();
    AHEAD.store(i64::try_from(ahead.whole_milliseconds()).unwrap_or_default(), Ordering::Relaxed);
}

/// Makes new ids sort after those in the database, which may be ahead of the clock after a clock rollback.
pub(crate) async fn go_on_after(pool: &Pool) -> Result<(), StoreError> {
    // Every displayed id has an event with it.
    let last: Option<String> = sqlx::query_scalar("SELECT MAX(id) FROM job_events").fetch_one(pool).await?;
    let last = last.and_then(|id| Uuid::parse_str(&id).ok()).and_then(|id| id.get_timestamp());
    if let Some((seconds, nanos)) = last.map(|at| at.to_unix()) {
        // One millisecond later: only the creating process can order ids within one.
        let (seconds, nanos) =
            if nanos < 999_000_000 { (seconds, nanos + 1_000_000) } else { (seconds + 1, 0) };
        let _ = Timestamp::from_unix(&CONTEXT, seconds, nanos);
    }
    Ok(())
}
