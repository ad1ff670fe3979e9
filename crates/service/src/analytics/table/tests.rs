use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::{collection, option, sample};

use strum::VariantArray;

use super::*;
use model::day::DayRange;
use model::paging::Paging;

const TABS: [Tab; 3] = [Tab::Rising, Tab::Falling, Tab::New];
const FOLDERS: [&str; 4] = ["/", "/a", "/a/b", "/c"];

/// The pages of a project with their views in the range, in its compared part, and in the previous period.
#[derive(Debug, Clone)]
struct Pages {
    paths: Vec<String>,
    counts: Sums,
    compared: Sums,
    previous: Sums,
}

fn views() -> impl Strategy<Value = Option<ViewCounts>> {
    let views = |(human, ai)| ViewCounts { human, ai, total: human + ai };
    // Some have few views, others enough for their AI share.
    let views = prop_oneof![(0..40u64, 0..40u64), (50..200u64, 50..200u64)].prop_map(views);
    option::of(views)
}

fn pages() -> impl Strategy<Value = Pages> {
    let path = collection::vec(sample::select(vec!["a", "b", "c"]), 1..4);
    let path = path.prop_map(|names| format!("/{}", names.join("/")));
    collection::btree_map(path, (views(), views(), views()), 0..30).prop_map(|pages| {
        let sum = |(compared, today, _): &(Option<ViewCounts>, Option<ViewCounts>, _)| {
            (compared.is_some() || today.is_some())
                .then(|| compared.iter().chain(today).copied().sum::<ViewCounts>())
        };
        Pages {
            counts: pages.values().map(sum).collect(),
            compared: pages.values().map(|(compared, ..)| *compared).collect(),
            previous: pages.values().map(|(.., previous)| *previous).collect(),
            paths: pages.into_keys().collect(),
        }
    })
}

impl Pages {
    /// All rows of a tab, in its order.
    fn rows(&self, tab: Tab, readers: Readers, folder: Option<&str>) -> Vec<PageRow> {
        let (paths, figures) = self.figures();
        let (project, range) = ("docs".parse(), DayRange::parse("2026-11-14", "2026-11-21"));
        let (Ok(project), Ok(range)) = (project, range) else { panic!("a project and a range") };
        let query = TableQuery::new(project, range, Paging::default()).narrowed(None, folder);
        let query =
            query.unwrap_or_else(|error| panic!("{error}")).compared(Default::default(), tab, readers);
        let mut table = Table::of(&paths, &figures, &query);
        table.sort(&query);
        table.rows(0).collect()
    }

    fn figures(&self) -> (Paths, Figures) {
        let figures = Figures {
            counts: self.counts.clone(),
            previous: Some(self.previous.clone()),
            compared: Some(self.compared.clone()),
        };
        ((1..).zip(self.paths.iter().cloned()).collect(), figures)
    }

    /// Each page with the views by these readers that are compared: before and now.
    fn changes(&self, readers: Readers) -> BTreeMap<&str, (u64, u64)> {
        let views = |counts: &Option<ViewCounts>| readers.of(counts.unwrap_or_default());
        let changes = self.previous.iter().map(views).zip(self.compared.iter().map(views));
        self.paths.iter().map(String::as_str).zip(changes).collect()
    }

    fn listed(&self, tab: Tab, readers: Readers) -> Vec<String> {
        self.rows(tab, readers, None).into_iter().map(|row| row.path).collect()
    }
}

proptest! {
    #[test]
    fn rows_of_all_pages_and_of_a_folder_add_up_to_its_figures(pages in pages()) {
        for folder in FOLDERS {
            let of = Folder::parse(folder).unwrap_or_else(|error| panic!("{error}"));
            let sum = |sums: &Sums| -> ViewCounts {
                let here = pages.paths.iter().zip(sums).filter(|(path, _)| of.contains(path));
                here.filter_map(|(_, counts)| *counts).sum()
            };
            let expected = [&pages.counts, &pages.compared, &pages.previous].map(sum);
            let added = |rows: &[PageRow]| {
                let of = |of: fn(&PageRow) -> ViewCounts| rows.iter().map(of).sum::<ViewCounts>();
                [of(|row| row.counts), of(PageRow::compared), of(|row| row.previous.unwrap_or_default())]
            };
            let rows = pages.rows(Tab::All, Readers::All, Some(folder));
            prop_assert_eq!(added(&rows), expected, "{}", folder);
            let flat: Vec<_> = pages.rows(Tab::All, Readers::All, None).into_iter().filter(|row| of.contains(&row.path)).collect();
            prop_assert_eq!(added(&flat), expected, "{}", folder);
            let listed: u32 = rows.iter().map(|row| row.pages.unwrap_or(1)).sum();
            prop_assert_eq!(listed as usize, flat.len(), "{}", folder);
        }
    }

    #[test]
    fn changed_page_is_rising_falling_or_new(pages in pages(), readers in sample::select(Readers::VARIANTS)) {
        let tabs = TABS.map(|tab| pages.listed(tab, readers));
        let all = pages.changes(Readers::All);
        for (path, (before, now)) in pages.changes(readers) {
            let is_on = tabs.each_ref().map(|tab| tab.iter().any(|listed| listed == path));
            // New is what nobody had read.
            let (all_before, all_now) = all[path];
            let has_enough = before.max(now) >= VIEWS_MIN;
            let expected = [
                0 < all_before && before < now && has_enough,
                now < before && has_enough,
                all_before == 0 && all_now >= VIEWS_MIN,
            ];
            prop_assert_eq!(is_on, expected, "{}: {} to {}", path, before, now);
        }
    }

    #[test]
    fn readers_change_no_row_of_all_pages(pages in pages(), folder in option::of(sample::select(&FOLDERS[..]))) {
        let sorted = |readers| pages.rows(Tab::All, readers, folder);
        let all = sorted(Readers::All);
        prop_assert_eq!(&sorted(Readers::People), &all);
        prop_assert_eq!(&sorted(Readers::Ai), &all);
    }

    #[test]
    fn ai_share_of_enough_views_rises_or_falls(pages in pages()) {
        let [moved, rising, falling] =
            [Tab::Share, Tab::ShareRising, Tab::ShareFalling].map(|tab| pages.rows(tab, Readers::People, None));
        for row in &moved {
            let (before, now) = (row.previous.unwrap_or_default(), row.compared());
            prop_assert!(before.total.min(now.total) >= SHARE_VIEWS_MIN, "{row:?}");
            // Compared without rounding.
            let rises = u128::from(now.ai) * u128::from(before.readers()) > u128::from(before.ai) * u128::from(now.readers());
            prop_assert_eq!(rising.contains(row), rises, "{:?}", row);
            prop_assert_eq!(falling.contains(row), !rises, "{:?}", row);
        }
        prop_assert_eq!(moved.len(), rising.len() + falling.len());
    }

    #[test]
    fn gone_pages_are_those_falling_to_nothing(pages in pages()) {
        let changes = pages.changes(Readers::All);
        let falling = pages.listed(Tab::Falling, Readers::All);
        let to_nothing = falling.iter().filter(|path| changes[path.as_str()].1 == 0);
        prop_assert_eq!(to_nothing.cloned().collect::<Vec<_>>(), pages.listed(Tab::Gone, Readers::All));
        let (paths, figures) = pages.figures();
        let (first, total) = super::falling(&paths, &figures, Readers::All, 3);
        let first: Vec<_> = first.into_iter().map(|row| row.path).collect();
        prop_assert_eq!(&first[..], &falling[..falling.len().min(3)]);
        prop_assert_eq!(total, falling.len() as u64);
    }
}
