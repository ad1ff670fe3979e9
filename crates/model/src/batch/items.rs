//! The items of a batch that a script sends, as the list that a person would write. Pure.

use std::collections::BTreeMap;
use std::fmt;

use super::ListError;
use super::values::records;
use crate::template::Parsed;

/// An item of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Item {
    /// A line as a person writes it.
    Line(String),
    /// The values by the names of their placeholders.
    Values(BTreeMap<String, String>),
}

/// Items as a list.
#[derive(Debug, PartialEq, Eq)]
pub struct Items {
    pub list: String,
    /// The line on which each item begins, from 1.
    lines: Vec<usize>,
}

/// Why an item is invalid.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ItemError {
    /// Its index, from 0.
    pub index: usize,
    /// The message after its number.
    rest: String,
}

impl ItemError {
    /// `rest`: the message after the number of the item.
    pub fn new(index: usize, rest: impl Into<String>) -> Self {
        Self { index, rest: rest.into() }
    }
}

impl fmt::Display for ItemError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Item {}{}", self.index + 1, self.rest)
    }
}

impl Items {
    /// Writes a list for this text. Each item is one record: the list gives back exactly the values of each.
    pub fn of(text: &str, items: &[Item]) -> Result<Self, ItemError> {
        let template = Parsed::of(text);
        let (mut list, mut lines, mut line) = (String::new(), Vec::with_capacity(items.len()), 1);
        // A line of titles is no item. With one, values that equal the titles are an item.
        if matches!(items.first(), Some(Item::Values(_))) && !template.names.is_empty() {
            list = template.names.join(",") + "\n";
            line = 2;
        }
        for (index, item) in items.iter().enumerate() {
            let written = match item {
                Item::Line(text) => one_record(text, template.names.len()).map(|()| text.clone()),
                Item::Values(values) => record(&template, values),
            };
            let written = written.map_err(|rest| ItemError::new(index, rest))?;
            lines.push(line);
            line += written.matches('\n').count() + 1;
            list += &written;
            list.push('\n');
        }
        let written = Self { list, lines };
        match written.first_merged(template.names.len()) {
            Some(index) => {
                Err(ItemError::new(index, " begins with a quote that is not closed. Add a quote at its end."))
            }
            None => Ok(written),
        }
    }

    /// The first item that a record of the list shares with the next item.
    fn first_merged(&self, columns: usize) -> Option<usize> {
        let begun = records(&self.list, columns).map_while(Result::ok).map(|record| record.line);
        let first = self.lines.first().copied().unwrap_or_default();
        let mut begun = begun.skip_while(|line| *line < first);
        let next = self.lines.iter().position(|line| begun.next() != Some(*line));
        next.map(|next| next.saturating_sub(1))
    }

    /// The index of the item on this line.
    pub fn index_of(&self, line: usize) -> usize {
        self.lines.partition_point(|first| *first <= line).saturating_sub(1)
    }
}

/// Whether a line has exactly one record. Otherwise returns the message after its number.
fn one_record(text: &str, columns: usize) -> Result<(), String> {
    let mut records = records(text, columns);
    match (records.next(), records.next()) {
        (Some(Err(error)), _) | (_, Some(Err(error))) => match error.into() {
            ListError::Line { rest, .. } => Err(rest),
            other => Err(format!(": {other}")),
        },
        (Some(Ok(record)), None) if record.line == 1 => Ok(()),
        (Some(Ok(_)), _) => {
            Err(" has a line break. Send each line as an item, or put the value in quotes.".to_owned())
        }
        (None, _) => Err(" is empty. Write the values of a job.".to_owned()),
    }
}

/// The record with these values. Otherwise returns the message after its number.
fn record(template: &Parsed, values: &BTreeMap<String, String>) -> Result<String, String> {
    let names = &template.names;
    if let Some(unknown) = values.keys().find(|name| !names.contains(&name.as_str())) {
        return Err(format!(": The text has no placeholder “{unknown}”."));
    }
    let cells = names.iter().zip(&template.defaults).map(|(name, default)| match values.get(*name) {
        Some(value) => Ok(cell(value)),
        None if default.is_empty() => Err(format!(": The value of {{{{{name}}}}} is missing.")),
        None => Ok(cell("")),
    });
    Ok(cells.collect::<Result<Vec<_>, _>>()?.join(","))
}

/// A value in a list, in quotes: otherwise a tab in a later value of the record would separate values.
fn cell(value: &str) -> String {
    format!("\"{}\"", value.replace('"', "\"\""))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::batch::{entries, values_of};

    fn line(text: &str) -> Item {
        Item::Line(text.to_owned())
    }

    fn named(values: &[(&str, &str)]) -> Item {
        Item::Values(values.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect())
    }

    fn error(text: &str, items: &[Item]) -> String {
        Items::of(text, items).err().map(|error| error.to_string()).unwrap_or_default()
    }

    #[test]
    fn item_is_one_record_of_the_list() {
        let items = [line("/a,calm"), line("\"/b\n\",\"x\ny\""), named(&[("page", "/c"), ("tone", "a, b")])];
        let written = Items::of("{{page}} {{tone}}", &items).unwrap_or_else(|error| panic!("{error}"));
        assert_eq!(written.list, "/a,calm\n\"/b\n\",\"x\ny\"\n\"/c\",\"a, b\"\n");
        assert_eq!([1, 2, 3, 4, 5].map(|line| written.index_of(line)), [0, 1, 1, 1, 2]);
        let text = "{{a}} {{b=1}}";
        for (items, wrong) in [
            (vec![line("x"), line(" \n")], "Item 2 is empty."),
            (vec![line("x\ny")], "Item 1 has a line break."),
            (vec![line("x"), line("\"y")], "Item 2: A value begins with a quote"),
            (vec![line("\"x\" y")], "Item 1: Text follows"),
            (vec![line("x;1"), line("x;\"y"), line("z\"")], "Item 2 begins with a quote"),
            (vec![line(" \nx")], "Item 1 has a line break."),
            (vec![named(&[("a", "1"), ("c", "2")])], "Item 1: The text has no placeholder “c”."),
            (vec![named(&[("b", "2")])], "Item 1: The value of {{a}} is missing."),
        ] {
            let error = error(text, &items);
            assert!(error.starts_with(wrong), "{error}");
        }
    }

    #[test]
    fn values_that_equal_the_titles_are_an_item() {
        let prompts = |items: &[Item]| {
            let written = Items::of("Check {{page}}", items).unwrap_or_else(|error| panic!("{error}"));
            let made = entries("Check {{page}}", &written.list, 99).unwrap_or_else(|error| panic!("{error}"));
            made.into_iter().map(|entry| entry.prompt).collect::<Vec<_>>()
        };
        assert_eq!(prompts(&[named(&[("page", "page")])]), ["Check page"]);
        assert_eq!(prompts(&[named(&[("page", "/a")]), line("page")]), ["Check /a", "Check page"]);
        assert_eq!(prompts(&[line("page"), line("/a")]), ["Check /a"], "as in a file");
    }

    proptest! {
        /// Whatever the values contain, each item is one prompt with these values.
        #[test]
        fn values_of_items_are_read_unchanged(
            items in prop::collection::btree_set(("[ab,;\"\t\n é\u{feff}{}]{0,5}x", "[ab,;\"\t\n\r =]{0,5}"), 1..5),
        ) {
            let text = "{{a}} and {{b=default}}";
            let items: Vec<Item> = items.iter().map(|(a, b)| named(&[("a", a), ("b", b)])).collect();
            let written = Items::of(text, &items).map_err(|error| TestCaseError::fail(error.to_string()))?;
            let read = values_of(text, &written.list);
            prop_assert_eq!(read.len(), items.len());
            for (index, ((line, values), item)) in read.into_iter().zip(items).enumerate() {
                prop_assert_eq!(written.index_of(line), index);
                let Item::Values(mut sent) = item else { continue };
                if sent["b"].trim().is_empty() {
                    sent.insert("b".to_owned(), "default".to_owned());
                }
                prop_assert_eq!(values, sent);
            }
        }
    }
}
