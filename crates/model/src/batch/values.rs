//! The list of values of a batch: CSV (RFC 4180) with commas, semicolons or tabs, one record per job. Pure.
//!
//! A value in quotes may contain separators, line breaks, and doubled quotes. Blanks around a value are ignored. Invalid
//! input is an error, never a guess. A record with a tab outside quotes is separated by tabs, as in text copied from a
//! spreadsheet. Any other record is separated by commas. If that gives only one value although several are expected, or leaves text after
//! a closing quote, it is separated by semicolons, as spreadsheets write files in many languages.

use std::borrow::Cow;

use super::ListError;

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

/// The records of `list`, up to the first invalid one. `columns`: the expected number of values in each.
pub(super) fn records(list: &str, columns: usize) -> impl Iterator<Item = Result<Record<'_>, RecordError>> {
    // Files begin with a byte order mark, and so does text that was copied from some of them.
    let (mut rest, mut line) = (list.trim_start_matches('\u{feff}'), 1);
    std::iter::from_fn(move || {
        while !rest.is_empty() {
            let (values, after) = match record(rest, line, columns) {
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

impl From<RecordError> for ListError {
    fn from(error: RecordError) -> Self {
        let (line, rest) = match error {
            RecordError::NotClosed(line) => {
                (line, ": A value begins with a quote that is not closed. Add a quote at its end.")
            }
            RecordError::TextAfterQuote(line) => (
                line,
                ": Text follows a closing quote. Put the whole value in quotes, and write each quote inside it twice.",
            ),
        };
        Self::of_line(line, rest)
    }
}

/// `value` in the form that [`records`] parses back.
pub fn quoted(value: &str) -> Cow<'_, str> {
    let is_plain = !value.contains([',', ';', '\t', '\n', '\r', '"', '\u{feff}']) && value.trim() == value;
    match is_plain {
        true => Cow::Borrowed(value),
        false => Cow::Owned(format!("\"{}\"", value.replace('"', "\"\""))),
    }
}

/// The values of a record, and the text after it.
type Parsed<'a> = (Vec<Cow<'a, str>>, &'a str);

/// The record at the beginning of `text`.
fn record(text: &str, line: usize, columns: usize) -> Result<Parsed<'_>, RecordError> {
    match separated(text, '\t', line) {
        Ok(record) if record.0.len() > 1 => return Ok(record),
        Err(error @ RecordError::NotClosed(_)) => return Err(error),
        _ => {}
    }
    let by_commas = separated(text, ',', line);
    if by_commas.as_ref().is_ok_and(|record| record.0.len() > 1 || columns <= 1) {
        return by_commas;
    }
    match separated(text, ';', line) {
        Ok(record) if record.0.len() > 1 => Ok(record),
        _ => by_commas,
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
        read_columns(list, 2)
    }

    fn read_columns(list: &str, columns: usize) -> Result<Vec<(usize, Vec<String>)>, RecordError> {
        let owned = |record: Record<'_>| {
            (record.line, record.values.into_iter().map(Cow::into_owned).collect::<Vec<_>>())
        };
        records(list, columns).map(|record| record.map(owned)).collect()
    }

    fn values(list: &str) -> Vec<Vec<String>> {
        let records = read(list).unwrap_or_else(|error| panic!("{error:?}"));
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
    fn semicolons_separate_values_where_commas_do_not() {
        let expected = vec![(1, vec!["a, b".to_owned(), "c; d".to_owned()])];
        assert_eq!(read("\"a, b\";\"c; d\"\r\n"), Ok(expected));
        assert_eq!(values("/a;calm\n/b;loud"), [["/a", "calm"], ["/b", "loud"]]);
        assert_eq!(values("x;\"a\nb\""), [["x", "a\nb"]]);
        assert_eq!(values("\"x;y\",z"), [["x;y", "z"]]);
        // One value is expected.
        let one = read_columns("first; then second\n\"a\";\"b\"", 1);
        let values: Vec<_> =
            one.unwrap_or_else(|error| panic!("{error:?}")).into_iter().map(|(_, values)| values).collect();
        assert_eq!(values, [vec!["first; then second".to_owned()], vec!["a".to_owned(), "b".to_owned()]]);
    }

    #[test]
    fn byte_order_mark_is_no_part_of_the_first_value() {
        assert_eq!(values("\u{feff}/a,calm\n/b,loud"), [["/a", "calm"], ["/b", "loud"]]);
        assert_eq!(values("\u{feff}\"/a\",calm"), [["/a", "calm"]]);
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
            table in prop::collection::vec(prop::collection::vec("[ab,;\"\t\n é]{1,6}", 2..4), 0..5),
            separator in prop::sample::select(vec![b'\t', b',', b';']),
        ) {
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
        fn quoted_values_are_read_unchanged(value in "[ab,;\"\t\n\r é\u{feff}]{1,6}") {
            let list = [quoted(&value), quoted("next")].join("\n");
            prop_assert_eq!(values(&list), [[value], ["next".to_owned()]]);
        }

        #[test]
        fn any_text_is_read_to_its_end(list in "[ab,;\"\t\n ]{0,40}") {
            for record in records(&list, 2).flatten() {
                prop_assert!(!record.values.is_empty() && record.line <= list.lines().count());
            }
        }
    }
}
