//! The only module that writes to the terminal. Text of a server, a database or another program is escaped here, so that it cannot control the
//! terminal or the CI system that reads the output. A closed or full output never ends a command before its work is done.

mod escaping;

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::process::ExitCode;

use parking_lot::Mutex;

use self::escaping::{json_text, printable};
use crate::telemetry::log_lines;
use service::sheet::escaped_formula;

pub(super) use self::escaping::in_one_line;

/// The exit code of a program whose reader left, as shells report it.
const READER_LEFT: u8 = 141;

/// Why standard output could not be written.
static LOST: Mutex<Option<ErrorKind>> = Mutex::new(None);

/// Prints lines of a command's result.
pub(super) fn print_line(text: &str) {
    write(&format!("{}\n", printable(text)));
}

/// Prints a JSON document. Its escapes differ from `json`, its meaning does not.
pub(super) fn print_json(json: &str) {
    write(&format!("{}\n", json_text(json)));
}

/// Prints a line of CSV.
pub(super) fn print_csv(cells: &[&str]) {
    let cells: Vec<String> = cells.iter().map(|cell| csv_cell(cell)).collect();
    write(&format!("{}\n", cells.join(",")));
}

/// A cell that neither a spreadsheet nor a terminal interprets.
fn csv_cell(text: &str) -> String {
    let text = escaped_formula(text);
    let line = in_one_line(&text);
    match line.contains(['"', ',']) {
        true => format!("\"{}\"", line.replace('"', "\"\"")),
        false => line.into_owned(),
    }
}

/// Prints a secret. Returns whether somebody may have read it.
pub(super) fn print_secret(secret: &str) -> bool {
    write(&format!("{secret}\n"));
    !is_lost()
}

/// Whether nobody can read the output: it is the null device, which a closed output becomes too.
pub(super) fn is_discarded() -> bool {
    let null = rustix::fs::stat("/dev/null");
    let output = rustix::fs::fstat(stdout());
    matches!((null, output), (Ok(null), Ok(output)) if null.st_rdev == output.st_rdev && null.st_mode == output.st_mode)
}

/// Whether part of the output could not be written.
pub(super) fn is_lost() -> bool {
    LOST.lock().is_some()
}

/// Writes a diagnostic to standard error.
pub(crate) fn inform(text: &str) {
    diagnose(&format!("docket: {text}"));
}

/// Writes lines to standard error.
fn diagnose(text: &str) {
    log_lines::print(&printable(text));
}

/// What clap prints, such as the help. Returns the exit code.
pub(crate) fn print_usage(usage: &clap::Error) -> ExitCode {
    let written = usage.print().and_then(|()| stdout().flush());
    match (usage.use_stderr(), written) {
        (false, Err(error)) => {
            lose(error.kind());
            exit_code()
        }
        _ => ExitCode::from(u8::try_from(usage.exit_code()).unwrap_or(1)),
    }
}

/// The exit code of a command that succeeded: another one than 0 if its output could not be written.
pub(crate) fn exit_code() -> ExitCode {
    match *LOST.lock() {
        None => ExitCode::SUCCESS,
        Some(ErrorKind::BrokenPipe) => ExitCode::from(READER_LEFT),
        Some(_) => ExitCode::FAILURE,
    }
}

/// A line of standard error that replaces itself, if that is a terminal.
pub(super) struct StatusLine {
    is_shown: bool,
}

impl StatusLine {
    pub(super) fn new(is_wanted: bool) -> Self {
        Self { is_shown: is_wanted && stderr().is_terminal() }
    }

    pub(super) fn show(&self, text: &str) {
        if self.is_shown {
            // Nothing depends on this line.
            _ = write!(stderr(), "\r\x1b[K{}", in_one_line(text));
        }
    }

    /// Removes the line.
    pub(super) fn end(&mut self) {
        if std::mem::take(&mut self.is_shown) {
            _ = write!(stderr(), "\r\x1b[K");
        }
    }
}

/// Writes to standard output, unless that failed before.
fn write(text: &str) {
    if is_lost() {
        return;
    }
    let mut out = stdout().lock();
    if let Err(error) = out.write_all(text.as_bytes()).and_then(|()| out.flush()) {
        lose(error.kind());
    }
}

/// Records that standard output cannot be written, and says so once.
fn lose(reason: ErrorKind) {
    *LOST.lock() = Some(reason);
    let why: Cow<'_, str> = match reason {
        ErrorKind::BrokenPipe => "its reader has left".into(),
        reason => io::Error::from(reason).to_string().into(),
    };
    inform(&format!("the output could not be written ({why}); the command is carried out without it"));
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn csv_cell_is_neither_a_formula_nor_a_command() {
        for (text, cell) in [
            ("/a", "/a"),
            ("/b,c", "\"/b,c\""),
            ("say \"hi\"", "\"say \"\"hi\"\"\""),
            ("=1+1", "'=1+1"),
            ("+1", "'+1"),
            ("-1", "'-1"),
            ("@a", "'@a"),
            ("\t=1", "'\\u{9}'=1"),
            ("\ra", "'\\u{d}a"),
            ("a\n::error::b", "a\\u{a}\\::error::b"),
            ("::error::b", "\\::error::b"),
            ("\u{1b}[31m", "\\u{1b}[31m"),
        ] {
            assert_eq!(csv_cell(text), cell, "{text:?}");
        }
    }
}
