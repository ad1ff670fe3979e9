//! The cost of starting a job, out of the hourly budget.

use crate::model::budget::Meter;
use crate::ui::charts::number::grouped;
use crate::ui::clock;
use crate::ui::components::time::until;

/// `starts`: the job starts used this hour.
pub fn sentence(starts: Meter) -> String {
    said(starts, starts.next_fits_at.map(|at| until(at, clock::now())))
}

fn said(starts: Meter, wait: Option<String>) -> String {
    match (starts.left(), wait) {
        (0, Some(wait)) => {
            format!(
                "All {} job starts of this hour are used; the next one fits in {wait}.",
                grouped(starts.limit.into())
            )
        }
        (0, None) => format!("All {} job starts of this hour are used.", grouped(starts.limit.into())),
        (1, _) => "Uses the last job start left this hour.".to_owned(),
        (left, _) => format!("Uses 1 of the {} job starts left this hour.", grouped(left.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_cost_says_what_is_left() {
        let starts = |used| Meter { used, limit: 100, next_fits_at: None };
        assert_eq!(said(starts(37), None), "Uses 1 of the 63 job starts left this hour.");
        assert_eq!(said(starts(99), None), "Uses the last job start left this hour.");
        assert!(said(starts(120), Some("4 min".to_owned())).contains("fits in 4 min"));
    }
}
