//! The interface of the upstream, point by point: an independent interpretation of its specification, checked against
//! the built-in emulator in `make test` and against any address by `make conformance`. These tests must not use Docket's own types
//! for responses: a misinterpretation there must show as a difference here.
//!
//! Points of part 2 are known from one public service but not specified, and their names contain this.
//!
//! Against another address the tests only read by default, and make at most [`upstream::MOST_CALLS`] calls. They report points
//! that they could not check.

#![expect(clippy::print_stdout, reason = "it reports what it has checked")]
#![expect(clippy::unwrap_used, reason = "a failed unwrap is a failed check")]

mod agent;
mod emulated;
mod refusals;
mod report;
mod shape;
mod upstream;
mod views;

use std::process::ExitCode;

use report::Report;
use upstream::Upstream;

#[tokio::main]
async fn main() -> ExitCode {
    // Tools request a list of tests; there is none.
    if std::env::args().any(|argument| argument == "--list") {
        return ExitCode::SUCCESS;
    }
    let upstream = match Upstream::from_environment() {
        Some(foreign) => foreign,
        None => emulated::start().await,
    };
    println!("\nthe interface, as {} keeps it", upstream.name());
    let mut report = Report::default();
    views::check(&upstream, &mut report).await;
    agent::check(&upstream, &mut report).await;
    refusals::check(&upstream, &mut report).await;
    println!("\n{} calls were made", upstream.calls());
    // Every point can be checked against the emulator.
    report.end(upstream.clock.is_none())
}
