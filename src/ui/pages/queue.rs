//! `/p/{project}/queue`: what waits to be sent, in order. It keeps up by itself; changing it works without scripts.

use std::sync::Arc;

use leptos::prelude::*;

use crate::api::call::call;
use crate::api::queue::{CancelQueued, GetQueue, MoveQueued};
use crate::model::queue::{Queue, Waiting, Why};
use crate::model::time::Timestamp;
use crate::ui::charts::number::counted;
use crate::ui::components::empty::empty;
use crate::ui::components::failure;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::loading::{self, suspended};
use crate::ui::components::moment::{ago, until};
use crate::ui::components::page_head::page_head;
use crate::ui::components::post_form::{Hidden, post_form, problems};
use crate::ui::erase::{Erase, effect};
use crate::model::links;
use crate::ui::state::address;
use crate::ui::state::browser;
use crate::ui::state::clock::Clock;
use crate::ui::state::kept::Kept;
use crate::ui::state::live::Live;
use crate::ui::state::post::Post;
use crate::ui::state::{project, session};

/// Milliseconds between two looks at the queue.
const LOOK: u32 = 3_000;

const MISTAKE: &str = "That is no prompt of this queue. Reload the page.";

/// What the rows of the queue need to know.
#[derive(Clone)]
struct Desk {
    project: String,
    may_change: bool,
    /// The message that is about to be cancelled, if any.
    asked: Option<String>,
    change: Post,
    cancel: Post,
}

#[component]
pub fn QueuePage() -> impl IntoView {
    let project = project::current();
    let queue = {
        let project = project.clone();
        Kept::asking(move || call(GetQueue { project: project.clone() }))
    };
    queue.every(LOOK, || true);
    let change = Post::to::<MoveQueued>(MISTAKE);
    let cancel = Post::to::<CancelQueued>(MISTAKE);
    let live = Live::get();
    let said = RwSignal::new(String::new());
    for post in [change, cancel] {
        effect(move || {
            if let (Some(answer @ Ok(_)), Some(Ok(changed))) = (post.answer(), post.outcome()) {
                said.set(outcome(&changed));
                queue.hear(answer);
                live.hurry();
            }
        });
    }
    let (session, query) = (session::get(), address::query());
    let content = move || {
        keep_focus();
        let desk = Desk {
            project: project.clone(),
            may_change: session::can_start_jobs(session),
            asked: query.read().get("cancel"),
            change,
            cancel,
        };
        match queue.get() {
            None => ().into_any(),
            Some(Ok(queue)) => list(&desk, queue),
            Some(Err(error)) => failure::panel(&error, queue.retry()),
        }
    };
    view! {
        {page_head("Queue", "Prompts that wait are sent by themselves, one at a time and evenly over the hour".into_any(), ().into_any())}
        {problems(vec![change, cancel])}
        <p class="visually-hidden" role="status">{move || said.get()}</p>
        {suspended(loading::rows, Arc::new(content))}
    }
    .into_any()
}

/// What a change did, for those who do not see it: where the prompt is now whose button was pressed, or what is left.
fn outcome(queue: &Queue) -> String {
    let count = queue.waiting.len();
    let pressed = browser::focused().unwrap_or_default();
    match queue.waiting.iter().position(|entry| pressed.ends_with(entry.message.as_str())) {
        Some(at) => format!("Now {} of {count}", at + 1),
        None => format!("{} in the queue", counted(count as u64, "prompt", "prompts")),
    }
}

/// Rows are shown by their place: the button that has the focus would be that of another prompt when the order changes. The
/// focus stays with its prompt: on the same button, else on its way to cancel, and with the page where the prompt is gone.
fn keep_focus() {
    let Some(id) = browser::focused() else { return };
    browser::after(0, move || {
        if browser::focused().as_ref() != Some(&id) && !browser::focus(&id) {
            let message = id.split_once('-').map_or("", |(_, message)| message);
            if !browser::focus(&format!("cancel-{message}")) {
                browser::focus("content");
            }
        }
    });
}

fn list(desk: &Desk, queue: Queue) -> AnyView {
    if queue.waiting.is_empty() {
        let step = view! { <a class="button" href=links::jobs(&desk.project)>"See the jobs"</a> }.into_any();
        return empty(
            "Nothing waits",
            "When the hour’s budget is spent, a prompt can wait here. It is sent by itself as soon as there is room.",
            step,
        );
    }
    let rows = queue.waiting.into_iter().map(|entry| row(desk, entry)).collect_view();
    view! {
        <ol class="job-list queue" aria-label="Waiting prompts">{rows}</ol>
        <p class="pager"><a class="button no-js" href="">"Refresh"</a></p>
    }
    .into_any()
}

fn row(desk: &Desk, entry: Waiting) -> AnyView {
    let title = entry.prompt.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or("(no text)");
    let title = title.to_owned();
    let kind = (entry.position > 0).then_some("Follow-up: ");
    let batch = entry.batch.as_ref().map(|batch| {
        view! { <a class="tag" href=links::batch(&desk.project, batch.as_str())>"Batch"</a> }.into_any()
    });
    let job = links::job(&desk.project, entry.job.as_str());
    let tools = match (desk.may_change, desk.asked.as_deref() == Some(entry.message.as_str())) {
        (false, _) => ().into_any(),
        (true, true) => confirm(desk, &entry, &title),
        (true, false) => tools(desk, &entry, &title),
    };
    view! {
        <li class="queue-row">
            <span class="queue-title">
                {icon(icon::CLOCK)} <a href=job>{kind} <bdi>{title.clone()}</bdi></a> {batch}
            </span>
            <span class="queue-why">
                {why(entry.why)}{entry.expected_at.map(expected)} " · " {entry.author} ", " {ago(entry.created_at)}
            </span>
            {tools}
        </li>
    }
    .into_any()
}

fn why(why: Why) -> &'static str {
    match why {
        Why::Budget => "Waits for the hour’s budget",
        Why::Turn => "Waits for its turn",
        Why::JobBefore => "Waits for the prompt before it in its job",
        Why::Rest => "Waits for the platform, which fails",
        Why::Sending => "Is about to be sent",
    }
}

fn expected(at: Timestamp) -> AnyView {
    let clock = Clock::get();
    let text = move || match at.seconds_since(clock.now()) {
        0..=5 => ", any moment now".to_owned(),
        _ => format!(", in about {}", until(at, clock.now())),
    };
    view! { <time datetime=at.to_string() title=move || clock.to_the_minute(at)>{text}</time> }.into_any()
}

fn tools(desk: &Desk, entry: &Waiting, title: &str) -> AnyView {
    let post = desk.change;
    let in_line = !matches!(entry.why, Why::JobBefore | Why::Sending);
    let moves = in_line.then(|| {
        let to = |to: &'static str, outline: &'static str, name: &'static str| {
            let id = format!("{to}-{}", entry.message);
            view! {
                <button id=id type="submit" class="quiet" name="to" value=to title=name aria-label=format!("{name}: {title}")>
                    {icon(outline)}
                </button>
            }
            .into_any()
        };
        let moves =
            [to("first", icon::FIRST, "To the front"), to("up", icon::UP, "Up"), to("down", icon::DOWN, "Down")];
        post_form("", post, hidden(desk, entry), moves.collect_view().into_any())
    });
    let ask = links::queue_asking(&desk.project, entry.message.as_str());
    let id = format!("cancel-{}", entry.message);
    view! {
        <div class="queue-tools">
            {moves}
            <a id=id class="quiet" href=ask data-noscroll="true" title="Cancel" aria-label=format!("Cancel: {title}")>{icon(icon::CLOSE)}</a>
        </div>
    }
    .into_any()
}

/// Takes the place, and with it the focus, of the link that asked for it.
fn confirm(desk: &Desk, entry: &Waiting, title: &str) -> AnyView {
    let (cancel, keep) = (format!("cancel-{}", entry.message), format!("keep-{}", entry.message));
    let question = view! {
        <div class="queue-tools">
            <span>"Never send it? The text is kept."</span>
            <button id=cancel type="submit" class="button" aria-label=format!("Cancel it: {title}")>"Cancel it"</button>
            <a id=keep class="button" href=links::queue(&desk.project) data-noscroll="true">"Keep it"</a>
        </div>
    }
    .into_any();
    post_form("queue-ask", desk.cancel, hidden(desk, entry), question)
}

fn hidden(desk: &Desk, entry: &Waiting) -> Hidden {
    vec![("project", desk.project.clone()), ("message", entry.message.to_string())]
}
