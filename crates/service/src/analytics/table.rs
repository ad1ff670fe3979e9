//! Table rows from summed views: search, folders, tabs and order. Pure.

use std::borrow::Cow;
use std::cmp::Ordering;
use std::collections::HashMap;

use crate::analytics::table_query::TableQuery;
use base::blocking;
use model::analytics::choice::{Order, Readers, Sort, Tab};
use model::analytics::pages::{PageRow, SHARE_VIEWS_MIN, VIEWS_MIN};
use model::page_views::ViewCounts;
use model::selection::{Folder, FolderEntry};
use store::page_views::queries::{Paths, Sums};

/// The views of every path.
pub(super) struct Figures {
    /// In the whole range.
    pub(super) counts: Sums,
    /// In the previous period, if there is one.
    pub(super) previous: Option<Sums>,
    /// In the compared part of the range, if that is not the whole range.
    pub(super) compared: Option<Sums>,
}

/// The rows that match a query.
pub(super) struct Table<'a> {
    rows: Vec<Row<'a>>,
    matching: ViewCounts,
}

/// A row before it is converted to [`PageRow`].
#[derive(Debug, Clone)]
struct Row<'a> {
    path: Cow<'a, str>,
    counts: ViewCounts,
    previous: Option<ViewCounts>,
    compared: Option<ViewCounts>,
    pages: Option<u32>,
}

impl Figures {
    /// The row of the path at this index, with or without views.
    fn row<'a>(&self, paths: &'a Paths, at: usize) -> Row<'a> {
        let of = |sums: &Sums| sums[at].unwrap_or_default();
        Row {
            path: Cow::Borrowed(&paths.names()[at]),
            counts: of(&self.counts),
            previous: self.previous.as_ref().map(of),
            compared: self.compared.as_ref().map(of),
            pages: None,
        }
    }

    /// Whether the page has views in the range or in the previous period. Then the sums of all rows are those of all pages.
    fn is_viewed(&self, at: usize) -> bool {
        let previous = self.previous.as_ref().and_then(|previous| previous[at]);
        self.counts[at].is_some() || previous.is_some_and(|counts| counts != ViewCounts::default())
    }

    /// The views of the pages that match the query, in the compared part of the range and in the previous period.
    pub(super) fn comparison(&self, paths: &Paths, query: &TableQuery) -> Option<(ViewCounts, ViewCounts)> {
        let previous = self.previous.as_ref()?;
        let compared = self.compared.as_ref().unwrap_or(&self.counts);
        Some((matching(compared, paths, query), matching(previous, paths, query)))
    }
}

/// The views of the pages that match the query.
pub(super) fn matching(sums: &[Option<ViewCounts>], paths: &Paths, query: &TableQuery) -> ViewCounts {
    let matched = (0..paths.len()).filter(|at| query.contains(&paths.names()[*at]));
    matched.filter_map(|at| sums[at]).sum()
}

impl<'a> Table<'a> {
    /// The rows of a query, unsorted.
    pub(super) fn of(paths: &'a Paths, figures: &Figures, query: &TableQuery) -> Self {
        blocking::must_be_apart(paths.len());
        let found =
            (0..paths.len()).filter(|at| figures.is_viewed(*at) && query.search.finds(&paths.names()[*at]));
        let mut rows = match &query.folder {
            None => found.map(|at| figures.row(paths, at)).collect(),
            Some(folder) => content(folder, paths, figures, found),
        };
        if query.tab != Tab::All {
            let is_compared = figures.previous.is_some();
            rows.retain(|row: &Row| is_compared && belongs(query.tab, query.readers, row));
        }
        let matching = rows.iter().map(|row: &Row| row.counts).sum();
        Self { rows, matching }
    }

    pub(super) fn sort(&mut self, query: &TableQuery) {
        let order = query.order.or(query.tab.order());
        self.rows.sort_unstable_by(|a, b| compare(order, query.readers, a, b));
    }

    pub(super) fn len(&self) -> usize {
        self.rows.len()
    }

    pub(super) fn matching(&self) -> ViewCounts {
        self.matching
    }

    /// The number of rows up to the page that `is_last` finds.
    pub(super) fn up_to(&self, is_last: impl Fn(&str) -> bool) -> Option<usize> {
        self.rows.iter().position(|row| is_last(&row.path)).map(|at| at + 1)
    }

    /// The pages among the rows, without the folders.
    pub(super) fn pages(&self) -> impl Iterator<Item = &str> {
        self.rows.iter().filter(|row| row.pages.is_none()).map(|row| row.path.as_ref())
    }

    pub(super) fn rows(&self, offset: usize) -> impl Iterator<Item = PageRow> {
        self.rows.iter().skip(offset).map(Row::written)
    }
}

impl Row<'_> {
    fn written(&self) -> PageRow {
        PageRow {
            path: self.path.clone().into_owned(),
            counts: self.counts,
            previous: self.previous,
            compared: self.compared,
            pages: self.pages,
        }
    }

    fn previous(&self) -> ViewCounts {
        self.previous.unwrap_or_default()
    }

    fn compared(&self) -> ViewCounts {
        self.compared.unwrap_or(self.counts)
    }

    fn add(&mut self, other: &Row) {
        self.counts += other.counts;
        for (sum, more) in [(&mut self.previous, other.previous), (&mut self.compared, other.compared)] {
            if let (Some(sum), Some(more)) = (sum.as_mut(), more) {
                *sum += more;
            }
        }
    }
}

/// The direct entries of a folder: its pages, and each subfolder as one row.
fn content<'a>(
    folder: &Folder,
    paths: &'a Paths,
    figures: &Figures,
    found: impl Iterator<Item = usize>,
) -> Vec<Row<'a>> {
    let (mut rows, mut folders) = (Vec::new(), HashMap::<&str, Row>::new());
    for at in found {
        let row = figures.row(paths, at);
        match folder.entry_of(&paths.names()[at]) {
            None => {}
            Some(FolderEntry::Page) => rows.push(row),
            Some(FolderEntry::Folder(name)) => {
                let sum = folders.entry(name).and_modify(|sum| sum.add(&row)).or_insert(row);
                *sum.pages.get_or_insert(0) += 1;
            }
        }
    }
    rows.extend(folders.into_iter().map(|(name, row)| Row { path: Cow::Owned(format!("{name}/*")), ..row }));
    rows
}

/// The `most` pages that lost the most views by these readers, and how many lost some.
pub(super) fn falling(
    paths: &Paths,
    figures: &Figures,
    readers: Readers,
    most: usize,
) -> (Vec<PageRow>, u64) {
    blocking::must_be_apart(paths.len());
    let rows = (0..paths.len()).map(|at| figures.row(paths, at));
    let mut rows: Vec<Row> = rows.filter(|row| belongs(Tab::Falling, readers, row)).collect();
    rows.sort_unstable_by(|a, b| compare(Tab::Falling.order(), readers, a, b));
    (rows.iter().take(most).map(Row::written).collect(), rows.len() as u64)
}

/// Whether a row is on a tab. Pages with few views in both periods are on none; the AI share needs enough views in both.
/// Pages that lost all views are falling, too. A page is new or gone for all readers together.
fn belongs(tab: Tab, readers: Readers, row: &Row) -> bool {
    let (all_before, all_now) = (row.previous().total, row.compared().total);
    let (before, now) = (readers.of(row.previous()), readers.of(row.compared()));
    let has_share = all_before.min(all_now) >= SHARE_VIEWS_MIN;
    match tab {
        Tab::All => true,
        Tab::New => all_before == 0 && all_now >= VIEWS_MIN,
        Tab::Gone => all_now == 0 && all_before >= VIEWS_MIN,
        Tab::Rising => all_before > 0 && now > before && now >= VIEWS_MIN,
        Tab::Falling => now < before && before >= VIEWS_MIN,
        Tab::Share => has_share && shift(row) != 0,
        Tab::ShareRising => has_share && shift(row) > 0,
        Tab::ShareFalling => has_share && shift(row) < 0,
    }
}

/// How many more views by these readers a row has than before. `None` is the same for all rows: there is no previous period.
fn difference(row: &Row, readers: Readers) -> Option<i128> {
    Some(i128::from(readers.of(row.compared())) - i128::from(readers.of(row.previous?)))
}

/// The change of the AI share, in millionths; 0 if one of the periods has no share.
fn shift(row: &Row) -> i64 {
    let share = |counts| Fraction::ai_share(counts).map(Fraction::value);
    let apart = share(row.compared()).zip(share(row.previous())).map_or(0.0, |(now, before)| now - before);
    (apart * 1e6).round() as i64
}

/// Compares by the column of `order`, or without one by the change of the AI share, largest first. Rows without a sort
/// key come last in both directions. The AI share has no sort key if there are too few views. Equal rows are sorted by
/// path.
fn compare(order: Option<Order>, readers: Readers, a: &Row, b: &Row) -> Ordering {
    let by_path = a.path.cmp(&b.path);
    let size = |row| shift(row).unsigned_abs();
    let Some(order) = order else { return size(b).cmp(&size(a)).then(by_path) };
    let turned = |ordering: Ordering| if order.reversed { ordering.reverse() } else { ordering };
    let by = |key: &dyn Fn(&Row) -> Option<Fraction>| match (key(a), key(b)) {
        (Some(a), Some(b)) => turned(b.cmp(&a)),
        (a, b) => b.is_some().cmp(&a.is_some()),
    };
    let ordering = match order.by {
        Sort::Path => return turned(by_path),
        Sort::Total => turned(b.counts.total.cmp(&a.counts.total)),
        Sort::Human => turned(b.counts.human.cmp(&a.counts.human)),
        Sort::Ai => turned(b.counts.ai.cmp(&a.counts.ai)),
        Sort::Share => by(&|row| Fraction::ai_share(row.counts).filter(|_| row.counts.total >= VIEWS_MIN)),
        Sort::Difference => turned(difference(b, readers).cmp(&difference(a, readers))),
        Sort::Change => by(&|row| Fraction::of(readers.of(row.compared()), readers.of(row.previous?))),
    };
    ordering.then(by_path)
}

/// A fraction, compared without rounding.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fraction {
    part: u64,
    whole: u64,
}

impl Fraction {
    /// `None` if `whole` is 0.
    pub(super) fn of(part: u64, whole: u64) -> Option<Self> {
        (whole > 0).then_some(Self { part, whole })
    }

    /// The share of AI in the views by people and AI.
    pub(super) fn ai_share(counts: ViewCounts) -> Option<Self> {
        Self::of(counts.ai, counts.readers())
    }

    pub(super) fn value(self) -> f64 {
        self.part as f64 / self.whole as f64
    }
}

impl Ord for Fraction {
    fn cmp(&self, other: &Self) -> Ordering {
        let product = |part: u64, whole: u64| u128::from(part) * u128::from(whole);
        product(self.part, other.whole).cmp(&product(other.part, self.whole))
    }
}

impl PartialOrd for Fraction {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl PartialEq for Fraction {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other).is_eq()
    }
}

impl Eq for Fraction {}

#[cfg(test)]
mod tests;
