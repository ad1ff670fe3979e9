//! Views of a page before and after a job about it finished.

use leptos::prelude::*;

use crate::ui::charts::number::{Cut, capitalized, change, changes, counted, counted_of, grouped, moved};
use crate::ui::components::readers;
use crate::ui::components::what_is_ai::ai_warning;
use model::analytics::choice::Readers;
use model::analytics::effect::{Finding, JobEffect, JobEffects, PageEffect};
use model::analytics::pages::VIEWS_MIN;
use model::day::Day;
use model::links;
use model::page_views::ViewCounts;
use model::pull_request::PullRequestState;

/// How to read the figures.
pub fn how_to_read() -> String {
    format!(
        "Compares full weeks before and after the merge, or the end of the job where the merge is not known (pages with {VIEWS_MIN}+ views, otherwise –). Correlation, not proof."
    )
}

/// `People +1% · AI +38%`, and before it the change of all if these are the readers.
pub fn effect_on(readers: Readers, before: ViewCounts, after: ViewCounts) -> String {
    let all = (readers == Readers::All).then(|| format!("All {} · ", change(after.total, before.total)));
    [all.unwrap_or_default(), changes(after, before)].concat()
}

/// Why there are no figures of these readers; `None` if there are.
pub fn no_figures(effect: &JobEffect, today: Day, readers: Readers) -> Option<String> {
    let missing = || counted(effect.missing.into(), "day", "days");
    match effect.finding(today, readers) {
        Finding::NotMerged(PullRequestState::Closed) => Some("Closed without a merge".to_owned()),
        Finding::NotMerged(_) => Some("Not merged yet: views are compared from the merge on".to_owned()),
        Finding::TooEarly => Some("Too early to tell".to_owned()),
        Finding::DaysMissing if effect.missing == 0 => {
            Some("The days around it are not complete yet".to_owned())
        }
        Finding::DaysMissing if effect.requested => {
            Some(format!("Fetching the days around it: {} to go", missing()))
        }
        Finding::DaysMissing => Some(format!("{} around it not in the daily history", missing())),
        Finding::TooFewViews => Some(format!("Too few views{} to tell", readers::by(readers))),
        Finding::Comparable => None,
    }
}

/// The warning if what counts as AI changed within the days of one of these comparisons.
pub fn effects_warning<'a>(
    effects: impl Iterator<Item = &'a JobEffect>,
    today: Day,
    readers: Readers,
) -> Option<AnyView> {
    let shown = effects.filter(|effect| effect.finding(today, readers) == Finding::Comparable);
    let compared: Vec<_> = shown.map(JobEffect::compared_days).collect();
    compared.into_iter().find_map(|(first, last)| ai_warning(first, last))
}

/// The pages of a finished job, each with a link to its report. Empty without pages. `fetch`: the button for missing days. `job`: the URL of its page.
pub fn job_effects<F: IntoView>(
    project: &str,
    job: &str,
    JobEffects { pages, pages_total }: &JobEffects,
    (today, readers): (Day, Readers),
    fetch: F,
) -> impl IntoView + use<F> {
    let items = pages.iter().map(|PageEffect { path, effect }| {
        let content = match no_figures(effect, today, readers) {
            Some(why) => why,
            None => format!(
                "{}: {} views{} before, {} after; AI share {}. Compared over {} each{}.",
                effect_on(readers, effect.before, effect.after),
                grouped(readers.of(effect.before)),
                readers::by(readers),
                grouped(readers.of(effect.after)),
                moved(effect.before, effect.after),
                counted(effect.days.into(), "day", "days"),
                if effect.provisional { ", of which some are provisional" } else { "" },
            ),
        };
        view! { <li><a href=links::page_report(project, path)>{path.clone()}</a> " " <span>{content}</span></li> }
    });
    let items = items.collect_view();
    let cut = (pages.len() as u64) < *pages_total;
    let cut = cut.then(|| {
        let which = counted_of(Cut::First, pages.len(), *pages_total, "page", "pages");
        view! { <p class="provenance">{capitalized(&which)} "."</p> }
    });
    (!pages.is_empty()).then(|| {
        view! {
            <section class="job-effects" aria-labelledby="job-effects">
                <div class="section-head">
                    <h2 id="job-effects">"Views before and after"</h2>
                    {readers::switch(readers, |readers| href(job, readers))}
                </div>
                <ul>{items}</ul>
                {cut}
                {effects_warning(pages.iter().map(|page| &page.effect), today, readers)}
                {fetch.into_view()}
                <p class="provenance">{how_to_read()}</p>
            </section>
        }
    })
}

/// The effects on other readers, on the page of the job.
fn href(job: &str, readers: Readers) -> String {
    let fields = [("readers", if readers == Readers::ON_PAGES { "" } else { readers.as_str() })];
    [&links::with_query(job, &fields), "#job-effects"].concat()
}
