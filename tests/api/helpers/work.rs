//! The right of tests to write to the database as Docket does.

use std::sync::LazyLock;

use docket::model::time::Timestamp;
use docket::server::process::clock::Clock;
use docket::server::work::{Docket, Work};

/// The right of this process. Tests run in one process, so they share it.
pub(crate) fn docket() -> &'static Docket {
    static DOCKET: LazyLock<Docket> = LazyLock::new(|| Docket::take().unwrap());
    &DOCKET
}

pub(crate) fn work() -> Work {
    docket().task("test", Clock::system())
}

pub(crate) fn work_at(time: Timestamp) -> Work {
    docket().task("test", Clock::frozen(time))
}
