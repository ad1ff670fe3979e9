//! Writes rows as CSV (RFC 4180, every cell quoted) or as one JSON array, chunk by chunk. Text that a spreadsheet would interpret as a
//! formula is escaped in CSV.

use std::borrow::Cow;

use bytes::Bytes;
use csv::{QuoteStyle, Terminator, Writer, WriterBuilder};
use futures::Stream;
use futures::stream::{self, StreamExt, TryStreamExt};
use serde_json::Value;

use model::day::Day;
use model::formula;
use store::StoreError;

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
    /// The first number less the second.
    Difference(u64, u64),
    Flag(bool),
    /// Rounded to four decimal places; to 0, 1 or −1 only if it is that number.
    Share(f64),
    Nothing,
}

/// The beginning of a CSV file. Without it, Excel does not read the file as UTF-8.
const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The minimum size of a chunk in bytes. Little is written ahead of a slow reader.
const CHUNK_BYTES: usize = 64 * 1024;

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
            Kind::Csv(writer) => {
                write(writer, self.columns.iter().map(|column| Cow::Borrowed(*column)));
                [BYTE_ORDER_MARK.as_bytes(), &self.take()].concat().into()
            }
            Kind::Json { piece, .. } => {
                piece.push(b'[');
                self.take()
            }
        }
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

    /// Whether enough was written for a chunk.
    fn is_full(&self) -> bool {
        let written = match &self.writer {
            Kind::Csv(writer) => writer.get_ref().len(),
            Kind::Json { piece, .. } => piece.len(),
        };
        written >= CHUNK_BYTES
    }

    /// The bytes written since the last call.
    pub fn take(&mut self) -> Bytes {
        match &mut self.writer {
            Kind::Csv(writer) => std::mem::replace(writer, piece()).into_inner().unwrap_or_default().into(),
            Kind::Json { piece, .. } => std::mem::take(piece).into(),
        }
    }
}

/// The content of a file.
pub type Chunks = stream::BoxStream<'static, Result<Bytes, StoreError>>;

/// A file with these columns. Its beginning is sent before the first rows are loaded, and rows are written only when
/// their chunk is requested.
pub fn file<R: Send + 'static>(
    format: Format,
    columns: &'static [&'static str],
    rows: impl Stream<Item = Result<Vec<R>, StoreError>> + Send + 'static,
    write: impl Fn(&mut Sheet, R) + Send + 'static,
) -> Chunks {
    let mut sheet = Sheet::new(format, columns);
    let head = sheet.head();
    let rows = rows.map_ok(|rows| stream::iter(rows.into_iter().map(Ok::<R, StoreError>))).try_flatten();
    let rest = stream::try_unfold(Some((sheet, rows.boxed(), write)), async |unwritten| {
        let Some((mut sheet, mut rows, write)) = unwritten else { return Ok(None) };
        while !sheet.is_full() {
            match rows.try_next().await? {
                Some(row) => write(&mut sheet, row),
                None => {
                    sheet.end();
                    return Ok(Some((sheet.take(), None)));
                }
            }
        }
        Ok(Some((sheet.take(), Some((sheet, rows, write)))))
    });
    stream::iter([Ok(head)]).chain(rest).boxed()
}

fn piece() -> Box<Writer<Vec<u8>>> {
    Box::new(
        WriterBuilder::new()
            .quote_style(QuoteStyle::Always)
            .terminator(Terminator::CRLF)
            .from_writer(Vec::new()),
    )
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
            Self::Text(text) => formula::escaped(text),
            Self::Day(day) => Cow::Owned(day.to_string()),
            Self::Number(number) => Cow::Owned(number.to_string()),
            Self::Flag(flag) => Cow::Borrowed(if flag { "true" } else { "false" }),
            Self::Difference(now, before) => Cow::Owned(difference(now, before).to_string()),
            Self::Share(share) => Cow::Owned(rounded(share).to_string()),
            Self::Nothing => Cow::Borrowed(""),
        }
    }

    fn value(self) -> Value {
        match self {
            Self::Text(text) => text.into(),
            Self::Day(day) => day.to_string().into(),
            Self::Number(number) => number.into(),
            Self::Flag(flag) => flag.into(),
            Self::Difference(now, before) => difference(now, before).into(),
            Self::Share(share) => rounded(share).into(),
            Self::Nothing => Value::Null,
        }
    }
}

fn difference(now: u64, before: u64) -> i64 {
    let size = i64::try_from(now.abs_diff(before)).unwrap_or(i64::MAX);
    if now < before { -size } else { size }
}

fn rounded(share: f64) -> f64 {
    let size = match share.abs() {
        size if 0.0 < size && size < 1.0 => ((size * 1e4).round() / 1e4).clamp(0.000_1, 0.999_9),
        size => (size * 1e4).round() / 1e4,
    };
    // Adding 0.0 turns -0.0 into 0.0.
    size.copysign(share) + 0.0
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
    fn cells_are_quoted_and_numbers_remain_numbers() {
        let line = csv(&[Cell::Share(-0.12345), Cell::Number(7), Cell::Text("/a-b")]);
        assert_eq!(line, "\"-0.1235\",\"7\",\"/a-b\"\r\n");
        assert_eq!(
            csv(&[Cell::Difference(3, 10), Cell::Difference(u64::MAX, 0)]),
            "\"-7\",\"9223372036854775807\"\r\n"
        );
        assert_eq!(csv(&[Cell::Share(-0.0), Cell::Nothing]), "\"0\",\"\"\r\n");
        assert_eq!(
            csv(&[Cell::Text("/a,b"), Cell::Text("/\"x\""), Cell::Text("/a\r\nb"), Cell::Text("=1")]),
            "\"/a,b\",\"/\"\"x\"\"\",\"/a\r\nb\",\"'=1\"\r\n"
        );
    }

    #[test]
    fn share_is_none_or_all_only_if_it_is() {
        let written = |share| csv(&[Cell::Share(share)]).trim().trim_matches('"').to_owned();
        assert_eq!([0.0, 1.0, -1.0, 1.5].map(written), ["0", "1", "-1", "1.5"]);
        // One view is left of 100,000, and one is new.
        assert_eq!(
            [-0.999_99, 0.999_99, 0.000_01, -0.000_01].map(written),
            ["-0.9999", "0.9999", "0.0001", "-0.0001"]
        );
    }

    #[tokio::test]
    async fn large_file_is_written_in_small_chunks() {
        for format in [Format::Csv, Format::Json] {
            let rows = stream::iter([Ok(vec!["x".repeat(1_000); 2_000])]);
            let chunks: Vec<Bytes> =
                file(format, &["path"], rows, |sheet, row: String| sheet.row(&[Cell::Text(&row)]))
                    .map(|chunk| chunk.expect("a chunk"))
                    .collect()
                    .await;
            assert!(chunks.iter().all(|chunk| chunk.len() <= CHUNK_BYTES + 10_000));
            let whole = chunks.concat();
            assert_eq!(whole.windows(1_000).filter(|text| *text == [b'x'; 1_000]).count(), 2_000);
        }
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
