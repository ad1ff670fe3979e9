//! The size of JSON responses, whose content follows from input and from stored texts. A body that is built as a whole has at most
//! [`WHOLE_MAX_BYTES`]: a list ends early when its room is used, and the response has a cursor for the rest.

pub mod shortened;

use std::io;

use serde::Serialize;

use model::error::AppError;

/// The maximum size of a body that is built as a whole: those of server functions and of MCP.
pub const WHOLE_MAX_BYTES: usize = 1024 * 1024;

/// A larger body is sent under a permit of its person, so that few of them wait for slow readers.
pub const FREE_MAX_BYTES: usize = 256 * 1024;

/// The part of a body for everything except its list.
const BESIDE_LISTS_BYTES: usize = 64 * 1024;

/// The part of a message of MCP around its result.
const MESSAGE_BYTES: usize = 4 * 1024;

/// The room that the items of a response have.
pub struct Room {
    left: usize,
    format: Format,
}

#[derive(Clone, Copy)]
enum Format {
    /// JSON.
    Plain,
    /// A result of MCP: the JSON, and the same as a text in JSON.
    Tool,
}

impl Room {
    /// The room of a server function's body.
    pub fn of_function() -> Self {
        Self { left: WHOLE_MAX_BYTES - BESIDE_LISTS_BYTES, format: Format::Plain }
    }

    /// The room of a tool's result over MCP.
    pub fn of_tool() -> Self {
        Self { left: WHOLE_MAX_BYTES - BESIDE_LISTS_BYTES, format: Format::Tool }
    }

    /// The room of a server function's body that reports a change. Sending it needs no permit, so that a change that took effect never fails.
    pub fn of_change() -> Self {
        Self { left: FREE_MAX_BYTES - BESIDE_LISTS_BYTES, format: Format::Plain }
    }

    /// As [`Self::of_change`], of a tool's result over MCP.
    pub fn of_changing_tool() -> Self {
        Self { left: FREE_MAX_BYTES - BESIDE_LISTS_BYTES, format: Format::Tool }
    }

    /// Takes the room of an item; `false` if it does not fit.
    pub fn takes(&mut self, item: &impl Serialize) -> bool {
        // One byte for the comma, which a text has too.
        let bytes = self.format.bytes(item).saturating_add(2);
        let left = self.left.checked_sub(bytes);
        self.left = left.unwrap_or(self.left);
        left.is_some()
    }

    /// Takes the room of a part that is always sent.
    pub fn reserve(&mut self, part: &impl Serialize) {
        self.left = self.left.saturating_sub(self.format.bytes(part));
    }

    /// Removes the items that do not fit, from the first such one on; whether all remain.
    pub fn keep_first<T: Serialize>(&mut self, items: &mut Vec<T>) -> bool {
        let fitting = items.iter().take_while(|item| self.takes(item)).count();
        let all = fitting == items.len();
        items.truncate(fitting);
        all
    }

    /// Removes the items that do not fit, from the last such one back; returns their number.
    pub fn keep_last<T: Serialize>(&mut self, items: &mut Vec<T>) -> usize {
        let fitting = items.iter().rev().take_while(|item| self.takes(item)).count();
        let removed = items.len() - fitting;
        items.drain(..removed);
        removed
    }

    /// The part of a list at `cursor` of an earlier part, with the cursor of the next one. A part has at least one item: texts are
    /// limited so that it fits.
    ///
    /// # Errors
    /// If `cursor` is no cursor.
    pub fn part<T: Serialize>(&mut self, items: Vec<T>, cursor: Option<&str>) -> Result<Part<T>, AppError> {
        let skipped = match cursor.map(str::trim).filter(|cursor| !cursor.is_empty()) {
            Some(cursor) => cursor.parse::<u32>().map_err(|_| no_such_part())? as usize,
            None => 0,
        };
        let total = items.len();
        let mut taken = 0;
        let rest = items.into_iter().skip(skipped);
        let items: Vec<T> = rest
            .take_while(|item| {
                let fits = self.takes(item);
                let is_taken = fits || taken == 0;
                if !fits {
                    self.left = 0;
                }
                taken += usize::from(is_taken);
                is_taken
            })
            .collect();
        let end = skipped.saturating_add(items.len());
        Ok(Part { next: (end < total).then(|| end.to_string()), items })
    }
}

/// A part of a list.
#[derive(Debug, PartialEq, Eq)]
pub struct Part<T> {
    pub items: Vec<T>,
    /// The cursor of the next part.
    pub next: Option<String>,
}

impl Format {
    fn bytes(self, value: &impl Serialize) -> usize {
        let mut counter = Counter::default();
        if serde_json::to_writer(&mut counter, value).is_err() {
            return usize::MAX;
        }
        match self {
            Self::Plain => counter.bytes,
            Self::Tool => counter.bytes.saturating_mul(2).saturating_add(counter.escaped),
        }
    }
}

/// Whether a value can be the result of a tool.
pub fn fits_into_tool_result(value: &impl Serialize) -> bool {
    Format::Tool.bytes(value) <= WHOLE_MAX_BYTES - MESSAGE_BYTES
}

/// Whether a value can be the result of a tool that is sent without a permit.
pub fn fits_into_free_tool_result(value: &impl Serialize) -> bool {
    Format::Tool.bytes(value) <= FREE_MAX_BYTES - MESSAGE_BYTES
}

/// The size of a value in JSON, in bytes.
pub fn json_bytes(value: &impl Serialize) -> usize {
    Format::Plain.bytes(value)
}

/// Counts what is written.
#[derive(Default)]
struct Counter {
    bytes: usize,
    /// The bytes that have an escape when JSON is a text in JSON.
    escaped: usize,
}

impl io::Write for Counter {
    fn write(&mut self, written: &[u8]) -> io::Result<usize> {
        self.bytes += written.len();
        self.escaped += written.iter().filter(|byte| matches!(byte, b'"' | b'\\')).count();
        Ok(written.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn no_such_part() -> AppError {
    AppError::bad_input("That part of the list does not exist. Start again from the first part.")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn size_is_that_of_the_written_json() {
        for text in ["", "plain", "\"quoted\" \\ \n\t\u{1}", "é漢🦀"] {
            let value = [(text, 7)];
            let json = serde_json::to_string(&value).unwrap_or_default();
            assert_eq!(json_bytes(&value), json.len());
            let as_text = serde_json::to_string(&json).unwrap_or_default();
            assert_eq!(Format::Tool.bytes(&value) + 2, json.len() + as_text.len(), "{text:?}");
        }
    }

    #[test]
    fn parts_of_a_list_have_every_item_once() {
        let items: Vec<String> = (0..300).map(|n| n.to_string().repeat(n * 20)).collect();
        let (mut found, mut cursor, mut parts) = (Vec::new(), None, 0);
        loop {
            let part = Room::of_function().part(items.clone(), cursor.as_deref());
            let part = part.unwrap_or_else(|error| panic!("{error}"));
            assert!(json_bytes(&part.items) <= WHOLE_MAX_BYTES);
            found.extend(part.items);
            parts += 1;
            cursor = part.next;
            if cursor.is_none() {
                break;
            }
        }
        assert!(found == items && parts > 1, "{parts} parts");
        assert!(Room::of_function().part(items, Some("x")).is_err());
    }

    #[test]
    fn item_that_is_too_large_is_a_part_of_its_own() {
        let items = vec!["x".repeat(WHOLE_MAX_BYTES), "y".to_owned()];
        let part = Room::of_function().part(items, None).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!((part.items.len(), part.next.as_deref()), (1, Some("1")));
    }

    #[test]
    fn last_items_are_kept_and_the_removed_counted() {
        let mut items = vec!["x".repeat(300_000); 5];
        items.push("last".to_owned());
        assert_eq!(Room::of_function().keep_last(&mut items), 2);
        assert_eq!((items.len(), items.last().map(String::as_str)), (4, Some("last")));
        let mut items = vec!["x".repeat(300_000); 5];
        assert!(!Room::of_function().keep_first(&mut items));
        assert_eq!(items.len(), 3);
        assert!(Room::of_tool().keep_first(&mut vec!["x"]));
    }
}
