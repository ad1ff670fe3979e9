//! The island around a page of a project that keeps it current: a change at any process of Docket shows within two seconds. A
//! timer fires every half second. When due, it polls the states of all jobs on the page in one call, updates ages and budgets,
//! and refreshes regions. A hidden page polls only if it has to notify about active jobs, and less often.
//!
//! Forms inside it are posted without leaving the page ([`forms`]). Elements with `data-region` are replaced by the server's
//! current HTML ([`refresh`]): after such a post, after a change of a job's state, or every `data-every` seconds.

mod ages;
mod announce;
mod focus;
pub mod forms;
mod kept;
mod news;
mod notifications;
mod refresh;
mod statuses;
mod title;

use std::ops::Deref;
use std::rc::Rc;

use leptos::prelude::*;
use leptos::server_fn::ServerFn;
use leptos::task::spawn_local;
use leptos::web_sys::{Element, Event, MouseEvent, PopStateEvent};
use send_wrapper::SendWrapper;

use crate::ui::islands::toasts::{self, Toasts};
use crate::ui::islands::{browser, localized};
use api::upstream::GetBudgets;
use model::budget::Budgets;
use model::error::{AppError, ErrorCode};
use model::time::Timestamp;
use notifications::Notifications;
use refresh::Reason;
use statuses::JobStates;

const BEATS_A_SECOND: u32 = 2;
/// Milliseconds between two polls of a visible page. With the response time that is less than two seconds.
const WHILE_CHANGING: u32 = 1_500;
/// Milliseconds between two polls of a page whose jobs are not tracked any more, or after a failed poll.
const WHILE_STILL: u32 = 15_000;
/// Milliseconds between two polls of a hidden page that has to notify. Browsers throttle its timer, for example to once a
/// minute. Therefore elapsed time is compared instead of a count of timer ticks.
const WHILE_HIDDEN: u32 = 30_000;
/// Seconds between two fetches of the budgets.
const BUDGET: u32 = 30;
/// Seconds between two updates of the ages on the page.
const AGES: u32 = 15;

/// State shared by the islands of a page. A context inside [`Live`], in the browser only.
#[derive(Clone)]
pub struct LiveState(SendWrapper<Rc<Shared>>);

pub struct Shared {
    project: String,
    pub toasts: Toasts,
    pub notifications: Notifications,
    /// The budgets when they were fetched last.
    pub budgets: RwSignal<Option<Budgets>>,
    /// The number of unread notifications, according to the last response that had it.
    pub unread: RwSignal<Option<u32>>,
    /// Why the last poll failed.
    pub problem: RwSignal<Option<AppError>>,
    pub jobs: JobStates,
    /// How many jobs finished while the page was not visible and focused.
    unseen: RwSignal<u32>,
    pace: StoredValue<Pace>,
    /// The URL whose content the page shows, or is loading.
    url: StoredValue<String>,
    /// How often the server's elements were merged into the page.
    pub merges: RwSignal<u32>,
    /// The islands that a refresh inserted, with the owners of their signals.
    inserted: StoredValue<Vec<(SendWrapper<Element>, Owner)>>,
}

/// What was fetched, and when.
#[derive(Clone, Copy)]
struct Pace {
    beats: u32,
    /// As the page was when it was searched last.
    regions: Regions,
    /// Whether the page has changed since it was searched.
    has_changed: bool,
    is_fetching: bool,
    requested_at: Timestamp,
    refreshing: refresh::Progress,
    failures: refresh::Failures,
    /// The refresh that waits until an open menu is closed, or until a while after a failure.
    postponed: Option<Reason>,
}

/// How the regions of the page are kept current.
#[derive(Clone, Copy, Default)]
struct Regions {
    /// Whether one of them follows the project.
    follows: bool,
    /// The shortest time between two refreshes of one, in seconds.
    every: Option<u32>,
}

/// `project` is empty on pages without a project, which are not kept current.
#[island]
pub fn Live(project: String, children: Children) -> impl IntoView {
    if browser::IS_HERE {
        let live = LiveState::of(project);
        provide_context(live.clone());
        live.start();
    }
    children()
}

fn set_busy(element: Option<&Element>, is_busy: bool) {
    if let Some(element) = element {
        browser::set_busy(element, is_busy);
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
            budgets: RwSignal::new(None),
            unread: RwSignal::new(None),
            problem: RwSignal::new(None),
            jobs: JobStates::default(),
            unseen: RwSignal::new(0),
            pace: StoredValue::new(Pace {
                beats: 0,
                regions: Regions::default(),
                has_changed: true,
                is_fetching: false,
                requested_at: browser::now(),
                refreshing: refresh::Progress::Idle,
                failures: refresh::Failures::default(),
                postponed: None,
            }),
            url: StoredValue::new(browser::loaded_url()),
            merges: RwSignal::new(0),
            inserted: StoredValue::new(Vec::new()),
        })))
    }

    /// The state of the enclosing [`Live`].
    pub fn here() -> Option<Self> {
        if browser::IS_HERE { use_context() } else { None }
    }

    /// An event handler for a view, which needs the state.
    pub fn handler<E: 'static>(live: &Option<Self>, action: fn(&Self, &E)) -> impl Fn(E) + use<E> {
        let live = live.clone();
        browser::handler(move |event| {
            if let Some(live) = &live {
                action(live, &event);
            }
        })
    }

    pub fn project(&self) -> &str {
        &self.project
    }

    /// Calls `action` with the budgets after every fetch.
    pub fn on_budgets(&self, action: impl Fn(&Budgets) + 'static) {
        let budgets = self.budgets;
        browser::effect(move || {
            if let Some(budgets) = &*budgets.read() {
                action(budgets);
            }
        });
    }

    /// Polls and refreshes everything at once, after something was posted.
    pub fn refresh_now(&self) {
        self.fetch_budgets();
        self.fetch_statuses();
        refresh::refresh(self, Reason::Post);
    }

    /// Refreshes the regions after the URL changed in place.
    pub fn refresh(&self) {
        refresh::refresh(self, Reason::Change);
    }

    /// The URL whose content the page shows, or is loading.
    pub fn url(&self) -> String {
        self.url.get_value()
    }

    /// Changes the URL in place: the caller shows its content.
    pub fn go_to(&self, url: &str) {
        if self.url() != url {
            browser::push_url(url);
        }
        self.url.set_value(browser::here());
    }

    /// As [`Self::go_to`], in place of the current entry of the browser's history.
    pub fn change_to(&self, url: &str) {
        browser::replace_url(url);
        self.url.set_value(browser::here());
    }

    /// Calls `show` with the stored scroll position whenever Back or Forward changes the URL, and at once if one of them did
    /// before the page was interactive: the caller shows the content of the URL.
    pub fn on_history(&self, show: impl Fn(Option<f64>) + 'static) {
        if self.comes_back() {
            show(None);
        }
        let live = self.clone();
        browser::on_window("popstate", move |event: PopStateEvent| {
            if live.comes_back() {
                show(event.state().as_f64());
            }
        });
    }

    /// Whether the URL, apart from its fragment, is another than that of the content.
    fn comes_back(&self) -> bool {
        let (here, before) = (browser::here(), self.url());
        self.url.set_value(here.clone());
        before != here
    }

    /// Replaces all regions with those of the page at the URL, and calls `done`, with an error if the server cannot be reached.
    /// Meanwhile the element `busy` is marked as busy. Does nothing if the URL changes before the response.
    pub fn show_address(&self, busy: Option<Element>, done: impl FnOnce(Result<(), AppError>) + 'static) {
        let here = browser::here();
        set_busy(busy.as_ref(), true);
        let live = self.clone();
        spawn_local(async move {
            let result = browser::visit_page(&here).await;
            if browser::here() != here {
                return;
            }
            set_busy(busy.as_ref(), false);
            match result {
                Ok(page) => {
                    refresh::replace(&live, &page, Reason::Post);
                    refresh::open(&page);
                    done(Ok(()));
                }
                Err(error) if error.code == ErrorCode::Unreachable => done(Err(error)),
                // The page at the URL is another person's.
                Err(error) if error.code == ErrorCode::Conflict => live.problem.set(Some(error)),
                // The page itself shows the error.
                Err(_) => browser::go(&here),
            }
        });
    }

    fn start(&self) {
        statuses::restore(self);
        let unseen = self.unseen;
        browser::effect(move || title::count(unseen.get()));
        // A browser's first date format takes longer than all islands. The page is usable before that.
        browser::after(0, ages::tick);
        browser::after(0, localized::page);
        forms::listen(self);
        kept::listen(self);
        refresh::listen(self);
        focus::restore();
        let live = self.clone();
        browser::on_change_of_page(move || live.pace.update_value(|pace| pace.has_changed = true));
        let live = self.clone();
        browser::every(1000 / BEATS_A_SECOND, move || live.beat());
        for event in ["visibilitychange", "focus"] {
            let live = self.clone();
            browser::on_window::<Event>(event, move |_| live.became_visible());
        }
        browser::on_window("pageshow", |event: Event| {
            if browser::is_restored(&event) {
                browser::count_as_opened();
                browser::set_signing_out(false);
            }
        });
        self.watch_connection();
        // After a navigation, screen readers continue at the content, not before the navigation bar.
        if browser::came_by_link() && browser::has_no_focus() && browser::fragment().is_empty() {
            browser::focus_where_it_is("content");
        }
    }

    /// Polls when the browser goes offline, and shows a notice if there is no response: a Docket on this machine responds. Until the browser is
    /// online again, links do not leave the page: the browser would show an error page and lose unsent text.
    fn watch_connection(&self) {
        let live = self.clone();
        browser::on_window::<Event>("offline", move |_| live.poll());
        let live = self.clone();
        browser::on_window::<Event>("online", move |_| {
            live.connected();
            live.refresh_now();
        });
        let live = self.clone();
        browser::on_window("click", move |event: MouseEvent| {
            let link = browser::target(&event, "a[href]:not([download], [href^='#'])");
            let is_offline = !browser::is_online() && live.problem.read_untracked().is_some();
            if link.is_some() && browser::is_plain(&event) && is_offline {
                event.prevent_default();
                live.toasts.show(
                    "You are offline. This page stays open, with what you have written",
                    "",
                    None,
                );
            }
        });
        if !browser::is_online() {
            self.poll();
        }
    }

    /// Searches the page for regions if it has changed.
    fn search(&self) {
        if self.pace.with_value(|pace| pace.has_changed) {
            let regions = Regions { follows: news::seen().is_some(), every: refresh::interval() };
            self.pace.update_value(|pace| {
                pace.has_changed = false;
                pace.regions = regions;
            });
        }
    }

    fn beat(&self) {
        let is_hidden = browser::is_hidden();
        if is_hidden && !self.notifications.are_enabled() {
            return;
        }
        self.search();
        if is_hidden && !self.jobs.any_moving() {
            return;
        }
        self.pace.update_value(|pace| pace.beats = pace.beats.wrapping_add(1));
        let Pace { beats: beat, regions, requested_at, .. } = self.pace.get_value();
        let is_due = |seconds: u32| beat.is_multiple_of(seconds * BEATS_A_SECOND);
        if is_due(AGES) {
            ages::tick();
        } else if is_due(1) {
            ages::count();
        }
        refresh::resume(self);
        if is_due(BUDGET) && !is_hidden {
            self.fetch_budgets();
        }
        if !is_hidden && regions.every.is_some_and(is_due) {
            refresh::refresh(self, Reason::Time);
        }
        let is_problem = self.problem.read_untracked().is_some();
        let wait = match is_hidden {
            true => WHILE_HIDDEN,
            false if is_problem => WHILE_STILL,
            false if regions.follows || self.jobs.any_may_change() => WHILE_CHANGING,
            false => WHILE_STILL,
        };
        if is_past(requested_at, wait) {
            if is_problem { self.poll() } else { self.fetch_statuses() }
        }
    }

    /// The page became visible or focused.
    fn became_visible(&self) {
        if browser::is_hidden() {
            return;
        }
        if self.unseen.get_untracked() > 0 {
            self.unseen.set(0);
        }
        self.toasts.start_unseen();
        ages::tick();
        self.fetch_statuses();
    }

    /// Polls the states of all watched jobs and announces changes.
    fn fetch_statuses(&self) {
        self.search();
        if !self.jobs.is_empty() || self.pace.with_value(|pace| pace.regions.follows) {
            self.poll();
        }
    }

    /// Requests the states of all watched jobs, which may be none.
    fn poll(&self) {
        if self.pace.with_value(|pace| pace.is_fetching) || browser::is_signing_out() {
            return;
        }
        self.pace.update_value(|pace| {
            pace.is_fetching = true;
            pace.requested_at = browser::now();
        });
        let live = self.clone();
        spawn_local(async move {
            let result = statuses::fetch(&live).await;
            live.pace.update_value(|pace| pace.is_fetching = false);
            match result {
                Ok(changes) => {
                    live.connected();
                    if changes.any_changed {
                        refresh::refresh(&live, Reason::Change);
                    } else if changes.is_outdated {
                        refresh::refresh(&live, Reason::Project);
                    }
                    if !changes.finished.is_empty() {
                        live.fetch_budgets();
                    }
                    announce::announce(&live, changes.finished);
                    statuses::store(&live);
                }
                // Without a project there are no jobs to know about: a response of the server is enough.
                Err(error) if live.project.is_empty() && error.code != ErrorCode::Unreachable => {
                    live.connected()
                }
                Err(error) => live.problem.set(Some(error)),
            }
        });
    }

    fn fetch_budgets(&self) {
        if self.project.is_empty() {
            return;
        }
        let live = self.clone();
        spawn_local(async move {
            let fields = browser::fields_of(&[("project", live.project())]);
            // After a failure the last known budgets stay.
            if let Ok(budgets) = browser::post::<Budgets>(GetBudgets::PATH, &fields).await.result {
                live.unread.set(Some(budgets.unread));
                live.budgets.set(Some(budgets));
            }
        });
    }

    fn connected(&self) {
        let is_stale = self.pace.with_value(|pace| pace.failures.are_shown());
        if !is_stale && self.problem.read_untracked().is_some() {
            self.problem.set(None);
        }
    }

    fn undo(&self, toasts::Undo { path, fields, done }: toasts::Undo) {
        let live = self.clone();
        spawn_local(async move {
            match browser::post_raw(&path, &fields).await.result {
                Ok(_) => {
                    live.toasts.announce(&done, "");
                    live.refresh_now();
                }
                Err(error) => live.offer_undo(&error.message, toasts::Undo { path, fields, done }),
            }
        });
    }

    /// Shows `text` with a button that undoes.
    fn offer_undo(&self, text: &str, undo: toasts::Undo) {
        let live = self.clone();
        self.toasts.show_with_undo(text, move || live.undo(undo.clone()));
    }
}

/// Whether `millis` have passed since `at`, within half a timer interval. Also true after a clock rollback.
fn is_past(at: Timestamp, millis: u32) -> bool {
    browser::now().as_millis().abs_diff(at.as_millis()) + 250 >= u64::from(millis)
}
