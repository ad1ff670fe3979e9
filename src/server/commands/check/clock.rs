//! Checks of the clock against others. Must not set it.

use super::report::Finding;

/// Seconds that nobody notices.
const NEAR: i64 = 5;
/// Seconds after which codes of a second factor and tokens of a provider are refused.
const FAR: i64 = 60;

/// `ahead`: how many seconds this machine's clock is ahead of `other`.
pub(super) fn compared(ahead: i64, other: &str) -> Finding {
    let direction = if ahead > 0 { "ahead of" } else { "behind" };
    let apart = format!("this machine's clock is {} s {direction} {other}", ahead.unsigned_abs());
    match ahead.saturating_abs() {
        off if off <= NEAR => Finding::Good(format!("this machine's clock agrees with {other}")),
        off if off < FAR => Finding::Doubtful(format!(
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
    fn a_clock_may_be_off_by_some_seconds() {
        assert_eq!(compared(-5, "theirs"), Finding::Good("this machine's clock agrees with theirs".into()));
        assert!(
            matches!(compared(6, "theirs"), Finding::Doubtful(said) if said.contains("6 s ahead of theirs"))
        );
        assert!(matches!(compared(-60, "theirs"), Finding::Bad(said) if said.contains("60 s behind theirs")));
        assert!(matches!(compared(i64::MIN, "theirs"), Finding::Bad(_)));
    }
}
