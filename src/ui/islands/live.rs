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

use leptos::ev;
use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::web_sys::Document;

use crate::api::upstream::GetBudgets;
use crate::error::{AppError, ErrorCode};
use crate::model::budget::Budgets;
use crate::model::job::JobBadge;
use crate::model::time::Timestamp;
use crate::ui::components::icon::{self, icon};
use crate::ui::islands::browser;
use crate::ui::islands::toasts::{self, Toasts};
use notifications::Notifications;
use refresh::Reason;
use statuses::Watched;

/// Seconds between two questions while a job moves.
const WHILE_MOVING: u32 = 2;
/// Seconds between two questions while nothing moves, or after one failed.
const WHILE_STILL: u32 = 15;
/// Seconds between two questions while a job moves that a hidden page is to notify of. Browsers let few beats through, such
/// as one a minute: what counts is the time that went by.
const WHILE_HIDDEN: u32 = 30;
/// Seconds between two readings of the budget.
const BUDGET: u32 = 30;
/// Seconds between two steps of the ages on the page.
const AGES: u32 = 15;

/// What the islands of a page share.
#[derive(Clone, Copy)]
pub struct LiveState {
    project: StoredValue<String>,
    pub toasts: Toasts,
    pub notifications: Notifications,
    /// The last known budgets; nothing before the first answer in the browser.
    pub budgets: RwSignal<Option<Budgets>>,
    watched: StoredValue<Vec<Watched>>,
    /// Why the page cannot be kept current right now, if so.
    trouble: RwSignal<Option<AppError>>,
    /// How many jobs finished while nobody looked.
    unseen: RwSignal<u32>,
    beats: StoredValue<u32>,
    asking: StoredValue<bool>,
    asked_at: StoredValue<Timestamp>,
    refreshing: StoredValue<refresh::Progress>,
    /// Owns the islands that a refresh puts in: they find the context of this one.
    owner: StoredValue<Owner>,
}

#[island]
pub fn Live(project: String, children: Children) -> impl IntoView {
    let live = LiveState {
        project: StoredValue::new(project),
        toasts: Toasts::new(),
        notifications: Notifications::new(),
        budgets: RwSignal::new(None),
        watched: StoredValue::new(Vec::new()),
        trouble: RwSignal::new(None),
        unseen: RwSignal::new(0),
        beats: StoredValue::new(0),
        asking: StoredValue::new(false),
        asked_at: StoredValue::new(browser::now()),
        refreshing: StoredValue::new(refresh::Progress::default()),
        owner: StoredValue::new(Owner::new()),
    };
    provide_context(live);
    live.start();
    view! {
        {children()}
        {toasts::region()}
    }
}

/// Above the content of the page: says so while the page cannot be kept current. Needs [`LiveState`].
#[island]
pub fn Trouble() -> impl IntoView {
    let live = use_context::<LiveState>();
    let notice = move || live.and_then(|live| live.trouble.get()).map(|error| notice(&error));
    view! { <div role="status">{notice}</div> }
}

impl LiveState {
    pub fn project(self) -> String {
        self.project.get_value()
    }

    /// The status of a job on the page, kept current.
    pub fn watch(self, status: JobBadge) -> ArcRwSignal<JobBadge> {
        statuses::watch(self.watched, status)
    }

    /// Something was sent just now: asks soon, and shows what became of it.
    pub fn hurry(self) {
        self.read_budgets();
        self.ask();
        refresh::refresh(self, Reason::Post);
    }

    /// The page at `address` as the server renders it now, for [`Self::show`].
    pub async fn fetch(self, address: &str) -> Result<Document, AppError> {
        browser::fetch_page(address).await
    }

    /// Shows what `page` has in the regions of this one.
    pub fn show(self, page: &Document) {
        refresh::replace(self, page, Reason::Change);
    }

    fn start(self) {
        if cfg!(feature = "ssr") {
            return;
        }
        statuses::remember(self);
        ages::tick();
        forms::listen(self);
        browser::every(1000, move || self.beat());
        browser::on_window(ev::visibilitychange, move |_| self.look());
        browser::on_window(ev::focus, move |_| self.look());
        title::follow(self.unseen);
        // Reading goes on at the beginning of the page, not before the navigation that led to it.
        if browser::came_by_link() && browser::has_no_focus() && browser::fragment().is_empty() {
            browser::focus("content");
        }
    }

    fn beat(self) {
        let is_hidden = browser::is_hidden();
        let any_moving = statuses::any_moving(self.watched);
        if is_hidden && !(self.notifications.come() && any_moving) {
            return;
        }
        let beat = self.beats.get_value().wrapping_add(1);
        self.beats.set_value(beat);
        if beat.is_multiple_of(AGES) {
            ages::tick();
        }
        if beat.is_multiple_of(BUDGET) && !is_hidden {
            self.read_budgets();
        }
        if !is_hidden && refresh::interval().is_some_and(|seconds| beat.is_multiple_of(seconds)) {
            refresh::refresh(self, Reason::Time);
        }
        let calm = self.trouble.with_untracked(Option::is_some) || !any_moving;
        let wait = match (is_hidden, calm) {
            (true, _) => WHILE_HIDDEN,
            (false, true) => WHILE_STILL,
            (false, false) => WHILE_MOVING,
        };
        if is_past(self.asked_at.get_value(), wait) {
            self.ask();
        }
    }

    /// Somebody looks at the page again.
    fn look(self) {
        if browser::is_hidden() {
            return;
        }
        self.unseen.set(0);
        self.toasts.look();
        ages::tick();
        self.ask();
    }

    /// Asks for the states of all watched jobs, and tells what changed.
    fn ask(self) {
        if self.asking.get_value() || self.watched.with_value(Vec::is_empty) {
            return;
        }
        self.asking.set_value(true);
        self.asked_at.set_value(browser::now());
        spawn_local(async move {
            let answer = statuses::ask(self.watched, self.project()).await;
            self.asking.set_value(false);
            match answer {
                Ok(news) => {
                    self.trouble.set(None);
                    if news.any_changed {
                        refresh::refresh(self, Reason::Change);
                    }
                    announce::announce(self, news.finished);
                    statuses::keep(self);
                }
                Err(error) => self.trouble.set(Some(error)),
            }
        });
    }

    fn read_budgets(self) {
        spawn_local(async move {
            let fields = browser::fields_of(&[("project", &self.project())]);
            // The last known budgets stay where they cannot be had.
            if let Ok(budgets) = browser::post::<Budgets>(GetBudgets::PATH, &fields).await.answer {
                self.budgets.set(Some(budgets));
            }
        });
    }

    fn undo(self, toasts::Undo { path, fields, done }: &toasts::Undo) {
        let (path, fields, done) = (path.clone(), fields.clone(), done.clone());
        spawn_local(async move {
            match browser::post_raw(&path, &fields).await.answer {
                Ok(_) => {
                    self.toasts.say(done, "", None);
                    self.hurry();
                }
                Err(error) => self.toasts.say(error.message, "", None),
            }
        });
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
