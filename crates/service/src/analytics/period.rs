//! A completely stored range of days, and its compared period.

use std::collections::{BTreeMap, BTreeSet};

use model::analytics::choice::Compare;
use model::analytics::pages::{Comparison, Earlier};
use model::day::{Day, DayRange};
use model::error::{AppError, ErrorCode};
use model::history::{MarkedDay, is_recent};
use model::page_views::ViewCounts;
use model::time::Timestamp;
use store::page_views::queries::{Snapshot, StoredDay};

/// A range whose days are all stored.
pub(super) struct Period {
    range: DayRange,
    days: Vec<StoredDay>,
}

/// Days of a range, and as many days of the compared period. All of them are stored and complete.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Comparable {
    /// From the first to the last compared day of the range.
    pub(super) current: DayRange,
    /// `current`, shifted back by [`Compare::shift`].
    pub(super) previous: DayRange,
    /// The days of the whole range that are not compared, in order: they or their partners are incomplete.
    left_out: Vec<Day>,
    /// The compared days of the compared period that may still change.
    pub(super) provisional: BTreeSet<Day>,
    current_totals: ViewCounts,
    previous_totals: ViewCounts,
}

impl Period {
    /// # Errors
    /// `NotInHistory` if a day of the range is not stored.
    pub(super) async fn read(snapshot: &mut Snapshot, range: DayRange) -> Result<Self, AppError> {
        Self::of(range, snapshot.days(range).await?)
    }

    /// The same from loaded days.
    ///
    /// # Errors
    /// `NotInHistory` if a day of the range is missing.
    pub(super) fn of(range: DayRange, days: Vec<StoredDay>) -> Result<Self, AppError> {
        match days.len() as i64 == range.days() {
            true => Ok(Self { range, days }),
            false => Err(not_in_history(range, days.len() as i64)),
        }
    }

    pub(super) fn range(&self) -> DayRange {
        self.range
    }

    pub(super) fn days(&self) -> &[StoredDay] {
        &self.days
    }

    pub(super) fn totals(&self) -> ViewCounts {
        totals(&self.days, self.range)
    }

    pub(super) fn marked(&self) -> Vec<MarkedDay> {
        self.days.iter().filter_map(|day| Some(MarkedDay { day: day.day, mark: day.mark? })).collect()
    }

    pub(super) fn is_unfinished(&self) -> bool {
        !self.days.iter().all(is_complete)
    }

    /// What this period can be compared with, if all of those days are stored.
    pub(super) async fn comparable(
        &self,
        snapshot: &mut Snapshot,
        compare: Compare,
    ) -> Result<Option<Comparable>, AppError> {
        let Some(before) = compare.period_before(self.range) else { return Ok(None) };
        Ok(self.comparable_with(&snapshot.days(before).await?, compare))
    }

    /// The same. `earlier`: the stored days of the compared period. Each complete day is compared with its partner, unless that one is incomplete.
    /// Nothing is compared if one of these partners is not stored.
    pub(super) fn comparable_with(&self, earlier: &[StoredDay], compare: Compare) -> Option<Comparable> {
        let back = compare.shift(self.range.days())?;
        let earlier: BTreeMap<Day, &StoredDay> = earlier.iter().map(|day| (day.day, day)).collect();
        let (mut pairs, mut left_out) = (Vec::new(), Vec::new());
        for day in &self.days {
            let partner = match is_complete(day) {
                true => Some(*earlier.get(&day.day.plus_days(-back))?),
                false => None,
            };
            match partner.filter(|partner| is_complete(partner)) {
                Some(partner) => pairs.push((day, partner)),
                None => left_out.push(day.day),
            }
        }
        let current = DayRange::spanning(pairs.first()?.0.day, pairs.last()?.0.day)?;
        Some(Comparable {
            current,
            previous: back_by(current, back),
            left_out,
            provisional: provisional(pairs.iter().map(|(_, partner)| *partner)),
            current_totals: pairs.iter().map(|(day, _)| day.totals).sum(),
            previous_totals: pairs.iter().map(|(_, partner)| partner.totals).sum(),
        })
    }

    /// For a range without a complete day: the totals of the whole compared period, if it is stored.
    pub(super) fn earlier(&self, earlier: &[StoredDay], compare: Compare) -> Option<Earlier> {
        let before = compare.period_before(self.range).filter(|_| self.complete_part().is_none())?;
        let counts = totals(earlier, before);
        let here = earlier.iter().filter(|day| before.contains(day.day));
        let provisional_days = DayRange::of_days(provisional(here));
        is_stored(before, earlier).then_some(Earlier { days: before, counts, provisional_days })
    }

    /// The same, with the stored days.
    pub(super) async fn earlier_in(
        &self,
        snapshot: &mut Snapshot,
        compare: Compare,
    ) -> Result<Option<Earlier>, AppError> {
        match compare.period_before(self.range).filter(|_| self.complete_part().is_none()) {
            Some(before) => Ok(self.earlier(&snapshot.days(before).await?, compare)),
            None => Ok(None),
        }
    }

    /// # Errors
    /// `NotInHistory` if there is nothing to compare with.
    pub(super) async fn must_be_comparable(&self, snapshot: &mut Snapshot) -> Result<Comparable, AppError> {
        let before = back_by(self.range, self.range.days());
        let earlier = snapshot.days(before).await?;
        let comparable = self.comparable_with(&earlier, Compare::Previous);
        comparable.ok_or_else(|| AppError::new(ErrorCode::NotInHistory, self.why_not_comparable(&earlier)))
    }

    /// Why nothing is compared with the days directly before, of which `earlier` are stored.
    fn why_not_comparable(&self, earlier: &[StoredDay]) -> String {
        let Some(part) = self.complete_part() else {
            return "This range has no complete day to compare. Choose a longer range.".to_owned();
        };
        let previous = back_by(part, self.range.days());
        let here = earlier.iter().filter(|day| previous.contains(day.day)).count() as i64;
        let why = match here < previous.days() {
            true => "are not all in the daily history yet. Choose a shorter range, or try again later.",
            false => {
                "cannot be compared: of each two days, at least one is incomplete. Choose a longer range, or try again later."
            }
        };
        format!("The days to compare with, {} to {}, {why}", previous.from().long(), previous.to().long())
    }

    /// From the first to the last complete day.
    fn complete_part(&self) -> Option<DayRange> {
        let mut complete = self.days.iter().filter(|day| is_complete(day)).map(|day| day.day);
        let first = complete.next()?;
        DayRange::spanning(first, complete.next_back().unwrap_or(first))
    }
}

impl Comparable {
    /// The number of days between a day and the day it is compared with.
    pub(super) fn shift(&self) -> i64 {
        self.current.from().days_since(self.previous.from())
    }

    /// Whether this day of the range is compared.
    pub(super) fn contains(&self, day: Day) -> bool {
        self.current.contains(day) && self.left_out.binary_search(&day).is_err()
    }

    /// Whether a day of the range is compared with this one.
    pub(super) fn contains_before(&self, day: Day) -> bool {
        self.contains(day.plus_days(self.shift()))
    }

    /// Whether every day of the range is compared.
    pub(super) fn is_whole(&self) -> bool {
        self.left_out.is_empty()
    }

    /// The days of the range that are not compared, and their partners.
    pub(super) fn left_out(&self) -> (Vec<Day>, Vec<Day>) {
        let partners = self.left_out.iter().map(|day| day.plus_days(-self.shift()));
        (self.left_out.clone(), partners.collect())
    }
}

fn back_by(range: DayRange, days: i64) -> DayRange {
    DayRange::ending(range.to().plus_days(-days), range.days())
}

/// Whether all days of the range are among `days`, and complete.
fn is_stored(range: DayRange, days: &[StoredDay]) -> bool {
    let here: Vec<_> = days.iter().filter(|day| range.contains(day.day)).collect();
    here.len() as i64 == range.days() && here.iter().all(|day| is_complete(day))
}

/// The days that may still change: the platform may still have been counting them when they were fetched. Later fetches, also those that only
/// confirm an unexpected response, do not count: nothing fetches days outside the window again.
pub(super) fn provisional<'a>(days: impl IntoIterator<Item = &'a StoredDay>) -> BTreeSet<Day> {
    let may_change = |day: &&StoredDay| !day.is_final && is_recent(day.day, Day::of(day.fetched_at));
    days.into_iter().filter(may_change).map(|day| day.day).collect()
}

/// When figures of these days were updated: the fetch of the newest day. Older days are fetched again only until they are final.
pub(super) fn updated_at(days: &[StoredDay]) -> Option<Timestamp> {
    days.iter().max_by_key(|day| day.day).map(|day| day.fetched_at)
}

/// The oldest fetch among these days.
pub(super) fn oldest_fetched_at(days: &[StoredDay]) -> Option<Timestamp> {
    days.iter().map(|day| day.fetched_at).min()
}

/// Whether a day had ended when it was fetched.
pub(super) fn is_complete(day: &StoredDay) -> bool {
    Day::of(day.fetched_at) > day.day
}

pub(super) fn complete(days: &[StoredDay]) -> BTreeSet<Day> {
    days.iter().filter(|day| is_complete(day)).map(|day| day.day).collect()
}

fn totals(days: &[StoredDay], range: DayRange) -> ViewCounts {
    days.iter().filter(|day| range.contains(day.day)).map(|day| day.totals).sum()
}

fn not_in_history(range: DayRange, here: i64) -> AppError {
    AppError::new(
        ErrorCode::NotInHistory,
        format!(
            "Only {here} of the {} days from {} to {} are in the daily history. Fetch the missing days, or choose others.",
            range.days(),
            range.from().long(),
            range.to().long()
        ),
    )
}

impl From<Comparable> for Comparison {
    fn from(comparable: Comparable) -> Self {
        Self {
            from: comparable.previous.from(),
            to: comparable.previous.to(),
            compared: comparable.current,
            left_out: comparable.left_out,
            provisional_days: DayRange::of_days(comparable.provisional),
            current: comparable.current_totals,
            previous: comparable.previous_totals,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::{collection, sample};
    use strum::VariantArray;

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    /// A period whose days were all fetched at `fetched_at`.
    fn period(from: &str, to: &str, fetched_at: &str) -> Period {
        let range = DayRange::new(day(from), day(to)).unwrap_or_else(|error| panic!("{error}"));
        let fetched_at = fetched_at.parse().unwrap_or_else(|_| panic!("{fetched_at}"));
        let stored = |n| StoredDay {
            day: range.from().plus_days(n),
            totals: ViewCounts::default(),
            fetched_at,
            mark: None,
            digest: String::new(),
            is_final: true,
        };
        Period { range, days: (0..range.days()).map(stored).collect() }
    }

    /// The compared days of a period whose days were all fetched at `fetched_at`. Those before are complete.
    fn compared(from: &str, to: &str, fetched_at: &str, compare: Compare) -> Option<[String; 4]> {
        let period = period(from, to, fetched_at);
        let before = compare.period_before(period.range)?;
        let [first, last] = [before.from(), before.to()].map(|day| day.to_string());
        let earlier = self::period(&first, &last, "2026-12-01T00:00:00Z");
        let Comparable { current, previous, .. } = period.comparable_with(earlier.days(), compare)?;
        Some([current.from(), current.to(), previous.from(), previous.to()].map(|day| day.to_string()))
    }

    #[test]
    fn finished_range_is_compared_with_the_preceding_days() {
        let expected = ["2026-11-11", "2026-11-20", "2026-11-01", "2026-11-10"].map(str::to_owned);
        let compared = compared("2026-11-11", "2026-11-20", "2026-11-21T00:00:00Z", Compare::Previous);
        assert_eq!(compared, Some(expected));
    }

    #[test]
    fn comparison_excludes_today_and_preserves_weekdays() {
        let expected = ["2026-11-15", "2026-11-20", "2026-11-08", "2026-11-13"].map(str::to_owned);
        let compared = compared("2026-11-15", "2026-11-21", "2026-11-21T09:30:00Z", Compare::Previous);
        assert_eq!(compared, Some(expected));
    }

    #[test]
    fn day_is_complete_from_midnight_utc() {
        assert!(period("2026-11-20", "2026-11-20", "2026-11-20T23:59:59.999Z").is_unfinished());
        assert!(!period("2026-11-20", "2026-11-20", "2026-11-21T00:00:00Z").is_unfinished());
        // Days with a clock change in Europe or America have 24 hours in UTC.
        for changed in ["2026-03-29", "2026-10-25", "2026-03-08", "2026-11-01"] {
            let next = format!("{}T00:00:00Z", day(changed).plus_days(1));
            assert!(!period(changed, changed, &next).is_unfinished());
            assert!(period(changed, changed, &format!("{changed}T23:59:59Z")).is_unfinished());
        }
    }

    #[test]
    fn figures_are_as_new_as_the_fetch_of_the_newest_day() {
        let fetched = ["2026-10-27T06:00:00Z", "2026-10-26T23:30:00Z", "2026-11-21T12:00:00Z"];
        let days = ["2026-10-25", "2026-10-26", "2026-11-21"].iter().zip(fetched);
        let stored = |(of, fetched_at): (&&str, &str)| {
            let mut one = period(of, of, fetched_at);
            one.days.remove(0)
        };
        let days: Vec<_> = days.map(stored).collect();
        let text = |at: Option<Timestamp>| at.map(|at| at.to_string());
        assert_eq!(text(updated_at(&days)).as_deref(), Some(fetched[2]));
        assert_eq!(text(oldest_fetched_at(&days)).as_deref(), Some(fetched[1]));
        assert_eq!((updated_at(&[]), oldest_fetched_at(&[])), (None, None));
    }

    #[test]
    fn today_alone_compares_only_with_all_of_yesterday() {
        assert_eq!(compared("2026-11-21", "2026-11-21", "2026-11-21T12:00:00Z", Compare::Previous), None);
        let today = period("2026-11-21", "2026-11-21", "2026-11-21T12:00:00Z");
        let earlier = |fetched_at| {
            let yesterday = period("2026-11-20", "2026-11-20", fetched_at);
            today.earlier(yesterday.days(), Compare::Previous).map(|earlier| earlier.days.from().to_string())
        };
        assert_eq!(earlier("2026-11-21T00:00:00Z").as_deref(), Some("2026-11-20"));
        assert_eq!(earlier("2026-11-20T23:00:00Z"), None);
    }

    #[test]
    fn compared_period_has_equal_length_weeks_or_a_year_earlier() {
        let days = |compare| {
            compared("2026-11-18", "2026-11-20", "2026-11-21T00:00:00Z", compare)
                .map(|[_, _, from, to]| [from, to])
        };
        assert_eq!(days(Compare::Weekdays), Some(["2026-11-11", "2026-11-13"].map(str::to_owned)));
        assert_eq!(days(Compare::Year), Some(["2025-11-19", "2025-11-21"].map(str::to_owned)));
        assert_eq!(days(Compare::None), None);
    }

    #[derive(Debug, Clone, Copy, PartialEq, Eq)]
    enum Stored {
        Complete,
        Incomplete,
        Missing,
    }

    fn stored(day: Day, views: u64, stored: Stored) -> Option<StoredDay> {
        let fetched_at = match stored {
            Stored::Complete => day.plus_days(1).start(),
            Stored::Incomplete => day.start(),
            Stored::Missing => return None,
        };
        let totals = ViewCounts { human: views, ai: 0, total: views };
        Some(StoredDay { day, totals, fetched_at, mark: None, digest: String::new(), is_final: false })
    }

    /// A day of the range and its partner: whether they are complete, and their views.
    fn pair() -> impl Strategy<Value = (Stored, Stored, u64, u64)> {
        use Stored::{Complete, Incomplete, Missing};
        let own = sample::select(vec![Complete, Complete, Complete, Incomplete]);
        let mut partners = vec![Incomplete; 3];
        partners.extend([Complete; 30]);
        partners.push(Missing);
        (own, sample::select(partners), 0..100u64, 0..100u64)
    }

    proptest! {
        #[test]
        fn complete_days_are_compared_with_complete_partners(
            pairs in collection::vec(pair(), 1..40),
            compare in sample::select(Compare::VARIANTS),
        ) {
            let range = DayRange::ending(day("2026-11-21"), pairs.len() as i64);
            let back = compare.shift(range.days()).unwrap_or(range.days());
            let at = |n: usize| range.from().plus_days(n as i64);
            let own = pairs.iter().enumerate().filter_map(|(n, pair)| stored(at(n), pair.2, pair.0));
            let before = pairs.iter().enumerate().filter_map(|(n, pair)| stored(at(n).plus_days(-back), pair.3, pair.1));
            let period = Period { range, days: own.collect() };
            let comparable = period.comparable_with(&before.collect::<Vec<_>>(), compare);

            let is_compared = |pair: &(Stored, Stored, _, _)| (pair.0, pair.1) == (Stored::Complete, Stored::Complete);
            let lacks_one = pairs.iter().any(|pair| (pair.0, pair.1) == (Stored::Complete, Stored::Missing));
            let has_pairs = pairs.iter().any(is_compared) && !lacks_one && compare != Compare::None;
            prop_assert_eq!(comparable.is_some(), has_pairs);
            let Some(comparable) = comparable else { return Ok(()) };
            for (n, pair) in pairs.iter().enumerate() {
                prop_assert_eq!(comparable.contains(at(n)), is_compared(pair), "{}", at(n));
                prop_assert_eq!(comparable.contains_before(at(n).plus_days(-back)), is_compared(pair), "{}", at(n));
            }
            let compared = || pairs.iter().filter(|pair| is_compared(pair));
            prop_assert_eq!(comparable.current_totals.total, compared().map(|pair| pair.2).sum::<u64>());
            prop_assert_eq!(comparable.previous_totals.total, compared().map(|pair| pair.3).sum::<u64>());
            prop_assert_eq!(comparable.is_whole(), compared().count() == pairs.len());
            let (left_out, partners) = comparable.left_out();
            prop_assert_eq!(left_out.len() + compared().count(), pairs.len());
            prop_assert!(left_out.iter().zip(partners).all(|(day, partner)| day.days_since(partner) == back));
            let ends = [comparable.current.from(), comparable.current.to()];
            prop_assert!(ends.into_iter().all(|end| comparable.contains(end)), "{ends:?}");
        }
    }
}
