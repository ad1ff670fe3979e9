//! The interface of the upstream, point by point: an independent interpretation of its specification, checked against
//! the built-in emulator in `make test` and against any address by `make conformance`. Must not use Docket's own types
//! for answers: a misinterpretation there must show as a disagreement here.
//!
//! A point of part 2, known from one public service but not specified, says so in its name.
//!
//! Against another address it only reads by default, and makes at most [`upstream::MOST_CALLS`] calls. It reports what
//! it could not check.

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
    // Tools ask for a list of tests; there is none.
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
    report.end()
}
