//! The largest changes between two periods. Pure.

use super::table::{self, Figures, Row};
use crate::server::process::blocking;
use crate::server::store::page_views::queries::Paths;
use model::history::{Movers, Tab};

/// Rows per list.
const ROWS: usize = 10;

/// The movers among all pages, each list as long as [`ROWS`].
pub(super) fn of(paths: &Paths, figures: &Figures) -> Movers {
    blocking::must_be_apart(paths.len());
    let rows: Vec<Row> = (0..paths.len()).map(|at| figures.row(paths, at)).collect();
    let first = |tab| {
        let mut rows: Vec<&Row> = rows.iter().filter(|row| table::belongs(tab, row)).collect();
        rows.sort_unstable_by(|a, b| table::compare(tab.order(), a, b));
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
