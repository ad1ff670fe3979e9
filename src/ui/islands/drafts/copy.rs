//! The browser's copy of a draft, and whether it is newer than the server's. Pure.
//!
//! Timestamps are the server's wherever it has the text: an edit after the last save is newer even if the browser's
//! clock is slow.

use std::fmt;

use crate::model::time::Timestamp;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct LocalCopy {
    pub(super) at: Timestamp,
    /// Whether the server has this exact text.
    pub(super) on_server: bool,
    /// The id of its template; empty without one.
    pub(super) template: String,
    pub(super) pages: String,
    pub(super) text: String,
}

/// The time of an edit: now, but always after the server's last save.
pub(super) fn after(now: Timestamp, on_server: Option<Timestamp>) -> Timestamp {
    on_server.map_or(now, |saved| now.max(Timestamp::from_millis(saved.as_millis() + 1)))
}

impl LocalCopy {
    /// Parses the format of [`fmt::Display`]; anything else is a bare text of an older version.
    pub(super) fn read(stored: &str) -> Self {
        Self::parsed(stored).unwrap_or_else(|| Self {
            at: Timestamp::from_millis(0),
            on_server: false,
            template: String::new(),
            pages: String::new(),
            text: stored.to_owned(),
        })
    }

    fn parsed(stored: &str) -> Option<Self> {
        let (head, rest) = stored.split_once('\n')?;
        let (at, head) = head.split_once(' ')?;
        let (on_server, template) = head.split_once(' ')?;
        let (pages, text) = rest.split_once('\n')?;
        let on_server = match on_server {
            "saved" => true,
            "typed" => false,
            _ => return None,
        };
        let at = Timestamp::from_millis(at.parse().ok()?);
        let (template, pages, text) = (template.to_owned(), pages.to_owned(), text.to_owned());
        Some(Self { at, on_server, template, pages, text })
    }

    /// Whether it wins over the server's copy. A text that the server no longer has was sent or discarded elsewhere.
    pub(super) fn is_newer_than(&self, server: Option<Timestamp>) -> bool {
        match server {
            None => !self.on_server,
            Some(saved) => self.at >= saved,
        }
    }
}

impl fmt::Display for LocalCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.on_server { "saved" } else { "typed" };
        // The pages come from a single-line input, so they contain no newline.
        let at = self.at.as_millis().to_string();
        f.write_str(&[&at, " ", state, " ", &self.template, "\n", &self.pages, "\n", &self.text].concat())
    }
}

/// The server's copy as far as it is known here.
#[derive(Clone, Copy, Default)]
pub(super) struct ServerCopy {
    /// When it saved its text.
    pub(super) saved_at: Option<Timestamp>,
    /// Whether it may have a text, saved or being uploaded.
    pub(super) may_be_there: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(at: i64, on_server: bool) -> LocalCopy {
        let at = Timestamp::from_millis(at);
        let (pages, text) = ("/a, /b".to_owned(), "one\ntwo\n".to_owned());
        LocalCopy { at, on_server, template: "0192-7".to_owned(), pages, text }
    }

    #[test]
    fn a_copy_survives_the_storage() {
        for copy in [copy(17, true), copy(-1, false)] {
            assert_eq!(LocalCopy::read(&copy.to_string()), copy);
        }
        for text in ["old text", "two\nlines", "1 saved\nx", "1 other\na\nb"] {
            assert_eq!(LocalCopy::read(text).text, text);
        }
    }

    #[test]
    fn the_newest_copy_wins() {
        let server = |at| Some(Timestamp::from_millis(at));
        assert!(copy(5, true).is_newer_than(server(5)) && copy(6, false).is_newer_than(server(5)));
        assert!(!copy(4, true).is_newer_than(server(5)) && !copy(4, false).is_newer_than(server(5)));
    }

    #[test]
    fn what_was_sent_elsewhere_does_not_come_back_and_what_the_server_never_had_stays() {
        assert!(!copy(5, true).is_newer_than(None));
        assert!(copy(5, false).is_newer_than(None));
    }

    #[test]
    fn a_clock_that_is_slow_loses_nothing() {
        let saved = Timestamp::from_millis(1_000);
        assert!(after(Timestamp::from_millis(10), Some(saved)) > saved);
        assert_eq!(after(Timestamp::from_millis(10), None), Timestamp::from_millis(10));
    }
}
