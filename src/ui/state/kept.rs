//! An answer that is asked for again while the page is open. A later one that failed changes nothing: the last good answer
//! stays.

use std::sync::Arc;

use leptos::prelude::*;
use leptos::task::spawn_local;
use serde::de::DeserializeOwned;

use crate::api::call::{Answer, Answering, Call, read};
use crate::error::AppError;
use crate::ui::erase::effect;
use crate::ui::state::asked::Asked;
use crate::ui::state::browser;

/// A question to the server and its last good answer, which holds a `T`.
pub struct Kept<T> {
    first: Asked<T>,
    question: StoredValue<Arc<dyn Fn() -> Answering + Send + Sync>>,
    later: RwSignal<Option<Answer>>,
}

impl<T: DeserializeOwned + 'static> Kept<T> {
    pub fn asking(question: impl Fn() -> Call<T> + Clone + Send + Sync + 'static) -> Self {
        let again = question.clone();
        Self {
            first: Asked::once(question),
            question: StoredValue::new(Arc::new(move || again().into_answer())),
            later: RwSignal::new(None),
        }
    }

    /// The last good answer, or why there is none. To be read inside a Suspense or an Effect.
    pub fn get(self) -> Option<Result<T, AppError>> {
        let first = self.first.get();
        self.later.with(|later| later.as_ref().map(read)).or(first)
    }

    /// For whoever shows a failure.
    pub fn retry(self) -> Callback<()> {
        self.first.retry()
    }

    /// Takes an answer that came another way.
    pub fn hear(self, answer: Answer) {
        hear(self.later, answer);
    }

    /// Asks again every so often, while `needed` and somebody looks.
    pub fn every(self, millis: u32, needed: impl Fn() -> bool + Clone + 'static) {
        let (question, later) = (self.question, self.later);
        effect(move || {
            let needed = needed.clone();
            // The owner of this effect drops the timer when the page goes.
            StoredValue::new_local(browser::every(millis, move || {
                if !browser::is_hidden() && needed() {
                    ask(question, later);
                }
            }));
        });
    }
}

impl<T> Clone for Kept<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T> Copy for Kept<T> {}

fn ask(question: StoredValue<Arc<dyn Fn() -> Answering + Send + Sync>>, later: RwSignal<Option<Answer>>) {
    let Some(answering) = question.try_with_value(|question| question()) else { return };
    spawn_local(async move { hear(later, answering.await) });
}

/// What says nothing new is not shown again.
fn hear(later: RwSignal<Option<Answer>>, answer: Answer) {
    let is_new = later.try_with_untracked(|known| known.as_ref() != Some(&answer)).unwrap_or(false);
    if answer.is_ok() && is_new {
        later.try_set(Some(answer));
    }
}
