//! Days of the history: new rows are written beside the ones that are read, in steps between which other writers write.

use super::work;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use super::*;
use crate::page_views::history::{DayDecision, EmptyFetches, FetchedPage, Written};
use model::audit::{Action, AuditEvent};
use model::day::{Day, DayRange};
use model::page_views::{PageViews, ViewCounts};

/// Enough steps that other writes happen between them on a busy machine, too.
const PAGES: u32 = 60;

fn day() -> Day {
    Day::of(NOON)
}

fn replace() -> DayDecision {
    DayDecision::Replace { equal_fetches: 1, final_at: None, mark: None, empty: EmptyFetches::default() }
}

impl Ledger {
    /// Stores the pages of the day; each path has `views` views.
    async fn fetched(&self, paths: u32, views: u64) {
        let all: Vec<_> = (0..paths)
            .map(|n| PageViews { path: format!("/p{n}"), human: views, ai: 0, total: views })
            .collect();
        for (number, rows) in (0..).zip(all.chunks((paths / PAGES).max(1) as usize)) {
            let totals =
                ViewCounts { human: views * u64::from(paths), ai: 0, total: views * u64::from(paths) };
            let page = FetchedPage { totals, views: rows.to_vec(), has_more: true, corrected: false };
            self.store.store_page(&work(), &self.project, day(), number, &page, NOON).await.unwrap();
        }
    }

    async fn write(&self) -> Written {
        self.store.write_day(&work(), &self.project, day(), |_, _| replace()).await.unwrap()
    }

    /// The sums of all pages from the rollup, and the views of one page from its row.
    async fn shown(&self) -> Option<(u64, u64)> {
        let range = DayRange::ending(day(), 1);
        let mut snapshot = self.store.snapshot(&self.project).await.unwrap();
        let paths = snapshot.paths(day()).await.unwrap();
        let sums = snapshot.sums(range, &[], &paths).await.unwrap();
        let page = snapshot.page_by_day(range, "/p3").await.unwrap();
        let sum = sums.iter().flatten().map(|counts| counts.total).sum();
        page.first().map(|(_, counts)| (sum, counts.total))
    }

    async fn stored_rows(&self) -> i64 {
        sqlx::query_scalar("SELECT COUNT(*) FROM page_views").fetch_one(&self.store.pool).await.unwrap()
    }
}

#[tokio::test]
async fn readers_see_whole_versions_while_a_day_is_written() {
    let ledger = Ledger::new().await;
    ledger.fetched(60, 1).await;
    ledger.write().await;
    assert_eq!(ledger.shown().await, Some((60, 1)));
    ledger.fetched(60, 2).await;
    let (is_written, records) = (AtomicBool::new(false), AtomicU32::new(0));
    let write = async {
        ledger.write().await;
        is_written.store(true, Ordering::SeqCst);
    };
    let read = async {
        let mut seen = Vec::new();
        while !is_written.load(Ordering::SeqCst) {
            let shown = ledger.shown().await.unwrap();
            assert!([(60, 1), (120, 2)].contains(&shown), "half a day: {shown:?}");
            seen.push(shown);
        }
        seen
    };
    let others = async {
        while !is_written.load(Ordering::SeqCst) {
            let has_begun = ledger.stored_rows().await > 60;
            ledger.store.observe(&ledger.author, &AuditEvent::new(Action::Export), NOON).await.unwrap();
            let is_between = has_begun && !is_written.load(Ordering::SeqCst);
            records.fetch_add(u32::from(is_between), Ordering::SeqCst);
        }
    };
    let ((), seen, ()) = futures::join!(write, read, others);
    assert!(seen.contains(&(60, 1)), "no read happened meanwhile");
    assert!(records.load(Ordering::SeqCst) > 0, "a write waited for the whole day");
    assert_eq!(ledger.shown().await, Some((120, 2)));
    assert_eq!(ledger.stored_rows().await, 60, "the version before is still there");
}

#[tokio::test]
async fn rows_of_an_interrupted_write_are_invisible_and_repaired() {
    let ledger = Ledger::new().await;
    ledger.fetched(24, 1).await;
    ledger.write().await;
    ledger.fetched(48, 2).await;
    // Stops after some steps, as a stopped or killed process does.
    let interrupted = async {
        while ledger.stored_rows().await < 24 + 8 {
            tokio::task::yield_now().await;
        }
    };
    tokio::select! {
        _ = ledger.write() => panic!("it was not interrupted"),
        () = interrupted => {}
    }
    assert!(ledger.stored_rows().await > 24);
    assert_eq!(ledger.shown().await, Some((24, 1)));
    // No row of a day in writing is removed.
    assert!(ledger.store.stale_days().await.unwrap().is_empty());
    assert_eq!(ledger.store.remove_stale(&work(), &ledger.project, day()).await.unwrap(), 0);
    ledger.write().await;
    assert_eq!((ledger.shown().await, ledger.stored_rows().await), (Some((96, 2)), 48));

    // A process can also stop before it removed the previous version.
    sqlx::query(
        "INSERT INTO page_views SELECT project, day, 1 - version, path_id, human, ai, total FROM page_views",
    )
    .execute(&ledger.store.pool)
    .await
    .unwrap();
    assert_eq!(ledger.shown().await, Some((96, 2)));
    assert_eq!(ledger.store.stale_days().await.unwrap(), [(ledger.project.clone(), day())]);
    while ledger.store.remove_stale(&work(), &ledger.project, day()).await.unwrap() > 0 {}
    assert_eq!((ledger.shown().await, ledger.stored_rows().await), (Some((96, 2)), 48));
}

#[tokio::test]
async fn one_of_two_concurrent_writes_of_a_day_fails() {
    let ledger = Ledger::new().await;
    ledger.fetched(24, 1).await;
    ledger.write().await;
    ledger.fetched(24, 2).await;
    let other = AtomicBool::new(false);
    let work = work();
    let write = ledger.store.write_day(&work, &ledger.project, day(), |_, _| {
        // Meanwhile, and before the transaction.
        other.store(true, Ordering::SeqCst);
        replace()
    });
    let change = async {
        sqlx::query("UPDATE history_days SET fetched_at = fetched_at + 1")
            .execute(&ledger.store.pool)
            .await
            .unwrap();
    };
    // The change happens while the rows are being written, after the day was read.
    let staged = async {
        while ledger.stored_rows().await <= 24 {
            tokio::task::yield_now().await;
        }
        change.await;
    };
    let (written, ()) = futures::join!(write, staged);
    assert!(matches!(written, Err(StoreError::Overtaken)), "{written:?}");
    assert!(other.load(Ordering::SeqCst));
    assert_eq!(ledger.shown().await, Some((24, 1)));
}

#[tokio::test]
async fn paths_are_read_from_the_day_they_were_seen_on() {
    let ledger = Ledger::new().await;
    ledger.fetched(24, 1).await;
    ledger.write().await;
    let mut snapshot = ledger.store.snapshot(&ledger.project).await.unwrap();
    assert_eq!(snapshot.paths(day()).await.unwrap().len(), 24);
    assert!(snapshot.paths(day().plus_days(1)).await.unwrap().is_empty());
}
