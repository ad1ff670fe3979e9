//! One prompt of a job's page: its author, text, deliveries and result.

use leptos::prelude::*;

use crate::ui::components::badge::delivery_badge;
use crate::ui::components::icon::{self, icon};
use crate::ui::components::long_text::folded;
use crate::ui::components::time::{ago, duration};
use crate::ui::pages::job::facts::outcome;
use crate::ui::pages::job::fit::{Form, ShownPrompt};
use crate::ui::pages::markdown;
use model::job::{DeliveryState, PromptOutcome, PromptResult};
use model::time::Timestamp;

/// The link to the page with the other form of the prompts.
pub(super) struct OtherForm {
    pub(super) name: &'static str,
    pub(super) href: String,
}

/// A prompt and its result.
pub(super) struct SentPrompt<'a> {
    pub(super) author: &'a str,
    pub(super) at: Timestamp,
    /// `None` if the page's title contains it.
    pub(super) text: Option<ShownPrompt>,
    pub(super) other_form: &'a OtherForm,
    pub(super) state: DeliveryState,
    pub(super) deliveries: AnyView,
    pub(super) result: Option<PromptResult>,
    /// The accessible name of the result, which distinguishes its link from others.
    pub(super) name: String,
}

impl SentPrompt<'_> {
    /// The link between Markdown and its source.
    fn other_form(&self) -> Option<AnyView> {
        self.text.as_ref().filter(|text| text.has_other_form)?;
        let OtherForm { name, href } = self.other_form;
        Some(view! { <a class="faint" href=href.clone()>{*name}</a> }.into_any())
    }

    pub(super) fn view(self, note: impl IntoView) -> AnyView {
        let initial: String = self.author.chars().take(1).flat_map(char::to_uppercase).collect();
        let other_form = self.other_form();
        view! {
            <li class="message">
                <span class="avatar" aria-hidden="true">{initial}</span>
                <div class="message-body">
                    <p class="message-head"><strong>{self.author.to_owned()}</strong> {ago(self.at)}</p>
                    {self.text.map(shown)}
                    <div class="message-foot">{delivery_badge(self.state)} {self.deliveries} {other_form}</div>
                    {note.into_view()}
                    {self.result.as_ref().map(|brought| result(brought, &self.name))}
                </div>
            </li>
        }
        .into_any()
    }
}

/// A prompt or follow-up.
fn shown(prompt: ShownPrompt) -> AnyView {
    let ShownPrompt { form, start, whole, chars, .. } = prompt;
    let is_source = form != Form::Markdown;
    let part = |text: String| {
        let part = if is_source { text.into_any() } else { markdown::element(text) };
        view! { <div class="message-text" class:message-source=is_source dir="auto">{part}</div> }.into_any()
    };
    let why = match form {
        Form::Markdown | Form::Source => None,
        Form::TooLarge => {
            Some("This is the source, because the page would be too large with the formatted text.")
        }
        Form::Cut => {
            Some("Only the beginning is shown, because the page would be too large with the whole text.")
        }
    };
    let why = why.map(|why| view! { <p class="hint">{why}</p> });
    let text = match start {
        Some(start) => folded(part(start), part(whole), chars),
        None => part(whole),
    };
    view! { {why} {text} }.into_any()
}

/// The result of a prompt, and how long it took.
fn result(result: &PromptResult, name: &str) -> AnyView {
    let shape = match &result.outcome {
        PromptOutcome::PullRequest(_) | PromptOutcome::SamePullRequest(_) => icon::PULL_REQUEST,
        PromptOutcome::NoChanges => icon::NO_CHANGES,
        PromptOutcome::PublishedDirectly | PromptOutcome::Finished => icon::CHECK,
        PromptOutcome::Failed => icon::CROSS,
    };
    // The link contains the icon itself.
    let shape = (!matches!(result.outcome, PromptOutcome::PullRequest(_))).then(|| icon(shape));
    let is_failed = result.outcome == PromptOutcome::Failed;
    let class = if is_failed { "turn-result turn-failed" } else { "turn-result" };
    let took = duration(result.ended_at.as_millis() - result.began_at.as_millis());
    view! {
        <p class=class>
            {shape} {outcome(&result.outcome, name)} <span class="faint">" · " {took}</span>
        </p>
    }
    .into_any()
}
