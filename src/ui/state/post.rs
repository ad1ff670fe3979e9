//! Forms that post. Without JavaScript the browser does it; with it, the page stays and hears the outcome here.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::{FormData, HtmlFormElement, UrlSearchParams};
use serde::de::DeserializeOwned;

use crate::api::call::{Answer, read};
use crate::error::{AppError, ErrorCode};
use crate::ui::erase::handler;
use crate::ui::state::asked::Verbatim;
use crate::ui::state::browser;

/// The posts of one form, one at a time.
#[derive(Clone, Copy)]
pub struct Post {
    pub url: &'static str,
    answer: RwSignal<Option<Answer>>,
    pending: RwSignal<bool>,
}

impl Post {
    /// Posts to the server function `F`. `mistake` says what a person can have done wrong in this form; it is needed where
    /// the page is rendered, and only there.
    pub fn to<F: ServerFn>(mistake: &str) -> Self {
        let in_words = |code| Err(AppError::new(code, in_general(code, mistake)));
        let refused = || refused(F::PATH).map_or_else(|| Ok(String::new()), in_words);
        let refused = SharedValue::<Answer, Verbatim>::new_with_encoding(refused).into_inner();
        let answer = refused.err().map(Err);
        Self { url: F::PATH, answer: RwSignal::new(answer), pending: RwSignal::new(false) }
    }

    /// Why the post without JavaScript was refused that the page was rendered for, if it was.
    pub fn refusal(self) -> Option<ErrorCode> {
        self.answer.with_untracked(|answer| answer.as_ref()?.as_ref().err().map(|error| error.code))
    }

    pub fn is_pending(self) -> bool {
        self.pending.get()
    }

    /// What the last post answered.
    pub fn outcome<T: DeserializeOwned>(self) -> Option<Result<T, AppError>> {
        self.answer.with(|answer| answer.as_ref().map(read))
    }

    /// The last answer as it came.
    pub fn answer(self) -> Option<Answer> {
        self.answer.get()
    }

    /// Why the last post failed, if it did.
    pub fn problem(self) -> Option<AppError> {
        self.answer.with(|answer| answer.as_ref()?.as_ref().err().cloned())
    }

    /// For `on:submit` of the form.
    pub fn submitting(self) -> Box<dyn FnMut(SubmitEvent)> {
        handler(move |event| self.submit(&event))
    }

    /// A form that is being posted is not posted again.
    fn submit(self, event: &SubmitEvent) {
        if event.default_prevented() {
            return;
        }
        let Some((_, fields)) = fields(event) else { return };
        event.prevent_default();
        if self.pending.get_untracked() {
            return;
        }
        self.pending.set(true);
        browser::post(self.url, fields, move |answer| {
            self.pending.try_set(false);
            self.answer.try_set(Some(answer));
        });
    }
}

/// The form that is submitted, and its fields url-encoded, with what the pressed button says.
pub fn fields(event: &SubmitEvent) -> Option<(HtmlFormElement, String)> {
    let form = event.target()?.dyn_into::<HtmlFormElement>().ok()?;
    let fields = FormData::new_with_form(&form).ok()?;
    if let Some(button) = event.submitter()
        && let (Some(name), Some(value)) = (button.get_attribute("name"), button.get_attribute("value"))
    {
        fields.append_with_str(&name, &value).ok()?;
    }
    let fields = UrlSearchParams::new_with_str_sequence_sequence(&fields).ok()?.to_string();
    Some((form, fields.into()))
}

/// Why a post without JavaScript came back to this page. Only the code is taken: anybody can write a link to this page with
/// a text of their own in it.
#[cfg(feature = "ssr")]
fn refused(path: &str) -> Option<ErrorCode> {
    use leptos::server_fn::error::ServerFnUrlError;

    let refused =
        use_context::<leptos::server::ServerActionError>().filter(|refused| refused.path() == path)?;
    Some(ServerFnUrlError::<AppError>::decode_err(refused.err()).code)
}

#[cfg(not(feature = "ssr"))]
fn refused(_path: &str) -> Option<ErrorCode> {
    None
}

fn in_general(code: ErrorCode, mistake: &str) -> &str {
    match code {
        ErrorCode::BadInput => mistake,
        ErrorCode::Unauthenticated => "That username and password do not belong together.",
        ErrorCode::Forbidden => "You may not do this, or the link to this page is not valid any more.",
        ErrorCode::NotFound => {
            "What this form names is not there. Check what you entered, or reload the page."
        }
        ErrorCode::NotInHistory => "Not all of these days are in the history yet.",
        ErrorCode::IntentInFlight => {
            "The same text is being sent right now. Look at the jobs before you send it again."
        }
        ErrorCode::IntentReused => {
            "This form was used before with another text. It is fresh now: send it again."
        }
        ErrorCode::Conflict => {
            "That is not as it was any more: somebody was faster, or it is here already. Reload the page."
        }
        ErrorCode::SimilarJob => AppError::SIMILAR_JOB,
        ErrorCode::BudgetSpent => "The hour’s budget of calls is spent. Send it again later.",
        ErrorCode::TooManyAttempts => "Too many tries. Wait a minute, then try again.",
        ErrorCode::UpstreamFailed => "The upstream failed. Look at the jobs before you send it again.",
        ErrorCode::UpstreamSlow => {
            "The upstream did not answer in time. Look at the jobs before you send it again."
        }
        ErrorCode::DatabaseUnavailable => {
            "Docket cannot store anything right now. Please try again in a moment."
        }
        ErrorCode::Unreachable | ErrorCode::Internal => "Something went wrong on our side. Please try again.",
    }
}
