//! Which follow-ups of a job its page shows: the last ones, or those before another one.

use std::ops::Range;

/// The most follow-ups on a page.
pub const FOLLOW_UPS_SHOWN: u32 = 50;

/// A part of the follow-ups of a job, by their numbers.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct ShownFollowUps {
    /// Only those before this one; `None` for the last ones.
    before: Option<u32>,
    /// A further one whose text is needed.
    pub again: Option<u32>,
}

impl ShownFollowUps {
    /// From the URL. A number that is none, or has no follow-up before it, means the last ones.
    pub fn of(before: Option<&str>, again: Option<&str>) -> Self {
        let number = |text: Option<&str>, least| {
            text.and_then(|text| text.parse::<u32>().ok()).filter(|number| *number >= least)
        };
        Self { before: number(before, 2), again: number(again, 1) }
    }

    /// The number after the last shown one, if it is limited.
    pub const fn before(self) -> Option<u32> {
        self.before
    }

    /// The positions in a list of `count` follow-ups.
    pub fn range(self, count: usize) -> Range<usize> {
        let end = self.before.map_or(count, |before| count.min(before as usize - 1));
        end.saturating_sub(FOLLOW_UPS_SHOWN as usize)..end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn range_has_the_last_follow_ups_before_a_number() {
        let range = |before: &str, count| ShownFollowUps::of(Some(before), None).range(count);
        assert_eq!(ShownFollowUps::default().range(3), 0..3);
        assert_eq!(ShownFollowUps::default().range(120), 70..120);
        assert_eq!(range("71", 120), 20..70);
        assert_eq!(range("21", 120), 0..20);
        assert_eq!(range("2", 120), 0..1);
        for all in ["0", "1", "-3", "x", "", "121", "4294967296"] {
            assert_eq!(range(all, 120), 70..120, "{all}");
        }
    }
}
