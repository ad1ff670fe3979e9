//! `/p/{project}/notifications`: the last jobs that finished, failed or need attention, unread ones first, and the browser's
//! permission for notifications. Also a person's API tokens that expire soon, and for administrators notices about the platform. `?who=all` shows everyone's jobs,
//! `?who=projects` the number of unread ones in each project. The jobs of a batch are one notification.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::charts::number::counted;
use crate::ui::clock;
use crate::ui::components::batch_progress;
use crate::ui::components::empty::empty;
use crate::ui::components::form::post_form;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::localized::number;
use crate::ui::components::pull_request::waiting_name;
use crate::ui::components::time::{ago, ahead, lasting};
use crate::ui::islands::buttons;
use crate::ui::marks::NOTIFY;
use crate::ui::pages::linked_status::{job_status, link};
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::platform_notice;
use crate::ui::pages::request::{self, page};
use api::jobs::{ReadNotifications, list_notifications};
use api::notifications::{ArchiveNotifications, batches_of, unread_in, without_archived};
use model::api_token::ExpiringToken;
use model::id::BatchId;
use model::job::Job;
use model::job_list::{BatchSummary, Notifications};
use model::links;
use model::pull_request::WaitingFor;
use model::time::Timestamp;
use model::upstream::PlatformNotice;
use model::user::Project;

#[component]
pub fn NotificationsPage() -> impl IntoView {
    let project = request::project();
    let session = request::session();
    // People who start no jobs have none of their own.
    let has_own = session.can_start_jobs();
    let who = request::query().get("who").unwrap_or_default();
    let has_projects = session.projects.len() > 1;
    let of_projects = has_projects && who == "projects";
    let all = !has_own || who == "all";
    let head = page_head("Notifications", "Jobs that finished, failed or need attention", permission());
    let tab = |name: &'static str, href: String, is_here: bool| {
        view! { <a href=href aria-current=is_here.then_some("page")>{name}</a> }
    };
    let own = has_own.then(|| tab("My jobs", links::notifications(&project, false), !all && !of_projects));
    let everyone = tab("Everyone’s jobs", links::notifications(&project, true), all && !of_projects);
    let projects = has_projects
        .then(|| tab("All projects", links::notifications_of_all_projects(&project), of_projects));
    let tabs = (has_own || has_projects)
        .then(|| view! { <nav class="segments" aria-label="Whose jobs">{own} {everyone} {projects}</nav> });
    if of_projects {
        let content = page(async move {
            let unread = unread_in(&session.projects).await?;
            Ok(all_projects(session.projects.into_iter().zip(unread).collect()))
        });
        return view! { {head} {tabs} {content} }.into_any();
    }
    let content = page(async move {
        let who = all.then(|| "all".to_owned());
        let mut listed = list_notifications(project.clone(), who).await?;
        without_archived(&mut listed).await?;
        let jobs: Vec<Job> = listed.new.iter().chain(&listed.earlier).cloned().collect();
        let summaries = batches_of(&jobs).await?;
        let mut batches = Batches { summaries, shown: Vec::new(), jobs };
        let older = (listed.older > 0).then(|| older(&project, all, listed.older));
        Ok(view! {
            <div data-region="notifications" data-every="30">
                {platform(&listed.platform)}
                {expiring(&listed.tokens)}
                {since(&listed.new, &mut batches, listed.looked_at)}
                {older}
                {before(&listed.earlier, &mut batches)}
                {cut(&project, all, &listed)}
            </div>
        }
        .into_any())
    });
    view! { {head} {tabs} {content} }.into_any()
}

/// The batches of the listed jobs. Each has one notification, at the last change of its jobs.
struct Batches {
    summaries: Vec<BatchSummary>,
    shown: Vec<BatchId>,
    /// All listed jobs.
    jobs: Vec<Job>,
}

impl Batches {
    /// The notification of `job`, or that of its batch unless it is above already.
    fn row(&mut self, job: &Job) -> Option<AnyView> {
        let summary = self.summaries.iter().find(|summary| job.batch.as_ref() == Some(&summary.id));
        let Some(summary) = summary.filter(|summary| summary.progress.jobs > 0) else {
            return Some(row(job));
        };
        if self.shown.contains(&summary.id) {
            return None;
        }
        self.shown.push(summary.id.clone());
        let jobs = self.jobs.iter().filter(|job| job.batch.as_ref() == Some(&summary.id));
        let jobs: Vec<&str> = jobs.map(|job| job.id.as_str()).collect();
        Some(row_of_batch(job, summary, jobs.join(",")))
    }
}

/// How many notifications are unread in each project, with a button that marks them as read.
fn all_projects(unread: Vec<(Project, u32)>) -> AnyView {
    let rows = unread.into_iter().map(|(project, unread)| {
        let id = project.id.to_string();
        let count = match unread {
            0 => "Nothing new".to_owned(),
            unread => counted(unread.into(), "unread", "unread"),
        };
        let read = (unread > 0).then(|| {
            let button = view! {
                <button type="submit" class="button" data-done="Marked as read">
                    "Mark as read" <span class="visually-hidden">": " {project.name.clone()}</span>
                </button>
            };
            post_form("", ReadNotifications::PATH, vec![("project", id.clone())], button)
        });
        view! {
            <li data-key=id.clone()>
                <a class="row-target" href=links::notifications(&id, false)>{project.name.clone()}</a>
                {read}
                <span class="faint">{count}</span>
            </li>
        }
    });
    view! { <div data-region="notifications" data-every="30"><ul class="notifications">{rows.collect_view()}</ul></div> }.into_any()
}

/// The button for browser notifications.
fn permission() -> impl IntoView {
    view! {
        <button id=NOTIFY.name() type="button" class="button js-only" data-button=buttons::NOTIFY aria-pressed="false">
            {icon(icon::BELL)}
            "Notify me in this browser"
        </button>
    }
}

/// What administrators are told about the platform.
fn platform(notices: &[PlatformNotice]) -> Option<AnyView> {
    let rows = notices.iter().map(|told| {
        let new = told.is_new.then(|| view! { <span class="faint">"New"</span> });
        view! { <li>{new} <span>{platform_notice::sentence(told)}</span></li> }
    });
    (!notices.is_empty()).then(|| {
        view! {
            <section class="group" aria-labelledby="platform">
                <h2 id="platform">"Platform"</h2>
                <ul class="notifications">{rows.collect_view()}</ul>
                <p class="hint"><a href=links::UPSTREAM>"View the platform’s state"</a></p>
            </section>
        }
        .into_any()
    })
}

/// The API tokens that expire soon or expired lately.
fn expiring(tokens: &[ExpiringToken]) -> Option<AnyView> {
    let rows = tokens.iter().map(|token| {
        let expires = match token.expires_at <= clock::now() {
            true => view! { " expired " {ago(token.expires_at)} "." }.into_any(),
            false => view! { " expires " {ahead(token.expires_at)} "." }.into_any(),
        };
        let new = token.is_new.then(|| view! { <span class="faint">"New"</span> });
        view! {
            <li>
                {new}
                <span>
                    <span dir="auto">{token.name.clone()}</span> " " <span class="faint">{format!("…{}", token.last_four)}</span>
                    {expires}
                </span>
            </li>
        }
    });
    (!tokens.is_empty()).then(|| {
        view! {
            <section class="group" aria-labelledby="tokens">
                <h2 id="tokens">"API tokens"</h2>
                <ul class="notifications">{rows.collect_view()}</ul>
                <p class="hint">
                    "Create a new token and replace it where it is used. " <a href=links::TOKENS>"Manage API tokens"</a>
                </p>
            </section>
        }
        .into_any()
    })
}

fn since(new: &[Job], batches: &mut Batches, looked_at: Option<Timestamp>) -> AnyView {
    if new.is_empty() {
        let at =
            looked_at.map(|at| view! { "Nothing finished or failed since you last looked, " {ago(at)} "." });
        return empty("Nothing new", "", view! { <p>{at}</p> }).into_any();
    }
    let heading = match looked_at {
        Some(at) => view! { "New since you last looked, " {ago(at)} }.into_any(),
        None => "New".into_any(),
    };
    section("new", heading, new, batches)
}

/// How many unread changes are too old for this page, and a button that marks them as read.
fn older(project: &str, all: bool, count: u32) -> AnyView {
    let who = if all { "all" } else { "" };
    let href = by_last_change(project);
    let words = if count == 1 { " older change is unread." } else { " older changes are unread." };
    let hidden = vec![("project", project.to_owned()), ("who", who.to_owned())];
    let button =
        view! { <button type="submit" class="button" data-done="Marked as read">"Mark all as read"</button> };
    view! {
        <div class="older">
            <p>{number(u64::from(count))} {words} " " <a href=href>"View jobs by last change"</a></p>
            {post_form("", ReadNotifications::PATH, hidden, button)}
        </div>
    }
    .into_any()
}

fn by_last_change(project: &str) -> String {
    links::with_query(&links::jobs(project), &[("sort", "changed")])
}

fn before(earlier: &[Job], batches: &mut Batches) -> Option<AnyView> {
    (!earlier.is_empty()).then(|| section("earlier", "Earlier".into_any(), earlier, batches))
}

/// That the page does not list all jobs: those of `all` people, or the person's own.
fn cut(project: &str, all: bool, listed: &Notifications) -> Option<AnyView> {
    (listed.total > listed.examined).then(|| {
        let me = request::session().username;
        let author = if all { "" } else { &*me };
        let href = links::with_query(&links::jobs(project), &[("sort", "changed"), ("author", author)]);
        let whose = if all { " jobs" } else { " of your jobs" };
        view! {
            <p class="hint">
                "From the " {number(listed.examined)} {whose} " that changed last, of " {number(listed.total)} ". "
                <a href=href>"View all jobs by last change"</a>
            </p>
        }
        .into_any()
    })
}

fn section(id: &'static str, heading: AnyView, jobs: &[Job], batches: &mut Batches) -> AnyView {
    let rows = jobs.iter().filter_map(|job| batches.row(job)).collect_view();
    view! {
        <section class="group" aria-labelledby=id>
            <h2 id=id>{heading}</h2>
            <ul class="notifications">{rows}</ul>
        </section>
    }
    .into_any()
}

fn row(job: &Job) -> AnyView {
    let href = links::job(job.project.as_str(), job.id.as_str());
    let status = job.badge();
    // The rest of the row does not move while somebody reads it.
    let region = ["link-", job.id.as_str()].concat();
    view! {
        <li data-key=job.id.to_string()>
            {job_status(&status)}
            <span class="contents" data-region=region>{link(&status)}</span>
            <a class="row-target" dir="auto" href=href>{job.title()}</a>
            <span class="faint">{job.author.clone()} " · " {ago(job.changed_at)} {waiting(job)}</span>
            {archive(job.project.as_str(), job.id.to_string(), job.title())}
        </li>
    }
    .into_any()
}

/// The button that archives the notification of `jobs`, ids separated by commas. `of`: the notification's name.
fn archive(project: &str, jobs: String, of: String) -> AnyView {
    let button = view! {
        <button type="submit" class="quiet" title="Archive, until it changes again" data-done="Archived">
            {icon(icon::ARCHIVED)}
            <span class="visually-hidden">"Archive: " {of}</span>
        </button>
    };
    let hidden = vec![("project", project.to_owned()), ("jobs", jobs)];
    post_form("order-3", ArchiveNotifications::PATH, hidden, button).into_any()
}

/// `job`: the one of the batch that changed last. `jobs`: the ids of all that are listed.
fn row_of_batch(job: &Job, batch: &BatchSummary, jobs: String) -> AnyView {
    let href = links::batch(job.project.as_str(), batch.id.as_str());
    view! {
        <li data-key=batch.id.to_string()>
            <span class="badge">{icon(icon::JOBS)} <span>"Batch"</span></span>
            <a class="row-target" dir="auto" href=href>
                {batch_progress::notice(&batch.progress)} " " <span class="soft">{batch.name.clone()}</span>
            </a>
            <span class="faint">{job.author.clone()} " · " {ago(job.changed_at)}</span>
            {archive(job.project.as_str(), jobs, batch.name.clone())}
        </li>
    }
    .into_any()
}

/// Who acts next on the job's open pull request: a wait that lasts long is a reason for a notification.
fn waiting(job: &Job) -> Option<AnyView> {
    let request = job.pull_request.as_ref().filter(|request| request.tracked)?;
    let since = request.waiting_since?;
    let next = match request.waiting_for {
        WaitingFor::Nobody => return None,
        waiting_for => waiting_name(waiting_for).to_lowercase(),
    };
    Some(view! { " · waiting for " {next} " " {lasting(since)} }.into_any())
}
