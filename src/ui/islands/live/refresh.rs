//! Scripts the DOM: replaces regions of the page with the server's current HTML, and hydrates new islands in them.

use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::wasm_bindgen::{JsCast, JsValue};
use leptos::web_sys::js_sys::{Function, Reflect};
use leptos::web_sys::{Document, Element, Event, HtmlElement};
use send_wrapper::SendWrapper;

use super::{LiveState, ages, is_past, news};
use crate::ui::islands::morph::morph;
use crate::ui::islands::{browser, localized};
use crate::ui::marks::{NEXT_FOCUS, SHOW_NEWS};
use model::error::{AppError, ErrorCode};
use model::links;
use model::time::Timestamp;

/// An open menu in a region. Its entries do not change under the pointer or the focus.
const OPEN_MENU: &str = "[data-region] :popover-open, [data-region] .filter-menu[open]";

/// How many refreshes fail before the page says that it is old. The first one may be chance.
const SHOWN_FAILURES: u32 = 2;

/// Milliseconds after a failed refresh until the next one.
const AFTER_FAILURE: u32 = 5_000;

/// Why the page is refreshed; decides which regions are replaced.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Reason {
    /// The interval passed: regions with `data-every`.
    Time,
    /// Some job of the project changed: regions with `data-follows`.
    Project,
    /// A job on the page changed its state: also all regions but those with `data-when="posted"`.
    Change,
    /// A form was posted: all regions.
    Post,
}

impl Reason {
    const fn regions(self) -> &'static str {
        match self {
            Self::Time => "[data-region][data-every]",
            Self::Project => "[data-region][data-follows]",
            Self::Change => "[data-region]:not([data-when]), [data-region][data-follows]",
            Self::Post => "[data-region]",
        }
    }
}

#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Progress {
    #[default]
    Idle,
    Fetching,
    /// There was another reason during the fetch: the page is fetched again.
    Outdated(Reason),
}

/// Refreshes everything when the user presses the button of the bar with new rows.
pub(super) fn listen(live: &LiveState) {
    let live = live.clone();
    browser::on_window("click", move |event: Event| {
        if browser::target(&event, &SHOW_NEWS.selector()).is_some() {
            refresh(&live, Reason::Post);
        }
    });
}

/// The shortest `data-every` on the page, in seconds.
pub(super) fn interval() -> Option<u32> {
    browser::all("[data-every]")
        .iter()
        .filter_map(|region| region.get_attribute("data-every")?.parse().ok())
        .min()
}

/// Fetches the page and replaces its regions, one fetch at a time. A page without regions is not fetched.
pub(super) fn refresh(live: &LiveState, reason: Reason) {
    if browser::find(reason.regions()).is_none() {
        return;
    }
    if waits_for_menu(live, reason) {
        return;
    }
    let refreshing = live.pace.with_value(|pace| pace.refreshing);
    if refreshing != Progress::Idle {
        let reason = match refreshing {
            Progress::Outdated(other) => reason.max(other),
            _ => reason,
        };
        // The interval will pass again.
        if reason != Reason::Time {
            set_progress(live, Progress::Outdated(reason));
        }
        return;
    }
    set_progress(live, Progress::Fetching);
    let live = live.clone();
    spawn_local(async move {
        // After a failure the last content stays. A page whose URL was left is not shown.
        let url = browser::here();
        let page = browser::fetch_page(&url).await;
        if url == browser::here() {
            match page {
                Ok(page) => fetched(&live, &page, reason),
                Err(error) => failed(&live, error, reason),
            }
        }
        let progress = live.pace.with_value(|pace| pace.refreshing);
        set_progress(&live, Progress::Idle);
        if let Progress::Outdated(reason) = progress {
            refresh(&live, reason);
        }
    });
}

fn set_progress(live: &LiveState, progress: Progress) {
    live.pace.update_value(|pace| pace.refreshing = progress);
}

/// The refreshes that failed since the last one that did not.
#[derive(Clone, Copy, Default)]
pub(super) struct Failures {
    count: u32,
    /// When the first one failed, and the last one.
    times: Option<(Timestamp, Timestamp)>,
}

impl Failures {
    /// Whether the page says that it is old.
    pub(super) const fn are_shown(self) -> bool {
        self.count >= SHOWN_FAILURES
    }
}

fn fetched(live: &LiveState, page: &Document, reason: Reason) {
    live.pace.update_value(|pace| pace.failures = Failures::default());
    live.connected();
    if !waits_for_menu(live, reason) {
        replace(live, page, reason);
    }
}

/// Shows that the page is old after the second failure, and tries again later.
fn failed(live: &LiveState, error: AppError, reason: Reason) {
    if matches!(error.code, ErrorCode::Unauthenticated | ErrorCode::Conflict) {
        return live.problem.set(Some(error));
    }
    let (now, before) = (browser::now(), live.pace.with_value(|pace| pace.failures));
    let (first, count) = (before.times.map_or(now, |(first, _)| first), before.count + 1);
    live.pace.update_value(|pace| pace.failures = Failures { count, times: Some((first, now)) });
    if count == SHOWN_FAILURES {
        let since = ["Not up to date since ", &browser::local_clock(first), "."].concat();
        live.problem.set(Some(AppError::new(ErrorCode::Busy, since)));
    }
    postpone(live, reason);
}

/// Whether a menu of a region is open, after noting that the page has to be refreshed when it is closed. What a person posted is shown at once.
fn waits_for_menu(live: &LiveState, reason: Reason) -> bool {
    let waits = reason != Reason::Post && browser::find(OPEN_MENU).is_some();
    if waits {
        postpone(live, reason);
    }
    waits
}

fn postpone(live: &LiveState, reason: Reason) {
    live.pace.update_value(|pace| pace.postponed = pace.postponed.max(Some(reason)));
}

/// Refreshes the page as was postponed: once no menu is open, and a while after a failure.
pub(super) fn resume(live: &LiveState) {
    let (postponed, failures) = live.pace.with_value(|pace| (pace.postponed, pace.failures));
    let Some(reason) = postponed else { return };
    if failures.times.is_none_or(|(_, last)| is_past(last, AFTER_FAILURE)) {
        live.pace.update_value(|pace| pace.postponed = None);
        refresh(live, reason);
    }
}

/// Opens the details that are open on `page`, such as batches that a search matches.
pub(super) fn open(page: &Document) {
    let Some(page) = page.document_element() else { return };
    for summary in browser::all_in(&page, "details[open] > summary[data-key]") {
        let key = summary.get_attribute("data-key").unwrap_or_default();
        let shown = browser::find(&["details:not([open]) > summary[data-key=\"", &key, "\"]"].concat());
        if let Some(details) = shown.and_then(|summary| summary.parent_element()) {
            browser::set_open(&details, true);
        }
    }
}

/// The focused element, and the keyed element around it.
struct Focus {
    element: HtmlElement,
    row: Option<Element>,
}

impl Focus {
    fn now() -> Option<Self> {
        let element = document().active_element().filter(|_| !browser::has_no_focus())?;
        let row = element.closest("[data-key]").ok().flatten();
        Some(Self { element: element.dyn_into().ok()?, row })
    }

    /// Restores a lost focus: to the element itself if it was only moved, else to the element with [`NEXT_FOCUS`] in its row,
    /// else to the page's content.
    fn restore(self) {
        if !browser::has_no_focus() {
            return;
        }
        if self.element.is_connected() {
            let _ = self.element.focus();
            return;
        }
        let row = self.row.filter(|row| row.is_connected());
        let next = row.and_then(|row| browser::find_in(&row, &NEXT_FOCUS.selector()));
        if let Some(next) =
            next.or_else(|| browser::by_id("content")).and_then(|next| next.dyn_into::<HtmlElement>().ok())
        {
            let _ = next.focus();
        }
    }
}

pub(super) fn replace(live: &LiveState, page: &Document, reason: Reason) {
    let mut missing = Vec::new();
    change(live, |fresh| {
        for region in browser::all(reason.regions()) {
            let name = region.get_attribute("data-region").unwrap_or_default();
            if let Ok(Some(now)) = page.query_selector(&["[data-region=\"", &name, "\"]"].concat()) {
                if reason == Reason::Post || !news::waits(&region) {
                    morph(&region, &now, fresh);
                } else {
                    missing.extend(news::merge(&region, &now, fresh));
                }
            }
        }
    });
    if !missing.is_empty() {
        update(live.clone(), missing);
    }
}

/// Updates rows of the list that are no longer on its page.
fn update(live: LiveState, missing: Vec<Element>) {
    let last_changed = links::with_query(&links::jobs(live.project()), &[("sort", "changed")]);
    spawn_local(async move {
        // After a failure the last content stays.
        if let Ok(page) = browser::fetch_page(&last_changed).await {
            change(&live, |fresh| news::update(&missing, &page, fresh));
        }
    });
}

/// Changes elements of the page, and completes them: focus, times, days and numbers, selected rows, and the islands that `morphs` adds to its argument.
fn change(live: &LiveState, morphs: impl FnOnce(&mut Vec<Element>)) {
    let mut fresh = Vec::new();
    let focus = Focus::now();
    morphs(&mut fresh);
    if let Some(focus) = focus {
        focus.restore();
    }
    ages::tick();
    localized::page();
    live.merges.update(|merges| *merges = merges.wrapping_add(1));
    hydrate(live, fresh);
}

/// Starts islands that were inserted, as the start script of the page does: each inherits the context of the islands around it.
fn hydrate(live: &LiveState, fresh: Vec<Element>) {
    let Some(hydrate) = function(&window(), "__hydrateIsland") else { return };
    // Ends the signals of islands that were removed.
    live.inserted.update_value(|inserted| inserted.retain(|(island, _)| island.is_connected()));
    for island in fresh {
        let around = island.parent_element().and_then(|parent| parent.closest("leptos-children").ok()?);
        if let Some(enter) = around.and_then(|around| function(&around, "$$on_hydrate")) {
            let _ = enter.call0(&JsValue::NULL);
        }
        let owner = Owner::new();
        let (element, hydrate) = (island.clone(), hydrate.clone());
        owner.with(|| {
            Owner::with_no_hydration(move || {
                let name = element.get_attribute("data-component").unwrap_or_default();
                let _ = hydrate.call2(&JsValue::NULL, &element, &name.into());
            });
        });
        live.inserted.update_value(|inserted| inserted.push((SendWrapper::new(island), owner)));
    }
}

fn function(of: &JsValue, name: &str) -> Option<Function> {
    Reflect::get(of, &name.into()).ok()?.dyn_into().ok()
}
