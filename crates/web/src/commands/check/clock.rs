//! Comparison of the clock with other clocks. It is never set.

use super::report::Finding;

/// Differences up to this many seconds do not matter.
const NEAR: i64 = 5;
/// The difference in seconds after which codes of a second factor and tokens of a provider are refused.
const FAR: i64 = 60;

/// `ahead`: how many seconds this machine's clock is ahead of `other`.
pub(super) fn compared(ahead: i64, other: &str) -> Finding {
    let direction = if ahead > 0 { "ahead of" } else { "behind" };
    let apart = format!("this machine's clock is {} s {direction} {other}", ahead.unsigned_abs());
    match ahead.saturating_abs() {
        off if off <= NEAR => Finding::Good(format!("this machine's clock agrees with {other}")),
        off if off < FAR => Finding::Warning(format!(
            "{apart}. Synchronize it, for example with chrony or systemd-timesyncd."
        )),
        _ => Finding::Bad(format!(
            "{apart}: second factors and single sign-on cannot work. Synchronize it, for example with chrony or systemd-timesyncd."
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn small_clock_difference_is_accepted() {
        assert_eq!(compared(-5, "theirs"), Finding::Good("this machine's clock agrees with theirs".into()));
        assert!(
            matches!(compared(6, "theirs"), Finding::Warning(sentence) if sentence.contains("6 s ahead of theirs"))
        );
        assert!(
            matches!(compared(-60, "theirs"), Finding::Bad(sentence) if sentence.contains("60 s behind theirs"))
        );
        assert!(matches!(compared(i64::MIN, "theirs"), Finding::Bad(_)));
    }
}
