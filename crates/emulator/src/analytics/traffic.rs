//! How often each page of a project is viewed. The views of a page on a day depend only on the seed, the project, the page and the day, so disjoint
//! ranges add up exactly. Views are computed, never stored.

use std::iter::Sum;
use std::ops::{AddAssign, Range};

use serde::Serialize;

use super::super::noise::Seed;
use super::day::{Day, each};
use super::lifecycle::Lifecycle;
use super::season::Season;
use super::site::{Page, Section, Site};
use crate::clock::Timestamp;

/// The number of days with views, including today; older ones have none.
pub(super) const RETENTION_DAYS: i64 = 400;

/// Views, each counted as human or as AI.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub(super) struct Count {
    pub(super) human: u64,
    pub(super) ai: u64,
    pub(super) total: u64,
}

/// The traffic of one project.
#[derive(Debug)]
pub(super) struct Traffic {
    project: Seed,
    pages: Vec<PageTraffic>,
}

/// How much a page attracts people and AI.
#[derive(Debug)]
struct PageTraffic {
    seed: Seed,
    section: Section,
    weight: f64,
    lifecycle: Lifecycle,
}

impl Traffic {
    pub(super) fn of(seed: Seed, project: &str, site: &Site) -> Self {
        let project = seed.named("views").named(project);
        let pages = site.pages().iter().zip(0..).map(|(page, n)| PageTraffic::of(page, n, project));
        Self { project, pages: pages.collect() }
    }

    /// The views of each page, in the order of the site, over the days of the range that have views at `now`.
    /// Today counts up to `now`.
    pub(super) fn over(&self, days: &Range<Day>, now: Timestamp) -> Vec<Count> {
        let today = Day::of(now);
        let start = days.start.max(Day(today.0 - RETENTION_DAYS + 1));
        let end = days.end.min(Day(today.0 + 1));
        let mut counts = vec![Count::default(); self.pages.len()];
        for day in each(start..end) {
            let season = Season::on(self.project, day);
            let gone = day.gone_by(now);
            for (count, draw) in counts.iter_mut().zip(&self.pages) {
                *count += draw.on(day, &season, gone);
            }
        }
        counts
    }
}

impl PageTraffic {
    fn of(page: &Page, n: u64, project: Seed) -> Self {
        let seed = project.named("page").nth(n);
        // A long tail: the tenth page gets about a tenth of the views of the first.
        let rank = match page.section {
            Section::Changelog => 12.0,
            _ => (n + 1) as f64,
        };
        let chance = seed.named("weight").between(0.5, 1.6);
        Self {
            seed,
            section: page.section,
            weight: chance * rank.powf(-0.95),
            lifecycle: Lifecycle::of(page, seed),
        }
    }

    fn on(&self, day: Day, season: &Season, gone: f64) -> Count {
        let chance = self.seed.nth(day.0 as u64);
        let (human, ai) = season.expected(self.section);
        let weight = self.weight * self.lifecycle.on(day);
        let [human_chance, human_rest, ai_chance, ai_rest] = chance.quarters();
        let mut human = whole(human * weight * (0.7 + 0.6 * human_chance), human_rest);
        let mut ai = whole(ai * weight * (0.6 + 0.8 * ai_chance), ai_rest);
        if gone < 1.0 {
            let [human_phase, ai_phase, ..] = chance.nth(0).quarters();
            human = so_far(human, gone, human_phase);
            ai = so_far(ai, gone, ai_phase);
        }
        Count { human, ai, total: human + ai }
    }
}

/// An integer that is `expected` on average. The fractional part is rounded at random, so that a page of the long tail is viewed occasionally.
fn whole(expected: f64, chance: f64) -> u64 {
    (expected + chance) as u64
}

/// A day's views up to its elapsed fraction: none at midnight, never decreasing, all at the end.
/// The phase (0 to below 1) spreads the pages' views over the day.
fn so_far(views: u64, gone: f64, phase: f64) -> u64 {
    (views as f64 * gone + phase) as u64
}

impl AddAssign for Count {
    fn add_assign(&mut self, other: Self) {
        self.human += other.human;
        self.ai += other.ai;
        self.total += other.total;
    }
}

impl Sum for Count {
    fn sum<I: Iterator<Item = Self>>(counts: I) -> Self {
        counts.fold(Self::default(), |mut sum, count| {
            sum += count;
            sum
        })
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::super::testing::NOW;
    use super::*;

    /// The last full day.
    fn yesterday() -> i64 {
        Day::of(NOW).0 - 1
    }

    fn traffic(seed: u64, project: &str, pages: u32) -> Traffic {
        Traffic::of(Seed::new(seed), project, &Site::with_pages(pages))
    }

    fn total(traffic: &Traffic, from: i64, until: i64) -> Count {
        traffic.over(&(Day(from)..Day(until)), NOW).into_iter().sum()
    }

    proptest! {
        #[test]
        fn disjoint_ranges_add_up(
            seed: u64,
            start in -450_i64..50,
            first in 0_i64..60,
            second in 0_i64..60,
        ) {
            let traffic = traffic(seed, "docs", 40);
            let start = yesterday() + start;
            let (middle, end) = (start + first, start + first + second);
            let mut sum = traffic.over(&(Day(start)..Day(middle)), NOW);
            for (sum, more) in sum.iter_mut().zip(traffic.over(&(Day(middle)..Day(end)), NOW)) {
                *sum += more;
            }
            prop_assert_eq!(sum, traffic.over(&(Day(start)..Day(end)), NOW));
        }

        #[test]
        fn today_only_grows_and_ends_as_the_whole_day(
            seed: u64,
            moments in prop::collection::vec(0_i64..86_400_000, 2..6),
        ) {
            let traffic = traffic(seed, "docs", 40);
            let today = Day::of(NOW);
            let midnight = NOW.as_millis() - NOW.as_millis().rem_euclid(86_400_000);
            let days = today..Day(today.0 + 1);
            let at = |millis| traffic.over(&days, Timestamp::from_millis(midnight + millis));
            let mut moments = moments;
            moments.extend([0, 86_400_000]);
            moments.sort_unstable();
            for pair in moments.windows(2) {
                for (earlier, later) in at(pair[0]).iter().zip(at(pair[1])) {
                    prop_assert!(earlier.human <= later.human && earlier.ai <= later.ai);
                }
            }
            prop_assert_eq!(at(0).into_iter().sum::<Count>(), Count::default());
        }
    }

    #[test]
    fn views_of_today_are_proportional_to_the_elapsed_part() {
        let traffic = traffic(1, "docs", 620);
        let today = yesterday() + 1;
        let so_far = total(&traffic, today, today + 1).total as f64;
        let end = Timestamp::from_millis(NOW.as_millis() + 86_400_000);
        let whole: Count = traffic.over(&(Day(today)..Day(today + 1)), end).into_iter().sum();
        let part = so_far / whole.total as f64;
        assert!((part - 9.5 / 24.0).abs() < 0.02, "{part}");
    }

    #[test]
    fn past_day_never_changes() {
        let traffic = traffic(1, "docs", 100);
        let later = Timestamp::from_millis(NOW.as_millis() + 30 * 86_400_000);
        let days = Day(yesterday() - 200)..Day(yesterday() + 1);
        assert_eq!(traffic.over(&days, NOW), traffic.over(&days, later));
    }

    #[test]
    fn views_depend_on_seed_and_project() {
        let views = |seed, project| total(&traffic(seed, project, 100), 0, i64::MAX);
        assert_eq!(views(1, "docs"), views(1, "docs"));
        assert_ne!(views(1, "docs"), views(2, "docs"));
        assert_ne!(views(1, "docs"), views(1, "handbook"));
    }

    #[test]
    fn views_exist_for_400_days() {
        let traffic = traffic(1, "docs", 100);
        let oldest = yesterday() + 2 - RETENTION_DAYS;
        assert_eq!(total(&traffic, 0, oldest), Count::default());
        assert_ne!(total(&traffic, oldest, oldest + 1), Count::default());
        assert_eq!(total(&traffic, yesterday() + 2, i64::MAX), Count::default());
    }

    #[test]
    fn share_of_ai_rises_from_15_to_45_percent() {
        for project in ["docs", "handbook", "api"] {
            let traffic = traffic(1, project, 620);
            let share = |from, until| {
                let count = total(&traffic, from, until);
                count.ai as f64 / count.total as f64
            };
            let first = share(yesterday() - 398, yesterday() - 370);
            let last = share(yesterday() - 28, yesterday());
            assert!((0.12..0.20).contains(&first), "{project}: {first}");
            assert!((0.40..0.50).contains(&last), "{project}: {last}");
        }
    }

    #[test]
    fn a_year_brings_growth() {
        let traffic = traffic(1, "docs", 620);
        let first = total(&traffic, yesterday() - 398, yesterday() - 342).total;
        let last = total(&traffic, yesterday() - 56, yesterday()).total;
        assert!(last * 2 > first * 3, "{first} to {last}");
    }

    #[test]
    fn weekends_are_quieter_than_the_days_around_them() {
        let traffic = traffic(1, "docs", 620);
        let quieter = (0..56).filter(|week| {
            let saturday = yesterday() + 1 - 7 * (week + 1);
            let weekend = total(&traffic, saturday, saturday + 2).human;
            let around = total(&traffic, saturday - 1, saturday + 3).human - weekend;
            weekend < around
        });
        assert_eq!(quieter.count(), 56);
    }

    #[test]
    fn few_pages_get_most_views_and_most_get_some() {
        let traffic = traffic(1, "docs", 620);
        let mut counts = traffic.over(&(Day(yesterday() - 90)..Day(yesterday())), NOW);
        counts.sort_unstable_by_key(|count| std::cmp::Reverse(count.total));
        let all: Count = counts.iter().copied().sum();
        let top: Count = counts[..62].iter().copied().sum();
        assert!(top.total * 2 > all.total, "a tenth of the pages gets half of the views");
        assert!(counts.iter().filter(|count| count.total > 0).count() > 540);
        assert!((50_000..2_000_000).contains(&all.total), "{}", all.total);
    }
}
