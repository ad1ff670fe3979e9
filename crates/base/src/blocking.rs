//! Runs work of more than a few milliseconds on a thread for blocking work, so that it does not delay other requests.

use std::cell::Cell;

/// Processing this many rows takes well below 5 ms.
const SHORT: usize = 2_000;

thread_local! {
    static IS_APART: Cell<bool> = const { Cell::new(false) };
}

/// Runs `work`, which processes about `rows` rows: on a thread for blocking work, or at once if it is short.
pub async fn run<T: Send + 'static>(rows: usize, work: impl FnOnce() -> T + Send + 'static) -> T {
    if rows < SHORT {
        return work();
    }
    match tokio::task::spawn_blocking(|| apart(work)).await {
        Ok(done) => done,
        Err(error) => match error.try_into_panic() {
            Ok(panic) => std::panic::resume_unwind(panic),
            // The process is ending, and nothing waits for the result.
            Err(_) => std::future::pending().await,
        },
    }
}

/// Asserts in debug builds that work on this many rows runs inside [`run`] if it is long.
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
    async fn long_work_runs_on_another_thread() {
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
    async fn panic_of_long_work_reaches_its_caller() {
        run(SHORT, || panic!("of the test")).await
    }
}
