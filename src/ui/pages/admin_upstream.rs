//! `/admin/upstream`: the state of the platform, for administrators.

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::components::form::of_person;
use crate::ui::components::localized::number;
use crate::ui::components::notice::{Tone, notice};
use crate::ui::components::table::table;
use crate::ui::components::time::{ago, ahead, full};
use crate::ui::pages::outcome::outcome_of;
use crate::ui::pages::page_head::page_head;
use crate::ui::pages::platform_notice;
use crate::ui::pages::request::{self, page};
use api::upstream::{TrustClock, upstream_status};
use model::links;
use model::time::Timestamp;
use model::upstream::{
    ClockJump, CodeHostStatus, ForwardingPeer, LimitStatus, Operation, OperationStatus, PauseReason,
    PausedOwner, PlatformNotice, RateLimit, RefusedOperation, TaskStatus,
};
use model::user::Project;

const OPERATIONS: [&str; 4] = ["Operation", "State", "Last success", "Last error"];
const LIMITS: [&str; 5] = ["Limit", "Project", "Used", "Waiting", "Next request"];

const CODE_HOSTS: [&str; 6] = ["Connection", "State", "Tracked", "Limit", "Last success", "Last error"];

const TASKS: [&str; 4] = ["Task", "State", "Last success", "Failures"];

#[component]
pub fn AdminUpstream() -> impl IntoView {
    let confirmed = outcome_of(&[TrustClock::PATH]);
    let projects = request::session().projects;
    page(async move {
        let status = upstream_status().await?;
        let refresh = view! { <a class="button" href="">"Refresh"</a> };
        let operations = status.operations.into_iter().map(operation).collect_view();
        let limits = status.limits.into_iter().map(limit).collect_view();
        let tasks = status.tasks.into_iter().map(task).collect_view();
        Ok(view! {
            {page_head("Platform", "The state of the platform behind Docket.", refresh)}
            {confirmed}
            {status.key_refused_at.map(key_refused)}
            {status.notices.iter().map(platform).collect_view()}
            {refused(status.refused)}
            {status.unknown_proxy.map(unknown_proxy)}
            {status.configuration_refused_at.map(configuration_refused)}
            {status.clock_jump.map(clock_jump)}
            <section class="group">
                <h2>"Operations"</h2>
                {table("Operations", &OPERATIONS, operations)}
                <p class="faint">"The times are stored and survive a restart. Docket sends no extra requests to find this out."</p>
            </section>
            <section class="group" id=links::LIMITS>
                <h2>"Limits of the last 60 minutes"</h2>
                {table("Limits of the last 60 minutes", &LIMITS, limits)}
                <p class="faint">
                    "Checking jobs has no published limit: Docket checks each job at most once per interval, and less often as it gets older."
                </p>
            </section>
            {page_views(&projects)}
            {code_hosts(status.code_hosts)}
            <section class="group">
                <h2>"Background tasks"</h2>
                {table("Background tasks", &TASKS, tasks)}
                <p class="faint">"These are the tasks and failures of the process that served this page, since it started. A failed task restarts by itself; the log has the reason."</p>
            </section>
        }
        .into_any())
    })
}

fn key_refused(at: Timestamp) -> AnyView {
    let text = view! {
        <p>
            "The platform refused Docket’s key " {ago(at)}
            " with status 401. It is wrong or has expired. Set a new one in DOCKET_API_KEY or DOCKET_API_KEY_FILE."
        </p>
    };
    notice(Tone::Bad, text).into_any()
}

fn platform(told: &PlatformNotice) -> AnyView {
    notice(Tone::Warning, view! { <p>{platform_notice::sentence(told)}</p> }).into_any()
}

/// The operations that the platform refuses with status 403.
fn refused(operations: Vec<RefusedOperation>) -> Option<AnyView> {
    if operations.is_empty() {
        return None;
    }
    let items = operations.into_iter().map(|refused| {
        view! { <li>{name(refused.operation)} ", project " {refused.project} ", last tried " {ago(refused.at)}</li> }
    });
    let text = view! {
        <p>
            "The platform refuses these operations with status 403. The key may be read-only or not be allowed from this address, or a rule of the platform or a firewall refuses the request. Docket tries one request of each every five minutes; a prompt that is refused twice is not accepted."
        </p>
        <ul>{items.collect_view()}</ul>
    };
    Some(notice(Tone::Bad, text).into_any())
}

fn unknown_proxy(peer: ForwardingPeer) -> AnyView {
    let text = view! {
        <p>
            {peer.address} " sent X-Forwarded-For " {ago(peer.at)}
            " and was ignored. If it is your proxy, add its address to DOCKET_TRUSTED_PROXIES and restart Docket. Until then all people share one address, and a few wrong passwords block sign-in for everyone."
        </p>
    };
    notice(Tone::Bad, text).into_any()
}

fn configuration_refused(at: Timestamp) -> AnyView {
    let text = view! {
        <p>
            "Docket read its configuration again " {ago(at)}
            " and did not apply it, because it is invalid. The previous configuration stays in effect until the next restart, which would fail. "
            <code>"docket check"</code> " says what is wrong."
        </p>
    };
    notice(Tone::Bad, text).into_any()
}

fn clock_jump(jump: ClockJump) -> AnyView {
    let text = view! {
        <p>
            "The clock is at " {full(jump.now)} ", and before that it was at " {full(jump.from)}
            ". Docket removes no old data until you confirm the time, or the clock has run regularly for a day. If the time is wrong, set the clock first."
        </p>
        <form method="post" action=TrustClock::PATH data-plain="">
            {of_person()}
            <button type="submit" class="button">"Confirm the time"</button>
        </form>
    };
    notice(Tone::Bad, text).into_any()
}

fn operation(status: OperationStatus) -> AnyView {
    let state = match (status.circuit_open_until, status.last_success_at, status.last_error.is_some()) {
        (Some(until), ..) => view! { "Paused, next try " {ahead(until)} }.into_any(),
        (None, None, false) => "Not used yet".into_any(),
        (None, ..) => "In use".into_any(),
    };
    let error =
        status.last_error.map(|failure| view! { {ago(failure.at)} ": " {failure.message} }.into_any());
    view! {
        <tr>
            <th scope="row">{name(status.operation)}</th>
            <td data-label="State"><span>{state}</span></td>
            <td data-label="Last success">{status.last_success_at.map(|at| ago(at).into_any()).unwrap_or_else(none)}</td>
            <td data-label="Last error"><span>{error.unwrap_or_else(none)}</span></td>
        </tr>
    }
    .into_any()
}

fn limit(status: LimitStatus) -> AnyView {
    let next = match (status.next_try_at, status.meter.next_fits_at, status.paused_until.is_some()) {
        (Some(at), fits, _) => {
            let at = fits.map_or(at, |fits| fits.max(at));
            view! { "Paused, next try " {ahead(at)} }.into_any()
        }
        (None, None, _) => "Now".into_any(),
        (None, Some(at), false) => view! { "Used up, next call " {ahead(at)} }.into_any(),
        (None, Some(at), true) => {
            view! { "The platform requested a pause, next call " {ahead(at)} }.into_any()
        }
    };
    view! {
        <tr>
            <th scope="row">{if status.is_shared { "Agent" } else { name(status.operation) }}</th>
            <td data-label="Project">{status.project.unwrap_or_else(|| "All".to_owned())}</td>
            <td data-label="Used">{format!("{} of {}", status.meter.used, status.meter.limit)}</td>
            <td data-label="Waiting">{status.waiting.to_string()}</td>
            <td data-label="Next request"><span>{next}</span></td>
        </tr>
    }
    .into_any()
}

/// Links to the comparisons of the daily history with the platform.
fn page_views(projects: &[Project]) -> AnyView {
    let links = projects.iter().enumerate().map(|(at, project)| {
        let href = links::agreement(project.id.as_str());
        view! { {(at > 0).then_some(", ")} <a href=href>{project.name.clone()}</a> }
    });
    view! {
        <section class="group">
            <h2>"Page views"</h2>
            <p>"Does the daily history agree with the platform? Compare them for " {links.collect_view()} "."</p>
        </section>
    }
    .into_any()
}

/// The connections to code hosts, or how to connect one.
fn code_hosts(hosts: Vec<CodeHostStatus>) -> AnyView {
    let content = match hosts.is_empty() {
        true => view! {
            <p class="faint">
                "Docket is not connected to GitHub or GitLab, so links to pull requests have no state. "
                <a href=links::help("pull-requests")>"How to connect GitHub or GitLab"</a>
            </p>
        }
        .into_any(),
        false => table("GitHub and GitLab", &CODE_HOSTS, hosts.into_iter().map(code_host).collect_view()),
    };
    view! { <section class="group"><h2>"GitHub and GitLab"</h2> {content}</section> }.into_any()
}

fn code_host(status: CodeHostStatus) -> AnyView {
    let state = match (status.paused_until, status.last_success_at) {
        (Some(until), _) => {
            view! { {pause_name(status.pause_reason)} ", next request " {ahead(until)} }.into_any()
        }
        (None, None) if status.failure.is_none() => "Not used yet".into_any(),
        (None, _) => "In use".into_any(),
    };
    let limit = status.limit.map(|RateLimit { limit, remaining, resets_at }| {
        view! { {number(remaining)} " of " {number(limit)} " left, resets " {ahead(resets_at)} }.into_any()
    });
    let error =
        status.failure.map(|failure| view! { "Since " {ago(failure.at)} ": " {failure.message} }.into_any());
    let owners = status.paused_owners.into_iter().map(|PausedOwner { owner, until, reason }| {
        view! { <br/> <bdi>{owner}</bdi> ": " {reason} ", next request " {ahead(until)} }
    });
    view! {
        <tr>
            <th scope="row">{status.host}</th>
            <td data-label="State"><span>{state} {owners.collect_view()}</span></td>
            <td data-label="Tracked">{status.open.to_string()}</td>
            <td data-label="Limit"><span>{limit.unwrap_or_else(none)}</span></td>
            <td data-label="Last success">{status.last_success_at.map(|at| ago(at).into_any()).unwrap_or_else(none)}</td>
            <td data-label="Last error"><span>{error.unwrap_or_else(none)}</span></td>
        </tr>
    }
    .into_any()
}

fn pause_name(reason: Option<PauseReason>) -> &'static str {
    match reason {
        Some(PauseReason::Limit) => "Limit reached",
        Some(PauseReason::NoAccess) => "No access",
        Some(PauseReason::Failing) => "Failing",
        None => "Paused",
    }
}

fn task(status: TaskStatus) -> AnyView {
    let state = if status.is_well { "Running" } else { "Not running, or without success for minutes" };
    let failures = match status.last_failure_at {
        Some(at) => view! { {status.failures.to_string()} ", last " {ago(at)} }.into_any(),
        None => none(),
    };
    view! {
        <tr>
            <th scope="row">{status.name}</th>
            <td data-label="State">{state}</td>
            <td data-label="Last success">{status.last_success_at.map(|at| ago(at).into_any()).unwrap_or_else(none)}</td>
            <td data-label="Failures"><span>{failures}</span></td>
        </tr>
    }
    .into_any()
}

fn none() -> AnyView {
    "None".into_any()
}

fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Job starts",
        Operation::FollowUp => "Follow-ups",
        Operation::Read => "Job checks",
        Operation::Views => "Analytics requests",
    }
}
