//! The link "Start a job about this page", which puts the page's figures into the prompt.

use leptos::prelude::*;

use crate::ui::charts::number::{change, counted, grouped};
use crate::ui::clock;
use crate::ui::components::icon::{self, icon};
use model::analytics::pages::Comparison;
use model::analytics::report::TableRow;
use model::day::Day;
use model::links;
use model::page_views::ViewCounts;

/// The most days that are named of those that are not compared.
const DAYS_NAMED: usize = 3;

/// A documentation page and its views.
pub struct PageFigures<'a> {
    path: &'a str,
    counts: ViewCounts,
    change: Option<Change<'a>>,
    /// The first and the last day of the figures; `None` for all time.
    days: Option<(Day, Day)>,
}

/// Views in the compared part of the days and in the compared period.
struct Change<'a> {
    now: ViewCounts,
    before: ViewCounts,
    comparison: &'a Comparison,
}

impl<'a> PageFigures<'a> {
    /// `comparison`: of the row's change. `days`: the first and the last one of the row; `None` for all time.
    pub fn of(row: &'a TableRow, comparison: Option<&'a Comparison>, days: Option<(Day, Day)>) -> Self {
        let change = row.change.zip(comparison);
        let change = change.map(|((now, before), comparison)| Change { now, before, comparison });
        Self { path: &row.path, counts: row.counts, change, days }
    }
}

/// `words`: the text beside the icon. It may be empty, because the link has an accessible name.
pub fn page_job_link(
    project: &str,
    page: &PageFigures,
    class: &'static str,
    words: &'static str,
) -> impl IntoView + use<> {
    let href = links::new_job(project, &prompt(page, clock::today()), page.path);
    let label = format!("Start a job about {}", page.path);
    view! { <a class=class href=href aria-label=label title="Start a job about this page">{icon(icon::PLUS)} {words}</a> }
}

/// The figures of the page, for the agent; the user adds the instructions.
fn prompt(PageFigures { path, counts, change, days }: &PageFigures, today: Day) -> String {
    format!(
        "{path} had {} {}{}: {} by people, {} by AI agents.{}\n\n",
        counted(counts.total, "view", "views"),
        days.map_or_else(|| "in all".to_owned(), |(from, to)| span(from, to)),
        if days.is_some_and(|(_, to)| to == today) { ", which is incomplete" } else { "" },
        grouped(counts.human),
        grouped(counts.ai),
        change.as_ref().map(|change| changed(change, today)).unwrap_or_default(),
    )
}

/// ` Views fell 30%: 300 from Oct 25, 2026 to Nov 20, 2026, compared with 430 from Sep 27, 2026 to Oct 23, 2026 (same weekdays), without
/// Nov 21, 2026 (today). By people: −35% (210 after 325). By AI agents: −14% (90 after 105).`
fn changed(Change { now, before, comparison }: &Change, today: Day) -> String {
    let Comparison { from, to, compared, left_out, .. } = comparison;
    let (all, all_before) = (now.total, before.total);
    let percent = change(all, all_before);
    let size = percent.trim_start_matches(['+', '−']);
    let what = match (all, all_before) {
        (0, 0) => return String::new(),
        (_, 0) => "are new".to_owned(),
        (now, before) if now < before => format!("fell {size}"),
        (now, before) if now > before => format!("rose {size}"),
        _ => "are unchanged".to_owned(),
    };
    format!(
        " Views {what}: {} {}, compared with {} {}{}{}. By people: {}. By AI agents: {}.",
        grouped(all),
        span(compared.from(), compared.to()),
        grouped(all_before),
        span(*from, *to),
        if comparison.has_same_weekdays() { " (same weekdays)" } else { "" },
        without(left_out, today),
        part(now.human, before.human),
        part(now.ai, before.ai),
    )
}

/// `+1% (202 after 200)`.
fn part(now: u64, before: u64) -> String {
    format!("{} ({} after {})", change(now, before), grouped(now), grouped(before))
}

/// `, without Oct 27, 2026 and Nov 21, 2026 (today)`, or the number of more days.
fn without(left_out: &[Day], today: Day) -> String {
    let named = |day: &Day| [day.long().as_str(), if *day == today { " (today)" } else { "" }].concat();
    match left_out.len() {
        0 => String::new(),
        1..=DAYS_NAMED => {
            format!(", without {}", left_out.iter().map(named).collect::<Vec<_>>().join(" and "))
        }
        days => format!(", without {days} of the days, because they or the days before are incomplete"),
    }
}

fn span(from: Day, to: Day) -> String {
    match from == to {
        true => format!("on {}", from.long()),
        false => format!("from {} to {}", from.long(), to.long()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use model::day::DayRange;

    fn day(text: &str) -> Day {
        text.parse().unwrap_or_else(|error| panic!("{error}"))
    }

    fn comparison(from: &str, compared: [&str; 2], left_out: &[&str]) -> Comparison {
        let compared = DayRange::parse(compared[0], compared[1]).unwrap_or_else(|error| panic!("{error}"));
        Comparison {
            from: day(from),
            to: day(from).plus_days(compared.days() - 1),
            compared,
            left_out: left_out.iter().map(|text| day(text)).collect(),
            provisional_days: Vec::new(),
            current: ViewCounts::default(),
            previous: ViewCounts::default(),
        }
    }

    /// The first sentence about a change of views by people.
    fn text(now: u64, before: u64, comparison: &Comparison) -> String {
        let counts = |human| ViewCounts { human, ai: 0, total: human };
        let (now, before) = (counts(now), counts(before));
        let text = changed(&Change { now, before, comparison }, day("2026-11-21"));
        text.split_once(" By people").map_or(text.clone(), |(first, _)| first.to_owned())
    }

    #[test]
    fn prompt_names_both_ranges_and_the_days_left_out() {
        let weeks = comparison("2026-09-27", ["2026-10-25", "2026-11-20"], &["2026-10-27", "2026-11-21"]);
        let counts = ViewCounts { human: 200, ai: 102, total: 302 };
        let now = ViewCounts { human: 199, ai: 102, total: 301 };
        let before = ViewCounts { human: 332, ai: 98, total: 430 };
        let change = Some(Change { now, before, comparison: &weeks });
        let days = Some((day("2026-10-25"), day("2026-11-21")));
        let page = PageFigures { path: "/a", counts, change, days };
        assert_eq!(
            prompt(&page, day("2026-11-21")),
            "/a had 302 views from Oct 25, 2026 to Nov 21, 2026, which is incomplete: 200 by people, 102 by AI agents. \
             Views fell 30%: 301 from Oct 25, 2026 to Nov 20, 2026, compared with 430 from Sep 27, 2026 to Oct 23, 2026 \
             (same weekdays), without Oct 27, 2026 and Nov 21, 2026 (today). \
             By people: −40% (199 after 332). By AI agents: +4% (102 after 98).\n\n"
        );
        let days = Some((day("2026-11-20"), day("2026-11-20")));
        let alone = PageFigures { change: None, days, ..page };
        assert_eq!(
            prompt(&alone, day("2026-11-21")),
            "/a had 302 views on Nov 20, 2026: 200 by people, 102 by AI agents.\n\n"
        );
    }

    #[test]
    fn each_change_has_its_words() {
        let one = comparison("2026-11-19", ["2026-11-20"; 2], &[]);
        let days = "on Nov 20, 2026, compared with";
        assert_eq!(text(12, 10, &one), format!(" Views rose 20%: 12 {days} 10 on Nov 19, 2026."));
        assert_eq!(text(0, 10, &one), format!(" Views fell 100%: 0 {days} 10 on Nov 19, 2026."));
        assert_eq!(text(10, 10, &one), format!(" Views are unchanged: 10 {days} 10 on Nov 19, 2026."));
        assert_eq!(text(12, 0, &one), format!(" Views are new: 12 {days} 0 on Nov 19, 2026."));
        assert_eq!(text(0, 0, &one), "");
        let out = ["2026-11-02", "2026-11-03", "2026-11-04", "2026-11-05"];
        let many = comparison("2025-11-02", ["2026-11-01", "2026-11-20"], &out);
        assert!(text(1, 2, &many).ends_with(
            " from Nov 2, 2025 to Nov 21, 2025 (same weekdays), without 4 of the days, because they or the days before are incomplete."
        ));
    }
}
