//! The ticks of an axis: round numbers, and a limited number of days. Pure, in integers.

/// The maximum number of steps between 0 and the top.
const STEPS: u64 = 4;
/// The maximum number of day labels.
const LABELS: usize = 8;

/// Round numbers from 0 to `top`, which is at least the largest value.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ticks {
    pub step: u64,
    pub top: u64,
}

impl Ticks {
    /// For values up to `largest`. The step is 1, 2 or 5 times a power of 10.
    pub fn up_to(largest: u64) -> Self {
        let mut power: u64 = 1;
        loop {
            for round in [1, 2, 5] {
                let step = power.saturating_mul(round);
                let steps = largest.div_ceil(step).max(1);
                if steps <= STEPS || step == u64::MAX {
                    return Self { step, top: step.saturating_mul(steps) };
                }
            }
            power = power.saturating_mul(10);
        }
    }

    pub fn values(self) -> impl Iterator<Item = u64> {
        (0..=self.top / self.step).map(move |at| at * self.step)
    }
}

/// The interval of labeled days among `count` days, in steps that fit weeks.
pub fn every(count: usize) -> usize {
    let fits = |step: &usize| count.div_ceil(*step) <= LABELS;
    [1, 2, 4, 7, 14, 28].into_iter().find(fits).unwrap_or(count.div_ceil(LABELS))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ticks_are_round_few_and_fit_all_values() {
        for largest in [0, 1, 3, 4, 5, 9, 10, 11, 99, 100, 101, 812, 1_999, 2_001, 123_456_789, u64::MAX] {
            let ticks = Ticks::up_to(largest);
            assert!(ticks.top >= largest && ticks.top > 0, "{largest} {ticks:?}");
            let values: Vec<_> = ticks.values().collect();
            assert!((2..=5).contains(&values.len()), "{largest} {values:?}");
            let mut digit = ticks.step;
            while digit.is_multiple_of(10) {
                digit /= 10;
            }
            assert!([1, 2, 5].contains(&digit) || ticks.step > 1 << 62, "{largest} {ticks:?}");
        }
    }

    #[test]
    fn ticks_use_the_smallest_step_that_fits() {
        assert_eq!(Ticks::up_to(812), Ticks { step: 500, top: 1000 });
        assert_eq!(Ticks::up_to(812).values().collect::<Vec<_>>(), [0, 500, 1000]);
        assert_eq!(Ticks::up_to(4), Ticks { step: 1, top: 4 });
        assert_eq!(Ticks::up_to(0), Ticks { step: 1, top: 1 });
    }

    #[test]
    fn days_are_labeled_up_to_the_maximum() {
        assert_eq!([1, 7, 8, 9, 28, 90, 120].map(every), [1, 1, 1, 2, 4, 14, 28]);
        for count in 1..2000_usize {
            assert!(count.div_ceil(every(count)) <= LABELS, "{count}");
        }
    }
}
