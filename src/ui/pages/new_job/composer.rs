//! The form itself: the prompt, the pages it is about, and what is known about both before they are sent.

use leptos::prelude::*;

use crate::model::job::{Job, JobForm};
use crate::model::page_path;
use crate::model::similar::SimilarJob;
use crate::ui::components::prompt_field::{PromptField, prompt_field, prompt_notes};
use crate::ui::components::submit_button::submit_button;
use crate::ui::components::{failure, queue_choice};
use crate::ui::erase::{Erase, handler};
use crate::ui::pages::new_job::cost;
use crate::ui::pages::new_job::pick::Pick;
use crate::ui::pages::new_job::similar::Similar;
use crate::ui::state::budget;
use crate::ui::state::drafts::Draft;
use crate::ui::state::post::Post;

/// What the address brings into the form.
pub(super) struct Brought {
    pub(super) prompt: String,
    pub(super) path: String,
    /// The text of a template.
    pub(super) filled: Option<String>,
    /// The job to copy from.
    pub(super) copied: Option<Job>,
    /// Whether a post without JavaScript came back: then the kept text goes before all.
    pub(super) was_refused: bool,
    /// What it came back for, if that was a question: then the answer is to send it again.
    pub(super) similar: Option<Vec<SimilarJob>>,
}

impl Brought {
    /// The text and the pages that the form starts with, and the id of the template they came from. `asked`: the one in
    /// the address.
    fn or_kept(self, form: &JobForm, asked: String) -> (String, String, String) {
        let kept = (form.draft.clone(), form.draft_paths.clone(), form.draft_template.clone());
        if self.was_refused && !kept.0.is_empty() {
            return kept;
        }
        let given = |text: String| Some(text).filter(|text| !text.is_empty());
        let text = given(self.prompt).or(self.filled);
        let copied = self.copied.map(|job| {
            let template = job.template.and_then(|template| template.id).map(String::from);
            (job.prompt, job.paths.join(", "), template.unwrap_or_default())
        });
        let (text, pages, template) = match (text, copied) {
            (Some(text), _) => (text, String::new(), asked),
            (None, Some(copied)) => copied,
            // A page alone is brought to a new text, unless one was being written about it.
            (None, None) => kept,
        };
        (text, given(self.path).unwrap_or(pages), template)
    }
}

pub(super) fn composer(
    create: Post,
    project: String,
    form: JobForm,
    mut brought: Brought,
    pick: Pick,
    draft: Draft,
) -> AnyView {
    let similar = brought.similar.take();
    let asks =
        similar.is_none().then(|| view! { <input type="hidden" name="similar" value="ask" /> }.into_any());
    let (text, pages, template) = brought.or_kept(&form, pick.asked());
    draft.template().set(template);
    let text = draft.rendering(&form, text);
    let similar = Similar::to(&project, draft, similar.unwrap_or_default());
    let about = about(draft, &text);
    let most = form.prompt_max;
    let field = PromptField {
        id: "prompt",
        label: "Prompt",
        placeholder: "Rewrite the quickstart for version 3 of the SDK. Keep the page’s structure, and mention the new sign-in.",
        rows: "10",
        text,
        draft,
    };
    view! {
        {move || failure::of_form(create.problem())}
        <form class="stack" method="post" action=create.url on:submit=similar.submitting(create)>
            <input type="hidden" name="project" value=project />
            <input type="hidden" name="intent" value=form.intent.to_string() autocomplete="off" />
            {asks}
            {pick.field()}
            {prompt_field(field)}
            <label class="field-label" for="paths">"Pages"</label>
            <input
                id="paths"
                class="field"
                name="paths"
                value=pages
                placeholder="/guides/quickstart, /api/authentication"
                autocomplete="off"
                spellcheck="false"
                aria-describedby="paths-hint"
                node_ref=draft.pages()
                on:input=handler(move |_: leptos::ev::Event| draft.keep())
            />
            <p class="hint" id="paths-hint">
                "Optional: the pages it is about, separated by commas. Pages named in the prompt are added by themselves"
                {about}
            </p>
            {similar.notice()}
            <div class="send">
                {submit_button(create, "Start job", "Starting…")}
                {queue_choice::button(create)}
                <span class="faint js-only"><kbd>"Ctrl"</kbd> " " <kbd>"Enter"</kbd></span>
                {cost::cost(budget::get())}
                {queue_choice::checkbox(budget::get(), |budgets| budgets.creates)}
                {prompt_notes(draft, most)}
            </div>
        </form>
    }
    .into_any()
}

/// The pages that are named in the prompt, once the typing pauses.
fn about(draft: Draft, text: &str) -> AnyView {
    let found = RwSignal::new(page_path::found_in(text).join(", "));
    crate::ui::erase::effect(move || {
        draft.track_pauses();
        if let Some((text, _)) = draft.written() {
            found.set(page_path::found_in(&text).join(", "));
        }
    });
    let named = move || match found.read().as_str() {
        "" => ".".to_owned(),
        pages => format!(": {pages}"),
    };
    view! { <span class="about">{move || named()}</span> }.into_any()
}
