//! How many bytes of HTML a page may still have for the texts of people. A page must not grow with stored texts beyond
//! [`PAGE_MAX`]: many readers of one large page would use up the server's time and memory.

/// The largest page, in bytes of HTML.
pub const PAGE_MAX: usize = 1024 * 1024;

/// The largest HTML of one text.
pub const TEXT_MAX: usize = 200 * 1024;

/// What a page has besides texts: the frame, forms, facts and lists.
const REST: usize = 256 * 1024;

/// The bytes of HTML that are left for texts.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Room(usize);

impl Room {
    /// Of a new page.
    pub const fn of_page() -> Self {
        Self(PAGE_MAX - REST)
    }

    pub const fn new(bytes: usize) -> Self {
        Self(bytes)
    }

    pub const fn left(&self) -> usize {
        self.0
    }

    /// Uses `bytes`, or nothing if fewer are left.
    pub fn take(&mut self, bytes: usize) -> bool {
        match self.0.checked_sub(bytes) {
            Some(left) => {
                self.0 = left;
                true
            }
            None => false,
        }
    }

    /// Uses `bytes`, or all that is left, for what the page has in any case.
    pub const fn use_up(&mut self, bytes: usize) {
        self.0 = self.0.saturating_sub(bytes);
    }

    /// Returns bytes that are not needed after all.
    pub const fn give_back(&mut self, bytes: usize) {
        self.0 = self.0.saturating_add(bytes);
    }
}

/// The size of a text as HTML, as a text or in an attribute.
pub fn escaped_len(text: &str) -> usize {
    text.bytes().map(escaped_byte).sum()
}

/// The longest beginning of `text` that has at most `bytes` as HTML.
pub fn beginning(text: &str, bytes: usize) -> &str {
    let mut size = 0;
    let end = text.char_indices().find(|(_, character)| {
        size += character.encode_utf8(&mut [0; 4]).bytes().map(escaped_byte).sum::<usize>();
        size > bytes
    });
    end.map_or(text, |(at, _)| &text[..at])
}

const fn escaped_byte(byte: u8) -> usize {
    match byte {
        b'"' => "&quot;".len(),
        b'&' => "&amp;".len(),
        b'\'' => "&#x27;".len(),
        b'<' | b'>' => "&lt;".len(),
        _ => 1,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn beginning_has_at_most_the_given_bytes_as_html() {
        for text in ["", "abc", "<<<<", "a&b\"c'", "éé", "漢字漢字"] {
            for bytes in 0..30 {
                let start = beginning(text, bytes);
                assert!(text.starts_with(start) && escaped_len(start) <= bytes, "{text} {bytes}");
                let is_longest = text[start.len()..]
                    .chars()
                    .next()
                    .is_none_or(|next| escaped_len(&format!("{start}{next}")) > bytes);
                assert!(is_longest, "{text} {bytes}: {start}");
            }
        }
    }

    #[test]
    fn room_is_never_exceeded() {
        let mut room = Room::new(10);
        assert!(room.take(4) && !room.take(7) && room.take(6) && !room.take(1));
        room.give_back(3);
        room.use_up(100);
        assert_eq!(room.left(), 0);
    }
}
