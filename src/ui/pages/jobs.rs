//! `/p/{project}/jobs`: the list of jobs. Search, filters and sort are in the URL.

mod filters;
mod pager;
mod query;

use futures::try_join;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::charts::number::{counted, grouped};
use crate::ui::clock::now;
use crate::ui::components::empty::{empty, learn_about};
use crate::ui::components::form::{confirm, of_person, post_form};
use crate::ui::components::icon::{self, icon};
use crate::ui::components::list_news::list_news;
use crate::ui::components::unmarked::unmarked;
use crate::ui::components::waiting::waiting_link;
use crate::ui::components::ways_to_start::ways_to_start;
use crate::ui::islands::buttons;
use crate::ui::islands::live_search::LiveSearch;
use crate::ui::islands::menus::Menus;
use crate::ui::islands::selection::Selectable;
use crate::ui::marks::{BULK, BULK_COUNT, BULK_PAGE, MATCHES, NEXT_FOCUS};
use crate::ui::pages::job_row::{Entry, Found, batch_row, folded, found_row};
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::title;
use crate::ui::pages::request::{self, page};
use crate::ui::pages::saved_views_bar::{Bar, Tab, saved_views_bar};
use api::archive_and_tags::{ArchiveJobs, TagJobs, UnarchiveJobs, UntagJobs};
use api::jobs::{SendAllAgain, filtered_jobs};
use api::saved_views::list_saved_views;
use model::analytics::query::MATCHING;
use model::excerpt::SearchWords;
use model::job::{Job, JobState, SENT_AGAIN_MAX};
use model::job_list::{FilteredJobs, JobPage};
use model::job_query::JobQuery;
use model::links;
use model::saved_view::SavedViewPage;
use model::user::CurrentSession;
use query::JobsUrl;

/// The id of the list, the target of a skip link.
const LIST: &str = "jobs";

#[component]
pub fn Jobs() -> impl IntoView {
    let (project, session) = (request::project(), request::session());
    let url = JobsUrl::read(&request::query());
    let refused = outcome_of(&[
        ArchiveJobs::PATH,
        UnarchiveJobs::PATH,
        TagJobs::PATH,
        UntagJobs::PATH,
        SendAllAgain::PATH,
    ]);
    page(async move {
        let JobsUrl { query, cursor, page } = url.clone();
        let (jobs, views) =
            try_join!(filtered_jobs(&project, query, cursor, page), list_saved_views(project.clone(), None))?;
        let waiting = request::budgets().await.filter(|budgets| budgets.waiting > 0);
        let waiting = waiting.map(|budgets| waiting_link(&project, budgets.waiting));
        let bar = Bar {
            project: &project,
            of: SavedViewPage::Jobs,
            tabs: tabs(&project, &url.query, &session.username),
            views: &views,
            now: url.query.canonical(),
            role: session.role,
        };
        let bar = saved_views_bar(&bar, |view| format!("{}?{}", links::jobs(&project), view.query));
        let page = &jobs.page;
        let revision = page.revision.to_string();
        let head = unmarked(view! {
            <header class="jobs-head">
                <h1>"Jobs"</h1>
                {bar}
                <div class="jobs-waiting" data-region="waiting" data-follows=revision.clone()>{waiting}</div>
                {session.can_start_jobs().then(|| ways_to_start(&project))}
            </header>
        });
        Ok(view! {
            {title("Jobs")}
            <a class="skip-link" href=format!("#{LIST}")>"Skip to the list"</a>
            <a class="skip-link" href=format!("#{}", filters::SEARCH)>"Skip to search and filters"</a>
            {head}
            {refused}
            <div data-region="filters" data-follows=revision>
                {filters::filters(&project, &url.query, &jobs, &session.username)}
            </div>
            {list(&project, &url, &jobs, &session)}
            <Menus />
            <LiveSearch />
        }
        .into_any())
    })
}

/// The views that every list has, in its order. `me`: the name of the signed-in person.
fn tabs(project: &str, query: &JobQuery, me: &str) -> Vec<Tab> {
    let all = JobQuery { sort: query.sort.clone(), ..JobQuery::default() };
    let tabs = [
        ("All", all.clone()),
        ("Needs attention", all.with("needs", "attention")),
        ("Running", all.with("status", JobState::Active.as_str())),
        ("Mine", all.with("author", me)),
    ];
    let tabs = tabs.into_iter().map(|(name, of)| Tab {
        name,
        href: query::href(project, &of),
        is_here: of == *query,
    });
    tabs.collect()
}

fn list(project: &str, url: &JobsUrl, jobs: &FilteredJobs, session: &CurrentSession) -> AnyView {
    let (page, may_file) = (&jobs.page, session.can_start_jobs());
    let body = match (page.jobs.is_empty(), url.query.is_filtered() || url.is_further_on()) {
        (false, _) => {
            let head = list_head(project, url, page, may_file);
            let list = unmarked(view! {
                <ul id=LIST class="job-list" aria-label="Jobs" tabindex="-1" {..NEXT_FOCUS.here()}>
                    {rows(project, url, page, may_file)}
                </ul>
            });
            match may_file {
                // Browsers restore no checkbox of a form without autocompletion.
                true => view! {
                    <Selectable picked=None>
                        <form id=BULK.name() method="post" autocomplete="off" action=TagJobs::PATH data-done="tagged" data-undo=UntagJobs::PATH>
                            {of_person()}
                            {head}
                            {list}
                        </form>
                    </Selectable>
                }
                .into_any(),
                false => view! { <div class="listing">{head} {list}</div> }.into_any(),
            }
        }
        (true, true) => nothing_found(project),
        (true, false) => no_jobs_yet(project, may_file),
    };
    view! {
        // Rows are added and removed only on the user's request, so that the list does not move.
        <div id=page.jobs.is_empty().then_some(LIST) data-region="list" data-when="posted" data-follows=page.revision.to_string() data-key="list">
            {list_news()}
            {send_all_again(project, url, page, session)}
            {body}
            {archived_matches(project, &url.query, jobs.archived_matches)}
            {pager::pager(project, url, page)}
        </div>
    }
    .into_any()
}

/// The decision about all jobs with an unknown outcome, above the list of exactly these jobs.
fn send_all_again(project: &str, url: &JobsUrl, page: &JobPage, session: &CurrentSession) -> Option<AnyView> {
    let all = JobQuery { status: JobState::Unknown.as_str().to_owned(), ..JobQuery::default() };
    if !session.can_start_jobs() || page.total < 2 || url.query.canonical() != all.canonical() {
        return None;
    }
    let hidden = vec![("project", project.to_owned()), ("as_of", now().as_millis().to_string())];
    let which = match page.total {
        total if total > SENT_AGAIN_MAX => {
            format!("The {SENT_AGAIN_MAX} oldest of {} jobs", grouped(total))
        }
        total => format!("All {} jobs", grouped(total)),
    };
    let content = view! {
        <p>
            {which} " join the queue, and each text is sent once more. "
            "If the agent started one of them after all, it does the work twice. Look for new pull requests before you decide."
        </p>
        <button type="submit" class="button button-primary" data-done="Queued again">"Send all again"</button>
    };
    let form = post_form("stack", SendAllAgain::PATH, hidden, content);
    Some(confirm("Not started: send all again", form))
}

/// The rows. Several jobs of a batch on this page are folded into one row, which counts the whole batch. It is open if a search
/// matches them.
fn rows(project: &str, url: &JobsUrl, page: &JobPage, may_file: bool) -> AnyView {
    let found = Found { words: SearchWords::of(&url.query.q), excerpts: Some(&page.excerpts) };
    let row = |job: &Job| found_row(job, may_file, &found);
    let is_open = !url.query.q.is_empty();
    let rows = folded(&page.jobs, &page.batches).into_iter().map(|entry| match entry {
        Entry::Job(job) => row(job).into_any(),
        Entry::Batch(batch, jobs) => {
            let here = jobs.len() as u64;
            let rows = jobs.into_iter().map(row).collect_view();
            batch_row(project, batch, Some(here), is_open, rows).into_any()
        }
    });
    rows.collect_view().into_any()
}

/// The line above the rows: the number of jobs, the order, and the bulk actions.
fn list_head(project: &str, url: &JobsUrl, page: &JobPage, may_file: bool) -> AnyView {
    let position = view! { <span class="list-position numeric">{pager::position(page)}</span> };
    let density = view! {
        <button type="button" class="menu-button js-only" data-button=buttons::DENSITY>"Row height: comfortable / compact"</button>
    };
    let orders = filters::orders(project, &url.query, density.into_any());
    if !may_file {
        return view! { <div class="list-head">{position} {orders}</div> }.into_any();
    }
    // Jobs on other pages have no checkbox.
    let matching = (page.total > page.jobs.len() as u64).then(|| {
        view! {
            <input type="hidden" name="count" value=page.total.to_string() />
            <label class="with-icon bulk-matching">
                <input class="check" type="checkbox" name=MATCHING value=format!("?{}", url.query.canonical()) {..MATCHES.is(page.total.to_string())} />
                {format!("Select all {} that match", grouped(page.total))}
            </label>
        }
    });
    // Whether the list shows archived jobs.
    let (path, undo, words, done) = match url.query.archived.is_empty() {
        false => (UnarchiveJobs::PATH, ArchiveJobs::PATH, "Restore", "restored"),
        true => (ArchiveJobs::PATH, UnarchiveJobs::PATH, "Archive", "archived"),
    };
    unmarked(view! {
        <div class="list-head">
            <input type="hidden" name="project" value=project.to_owned() />
            <input id=BULK_PAGE.name() class="check js-only" type="checkbox" aria-label="Select all on this page" />
            {position}
            <div class="bulk-actions">
                <span class="bulk-count js-only" role="status"><span id=BULK_COUNT.name()>"0"</span> " selected"</span>
                {matching}
                <button type="reset" class="button">"Clear"</button>
                <label class="visually-hidden" for="bulk-tag">"Tag"</label>
                <input id="bulk-tag" class="field bulk-tag" name="tag" maxlength="40" placeholder="Tag" />
                <button type="submit" class="button">"Add tag"</button>
                <button type="submit" class="button" formaction=path data-done=done data-undo=undo>
                    {icon(icon::ARCHIVED)} {words}
                </button>
            </div>
            {orders}
        </div>
    })
    .into_any()
}

/// The link to archived jobs that match the search.
fn archived_matches(project: &str, query: &JobQuery, number: u64) -> Option<AnyView> {
    let archived = JobQuery { archived: "yes".to_owned(), ..query.clone() };
    let href = format!("{}?{}", links::jobs(project), archived.canonical());
    let (verb, show) = if number == 1 { ("matches", "Show it") } else { ("match", "Show them") };
    let found = counted(number, "archived job", "archived jobs");
    let line = view! { <p class="hint">{format!("{found} {verb}. ")} <a href=href>{show}</a></p> };
    (number > 0).then(|| line.into_any())
}

fn nothing_found(project: &str) -> AnyView {
    let clear = view! { <a class="button" href=links::jobs(project)>"Show all jobs"</a> };
    empty("No jobs match your filters", "Change the search or clear the filters.", clear).into_any()
}

/// The empty state. Also used by the overview.
pub(super) fn no_jobs_yet(project: &str, may_start: bool) -> AnyView {
    let example = "Check the quickstart against the current SDK and fix every step that no longer works.";
    let href = links::new_job(project, example, "");
    let start = may_start.then(|| view! { <a class="button" href=href>"Start with an example"</a> });
    empty(
        "No jobs yet",
        "A job is a task for the documentation agent, written in plain words. It works on the repository by itself and opens a pull request for you to read.",
        view! { {start} {learn_about("job-states", "jobs and their states")} },
    ).into_any()
}
