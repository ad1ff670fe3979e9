//! Counts of views: whole numbers up to the largest that JavaScript represents exactly. Other values become the nearest
//! count and are reported as corrected. Decoding never fails.

use serde_json::Value;

use model::page_views::ViewCounts;

/// The largest count: 2^53, up to which JavaScript's numbers are exact.
pub const LARGEST_COUNT: u64 = 1 << 53;

/// Reads counts, and records whether any had to be corrected.
#[derive(Default)]
pub(super) struct Counter {
    corrected: bool,
}

impl Counter {
    pub(super) fn corrected(&self) -> bool {
        self.corrected
    }

    /// The counts of a row or of the totals. A missing number is 0, a missing total the sum.
    pub(super) fn counts(&mut self, row: &Value) -> ViewCounts {
        let human = self.count(&row["human"], 0);
        let ai = self.count(&row["ai"], 0);
        let sum = human.saturating_add(ai).min(LARGEST_COUNT);
        ViewCounts { human, ai, total: self.count(&row["total"], sum) }
    }

    /// An integer, or a float such as `12.0`.
    fn count(&mut self, value: &Value, otherwise: u64) -> u64 {
        let (count, exact) = match (value.as_u64(), value.as_f64()) {
            (Some(count), _) => (count.min(LARGEST_COUNT), count <= LARGEST_COUNT),
            (None, Some(float)) => {
                let count = float.clamp(0.0, LARGEST_COUNT as f64).round() as u64;
                (count, count as f64 == float)
            }
            (None, None) => (otherwise, false),
        };
        self.corrected |= !exact;
        count
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    /// The count, and whether it was corrected.
    fn count(value: &Value) -> (u64, bool) {
        let mut counter = Counter::default();
        let count = counter.count(value, 7);
        (count, counter.corrected())
    }

    #[test]
    fn whole_number_in_range_is_unchanged() {
        for (value, expected) in [
            (json!(0), 0),
            (json!(12), 12),
            (json!(12.0), 12),
            (json!(-0.0), 0),
            (json!(1.2e3), 1200),
            (json!(LARGEST_COUNT), LARGEST_COUNT),
        ] {
            assert_eq!(count(&value), (expected, false), "{value}");
        }
    }

    #[test]
    fn invalid_count_becomes_the_nearest_and_is_flagged() {
        for (value, expected) in [
            (json!(-3), 0),
            (json!(i64::MIN), 0),
            (json!(-1e300), 0),
            (json!(12.4), 12),
            (json!(LARGEST_COUNT + 1), LARGEST_COUNT),
            (json!(u64::MAX), LARGEST_COUNT),
            (json!(1e300), LARGEST_COUNT),
            (json!("12"), 7),
            (json!("NaN"), 7),
            (json!(null), 7),
            (json!(f64::NAN), 7),
            (json!([1]), 7),
            (json!(true), 7),
        ] {
            assert_eq!(count(&value), (expected, true), "{value}");
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(10_000))]

        #[test]
        fn float_becomes_a_safe_count_flagged_if_changed(float in any::<f64>()) {
            let (decoded, corrected) = count(&json!(float));
            prop_assert!(decoded <= LARGEST_COUNT);
            prop_assert_eq!(corrected, decoded as f64 != float);
        }

        #[test]
        fn integer_becomes_a_safe_count_flagged_if_changed(integer in any::<i64>()) {
            let (decoded, corrected) = count(&json!(integer));
            prop_assert!(decoded <= LARGEST_COUNT);
            prop_assert_eq!(corrected, u64::try_from(integer).ok() != Some(decoded));
        }
    }
}
