//! Sending a prompt from an island's form: one post at a time, why it was refused, and the choice to wait where the hour's budget is
//! spent. The text stays until it was sent: an expired session leads to sign-in and back, an intent that was used is renewed.

use leptos::ev::SubmitEvent;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::JsCast;
use leptos::web_sys::HtmlFormElement;

use crate::error::{AppError, ErrorCode};
use crate::model::budget::{Budgets, Meter};
use crate::model::links;
use crate::ui::components::notice::problem;
use crate::ui::islands::browser::{self, Reply};
use crate::ui::islands::drafts::Draft;
use crate::ui::islands::live::LiveState;

/// The posts of one form with a prompt.
#[derive(Clone, Copy)]
pub struct Sending {
    path: &'static str,
    draft: Draft,
    is_pending: RwSignal<bool>,
    problem: RwSignal<Option<AppError>>,
}

impl Sending {
    /// `problem`: why the form was refused before, if it was.
    pub fn to(path: &'static str, draft: Draft, problem: Option<AppError>) -> Self {
        Self { path, draft, is_pending: RwSignal::new(false), problem: RwSignal::new(problem) }
    }

    /// Posts the form that is being submitted. `sent` gets the answer, and where the server wants the browser to go.
    pub fn submit(self, event: &SubmitEvent, sent: impl FnOnce(String, Option<String>) + 'static) {
        event.prevent_default();
        let form = event.target().and_then(|target| target.dyn_into::<HtmlFormElement>().ok());
        let Some(form) = form.filter(|_| !self.is_pending.get_untracked()) else { return };
        let Some(fields) = browser::fields(&form, event) else { return };
        self.is_pending.set(true);
        spawn_local(async move {
            let Reply { answer, redirect } = browser::post_raw(self.path, &fields).await;
            match answer {
                Ok(answer) => {
                    self.draft.sent();
                    self.problem.set(None);
                    sent(answer, redirect);
                }
                Err(error) if error.code == ErrorCode::Unauthenticated => {
                    self.draft.keep();
                    browser::go(&links::login(&browser::here()));
                }
                Err(error) => {
                    if error.code == ErrorCode::IntentReused {
                        self.draft.renew();
                    }
                    self.problem.set(Some(error));
                }
            }
            self.is_pending.set(false);
        });
    }

    /// Why the form was refused.
    pub fn problem(self) -> impl IntoView + use<> {
        move || problem(self.problem.get().map(|error| error.message))
    }

    /// The button that sends, and one to wait in the queue once the form was refused for want of budget.
    pub fn buttons(self, idle: &'static str, busy: &'static str) -> impl IntoView + use<> {
        let is_pending = move || self.is_pending.get();
        let queue = move || {
            let spent = self
                .problem
                .with(|problem| problem.as_ref().is_some_and(|it| it.code == ErrorCode::BudgetSpent));
            spent.then(
                || view! { <button type="submit" class="button" name="queue" value="on">"Queue it"</button> },
            )
        };
        view! {
            <button
                type="submit"
                class="button button-primary"
                aria-busy=Signal::derive(move || is_pending().then_some("true"))
                disabled=Signal::derive(is_pending)
            >
                {Signal::derive(move || if is_pending() { busy.to_owned() } else { idle.to_owned() })}
            </button>
            {queue}
        }
    }
}

/// What is left of the hour's budget, kept current. `known`: what the server rendered the page with.
pub fn budget(known: Option<Meter>, of: fn(&Budgets) -> Meter) -> impl Fn() -> Option<Meter> + Copy {
    let live = use_context::<LiveState>();
    move || live.and_then(|live| live.budgets.get()).map(|budgets| of(&budgets)).or(known)
}

/// The choice to let a prompt wait, as long as the budget is known to have no room.
pub fn queue_choice<L: Fn() -> Option<Meter> + Send + 'static>(left: L) -> impl IntoView + use<L> {
    move || {
        left().filter(|meter| meter.left() == 0).map(|_| {
            view! {
                <label class="choice">
                    <input type="checkbox" name="queue" value="on" autocomplete="off" />
                    "Send it by itself when there is room"
                </label>
            }
        })
    }
}
