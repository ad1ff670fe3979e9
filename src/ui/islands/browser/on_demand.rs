//! The part of the module that pages load when they need it: the options of the palette, and what a form needs once somebody types. It is one file,
//! because two would share a third whose failure the loader does not report. All users share one attempt to load it.

use std::future::poll_fn;
use std::task::{Poll, Waker};

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_split::{SplitLoaderError, wasm_split};

use super::{Edits, after, now};

/// How long an attempt may take, in milliseconds. What waits for the part goes on without it then.
const LIMIT: u32 = 10_000;

/// The shortest time from a failed attempt to the next one, in milliseconds.
const PAUSE: u32 = 2_000;

/// Whether the part is there.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Loading {
    NotYet,
    Begun,
    Done,
    Failed {
        /// When the next attempt may begin, in milliseconds; `None` as long as the last one has no answer.
        next: Option<i64>,
    },
}

struct Attempts {
    loading: ArcRwSignal<Loading>,
    limit: Edits,
    waiting: ArcStoredValue<Vec<Waker>>,
}

thread_local! {
    static ATTEMPTS: Attempts = Attempts {
        loading: ArcRwSignal::new(Loading::NotYet),
        limit: Edits::default(),
        waiting: ArcStoredValue::new(Vec::new()),
    };
}

/// Whether the part is there; a signal.
pub fn loading() -> Loading {
    ATTEMPTS.with(|attempts| attempts.loading.get())
}

/// Begins to load the part, unless it is there or on its way.
pub fn load() {
    let wait = match ATTEMPTS.with(|attempts| attempts.loading.get_untracked()) {
        Loading::NotYet => 0,
        Loading::Failed { next: Some(next) } => next.saturating_sub(now().as_millis()).clamp(0, PAUSE.into()),
        _ => return,
    };
    change(Loading::Begun);
    after(wait as u32, attempt);
}

/// Loads the part. Returns whether it is there, at the latest when the limit is over.
pub async fn loaded() -> bool {
    load();
    poll_fn(|context| {
        ATTEMPTS.with(|attempts| match attempts.loading.get_untracked() {
            Loading::Done => Poll::Ready(true),
            Loading::Failed { .. } => Poll::Ready(false),
            _ => {
                attempts.waiting.update_value(|waiting| waiting.push(context.waker().clone()));
                Poll::Pending
            }
        })
    })
    .await
}

fn attempt() {
    ATTEMPTS.with(|attempts| {
        attempts.limit.after_pause(LIMIT, |_| change(Loading::Failed { next: None }));
    });
    spawn_local(async {
        let is_there = part().await.is_ok();
        ATTEMPTS.with(|attempts| attempts.limit.cancel());
        let next = Some(now().as_millis() + i64::from(PAUSE));
        change(if is_there { Loading::Done } else { Loading::Failed { next } });
    });
}

fn change(loading: Loading) {
    let waiting = ATTEMPTS.with(|attempts| {
        attempts.loading.set(loading);
        attempts.waiting.try_update_value(std::mem::take)
    });
    waiting.into_iter().flatten().for_each(Waker::wake);
}

/// In the part, so that calling it loads the part. Functions of other modules are in the same one if they name it.
#[wasm_split(on_demand, wasm_split_path = leptos::wasm_split, fallible)]
fn part() -> Result<(), SplitLoaderError> {
    Ok(())
}
