//! Factors that affect a whole site on a day: growth, weekday, randomness, launches and the share of AI. They depend on the calendar and not on the
//! clock, so that a past day never changes.

use super::super::noise::Seed;
use super::day::Day;
use super::site::Section;

/// 2025-10-15: the origin of the growth and of the share of AI.
pub(super) const FIRST_DAY: Day = Day(20_376);
/// The number of days in which the traffic grows by [`GROWTH`].
pub(super) const DAYS: f64 = 400.0;

/// Views of the most popular page on an ordinary first day.
const FRONT_PAGE_VIEWS: f64 = 320.0;
const GROWTH: f64 = 1.1;
const HUMANS_AT_WEEKENDS: f64 = 0.5;
const AI_AT_WEEKENDS: f64 = 0.8;

/// There is one launch in each period of this many days.
const LAUNCH_PERIOD: i64 = 45;

/// Expected views of a page of weight 1 in each section on one day.
#[derive(Debug)]
pub(super) struct Season {
    human: [f64; Section::ALL.len()],
    ai: [f64; Section::ALL.len()],
}

impl Season {
    /// `project` is the project's seed.
    pub(super) fn on(project: Seed, day: Day) -> Self {
        let chance = project.named("day").nth(day.0 as u64);
        let (humans, ai) = if day.is_weekend() { (HUMANS_AT_WEEKENDS, AI_AT_WEEKENDS) } else { (1.0, 1.0) };
        let site = FRONT_PAGE_VIEWS * growth(day) * chance.between(0.92, 1.08);
        let launches = [launch(project, day, 0), launch(project, day, 1)];
        let expected = |section: Section| {
            let lift: f64 = launches.iter().map(|launch| launch.lift(section)).sum();
            let section_chance = chance.nth(section as u64).between(0.88, 1.12);
            (site * (1.0 + lift) * section_chance, ai_share(section, day))
        };
        let sections = Section::ALL.map(expected);
        Self {
            human: sections.map(|(views, share)| views * (1.0 - share) * humans),
            ai: sections.map(|(views, share)| views * share * ai),
        }
    }

    /// Expected human and AI views of a page of weight 1.
    pub(super) fn expected(&self, section: Section) -> (f64, f64) {
        (self.human[section as usize], self.ai[section as usize])
    }
}

fn growth(day: Day) -> f64 {
    (1.0 + GROWTH * day.days_since(FIRST_DAY) / DAYS).max(0.2)
}

/// A logistic curve of the site's share of AI, from about 15 % to about 45 % in the first 400 days, with a limit of
/// 70 %. It rises first for reference pages.
fn ai_share(section: Section, day: Day) -> f64 {
    const LEVEL: f64 = 0.7;
    let lead = match section {
        Section::ApiReference => 0.4,
        Section::Sdks => 0.3,
        Section::Integrations => 0.0,
        Section::Guides => -0.1,
        Section::Concepts => 0.1,
        Section::Start => -0.3,
        Section::Changelog => -0.5,
    };
    let rise = 1.9 * day.days_since(FIRST_DAY) / DAYS - 1.35;
    LEVEL / (1.0 + (-(rise + lead)).exp())
}

/// The remaining effect of one launch on a day.
struct Launch {
    section: Section,
    lift: f64,
}

impl Launch {
    fn lift(&self, section: Section) -> f64 {
        if section == self.section { self.lift } else { 0.0 }
    }
}

/// The launch of this period or of an earlier one; it has no effect before its day.
fn launch(project: Seed, day: Day, periods_before: i64) -> Launch {
    const SECTIONS: [Section; 4] =
        [Section::Guides, Section::ApiReference, Section::Integrations, Section::Sdks];
    let period = day.0.div_euclid(LAUNCH_PERIOD) - periods_before;
    let seed = project.named("launch").nth(period as u64);
    let into_period = (seed.nth(0).unit() * LAUNCH_PERIOD as f64) as i64;
    let age = day.days_since(Day(period * LAUNCH_PERIOD + into_period));
    let section = SECTIONS[(seed.nth(1).unit() * SECTIONS.len() as f64) as usize];
    let (height, decay) = (seed.nth(2).between(0.8, 2.4), seed.nth(3).between(4.0, 9.0));
    Launch { section, lift: if age < 0.0 { 0.0 } else { height * (-age / decay).exp() } }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_days() -> impl Iterator<Item = Day> {
        (0..DAYS as i64).map(|n| Day(FIRST_DAY.0 + n))
    }

    #[test]
    fn sections_differ_in_their_share_of_ai() {
        for day in first_days() {
            let share = |section| ai_share(section, day);
            assert!(share(Section::ApiReference) > share(Section::Guides));
            assert!(share(Section::Guides) > share(Section::Changelog));
        }
    }

    #[test]
    fn each_period_has_one_launch_that_fades() {
        let lifts =
            |project: Seed| first_days().map(move |day| launch(project, day, 0).lift).collect::<Vec<_>>();
        let of_docs = lifts(Seed::new(1).named("docs"));
        let rises = of_docs.windows(2).filter(|pair| pair[1] > pair[0] + 0.7).count();
        assert!((7..=10).contains(&rises), "{rises} launches in 400 days");
        assert_ne!(of_docs, lifts(Seed::new(1).named("handbook")));
    }

    #[test]
    fn expected_views_stay_within_bounds_in_any_year() {
        for day in (-100_000..200_000).step_by(997).map(Day) {
            let season = Season::on(Seed::new(1), day);
            for section in Section::ALL {
                let (human, ai) = season.expected(section);
                assert!(human > 0.0 && ai > 0.0 && human + ai < 1e6, "{day:?} {section:?}");
            }
        }
    }
}
