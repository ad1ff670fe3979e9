//! The browser's copy of a draft, and whether it is newer than the server's. Pure.

use std::fmt;

use model::time::Timestamp;

#[derive(Debug, PartialEq, Eq)]
pub(super) struct LocalCopy {
    /// When the server saved this version or its base, in milliseconds; 0 without one.
    pub(super) base: i64,
    /// Whether the server has this exact text.
    pub(super) on_server: bool,
    /// The id of its template; empty without one.
    pub(super) template: String,
    /// The intent of the form that wrote it.
    pub(super) intent: String,
    pub(super) pages: String,
    pub(super) text: String,
}

impl LocalCopy {
    /// Parses the format of [`fmt::Display`].
    pub(super) fn read(stored: &str) -> Option<Self> {
        let (head, rest) = stored.split_once('\n')?;
        let (base, head) = head.split_once(' ')?;
        let (on_server, head) = head.split_once(' ')?;
        let (template, intent) = head.split_once(' ')?;
        let (pages, text) = rest.split_once('\n')?;
        let on_server = match on_server {
            "saved" => true,
            "typed" => false,
            _ => return None,
        };
        let [template, intent, pages, text] = [template, intent, pages, text].map(str::to_owned);
        Some(Self { base: base.parse().ok()?, on_server, template, intent, pages, text })
    }

    /// Whether it takes precedence over the server's copy. Unsaved text always does: the server compares versions when it is
    /// saved. A text that is missing on the server was sent or discarded elsewhere.
    pub(super) fn is_newer_than(&self, server: Option<Timestamp>) -> bool {
        !self.on_server || server.is_some_and(|saved| self.base >= saved.as_millis())
    }
}

impl fmt::Display for LocalCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.on_server { "saved" } else { "typed" };
        // The pages come from a single-line input, so they contain no newline.
        let base = self.base.to_string();
        f.write_str(
            &[&base, " ", state, " ", &self.template, " ", &self.intent, "\n", &self.pages, "\n", &self.text]
                .concat(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn copy(base: i64, on_server: bool) -> LocalCopy {
        let [pages, text, template, intent] = ["/a, /b", "one\ntwo\n", "0192-7", "4f-1"].map(str::to_owned);
        LocalCopy { base, on_server, template, intent, pages, text }
    }

    #[test]
    fn copy_survives_the_storage() {
        for copy in [copy(17, true), copy(-1, false)] {
            assert_eq!(LocalCopy::read(&copy.to_string()), Some(copy));
        }
        for text in ["a text", "two\nlines", "1 saved\nx", "1 other t i\na\nb", "17 typed 0192-7\n/a\none"] {
            assert_eq!(LocalCopy::read(text), None);
        }
    }

    #[test]
    fn newest_saved_copy_takes_precedence() {
        let server = |at| Some(Timestamp::from_millis(at));
        assert!(copy(5, true).is_newer_than(server(5)) && copy(6, true).is_newer_than(server(5)));
        assert!(!copy(4, true).is_newer_than(server(5)));
    }

    #[test]
    fn text_sent_elsewhere_is_dropped_but_unsaved_text_stays() {
        assert!(!copy(5, true).is_newer_than(None));
        for server in [None, Some(Timestamp::from_millis(9))] {
            assert!(copy(5, false).is_newer_than(server));
        }
    }
}
