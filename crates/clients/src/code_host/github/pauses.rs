//! What gets no request for a time, by name: owners of repositories, or repositories. In memory, and limited.

use std::collections::BTreeMap;

use parking_lot::Mutex;

use crate::code_host::exchange::HostError;
use model::time::Timestamp;

pub(super) struct Pauses {
    most: usize,
    by_name: Mutex<BTreeMap<String, Pause>>,
}

#[derive(Debug, Clone)]
pub(super) struct Pause {
    from: Timestamp,
    pub(super) until: Timestamp,
    /// The error instead of a request.
    pub(super) error: HostError,
}

impl Pause {
    /// One that begins in the future was recorded before a clock rollback.
    fn is_current(&self, now: Timestamp) -> bool {
        self.from <= now && now < self.until
    }
}

impl Pauses {
    /// Above `most` pauses, those that end first are forgotten.
    pub(super) const fn at_most(most: usize) -> Self {
        Self { most, by_name: Mutex::new(BTreeMap::new()) }
    }

    /// Pauses `name`, unless a pause that ends later is known.
    pub(super) fn add(&self, name: String, now: Timestamp, until: Timestamp, error: HostError) {
        let mut pauses = self.by_name.lock();
        pauses.retain(|_, pause| pause.is_current(now));
        if pauses.get(&name).is_some_and(|known| known.until >= until) {
            return;
        }
        pauses.insert(name, Pause { from: now, until, error });
        while pauses.len() > self.most
            && let Some(first) =
                pauses.iter().min_by_key(|(_, pause)| pause.until).map(|(name, _)| name.clone())
        {
            pauses.remove(&first);
        }
    }

    pub(super) fn get(&self, name: &str, now: Timestamp) -> Option<Pause> {
        self.by_name.lock().get(name).filter(|pause| pause.is_current(now)).cloned()
    }

    /// All current pauses, by name.
    pub(super) fn all(&self, now: Timestamp) -> Vec<(String, Pause)> {
        let pauses = self.by_name.lock();
        let current = pauses.iter().filter(|(_, pause)| pause.is_current(now));
        current.map(|(name, pause)| (name.clone(), pause.clone())).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Timestamp = Timestamp::from_millis(1_795_000_000_000);

    fn names(pauses: &Pauses, now: Timestamp) -> Vec<String> {
        pauses.all(now).into_iter().map(|(name, _)| name).collect()
    }

    #[test]
    fn pauses_are_limited_and_those_that_end_first_are_forgotten() {
        let pauses = Pauses::at_most(2);
        for (name, seconds) in [("a", 60), ("b", 30), ("c", 90)] {
            pauses.add(name.to_owned(), NOW, NOW.plus_seconds(seconds), HostError::Forbidden);
        }
        assert_eq!(names(&pauses, NOW), ["a", "c"]);
        assert_eq!(names(&pauses, NOW.plus_seconds(60)), ["c"]);
    }

    #[test]
    fn later_end_of_a_pause_remains() {
        let pauses = Pauses::at_most(2);
        for seconds in [60, 30] {
            pauses.add("a".to_owned(), NOW, NOW.plus_seconds(seconds), HostError::Forbidden);
        }
        assert_eq!(pauses.get("a", NOW).map(|pause| pause.until), Some(NOW.plus_seconds(60)));
        assert_eq!(names(&pauses, NOW.plus_seconds(-1)), [""; 0], "the clock was set back");
    }
}
