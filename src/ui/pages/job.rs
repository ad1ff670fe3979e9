//! `/p/{project}/jobs/{job}`: one job as a conversation. It is refreshed when the job's state changes, and every two
//! seconds while a follow-up is being sent.

mod archive_and_tags;
mod check;
mod conversation;
mod deliveries;
mod fact;
mod facts;
mod fit;
mod head;
mod pull_request;
mod queued;
mod resolve;
mod sent_prompt;
mod timeline;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;

use crate::ui::clock;
use crate::ui::components::cost;
use crate::ui::components::form::of_person;
use crate::ui::components::job_effect;
use crate::ui::components::notice::{Tone, notice, problem};
use crate::ui::components::page_room::{Room, escaped_len};
use crate::ui::islands::follow_up::FollowUp;
use crate::ui::islands::prompt_form::{DraftNotes, FormStart};
use crate::ui::marks::FOLLOW_UP_FIELD;
use crate::ui::pages::copy_button::{Copied, copy_button};
use crate::ui::pages::fetch_days;
use crate::ui::pages::job::conversation::{Conversation, Shown};
use crate::ui::pages::page_head::title;
use crate::ui::pages::prompt_form::{
    self, PromptField, base_field, form_start, other_version, prompt_field, send_buttons,
};
use crate::ui::pages::request::{self, page};
use api::analytics::job_effects;
use api::archive_and_tags::{ArchiveJobs, TagJobs, UnarchiveJobs, UntagJobs};
use api::history::FetchDays;
use api::job_pages::{AddPage, RemovePage};
use api::jobs::{CheckJob, ResolveDelivery, SaveDraft, SendFollowUp, job_form, shown_job};
use api::pull_requests::opened;
use api::queue::{CancelQueued, MoveQueued};
use model::analytics::choice::Readers;
use model::analytics::effect::{Finding, JobEffects, PageEffect};
use model::error::AppError;
use model::flash::FlashMessage;
use model::job::{Job, JobForm, ShownFollowUps};
use model::links;

/// The refresh interval while a follow-up is being sent, in seconds.
const SOON: &str = "2";

#[component]
pub fn JobPage() -> impl IntoView {
    let (project, session, person) = (request::project(), request::session(), request::person());
    let id = request::param("job");
    let query = request::query();
    // `again` is the follow-up whose text the form starts with.
    let follow_ups = ShownFollowUps::of(query.get("before").as_deref(), query.get("again").as_deref());
    let given = query.get("readers").and_then(|word| word.parse().ok());
    let readers: Readers = given.unwrap_or(Readers::ON_PAGES);
    let shown = Shown { follow_ups, as_source: query.get("source").is_some() };
    let plain = [
        ResolveDelivery::PATH,
        CheckJob::PATH,
        FetchDays::PATH,
        ArchiveJobs::PATH,
        UnarchiveJobs::PATH,
        TagJobs::PATH,
        UntagJobs::PATH,
        AddPage::PATH,
        RemovePage::PATH,
        MoveQueued::PATH,
        CancelQueued::PATH,
        SaveDraft::PATH,
    ];
    let refused = plain.into_iter().find_map(request::flash);
    let unsent = request::flash(SendFollowUp::PATH);
    let is_refresh = request::is_refresh();
    page(async move {
        let job = shown_job(project.clone(), &id, follow_ups).await?;
        let mut room = Room::of_page();
        room.use_up(head::size(&job));
        let may_send = session.can_start_jobs();
        let reply = match may_send {
            true => follow_up(&job, person, follow_ups.again, unsent, &mut room).await?,
            false => Reply::default(),
        };
        let follow_up = reply.view(job.state.accepts_follow_ups(), is_refresh);
        let refused_id = refused.as_ref().map(|refused| refused.typed("remote_id")).unwrap_or_default();
        // The page is useful without them.
        let effects = match job.has_changes() {
            true => job_effects(project.clone(), id.clone()).await.unwrap_or_default(),
            false => JobEffects::default(),
        };
        let pages_of_files = opened(&job).await?;
        let why = refused.as_ref().and_then(|refused| refused.problem()).map(|error| error.message.clone());
        let wants_days =
            |page: &&PageEffect| page.effect.finding(clock::today(), readers) == Finding::DaysMissing;
        let missing = effects.pages.iter().find(wants_days).map(|page| page.effect.clone());
        let is_fetching = missing.as_ref().is_some_and(|effect| effect.requested);
        let queued = queued::of(&job).await?;
        let every = is_sending(&job)
            .then_some(SOON)
            .or_else(|| is_fetching.then_some(fetch_days::EVERY))
            .or_else(|| (!queued.is_empty()).then_some(queued::EVERY));
        let here = links::job(&project, &id);
        let fetch =
            missing.filter(|_| may_send).map(|effect| fetch_days::fetch_weeks(&project, &effect, &here));
        let conversation = Conversation::of(&job, shown, &mut room);
        let timeline = timeline::timeline(&job, conversation.range.clone());
        Ok(view! {
            {title(&head::short_title(&job))}
            {problem(why)}
            <div data-region="job" data-every=every>
                {head::head(&job, may_send)}
                <div class="columns">
                    <div class="conversation">
                        {conversation.view(may_send, refused_id, &queued)}
                        {timeline}
                        {job_effect::job_effects(&project, &here, &effects, (clock::today(), readers), fetch)}
                    </div>
                    {facts::facts(&job, may_send, &pages_of_files)}
                </div>
            </div>
            // Its form is not changed by refreshes.
            <div class="reply" data-region="reply">{follow_up}</div>
        }
        .into_any())
    })
}

fn is_sending(job: &Job) -> bool {
    job.follow_ups.iter().any(|sent| sent.state.is_pending())
}

/// The form for a follow-up; without one, no follow-up can be sent by this person.
#[derive(Default)]
struct Reply {
    form: Option<AnyView>,
    has_draft: bool,
}

impl Reply {
    /// A job may stop to accept follow-ups while somebody writes one: the form stays as long as it has a text, which can be copied. The server does
    /// not know the text of an open page, where the style hides a form without one.
    fn view(self, is_possible: bool, is_refresh: bool) -> Option<AnyView> {
        let form = self.form.filter(|_| is_possible || self.has_draft || is_refresh)?;
        let closed = (!is_possible).then(|| {
            let copied = Copied::Field(FOLLOW_UP_FIELD.name());
            let copy = copy_button("button", copied, "Text copied", "Copy the text");
            let text = view! { <p>"This job accepts no follow-ups any more. Your text stays here, and is not sent."</p> {copy} };
            view! { <div class="reply-closed">{notice(Tone::Warning, text)}</div> }
        });
        Some(view! { {closed} <fieldset disabled=!is_possible>{form}</fieldset> }.into_any())
    }
}

/// The form for a follow-up, whose text is counted in the room of the page. It starts with a refused text, else with the text of follow-up number `again`, else with the
/// draft.
async fn follow_up(
    job: &Job,
    person: String,
    again: Option<u32>,
    unsent: Option<FlashMessage>,
    room: &mut Room,
) -> Result<Reply, AppError> {
    let project = job.project.to_string();
    let form: JobForm = job_form(project.clone(), Some(job.id.to_string()), None).await?;
    let budget = request::budgets().await.map(|budgets| budgets.follow_ups);
    let why = unsent.as_ref().and_then(|unsent| unsent.problem().cloned());
    let is_confirmed = unsent.as_ref().is_some_and(|unsent| unsent.typed("anyway") == "on");
    let typed =
        unsent.map(|unsent| unsent.typed("prompt").replace("\r\n", "\n")).filter(|typed| !typed.is_empty());
    let again = again.and_then(|position| job.follow_ups.get(position.checked_sub(1)? as usize));
    let given = typed.or_else(|| again.map(|sent| sent.prompt.clone()));
    let goes_first = given.is_some();
    let text = given.unwrap_or_else(|| form.draft.clone());
    room.use_up(escaped_len(&text));
    let refused = why.as_ref().map(|why| why.code);
    let is_full = prompt_form::is_full(budget, refused);
    let start = FormStart {
        job: Some(job.id.to_string()),
        refused,
        is_full,
        ..form_start(&form, person, &project, &text, goes_first)
    };
    let place = prompt_form::place_if_full(&project, true, is_full).await;
    let wait = place.and_then(cost::wait).map(|wait| view! { <p class="cost">{wait}</p> });
    let id = job.id.to_string();
    let field = prompt_field(&PromptField {
        id: FOLLOW_UP_FIELD.name(),
        name: "prompt",
        label: "Follow-up",
        placeholder: "Ask for a change, or answer the agent",
        rows: "2",
        text: &text,
        autofocus: false,
    });
    let has_draft = !text.is_empty();
    let form = view! {
        <div id="reply" data-keep="">
            <FollowUp start=start.clone()>
                {prompt_form::problem(why.as_ref())}
                <form class="follow-up-form" method="post" action=SendFollowUp::PATH>
                        {of_person()}
                    <input type="hidden" name="project" value=project autocomplete="off" />
                    <input type="hidden" name="job" value=id autocomplete="off" />
                    <input type="hidden" name="intent" value=form.intent.to_string() autocomplete="off" />
                    {base_field(&start)}
                    {other_version(FOLLOW_UP_FIELD)}
                    {field}
                    <div class="actions">
                        {send_buttons("Send follow-up", "Sending…", is_confirmed)}
                    </div>
                    <div class="follow-up-notes">
                        {wait}
                        <DraftNotes is_draft=start.is_draft />
                    </div>
                </form>
            </FollowUp>
        </div>
    }
    .into_any();
    Ok(Reply { form: Some(form), has_draft })
}
