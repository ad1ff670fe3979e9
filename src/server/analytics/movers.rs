//! The largest changes between two periods. Pure.

use std::cmp::Reverse;

use super::table::{Figures, Fraction, Row};
use crate::model::history::{Movers, PageRow};
use crate::server::store::history_queries::Paths;

/// Pages with fewer views than this in both periods are ignored.
const NOISE: u64 = 20;

/// Rows per list.
const ROWS: usize = 10;

/// The movers among all pages. `risen` and `fallen` are sorted by the difference of views, `shifted` by the difference
/// of the AI share in points, among pages with enough views in both periods for a meaningful share.
pub(super) fn of(paths: &Paths, figures: &Figures) -> Movers {
    let rows: Vec<Row> = (0..paths.len()).map(|at| figures.row(paths, at)).collect();
    let loud = |row: &&Row| before(row).max(now(row)) >= NOISE;
    let rows: Vec<&Row> = rows.iter().filter(loud).collect();
    let known = |row: &&Row| before(row) > 0 && now(row) > 0;
    Movers {
        risen: first(&rows, |row| known(row) && now(row) > before(row), |row| now(row) - before(row)),
        fallen: first(&rows, |row| known(row) && now(row) < before(row), |row| before(row) - now(row)),
        shifted: first(&rows, |row| before(row).min(now(row)) >= NOISE && shift(row) > 0, shift),
        new: first(&rows, |row| before(row) == 0, now),
        quiet: first(&rows, |row| row.counts().total == 0, before),
    }
}

/// The rows for which `belongs` is true, largest `size` first, then by path.
fn first(rows: &[&Row], belongs: impl Fn(&&Row) -> bool, size: impl Fn(&Row) -> u64) -> Vec<PageRow> {
    let mut rows: Vec<&Row> = rows.iter().copied().filter(belongs).collect();
    rows.sort_unstable_by_key(|row| (Reverse(size(row)), row.path()));
    rows.iter().take(ROWS).map(|row| row.written()).collect()
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
