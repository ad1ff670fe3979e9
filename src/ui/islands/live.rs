//! The island around a page of a project: what keeps it current while it is open. One heartbeat a second asks for the states of all its
//! jobs in one call when they are due, and lets ages tick, budgets follow and regions refresh. A page that nobody sees asks for nothing,
//! unless somebody wants to be notified of what moves: then slowly.
//!
//! Plain forms inside it are posted without leaving the page ([`forms`]); elements with `data-region` are replaced by what the server
//! renders now ([`refresh`]) after such a post, after a job's state changed, or every `data-every` seconds.

mod ages;
mod announce;
pub mod forms;
mod notifications;
mod refresh;
mod statuses;
mod title;

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::web_sys::{Document, Event};
use send_wrapper::SendWrapper;

use crate::api::upstream::GetBudgets;
use crate::error::{AppError, ErrorCode};
use crate::model::budget::Budgets;
use crate::model::time::Timestamp;
use crate::ui::components::icon::{self, icon};
use crate::ui::islands::toasts::{self, Toasts};
use crate::ui::islands::{browser, morph};
use notifications::Notifications;
use refresh::Reason;
use statuses::WatchedJob;

/// Seconds between two questions while a job moves.
const WHILE_MOVING: u32 = 2;
/// Seconds between two questions while nothing moves, or after one failed.
const WHILE_STILL: u32 = 15;
/// Seconds between two questions while a job moves that a hidden page is to notify of. Browsers let few beats through, such
/// as one a minute: what counts is the time that went by.
const WHILE_HIDDEN: u32 = 30;
/// Seconds between two fetches of the budgets.
const BUDGET: u32 = 30;
/// Seconds between two steps of the ages on the page.
const AGES: u32 = 15;

/// The id of the element that says so while the page cannot be kept current.
pub const CONNECTION_PROBLEM: &str = "trouble";

/// What the islands of a page share. Context of the islands inside [`Live`], in the browser only.
#[derive(Clone)]
pub struct LiveState(SendWrapper<Rc<Shared>>);

type OnBudgets = Box<dyn Fn(&Budgets)>;

pub struct Shared {
    project: String,
    pub toasts: Toasts,
    pub notifications: Notifications,
    /// Who wants to know of the budgets.
    on_budgets: RefCell<Vec<OnBudgets>>,
    watched: RefCell<Vec<WatchedJob>>,
    /// Whether the page cannot be kept current right now.
    is_disconnected: Cell<bool>,
    /// How many jobs finished while nobody looked.
    unseen: Cell<u32>,
    beats: Cell<u32>,
    is_fetching: Cell<bool>,
    requested_at: Cell<Timestamp>,
    refreshing: Cell<refresh::Progress>,
    /// Owns the islands that a refresh puts in: they find the context of this one.
    owner: Owner,
}

#[island]
pub fn Live(project: String, children: Children) -> impl IntoView {
    if browser::IS_HERE {
        let live = LiveState::of(project);
        provide_context(live.clone());
        live.start();
    }
    view! {
        {children()}
        {toasts::region()}
    }
}

impl Deref for LiveState {
    type Target = Shared;

    fn deref(&self) -> &Shared {
        &self.0
    }
}

impl LiveState {
    fn of(project: String) -> Self {
        Self(SendWrapper::new(Rc::new(Shared {
            project,
            toasts: Toasts::default(),
            notifications: Notifications::default(),
            on_budgets: RefCell::default(),
            watched: RefCell::default(),
            is_disconnected: Cell::new(false),
            unseen: Cell::new(0),
            beats: Cell::new(0),
            is_fetching: Cell::new(false),
            requested_at: Cell::new(browser::now()),
            refreshing: Cell::default(),
            owner: Owner::new(),
        })))
    }

    /// That of the island around the one that asks.
    pub fn here() -> Option<Self> {
        if browser::IS_HERE { use_context() } else { None }
    }

    pub fn project(&self) -> &str {
        &self.project
    }

    /// Calls `action` with the budgets whenever they were fetched.
    pub fn on_budgets(&self, action: impl Fn(&Budgets) + 'static) {
        self.on_budgets.borrow_mut().push(Box::new(action));
    }

    /// Something was sent just now: asks soon, and shows what became of it.
    pub fn refresh_now(&self) {
        self.fetch_budgets();
        self.fetch_statuses();
        refresh::refresh(self, Reason::Post);
    }

    /// The address was changed in place: shows what follows from it.
    pub fn refresh(&self) {
        refresh::refresh(self, Reason::Change);
    }

    /// The page at `address` as the server renders it now, for [`Self::show`].
    pub async fn fetch(&self, address: &str) -> Result<Document, AppError> {
        browser::fetch_page(address).await
    }

    /// Shows what `page` has in the regions of this one.
    pub fn show(&self, page: &Document) {
        refresh::replace(self, page, Reason::Post);
    }

    fn start(&self) {
        statuses::restore(self);
        ages::tick();
        forms::listen(self);
        let live = self.clone();
        browser::every(1000, move || live.beat());
        for event in ["visibilitychange", "focus"] {
            let live = self.clone();
            browser::on_window::<Event>(event, move |_| live.look());
        }
        // Reading goes on at the beginning of the page, not before the navigation that led to it.
        if browser::came_by_link() && browser::has_no_focus() && browser::fragment().is_empty() {
            browser::focus("content");
        }
    }

    fn beat(&self) {
        let is_hidden = browser::is_hidden();
        statuses::collect(self);
        let any_moving = statuses::any_moving(self);
        if is_hidden && !(self.notifications.are_wanted() && any_moving) {
            return;
        }
        let beat = self.beats.get().wrapping_add(1);
        self.beats.set(beat);
        if beat.is_multiple_of(AGES) {
            ages::tick();
        }
        if beat.is_multiple_of(BUDGET) && !is_hidden {
            self.fetch_budgets();
        }
        if !is_hidden && refresh::interval().is_some_and(|seconds| beat.is_multiple_of(seconds)) {
            refresh::refresh(self, Reason::Time);
        }
        let wait = match (is_hidden, self.is_disconnected.get() || !any_moving) {
            (true, _) => WHILE_HIDDEN,
            (false, true) => WHILE_STILL,
            (false, false) => WHILE_MOVING,
        };
        if is_past(self.requested_at.get(), wait) {
            self.fetch_statuses();
        }
    }

    /// Somebody looks at the page again.
    fn look(&self) {
        if browser::is_hidden() {
            return;
        }
        self.unseen.set(0);
        title::count(0);
        self.toasts.look();
        ages::tick();
        self.fetch_statuses();
    }

    /// Asks for the states of all watched jobs, and tells what changed.
    fn fetch_statuses(&self) {
        statuses::collect(self);
        if self.is_fetching.get() || self.watched.borrow().is_empty() {
            return;
        }
        self.is_fetching.set(true);
        self.requested_at.set(browser::now());
        let live = self.clone();
        spawn_local(async move {
            let answer = statuses::fetch(&live).await;
            live.is_fetching.set(false);
            match answer {
                Ok(changes) => {
                    live.show_connection_problem(None);
                    if changes.any_changed {
                        refresh::refresh(&live, Reason::Change);
                    }
                    announce::announce(&live, changes.finished);
                    statuses::store(&live);
                }
                Err(error) => live.show_connection_problem(Some(&error)),
            }
        });
    }

    fn fetch_budgets(&self) {
        let live = self.clone();
        spawn_local(async move {
            let fields = browser::fields_of(&[("project", live.project())]);
            // The last known budgets stay where they cannot be had.
            if let Ok(budgets) = browser::post::<Budgets>(GetBudgets::PATH, &fields).await.answer {
                live.on_budgets.borrow().iter().for_each(|action| action(&budgets));
            }
        });
    }

    fn undo(&self, toasts::Undo { path, fields, done }: toasts::Undo) {
        let live = self.clone();
        spawn_local(async move {
            match browser::post_raw(&path, &fields).await.answer {
                Ok(_) => {
                    live.toasts.say(&done, "", None);
                    live.refresh_now();
                }
                Err(error) => live.toasts.say(&error.message, "", None),
            }
        });
    }

    fn show_connection_problem(&self, error: Option<&AppError>) {
        if self.is_disconnected.replace(error.is_some()) || error.is_some() {
            morph::show(CONNECTION_PROBLEM, || error.map(notice));
        }
    }
}

/// Whether `seconds` went by since `at`, to half a beat, for a timer is never exact; a clock that was set back counts too.
fn is_past(at: Timestamp, seconds: u32) -> bool {
    browser::now().as_millis().abs_diff(at.as_millis()) + 500 >= u64::from(seconds) * 1000
}

fn notice(error: &AppError) -> impl IntoView + use<> {
    let (text, sign_in) = match error.code {
        ErrorCode::Unauthenticated => {
            ("Your session has ended. What you are writing is kept in this browser.", true)
        }
        ErrorCode::Unreachable => ("Docket cannot be reached. What you see may be old. Trying again.", false),
        _ => ("This page could not be updated. What you see may be old. Trying again.", false),
    };
    // A whole new page: it comes back here after signing in.
    let link = sign_in.then(|| view! { <a href="">"Sign in again"</a> });
    view! { <div class="notice notice-warn">{icon(icon::QUESTION)} <p>{text} " " {link}</p></div> }
}
