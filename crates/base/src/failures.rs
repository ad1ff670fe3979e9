//! Lasting failures, such as a full disk. Each is logged when it begins, once for each of its reasons, and when it
//! ends. Not for failures of single requests.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Display;
use std::sync::Arc;

use parking_lot::{Mutex, MutexGuard};

/// Lasting failures by their message, each with its reasons so far. Clones share their state.
#[derive(Clone, Default)]
pub struct Failures(Arc<Mutex<BTreeMap<&'static str, BTreeSet<String>>>>);

impl Failures {
    /// Logs that `what` fails. Repetitions with the same reason are logged at debug level only.
    pub fn failed(&self, what: &'static str, reason: impl Display) {
        let reason = format!("{reason:#}");
        match self.begin(what, &reason) {
            true => tracing::error!(error = reason, "{what}"),
            false => tracing::debug!(error = reason, "still: {what}"),
        }
    }

    /// Logs that `what` works again, if it failed.
    pub fn ended(&self, what: &'static str) {
        if self.lock().remove(what).is_some() {
            tracing::info!("no longer: {what}");
        }
    }

    /// Whether this reason is new.
    fn begin(&self, what: &'static str, reason: &str) -> bool {
        self.lock().entry(what).or_default().insert(reason.to_owned())
    }

    fn lock(&self) -> MutexGuard<'_, BTreeMap<&'static str, BTreeSet<String>>> {
        self.0.lock()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failure_begins_once_for_each_reason_until_it_ends() {
        let failures = Failures::default();
        let begun = |reason| failures.begin("nothing is stored", reason);
        assert_eq!(
            [begun("full"), begun("full"), begun("locked"), begun("full")],
            [true, false, true, false]
        );
        assert!(failures.begin("another", "full"));
        failures.ended("nothing is stored");
        assert!(failures.begin("nothing is stored", "full"));
        assert!(!failures.begin("another", "full"));
    }
}
