//! The right to write as Docket itself. `main` takes it once and passes parts of it to background tasks and commands, so that code that serves a
//! request cannot make one.

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use crate::clock::Clock;
use model::audit::Actor;
use model::time::Timestamp;

/// The right to write without a request. There is one in each process.
///
/// A handler cannot make one, because `main` has taken it, and there is no other way to get one:
///
/// ```compile_fail,E0423
/// let docket = docket_base::work::Docket(());
/// ```
///
/// ```compile_fail,E0599
/// let docket = docket_base::work::Docket::default();
/// ```
#[derive(Debug)]
pub struct Docket(());

/// A background task or a command, which may write without a request. Services that have one never pass it on.
///
/// It has no public fields and no `Default`, so code without a [`Docket`] cannot make one:
///
/// ```compile_fail,E0451
/// use docket_base::clock::Clock;
/// use docket_base::work::Work;
/// let work = Work { name: "request", by: model::audit::Actor::docket(), clock: Clock::system() };
/// ```
///
/// ```compile_fail,E0599
/// let work = docket_base::work::Work::default();
/// ```
#[derive(Clone)]
pub struct Work {
    name: &'static str,
    by: Actor,
    clock: Clock,
}

impl Docket {
    /// The right of this process; `None` if it was taken before.
    pub fn take() -> Option<Self> {
        static IS_TAKEN: AtomicBool = AtomicBool::new(false);
        (!IS_TAKEN.swap(true, Ordering::SeqCst)).then_some(Self(()))
    }

    /// A background task that Docket runs on its own.
    pub fn task(&self, name: &'static str, clock: Clock) -> Work {
        Work { name, by: Actor::docket(), clock }
    }

    /// A command that a person runs on the machine.
    pub fn command(&self, name: &'static str, clock: Clock) -> Work {
        Work { name, by: Actor::command_line(), clock }
    }
}

impl Work {
    /// The same work, at another time.
    pub fn at(&self, time: Timestamp) -> Self {
        Self { clock: Clock::frozen(time), ..self.clone() }
    }

    /// A part of this work with its own name.
    pub fn part(&self, name: &'static str) -> Self {
        Self { name, ..self.clone() }
    }

    /// The work as an actor of the audit log.
    pub fn actor(&self) -> &Actor {
        &self.by
    }

    pub fn now(&self) -> Timestamp {
        self.clock.now()
    }
}

impl fmt::Debug for Work {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Work").field(&self.name).finish()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn right_to_write_is_taken_once() {
        // No other test of this process takes it.
        assert!(Docket::take().is_some());
        assert!(Docket::take().is_none());
    }
}
