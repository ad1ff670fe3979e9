//! `/admin/upstream`: how the upstream is doing, for administrators.

use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::api::call::call;
use crate::api::upstream::GetUpstreamStatus;
use crate::model::time::Timestamp;
use crate::model::upstream::{LimitStatus, Operation, OperationStatus, UpstreamStatus};
use crate::ui::components::icon::{self, icon};
use crate::ui::components::loading::{self, loaded};
use crate::ui::components::moment::{ago, exactly};
use crate::ui::components::page_head::page_head;
use crate::ui::erase::{Erase, handler};
use crate::ui::state::asked::Asked;

#[component]
pub fn AdminUpstream() -> impl IntoView {
    let status = Asked::once(|| call(GetUpstreamStatus {}));
    // Without JavaScript the link loads the page again.
    let refresh = view! {
        <a class="button" href="" rel="external" on:click=handler(move |event: MouseEvent| {
            event.prevent_default();
            status.again();
        })>"Refresh"</a>
    }
    .into_any();
    view! {
        {page_head("Upstream", "How the platform behind Docket is doing".into_any(), refresh)}
        {loaded(status, loading::rows, shown)}
    }
    .into_any()
}

fn shown(status: UpstreamStatus) -> AnyView {
    view! {
        {status.key_refused_at.map(key_refused)}
        <section class="group">
            <h2 id="operations">"Operations"</h2>
            <table class="status-table" aria-labelledby="operations">
                <thead>
                    <tr>
                        <th scope="col">"Operation"</th>
                        <th scope="col">"State"</th>
                        <th scope="col">"Last success"</th>
                        <th scope="col">"Last error"</th>
                    </tr>
                </thead>
                <tbody>{status.operations.into_iter().map(operation).collect_view()}</tbody>
            </table>
            <p class="faint">"Since the server started. Nothing is sent to find this out."</p>
        </section>
        <section class="group">
            <h2 id="limits">"Limits of the last 60 minutes"</h2>
            <table class="status-table" aria-labelledby="limits">
                <thead>
                    <tr>
                        <th scope="col">"Limit"</th>
                        <th scope="col">"Project"</th>
                        <th scope="col" class="numeric">"Used"</th>
                        <th scope="col" class="numeric">"Waiting"</th>
                        <th scope="col">"Next call"</th>
                    </tr>
                </thead>
                <tbody>{status.limits.into_iter().map(limit).collect_view()}</tbody>
            </table>
            <p class="faint">"Reads of jobs have no published limit: each job is read at most once per interval, more slowly as it ages."</p>
        </section>
    }
    .into_any()
}

fn key_refused(at: Timestamp) -> AnyView {
    view! {
        <div class="notice notice-bad" role="alert">
            {icon(icon::CROSS)}
            <p>
                "The platform refused Docket’s key " {ago(at)}
                ". It may have expired, be limited to reading, or not be allowed from this address. Put a new one where DOCKET_API_KEY or DOCKET_API_KEY_FILE says."
            </p>
        </div>
    }
    .into_any()
}

fn operation(status: OperationStatus) -> AnyView {
    let state = match (status.rests_until, status.last_success_at, status.last_error.is_some()) {
        (Some(until), ..) => view! { "Resting, next try " {exactly(until)} }.into_any(),
        (None, None, false) => "Not used yet".into_any(),
        (None, ..) => "In use".into_any(),
    };
    let error = match status.last_error {
        Some(failure) => view! { {ago(failure.at)} ": " {failure.message} }.into_any(),
        None => "None".into_any(),
    };
    view! {
        <tr>
            <th scope="row">{name(status.operation)}</th>
            <td data-label="State">{state}</td>
            <td data-label="Last success">{status.last_success_at.map_or_else(|| "None".into_any(), ago)}</td>
            <td data-label="Last error">{error}</td>
        </tr>
    }
    .into_any()
}

fn limit(status: LimitStatus) -> AnyView {
    let next = match (status.meter.next_fits_at, status.paused_until.is_some()) {
        (None, _) => "Now".into_any(),
        (Some(at), false) => view! { "Used up until " {exactly(at)} }.into_any(),
        (Some(at), true) => view! { "The platform asked to wait until " {exactly(at)} }.into_any(),
    };
    view! {
        <tr>
            <th scope="row">{name(status.operation)}</th>
            <td data-label="Project">{status.project.unwrap_or_else(|| "All".to_owned())}</td>
            <td data-label="Used" class="numeric">{format!("{} of {}", status.meter.used, status.meter.limit)}</td>
            <td data-label="Waiting" class="numeric">{status.waiting.to_string()}</td>
            <td data-label="Next call">{next}</td>
        </tr>
    }
    .into_any()
}

fn name(operation: Operation) -> &'static str {
    match operation {
        Operation::Create => "Job starts",
        Operation::FollowUp => "Follow-ups",
        Operation::Read => "Reads of jobs",
        Operation::Views => "Analytics questions",
    }
}
