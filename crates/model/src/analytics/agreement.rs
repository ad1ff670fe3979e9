//! Whether the daily history agrees with the platform's own answer for the same range: in total, and page by page. Pure.

use std::collections::HashMap;

use super::report::MissingReport;
use crate::day::{Day, DayRange};
use crate::history::{MarkedDay, RECENT_DAYS};
use crate::page_views::{FetchedPageViews, ViewCounts};
use crate::time::Timestamp;

/// The maximum number of calls for one comparison, without those that are repeated.
pub const CALLS_MAX: usize = 3;

/// The maximum number of listed differences.
pub const LISTED_MAX: usize = 100;

/// The last day that the platform no longer counts. A comparison of later days may show differences that disappear.
pub fn last_final_day(today: Day) -> Day {
    today.plus_days(-RECENT_DAYS - 1)
}

/// The content of the page that compares a range.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum AgreementReport {
    /// Days of the range are not stored, so nothing can be compared.
    Missing(Box<MissingReport>),
    Stored(Box<StoredRange>),
}

/// A range whose days are all stored.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredRange {
    /// The fetch of its newest day.
    pub updated_at: Option<Timestamp>,
    /// The days that may still change, the oldest first.
    pub provisional_days: Vec<DayRange>,
    /// The days with a mark.
    pub marked: Vec<MarkedDay>,
    /// `None` if the platform's answer was not fetched yet.
    pub result: Option<AgreementResult>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgreementResult {
    pub agreement: Agreement,
    /// When the platform answered.
    pub fetched_at: Timestamp,
    /// Whether invalid figures of the platform were corrected or left out.
    pub corrected: bool,
    /// Why the answer has not as many rows as it could.
    pub stopped: Option<String>,
    /// Whether a day was fetched after the platform answered.
    pub is_outdated: bool,
}

/// The same views, counted by both.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BothCounts {
    pub history: ViewCounts,
    pub platform: ViewCounts,
}

/// A page whose views differ.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PageDifference {
    pub path: String,
    pub counts: BothCounts,
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Agreement {
    pub totals: BothCounts,
    /// The number of pages that were compared one by one.
    pub pages: u64,
    /// The sums of these pages.
    pub sums: BothCounts,
    /// The number of the platform's rows, if it has more than these. Other pages were not compared one by one.
    pub first_rows: Option<u64>,
    /// The pages that differ, the largest difference first; at most [`LISTED_MAX`].
    pub differences: Vec<PageDifference>,
    /// The number of pages that differ.
    pub differences_total: u64,
}

impl BothCounts {
    pub fn agree(self) -> bool {
        self.history == self.platform
    }

    /// The largest difference of a count.
    fn distance(self) -> u64 {
        let Self { history, platform } = self;
        let human = history.human.abs_diff(platform.human);
        human.max(history.ai.abs_diff(platform.ai)).max(history.total.abs_diff(platform.total))
    }
}

impl Agreement {
    /// `pages`: every page with views in the history, once. A page that only one of the two has, has no views in the other. While the
    /// platform has more rows than `answer`, only the pages in its rows are compared. If a path occurs twice, because rows moved
    /// between two responses, the later row counts, as in the history.
    pub fn of<'a>(
        totals: ViewCounts,
        pages: impl Iterator<Item = (&'a str, ViewCounts)>,
        answer: &'a FetchedPageViews,
    ) -> Self {
        let mut rows: HashMap<_, _> = answer.views.iter().map(|row| (&*row.path, row.counts())).collect();
        let number_of_rows = rows.len() as u64;
        let mut compared = Compared::default();
        for (path, history) in pages {
            match rows.remove(path) {
                Some(platform) => compared.add(path, BothCounts { history, platform }),
                None if answer.has_more => {}
                None => compared.add(path, BothCounts { history, ..BothCounts::default() }),
            }
        }
        for (path, platform) in rows {
            compared.add(path, BothCounts { platform, ..BothCounts::default() });
        }
        let Compared { pages, sums, different } = compared;
        Self {
            totals: BothCounts { history: totals, platform: answer.totals },
            pages,
            sums,
            first_rows: answer.has_more.then_some(number_of_rows),
            differences_total: different.len() as u64,
            differences: largest(different),
        }
    }

    /// Whether both have the same totals, and the same views of each compared page.
    pub fn agrees(&self) -> bool {
        self.totals.agree() && self.differences_total == 0
    }
}

/// The pages compared so far.
#[derive(Default)]
struct Compared<'a> {
    pages: u64,
    sums: BothCounts,
    different: Vec<(&'a str, BothCounts)>,
}

impl<'a> Compared<'a> {
    fn add(&mut self, path: &'a str, counts: BothCounts) {
        self.pages += 1;
        self.sums.history += counts.history;
        self.sums.platform += counts.platform;
        if !counts.agree() {
            self.different.push((path, counts));
        }
    }
}

fn largest(mut different: Vec<(&str, BothCounts)>) -> Vec<PageDifference> {
    different.sort_unstable_by(|(path, counts), (other_path, other)| {
        other.distance().cmp(&counts.distance()).then_with(|| path.cmp(other_path))
    });
    let listed = different.into_iter().take(LISTED_MAX);
    listed.map(|(path, counts)| PageDifference { path: path.to_owned(), counts }).collect()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use proptest::collection::btree_map;
    use proptest::prelude::*;

    use super::*;
    use crate::page_views::PageViews;

    type Pages = BTreeMap<String, ViewCounts>;

    fn counts(human: u64, ai: u64) -> ViewCounts {
        ViewCounts { human, ai, total: human + ai }
    }

    fn pages(rows: &[(&str, u64, u64)]) -> Pages {
        rows.iter().map(|(path, human, ai)| ((*path).to_owned(), counts(*human, *ai))).collect()
    }

    fn answer(pages: &Pages, has_more: bool) -> FetchedPageViews {
        let row = |(path, counts): (&String, &ViewCounts)| {
            let ViewCounts { human, ai, total } = *counts;
            PageViews { path: path.clone(), human, ai, total }
        };
        FetchedPageViews {
            totals: pages.values().copied().sum(),
            views: pages.iter().map(row).collect(),
            has_more,
            fetched_at: Timestamp::from_millis(0),
            stale: false,
            corrected: false,
        }
    }

    fn compared(history: &Pages, answer: &FetchedPageViews) -> Agreement {
        let pages = history.iter().map(|(path, counts)| (path.as_str(), *counts));
        Agreement::of(history.values().copied().sum(), pages, answer)
    }

    fn paths(agreement: &Agreement) -> Vec<&str> {
        agreement.differences.iter().map(|page| page.path.as_str()).collect()
    }

    #[test]
    fn page_in_only_one_of_the_two_is_a_difference() {
        let history = pages(&[("/same", 5, 5), ("/history", 2, 1), ("/zero", 0, 0)]);
        let platform = pages(&[("/same", 5, 5), ("/platform", 7, 0), ("/none", 0, 0)]);
        let found = compared(&history, &answer(&platform, false));
        assert_eq!((paths(&found), found.pages), (vec!["/platform", "/history"], 5));
        assert_eq!((found.first_rows, found.agrees()), (None, false));
    }

    #[test]
    fn page_beyond_the_platforms_last_row_is_not_compared() {
        let history = pages(&[("/first", 50, 5), ("/beyond", 2, 1)]);
        let mut first = answer(&pages(&[("/first", 50, 5)]), true);
        first.totals = counts(52, 6);
        let found = compared(&history, &first);
        assert_eq!((found.agrees(), found.pages, found.first_rows), (true, 1, Some(1)));
        assert_eq!(found.sums.history, counts(50, 5));
    }

    #[test]
    fn equal_totals_may_hide_pages_that_differ() {
        let (history, platform) =
            (pages(&[("/a", 5, 0), ("/b", 0, 0)]), pages(&[("/a", 0, 0), ("/b", 5, 0)]));
        let found = compared(&history, &answer(&platform, false));
        assert_eq!((found.totals.agree(), found.agrees(), found.differences_total), (true, false, 2));
        // The number of all views is equal, and those of people and AI are not.
        let found = compared(&pages(&[("/a", 1, 4)]), &answer(&pages(&[("/a", 4, 1)]), false));
        assert_eq!((found.agrees(), found.differences_total), (false, 1));
    }

    #[test]
    fn later_row_of_a_path_counts() {
        let mut moved = answer(&pages(&[("/a", 3, 0)]), false);
        let old = PageViews { human: 1, total: 1, ..moved.views[0].clone() };
        moved.views.insert(0, old);
        assert!(compared(&pages(&[("/a", 3, 0)]), &moved).agrees());
    }

    #[test]
    fn largest_100_differences_are_listed() {
        let history = (0..150).map(|n| (format!("/{n:03}"), counts(n, 0))).collect();
        let found = compared(&history, &answer(&Pages::new(), false));
        assert_eq!((found.differences_total, found.differences.len()), (149, LISTED_MAX));
        assert_eq!((paths(&found)[0], paths(&found)[99]), ("/149", "/050"));
    }

    #[test]
    fn last_final_day_is_before_the_days_that_the_platform_still_counts() {
        let day = |text: &str| text.parse::<Day>().unwrap_or_else(|error| panic!("{error}"));
        let (today, last) = (day("2026-11-21"), last_final_day(day("2026-11-21")));
        assert_eq!(last, day("2026-11-17"));
        assert!(!crate::history::is_recent(last, today));
        assert!(crate::history::is_recent(last.plus_days(1), today));
    }

    /// Few paths, so that the two share some.
    fn any_pages() -> impl Strategy<Value = Pages> {
        let counts = (0..9_u64, 0..9_u64, 0..2_u64).prop_map(|(human, ai, other)| ViewCounts {
            human,
            ai,
            total: human + ai + other,
        });
        btree_map("/[a-d]{1,2}", counts, 0..20)
    }

    /// Of `count`, on both sides, as signed numbers.
    fn difference(counts: BothCounts, count: fn(ViewCounts) -> u64) -> i64 {
        count(counts.platform) as i64 - count(counts.history) as i64
    }

    proptest! {
        #[test]
        fn equal_figures_have_no_differences(same in any_pages(), has_more: bool) {
            let found = compared(&same, &answer(&same, has_more));
            prop_assert!(found.agrees() && found.differences.is_empty());
            prop_assert_eq!(found.pages, same.len() as u64);
        }

        #[test]
        fn differences_of_pages_add_up_to_the_difference_of_totals(history in any_pages(), platform in any_pages()) {
            let found = compared(&history, &answer(&platform, false));
            prop_assert_eq!(found.totals, found.sums);
            for count in [|of: ViewCounts| of.human, |of: ViewCounts| of.ai, |of: ViewCounts| of.total] {
                let by_page: i64 = found.differences.iter().map(|page| difference(page.counts, count)).sum();
                prop_assert_eq!(by_page, difference(found.totals, count));
            }
            let all: std::collections::BTreeSet<_> = history.keys().chain(platform.keys()).collect();
            prop_assert_eq!(found.pages, all.len() as u64);
        }

        #[test]
        fn each_listed_page_differs_and_the_largest_is_first(
            history in any_pages(),
            platform in any_pages(),
            has_more: bool,
        ) {
            let found = compared(&history, &answer(&platform, has_more));
            prop_assert_eq!(found.differences_total, found.differences.len() as u64);
            for PageDifference { path, counts } in &found.differences {
                let of = |pages: &Pages| pages.get(path).copied().unwrap_or_default();
                prop_assert_eq!((counts.history, counts.platform), (of(&history), of(&platform)));
                prop_assert!(!counts.agree());
                prop_assert!(!has_more || platform.contains_key(path), "{} is beyond the rows", path);
            }
            let are_sorted = found.differences.windows(2).all(|pair| {
                pair[0].counts.distance() >= pair[1].counts.distance()
            });
            prop_assert!(are_sorted, "{:?}", found.differences);
        }
    }
}
