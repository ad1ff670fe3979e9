//! `/p/{project}/analytics/check`, for administrators: whether the daily history agrees with the platform's own answer for a range. The page
//! makes no call; its form fetches the answer.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::charts::number::{Cut, capitalized, counted, counted_of, grouped, sign};
use crate::ui::clock;
use crate::ui::components::empty::empty;
use crate::ui::components::failure::failure;
use crate::ui::components::form::{post_form, submit_button};
use crate::ui::components::localized::{days, number, written};
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::time::ago;
use crate::ui::pages::analytics::range::CustomRange;
use crate::ui::pages::analytics::{daily, range};
use crate::ui::pages::fetch_days::{self, MissingDays, days_are_missing, fetch_days};
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use api::analytics::{ComparePlatform, agreement_of};
use api::history::FetchDays;
use model::analytics::agreement::{
    Agreement, AgreementReport, AgreementResult, BothCounts, CALLS_MAX, PageDifference, StoredRange,
    last_final_day,
};
use model::analytics::days::Days;
use model::analytics::report::MissingReport;
use model::budget::Budgets;
use model::day::{Day, DayRange};
use model::error::{AppError, ErrorCode};
use model::links;
use model::page_views::ViewCounts;

/// The most ranges of days that are named of those that may change.
const RANGES_NAMED: usize = 3;

/// In place of the verdict.
const OUTDATED: &str =
    "Days were fetched again after the platform had answered, so a difference may be gone. Compare again.";

/// A count, with its name.
type Count = (&'static str, fn(ViewCounts) -> u64);

/// People, AI and all views.
const COUNTS: [Count; 3] =
    [("People", |counts| counts.human), ("AI", |counts| counts.ai), ("All", |counts| counts.total)];

/// A range of a project.
struct Checked {
    project: String,
    range: DayRange,
}

impl Checked {
    fn url(&self) -> String {
        links::agreement_over(&self.project, self.range)
    }

    /// The report of one page over the same days.
    fn page_report(&self, path: &str) -> String {
        let [from, to] = [self.range.from(), self.range.to()].map(|day| day.to_string());
        let fields = [("path", path), ("from", &from), ("to", &to)];
        links::with_query(&links::analytics(&self.project), &fields)
    }
}

#[component]
pub fn AgreementPage() -> impl IntoView {
    let (project, params, today) = (request::project(), request::query(), clock::today());
    let typed = [params.get("from"), params.get("to")];
    let range = range_of(&typed, today);
    let outcome = outcome_of(&[ComparePlatform::PATH, FetchDays::PATH]);
    let budgets = request::budgets();
    page(async move {
        let report = agreement_of(&project, range.clone()).await;
        if let Err(error) = &report
            && matches!(error.code, ErrorCode::Forbidden | ErrorCode::NotFound)
        {
            return Err(error.clone());
        }
        let cost = cost(budgets.await);
        let shown = range.as_ref().ok().copied();
        let form = range::custom(CustomRange {
            action: links::agreement(&project),
            hidden: Vec::new(),
            days: match shown {
                Some(range) => [Some(range.from()), Some(range.to())],
                None => typed.map(|day| day?.parse().ok()),
            },
            today,
            problem: range.as_ref().err().map(|error| error.message.clone()),
            name: range::custom_name(shown),
            past: None,
        });
        // Refreshes until the missing days are fetched.
        let awaits_days = match &report {
            Ok(AgreementReport::Missing(report)) => report.missing.are_awaited(&report.history),
            _ => false,
        };
        let every = awaits_days.then_some(fetch_days::EVERY);
        Ok(view! {
            {page_head("Does it agree?", range::described(shown, today), form)}
            {outcome}
            <div data-region="agreement" data-every=every>
                <p>
                    "Docket stores page views day by day. This page compares their sums with the platform’s own figures for the whole range. "
                    {cost}
                </p>
                {body(project, range, report)}
            </div>
        }
        .into_any())
    })
}

/// The requested days up to today; by default the last 28 that are final.
fn range_of([from, to]: &[Option<String>; 2], today: Day) -> Result<DayRange, AppError> {
    let days = Days::parse(from.as_deref(), to.as_deref(), last_final_day(today))?;
    Ok(days.until(today)?)
}

/// `Comparing makes up to 3 requests to the platform, of the 100 per hour that all analytics share; each person has a share of them. 97 are left.`
fn cost(budgets: Option<Budgets>) -> AnyView {
    let requests = format!("Comparing makes up to {CALLS_MAX} requests to the platform");
    match budgets.map(|budgets| budgets.analytics) {
        Some(meter) => {
            let (limit, left) = (grouped(meter.limit.into()), grouped(meter.left().into()));
            let are = if meter.left() == 1 { "is" } else { "are" };
            let text = format!(
                "{requests}, of the {limit} per hour that all analytics share; each person has a share of them. {left} {are} left in all."
            );
            written(text).into_any()
        }
        None => format!("{requests}.").into_any(),
    }
}

fn body(
    project: String,
    range: Result<DayRange, AppError>,
    report: Result<AgreementReport, AppError>,
) -> AnyView {
    match (range, report) {
        (Ok(range), Ok(report)) => {
            let checked = Checked { project, range };
            match report {
                AgreementReport::Missing(report) => missing(&checked, *report),
                AgreementReport::Stored(report) => stored(&checked, &report),
            }
        }
        // The field shows the message.
        (Err(error), _) => {
            request::set_status(error.code);
            let href = links::agreement(&project);
            let step = view! { <a class="button" href=href>"Show the last 28 final days"</a> };
            empty("No days to compare", "Correct the dates above, or show other days.", step).into_any()
        }
        (_, Err(error)) => {
            request::set_status(error.code);
            failure(&error)
        }
    }
}

fn missing(checked: &Checked, MissingReport { history, missing }: MissingReport) -> AnyView {
    let count = days_are_missing(missing.days);
    let wanted = MissingDays { range: checked.range, missing, history };
    let text = view! {
        <p><strong>{count}</strong> " from the daily history. The range can be compared when they are fetched."</p>
        {fetch_days(&checked.project, &wanted, &checked.url(), true)}
    };
    view! { <div class="history-notice">{notice(Tone::Plain, text)}</div> }.into_any()
}

fn stored(checked: &Checked, report: &StoredRange) -> AnyView {
    let Checked { project, range } = checked;
    let hidden = vec![
        ("project", project.clone()),
        ("from", range.from().to_string()),
        ("to", range.to().to_string()),
    ];
    let result = report.result.as_ref().map(|found| {
        view! { {result(found, report)} {differences(checked, &found.agreement)} }
    });
    view! {
        {may_change(&report.provisional_days)}
        {daily::marked(&report.marked)}
        {post_form("compare-form", ComparePlatform::PATH, hidden, submit_button("Compare"))}
        {result}
    }
    .into_any()
}

/// The note that days of the range are incomplete or provisional: the newest of them, if they are many.
fn may_change(ranges: &[DayRange]) -> Option<AnyView> {
    let first = ranges.len().saturating_sub(RANGES_NAMED);
    let named = ranges[first..].iter().enumerate();
    let named =
        named.map(|(at, range)| view! { {(at > 0).then_some(", ")} {days(range.from(), range.to())} });
    let older = (first > 0).then_some("Older days, ");
    let text =
        view! { <p>{older} {named.collect_view()} " may still change, so their figures may differ."</p> };
    (!ranges.is_empty()).then(|| notice(Tone::Plain, text).into_any())
}

fn result(
    AgreementResult { agreement, fetched_at, corrected, stopped, is_outdated }: &AgreementResult,
    range: &StoredRange,
) -> AnyView {
    let (tone, verdict) = match (is_outdated, agreement.agrees()) {
        (true, _) => (Tone::Plain, OUTDATED.to_owned()),
        (false, true) => (Tone::Good, verdict(agreement)),
        (false, false) => (Tone::Warning, verdict(agreement)),
    };
    let stopped =
        stopped.clone().map(|why| view! { <p>"The platform’s other rows were not fetched. " {why}</p> });
    let updated =
        range.updated_at.map(|at| view! { "The newest day of the history was fetched " {ago(at)} ". " });
    let note =
        corrected.then_some(" Some figures of the platform were invalid, and were corrected or left out.");
    view! {
        <section class="group" aria-labelledby="agreement">
            <h2 id="agreement">"Result"</h2>
            {notice(tone, view! { <p>{written(verdict)}</p> })}
            {totals(agreement.totals)}
            <p>{written(compared_pages(agreement))}</p>
            {stopped}
            <p class="provenance">{updated} "The platform answered " {ago(*fetched_at)} "." {note}</p>
        </section>
    }
    .into_any()
}

fn verdict(agreement: &Agreement) -> String {
    let differ = match agreement.differences_total {
        1 => "1 page differs".to_owned(),
        many => format!("{} pages differ", grouped(many)),
    };
    match (agreement.totals.agree(), agreement.differences_total) {
        (true, 0) => "The daily history and the platform agree.".to_owned(),
        (true, _) => format!("The totals are equal, but {differ}."),
        (false, 0) => "The totals differ, but no compared page does.".to_owned(),
        (false, _) => format!("The totals differ, and {differ}."),
    }
}

/// How many pages were compared, and which were not.
fn compared_pages(Agreement { pages, sums, first_rows, .. }: &Agreement) -> String {
    let were = if *pages == 1 { "was" } else { "were" };
    let compared = format!("{} {were} compared one by one.", counted(*pages, "page", "pages"));
    let Some(rows) = first_rows else { return compared };
    format!(
        "{compared} Pages beyond the platform’s first {} rows were not, but are part of the totals. The compared pages have {} in the history, and {} on the platform.",
        grouped(*rows),
        counted(sums.history.total, "view", "views"),
        counted(sums.platform.total, "view", "views")
    )
}

fn totals(totals: BothCounts) -> AnyView {
    let rows = COUNTS.map(|(name, count)| {
        view! {
            <tr>
                <th scope="row">{name}</th>
                <td class="numeric" data-label="History">{number(count(totals.history))}</td>
                <td class="numeric" data-label="Platform">{number(count(totals.platform))}</td>
                <td class="numeric" data-label="Difference">{difference(totals, count)}</td>
            </tr>
        }
    });
    view! {
        <table class="status-table totals" aria-label="Totals">
            <thead>
                <tr>
                    <th scope="col">"Views"</th>
                    <th scope="col" class="numeric">"History"</th>
                    <th scope="col" class="numeric">"Platform"</th>
                    <th scope="col" class="numeric">"Difference"</th>
                </tr>
            </thead>
            <tbody>{rows.into_iter().collect_view()}</tbody>
        </table>
    }
    .into_any()
}

/// `+1,234` if the platform has more views than the history.
fn difference(BothCounts { history, platform }: BothCounts, count: fn(ViewCounts) -> u64) -> AnyView {
    let (history, platform) = (count(history), count(platform));
    view! { <span>{sign(platform, history)} {number(platform.abs_diff(history))}</span> }.into_any()
}

/// The pages that differ.
fn differences(checked: &Checked, agreement: &Agreement) -> Option<AnyView> {
    let Agreement { differences, differences_total, .. } = agreement;
    if differences.is_empty() {
        return None;
    }
    let count = counted_of(Cut::First, differences.len(), *differences_total, "page", "pages");
    let note = format!("{}, the largest difference of people, AI or all first.", capitalized(&count));
    let heads =
        COUNTS.map(|(name, _)| view! { <th scope="colgroup" colspan="2" class="numeric">{name}</th> });
    let sources = COUNTS.map(|_| {
        view! { <th scope="col" class="numeric">"History"</th> <th scope="col" class="numeric">"Platform"</th> }
    });
    let rows = differences.iter().map(|page| row(checked, page));
    let table = view! {
        <section class="group" aria-labelledby="differences">
            <h2 id="differences">"Pages that differ"</h2>
            <p class="faint">{written(note)} " The difference is the platform’s number of all views minus that of the history."</p>
            <table class="status-table differences" aria-labelledby="differences">
                <thead>
                    <tr>
                        <th scope="col" rowspan="2">"Page"</th>
                        {heads.into_iter().collect_view()}
                        <th scope="col" rowspan="2" class="numeric">"Difference"</th>
                    </tr>
                    <tr>{sources.into_iter().collect_view()}</tr>
                </thead>
                <tbody>{rows.collect_view()}</tbody>
            </table>
        </section>
    };
    Some(table.into_any())
}

fn row(checked: &Checked, PageDifference { path, counts }: &PageDifference) -> AnyView {
    let name = match path.starts_with('/') {
        true => view! { <a href=checked.page_report(path)>{path.clone()}</a> }.into_any(),
        // There is no report of it.
        false => path.clone().into_any(),
    };
    let cells = COUNTS.map(|(name, count)| {
        view! {
            <td class="numeric" data-label=format!("{name}, history")>{number(count(counts.history))}</td>
            <td class="numeric" data-label=format!("{name}, platform")>{number(count(counts.platform))}</td>
        }
    });
    let [.., (_, all)] = COUNTS;
    view! {
        <tr>
            <th scope="row">{name}</th>
            {cells.into_iter().collect_view()}
            <td class="numeric" data-label="Difference">{difference(*counts, all)}</td>
        </tr>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn agreement(first_rows: Option<u64>, totals: [u64; 2], differences_total: u64) -> Agreement {
        let counts = |total| ViewCounts { human: total, ai: 0, total };
        let [history, platform] = totals.map(counts);
        let totals = BothCounts { history, platform };
        let differences = Vec::new();
        Agreement { totals, pages: 750, sums: totals, first_rows, differences, differences_total }
    }

    #[test]
    fn verdict_is_about_totals_and_pages() {
        let text = |totals, pages| verdict(&agreement(None, totals, pages));
        assert_eq!(text([5, 5], 0), "The daily history and the platform agree.");
        assert_eq!(text([5, 5], 1), "The totals are equal, but 1 page differs.");
        assert_eq!(text([5, 6], 0), "The totals differ, but no compared page does.");
        assert_eq!(text([5, 6], 1_200), "The totals differ, and 1,200 pages differ.");
    }

    #[test]
    fn pages_beyond_the_rows_are_mentioned() {
        let text = |first_rows| compared_pages(&agreement(first_rows, [1_234, 1], 0));
        assert_eq!(text(None), "750 pages were compared one by one.");
        assert_eq!(
            text(Some(750)),
            "750 pages were compared one by one. Pages beyond the platform’s first 750 rows were not, but are part of the totals. The compared pages have 1,234 views in the history, and 1 view on the platform."
        );
    }

    #[test]
    fn default_range_has_the_last_28_final_days() {
        let today = "2026-11-21".parse().unwrap_or_else(|error| panic!("{error}"));
        let range = |from: &str, to: &str| {
            let typed = [from, to].map(|day| Some(day.to_owned()).filter(|day| !day.is_empty()));
            range_of(&typed, today).map(|range| [range.from(), range.to()].map(|day| day.to_string()))
        };
        let days = |from: &str, to: &str| Ok([from.to_owned(), to.to_owned()]);
        assert_eq!(range("", ""), days("2026-10-21", "2026-11-17"));
        assert_eq!(range("2026-11-01", ""), days("2026-11-01", "2026-11-17"));
        assert_eq!(range("2026-11-20", "2026-11-30"), days("2026-11-20", "2026-11-21"));
        assert!(range("2026-11-22", "2026-11-30").is_err_and(|error| error.code == ErrorCode::BadInput));
        assert!(range("x", "").is_err());
    }
}
