//! The browser's copy of a draft, and whether it is newer than the server's. Pure.

use std::fmt;

use model::time::Timestamp;

/// What happened to a copy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum CopyState {
    /// The server does not have it yet.
    Typed,
    /// The server has this exact text as a draft.
    Saved,
    /// It was posted, and no response has arrived: sending it again with its intent starts nothing twice.
    Posted,
}

impl CopyState {
    const ALL: [(Self, &str); 3] = [(Self::Typed, "typed"), (Self::Saved, "saved"), (Self::Posted, "posted")];

    fn read(name: &str) -> Option<Self> {
        Self::ALL.iter().find(|(_, known)| *known == name).map(|(state, _)| *state)
    }

    fn name(self) -> &'static str {
        Self::ALL.iter().find(|(state, _)| *state == self).map_or("", |(_, name)| name)
    }
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct LocalCopy {
    /// When the server saved this version or its base, in milliseconds; 0 without one.
    pub(super) base: i64,
    pub(super) state: CopyState,
    /// The id of its template; empty without one.
    pub(super) template: String,
    /// The intent of the form that wrote it.
    pub(super) intent: String,
    /// The intent of the form that began the draft; empty for a text other than of a new job.
    pub(super) origin: String,
    pub(super) pages: String,
    pub(super) text: String,
}

impl LocalCopy {
    /// Parses the format of [`fmt::Display`].
    pub(super) fn read(stored: &str) -> Option<Self> {
        let (head, rest) = stored.split_once('\n')?;
        let (base, head) = head.split_once(' ')?;
        let (state, head) = head.split_once(' ')?;
        let (template, head) = head.split_once(' ')?;
        let (intent, origin) = head.split_once(' ')?;
        let (pages, text) = rest.split_once('\n')?;
        let [template, intent, origin, pages, text] =
            [template, intent, origin, pages, text].map(str::to_owned);
        let (base, state) = (base.parse().ok()?, CopyState::read(state)?);
        Some(Self { base, state, template, intent, origin, pages, text })
    }

    /// Whether it takes precedence over the server's copy. Unsaved text always does: the server compares versions when it is
    /// saved. A text that is missing on the server was sent or discarded elsewhere.
    pub(super) fn is_newer_than(&self, server: Option<Timestamp>) -> bool {
        self.state != CopyState::Saved || server.is_some_and(|saved| self.base >= saved.as_millis())
    }
}

impl fmt::Display for LocalCopy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // The pages come from a single-line input, so they contain no newline.
        let base = self.base.to_string();
        f.write_str(
            &[
                &base,
                " ",
                self.state.name(),
                " ",
                &self.template,
                " ",
                &self.intent,
                " ",
                &self.origin,
                "\n",
                &self.pages,
                "\n",
                &self.text,
            ]
            .concat(),
        )
    }
}

#[cfg(test)]
mod tests {
    use super::CopyState::{Posted, Saved, Typed};
    use super::*;

    fn copy(base: i64, state: CopyState) -> LocalCopy {
        let texts = ["/a, /b", "one\ntwo\n", "0192-7", "4f-1", "4f-0"].map(str::to_owned);
        let [pages, text, template, intent, origin] = texts;
        LocalCopy { base, state, template, intent, origin, pages, text }
    }

    #[test]
    fn copy_survives_the_storage() {
        for copy in [copy(17, Saved), copy(-1, Typed), copy(0, Posted)] {
            assert_eq!(LocalCopy::read(&copy.to_string()), Some(copy));
        }
        for text in ["a text", "two\nlines", "1 saved\nx", "1 other t i\na\nb", "17 typed 0192-7\n/a\none"] {
            assert_eq!(LocalCopy::read(text), None);
        }
    }

    #[test]
    fn newest_saved_copy_takes_precedence() {
        let server = |at| Some(Timestamp::from_millis(at));
        assert!(copy(5, Saved).is_newer_than(server(5)) && copy(6, Saved).is_newer_than(server(5)));
        assert!(!copy(4, Saved).is_newer_than(server(5)));
    }

    #[test]
    fn text_sent_elsewhere_is_dropped_but_unsaved_text_stays() {
        assert!(!copy(5, Saved).is_newer_than(None));
        for server in [None, Some(Timestamp::from_millis(9))] {
            assert!(copy(5, Typed).is_newer_than(server) && copy(5, Posted).is_newer_than(server));
        }
    }
}
