//! What the preview of a batch shows of each line besides the prompt. Pure.

use std::ops::Range;

use super::{PAGE, PREVIEW_CHARS, lines};
use crate::template::Parsed;

/// A line of a batch.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PreviewLine {
    /// Where it begins in the list, from 1.
    pub number: usize,
    /// The value of the placeholder `page`.
    pub page: Option<String>,
    /// Whether that is in no list of known pages.
    pub is_unknown: bool,
    /// Where the values are in the preview of the prompt, in bytes.
    pub values: Vec<Range<usize>>,
}

/// The lines of a batch that [`entries`](super::entries) accepted, in the order of [`preview`](super::preview).
pub fn preview_lines(text: &str, list: &str) -> Vec<PreviewLine> {
    let template = Parsed::of(text);
    let page = template.names.iter().position(|name| *name == PAGE);
    let lines = lines(&template, list).into_iter().flatten().filter_map(Result::ok);
    let lines = lines.map(|line| {
        let columns = line.columns();
        let (beginning, _) = template.beginning(&columns, PREVIEW_CHARS);
        PreviewLine {
            number: line.number,
            page: page.map(|page| columns[page].to_owned()),
            is_unknown: false,
            values: template.values_within(&columns, beginning.len()),
        }
    });
    lines.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_says_where_its_values_are_in_the_preview() {
        let (text, list) = ("Ü {{page}} for {{who}}, {{page}}", "page,who\n/a,é\n\n/b,you");
        let found = preview_lines(text, list);
        let values = |at: usize| {
            let prompt = &super::super::preview(text, list)[at];
            found[at].values.iter().map(|range| &prompt[range.clone()]).collect::<Vec<_>>().join(" ")
        };
        assert_eq!(found.iter().map(|line| line.number).collect::<Vec<_>>(), [2, 4]);
        assert_eq!(found[1].page.as_deref(), Some("/b"));
        assert_eq!((values(0), values(1)), ("/a é /a".to_owned(), "/b you /b".to_owned()));
    }

    #[test]
    fn value_beyond_the_preview_is_cut() {
        let long = "x".repeat(PREVIEW_CHARS);
        let lines = preview_lines("{{a}}, {{b}}", &format!("ab{long},c"));
        assert_eq!((lines.len(), lines[0].values.len(), &lines[0].page), (1, 1, &None));
        assert_eq!(lines[0].values[0], 0..PREVIEW_CHARS);
    }
}
