//! Writes the lines of the log to standard error on a thread of its own, so that nobody waits for the reader. While the reader does not
//! read, a limited number of bytes waits; lines beyond it are dropped and counted. One line tells when the log continues.

use std::fs::File;
use std::io::{self, Write};
use std::os::fd::AsFd;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::{Duration, Instant};

use parking_lot::{Condvar, Mutex};
use tracing_subscriber::fmt::MakeWriter;

/// The maximum number of bytes that wait for the reader.
const WAITING_MAX: usize = 1024 * 1024;

/// How long the end of the process waits for the reader.
const END_MAX: Duration = Duration::from_secs(2);

/// The lines of standard error, once they are written by a thread.
static STANDARD_ERROR: OnceLock<Lines> = OnceLock::new();

/// Lines that a thread writes. Clones share them.
#[derive(Clone, Default)]
pub struct Lines(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    /// Notified when a line was added, and when all were written.
    changed: Condvar,
    /// The number of lines dropped since the start.
    dropped: AtomicU64,
}

#[derive(Default)]
struct Queue {
    /// Complete lines.
    waiting: Vec<u8>,
    is_writing: bool,
    /// The number of dropped lines that no line has reported yet.
    unreported: u64,
}

/// Waits for the reader of the last lines when it is dropped, for [`END_MAX`] at most.
pub struct LastLines;

/// Starts the thread that writes to standard error. Must be called once.
pub fn start() -> io::Result<Lines> {
    // Not `io::stderr`, whose lock the thread would hold while the reader does not read.
    let standard_error = File::from(io::stderr().as_fd().try_clone_to_owned()?);
    let lines = Lines::to(standard_error)?;
    Ok(STANDARD_ERROR.get_or_init(|| lines).clone())
}

/// Prints a line after those of the log.
pub fn print(line: &str) {
    let line = format!("{line}\n");
    match STANDARD_ERROR.get() {
        Some(lines) => lines.add(line.as_bytes()),
        // A failure of this could not be reported anywhere.
        None => _ = std::io::stderr().write_all(line.as_bytes()),
    }
}

/// Waits until all lines are written, for `most` at most.
pub fn finish(most: Duration) {
    if let Some(lines) = STANDARD_ERROR.get() {
        lines.finish(most);
    }
}

/// The number of lines that were dropped since the start.
pub fn dropped() -> u64 {
    STANDARD_ERROR.get().map_or(0, Lines::dropped)
}

impl Lines {
    /// Starts a thread that writes to `sink`.
    fn to(sink: impl Write + Send + 'static) -> io::Result<Self> {
        let lines = Self::default();
        let written = lines.clone();
        // Never joined: it may be blocked for ever.
        thread::Builder::new().name("log".to_owned()).spawn(move || written.write_to(sink))?;
        Ok(lines)
    }

    fn add(&self, line: &[u8]) {
        let mut queue = self.0.queue.lock();
        if queue.waiting.len() + line.len() > WAITING_MAX {
            self.count_dropped(&mut queue, 1);
            return;
        }
        queue.waiting.extend_from_slice(line);
        drop(queue);
        self.0.changed.notify_all();
    }

    fn write_to(&self, mut sink: impl Write) {
        loop {
            let lines = self.next();
            // One write for each line: other processes may write to the same pipe.
            let lines = lines.split_inclusive(|byte| *byte == b'\n');
            match lines.filter(|line| sink.write_all(line).is_err()).count() {
                0 => self.report(),
                // There is no reader. A report would be lost, too.
                lost => self.count_dropped(&mut self.0.queue.lock(), lost as u64),
            }
        }
    }

    /// Waits for lines, and takes them.
    fn next(&self) -> Vec<u8> {
        let mut queue = self.0.queue.lock();
        queue.is_writing = false;
        self.0.changed.notify_all();
        while queue.waiting.is_empty() {
            self.0.changed.wait(&mut queue);
        }
        queue.is_writing = true;
        std::mem::take(&mut queue.waiting)
    }

    fn count_dropped(&self, queue: &mut Queue, lines: u64) {
        queue.unreported += lines;
        self.0.dropped.fetch_add(lines, Ordering::Relaxed);
    }

    /// Logs how many lines are missing. Waits for the next opportunity if there is little room.
    fn report(&self) {
        let lines = {
            let mut queue = self.0.queue.lock();
            if queue.waiting.len() > WAITING_MAX / 2 {
                return;
            }
            std::mem::take(&mut queue.unreported)
        };
        if lines > 0 {
            tracing::warn!("{lines} log lines were dropped, because standard error was not read");
        }
    }

    fn finish(&self, most: Duration) {
        let deadline = Instant::now() + most;
        let mut queue = self.0.queue.lock();
        while queue.is_writing || !queue.waiting.is_empty() {
            if self.0.changed.wait_until(&mut queue, deadline).timed_out() {
                return;
            }
        }
    }

    fn dropped(&self) -> u64 {
        self.0.dropped.load(Ordering::Relaxed)
    }
}

/// Each call is one line.
impl Write for Lines {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        self.add(line);
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Lines {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

impl Drop for LastLines {
    fn drop(&mut self) {
        finish(END_MAX);
    }
}

#[cfg(test)]
#[expect(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]
mod tests {
    use std::io::{BufRead, BufReader};
    use std::sync::Barrier;

    use super::*;

    const LINE: &[u8] = b"0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcde\n";

    /// A line that says how long it is.
    fn line(length: usize) -> Vec<u8> {
        format!("{}\n", "x".repeat(length)).into_bytes()
    }

    #[test]
    fn unread_lines_are_dropped_counted_and_never_cut() {
        let (reader, writer) = io::pipe().unwrap();
        let lines = Lines::to(writer).unwrap();
        let mut added = 0;
        // Nobody reads the pipe, and every call returns.
        while lines.dropped() < 1_000 {
            lines.add(LINE);
            added += 1;
        }
        let waiting = lines.0.queue.lock().waiting.len();
        assert!(waiting <= WAITING_MAX, "{waiting} bytes");
        lines.finish(Duration::from_millis(1));
        let reading = thread::spawn(move || {
            let written = BufReader::new(reader).split(b'\n').take(added - 1_000);
            written.map(Result::unwrap).filter(|line| *line == LINE[..LINE.len() - 1]).count()
        });
        lines.finish(Duration::from_secs(60));
        assert_eq!(reading.join().unwrap(), added - 1_000);
        assert_eq!((lines.dropped(), lines.0.queue.lock().unreported), (1_000, 0), "they are reported once");
    }

    #[test]
    fn lines_of_a_closed_reader_are_counted() {
        let (reader, writer) = io::pipe().unwrap();
        drop(reader);
        let lines = Lines::to(writer).unwrap();
        for _ in 0..10 {
            lines.add(LINE);
        }
        lines.finish(Duration::from_secs(60));
        assert_eq!(lines.dropped(), 10);
    }

    #[test]
    fn lines_of_many_threads_arrive_whole() {
        let (reader, writer) = io::pipe().unwrap();
        let lines = Lines::to(writer).unwrap();
        let start = Arc::new(Barrier::new(8));
        for length in 0..8 {
            let (lines, start) = (lines.clone(), start.clone());
            thread::spawn(move || {
                start.wait();
                (0..100).for_each(|_| lines.add(&line(length * 100)));
            });
        }
        let read = BufReader::new(reader).lines().take(800).map(Result::unwrap);
        assert!(read.into_iter().all(|line| line.len() % 100 == 0 && line.bytes().all(|byte| byte == b'x')));
        assert_eq!(lines.dropped(), 0);
    }
}
