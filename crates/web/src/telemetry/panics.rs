//! Panics in the log. Without this, a panic writes to standard error itself, and its thread waits for the reader.

use std::any::Any;
use std::backtrace::{Backtrace, BacktraceStatus};
use std::panic::{self, PanicHookInfo};
use std::thread;

/// Logs panics from now on. A backtrace is included if `RUST_BACKTRACE` is set.
pub fn log() {
    panic::set_hook(Box::new(report));
}

fn report(panic: &PanicHookInfo<'_>) {
    let thread = thread::current();
    let thread = thread.name().unwrap_or("unnamed");
    let location = panic.location().map(ToString::to_string);
    let backtrace = Some(Backtrace::capture()).filter(|trace| trace.status() == BacktraceStatus::Captured);
    let backtrace = backtrace.map(|trace| trace.to_string());
    tracing::error!(thread, location, backtrace, "panicked: {}", message(panic.payload()));
}

fn message(payload: &(dyn Any + Send)) -> &str {
    match (payload.downcast_ref::<&str>(), payload.downcast_ref::<String>()) {
        (Some(text), _) => text,
        (_, Some(text)) => text,
        _ => "without a message",
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use std::env;
    use std::io::{self, Write};
    use std::process::{Command, Stdio};
    use std::time::{Duration, Instant};

    use crate::telemetry::log_lines;

    /// Makes this test the process that panics.
    const PANICS: &str = "DOCKET_TEST_PANICS";

    const NAME: &str = "telemetry::panics::tests::panic_does_not_wait_for_the_reader_of_standard_error";

    /// A pipe that holds no more.
    fn full_pipe() -> (io::PipeReader, io::PipeWriter) {
        let (reader, mut writer) = io::pipe().unwrap();
        rustix::io::ioctl_fionbio(&writer, true).unwrap();
        while writer.write(b"x").is_ok() {}
        rustix::io::ioctl_fionbio(&writer, false).unwrap();
        (reader, writer)
    }

    fn panic_with_logging() {
        let lines = log_lines::start().unwrap();
        tracing_subscriber::fmt().with_writer(lines).init();
        super::log();
        assert!(std::thread::spawn(|| panic!("of the test")).join().is_err());
        std::process::exit(7);
    }

    #[test]
    fn panic_does_not_wait_for_the_reader_of_standard_error() {
        if env::var_os(PANICS).is_some() {
            panic_with_logging();
        }
        let (_reader, writer) = full_pipe();
        let mut child = Command::new(env::current_exe().unwrap())
            .args(["--exact", NAME, "--nocapture"])
            .env(PANICS, "1")
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(writer)
            .spawn()
            .unwrap();
        let began = Instant::now();
        let ended = loop {
            match child.try_wait().unwrap() {
                Some(ended) => break ended,
                None if began.elapsed() > Duration::from_secs(60) => {
                    child.kill().unwrap();
                    panic!("the panic waits for the reader");
                }
                None => std::thread::sleep(Duration::from_millis(10)),
            }
        };
        assert_eq!(ended.code(), Some(7));
    }
}
