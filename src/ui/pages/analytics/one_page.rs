//! The report of one documentation page: its figures, its trend, and the jobs about it.

use leptos::prelude::*;

use crate::ui::charts::number::{Cut, capitalized, counted, counted_of, moved, share};
use crate::ui::components::job_effect::{effect_on, effects_warning, how_to_read, no_figures};
use crate::ui::components::localized::{self, number};
use crate::ui::components::notice::problem;
use crate::ui::components::page_job_link::{PageFigures, page_job_link};
use crate::ui::components::table;
use crate::ui::pages::analytics::figures::{Against, compared};
use crate::ui::pages::analytics::{AnalyticsPage, daily, range};
use crate::ui::pages::fetch_days::fetch_weeks;
use crate::ui::pages::job_row::job_row;
use model::analytics::effect::{Finding, JobEffect};
use model::analytics::pages::Comparison;
use model::analytics::report::{OnePageReport, TableRow};
use model::links;

pub(super) fn report(context: &AnalyticsPage, report: &OnePageReport) -> AnyView {
    let OnePageReport { pages, page } = report;
    let row = &page.row;
    let comparison = row.previous.map(|before| (row.compared(), before));
    let against = Against::of(comparison, page.earlier.as_ref());
    let part = format!("{} of all views of these days.", share(row.counts.total, pages.totals.total));
    view! {
        {head(context, &TableRow::from(row), pages.comparison.as_ref())}
        <div class="figures-line">
            {compared(row.counts, against, daily::may_change(context, pages))}
            {range::changes(context)}
        </div>
        <p class="provenance">{part}</p>
        {daily::provenance(context, pages)}
        {daily::marked(&pages.marked)}
        {daily::trend_section(context, &page.trend)}
        {jobs(context, &page.jobs, page.jobs_total)}
    }
    .into_any()
}

fn head(context: &AnalyticsPage, row: &TableRow, comparison: Option<&Comparison>) -> AnyView {
    let AnalyticsPage { project, query, session, .. } = context;
    let folders = query.folders_above(&row.path).map(|(name, folder)| {
        view! { " / " <a href=folder.href(project)>{name.to_owned()}</a> }
    });
    // A job cannot be about a folder.
    let may_start = session.can_start_jobs() && !row.path.ends_with("/*");
    let start = may_start.then(|| {
        let page = PageFigures::of(row, comparison, context.days());
        page_job_link(project, &page, "button", "Start a job about this page")
    });
    let jobs = view! { <a href=links::jobs_about(project, &row.path)>"Jobs"</a> };
    view! {
        <div class="one-page" data-path=row.path.clone()>
            <nav class="folders" aria-label="Folder">
                <a href=query.about(None).href(project)>"All pages"</a>
                {folders.collect_view()}
            </nav>
            <div class="section-head">
                <h2>{row.path.clone()}</h2>
                <div class="row-links">{context.published(&row.path)} {jobs} {start}</div>
            </div>
        </div>
    }
    .into_any()
}

/// The jobs about the page of the URL, while days of the range are missing; empty without a page.
pub(super) fn live(context: &AnalyticsPage) -> Option<AnyView> {
    let path = context.page()?.to_owned();
    let jobs = jobs(context, &[], 0);
    Some(
        view! { <div class="one-page" data-path=path.clone()><h2>{path.clone()}</h2></div> {jobs} }
            .into_any(),
    )
}

/// All jobs about the page: those with figures in a table, the others in a list above it.
fn jobs(context: &AnalyticsPage, finished: &[JobEffect], finished_total: u64) -> AnyView {
    let (about, about_total) =
        context.about.as_ref().map_or((&[][..], 0), |(jobs, total)| (jobs.as_slice(), *total));
    let others = about.iter().filter(|job| !finished.iter().any(|known| known.job == job.id));
    let others: Vec<_> = others.map(|job| job_row(job, ())).collect();
    let unknown = context.about.as_ref().err().map(|error| problem(Some(error.message.clone())));
    if finished.is_empty() && others.is_empty() && unknown.is_none() {
        return view! { <p class="none">"No job about this page has finished yet."</p> }.into_any();
    }
    let more = ((about.len() as u64) < about_total).then(|| {
        let href = links::jobs_about(&context.project, context.page().unwrap_or_default());
        let newest = counted_of(Cut::Newest, about.len(), about_total, "job", "jobs");
        view! { <p class="more">{capitalized(&newest)} ". " <a href=href>"All jobs about this page"</a></p> }
    });
    let cut = ((finished.len() as u64) < finished_total).then(|| {
        let newest = counted_of(Cut::Newest, finished.len(), finished_total, "job", "jobs");
        view! { <p class="provenance">{capitalized(&newest)} " with figures."</p> }
    });
    let others = (!others.is_empty()).then(|| {
        let label = if finished.is_empty() { "Jobs about this page" } else { "Other jobs about this page" };
        view! { <ul class="job-list" aria-label=label>{others.into_iter().collect_view()}</ul> }
    });
    view! {
        <section aria-labelledby="jobs">
            <h2 id="jobs">"Jobs about this page"</h2>
            {unknown}
            {others}
            {more}
            {(!finished.is_empty()).then(|| effects(context, finished))}
            {cut}
        </section>
    }
    .into_any()
}

fn effects(context: &AnalyticsPage, jobs: &[JobEffect]) -> AnyView {
    let table = view! {
        <table class="pages effects">
            <thead>
                <tr>
                    <th scope="col">"Job"</th>
                    <th scope="col">"Finished"</th>
                    <th scope="col" class="numeric">"Days"</th>
                    <th scope="col" class="numeric">"Before"</th>
                    <th scope="col" class="numeric">"After"</th>
                    <th scope="col" class="numeric moved">"Change"</th>
                    <th scope="col" class="numeric">"AI share"</th>
                </tr>
            </thead>
            <tbody>{jobs.iter().map(|job| effect(context, job)).collect_view()}</tbody>
        </table>
    };
    view! {
        <p class="provenance">{how_to_read()}</p>
        {effects_warning(jobs.iter(), context.today, context.query.readers)}
        {table::wide("Views before and after each job", table)}
    }
    .into_any()
}

fn effect(context: &AnalyticsPage, job: &JobEffect) -> AnyView {
    let JobEffect { before, after, days, .. } = *job;
    let readers = context.query.readers;
    let numbers = match no_figures(job, context.today, readers) {
        Some(why) => {
            let fetch = (job.finding(context.today, readers) == Finding::DaysMissing
                && context.session.can_start_jobs())
            .then(|| fetch_weeks(&context.project, job, &context.url()));
            view! { <td class="faint" colspan="5">{why} " " {fetch}</td> }.into_any()
        }
        None => {
            let provisional = job.provisional.then_some(" (some provisional)");
            view! {
                <td class="numeric wraps">{counted(days.into(), "day", "days")} {provisional}</td>
                <td class="numeric">{number(readers.of(before))}</td>
                <td class="numeric">{number(readers.of(after))}</td>
                <td class="numeric wraps">{effect_on(readers, before, after)}</td>
                <td class="numeric">{moved(before, after)}</td>
            }
            .into_any()
        }
    };
    let href = links::job(&context.project, job.job.as_str());
    view! {
        <tr>
            <th scope="row" class="path"><a href=href>{job.title.clone()}</a></th>
            <td>{localized::day(job.finished)}</td>
            {numbers}
        </tr>
    }
    .into_any()
}
