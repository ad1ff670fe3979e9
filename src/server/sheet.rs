//! Writes rows as CSV (RFC 4180) or as one JSON array, chunk by chunk. Text that a spreadsheet would interpret as a
//! formula is escaped.

use std::borrow::Cow;

use axum::body::Bytes;
use csv::{Terminator, Writer, WriterBuilder};
use futures::Stream;
use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;

use crate::model::day::Day;
use crate::server::store::StoreError;

#[derive(Debug, Clone, Copy, PartialEq, Eq, strum::Display)]
#[strum(serialize_all = "lowercase")]
pub enum Format {
    Csv,
    Json,
}

/// The value of a cell.
#[derive(Debug, Clone, Copy)]
pub enum Cell<'a> {
    Text(&'a str),
    Day(Day),
    Number(u64),
    /// Rounded to four decimal places.
    Share(f64),
    Nothing,
}

/// A file that is written chunk by chunk.
pub struct Sheet {
    columns: &'static [&'static str],
    writer: Kind,
}

enum Kind {
    Csv(Box<Writer<Vec<u8>>>),
    Json { piece: Vec<u8>, begun: bool },
}

impl Sheet {
    pub fn new(format: Format, columns: &'static [&'static str]) -> Self {
        let writer = match format {
            Format::Csv => Kind::Csv(piece()),
            Format::Json => Kind::Json { piece: Vec::new(), begun: false },
        };
        Self { columns, writer }
    }

    /// The beginning of the file.
    pub fn head(&mut self) -> Bytes {
        match &mut self.writer {
            Kind::Csv(writer) => write(writer, self.columns.iter().map(|column| Cow::Borrowed(*column))),
            Kind::Json { piece, .. } => piece.push(b'['),
        }
        self.take()
    }

    /// One cell per column.
    pub fn row(&mut self, cells: &[Cell<'_>]) {
        match &mut self.writer {
            Kind::Csv(writer) => write(writer, cells.iter().map(|cell| cell.text())),
            Kind::Json { piece, begun } => {
                piece.extend_from_slice(if *begun { b",\n" } else { b"\n" });
                *begun = true;
                for (n, (column, cell)) in self.columns.iter().zip(cells).enumerate() {
                    let before = if n == 0 { '{' } else { ',' };
                    piece.extend_from_slice(format!("{before}\"{column}\":").as_bytes());
                    piece.extend_from_slice(cell.value().to_string().as_bytes());
                }
                piece.push(b'}');
            }
        }
    }

    /// Writes the end of the file.
    pub fn end(&mut self) {
        if let Kind::Json { piece, .. } = &mut self.writer {
            piece.extend_from_slice(b"\n]\n");
        }
    }

    /// What was written since the last call.
    pub fn take(&mut self) -> Bytes {
        match &mut self.writer {
            Kind::Csv(writer) => std::mem::replace(writer, piece()).into_inner().unwrap_or_default().into(),
            Kind::Json { piece, .. } => std::mem::take(piece).into(),
        }
    }
}

/// The content of a file.
pub type Chunks = stream::BoxStream<'static, Result<Bytes, StoreError>>;

/// A file of these columns; its beginning is sent before the first rows are read.
pub fn file<T: Send + 'static>(
    format: Format,
    columns: &'static [&'static str],
    rows: impl Stream<Item = Result<T, StoreError>> + Send + 'static,
    write: impl Fn(&mut Sheet, T) + Send + Sync + 'static,
) -> Chunks {
    let mut sheet = Sheet::new(format, columns);
    let head = sheet.head();
    let rows = rows.map_ok(Some).chain(stream::iter([Ok(None)]));
    let rest = rows.map_ok(move |rows| {
        match rows {
            Some(rows) => write(&mut sheet, rows),
            None => sheet.end(),
        }
        sheet.take()
    });
    stream::iter([Ok(head)]).chain(rest).boxed()
}

fn piece() -> Box<Writer<Vec<u8>>> {
    Box::new(WriterBuilder::new().terminator(Terminator::CRLF).from_writer(Vec::new()))
}

fn write<'a>(writer: &mut Writer<Vec<u8>>, mut cells: impl Iterator<Item = Cow<'a, str>>) {
    let written = cells.try_for_each(|cell| writer.write_field(cell.as_bytes()));
    if let Err(error) = written.and_then(|()| writer.write_record(None::<&[u8]>)) {
        tracing::error!(%error, "a row of an export could not be read");
    }
}

impl<'a> Cell<'a> {
    fn text(self) -> Cow<'a, str> {
        match self {
            Self::Text(text) if is_formula(text) => Cow::Owned(format!("'{text}")),
            Self::Text(text) => Cow::Borrowed(text),
            Self::Day(day) => Cow::Owned(day.to_string()),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::Share(share) => Cow::Owned(rounded(share).to_string()),
            Self::Nothing => Cow::Borrowed(""),
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            Self::Day(day) => day.to_string().into(),
            Self::Number(number) => number.into(),
            Self::Share(share) => rounded(share).into(),
            Self::Nothing => Value::Null,
        }
    }
}

/// Whether a spreadsheet would evaluate the text as a formula.
fn is_formula(text: &str) -> bool {
    text.starts_with(['=', '+', '-', '@', '\t', '\r', '\n'])
}

fn rounded(share: f64) -> f64 {
    // Adding 0.0 turns -0.0 into 0.0.
    (share * 1e4).round() / 1e4 + 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn csv(cells: &[Cell<'_>]) -> String {
        let mut sheet = Sheet::new(Format::Csv, &["a", "b", "c", "d", "e"]);
        sheet.row(cells);
        String::from_utf8_lossy(&sheet.take()).into_owned()
    }

    #[test]
    fn texts_that_begin_like_a_formula_are_texts_and_numbers_stay_numbers() {
        for text in ["=1+1", "+1", "-1", "@SUM(A1)", "\tx", "\rx"] {
            let line = csv(&[Cell::Text(text)]);
            assert!(line.trim_start_matches('"').starts_with(&format!("'{text}")), "{line:?}");
        }
        assert_eq!(csv(&[Cell::Share(-0.12345), Cell::Number(7), Cell::Text("/a-b")]), "-0.1235,7,/a-b\r\n");
        assert_eq!(csv(&[Cell::Share(-0.000_01), Cell::Nothing]), "0,\r\n");
    }

    #[test]
    fn what_would_break_a_row_is_quoted() {
        assert_eq!(
            csv(&[Cell::Text("/a,b"), Cell::Text("/\"x\""), Cell::Text("/a\r\nb"), Cell::Text("/é")]),
            "\"/a,b\",\"/\"\"x\"\"\",\"/a\r\nb\",/é\r\n"
        );
    }

    #[test]
    fn json_without_rows_is_an_empty_array() {
        let mut sheet = Sheet::new(Format::Json, &["path"]);
        let mut text = sheet.head().to_vec();
        sheet.end();
        text.extend_from_slice(&sheet.take());
        assert_eq!(serde_json::from_slice::<Value>(&text).ok(), Some(Value::Array(Vec::new())));
    }
}
