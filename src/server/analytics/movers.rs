//! The largest changes between two periods. Pure.

use std::cmp::Ordering;

use super::table::{Figures, Fraction, Row};
use crate::model::history::{Movers, Tab, VIEWS_MIN};
use crate::server::store::history_queries::Paths;

/// Rows per list.
const ROWS: usize = 10;

/// The movers among all pages, each list as long as [`ROWS`].
pub(super) fn of(paths: &Paths, figures: &Figures) -> Movers {
    let rows: Vec<Row> = (0..paths.len()).map(|at| figures.row(paths, at)).collect();
    let first = |tab| {
        let mut rows: Vec<&Row> = rows.iter().filter(|row| belongs(tab, row)).collect();
        rows.sort_unstable_by(|a, b| largest_first(tab, a, b));
        rows.iter().take(ROWS).map(|row| row.written()).collect()
    };
    Movers {
        risen: first(Tab::Rising),
        fallen: first(Tab::Falling),
        shifted: first(Tab::Share),
        new: first(Tab::New),
        quiet: first(Tab::Gone),
    }
}

/// Whether a row is on a tab. Pages with few views in both periods are on none; the AI share needs enough views in both.
pub(super) fn belongs(tab: Tab, row: &Row) -> bool {
    let is_known = before(row) > 0 && now(row) > 0;
    before(row).max(now(row)) >= VIEWS_MIN
        && match tab {
            Tab::All => true,
            Tab::Rising => is_known && now(row) > before(row),
            Tab::Falling => is_known && now(row) < before(row),
            Tab::Share => before(row).min(now(row)) >= VIEWS_MIN && shift(row) > 0,
            Tab::New => before(row) == 0,
            Tab::Gone => row.counts().total == 0,
        }
}

/// The order of a tab: the largest change first, then by path.
pub(super) fn largest_first(tab: Tab, a: &Row, b: &Row) -> Ordering {
    let size = |row: &Row| match tab {
        Tab::Share => shift(row),
        Tab::All | Tab::Rising | Tab::Falling | Tab::New | Tab::Gone => now(row).abs_diff(before(row)),
    };
    size(b).cmp(&size(a)).then_with(|| a.path().cmp(b.path()))
}

fn before(row: &Row) -> u64 {
    row.previous().total
}

fn now(row: &Row) -> u64 {
    row.compared().total
}

/// The change of the AI share, in millionths.
fn shift(row: &Row) -> u64 {
    let share = |ai, total| Fraction::of(ai, total).map_or(0.0, Fraction::value);
    let [now, before] = [row.compared(), row.previous()].map(|counts| share(counts.ai, counts.total));
    ((now - before).abs() * 1e6).round() as u64
}
