//! The cost of starting a job, out of the hourly budget, and how long a queued prompt waits.

use crate::ui::charts::number::{counted, grouped};
use crate::ui::clock;
use crate::ui::components::time::until;
use model::budget::Meter;
use model::queue::QueuePlace;
use model::time::Timestamp;

/// `starts`: the calls used this hour.
pub fn sentence(starts: Meter) -> String {
    match starts.left() {
        0 => format!("All {} calls of this hour are used.", grouped(starts.limit.into())),
        1 => "Uses the last call left this hour.".to_owned(),
        left => format!("Uses 1 of the {} calls left this hour.", grouped(left.into())),
    }
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

/// When a prompt at this place of the queue is sent, and after how many others; `None` if that depends on another prompt.
pub fn wait(place: QueuePlace) -> Option<String> {
    Some(wait_at(place.before, place.expected_at?, clock::now()))
}

fn wait_at(before: usize, at: Timestamp, now: Timestamp) -> String {
    let when = match at.seconds_since(now) {
        ..=5 => "any moment now".to_owned(),
        _ => format!("in about {}", until(at, now)),
    };
    match before {
        0 => format!("Sent {when}."),
        others => format!("Sent {when}, after {}.", counted(others as u64, "other", "others")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cost_shows_the_calls_left() {
        let starts = |used| Meter { used, limit: 100, next_fits_at: None };
        assert_eq!(sentence(starts(37)), "Uses 1 of the 63 calls left this hour.");
        assert_eq!(sentence(starts(99)), "Uses the last call left this hour.");
        assert_eq!(sentence(starts(120)), "All 100 calls of this hour are used.");
        assert_eq!(of_batch(starts(6), 5), "Uses 5 of the 94 calls left this hour.");
        assert_eq!(of_batch(starts(97), 5), "Needs 5 calls: the 3 left this hour, and 2 later.");
        assert!(of_batch(starts(100), 5).contains("wait in the queue"));
    }

    #[test]
    fn wait_has_its_length_and_the_prompts_before() {
        let now = Timestamp::from_millis(0);
        let wait = |before, seconds| wait_at(before, now.plus_seconds(seconds), now);
        assert_eq!(wait(98, 6_290), "Sent in about 1 h 45 min, after 98 others.");
        assert_eq!(wait(1, 2_760), "Sent in about 46 min, after 1 other.");
        assert_eq!(wait(0, 60), "Sent in about 1 min.");
        assert_eq!(wait(0, 0), "Sent any moment now.");
    }
}
