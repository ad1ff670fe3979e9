//! How a page's popularity changes over time: most are constant, some appear later, some fade.

use super::super::noise::Seed;
use super::day::Day;
use super::season::{DAYS, FIRST_DAY};
use super::site::{Page, Section};

#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) enum Lifecycle {
    Steady,
    /// Does not exist before its first day; new pages get more views for a while.
    New {
        since: Day,
    },
    /// Replaced by another page, and fading over months.
    Fading {
        since: Day,
    },
    /// News: does not exist before its day, and fades within weeks.
    Release {
        since: Day,
    },
}

impl Lifecycle {
    /// `seed` is the seed of the page in its project.
    pub(super) fn of(page: &Page, seed: Seed) -> Self {
        let chance = seed.named("life");
        let someday = |years: f64| Day(FIRST_DAY.0 + (chance.nth(1).unit() * years * DAYS) as i64);
        match (page.section, chance.unit()) {
            (Section::Start, _) => Self::Steady,
            (Section::Changelog, _) => Self::Release { since: release_day(page.nth) },
            (_, chance) if chance < 0.15 => Self::New { since: someday(3.0) },
            (_, chance) if chance < 0.25 => Self::Fading { since: someday(2.0) },
            _ => Self::Steady,
        }
    }

    /// The page's popularity on a day; 1 is normal.
    pub(super) fn on(self, day: Day) -> f64 {
        match self {
            Self::New { since } | Self::Release { since } if day < since => 0.0,
            Self::Fading { since } if day < since => 1.0,
            Self::Steady => 1.0,
            Self::New { since } => 1.0 + 3.0 * (-day.days_since(since) / 14.0).exp(),
            Self::Fading { since } => (-day.days_since(since) / 60.0).exp(),
            Self::Release { since } => 0.04 + (-day.days_since(since) / 10.0).exp(),
        }
    }
}

/// There is a release every 18 days; the first ones precede the first day.
fn release_day(nth: usize) -> Day {
    Day(FIRST_DAY.0 - 400 + 18 * nth as i64)
}

#[cfg(test)]
mod tests {
    use super::super::site::Site;
    use super::*;

    #[test]
    fn some_pages_appear_and_some_fade_within_400_days() {
        let last = Day(FIRST_DAY.0 + DAYS as i64 - 1);
        let site = Site::with_pages(620);
        let lifecycles =
            site.pages().iter().zip(0..).map(|(page, n)| Lifecycle::of(page, Seed::new(1).nth(n)));
        let ends: Vec<(f64, f64)> =
            lifecycles.map(|lifecycle| (lifecycle.on(FIRST_DAY), lifecycle.on(last))).collect();
        let appear = ends.iter().filter(|(first, last)| *first == 0.0 && *last > 0.0).count();
        let fade = ends.iter().filter(|(first, last)| *last > 0.0 && last < &(first / 3.0)).count();
        assert!((20..100).contains(&appear), "{appear}");
        assert!((10..100).contains(&fade), "{fade}");
    }

    #[test]
    fn releases_come_out_in_the_order_of_their_numbers() {
        assert!(release_day(0) < release_day(1));
    }
}
