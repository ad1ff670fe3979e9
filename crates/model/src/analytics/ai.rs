//! What the platform counts as views by AI, and the days on which that changed.

use time::Month;

use crate::day::Day;

/// A change of what the platform counts as views by AI.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AiChange {
    /// The first day that is counted in the new way.
    pub day: Day,
    pub what: &'static str,
}

/// All changes, the first one first.
pub const AI_CHANGES: [AiChange; 2] = [
    AiChange {
        day: Day::known(2026, Month::June, 8),
        what: "The platform counts pages that agents fetch as HTML as views by AI",
    },
    AiChange {
        day: Day::known(2026, Month::July, 31),
        what: "The platform never counts Markdown pages as views by people",
    },
];

/// The changes between two days: the second day is counted in another way than the first.
pub fn ai_changes(first: Day, last: Day) -> impl Iterator<Item = AiChange> {
    AI_CHANGES.into_iter().filter(move |change| first < change.day && change.day <= last)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn days_on_both_sides_of_a_change_are_counted_differently() {
        let day = |text: &str| text.parse::<Day>().unwrap_or_else(|error| panic!("{error}"));
        let count = |first, last| ai_changes(day(first), day(last)).count();
        assert_eq!(count("2026-06-07", "2026-06-08"), 1);
        assert_eq!(count("2026-06-08", "2026-07-30"), 0, "the first day is counted in the new way already");
        assert_eq!(count("2026-06-01", "2026-07-31"), 2);
        assert_eq!(count("2026-07-31", "2026-11-28"), 0);
        assert_eq!(count("2026-01-01", "2026-06-07"), 0);
    }
}
