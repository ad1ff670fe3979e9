use std::collections::BTreeMap;

use proptest::prelude::*;
use proptest::{collection, option, sample};

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
    option::of((0..40u64, 0..40u64).prop_map(views))
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
    fn rows(&self, tab: Tab, folder: Option<&str>) -> Vec<PageRow> {
        let (paths, figures) = self.figures();
        let (project, range) = ("docs".parse(), DayRange::parse("2026-11-14", "2026-11-21"));
        let (Ok(project), Ok(range)) = (project, range) else { panic!("a project and a range") };
        let query = TableQuery::new(project, range, Paging::default()).narrowed(None, folder);
        let query = query.unwrap_or_else(|error| panic!("{error}")).compared(Default::default(), tab);
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

    /// Each page with the views that are compared: before and now.
    fn changes(&self) -> BTreeMap<&str, (u64, u64)> {
        let total = |counts: &Option<ViewCounts>| counts.unwrap_or_default().total;
        let changes = self.previous.iter().map(total).zip(self.compared.iter().map(total));
        self.paths.iter().map(String::as_str).zip(changes).collect()
    }

    fn listed(&self, tab: Tab) -> Vec<String> {
        self.rows(tab, None).into_iter().map(|row| row.path).collect()
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
            let rows = pages.rows(Tab::All, Some(folder));
            prop_assert_eq!(added(&rows), expected, "{}", folder);
            let flat: Vec<_> = pages.rows(Tab::All, None).into_iter().filter(|row| of.contains(&row.path)).collect();
            prop_assert_eq!(added(&flat), expected, "{}", folder);
            let listed: u32 = rows.iter().map(|row| row.pages.unwrap_or(1)).sum();
            prop_assert_eq!(listed as usize, flat.len(), "{}", folder);
        }
    }

    #[test]
    fn changed_page_is_rising_falling_or_new(pages in pages()) {
        let tabs = TABS.map(|tab| pages.listed(tab));
        for (path, (before, now)) in pages.changes() {
            let is_on = tabs.each_ref().map(|tab| tab.iter().any(|listed| listed == path));
            let has_enough = before.max(now) >= VIEWS_MIN;
            let expected = [0 < before && before < now, now < before, before == 0].map(|fits| fits && has_enough);
            prop_assert_eq!(is_on, expected, "{}: {} to {}", path, before, now);
        }
    }

    #[test]
    fn gone_pages_are_those_falling_to_nothing(pages in pages()) {
        let changes = pages.changes();
        let falling = pages.listed(Tab::Falling);
        let to_nothing = falling.iter().filter(|path| changes[path.as_str()].1 == 0);
        prop_assert_eq!(to_nothing.cloned().collect::<Vec<_>>(), pages.listed(Tab::Gone));
        let (paths, figures) = pages.figures();
        let (first, total) = super::falling(&paths, &figures, 3);
        let first: Vec<_> = first.into_iter().map(|row| row.path).collect();
        prop_assert_eq!(&first[..], &falling[..falling.len().min(3)]);
        prop_assert_eq!(total, falling.len() as u64);
    }
}
