//! `/p/{project}/analytics`: page views by people and AI agents. All filters are in the URL. The figures come from the daily
//! history if it contains the whole range, otherwise live from the platform, if they are about all pages.

pub mod agreement;
mod chips;
mod daily;
mod events;
pub(super) mod figures;
mod history_notice;
mod live;
mod one_page;
mod pick;
mod range;
pub(super) mod trend;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::charts::bar;
use crate::ui::clock;
use crate::ui::components::empty::{empty, learn_about};
use crate::ui::components::failure::failure;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::notice::problem;
use crate::ui::components::pages_table::{self, About, Shown, pages_table};
use crate::ui::islands::in_place::InPlace;
use crate::ui::islands::selection::Selectable;
use crate::ui::marks::{REPORT, REPORT_PROBLEM};
use crate::ui::pages::fetch_days::{self, FetchAgain, MissingDays};
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::request::{self, page};
use crate::ui::pages::saved_views_bar::{Bar, saved_views_bar};
use api::analytics::{GetViews, report_of};
use api::annotations::{RemoveAnnotation, SaveAnnotation};
use api::history::FetchDays;
use api::jobs::jobs_about_page;
use api::pull_requests::changed_pages;
use api::saved_views::list_saved_views;
use model::ParseError;
use model::analytics::days::Days;
use model::analytics::query::{AnalyticsQuery, PICK, TypedDays};
use model::analytics::report::{AnalyticsReport, PagesTable};
use model::day::{Day, DayRange};
use model::error::AppError;
use model::job::Job;
use model::links;
use model::preset::Preset;
use model::saved_view::{SavedView, SavedViewPage};
use model::similar::ChangedPage;
use model::user::{CurrentSession, Role};

/// The parameter that requests the cost of fetching the days of the range again.
const AGAIN: &str = "again";

/// The data that all parts of the page share.
struct AnalyticsPage {
    project: String,
    query: AnalyticsQuery,
    /// The problem of the URL, if its days or its order are invalid.
    invalid: Option<ParseError>,
    /// The days of the URL, if they are invalid.
    typed: Option<TypedDays>,
    /// The filters of the URL.
    search: String,
    session: CurrentSession,
    today: Day,
    /// The day and the text of a note that was refused.
    note: Option<(String, String)>,
    /// The compared days, if some of them are missing; the error if that is not known.
    wanted: Result<Option<MissingDays>, AppError>,
    /// The stored days of the range, if a person who may fetch them again requested the cost.
    again: Option<FetchAgain>,
    /// Whether the cost was requested.
    asks_again: bool,
    /// The pages of the table that open pull requests change.
    changed: Vec<ChangedPage>,
    /// The newest jobs about the page of the report, and the number of all.
    about: Result<(Vec<Job>, u64), AppError>,
}

#[component]
pub fn Analytics() -> impl IntoView {
    let params = request::query();
    let search = params.get(pick::STAY).unwrap_or_else(request::search);
    let (filters, today) = (request::read(&search), clock::today());
    let note = request::flash(SaveAnnotation::PATH).filter(|message| message.problem().is_some());
    let refused = [SaveAnnotation::PATH, RemoveAnnotation::PATH, FetchDays::PATH, GetViews::PATH]
        .into_iter()
        .find_map(|form| request::flash(form)?.problem().map(|error| error.message.clone()));
    let (query, invalid, typed) = match AnalyticsQuery::of(|name| filters.get(name), today) {
        Ok(query) => (query, None, None),
        Err(invalid) => (invalid.rest, Some(invalid.problem), invalid.days),
    };
    let mut context = AnalyticsPage {
        project: request::project(),
        query: query.picking(params.get_all(PICK).unwrap_or_default()),
        invalid,
        typed,
        search,
        session: request::session(),
        today,
        note: note.map(|note| (note.typed("day").to_owned(), note.typed("text").to_owned())),
        wanted: Ok(None),
        again: None,
        asks_again: params.get(AGAIN).is_some(),
        changed: Vec::new(),
        about: Ok((Vec::new(), 0)),
    };
    page(async move {
        let views =
            list_saved_views(context.project.clone(), Some(SavedViewPage::Analytics.as_str().to_owned()))
                .await?;
        let report = context.report().await;
        if report.as_ref().is_ok_and(lacks_comparison)
            && let Some(range) = context.compared_days()
        {
            context.wanted = MissingDays::load(&context.project, range).await;
        }
        if context.asks_again
            && context.session.can_start_jobs()
            && report.as_ref().is_ok_and(is_daily)
            && let Some(range) = context.range()
        {
            context.again = FetchAgain::load(&context.project, range).await;
        }
        if let Ok(Some(table)) = report.as_ref().map(AnalyticsReport::table) {
            let paths = table.rows.iter().map(|row| row.path.clone()).collect();
            // The report is useful without them.
            context.changed = changed_pages(&context.project, paths).await.unwrap_or_default();
        }
        if let Some(path) = context.page() {
            // The figures are useful without them.
            context.about = jobs_about_page(&context.project, path).await;
        }
        // Refreshes until the requested days are fetched.
        let every =
            report.as_ref().is_ok_and(|report| context.waits_for_days(report)).then_some(fetch_days::EVERY);
        Ok(view! {
            {bar::patterns()}
            <InPlace>
                <div id=REPORT.name() data-region="report" data-every=every>
                    {page_head("Analytics", context.described(), range::ranges(&context))}
                    {range::future_note(&context)}
                    {problem(refused)}
                    <div id=REPORT_PROBLEM.name()></div>
                    <div class="applied">{chips::chips(&context)} {saved_views(&context, &views)}</div>
                    {body(&context, report)}
                </div>
            </InPlace>
        }
        .into_any())
    })
}

impl AnalyticsPage {
    async fn report(&self) -> Result<AnalyticsReport, AppError> {
        match (&self.invalid, &self.typed) {
            (Some(problem), Some(_)) => Err(problem.clone().into()),
            (problem, _) => match (report_of(&self.project, self.query.clone()).await, problem) {
                // The platform's figures have no order.
                (Ok(AnalyticsReport::Daily(_) | AnalyticsReport::OnePage(_)), Some(problem)) => {
                    Err(problem.clone().into())
                }
                (report, _) => report,
            },
        }
    }

    /// The page that the report is about; `None` for a folder, or for another text.
    fn page(&self) -> Option<&str> {
        self.query.path.as_deref().filter(|path| path.starts_with('/') && !path.ends_with("/*"))
    }

    /// The requested days up to today; `None` if they are not a valid range, or all in the future.
    fn range(&self) -> Option<DayRange> {
        self.query.range(self.today).filter(|_| self.typed.is_none())
    }

    /// Why there are no days to show, if both are valid days.
    fn days_problem(&self) -> Option<&'static str> {
        range::problem(&self.query, self.typed.as_ref(), self.today)
    }

    /// The days, below the heading.
    fn described(&self) -> AnyView {
        match self.query.is_of_all_time() {
            true => "Everything that the platform has counted".into_any(),
            false => range::described(self.range(), self.today),
        }
    }

    /// What a saved view of this page stores. An invalid query is refused with its problem.
    fn to_saved(&self) -> String {
        match self.invalid {
            None => self.query.to_saved(),
            Some(_) => self.search.clone(),
        }
    }

    /// A link to the published page.
    fn published(&self, path: &str) -> Option<AnyView> {
        let href = pages_table::published(self.session.site(&self.project)?, path)?;
        Some(view! { <a href=href target="_blank" rel="noreferrer">"Published page" {icon(icon::EXTERNAL)}</a> }.into_any())
    }

    /// For administrators, the comparison with the platform, over the same days if the URL names them.
    fn agreement_link(&self) -> Option<AnyView> {
        let days = self.query.days.days();
        let named = self.range().filter(|_| days.and_then(Days::preset) != Some(Preset::DEFAULT));
        let href = match named {
            Some(range) => links::agreement_over(&self.project, range),
            None => links::agreement(&self.project),
        };
        (self.session.role == Role::Admin)
            .then(|| view! { " · " <a href=href>"Compare with the platform’s own figures"</a> }.into_any())
    }

    /// The whole period that these days are compared with.
    fn compared_days(&self) -> Option<DayRange> {
        self.query.compare.period_before(self.range()?)
    }

    /// The compared days, if some of them are missing.
    fn wanted(&self) -> Option<&MissingDays> {
        self.wanted.as_ref().ok().and_then(Option::as_ref)
    }

    /// Whether days of this report come soon.
    fn waits_for_days(&self, report: &AnalyticsReport) -> bool {
        self.wanted().is_some_and(MissingDays::are_requested)
            || self.again.as_ref().is_some_and(FetchAgain::is_pending)
            || match report {
                AnalyticsReport::Live(live) => {
                    live.missing.as_ref().is_some_and(|missing| missing.are_awaited(&live.history))
                }
                AnalyticsReport::Missing(report) => report.missing.are_awaited(&report.history),
                AnalyticsReport::OnePage(report) => report.page.jobs.iter().any(|job| job.requested),
                AnalyticsReport::Daily(_) | AnalyticsReport::AllTime(_) => false,
            }
    }

    /// The URL of this page, for forms.
    fn url(&self) -> String {
        self.query.href(&self.project)
    }

    /// The URL of this page with the cost of fetching its days again.
    fn url_again(&self) -> String {
        let url = self.url();
        let separator = if url.contains('?') { '&' } else { '?' };
        format!("{url}{separator}{AGAIN}=1")
    }

    /// The first and the last of these days.
    fn days(&self) -> Option<(Day, Day)> {
        self.range().map(|range| (range.from(), range.to()))
    }
}

/// Whether days of the compared period are missing.
fn lacks_comparison(report: &AnalyticsReport) -> bool {
    let pages = match report {
        AnalyticsReport::Daily(report) => &report.pages,
        AnalyticsReport::OnePage(report) => &report.pages,
        AnalyticsReport::Live(_) | AnalyticsReport::AllTime(_) | AnalyticsReport::Missing(_) => return false,
    };
    pages.comparison.is_none() && pages.earlier.is_none()
}

/// Whether the daily history contains all days of the report.
fn is_daily(report: &AnalyticsReport) -> bool {
    matches!(report, AnalyticsReport::Daily(_) | AnalyticsReport::OnePage(_))
}

/// The report or the error. The range above it can still be changed.
fn body(context: &AnalyticsPage, report: Result<AnalyticsReport, AppError>) -> AnyView {
    match report {
        // The fields show the message.
        Err(error) if context.days_problem().is_some() => {
            request::set_status(error.code);
            no_days(&context.project)
        }
        Ok(AnalyticsReport::Daily(report)) => daily::report(context, &report),
        Ok(AnalyticsReport::OnePage(report)) => one_page::report(context, &report),
        Ok(AnalyticsReport::Live(report)) => live::report(context, &report),
        Ok(AnalyticsReport::AllTime(report)) => live::all_time(context, &report),
        Ok(AnalyticsReport::Missing(report)) => {
            view! { {history_notice::no_figures(context, &report)} {one_page::live(context)} }.into_any()
        }
        Err(error) => {
            request::set_status(error.code);
            view! { {one_page::live(context)} {failure(&error)} }.into_any()
        }
    }
}

/// The table of pages. It is paged, sorted and searched in place.
fn table(context: &AnalyticsPage, table: PagesTable) -> AnyView {
    let AnalyticsPage { project, query, session, .. } = context;
    let (days, may_start) = (context.days(), session.can_start_jobs());
    let picked = may_start.then(|| pick::batch(context, &table));
    let (site, changed) = (session.site(project).map(str::to_owned), context.changed.clone());
    let about = About { project: project.clone(), days, may_start, site, changed };
    let shown = Shown { query: query.clone(), table };
    let content = pages_table(&about, &shown);
    let section = view! {
        <section class="paged-views" aria-labelledby=pages_table::HEADING>
            {content}
        </section>
    };
    match picked {
        Some(picked) => {
            view! { <Selectable picked=Some(project.clone())>{picked} {section}</Selectable> }.into_any()
        }
        None => section.into_any(),
    }
}

fn saved_views(context: &AnalyticsPage, views: &[SavedView]) -> AnyView {
    let bar = Bar {
        project: &context.project,
        of: SavedViewPage::Analytics,
        tabs: Vec::new(),
        views,
        now: context.to_saved(),
        role: context.session.role,
    };
    saved_views_bar(&bar, |view| {
        let saved = request::read(&view.query);
        match AnalyticsQuery::of(|name| saved.get(name), context.today) {
            Ok(query) => query.href(&context.project),
            // Its days have become too many since. The page shows the problem.
            Err(_) => format!("{}?{}", links::analytics(&context.project), view.query),
        }
    })
}

fn no_views(project: &str) -> AnyView {
    empty(
        "No views in these days",
        "No page was viewed, or nothing is counted yet. A longer range may show more.",
        view! { {last_28_days(project)} {learn_about("analytics", "page views")} },
    )
    .into_any()
}

fn no_days(project: &str) -> AnyView {
    empty("No days to show", "Correct the dates above, or show the last 28 days.", last_28_days(project))
        .into_any()
}

fn last_28_days(project: &str) -> AnyView {
    view! { <a class="button" href=links::analytics(project)>"Show the last 28 days"</a> }.into_any()
}
