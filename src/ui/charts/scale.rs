//! Converts counts to lengths, in thousandths. Pure, and in integers: equal on the server and in the browser.

use model::page_views::ViewCounts;

/// The minimum visible length, in thousandths.
const VISIBLE: u64 = 4;

/// The lengths of the two parts of a stacked bar, in thousandths of the longest bar.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stack {
    pub human: u64,
    pub ai: u64,
}

impl Stack {
    /// `longest` is the value of the full width. A nonzero part stays visible.
    pub fn of(counts: ViewCounts, longest: u64) -> Self {
        let human = visible(counts.human, longest);
        let ai = visible(counts.ai, longest).min(1000_u64.saturating_sub(human));
        Self { human, ai }
    }
}

/// The largest value among `rows`, for the longest bar.
pub fn longest(rows: impl IntoIterator<Item = ViewCounts>) -> u64 {
    rows.into_iter().map(ViewCounts::readers).max().unwrap_or(0)
}

/// `part` of `whole` in thousandths, rounded, at most 1000; 0 if `whole` is 0.
pub fn per_mille(part: u64, whole: u64) -> u64 {
    if whole == 0 {
        return 0;
    }
    // Smaller numbers in the same ratio, so that the product does not overflow.
    let divisor = whole / (u64::MAX / 4000) + 1;
    let (part, whole) = (part.min(whole) / divisor, whole / divisor);
    (part * 2000 + whole) / (whole * 2)
}

/// Thousandths as an SVG length: `375` is `37.5%`.
pub fn length(per_mille: u64) -> String {
    format!("{}.{}%", per_mille / 10, per_mille % 10)
}

/// The end of step `part` of `whole` equal steps, as an SVG length to a thousandth of a percent.
pub fn position(part: usize, whole: usize) -> String {
    let thousandths = part * 100_000 / whole.max(1);
    format!("{}.{:03}%", thousandths / 1000, thousandths % 1000)
}

/// `part` of `whole` in thousandths, but at least 1 if `part` is not 0.
pub fn visible(part: u64, whole: u64) -> u64 {
    let share = per_mille(part, whole);
    if part > 0 { share.max(VISIBLE) } else { share }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(human: u64, ai: u64) -> ViewCounts {
        ViewCounts { human, ai, total: human.saturating_add(ai) }
    }

    #[test]
    fn bar_is_never_longer_than_its_track() {
        for (human, ai) in [(0, 0), (1, 0), (0, 1), (1, 10_000), (10_000, 1), (u64::MAX, u64::MAX), (5, 5)] {
            let stack = Stack::of(counts(human, ai), human.saturating_add(ai));
            assert!(stack.human + stack.ai <= 1000, "{human} {ai} {stack:?}");
            assert_eq!(stack.human > 0, human > 0);
            assert_eq!(stack.ai > 0, ai > 0 && stack.human < 1000);
        }
    }

    #[test]
    fn share_of_zero_is_zero() {
        assert_eq!(per_mille(0, 0), 0);
        assert_eq!(Stack::of(counts(0, 0), 0), Stack { human: 0, ai: 0 });
    }

    #[test]
    fn shares_are_rounded_to_the_nearest_thousandth() {
        assert_eq!(per_mille(1, 3), 333);
        assert_eq!(per_mille(2, 3), 667);
        assert_eq!(per_mille(3, 3), 1000);
        assert_eq!(per_mille(u64::MAX / 4, u64::MAX), 250);
        assert_eq!(per_mille(u64::MAX, u64::MAX), 1000);
        assert_eq!(length(375), "37.5%");
    }

    #[test]
    fn positions_divide_the_width_evenly() {
        assert_eq!([0, 1, 2, 3].map(|part| position(part, 3)), ["0.000%", "33.333%", "66.666%", "100.000%"]);
        assert_eq!(position(0, 0), "0.000%");
    }
}
