//! The only module that writes to the terminal. Text of a server, a database or another program is escaped here, so that it cannot control the
//! terminal or the CI system that reads the output. A closed or full output never ends a command before its work is done.

mod escaping;

use std::borrow::Cow;
use std::io::{self, ErrorKind, IsTerminal, Write, stderr, stdout};
use std::process::ExitCode;
use std::sync::OnceLock;

use self::escaping::{json_text, printable};
use model::formula::escaped as escaped_formula;

pub use self::escaping::in_one_line;

/// The exit code of a program whose reader left, as shells report it.
const READER_LEFT: u8 = 141;

/// Why standard output could not be written.
static LOST: OnceLock<ErrorKind> = OnceLock::new();

/// How lines are written to standard error, if not at once.
static DIAGNOSED_BY: OnceLock<fn(&str)> = OnceLock::new();

/// From now on, `write` writes the lines of standard error. A server has a log there.
pub fn diagnose_by(write: fn(&str)) {
    // The first one stays.
    _ = DIAGNOSED_BY.set(write);
}

/// Prints lines of a command's result.
pub fn print_line(text: &str) {
    write(&format!("{}\n", printable(text)));
}

/// Prints a JSON document. Its escapes differ from `json`, its meaning does not.
pub fn print_json(json: &str) {
    write(&format!("{}\n", json_text(json)));
}

/// Prints a line of CSV.
pub fn print_csv(cells: &[&str]) {
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
pub fn print_secret(secret: &str) -> bool {
    write(&format!("{secret}\n"));
    !is_lost()
}

/// Whether nobody can read the output: it is the null device, which a closed output becomes too.
#[cfg(unix)]
pub fn is_discarded() -> bool {
    use std::fs::{File, metadata};
    use std::os::fd::AsFd;
    use std::os::unix::fs::MetadataExt;

    let output = stdout().as_fd().try_clone_to_owned().and_then(|output| File::from(output).metadata());
    let (null, output) = (metadata("/dev/null"), output);
    matches!((null, output), (Ok(null), Ok(output)) if null.rdev() == output.rdev() && null.mode() == output.mode())
}

/// Whether part of the output could not be written.
pub fn is_lost() -> bool {
    LOST.get().is_some()
}

/// Writes a diagnostic to standard error.
pub fn inform(text: &str) {
    diagnose(&format!("docket: {text}"));
}

/// Writes lines to standard error.
fn diagnose(text: &str) {
    let text = printable(text);
    match DIAGNOSED_BY.get() {
        Some(write) => write(&text),
        // A failure of this could not be reported anywhere.
        None => _ = writeln!(stderr(), "{text}"),
    }
}

/// What clap prints, such as the help. Returns the exit code.
pub fn print_usage(usage: &clap::Error) -> ExitCode {
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
pub fn exit_code() -> ExitCode {
    match LOST.get() {
        None => ExitCode::SUCCESS,
        Some(ErrorKind::BrokenPipe) => ExitCode::from(READER_LEFT),
        Some(_) => ExitCode::FAILURE,
    }
}

/// A line of standard error that replaces itself, if that is a terminal.
pub struct StatusLine {
    is_shown: bool,
}

impl StatusLine {
    pub fn new(is_wanted: bool) -> Self {
        Self { is_shown: is_wanted && stderr().is_terminal() }
    }

    pub fn show(&self, text: &str) {
        if self.is_shown {
            // Nothing depends on this line.
            _ = write!(stderr(), "\r\x1b[K{}", in_one_line(text));
        }
    }

    /// Removes the line.
    pub fn end(&mut self) {
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
    _ = LOST.set(reason);
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
