//! The cost of starting a job, out of the hourly budget.

use crate::ui::charts::number::grouped;
use crate::ui::clock;
use crate::ui::components::time::until;
use model::budget::Meter;

/// `starts`: the calls used this hour.
pub fn sentence(starts: Meter) -> String {
    with_wait(starts, starts.next_fits_at.map(|at| until(at, clock::now())))
}

/// The cost of starting `jobs` jobs.
pub fn of_batch(starts: Meter, jobs: u32) -> String {
    let left = starts.left();
    match (jobs, left) {
        (1, 1..) => sentence(starts),
        (_, 0) => format!(
            "Needs {jobs} calls. All {} of this hour are used, so they wait in the queue.",
            starts.limit
        ),
        _ if jobs > left => {
            format!("Needs {jobs} calls: the {left} left this hour, and {} later.", jobs - left)
        }
        _ => format!("Uses {jobs} of the {left} calls left this hour."),
    }
}

fn with_wait(starts: Meter, wait: Option<String>) -> String {
    match (starts.left(), wait) {
        (0, Some(wait)) => {
            format!(
                "All {} calls of this hour are used; the next one fits in {wait}.",
                grouped(starts.limit.into())
            )
        }
        (0, None) => format!("All {} calls of this hour are used.", grouped(starts.limit.into())),
        (1, _) => "Uses the last call left this hour.".to_owned(),
        (left, _) => format!("Uses 1 of the {} calls left this hour.", grouped(left.into())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_shows_the_calls_left() {
        let starts = |used| Meter { used, limit: 100, next_fits_at: None };
        assert_eq!(with_wait(starts(37), None), "Uses 1 of the 63 calls left this hour.");
        assert_eq!(with_wait(starts(99), None), "Uses the last call left this hour.");
        assert_eq!(of_batch(starts(6), 5), "Uses 5 of the 94 calls left this hour.");
        assert_eq!(of_batch(starts(97), 5), "Needs 5 calls: the 3 left this hour, and 2 later.");
        assert!(of_batch(starts(100), 5).contains("wait in the queue"));
        assert!(with_wait(starts(120), Some("4 min".to_owned())).contains("fits in 4 min"));
    }
}
