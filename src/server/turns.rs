//! How many expensive questions each person asks at once, so that one person's searches do not stop everybody else's pages.
//! Must not know what is asked.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::error::{AppError, ErrorCode};

const AT_ONCE: usize = 2;
/// How long a question waits for the person's earlier ones. Pages ask several.
const PATIENCE: Duration = Duration::from_secs(5);

/// The turns of all people, by their ids.
pub struct Turns {
    people: Mutex<HashMap<String, Arc<Semaphore>>>,
    patience: Duration,
}

impl Default for Turns {
    fn default() -> Self {
        Self { people: Mutex::default(), patience: PATIENCE }
    }
}

impl Turns {
    /// Waits for a turn of this person; it ends when it is dropped.
    pub async fn of(&self, person: &str) -> Result<OwnedSemaphorePermit, AppError> {
        let turns = {
            let mut people = self.people.lock().unwrap_or_else(PoisonError::into_inner);
            // People without a running question are forgotten.
            people.retain(|_, turns| Arc::strong_count(turns) > 1 || turns.available_permits() < AT_ONCE);
            let new = || Arc::new(Semaphore::new(AT_ONCE));
            people.entry(person.to_owned()).or_insert_with(new).clone()
        };
        let turn = tokio::time::timeout(self.patience, turns.acquire_owned()).await;
        turn.ok().and_then(Result::ok).ok_or_else(|| {
            AppError::new(
                ErrorCode::Busy,
                "Your earlier searches and reports are still running. Try again when they are finished.",
            )
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[tokio::test]
    async fn a_person_has_two_turns_at_once_and_others_have_their_own() {
        let mut turns = Turns { patience: Duration::from_millis(20), ..Turns::default() };
        let mine = [turns.of("ada").await, turns.of("ada").await].map(|turn| turn.expect("a turn"));
        let third = turns.of("ada").await.expect_err("no third turn");
        assert_eq!(third.code, ErrorCode::Busy);
        assert!(turns.of("olga").await.is_ok());
        turns.patience = Duration::from_secs(60);
        let (waited, ()) = futures::join!(turns.of("ada"), async { drop(mine) });
        drop(waited.expect("a turn after an earlier one has ended"));
        assert!(turns.of("vera").await.is_ok());
        assert_eq!(turns.people.lock().expect("the people").len(), 1, "people are kept");
    }
}
