//! Cursors of a table of pages as text. A cursor names the last page that was read, by a digest of its path, and the figures of that table by a digest of
//! their days. It is bound to one query. It contains no secret: a forged cursor only leads to another part of the same table.

use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use sha2::{Digest, Sha256};

use super::table_query::TableQuery;
use model::ParseError;
use model::error::{AppError, ErrorCode};
use store::page_views::queries::StoredDay;

/// Bytes of the digests in a cursor: of the figures, of the path, and of the query with both.
const FIGURES: usize = 8;
const PATH: usize = 16;
const SEAL: usize = 6;

/// Writes and reads the cursors of one query while its figures are unchanged.
#[derive(Debug, Clone)]
pub struct PageCursors {
    query: Sha256,
    figures: [u8; FIGURES],
}

/// The page that a cursor names.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct LastPage([u8; PATH]);

impl LastPage {
    pub(super) fn of(path: &str) -> Self {
        Self(beginning(&Sha256::new_with_prefix(path)))
    }
}

impl PageCursors {
    /// `days`: all stored days of the query's range.
    pub(super) fn new(query: &TableQuery, days: &[StoredDay]) -> Self {
        // A table with a cursor has no changes, so the readers are the same.
        let TableQuery { project, range, paging: _, search, folder, order, compare, tab, readers: _ } = query;
        let query = format!("{project}?{:?}", (range, search, folder, order, compare, tab));
        let figures = days.iter().fold(Sha256::new(), |sum, StoredDay { day, totals, digest, .. }| {
            sum.chain_update(format!("{day} {totals:?} {digest}\n"))
        });
        Self { query: Sha256::new_with_prefix(query), figures: beginning(&figures) }
    }

    /// The cursor of the rows after the page `path`.
    pub fn after(&self, path: &str) -> String {
        let content = [&self.figures[..], &LastPage::of(path).0].concat();
        URL_SAFE_NO_PAD.encode([&content[..], &self.seal(&content)].concat())
    }

    /// # Errors
    /// `BadInput` if the text is no cursor of this query, `FiguresChanged` if the figures changed since it was written.
    pub(super) fn read(&self, text: &str) -> Result<LastPage, AppError> {
        let (figures, last) =
            self.parse(text).ok_or_else(|| AppError::from(not_of_this_table()).about("cursor"))?;
        if figures == self.figures { Ok(last) } else { Err(changed()) }
    }

    fn parse(&self, text: &str) -> Option<([u8; FIGURES], LastPage)> {
        let bytes = URL_SAFE_NO_PAD.decode(text.trim()).ok()?;
        let (content, seal) = bytes.split_at_checked(FIGURES + PATH)?;
        if seal != self.seal(content) {
            return None;
        }
        let (figures, path) = content.split_at(FIGURES);
        Some((figures.try_into().ok()?, LastPage(path.try_into().ok()?)))
    }

    fn seal(&self, content: &[u8]) -> [u8; SEAL] {
        beginning(&self.query.clone().chain_update([0]).chain_update(content))
    }
}

/// The first bytes of a digest.
fn beginning<const N: usize>(digest: &Sha256) -> [u8; N] {
    let whole = digest.clone().finalize();
    let mut first = [0; N];
    first.iter_mut().zip(whole).for_each(|(byte, of)| *byte = of);
    first
}

fn not_of_this_table() -> ParseError {
    "This cursor does not belong to this table. Send it with the fields of the first request, and with its “from” and “to”, or start again without a cursor.".into()
}

/// The figures are not those of the pages before.
pub(super) fn changed() -> AppError {
    AppError::new(
        ErrorCode::FiguresChanged,
        "The figures changed since the first page of this table. Start again without a cursor.",
    )
}

#[cfg(test)]
mod tests {
    use model::analytics::choice::Order;
    use model::day::{Day, DayRange};
    use model::error::ErrorCode;
    use model::page_views::ViewCounts;
    use model::paging::Paging;
    use proptest::prelude::*;

    use super::*;

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn query(project: &str, days: i64, q: &str, sort: &str) -> TableQuery {
        let project = project.parse().unwrap_or_else(|error| panic!("{error}"));
        let range = DayRange::ending(day("2026-11-20"), days);
        let query = TableQuery::new(project, range, Paging::default());
        let order = Order::parse(Some(sort)).unwrap_or_else(|error| panic!("{error}"));
        query.narrowed(Some(q), None).unwrap_or_else(|error| panic!("{error}")).sorted(order)
    }

    fn stored(views: u64, digest: &str) -> Vec<StoredDay> {
        let of = day("2026-11-20");
        let totals = ViewCounts { human: views, ai: 0, total: views };
        let (fetched_at, digest) = (of.start(), digest.to_owned());
        vec![StoredDay { day: of, totals, fetched_at, mark: None, digest, is_final: false }]
    }

    #[test]
    fn cursor_belongs_to_one_query() {
        let cursors =
            |project, days, q, sort| PageCursors::new(&query(project, days, q, sort), &stored(1, "a"));
        let cursor = cursors("docs", 7, "guides", "path").after("/guides/a");
        let read = |cursors: PageCursors| cursors.read(&cursor).map_err(|error| error.code);
        assert_eq!(read(cursors("docs", 7, "guides", "path")), Ok(LastPage::of("/guides/a")));
        for other in [
            cursors("api", 7, "guides", "path"),
            cursors("docs", 6, "guides", "path"),
            cursors("docs", 7, "guide", "path"),
            cursors("docs", 7, "guides", "-path"),
        ] {
            assert_eq!(read(other), Err(ErrorCode::BadInput));
        }
    }

    #[test]
    fn cursor_of_other_figures_is_refused() {
        let cursors = |days: &[StoredDay]| PageCursors::new(&query("docs", 7, "", "total"), days);
        let cursor = cursors(&stored(1, "a")).after("/a");
        let read = |days: &[StoredDay]| cursors(days).read(&cursor).map_err(|error| error.code);
        // Another fetch with the same figures changes nothing.
        let later = stored(1, "a")
            .into_iter()
            .map(|stored| StoredDay { fetched_at: day("2026-11-22").start(), ..stored });
        assert!(read(&later.collect::<Vec<_>>()).is_ok());
        for days in [stored(2, "a"), stored(1, "b"), Vec::new()] {
            assert_eq!(read(&days), Err(ErrorCode::FiguresChanged));
        }
    }

    proptest! {
        #[test]
        fn cursor_names_its_page_and_alterations_are_refused(path in ".*", at in 0usize..40, letter in "[A-Za-z0-9_-]") {
            let cursors = PageCursors::new(&query("docs", 7, "", "total"), &stored(1, "a"));
            let cursor = cursors.after(&path);
            prop_assert_eq!(cursors.read(&cursor), Ok(LastPage::of(&path)));
            let mut altered = cursor.clone();
            altered.replace_range(at..=at, &letter);
            prop_assert_eq!(cursors.read(&altered).is_ok(), altered == cursor);
        }

        #[test]
        fn any_text_is_refused(text in any::<String>()) {
            let cursors = PageCursors::new(&query("docs", 7, "", "total"), &stored(1, "a"));
            prop_assert_eq!(cursors.read(&text).map_err(|error| error.code), Err(ErrorCode::BadInput));
        }
    }
}
