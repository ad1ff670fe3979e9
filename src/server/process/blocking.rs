//! Work that keeps a thread busy for more than a few milliseconds: it runs on a thread for blocking work, so that no request waits for
//! another one's sums. Must not know what the work is.

use std::cell::Cell;

/// Going through so many rows takes well below 5 ms.
const SHORT: usize = 2_000;

thread_local! {
    static IS_APART: Cell<bool> = const { Cell::new(false) };
}

/// Does `work`, which goes through about `rows` rows: on a thread for blocking work, or at once if it is short.
pub async fn run<T: Send + 'static>(rows: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if rows < SHORT {
        return work();
    }
    match tokio::task::spawn_blocking(|| apart(work)).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The process ends, and nobody waits for the answer.
            Err(_) => std::future::pending().await,
        },
    }
}

/// States that the caller, which goes through so many rows, runs inside [`run`] if that is long. Checked in debug builds.
pub fn must_be_apart(rows: usize) {
    debug_assert!(rows < SHORT || IS_APART.get(), "{rows} rows on a thread that serves requests");
}

fn apart<T>(work: impl FnOnce() -> T) -> T {
    IS_APART.set(true);
    let done = work();
    IS_APART.set(false);
    done
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn long_work_runs_elsewhere_and_short_work_at_once() {
        let here = std::thread::current().id();
        assert_eq!(run(SHORT - 1, || std::thread::current().id()).await, here);
        let there = run(SHORT, || {
            must_be_apart(usize::MAX);
            std::thread::current().id()
        });
        assert_ne!(there.await, here);
        assert!(std::panic::catch_unwind(|| must_be_apart(SHORT)).is_err());
    }

    #[tokio::test]
    #[should_panic(expected = "of the test")]
    async fn a_panic_of_long_work_is_one_of_its_caller() {
        run(SHORT, || panic!("of the test")).await
    }
}
