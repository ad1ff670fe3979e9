//! The list of values of a batch: CSV (RFC 4180) with commas or tabs, one record per job. Pure.
//!
//! A value in quotes may contain commas, tabs, line breaks, and doubled quotes. Blanks around a value are ignored. Invalid
//! input is an error, never a guess. A record with a tab outside quotes is separated by tabs, as in text copied from a
//! spreadsheet. Any other record is separated by commas.

use std::borrow::Cow;
use std::fmt;

/// A record that is not empty.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Record<'a> {
    /// The line on which it begins, from 1.
    pub(super) line: usize,
    /// At least one.
    pub(super) values: Vec<Cow<'a, str>>,
}

/// Why a record is invalid, and the line on which it begins, from 1.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum RecordError {
    NotClosed(usize),
    TextAfterQuote(usize),
}

/// The records of `list`, up to the first invalid one.
pub(super) fn records(list: &str) -> impl Iterator<Item = Result<Record<'_>, RecordError>> {
    let (mut rest, mut line) = (list, 1);
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (values, after) = match record(rest, line) {
                Ok(record) => record,
                Err(error) => {
                    rest = "";
                    return Some(Err(error));
                }
            };
            let text = &rest[..rest.len() - after.len()];
            let record = Record { line, values };
            line += text.matches('\n').count();
            rest = after;
            if !text.trim().is_empty() {
                return Some(Ok(record));
            }
        }
        None
    })
}

impl fmt::Display for RecordError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotClosed(line) => write!(
                f,
                "Line {line}: A value begins with a quote that is not closed. Add a quote at its end."
            ),
            Self::TextAfterQuote(line) => write!(
                f,
                "Line {line}: Text follows a closing quote. Put the whole value in quotes, and write each quote inside it twice."
            ),
        }
    }
}

/// `value` in the form that [`records`] parses back.
pub fn quoted(value: &str) -> Cow<'_, str> {
    let is_plain = !value.contains([',', '\t', '\n', '\r', '"']) && value.trim() == value;
    match is_plain {
        true => Cow::Borrowed(value),
        false => Cow::Owned(format!("\"{}\"", value.replace('"', "\"\""))),
    }
}

/// The values of a record, and the text after it.
type Parsed<'a> = (Vec<Cow<'a, str>>, &'a str);

/// The record at the beginning of `text`.
fn record(text: &str, line: usize) -> Result<Parsed<'_>, RecordError> {
    match separated(text, '\t', line) {
        Ok(record) if record.0.len() > 1 => Ok(record),
        Err(error @ RecordError::NotClosed(_)) => Err(error),
        _ => separated(text, ',', line),
    }
}

fn separated(text: &str, separator: char, line: usize) -> Result<Parsed<'_>, RecordError> {
    let (mut values, mut rest) = (Vec::new(), text);
    loop {
        let is_blank = |c: char| c != separator && c != '\n' && c.is_whitespace();
        let begun = rest.trim_start_matches(is_blank);
        let (value, after) = match begun.strip_prefix('"') {
            Some(inside) => {
                let (value, after) = in_quotes(inside).ok_or(RecordError::NotClosed(line))?;
                (value, after.trim_start_matches(is_blank))
            }
            None => {
                let (value, after) = begun.split_at(begun.find([separator, '\n']).unwrap_or(begun.len()));
                (Cow::Borrowed(value.trim_end()), after)
            }
        };
        values.push(value);
        let mut after = after.chars();
        match after.next() {
            None | Some('\n') => return Ok((values, after.as_str())),
            Some(next) if next == separator => rest = after.as_str(),
            Some(_) => return Err(RecordError::TextAfterQuote(line)),
        }
    }
}

/// The value that begins after an opening quote, and the text after its closing quote; `None` without one.
fn in_quotes(inside: &str) -> Option<(Cow<'_, str>, &str)> {
    let mut value = Cow::Borrowed("");
    let mut rest = inside;
    loop {
        let (part, after) = rest.split_once('"')?;
        value += part;
        match after.strip_prefix('"') {
            Some(more) => {
                value += "\"";
                rest = more;
            }
            None => return Some((value, after)),
        }
    }
}

#[cfg(test)]
mod tests {
    use csv::WriterBuilder;
    use proptest::prelude::*;

    use super::*;

    /// The line and the values of each record.
    fn read(list: &str) -> Result<Vec<(usize, Vec<String>)>, RecordError> {
        let owned = |record: Record<'_>| {
            (record.line, record.values.into_iter().map(Cow::into_owned).collect::<Vec<_>>())
        };
        records(list).map(|record| record.map(owned)).collect()
    }

    fn values(list: &str) -> Vec<Vec<String>> {
        let records = read(list).unwrap_or_else(|error| panic!("{error}"));
        records.into_iter().map(|(_, values)| values).collect()
    }

    #[test]
    fn quoted_value_may_contain_separators_quotes_and_line_breaks() {
        assert_eq!(values(r#""a, b",c"#), [["a, b", "c"]]);
        assert_eq!(values("x, \"a \"\"b\"\"\" ,\" c \""), [["x", "a \"b\"", " c "]]);
        assert_eq!(values("\"a\nb\",\"\"\n"), [["a\nb", ""]]);
        assert_eq!(values("5\" screen, the \"best\" one"), [["5\" screen", "the \"best\" one"]]);
    }

    #[test]
    fn tab_outside_quotes_separates_values_instead_of_commas() {
        assert_eq!(
            values("calm, Ada\nloud\tBob, the second\r\n"),
            [["calm", "Ada"], ["loud", "Bob, the second"]]
        );
        assert_eq!(values("\"a\tb\", c"), [["a\tb", "c"]]);
        assert_eq!(values("a\t\"b\tc\"\t"), [["a", "b\tc", ""]]);
    }

    #[test]
    fn records_have_the_lines_on_which_they_begin() {
        let lines =
            |list| read(list).map(|records| records.iter().map(|(line, _)| *line).collect::<Vec<_>>());
        assert_eq!(lines("\n a\n\n\"b\nc\nd\"\r\n \t\ne"), Ok(vec![2, 4, 8]));
        assert_eq!(lines(" \n\n"), Ok(vec![]));
    }

    #[test]
    fn wrong_quotes_are_errors_with_their_line() {
        assert_eq!(read("a\n\"b, c\nd"), Err(RecordError::NotClosed(2)));
        assert_eq!(read("a\tb\nx\t\"c\n"), Err(RecordError::NotClosed(2)));
        assert_eq!(read("\"a\" b, c"), Err(RecordError::TextAfterQuote(1)));
        assert_eq!(read("a, b\n\n\"c\"d\n\"e"), Err(RecordError::TextAfterQuote(3)));
    }

    proptest! {
        /// The crate `csv` writes records that this module parses.
        #[test]
        fn records_of_another_writer_are_read_unchanged(
            table in prop::collection::vec(prop::collection::vec("[ab,\"\t\n é]{1,6}", 2..4), 0..5),
            with_tabs: bool,
        ) {
            let separator = if with_tabs { b'\t' } else { b',' };
            let mut writer = WriterBuilder::new()
                .delimiter(separator)
                .quote_style(csv::QuoteStyle::Always)
                .flexible(true)
                .from_writer(Vec::new());
            for row in &table {
                writer.write_record(row)?;
            }
            let written = String::from_utf8(writer.into_inner().map_err(|error| error.into_error())?)?;
            prop_assert_eq!(values(&written), table);
        }

        #[test]
        fn quoted_values_are_read_unchanged(value in "[ab,\"\t\n\r é]{1,6}") {
            let list = [quoted(&value), quoted("next")].join("\n");
            prop_assert_eq!(values(&list), [[value], ["next".to_owned()]]);
        }

        #[test]
        fn any_text_is_read_to_its_end(list in "[ab,\"\t\n ]{0,40}") {
            for record in records(&list).flatten() {
                prop_assert!(!record.values.is_empty() && record.line <= list.lines().count());
            }
        }
    }
}
